"""A loaded model -> does it hold together? Kernels trust their arrays: these are checked here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slfs.classifiers.base import NetworkClassifier
from slfs.classifiers.tables import LogTable
from slfs.coding.codebook import COLUMN, NONE, Coding
from slfs.network.tree import ROOT, TreeNetwork
from slfs.preprocessing import MDLPDiscretizer
from slfs.saving.errors import ModelFileError
from slfs.saving.registry import OPTIONAL, fitted_attributes
from slfs.screening.reasons import BY_LABEL, Role
from slfs.selectors._shared.selection import NetworkCounts
from slfs.selectors.base import BaseSelector
from slfs.selectors.stability_selection import StabilitySelection

_CODES = 256
"""Levels that a code of one byte can tell apart."""


def check_model(estimator: Any, name: str) -> None:
    """Raise an error unless all parts of an estimator fit together."""
    _demand(type(estimator).__name__ == name, f"it is called {name!r} but is another estimator")
    lacking = fitted_attributes(type(estimator)) - OPTIONAL - vars(estimator).keys()
    _demand(not lacking, f"its {name} lacks {sorted(lacking)}")
    n_features = estimator.n_features_in_
    _demand(type(n_features) is int and n_features > 0, "n_features_in_ is no number of columns")
    if hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_
        _demand_array(names, np.object_, (n_features,), "feature_names_in_")
        _demand(all(isinstance(name, str) for name in names), "a feature name is no string")
    if isinstance(estimator, MDLPDiscretizer):
        _check_coding(estimator._coding, n_features)
        _demand_array(estimator.n_levels_, np.int64, (n_features,), "n_levels_")
    elif isinstance(estimator, BaseSelector):
        _check_selector(estimator)
    elif isinstance(estimator, NetworkClassifier):
        _check_classifier(estimator)
    if hasattr(estimator, "cut_points_"):
        _demand(len(estimator.cut_points_) == n_features, "cut_points_ has not one entry a column")
    if hasattr(estimator, "selector_"):
        check_model(estimator.selector_, type(estimator.selector_).__name__)


def _check_selector(selector: BaseSelector) -> None:
    n_features, n_classes = selector.n_features_in_, len(selector.classes_)
    network, counts = selector.network_, selector.network_counts_
    _check_network(network, n_features)
    _check_counts(counts, len(network), n_classes)
    _demand_array(selector.support_, np.bool_, (n_features,), "support_")
    _demand_array(selector.indices_, np.int64, (len(network),), "indices_")
    _demand_array(selector.selection_scores_, np.float64, (len(network),), "selection_scores_")
    for name in ("scores_", "pvalues_", "qvalues_"):
        _demand_array(getattr(selector, name), np.float64, (n_features,), name)
    _demand(np.array_equal(np.flatnonzero(selector.support_), np.sort(network.columns)), "support_")
    _demand(selector.n_features_ == len(network), "n_features_ is not the size of the network")
    _demand(len(selector.features_) == n_features, "features_ does not have one record per column")
    _check_records(selector)
    if isinstance(selector, StabilitySelection):
        _demand_array(selector.frequencies_, np.float64, (n_features,), "frequencies_")
        _demand_array(selector.edge_frequencies_, np.float64, (len(network),), "edge_frequencies_")


def _check_records(selector: BaseSelector) -> None:
    """Roles, reasons and figures that sentences can be made of, and p-values that are probabilities."""
    records, roles = selector.features_, {str(role) for role in Role}
    _demand(set(records["role"].tolist()) <= roles, "features_ has an unknown role")
    _demand(set(records["reason"].tolist()) <= BY_LABEL.keys(), "features_ has an unknown reason")
    columns, figures = list(selector._figures), list(selector._figures.values())
    _demand(all(type(column) is int for column in columns), "figures belong to no column")
    _demand(all(type(own) is dict for own in figures), "figures are not a dict")
    for index in {*columns[:100], 0}:
        _demand(0 <= index < len(records), "figures belong to no column")
        selector.explain(index)  # has all fields, and numbers where they belong
    for p_values in (records["p_value"], selector.pvalues_, selector.qvalues_):
        valid = np.isnan(p_values) | ((p_values >= 0) & (p_values <= 1))
        _demand(bool(valid.all()), "p-values are not probabilities")


def _check_classifier(classifier: NetworkClassifier) -> None:
    network, n_classes = classifier.network_, len(classifier.classes_)
    n_nodes = len(network)
    _check_network(network, classifier.n_features_in_)
    _check_coding(classifier._coding, n_nodes)
    _demand_array(classifier._log_prior, np.float64, (n_classes,), "the prior")
    _demand_probabilities(classifier._log_prior)
    _demand(len(classifier._tables) == n_nodes, "there is not one table a node")
    _demand(all(type(table) is LogTable for table in classifier._tables), "a table is none")
    parents = [table.parent for table in classifier._tables]
    _demand_array(classifier.parents_, np.int64, (n_nodes,), "parents_")
    _demand(classifier.parents_.tolist() == parents, "parents_ are not those of the tables")
    _demand_forest(classifier.parents_)
    levels = classifier._coding.n_levels
    for node, table in enumerate(classifier._tables):
        given = 1 if table.parent == ROOT else levels[table.parent]
        classes = 1 if np.shape(table.values)[2:] == (1,) else n_classes  # may not see the class
        _demand_array(table.values, np.float64, (levels[node], given, classes), "a table")
        _demand_probabilities(table.values)


def _demand_probabilities(logarithms: NDArray[np.float64]) -> None:
    """Of all levels, or classes, whatever is given."""
    finite = np.isfinite(logarithms).all() and (logarithms < 1).all()
    _demand(finite and np.allclose(np.exp(logarithms).sum(axis=0), 1), "a table has no probabilities")


def _check_coding(coding: Coding, n_columns: int) -> None:
    """Levels fit a byte, and every place in ``thresholds`` is there."""
    _demand(type(coding) is Coding, "a coding is none")
    _demand_array(coding.columns, COLUMN, (n_columns,), "columns of a coding")
    _demand_array(coding.offset, np.int64, (n_columns + 1,), "offset")
    _demand_array(coding.thresholds, np.float64, (int(coding.offset[-1]),), "thresholds")
    n_levels, n_thresholds = coding.n_levels, np.diff(coding.offset)
    _demand(coding.offset[0] == 0 and (n_thresholds >= 0).all(), "offsets fall")
    _demand(((n_levels > 0) & (n_levels <= _CODES)).all(), "a column has too many levels, or none")
    _demand((n_thresholds + coding.cut <= n_levels).all(), "a column has more cuts than levels")
    for name in ("rare", "missing", "fallback"):
        least = 0 if name == "fallback" else NONE
        level = coding.columns[name]
        _demand(((level >= least) & (level < n_levels)).all(), f"{name} is no level")
    for column, categories in coding.categories.items():
        _demand(type(column) is int and 0 <= column < n_columns, "a category is of no column")
        places = list(categories.values())
        _demand(all(type(place) is int for place in places), "a category has no level")
        _demand(all(0 <= place < n_levels[column] for place in places), "a category has no level")


def _check_network(network: TreeNetwork, n_features: int) -> None:
    _demand(type(network) is TreeNetwork, "network_ is none")
    n_nodes = len(network)
    for name in ("columns", "parents", "levels"):
        _demand_array(getattr(network, name), np.int64, (n_nodes,), name)
    for name in ("relevance", "entropy", "mutual_information", "conditional_relevance"):
        _demand_array(getattr(network, name), np.float64, (n_nodes,), name)
    texts = (*network.names, network.class_name)
    _demand(all(isinstance(text, str) for text in texts), "a node has no name")
    columns = network.columns
    _demand(((columns >= 0) & (columns < n_features)).all(), "a node is no column")
    _demand(len(np.unique(columns)) == n_nodes, "two nodes are one column")
    _demand_forest(network.parents)


def _check_counts(counts: NetworkCounts, n_nodes: int, n_classes: int) -> None:
    _demand(type(counts) is NetworkCounts, "network_counts_ are none")
    _check_coding(counts.coding, n_nodes)
    _demand_array(counts.class_totals, np.int64, (n_classes,), "class_totals")
    _demand_array(counts.partners, np.int64, (n_nodes,), "partners")
    _demand_forest(counts.partners)
    _demand(len(counts.class_counts) == len(counts.joint_counts) == n_nodes, "counts of a node lack")
    levels, totals = counts.coding.n_levels, counts.class_totals
    _demand((totals > 0).all(), "a class has no samples")
    for node, partner in enumerate(counts.partners):
        own = counts.class_counts[node]
        _demand_array(own, np.int64, (levels[node], n_classes), "class_counts")
        _demand((own >= 0).all() and (own.sum(axis=0) == totals).all(), "class_counts are none")
        joint = counts.joint_counts[node]
        if partner == ROOT:
            _demand(joint is None, "a node without a partner has counts with it")
            continue
        wide = isinstance(joint, np.ndarray) and joint.dtype == np.int64
        shape = (n_classes, levels[node], levels[partner])
        _demand_array(joint, np.int64 if wide else np.int32, shape, "joint_counts")
        of_both = np.asarray(joint)
        _demand((of_both >= 0).all() and (own == of_both.sum(axis=2).T).all(), "joint_counts are none")


def _demand_forest(parents: NDArray[np.int64]) -> None:
    """Every way up ends at the class."""
    n_nodes = len(parents)
    _demand(((parents >= ROOT) & (parents < n_nodes)).all(), "a parent is no node")
    up = np.append(np.where(parents == ROOT, n_nodes, parents), n_nodes)
    for _ in range(n_nodes.bit_length()):
        up = up[up]  # twice as many steps
    _demand((up == n_nodes).all(), "a node is its own ancestor")


def _demand_array(array: Any, dtype: DTypeLike, shape: tuple[int, ...], name: str) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    _demand(fits, f"{name} has another type or shape than the rest asks for")


def _demand(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ModelFileError(f"its parts do not fit together ({what}). Fit and save it again.")
