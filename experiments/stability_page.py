"""Selections on subsamples -> the section on stability, in Markdown."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments import stability
from experiments.markdown import table
from slfs.datasets.paper import DATASETS
from slfs.measures.stability import Stability


def stability_section(rows: pd.DataFrame) -> str:
    """Describe how much the selections on subsamples agree, at the size of SLFS and with few columns."""
    first = "arcene" if "arcene" in set(rows["dataset"]) else str(rows["dataset"].iloc[0])
    text = (
        f"Each method selects features on the same {rows['subsample'].nunique()} subsamples, which are "
        "stratified, complementary halves of the samples "
        f"(seed {rows['seed'].iloc[0]}); the selections are stored in "
        "`experiments/results/stability.parquet`. Nogueira's measure is 1 if all selections are equal, "
        "and about 0 if they are random; values below 0.4 are considered poor, above 0.75 excellent. "
        "Square brackets show its 95% confidence interval, parentheses the mean number of features. "
        "Each method selects at most the median number of features that SLFS selects, or at most "
        f"{stability.FEW}; FCBF often selects fewer. The measure compares column indices: two columns "
        "with almost the same content count as different."
    )
    parts = [text]
    for size, title in (("equal", "At most the size of SLFS"), ("few", "Few features")):
        found, sizes = stability.stabilities(rows, size), stability.sizes(rows, size)
        limit = rows[(rows["dataset"] == first) & (rows["size"] == size)]["limit"].iloc[0]
        shown = ", ".join(
            f"{method} {_interval(found.loc[first, method])} with {sizes.loc[first, method]:.0f}"
            for method in found.columns
        )
        parts += [
            f"### {title}",
            f"{DATASETS[first].title}, at most {limit} features: {shown}.",
            _table(found, sizes),
            " ".join(_record(found, rival) for rival in ("mRMR MID", "FCBF")),
        ]
    return "\n\n".join(parts)


def _interval(found: Stability) -> str:
    if np.isnan(found.value):
        return "not defined"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _table(found: pd.DataFrame, sizes: pd.DataFrame) -> str:
    lines = []
    for name in DATASETS:
        if name in found.index:
            cells = [
                "all kept" if np.isnan(one.value) else f"{one.value:.2f} ({sizes.loc[name, method]:.0f})"
                for method, one in found.loc[name].items()
            ]
            lines.append([DATASETS[name].title, *cells])
    return table(["dataset", *found.columns], lines)


def _record(found: pd.DataFrame, rival: str) -> str:
    """Count the datasets on which SLFS is more or less stable, with intervals that do not overlap."""
    both = zip(found["SLFS"], found[rival], strict=True)
    pairs = [pair for pair in both if not np.isnan([one.value for one in pair]).any()]
    more = sum(one.low > other.high for one, other in pairs)
    fewer = sum(one.high < other.low for one, other in pairs)
    return (
        f"SLFS is more stable than {rival} on {more} of {len(pairs)} datasets and less stable on "
        f"{fewer}; datasets with overlapping confidence intervals are not counted."
    )
