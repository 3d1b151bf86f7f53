"""Stability of five filters, with and without regard to near-copies -> a table in Markdown.

``SLFS_DATA=FOLDER python -m experiments.effective_stability`` selects 20 columns on six random halves of
each dataset in ``FOLDER/research`` and prints Nogueira's measure and the effective stability. Rows are
stored in ``experiments/results/effective_stability.csv``; finished datasets are not computed again.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import typer

from experiments.markdown import table
from experiments.stability import subsample
from slfs import CMIM, JMI, MRMR, SLFS, ResidualPursuit
from slfs.datasets.paper import FOLDER_VARIABLE
from slfs.evaluation import feature_similarity
from slfs.files.atomic import replace_file
from slfs.measures import effective_stability, nogueira

DATASETS = (
    "ALLAML", "GLIOMA", "ORL", "Yale", "christensen", "gravier", "pomeroy", "shipp", "sorlie", "texture",
    "warpAR10P", "west",
)  # fmt: skip

METHODS: dict[str, Callable[..., Any]] = {
    "residual pursuit": ResidualPursuit,
    "mRMR MID": MRMR,
    "CMIM": CMIM,
    "JMI": JMI,
    "SLFS conditional": partial(SLFS, order="conditional"),
}

SIZE, HALVES, SEED = 20, 6, 2017
"""Number of columns, number of random halves (three complementary pairs), and their seed."""

STORED = Path(__file__).parent / "results" / "effective_stability.csv"


def measure(
    folder: Path, stored: Path, datasets: tuple[str, ...], report: Callable[[str], None]
) -> pd.DataFrame:
    """Return one row per dataset and method; only datasets that are not in ``stored`` are computed."""
    rows = pd.read_csv(stored) if stored.exists() else pd.DataFrame({"dataset": []})
    for name in datasets:
        if name not in set(rows["dataset"]):
            report(name)
            with np.load(folder / f"{name}.npz") as file:
                data = SimpleNamespace(data=file["X"].astype(float), target=file["y"])
            found = pd.DataFrame(measure_dataset(name, data))
            rows = pd.concat([rows, found]) if len(rows) else found
            frame = rows
            replace_file(stored, lambda draft: frame.to_csv(draft, index=False))  # noqa: B023
    return rows[rows["dataset"].isin(datasets)]


def measure_dataset(name: str, data: Any) -> list[dict[str, Any]]:
    """Return the rows of one dataset, one per method."""
    halves = [subsample(data, SEED, number) for number in range(HALVES)]
    similarity = feature_similarity(data.data, measure="correlation")
    rows = []
    for method, kind in METHODS.items():
        supports = np.zeros((HALVES, data.data.shape[1]), np.bool_)
        for support, half in zip(supports, halves, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about columns that look like leaks in a half
                support[half.fit(kind(n_features_to_select=SIZE)).indices_] = True
        plain, effective = nogueira(supports), effective_stability(supports, similarity)
        rows.append(
            {
                "dataset": name,
                "method": method,
                "n_selected": supports.sum(axis=1).mean(),
                "nogueira": plain.value,
                "effective": effective.value,
            }
        )
    return rows


def describe(rows: pd.DataFrame) -> str:
    """Return a table with both measures for each dataset and method, and their means."""
    both = rows.pivot_table(
        index="dataset", columns="method", values=["nogueira", "effective"], sort=False
    )
    both.loc["mean"] = both.mean()
    lines = [
        [
            str(name),
            *(f"{line['nogueira', method]:.2f}, {line['effective', method]:.2f}" for method in METHODS),
        ]
        for name, line in both.iterrows()
    ]
    return table(["dataset", *METHODS], lines)


def main() -> None:
    """Measure, and print the table."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None and not STORED.exists():
        sys.exit(f"Set {FOLDER_VARIABLE} to a folder with the datasets in its subfolder 'research'.")
    found = measure(
        Path(folder or ".") / "research", STORED, DATASETS, lambda name: typer.echo(name, err=True)
    )
    typer.echo(describe(found))


if __name__ == "__main__":
    main()
