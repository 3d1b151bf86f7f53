"""Feature selection for classification: which columns predict the class, and how they are related.

`SLFS` selects features and arranges them in a tree, `BNSLFS` classifies with the selected features, and
`MDLPDiscretizer` is the supervised discretization on its own. The other selectors and classifiers are
the methods that SLFS is compared with; they share its interface.

Public names are imported on first use, so that ``import slfs`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slfs._core.lazy import lazy_attributes
from slfs._core.version import __version__ as __version__

if TYPE_CHECKING:
    from slfs._core.progress import progress_callback
    from slfs._core.warn import LeakageWarning, UnseenValueWarning
    from slfs.classifiers.bnslfs import BNSLFS
    from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor
    from slfs.classifiers.explanation import PredictionExplanation
    from slfs.classifiers.regression_explanation import RegressionExplanation
    from slfs.classifiers.tan import TAN, ChowLiu, NaiveBayes
    from slfs.datasets.generate import make_network_classification
    from slfs.evaluation.networks import compare_networks
    from slfs.evaluation.pairs import interactions
    from slfs.network.tree import TreeNetwork
    from slfs.preprocessing import MDLPDiscretizer
    from slfs.selectors.alpha_investing import AlphaInvesting
    from slfs.selectors.chi2 import Chi2
    from slfs.selectors.chi2_ranking import Chi2Ranking
    from slfs.selectors.cmim import CMIM
    from slfs.selectors.disr import DISR
    from slfs.selectors.fast_osfs import FastOSFS
    from slfs.selectors.fcbf import FCBF
    from slfs.selectors.interaction_selector import InteractionSelector
    from slfs.selectors.jmi import JMI
    from slfs.selectors.jmim import JMIM
    from slfs.selectors.mrmr import MRMR
    from slfs.selectors.osfs import OSFS
    from slfs.selectors.residual_pursuit import ResidualPursuit
    from slfs.selectors.saola import SAOLA
    from slfs.selectors.slfs import SLFS
    from slfs.selectors.stability_selection import StabilitySelection

_HOME = {
    "AlphaInvesting": "slfs.selectors.alpha_investing",
    "BNSLFS": "slfs.classifiers.bnslfs",
    "BNSLFSRegressor": "slfs.classifiers.bnslfs_regressor",
    "CMIM": "slfs.selectors.cmim",
    "Chi2": "slfs.selectors.chi2",
    "Chi2Ranking": "slfs.selectors.chi2_ranking",
    "ChowLiu": "slfs.classifiers.tan",
    "DISR": "slfs.selectors.disr",
    "FCBF": "slfs.selectors.fcbf",
    "FastOSFS": "slfs.selectors.fast_osfs",
    "InteractionSelector": "slfs.selectors.interaction_selector",
    "JMI": "slfs.selectors.jmi",
    "JMIM": "slfs.selectors.jmim",
    "LeakageWarning": "slfs._core.warn",
    "MDLPDiscretizer": "slfs.preprocessing",
    "MRMR": "slfs.selectors.mrmr",
    "ResidualPursuit": "slfs.selectors.residual_pursuit",
    "NaiveBayes": "slfs.classifiers.tan",
    "OSFS": "slfs.selectors.osfs",
    "PredictionExplanation": "slfs.classifiers.explanation",
    "RegressionExplanation": "slfs.classifiers.regression_explanation",
    "SAOLA": "slfs.selectors.saola",
    "SLFS": "slfs.selectors.slfs",
    "StabilitySelection": "slfs.selectors.stability_selection",
    "TAN": "slfs.classifiers.tan",
    "TreeNetwork": "slfs.network.tree",
    "UnseenValueWarning": "slfs._core.warn",
    "compare_networks": "slfs.evaluation.networks",
    "interactions": "slfs.evaluation.pairs",
    "make_network_classification": "slfs.datasets.generate",
    "progress_callback": "slfs._core.progress",
}
"""The module of each public name."""

_PACKAGES = (
    "anndata",
    "datasets",
    "evaluation",
    "files",
    "measures",
    "plotting",
    "report",
    "saving",
    "tables",
)

__all__ = [
    "BNSLFS",
    "CMIM",
    "DISR",
    "FCBF",
    "JMI",
    "JMIM",
    "MRMR",
    "OSFS",
    "SAOLA",
    "SLFS",
    "TAN",
    "AlphaInvesting",
    "BNSLFSRegressor",
    "Chi2",
    "Chi2Ranking",
    "ChowLiu",
    "FastOSFS",
    "InteractionSelector",
    "LeakageWarning",
    "MDLPDiscretizer",
    "NaiveBayes",
    "PredictionExplanation",
    "RegressionExplanation",
    "ResidualPursuit",
    "StabilitySelection",
    "TreeNetwork",
    "UnseenValueWarning",
    "compare_networks",
    "interactions",
    "make_network_classification",
    "progress_callback",
]


__getattr__, __dir__ = lazy_attributes(
    __name__, {**_HOME, **{package: f"slfs.{package}" for package in _PACKAGES}}
)
