"""A fitted selector -> one HTML file that works offline and loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from slfs.files.atomic import replace_file
from slfs.report.facts import make_facts
from slfs.selectors.base import BaseSelector

STYLES = ("page.css", "parts.css")
SCRIPTS = (
    "base.js",
    "layout.js",
    "charts.js",
    "answer.js",
    "nodes.js",
    "pointer.js",
    "drawing.js",
    "list.js",
    "tree.js",
    "panel.js",
    "size.js",
    "pairs.js",
    "csv.js",
    "table.js",
    "reproduce.js",
    "report.js",
)
"""Concatenated in this order into one script."""

ENTROPY = {"class": "class entropy", "target": "entropy of the bins of the target"}
"""What the information about a class or a target is a share of."""

_UNSAFE = "<>&\u2028\u2029"


def write_report(
    selector: BaseSelector,
    path: str | Path,
    *,
    X: Any = None,
    y: Any = None,
    data: str = "",
    accuracy: dict[str, Any] | None = None,
    seconds: float | None = None,
    fingerprint: str = "",
    command: str = "",
    warnings: Sequence[str] = (),
) -> None:
    """Write an interactive report about a fitted selector to an HTML file.

    The report shows the selected columns, their tree, how the classes are distributed over each of them,
    and why every other column was dropped. It is a single file that needs no network connection.

    Parameters
    ----------
    selector : selector
        A fitted selector of this library.
    path : str or Path
        File to write. An existing file is replaced once the new one is complete.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features), default=None
        The table that the selector was fitted on. With `X` and `y` the report also shows the
        cross-validated accuracy before and after the selection.
    y : array-like of shape (n_samples,), default=None
        Class labels.
    data : str, default=""
        Name of the table, used as the title of the report.
    accuracy : dict or None, default=None
        Result of `slfs.evaluation.compare_accuracy`, instead of `X` and `y`.
    seconds : float or None, default=None
        Duration of the selection.
    fingerprint : str, default=""
        Hash of the data, which lets a reader check that theirs are the same.
    command : str, default=""
        Shell command that made the selection.
    warnings : sequence of str, default=()
        Warnings that ``fit`` has issued, to be shown to the reader.

    See Also
    --------
    make_facts : The content of the report as a dict.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SLFS().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(selector, Path(folder) / "iris.html", X=X, y=y, data="iris")
    ...     (Path(folder) / "iris.html").exists()
    True
    """
    if (X is None) != (y is None):
        raise ValueError("Pass both X and y to measure the accuracy, or neither.")
    if X is not None and accuracy is None:
        selector._check_columns(X)
        n_fitted = selector.network_counts_.n_rows
        if len(y) != n_fitted:
            raise ValueError(
                f"The selector was fitted to {n_fitted} rows, y has {len(y)}. Pass the table that "
                "the selector was fitted to."
            )
        accuracy = measure_accuracy(selector, X, y)
    facts = make_facts(
        selector,
        data=data,
        accuracy=accuracy,
        seconds=seconds,
        fingerprint=fingerprint,
        command=command,
        warnings=warnings,
    )
    page = render_html(facts)
    replace_file(Path(path), partial(Path.write_text, data=page, encoding="utf-8", newline="\n"))


def measure_accuracy(selector: BaseSelector, X: Any, y: Any) -> dict[str, Any]:
    """Cross-validate the accuracy; for weights or groups of rows and continuous targets, say why not."""
    from slfs.evaluation import compare_accuracy

    given = getattr(selector, "_row_arguments", [])
    if selector.target_bins_ is not None:
        reason = (
            "Accuracy is a share of classes, but the target is a quantity. slfs compare, or "
            "slfs.evaluation.compare_methods, cross-validates R² and the mean absolute error of "
            "regressors."
        )
    elif given:
        what = " and ".join(name.replace("sample_weight", "weights") for name in given)
        params = ", ".join(f"{name!r}: {name}" for name in given)
        own = "groups=groups, cv=GroupKFold(), " if "groups" in given else ""
        reason = (
            f"The rows have {what}, which this cross-validation does not take into account. "
            f"scikit-learn does: cross_validate(BNSLFS(), X, y, {own}params={{{params}}})."
        )
    else:
        return compare_accuracy(selector, X, _without_fractions(selector.classes_, y))
    return {"n_splits": 0, "random_state": 0, "majority": None, "reason": reason, "models": []}


def _without_fractions(classes: Any, y: Any) -> Any:
    """Return labels as text if some classes are fractions, which metrics of scikit-learn refuse."""
    fractions = classes.dtype.kind == "f" and bool((classes % 1).any())
    return np.asarray(y).astype(str) if fractions else y


def render_html(facts: dict[str, Any]) -> str:
    """Render the facts about a selection as an HTML page.

    The same facts give the same page. Names and labels from the data are embedded as JSON and inserted
    as text, never as markup, and the content security policy allows only the scripts of the page.

    Parameters
    ----------
    facts : dict
        Result of `make_facts`.

    Returns
    -------
    page : str
        A complete HTML document.
    """
    style = "\n".join(_read(name) for name in STYLES)
    script = '(() => {\n"use strict";\n' + "\n".join(_read(name) for name in SCRIPTS) + "})();"
    heading = facts["data"] or "Selected features"
    return Template(_read("report.html")).substitute(
        title=escape(f"{heading}: {facts['n_selected']} of {facts['n_columns']} columns"),
        heading=escape(heading),
        summary=escape(facts["summary"]),
        dropped=escape(facts["dropped"]),
        noun=facts["noun"],
        entropy=ENTROPY[facts["noun"]],
        names=escape(", ".join(node["name"] for node in facts["nodes"]) or "none"),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        facts=embed_json(facts),
    )


def embed_json(value: Any) -> str:
    """Encode a value as JSON without characters that could end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in _UNSAFE:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _read(name: str) -> str:
    return resources.files("slfs.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
