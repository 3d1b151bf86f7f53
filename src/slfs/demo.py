"""The main job on a dataset that scikit-learn carries: select, draw, classify, report.

Run it with ``python -m slfs.demo [REPORT.md]``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

from slfs import BNSLFS, SLFS, MDLPDiscretizer
from slfs._compile import compile_kernels


def main(report: Path | None = None) -> None:
    """Print the demonstration, and write it to a file as well, if one is named."""
    text = describe()
    print(text)
    if report is not None:
        draft = report.with_name(report.name + ".part")
        draft.write_text(f"# slfs: demonstration\n\n```text\n{text}\n```\n", encoding="utf-8")
        draft.replace(report)
        print(f"\nWritten to {report}.")


def describe() -> str:
    """Fit on the breast cancer data (569 x 30, two classes) and put the result into words."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    compile_kernels()  # on a new machine this takes some seconds, once
    begin = time.perf_counter()
    selector = SLFS(n_jobs=-1).fit(X, y)
    seconds = time.perf_counter() - begin
    network = selector.network_
    kept = selector.features_[network.columns]
    table = [
        f"  {feature['name']:<24}{feature['role']:<32}{feature['relevance']:>9.3f}"
        for feature in kept[np.argsort(-kept["relevance"])]
    ]
    dropped = selector.features_[~selector.support_]
    redundant = dropped[np.argmax(dropped["relevance"])]
    size = f"{X.shape[0]} samples x {X.shape[1]} features"
    return "\n".join(
        [
            f"Breast cancer, {size}: {selector.n_features_} selected in {seconds:.2f} s.",
            "",
            f"  {'feature':<24}{'role':<32}{'I(f;Y)':>9}",
            *table,
            "",
            str(network),
            "",
            selector.explain(redundant["name"]),
            "",
            *_accuracies(X, y, selector.n_features_),
        ]
    )


def _accuracies(X: Any, y: Any, n_selected: int) -> list[str]:
    """Cross-validate, with selection and discretisation inside each fold."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {
        "naive Bayes, all features": make_pipeline(MDLPDiscretizer(), CategoricalNB()),
        "naive Bayes, selected features": make_pipeline(SLFS(), MDLPDiscretizer(), CategoricalNB()),
        "BNSLFS, selected features": BNSLFS(),
    }
    lines = [f"Accuracy, 10-fold cross-validation ({X.shape[1]} features, about {n_selected} selected):"]
    for name, model in models.items():
        scores = cross_val_score(model, X, y, cv=folds)
        lines.append(f"  {name:<32}{scores.mean():.3f} ± {scores.std():.3f}")
    return lines


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
