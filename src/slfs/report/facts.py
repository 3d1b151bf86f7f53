"""A fitted selector -> the content of its report, as plain values that can be written as JSON."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from slfs._core.indices import TableIndex
from slfs._core.version import __version__
from slfs.coding.level_names import as_text, level_names, plain_cuts
from slfs.measures.interactions import classes_by_interaction
from slfs.network.tree import ROOT
from slfs.report.words import (
    dropped_summary,
    leak_warning,
    role_meaning,
    role_words,
    sentence_templates,
    summary,
)
from slfs.screening.reasons import Role
from slfs.selectors._shared.size_path import AutomaticSizeMixin
from slfs.selectors._shared.wording import grade
from slfs.selectors.base import BaseSelector
from slfs.selectors.interaction_selector import InteractionSelector
from slfs.selectors.stability_selection import StabilitySelection

FORMAT = 6
"""Version of the layout of the facts; increased when readers of the JSON have to adapt."""


def make_facts(
    selector: BaseSelector,
    *,
    data: str = "",
    accuracy: dict[str, Any] | None = None,
    seconds: float | None = None,
    fingerprint: str = "",
    command: str = "",
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Collect everything that a report contains about a selection.

    Parameters
    ----------
    selector : selector
        A fitted selector of this library.
    data : str, default=""
        Name of the table, for example of its file.
    accuracy : dict or None, default=None
        Result of `slfs.evaluation.compare_accuracy`.
    seconds : float or None, default=None
        Duration of the selection.
    fingerprint : str, default=""
        Hash of the data, which lets a reader check that theirs are the same.
    command : str, default=""
        Shell command that made the selection.
    warnings : sequence of str, default=()
        Warnings that ``fit`` has issued. What the selector itself knows, such as its leaks, need not be
        among them.

    Returns
    -------
    facts : dict
        Plain values only. Information is in nats, to at least four significant digits. ``n_samples`` is
        the number of rows, or the sum of weights that are frequencies. With other weights
        ``effective_samples`` is the number of samples that the rows are worth, to which all counts add
        up; otherwise it is None. ``size`` says both in words. ``columns`` holds one list per field:
        ``role``, ``reason`` and ``sentence`` are indices into ``roles``, ``reasons`` and ``sentences``;
        ``other`` is the index of the parent of a selected column, or of the column that made another one
        redundant, -1 for none. ``size_path`` is the cross-validated log loss by number of columns, None
        if their number was given. The entries ``joined``, ``log_loss_before`` and ``log_loss`` of
        ``nodes`` say what a column added to a residual pursuit; they are None for other methods.
        ``pairs`` are edges of the tree between columns that interact, with the counts of their joint
        levels; it is empty for other selectors than `InteractionSelector`. ``classes`` are the names of
        the bins of a continuous target, ``target_bins`` says what they contain, and the entry ``target``
        of ``nodes`` has the mean and the quartiles of the target at each level; both are None for
        classes. ``created`` is the current time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.report import make_facts
    >>> selector = SLFS(n_features_to_select=2).fit(*load_iris(return_X_y=True, as_frame=True))
    >>> facts = make_facts(selector, data="iris")
    >>> facts["summary"]
    'SLFS selects 2 of 4 columns of iris to predict target (3 classes, 150 samples).'
    >>> facts["nodes"][0]["levels"]
    ['≤ 0.8', '0.8 < x ≤ 1.75', '> 1.75']
    """
    if not isinstance(selector, BaseSelector):
        raise TypeError(
            f"selector must be a fitted selector of slfs, such as SLFS().fit(X, y). "
            f"Got {type(selector).__name__} instead."
        )
    check_is_fitted(selector)
    network, counts = selector.network_, selector.network_counts_
    columns, texts = _columns(selector)
    roles, noun = selector.features_["role"], selector._target_noun()
    facts: dict[str, Any] = {
        "format": FORMAT,
        "data": as_text(data),
        "method": type(selector).__name__,
        "class_name": as_text(network.class_name),
        "target_type": selector.target_type_,
        "noun": noun,
        "n_samples": counts.n_samples if counts.unit == 1.0 else counts.n_used,
        "effective_samples": None if counts.unit == 1.0 else counts.n_samples,
        "size": counts.size_text(","),
        "n_columns": len(selector.features_),
        "n_selected": len(network),
        "depth": int(network.levels.max(initial=0)),
        "classes": selector._class_names(),
        "target_bins": _bins(selector),
        "class_counts": counts.class_sizes,
        "class_entropy": _rounded(selector._class_entropy()),
        "role_counts": _role_counts(roles),
        "role_words": {
            role: {"tone": role_words(role).tone, "meaning": role_meaning(role, noun)}
            for role in _role_counts(roles)
        },
        "dropped": _dropped(selector),
        "leaks": [as_text(name) for name in selector.leaks_],
        "warnings": _warnings(selector, warnings),
        "duplicates": _duplicates(selector),
        "seconds": None if seconds is None else _rounded(seconds),
        "accuracy": _plain(accuracy),
        "stability": _stability(selector),
        "size_path": _size_path(selector),
        "parameters": _plain(selector.get_params(deep=False)),
        "fingerprint": as_text(fingerprint),
        "command": as_text(command),
        "created": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "versions": {
            "python": platform.python_version(),
            "slfs": __version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "code": _code(selector),
        "nodes": _nodes(selector),
        "pairs": _pairs(selector),
        **texts,
        "columns": columns,
    }
    return {"summary": summary(facts), **facts}


def _role_counts(roles: NDArray[Any]) -> dict[str, int]:
    """The number of columns in each role, in the order of `Role`; roles of other packages come last."""
    counts = Counter(roles.tolist())
    return {role: counts[role] for role in dict.fromkeys([*map(str, Role), *counts]) if counts[role]}


def _dropped(selector: BaseSelector) -> str:
    """Why columns were not selected; if none was, also what to try."""
    if selector.n_features_ == 0:
        return as_text(selector._nothing_selected())
    counts = _role_counts(selector.features_["role"][~selector.support_])
    return dropped_summary(counts, selector._target_noun())


def _warnings(selector: BaseSelector, issued: Sequence[str]) -> list[str]:
    """What a reader should check before using the selection, such as a column that leaks the class.

    That nothing was selected is not repeated here: it is the text of ``dropped``.
    """
    share = selector.scores_ / selector._class_entropy()
    noun = selector._target_noun()
    leaks = [leak_warning(name, share[selector._column_index(name)], noun) for name in selector.leaks_]
    texts = dict.fromkeys([*leaks, *selector._hints(), *issued])
    dropped = _dropped(selector)
    return [text for text in map(as_text, texts) if text != dropped]


def _duplicates(selector: BaseSelector) -> list[list[str]]:
    """Groups of columns with the same levels in all samples."""
    return [[as_text(name) for name in group] for group in selector.duplicates_]


def _nodes(selector: BaseSelector) -> list[dict[str, Any]]:
    """The nodes of the tree, in the order in which they were added."""
    network, counts = selector.network_, selector.network_counts_
    coding = counts.coding
    return [
        {
            "name": as_text(network.names[node]),
            "column": int(network.columns[node]),
            "parent": int(network.parents[node]),
            "level": int(network.levels[node]),
            "relevance": _exact(float(network.relevance[node])),
            "entropy": _exact(float(network.entropy[node])),
            "mutual_information": _exact(float(network.mutual_information[node])),
            "conditional_relevance": _exact(float(network.conditional_relevance[node])),
            "kind": "numbers" if coding.cut[node] else "categories",
            "cuts": _plain(plain_cuts(coding, node)),
            "levels": level_names(coding, node),
            "counts": counts.level_sizes(node),
            "target": _target_by_level(selector, node),
            "evidence": grade(selector.features_["q_value"][network.columns[node]]),
            "pair_evidence": _pair_evidence(selector, network.columns[node]),
            "frequency": _frequency(selector, network.columns[node]),
            **_figures(selector, network.columns[node]),
            "sentence": as_text(selector.explain(int(network.columns[node]))),
        }
        for node in range(len(network))
    ]


def _bins(selector: BaseSelector) -> list[dict[str, Any]] | None:
    """The bins of a continuous target; infinite bounds are None."""
    if selector.target_bins_ is None:
        return None
    fields = ("lower", "upper", "smallest", "largest", "mean")
    return [
        {"name": as_text(record["name"]), **{name: _exact(record[name]) for name in fields}}
        for record in selector.target_bins_
    ]


def _target_by_level(selector: BaseSelector, node: int) -> list[dict[str, Any]] | None:
    """Mean and quartiles of a continuous target at each level of a column."""
    if selector._target_by_level is None:
        return None
    fields = ("mean", "lower", "median", "upper")
    rows = selector._target_by_level[node].tolist()
    return [dict(zip(fields, map(_exact, row), strict=True)) for row in rows]


def _exact(value: float) -> float | None:
    """A number for JSON, with the digits that a person reads; None for infinity and NaN."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _pair_evidence(selector: BaseSelector, column: int) -> str | None:
    """How certain the interaction of a column with another selected one is; None without one."""
    if not isinstance(selector, InteractionSelector):
        return None
    pairs, kept = selector.pairs_, selector.support_
    own = (pairs["first"] == column) | (pairs["second"] == column)
    own &= kept[pairs["first"]] & kept[pairs["second"]]
    return grade(float(pairs["q_value"][own].min())) if own.any() else None


def _pairs(selector: BaseSelector) -> list[dict[str, Any]]:
    """The edges of the tree between columns that interact, by decreasing synergy."""
    if not isinstance(selector, InteractionSelector):
        return []
    network, found = selector.network_, []
    q_value = {(row["first"], row["second"]): row["q_value"] for row in selector.pairs_}
    for node, parent in enumerate(network.parents.tolist()):
        sizes = selector.network_counts_.joint_sizes(node)
        pair = tuple(sorted((int(network.columns[node]), int(network.columns[parent]))))
        if parent == ROOT or sizes is None or pair not in q_value:
            continue
        counts = np.transpose(sizes, (2, 1, 0))
        together = network.relevance[parent] + network.conditional_relevance[node]
        found.append(
            {
                "first": parent,
                "second": node,
                "joint_information": _rounded(together),
                "synergy": _rounded(together - network.relevance[parent] - network.relevance[node]),
                "q_value": _rounded(q_value[pair]),
                "classes": classes_by_interaction(counts).tolist(),
                "counts": counts.tolist(),
            }
        )
    return sorted(found, key=lambda pair: -(pair["synergy"] or 0))


def _figures(selector: BaseSelector, column: int) -> dict[str, Any]:
    """When a column joined a residual pursuit, the log loss before and after, and many categories.

    None where a column has no such figure.
    """
    figures = selector._figures.get(TableIndex(column), {})
    losses = {name: figures.get(name) for name in ("log_loss_before", "log_loss")}
    return {
        "n_categories": figures.get("n_categories"),
        "joined": figures.get("joined"),
        **{name: None if loss is None else _exact(loss) for name, loss in losses.items()},
    }


def _size_path(selector: BaseSelector) -> dict[str, Any] | None:
    """The cross-validated log loss by number of columns; None if their number was given."""
    if not isinstance(selector, AutomaticSizeMixin) or selector.size_path_ is None:
        return None
    path = selector.size_path_
    return {
        "n_features": path.n_features.tolist(),
        "log_loss": list(map(_exact, path.log_loss.tolist())),
        "standard_error": list(map(_exact, path.standard_error.tolist())),
        "best": path.best,
        "within_one_standard_error": path.within_one_standard_error,
        "limit": _rounded(path.limit),
        "margin": path.margin,
        "size": selector.n_features_,
        "cv": selector.cv,
        "sentence": selector._size_sentence(),
    }


def _frequency(selector: BaseSelector, column: int) -> str:
    """In how many subsamples a column was selected; "" if the selector does not use subsamples."""
    if not isinstance(selector, StabilitySelection):
        return ""
    return f"{round(selector.frequencies_[column] * selector.n_subsamples)} of {selector.n_subsamples}"


def _stability(selector: BaseSelector) -> dict[str, Any] | None:
    """How well the subsamples of a stability selection agree; None for other selectors."""
    if not isinstance(selector, StabilitySelection):
        return None
    stability = selector.stability_
    figures = {name: _rounded(getattr(stability, name)) for name in ("value", "low", "high", "level")}
    threshold = _rounded(selector.threshold_)
    return {**figures, "n_subsamples": selector.n_subsamples, "threshold": threshold}


def _columns(selector: BaseSelector) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """The records of all columns, field by field; and the texts that they refer to."""
    records = selector.features_
    index = {name: column for column, name in enumerate(records["name"].tolist())}
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
        "other": [-1 if name is None else index[name] for name in others],
        "mutual_information": _all_rounded(records["mutual_information"]),
        "conditional_relevance": _all_rounded(records["conditional_relevance"]),
        "reason": reason,
        "sentence": sentence,
    }
    if isinstance(selector, StabilitySelection):
        columns["frequency"] = _all_rounded(selector.frequencies_)
    if not np.isnan(records["p_value"]).all():
        columns["p_value"] = _all_rounded(records["p_value"])
        columns["q_value"] = _all_rounded(records["q_value"])
    if not np.isnan(records["relevance_given"]).all():
        columns["relevance_given"] = _all_rounded(records["relevance_given"])
    return columns, {"roles": roles, "reasons": reasons, "sentences": sentences}


def _coded(values: Iterable[object]) -> tuple[list[str], list[int]]:
    """The distinct values in order of appearance, and the index of each value among them."""
    index: dict[object, int] = {}
    codes = [index.setdefault(value, len(index)) for value in values]
    return [as_text(value) for value in index], codes


def _code(selector: BaseSelector) -> str:
    """Python code that makes the same selection from the same table."""
    parts = [selector, *selector.get_params().values()]  # StabilitySelection contains another selector
    imports = {}
    for kind in (type(part) for part in parts if isinstance(part, BaseEstimator)):
        module = "slfs" if kind.__module__.startswith("slfs.") else kind.__module__
        imports[kind] = f"from {module} import {kind.__name__}\n"
    more = "".join(f", {name}={name}" for name in getattr(selector, "_row_arguments", ()))
    call = BaseEstimator.__repr__(selector, N_CHAR_MAX=10**6)  # non-default parameters, not shortened
    return (
        f"{''.join(imports.values())}\n"
        f"selector = {as_text(call)}\n"
        f"selector.fit(X, y{more})\n"
        "print(selector.get_feature_names_out())\n"
    )


def _all_rounded(values: NDArray[np.float64]) -> list[float | int | None]:
    return [_rounded(value) for value in values.tolist()]


def _rounded(value: float) -> float | int | None:
    """Round to four significant digits; None for infinity and NaN."""
    if not math.isfinite(value):
        return None
    return float(f"{value:.4g}") or 0


def _plain(value: Any) -> Any:
    """Convert a value to one that can be written as JSON."""
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
