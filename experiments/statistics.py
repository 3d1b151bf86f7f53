"""Rows -> comparisons of methods: accuracies per block, ranks, significant differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from slfs.evaluation.paired_tests import corrected_t_test

COLUMNS = ("3-NN", "5-NN", "7-NN", "SVM", "Bayes")
"""The five figures of the paper. "Bayes" is BNSLFS for SLFS and naive Bayes for the others."""

FILTERS = (
    "SLFS", "mRMR MID", "mRMR MIQ", "JMI", "CMIM", "FCBF", "SAOLA", "OSFS", "Fast-OSFS",
    "alpha-investing", "Chi2 ranking", "Chi2",
)  # fmt: skip
"""Methods that do not use a classifier."""

PAPER_RIVALS = ("mRMR MID", "OSFS", "Fast-OSFS", "alpha-investing", "Chi2 ranking")
"""The methods that the paper compares SLFS with."""

LEVEL = 0.05


def comparison(rows: pd.DataFrame, size: str = "equal", bayes: str = "BNSLFS") -> pd.DataFrame:
    """Return the rows of SLFS, and of the other methods at one size, in the columns of the paper.

    ``bayes`` is the classifier used for SLFS in the column "Bayes".
    """
    chosen = rows[(rows["size"] == size) | rows["method"].isin(["SLFS", "all features"])]
    ours = chosen["method"].str.startswith("SLFS")
    own = np.where(ours, bayes, "NB")
    column = chosen["classifier"].where(chosen["classifier"] != own, "Bayes")
    kept: pd.DataFrame = chosen.assign(column=column)
    return kept[kept["column"].isin(COLUMNS)]


def filters(rows: pd.DataFrame) -> list[str]:
    """Return the filter methods that occur in the rows."""
    return [name for name in FILTERS if name in set(rows["method"])]


def of_full_size(rows: pd.DataFrame) -> list[str]:
    """Return the filters that select about as many features as SLFS on average."""
    sizes = rows.pivot_table(index=["dataset", "fold"], columns="method", values="n_features")
    share = sizes.div(sizes["SLFS"], axis=0).mean()
    return [name for name in filters(rows) if share[name] > 0.95]


def accuracies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy over the folds: a row per dataset and column, a column per method."""
    return rows.pivot_table(index=["dataset", "column"], columns="method", values="accuracy")


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Return the mean rank of each method over all blocks; 1 is the most accurate."""
    return table.rank(axis=1, ascending=False).mean().sort_values()


@dataclass(frozen=True)
class Friedman:
    """Result of the Friedman test over datasets, with Nemenyi's critical difference of mean ranks."""

    ranks: pd.Series
    p_value: float
    critical_difference: float


def friedman(table: pd.DataFrame) -> Friedman:
    """Compare methods over the datasets.

    The five columns of a dataset share data and selections and are not independent, so the methods are
    ranked once per dataset, by the mean of their ranks in its columns.
    """
    means = table.rank(axis=1, ascending=False).groupby("dataset").mean()
    by_dataset = means.rank(axis=1)
    n_datasets, n_methods = by_dataset.shape
    p_value = float(stats.friedmanchisquare(*by_dataset.to_numpy().T).pvalue)
    quantile = stats.studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    difference = float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
    return Friedman(by_dataset.mean().sort_values(), p_value, difference)


def against(rows: pd.DataFrame, method: str, other: str) -> pd.DataFrame:
    """Return the accuracies of two methods and the p-value of the difference, per dataset and column."""
    folds = rows.pivot_table(index=["dataset", "column", "fold"], columns="method", values="accuracy")
    n_folds = int(rows["fold"].nunique())
    found = [
        (
            *block,
            part[method].mean(),
            part[other].mean(),
            corrected_t_test((part[method] - part[other]).to_numpy(), 1 / (n_folds - 1)),
        )
        for block, part in folds[[method, other]].dropna().groupby(["dataset", "column"])
    ]
    names = ["dataset", "column", "accuracy", "other", "p_value"]
    return pd.DataFrame(found, columns=names).set_index(["dataset", "column"])


def wins_ties_losses(table: pd.DataFrame) -> tuple[int, int, int]:
    """Count the rows of `against` that are significantly better, neither, and significantly worse."""
    significant = table["p_value"] < LEVEL
    better = table["accuracy"] > table["other"]
    wins, losses = int((significant & better).sum()), int((significant & ~better).sum())
    return wins, len(table) - wins - losses, losses


def wilcoxon(table: pd.DataFrame) -> float:
    """Return the p-value of the signed-rank test over datasets, with columns averaged per dataset."""
    by_dataset = (table["accuracy"] - table["other"]).groupby("dataset").mean()
    if (by_dataset == 0).all():
        return 1.0
    return float(stats.wilcoxon(by_dataset).pvalue)


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct p-values for multiple tests with Holm's method."""
    order = np.argsort(p_values)
    raised = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected
