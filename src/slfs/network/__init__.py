"""The tree Bayesian network that a selector learns.

In: parents and information figures of the selected columns. Out: a `TreeNetwork` and its exports (text,
Graphviz, Mermaid, networkx, HTML). Start with `tree.py`.
"""

from slfs.network.consensus import ConsensusNetwork
from slfs.network.tree import TreeNetwork

__all__ = ["ConsensusNetwork", "TreeNetwork"]
