"""The classes that a model may be made of: names in a file -> classes, and nothing but these."""

from __future__ import annotations

from typing import Any

from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.tables import LogTable
from slfs.classifiers.tan import TAN, ChowLiu, NaiveBayes
from slfs.coding.codebook import Coding
from slfs.network.tree import TreeNetwork
from slfs.preprocessing import MDLPDiscretizer
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
from slfs.selectors.selection import NetworkCounts
from slfs.selectors.slfs import SLFS
from slfs.selectors.stability_selection import StabilitySelection
from slfs.selectors.stream import StreamSelector

_TABLE = {"n_features_in_", "feature_names_in_", "_sklearn_output_config"}
_SELECTOR = {
    *_TABLE, "network_", "network_counts_", "features_", "support_", "n_features_", "indices_",
    "selection_scores_", "classes_",
}  # fmt: skip
_CLASSIFIER = {*_TABLE, "classes_", "network_", "parents_", "_coding", "_log_prior", "_tables"}

_SELECTORS = (SLFS, MRMR, JMI, CMIM, FCBF, OSFS, FastOSFS, SAOLA, AlphaInvesting, Chi2Ranking)

ESTIMATORS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *_SELECTORS,
        Chi2,
        StabilitySelection,
        BNSLFS,
        TAN,
        ChowLiu,
        NaiveBayes,
        MDLPDiscretizer,
    )
}
"""Estimators by name."""

FITTED: dict[str, set[str]] = {
    **{kind.__name__: _SELECTOR for kind in _SELECTORS},
    "Chi2": {*_SELECTOR, "cut_points_"},
    "StabilitySelection": {
        *_SELECTOR,
        "frequencies_",
        "noise_frequencies_",
        "threshold_",
        "edges_",
        "edge_frequencies_",
        "_chosen",
        "_starts",
    },
    "BNSLFS": {*_CLASSIFIER, "selector_"},
    "TAN": _CLASSIFIER,
    "ChowLiu": _CLASSIFIER,
    "NaiveBayes": _CLASSIFIER,
    "MDLPDiscretizer": {*_TABLE, "cut_points_", "n_levels_", "_coding"},
}
"""What each of them may hold once it is fitted."""

OPTIONAL = {"feature_names_in_", "_sklearn_output_config"}
"""What it need not hold."""

PARTS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Coding, LogTable, NetworkCounts, TreeNetwork)
}
"""Dataclasses by name."""

LEFT_OUT = "_arrived"


class LeftOut:
    """Stands in a loaded selector where the samples of its stream were."""

    @property
    def memory(self) -> Any:
        raise ValueError(
            "This selector was loaded from a file, which does not hold the samples of its stream: "
            "extend cannot go on. Fit it again, with fit or fit_stream, on all columns."
        )


def keeps_samples(kind: type[Any]) -> bool:
    """Whether estimators of a class hold the samples of a stream, which are not saved."""
    return issubclass(kind, StreamSelector)
