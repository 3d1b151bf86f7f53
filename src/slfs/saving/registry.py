"""The classes that a model file may contain: name -> class."""

from __future__ import annotations

from typing import Any

from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor
from slfs.classifiers.tables import LogTable
from slfs.classifiers.tan import TAN, ChowLiu, NaiveBayes
from slfs.coding.codebook import Coding
from slfs.network.tree import TreeNetwork
from slfs.preprocessing import MDLPDiscretizer
from slfs.selectors._shared.additive import AdditiveTables
from slfs.selectors._shared.additive_numbers import RegressionTables
from slfs.selectors._shared.selection import NetworkCounts
from slfs.selectors._shared.size_path import SizePath
from slfs.selectors.registry import selectors
from slfs.selectors.stability_selection import StabilitySelection

OPTIONAL = frozenset(
    {
        "feature_names_in_",
        "classes_",
        "_reading",
        "_row_arguments",
        "_grouping",
        "_sklearn_output_config",
    }
)
"""Attributes that a fitted estimator may lack."""

LEFT_OUT = "_arrived"
"""Attribute with the packed samples of a stream, which is not saved."""

PARTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        AdditiveTables,
        Coding,
        LogTable,
        NetworkCounts,
        RegressionTables,
        SizePath,
        TreeNetwork,
    )
}
"""Dataclasses by name."""


def estimators() -> dict[str, type[Any]]:
    """Return estimators by class name: registered selectors, models and the discretizer."""
    others = (StabilitySelection, BNSLFS, BNSLFSRegressor, TAN, ChowLiu, NaiveBayes, MDLPDiscretizer)
    return {kind.__name__: kind for kind in (*selectors().values(), *others)}


def fitted_attributes(kind: type[Any]) -> frozenset[str]:
    """Return the names of the attributes that a fitted estimator of a class may have."""
    attributes: frozenset[str] = kind._fitted | OPTIONAL
    return attributes
