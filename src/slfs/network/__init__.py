"""The tree Bayesian network: structure and drawing.

Start with `tree.py`.
"""

from slfs.network.tree import ROOT, TreeNetwork

__all__ = ["ROOT", "TreeNetwork"]
