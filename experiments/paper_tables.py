"""Stored rows -> the three tables of the paper in Markdown, ours next to the paper's."""

from __future__ import annotations

import pandas as pd

from experiments.growth import STATED, VARIED, slopes
from experiments.markdown import seconds, table
from experiments.sensitivity import READINGS, sensitivity_table
from slfs.datasets.paper import DATASETS


def table1(growth: pd.DataFrame) -> str:
    """Format the measured growth of time next to the stated complexity."""
    exponents = slopes(growth)
    base = growth[growth["varied"] == "p"].groupby("method")["seconds"].max()
    lines = [
        [
            method,
            stated,
            *(f"{exponents.loc[method, name]:.2f}" for name in VARIED),
            seconds(base[method]),
        ]
        for method, stated in STATED.items()
    ]
    size = growth[growth["varied"] == "p"][["n_samples", "n_features"]].max()
    head = ["method", "stated", *(f"exponent of {name}" for name in VARIED)]
    text = table([*head, f"seconds at {size['n_samples']} x {size['n_features']}"], lines)
    return text + (
        "\n\nThe tables are generated and have three levels per column. One quantity grows by a factor "
        "of eight while the others stay constant. An exponent of 1 means linear growth; exponents below "
        "1 are due to fixed costs. |S| is the number of features that the method selected. Columns that "
        "are irrelevant on their own cost SLFS only the time to encode them."
    )


def table2() -> str:
    """Format the list of datasets."""
    lines = [
        [entry.title, str(entry.n_samples), str(entry.n_features), str(entry.n_classes), entry.about]
        for entry in DATASETS.values()
    ]
    return table(["dataset", "N", "p", "classes", "description"], lines)


def table3(rows: pd.DataFrame) -> str:
    """Format the sensitivity to the parameters, ours next to the paper's."""
    found = sensitivity_table(rows)
    head = ["NCH", "λ", "MAXDEPTH", "paper"]
    for reading in READINGS:
        head += [f"{reading}: features", "BNSLFS / NB, %"]
    lines = []
    for _, row in found.iterrows():
        line = [f"{row['NCH']:.0f}", f"{row['lambda']:g}", f"{row['MAXDEPTH']:.0f}"]
        line.append(f"{row['NSF, paper']:.0f}, {row['accuracy, paper']:.2f}%")
        for reading in READINGS:
            line.append(f"{row[f'NSF, {reading}']:.1f}")
            line.append(f"{row[f'BNSLFS, {reading}']:.1f} / {row[f'NB, {reading}']:.1f}")
        lines.append(line)
    return table(head, lines) + (
        "\n\nNCH, λ and MAXDEPTH are the parameters `max_children`, `relevance_weight` and `max_depth`. "
        "Values are means over the folds. *reversed*: equation 7 as described in the sentence that "
        "follows it, columns in the given order; *mdl*: our rule for irrelevant columns, given order; "
        "*conditional*: our rule and the default order of version 0.1. The paper does not say which "
        "classifier its accuracies belong to."
    )
