"""A loaded model -> an error if its parts are inconsistent. Kernels trust the arrays checked here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slfs.classifiers.base import NetworkClassifier
from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor
from slfs.classifiers.tables import LogTable
from slfs.coding.codebook import COLUMN, NONE, Coding
from slfs.network.tree import ROOT, TreeNetwork
from slfs.preprocessing import MDLPDiscretizer
from slfs.saving.errors import ModelFileError
from slfs.saving.registry import OPTIONAL, fitted_attributes
from slfs.screening.reasons import BY_LABEL, Role
from slfs.selectors._shared.additive import AdditiveTables
from slfs.selectors._shared.additive_numbers import RegressionTables
from slfs.selectors._shared.row_groups import ALIKE, GROUPINGS
from slfs.selectors._shared.selection import NetworkCounts
from slfs.selectors._shared.size_path import SizePath
from slfs.selectors.base import BaseSelector
from slfs.selectors.interaction_selector import PAIR, InteractionSelector
from slfs.selectors.stability_selection import StabilitySelection
from slfs.tables.target import CLASSIFICATION, REGRESSION
from slfs.tables.target_bins import BIN

_CODES = 256
"""Number of levels that a code of one byte can represent."""


def check_model(estimator: Any, name: str) -> None:
    """Raise an error if the parts of an estimator are inconsistent."""
    _demand(type(estimator).__name__ == name, f"the class is {name!r}, but the estimator is another one")
    missing = fitted_attributes(type(estimator)) - OPTIONAL - vars(estimator).keys()
    _demand(not missing, f"attributes of {name} are missing: {sorted(missing)}")
    n_features = estimator.n_features_in_
    _demand(type(n_features) is int and n_features > 0, "n_features_in_ is not a positive integer")
    if hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_
        _demand_array(names, np.object_, (n_features,), "feature_names_in_")
        _demand(all(isinstance(name, str) for name in names), "a feature name is not a string")
    _check_reading(getattr(estimator, "_reading", {}))
    arguments = getattr(estimator, "_row_arguments", [])
    known = type(arguments) is list and all(one in ("sample_weight", "groups") for one in arguments)
    _demand(known, "an argument of fit is unknown")
    _demand(getattr(estimator, "_grouping", ALIKE) in GROUPINGS, "the kind of groups is unknown")
    if isinstance(estimator, MDLPDiscretizer):
        _check_coding(estimator._coding, n_features)
        _demand_array(estimator.n_levels_, np.int64, (n_features,), "n_levels_")
        _check_bins(estimator.target_bins_)
    elif isinstance(estimator, BaseSelector):
        _check_selector(estimator)
    elif isinstance(estimator, NetworkClassifier):
        _check_classifier(estimator)
    elif isinstance(estimator, BNSLFSRegressor):
        _check_regressor(estimator)
    if hasattr(estimator, "cut_points_"):
        _demand(len(estimator.cut_points_) == n_features, "cut_points_ must have one entry per column")
    if hasattr(estimator, "selector_"):
        check_model(estimator.selector_, type(estimator.selector_).__name__)


def _check_reading(reading: Any) -> None:
    """Check how files are read; see `NetworkModel`."""
    _demand(type(reading) is dict, "how files are read is not a dict")
    known = reading.keys() <= {"missing", "decimal", "layer", "like"}
    _demand(known, "how files are read has an unknown part")
    texts, (n_columns, target) = reading.get("missing", []), reading.get("like", (1, None))
    _demand(
        type(texts) is list and all(type(text) is str for text in texts),
        "the texts that mean a missing value are not strings",
    )
    _demand(reading.get("decimal", ",") == ",", "the decimal separator is not a comma")
    _demand(type(reading.get("layer", "")) is str, "the layer is not a string")
    whole = type(n_columns) is int and (target is None or type(target) is int)
    _demand(
        whole and (target is None or 0 <= target < n_columns),
        "the position of the target is not one of the columns",
    )


def _check_selector(selector: BaseSelector) -> None:
    n_features, n_classes = selector.n_features_in_, _check_target(selector)
    network, counts = selector.network_, selector.network_counts_
    _check_network(network, n_features)
    _check_counts(counts, len(network), n_classes)
    if selector._additive is not None and selector.target_bins_ is None:
        _check_additive_tables(selector._additive, len(selector.network_), n_classes)
    elif selector._additive is not None:
        _check_regression_tables(selector._additive, len(selector.network_))
    _demand_array(selector.support_, np.bool_, (n_features,), "support_")
    _demand_array(selector.indices_, np.int64, (len(network),), "indices_")
    _demand_array(selector.selection_scores_, np.float64, (len(network),), "selection_scores_")
    for name in ("scores_", "pvalues_", "qvalues_"):
        _demand_array(getattr(selector, name), np.float64, (n_features,), name)
    same = np.array_equal(np.flatnonzero(selector.support_), np.sort(network.columns))
    _demand(same, "support_ differs from the network")
    _demand(selector.n_features_ == len(network), "n_features_ is not the size of the network")
    _demand(len(selector.features_) == n_features, "features_ must have one record per column")
    texts = selector.duplicates_
    _demand(
        type(texts) is list and all(type(group) is list for group in texts),
        "duplicates_ is not a list of lists",
    )
    _demand(all(type(name) is str for group in texts for name in group), "duplicates_ has no names")
    given = selector.conditioning_
    valid = type(given) is list and all(type(name) is str for name in given)
    _demand(valid, "conditioning_ is not a list of names")
    _check_records(selector)
    if isinstance(selector, StabilitySelection):
        _demand_array(selector.frequencies_, np.float64, (n_features,), "frequencies_")
        _demand_array(selector.edge_frequencies_, np.float64, (len(network),), "edge_frequencies_")
    if isinstance(selector, InteractionSelector):
        _demand_array(selector.pairs_, PAIR, (len(selector.pairs_),), "pairs_")
        for name in ("first", "second"):
            known = (selector.pairs_[name] >= 0) & (selector.pairs_[name] < n_features)
            _demand(known.all(), "a pair has an unknown column")
    path = getattr(selector, "size_path_", None)
    if path is not None:
        _demand(isinstance(path, SizePath), "size_path_ has another type")
        n_sizes = len(path.n_features)
        _demand_array(path.n_features, np.int64, (n_sizes,), "n_features")
        _demand_array(path.log_loss, np.float64, (n_sizes,), "log_loss")
        _demand_array(path.standard_error, np.float64, (n_sizes,), "standard_error")
        _demand(n_sizes > 0, "size_path_ has no sizes")


def _check_target(selector: BaseSelector) -> int:
    """Check classes or bins of the target, and return their number."""
    bins = selector.target_bins_
    _demand(hasattr(selector, "classes_") == (bins is None), "it has classes and bins, or neither")
    kind = CLASSIFICATION if bins is None else REGRESSION
    _demand(selector.target_type_ == kind, "target_type_ differs from the target")
    if bins is None:
        return len(selector.classes_)
    _check_bins(bins)
    counts = selector.network_counts_
    same = counts.unit != 1.0 or np.array_equal(bins["n_samples"], counts.class_totals)
    _demand(
        len(bins) == len(counts.class_totals) and same,
        "the bins of the target have other sizes than the classes",
    )
    tables, levels = selector._target_by_level, selector.network_counts_.coding.n_levels
    _demand(type(tables) is list and len(tables) == len(levels), "the target at a level is missing")
    for table, n_levels in zip(tables or [], levels, strict=True):
        _demand_array(table, np.float64, (n_levels, 4), "the target by level")
    return len(bins)


def _check_bins(bins: Any) -> None:
    if bins is None:
        return
    _demand(isinstance(bins, np.recarray) and bins.dtype == BIN, "target_bins_ has other fields")
    _demand(len(bins) > 1 and (bins["n_samples"] > 0).all(), "a bin of the target is empty")
    _demand(all(type(name) is str for name in bins["name"]), "a bin of the target has no name")
    ordered = (bins["lower"] < bins["smallest"]) & (bins["smallest"] <= bins["mean"])
    ordered &= (bins["mean"] <= bins["largest"]) & (bins["largest"] <= bins["upper"])
    joined = np.array_equal(bins["lower"][1:], bins["upper"][:-1])
    _demand(bool(ordered.all()) and joined, "the bins of the target are not in order")


def _check_records(selector: BaseSelector) -> None:
    """Check that `explain` works for the records, and that p-values are probabilities."""
    records, roles = selector.features_, {str(role) for role in Role}
    _demand(set(records["role"].tolist()) <= roles, "features_ has an unknown role")
    _demand(set(records["reason"].tolist()) <= BY_LABEL.keys(), "features_ has an unknown reason")
    columns, figures = list(selector._figures), list(selector._figures.values())
    _demand(all(type(column) is int for column in columns), "figures refer to an unknown column")
    _demand(all(type(own) is dict for own in figures), "figures are not a dict")
    for index in {*columns[:100], 0}:
        _demand(0 <= index < len(records), "figures refer to an unknown column")
        selector.explain(index)  # fails if a field is missing or has the wrong type
    for p_values in (records["p_value"], selector.pvalues_, selector.qvalues_):
        valid = np.isnan(p_values) | ((p_values >= 0) & (p_values <= 1))
        _demand(bool(valid.all()), "p-values are not probabilities")


def _check_classifier(classifier: NetworkClassifier) -> None:
    _demand(hasattr(classifier, "classes_"), "it has no classes")
    network, n_classes = classifier.network_, len(classifier.classes_)
    n_nodes = len(network)
    _check_network(network, classifier.n_features_in_)
    _check_coding(classifier._coding, n_nodes)
    _demand_array(classifier._log_prior, np.float64, (n_classes,), "the prior")
    _demand_probabilities(classifier._log_prior)
    additive = getattr(classifier, "_additive", None)
    if additive is not None:
        _check_additive_tables(additive, n_nodes, n_classes)
        same_levels = np.array_equal(classifier._coding.n_levels, additive.coding.n_levels)
        _demand(same_levels, "the levels differ from those of the tables")
        same = np.array_equal(classifier.parents_, additive.parents) and classifier._tables == []
        _demand(same, "parents_ differ from those of the tables")
        return
    _demand(len(classifier._tables) == n_nodes, "the number of tables is not the number of nodes")
    _demand(all(type(table) is LogTable for table in classifier._tables), "a table has another type")
    parents = [table.parent for table in classifier._tables]
    _demand_array(classifier.parents_, np.int64, (n_nodes,), "parents_")
    _demand(classifier.parents_.tolist() == parents, "parents_ differ from those of the tables")
    _demand_forest(classifier.parents_)
    levels = classifier._coding.n_levels
    for node, table in enumerate(classifier._tables):
        given = 1 if table.parent == ROOT else levels[table.parent]
        # a table of the structure "tree" may not depend on the class
        classes = 1 if np.shape(table.values)[2:] == (1,) else n_classes
        _demand_array(table.values, np.float64, (levels[node], given, classes), "a table")
        _demand_probabilities(table.values)


def _check_regressor(regressor: BNSLFSRegressor) -> None:
    _check_network(regressor.network_, regressor.n_features_in_)
    _check_coding(regressor._coding, len(regressor.network_))
    _check_regression_tables(regressor._additive, len(regressor.network_))
    same_levels = np.array_equal(regressor._coding.n_levels, regressor._additive.coding.n_levels)
    _demand(same_levels, "the levels differ from those of the tables")
    same = np.array_equal(regressor.parents_, regressor._additive.parents)
    _demand(same, "parents_ differ from those of the tables")


def _check_additive_tables(tables: AdditiveTables, n_nodes: int, n_classes: int) -> None:
    _demand(type(tables) is AdditiveTables, "the additive tables have another type")
    _demand_array(tables.log_prior, np.float64, (n_classes,), "the prior")
    _demand_probabilities(tables.log_prior)
    _check_tables(tables, n_nodes, n_classes)


def _check_regression_tables(tables: AdditiveTables, n_nodes: int) -> None:
    _demand(isinstance(tables, RegressionTables), "the tables of a regression have another type")
    assert isinstance(tables, RegressionTables)
    _demand_array(tables.log_prior, np.float64, (1,), "the mean of the target")
    _demand(bool(np.isfinite(tables.log_prior).all()), "the mean of the target is infinite")
    _check_tables(tables, n_nodes, 1)
    n_groups = len(tables.residuals)
    _demand_array(tables.limits, np.float64, (n_groups - 1,), "the limits of the residuals")
    _demand(bool((np.diff(tables.limits) > 0).all()), "the limits of the residuals are not in order")
    _demand(len(tables.weights) == n_groups, "the residuals and their weights have different lengths")
    for residuals, weights in zip(tables.residuals, tables.weights, strict=True):
        _demand_array(weights, np.float64, (len(residuals),), "the weights of the residuals")
        _demand(
            bool((np.isfinite(weights) & (weights > 0)).all()), "weights of residuals are not positive"
        )
        _demand_array(residuals, np.float64, (len(residuals),), "the residuals")
        valid = len(residuals) > 0 and np.isfinite(residuals).all() and (np.diff(residuals) >= 0).all()
        _demand(bool(valid), "the residuals are not in order")
    n_factors = np.shape(tables.spread)[:1]
    _demand_array(tables.spread, np.float64, (*n_factors, 2, n_nodes), "the spread")
    _demand(bool(np.isfinite(tables.spread).all()), "the spread is infinite")
    _demand_array(tables.frequent, np.float64, np.shape(tables.frequent)[:1], "the frequent targets")
    _demand_array(tables.shares, np.float64, np.shape(tables.frequent)[:1], "the shares of targets")
    in_order = np.isfinite(tables.frequent).all() and (np.diff(tables.frequent) > 0).all()
    _demand(bool(in_order), "the frequent targets are not in order")
    _demand(0 <= tables.drift < np.inf, "the drift is negative or infinite")


def _check_tables(tables: AdditiveTables, n_nodes: int, n_classes: int) -> None:
    _check_coding(tables.coding, n_nodes)
    levels = tables.coding.n_levels
    _demand_array(tables.parents, np.int64, (n_nodes,), "parents")
    _demand_forest(tables.parents)
    _demand_array(tables.importances, np.float64, (n_nodes,), "importances")
    _demand(len(tables.nodes) == len(tables.edges) == n_nodes, "the table of a node is missing")
    _demand_array(tables.drawn, np.uint8, (n_nodes, np.shape(tables.drawn)[-1]), "the drawn samples")
    _demand(bool((tables.drawn < levels[:, np.newaxis]).all()), "a drawn sample has an unknown level")
    for node, (own, edge) in enumerate(zip(tables.nodes, tables.edges, strict=True)):
        _demand_array(own, np.float64, (levels[node], n_classes), "the table of a node")
        _demand(bool(np.isfinite(own).all()), "a table has infinite entries")
        parent = int(tables.parents[node])
        _demand((edge is None) == (parent == ROOT), "the table of an edge is missing")
        if edge is not None:
            shape = (levels[node], levels[parent], n_classes)
            _demand_array(edge, np.float64, shape, "the table of an edge")
            _demand(bool(np.isfinite(edge).all()), "a table has infinite entries")


def _demand_probabilities(logarithms: NDArray[np.float64]) -> None:
    """Check that the exponentials of an array sum to one along the first axis."""
    finite = np.isfinite(logarithms).all() and (logarithms < 1).all()
    valid = finite and np.allclose(np.exp(logarithms).sum(axis=0), 1)
    _demand(valid, "a table does not contain probabilities")


def _check_coding(coding: Coding, n_columns: int) -> None:
    """Check that levels fit in a byte, and that all indices into ``thresholds`` are valid."""
    _demand(type(coding) is Coding, "a coding has another type")
    _demand_array(coding.columns, COLUMN, (n_columns,), "columns of a coding")
    _demand_array(coding.offset, np.int64, (n_columns + 1,), "offset")
    _demand_array(coding.thresholds, np.float64, (int(coding.offset[-1]),), "thresholds")
    n_levels, n_thresholds = coding.n_levels, np.diff(coding.offset)
    _demand(coding.offset[0] == 0 and (n_thresholds >= 0).all(), "offsets decrease")
    _demand(((n_levels > 0) & (n_levels <= _CODES)).all(), "a column has no levels or too many")
    _demand((n_thresholds + coding.cut <= n_levels).all(), "a column has more cuts than levels")
    for name in ("rare", "missing", "new", "fallback"):
        lowest = 0 if name == "fallback" else NONE
        level = coding.columns[name]
        _demand(((level >= lowest) & (level < n_levels)).all(), f"{name} is not a level")
    for column, categories in coding.categories.items():
        _demand(type(column) is int and 0 <= column < n_columns, "categories of an unknown column")
        levels = list(categories.values())
        _demand(all(type(level) is int for level in levels), "a category has no level")
        _demand(all(0 <= level < n_levels[column] for level in levels), "a category has no level")
    for column, pair in coding.alleles.items():
        _demand(type(column) is int and 0 <= column < n_columns, "alleles of an unknown column")
        _demand([type(one) for one in pair] == [str, str], "the alleles of a column are not two texts")


def _check_network(network: TreeNetwork, n_features: int) -> None:
    _demand(type(network) is TreeNetwork, "network_ has another type")
    n_nodes = len(network)
    for name in ("columns", "parents", "levels"):
        _demand_array(getattr(network, name), np.int64, (n_nodes,), name)
    for name in ("relevance", "entropy", "mutual_information", "conditional_relevance"):
        _demand_array(getattr(network, name), np.float64, (n_nodes,), name)
    texts = (*network.names, network.class_name)
    _demand(all(isinstance(text, str) for text in texts), "a node has no name")
    columns = network.columns
    _demand(((columns >= 0) & (columns < n_features)).all(), "a node is not a column")
    _demand(len(np.unique(columns)) == n_nodes, "two nodes are the same column")
    _demand_forest(network.parents)


def _check_counts(counts: NetworkCounts, n_nodes: int, n_classes: int) -> None:
    _demand(type(counts) is NetworkCounts, "network_counts_ has another type")
    _check_coding(counts.coding, n_nodes)
    _demand_array(counts.class_totals, np.int64, (n_classes,), "class_totals")
    _demand_array(counts.partners, np.int64, (n_nodes,), "partners")
    _demand_forest(counts.partners)
    complete = len(counts.class_counts) == len(counts.joint_counts) == n_nodes
    _demand(complete, "counts of a node are missing")
    levels, totals = counts.coding.n_levels, counts.class_totals
    _demand((totals > 0).all(), "a class has no samples")
    _demand(type(counts.unit) is float and 0 < counts.unit < np.inf, "the unit of the counts is invalid")
    n_rows, n_used = counts.n_rows, counts.n_used
    _demand(
        type(n_rows) is type(n_used) is int and 0 < n_used <= n_rows, "the number of rows is invalid"
    )
    for node, partner in enumerate(counts.partners):
        own = counts.class_counts[node]
        _demand_array(own, np.int64, (levels[node], n_classes), "class_counts")
        valid = (own >= 0).all() and (own.sum(axis=0) == totals).all()
        _demand(valid, "class_counts are not valid counts")
        joint = counts.joint_counts[node]
        if partner == ROOT:
            _demand(joint is None, "a node without a partner has counts with it")
            continue
        wide = isinstance(joint, np.ndarray) and joint.dtype == np.int64
        shape = (n_classes, levels[node], levels[partner])
        _demand_array(joint, np.int64 if wide else np.int32, shape, "joint_counts")
        of_both = np.asarray(joint)
        valid = (of_both >= 0).all() and (own == of_both.sum(axis=2).T).all()
        _demand(valid, "joint_counts are not valid counts")


def _demand_forest(parents: NDArray[np.int64]) -> None:
    """Check that every path upwards ends at the class."""
    n_nodes = len(parents)
    _demand(((parents >= ROOT) & (parents < n_nodes)).all(), "a parent is not a node")
    up = np.append(np.where(parents == ROOT, n_nodes, parents), n_nodes)
    for _ in range(n_nodes.bit_length()):
        up = up[up]  # doubles the number of steps
    _demand((up == n_nodes).all(), "a node is its own ancestor")


def _demand_array(array: Any, dtype: DTypeLike, shape: tuple[int, ...], name: str) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
    _demand(fits, f"{name} is {found}, expected {np.dtype(dtype)} {tuple(map(int, shape))}")


def _demand(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ModelFileError(f"its parts are inconsistent ({what}). Fit and save the model again.")
