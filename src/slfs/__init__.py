"""Feature selection for classification by learning a tree Bayesian network over the features.

`SLFS` selects, `BNSLFS` classifies with the network that the selection leaves behind, and
`MDLPDiscretizer` is the discretisation on its own.
"""

from slfs.classifiers.bnslfs import BNSLFS
from slfs.coding.discretizer import MDLPDiscretizer
from slfs.network import TreeNetwork
from slfs.selectors.slfs import SLFS

__all__ = ["BNSLFS", "SLFS", "MDLPDiscretizer", "TreeNetwork"]
__version__ = "0.1.0"
