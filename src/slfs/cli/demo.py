"""The main job on a dataset that scikit-learn carries: select, draw, classify, report."""

from __future__ import annotations

import time
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from slfs import SLFS
from slfs.evaluation.accuracy import compare_accuracy
from slfs.report import make_facts, write_report


def demonstrate(report: Path | None = None) -> str:
    """Select features of the breast cancer data (569 x 30, two classes); put the result into words.

    Parameters
    ----------
    report : Path, optional
        Write the report to this file.

    Returns
    -------
    text : str
    """
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    begin = time.perf_counter()
    selector = SLFS(n_jobs=-1).fit(X, y)
    seconds = time.perf_counter() - begin
    accuracy = compare_accuracy(selector, X, y, cv=10)
    if report is not None:
        facts = make_facts(selector, data="breast cancer", accuracy=accuracy, seconds=seconds)
        write_report(facts, report)
    size = f"{X.shape[0]} samples x {X.shape[1]} features"
    kept = selector.features_[selector.indices_]
    dropped = selector.features_[~selector.support_]
    return "\n".join(
        [
            f"Breast cancer, {size}: {selector.n_features_} selected in {seconds:.2f} s.",
            "",
            f"  {'feature':<24}{'role':<32}{'I(f;Y)':>9}",
            *(f"  {one['name']:<24}{one['role']:<32}{one['relevance']:>9.3f}" for one in kept),
            "",
            str(selector.network_),
            "",
            selector.explain(dropped[dropped["relevance"].argmax()]["name"]),
            "",
            "Accuracy, 10-fold cross-validation, everything learned inside the folds:",
            *(
                f"  {model['name']:<32}{model['mean']:.3f} ± {model['std']:.3f}"
                for model in accuracy["models"]
            ),
        ]
    )
