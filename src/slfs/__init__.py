"""Feature selection for classification by learning a tree Bayesian network over the features.

`SLFS` selects, `BNSLFS` classifies with the network that the selection leaves behind, and
`MDLPDiscretizer` is the discretisation on its own. The other selectors and classifiers are what SLFS is
compared with, behind the same face.
"""

from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.tan import TAN, ChowLiu, NaiveBayes
from slfs.coding.discretizer import MDLPDiscretizer
from slfs.comparing import compare_networks
from slfs.generate import make_network_classification
from slfs.network import TreeNetwork
from slfs.selectors.alpha_investing import AlphaInvesting
from slfs.selectors.chi2 import Chi2
from slfs.selectors.chi2_ranking import Chi2Ranking
from slfs.selectors.cmim import CMIM
from slfs.selectors.fast_osfs import FastOSFS
from slfs.selectors.fcbf import FCBF
from slfs.selectors.jmi import JMI
from slfs.selectors.mrmr import MRMR
from slfs.selectors.osfs import OSFS
from slfs.selectors.saola import SAOLA
from slfs.selectors.slfs import SLFS
from slfs.selectors.stability_selection import StabilitySelection

__all__ = [
    "BNSLFS",
    "CMIM",
    "FCBF",
    "JMI",
    "MRMR",
    "OSFS",
    "SAOLA",
    "SLFS",
    "TAN",
    "AlphaInvesting",
    "Chi2",
    "Chi2Ranking",
    "ChowLiu",
    "FastOSFS",
    "MDLPDiscretizer",
    "NaiveBayes",
    "StabilitySelection",
    "TreeNetwork",
    "compare_networks",
    "make_network_classification",
]
__version__ = "0.1.0"
