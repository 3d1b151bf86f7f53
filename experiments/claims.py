"""Claims of the paper (section 5 and conclusion) -> whether they hold in the stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from experiments import statistics
from experiments.growth import slopes
from experiments.sensitivity import sensitivity_table
from experiments.statistics import LEVEL, PAPER_RIVALS
from slfs.datasets.paper import DATASETS

BETTER_ON = {
    "3-NN": ("breastcancer", "isolet", "voting", "yeast", "letter"),
    "5-NN": tuple(DATASETS),
    "7-NN": ("isolet", "voting", "breastcancer", "dexter", "yeast", "letter"),
    "SVM": ("breastcancer", "isolet", "voting", "dexter", "yeast", "letter"),
    "Bayes": ("arcene", "isolet", "yeast", "letter"),
}
"""Datasets on which the paper says that SLFS is superior (for 5-NN: superior or equal)."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it holds, and the figures."""

    text: str
    verdict: str
    evidence: str


def check_claims(rows: pd.DataFrame, growth: pd.DataFrame, table3: pd.DataFrame) -> Iterator[Claim]:
    """Check all claims, for the default SLFS and for "SLFS, paper"."""
    here = set(rows["dataset"])
    for column, claimed in BETTER_ON.items():
        datasets = [name for name in claimed if name in here]
        if not datasets:
            continue
        better = "superior or equal" if column == "5-NN" else "superior"
        shown = "BNSLFS" if column == "Bayes" else column
        for method in ("SLFS", "SLFS, paper"):
            verdicts = [_verdict(rows, method, name, column) for name in datasets]
            counts = ", ".join(
                f"{sum(kind == word for kind, _ in verdicts)} {word}"
                for word in ("holds", "tie", "fails")
            )
            yield Claim(
                f"{shown}: {method} {better} on {', '.join(DATASETS[name].title for name in datasets)}",
                counts,
                "; ".join(text for _, text in verdicts),
            )
    if any(DATASETS[name].n_classes > 2 for name in here):
        yield _best_on_many_classes(rows)
    yield _linear_in_columns(growth)
    yield _faster(growth)
    yield _little_sensitive(table3)
    yield _free_classifier(rows)


def _rivals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's comparison: rankings at the size of SLFS, streams at their own."""
    size = rows["method"].map(lambda name: "equal" if name in ("mRMR MID", "Chi2 ranking") else "own")
    chosen = rows[rows["size"] == size]
    kept = chosen["method"].isin(["SLFS", "SLFS, paper", *PAPER_RIVALS])
    return pd.concat(
        [statistics.comparison(chosen[kept], kind) for kind in ("own", "equal")]
    ).drop_duplicates()


def _verdict(rows: pd.DataFrame, method: str, dataset: str, column: str) -> tuple[str, str]:
    part = _rivals(rows)
    part = part[(part["dataset"] == dataset) & (part["column"] == column)]
    means = part.groupby("method")["accuracy"].mean()
    best = str(means[list(PAPER_RIVALS)].idxmax())
    text = f"{DATASETS[dataset].title} {100 * means[method]:.1f} vs. {100 * means[best]:.1f} ({best})"
    if means[method] > means[best] or (means[method] == means[best] and column == "5-NN"):
        return "holds", text
    if means[method] == means[best]:
        return "tie", text
    p_value = statistics.against(part, method, best)["p_value"].iloc[0]
    return ("fails" if p_value < LEVEL else "tie"), f"{text}, p = {p_value:.2g}"


def _best_on_many_classes(rows: pd.DataFrame) -> Claim:
    table = statistics.accuracies(_rivals(rows))
    lead = 100 * (table["SLFS"] - table[list(PAPER_RIVALS)].max(axis=1))
    many = lead.index.get_level_values("dataset").map(lambda name: DATASETS[name].n_classes > 2)
    more, fewer = lead[many].mean(), lead[~many].mean()
    return Claim(
        "SLFS does best on datasets with many classes",
        "holds" if more > max(fewer, 0) else "fails",
        f"mean difference to the best other method: {more:+.2f} points with many classes, "
        f"{fewer:+.2f} with two",
    )


def _linear_in_columns(growth: pd.DataFrame) -> Claim:
    slope = slopes(growth).loc["SLFS", "p"]
    return Claim(
        "the time of SLFS grows linearly with p if NCH and MAXDEPTH are bounded",
        "holds" if slope <= 1.1 else "fails",
        f"exponent {slope:.2f}",
    )


def _faster(growth: pd.DataFrame) -> Claim:
    wide = growth[growth["varied"] == "p"]
    seconds = wide[wide["n_features"] == wide["n_features"].max()].set_index("method")["seconds"]
    slower = [
        name for name in ("mRMR", "Fast-OSFS", "alpha-investing") if seconds[name] > seconds["SLFS"]
    ]
    others = ", ".join(f"{name} {seconds[name]:.2f} s" for name in seconds.index if name != "SLFS")
    return Claim(
        "SLFS is faster than Fast-OSFS, mRMR and alpha-investing",
        "holds" if len(slower) == 3 else f"holds for {len(slower)} of 3",
        f"{wide['n_features'].max()} columns: SLFS {seconds['SLFS']:.2f} s, {others}",
    )


def _little_sensitive(table3: pd.DataFrame) -> Claim:
    found = sensitivity_table(table3).set_index(["NCH", "lambda", "MAXDEPTH"])
    column = "BNSLFS, reversed"
    two, three = found.loc[(8, 1.5, 2), column], found.loc[(8, 1.5, 3), column]
    return Claim(
        "SLFS is not very sensitive to MAXDEPTH (but in Table 3 accuracy falls from 62 to 33%)",
        "holds" if abs(two - three) < 5 else "fails",
        f"NCH 8, λ 1.5: {two:.1f}% at depth 2, {three:.1f}% at depth 3",
    )


def _free_classifier(rows: pd.DataFrame) -> Claim:
    table = rows[(rows["method"] == "SLFS") & rows["classifier"].isin(["NB", "BNSLFS"])]
    means = table.pivot_table(index="dataset", columns="classifier", values="accuracy")
    better = int((means["BNSLFS"] >= means["NB"]).sum())
    gain = 100 * (means["BNSLFS"] - means["NB"]).mean()
    return Claim(
        "BNSLFS, which needs no training, is at least as accurate as naive Bayes on the same columns",
        f"holds on {better} of {len(means)} datasets",
        f"{gain:+.2f} points on average, {_extremes(100 * (means['BNSLFS'] - means['NB']))}",
    )


def _extremes(gains: pd.Series) -> str:
    best, worst = gains.idxmax(), gains.idxmin()
    low = f"{gains[worst]:+.1f} ({DATASETS[worst].title})"
    return f"from {low} to {gains[best]:+.1f} ({DATASETS[best].title})"
