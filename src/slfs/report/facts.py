"""A fitted selector -> everything that its report says, as plain values that JSON can hold."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from slfs._core.version import __version__
from slfs.coding.level_names import as_text, level_names
from slfs.measures.false_discovery import q_values
from slfs.report.words import sentence_templates, summary
from slfs.screening.reasons import Role
from slfs.selectors._shared.sentences import frequency, grade
from slfs.selectors.base import BaseSelector
from slfs.selectors.stability_selection import StabilitySelection

FORMAT = 1
"""Raised when a reader of the facts would have to change."""

ROLES = [str(role) for role in Role]


def make_facts(
    selector: BaseSelector,
    *,
    data: str = "",
    accuracy: dict[str, Any] | None = None,
    seconds: float | None = None,
    fingerprint: str = "",
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Collect everything that a report says about a selection.

    Parameters
    ----------
    selector : selector
        A fitted selector of this library.
    data : str, default=""
        What the table is called, for example the name of its file.
    accuracy : dict or None, default=None
        What `slfs.evaluation.compare_accuracy` returned.
    seconds : float or None, default=None
        How long the selection took.
    fingerprint : str, default=""
        A digest of the data, so that a reader can tell whether theirs are the same.
    parameters : dict or None, default=None
        How the table was read and the selector called, beside the parameters of the selector itself.

    Returns
    -------
    facts : dict
        Plain values only. Information is in nats, to four significant digits. ``columns`` holds one list
        for each field: ``role``, ``reason`` and ``sentence`` are places in ``roles``, ``reasons`` and
        ``sentences``; ``other`` is the place of the parent of a selected column, or of the column that
        a redundant one lost to, -1 for none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.report import make_facts
    >>> facts = make_facts(SLFS().fit(*load_iris(return_X_y=True, as_frame=True)), data="iris")
    >>> facts["summary"]
    'SLFS keeps all 4 columns of iris to tell the 3 classes of target apart (150 samples): 2 directly
    below the class and 2 deeper in the tree.'
    >>> facts["nodes"][0]["levels"]
    ['≤ 0.8', '0.8 < x ≤ 1.75', '> 1.75']
    """
    if not isinstance(selector, BaseSelector):
        raise TypeError(
            f"selector must be a fitted selector of slfs, such as SLFS().fit(X, y). "
            f"Got {type(selector).__name__} instead."
        )
    check_is_fitted(selector)
    network, totals = selector.network_, selector.network_counts_.class_totals
    shares = q_values(selector.features_["p_value"])
    columns, words = _columns(selector, shares)
    roles = Counter(selector.features_["role"].tolist())
    facts: dict[str, Any] = {
        "format": FORMAT,
        "data": as_text(data),
        "method": type(selector).__name__,
        "class_name": as_text(network.class_name),
        "n_samples": int(totals.sum()),
        "n_columns": len(selector.features_),
        "n_selected": len(network),
        "depth": int(network.levels.max(initial=0)),
        "classes": [as_text(label) for label in selector.classes_.tolist()],
        "class_counts": totals.tolist(),
        "role_counts": {role: roles[role] for role in ROLES if roles[role]},
        "seconds": None if seconds is None else _rounded(seconds),
        "accuracy": _plain(accuracy),
        "parameters": _plain(selector.get_params(deep=False)),
        "settings": _plain(parameters or {}),
        "fingerprint": as_text(fingerprint),
        "versions": {
            "python": platform.python_version(),
            "slfs": __version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "code": _code(selector),
        "nodes": _nodes(selector, shares[network.columns]),
        **words,
        "columns": columns,
    }
    return {"summary": summary(facts), **facts}


def _nodes(selector: BaseSelector, q_value: NDArray[np.float64]) -> list[dict[str, Any]]:
    """What is known of each feature in the tree, in the order in which they joined."""
    network, counts = selector.network_, selector.network_counts_
    coding = counts.coding
    return [
        {
            "name": as_text(network.names[node]),
            "column": int(network.columns[node]),
            "parent": int(network.parents[node]),
            "level": int(network.levels[node]),
            "relevance": _rounded(network.relevance[node]),
            "entropy": _rounded(network.entropy[node]),
            "mutual_information": _rounded(network.mutual_information[node]),
            "conditional_relevance": _rounded(network.conditional_relevance[node]),
            "kind": "numbers" if coding.cut[node] else "categories",
            "cuts": _plain(coding.column_thresholds(node).tolist()) if coding.cut[node] else [],
            "levels": level_names(coding, node),
            "counts": counts.class_counts[node].tolist(),
            "evidence": grade(q_value[node]),
            "frequency": _frequency(selector, int(network.columns[node])),
            "sentence": as_text(selector.explain(int(network.columns[node]))),
        }
        for node in range(len(network))
    ]


def _frequency(selector: BaseSelector, column: int) -> str:
    """How often a column was chosen, where a selection was made on subsamples; "" elsewhere."""
    if not isinstance(selector, StabilitySelection):
        return ""
    return frequency(selector.frequencies_[column], selector.n_subsamples)


def _columns(
    selector: BaseSelector, q_value: NDArray[np.float64]
) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """The records of all columns, field by field; and the words that they point to."""
    records = selector.features_
    place = {name: column for column, name in enumerate(records["name"].tolist())}
    others = (
        parent if parent is not None else winner
        for parent, winner in zip(records["parent"].tolist(), records["lost_to"].tolist(), strict=True)
    )
    roles, role = _coded(records["role"].tolist())
    reasons, reason = _coded(records["reason"].tolist())
    sentences, sentence = _coded(sentence_templates(selector))
    columns = {
        "name": [as_text(name) for name in records["name"].tolist()],
        "role": role,
        "relevance": _all_rounded(records["relevance"]),
        "relevance_share": _all_rounded(records["relevance"] / selector._class_entropy()),
        "n_levels": records["n_levels"].tolist(),
        "other": [-1 if name is None else place[name] for name in others],
        "mutual_information": _all_rounded(records["mutual_information"]),
        "conditional_relevance": _all_rounded(records["conditional_relevance"]),
        "reason": reason,
        "sentence": sentence,
    }
    if isinstance(selector, StabilitySelection):
        columns["frequency"] = _all_rounded(selector.frequencies_)
    if not np.isnan(records["p_value"]).all():
        columns["p_value"] = _all_rounded(records["p_value"])
        columns["q_value"] = _all_rounded(q_value)
    return columns, {"roles": roles, "reasons": reasons, "sentences": sentences}


def _coded(values: Iterable[object]) -> tuple[list[str], list[int]]:
    """The different values as they first come, and the place of each value among them."""
    index: dict[object, int] = {}
    places = [index.setdefault(value, len(index)) for value in values]
    return [as_text(value) for value in index], places


def _code(selector: BaseSelector) -> str:
    """Python code that makes the same selection from the same table."""
    name = type(selector).__name__
    call = BaseEstimator.__repr__(selector, N_CHAR_MAX=10**6)  # the parameters that are not the default
    return (
        f"from slfs import {name}\n\n"
        f"selector = {as_text(call)}\n"
        "selector.fit(X, y)\n"
        "print(selector.get_feature_names_out())\n"
    )


def _all_rounded(values: NDArray[np.float64]) -> list[float | int | None]:
    return [_rounded(value) for value in values.tolist()]


def _rounded(value: float) -> float | int | None:
    """Four significant digits; None where there is no number."""
    if not math.isfinite(value):
        return None
    return float(f"{value:.4g}") or 0


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {as_text(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    return as_text(value)
