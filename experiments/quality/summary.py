"""Rows -> comparisons of methods over the datasets that are complete."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from experiments import statistics
from experiments.quality.config import OWN, Config
from experiments.quality.plan import Cell, cells
from slfs.measures import nogueira

TIE = 0.001
"""Differences of mean accuracy, or of mean R², on a dataset below this are ties."""

BLOCK = ["dataset", "size", "classifier"]


@dataclass(frozen=True)
class Summary:
    """Comparisons of the methods of a configuration.

    The comparisons use the datasets for which the first stage is complete, and of these the pairs of
    size and classifier that are complete on all of them. A classifier is used with all fixed sizes or
    with none, so that means over classifiers can be compared between sizes.

    Attributes
    ----------
    config : Config
    selections, scores : DataFrame
        From `experiments.quality.storage.read_all`.
    """

    config: Config
    selections: pd.DataFrame
    scores: pd.DataFrame

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets for which the first stage is complete."""
        wanted = set(cells(self.config, self.config.stages[0]))
        return [name for name in self.config.datasets if wanted <= self._done.get(name, set())]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of size and classifier that are complete on these datasets."""
        complete = self._pairs(self.config.stages[0].folds)
        return [
            (size, classifier)
            for size, classifier in complete
            if size == OWN or all((str(other), classifier) in complete for other in self.config.sizes)
        ]

    @cached_property
    def folds(self) -> tuple[int, ...]:
        """The folds of the first stage, or of all stages if they are complete for the same pairs."""
        everything = tuple(sorted({fold for stage in self.config.stages for fold in stage.folds}))
        complete = set(self.pairs) <= set(self._pairs(everything))
        return everything if complete else self.config.stages[0].folds

    @cached_property
    def used(self) -> pd.DataFrame:
        """The scores of these datasets, pairs and folds."""
        scores = self.scores
        pairs = pd.Series(list(zip(scores["size"], scores["classifier"], strict=True)), scores.index)
        chosen = scores["dataset"].isin(self.datasets) & scores["fold"].isin(self.folds)
        return scores[chosen & pairs.isin(self.pairs) & (scores["note"] == "")]

    def table(self, value: str | None = None, *, own: bool = False) -> pd.DataFrame:
        """Return means over the folds: a row per dataset, size and classifier, a column per method.

        ``value`` is the name of a score, by default the most important one.
        """
        rows = self.used[(self.used["size"] == OWN) == own]
        return rows.pivot_table(
            index=BLOCK, columns="method", values=value or self.config.metrics[0], sort=False
        )

    @cached_property
    def ranked(self) -> list[str]:
        """The methods with fixed sizes that are not left out of any dataset."""
        table = self.table()
        return [name for name in self.config.methods if name in table and table[name].notna().all()]

    @cached_property
    def partial(self) -> list[str]:
        """The methods with fixed sizes that are left out of some datasets."""
        return [name for name in self.config.methods if name in self.table() and name not in self.ranked]

    def by_dataset(self) -> pd.DataFrame:
        """Return the mean score over sizes and classifiers of each method on each dataset."""
        return self.table().groupby("dataset", sort=False).mean()

    def against(self, other: str) -> pd.DataFrame:
        """Return the mean scores of the reference and another method, per common dataset."""
        pair = self.by_dataset()[[self.config.reference, other]].dropna()
        return pair.set_axis(["accuracy", "other"], axis=1)

    def stability(self, size: int) -> pd.Series:
        """Return Nogueira's measure of each method over the folds, averaged over the datasets."""
        chosen = self.selections
        chosen = chosen[chosen["fold"].isin(self.folds) & chosen["dataset"].isin(self.datasets)]
        chosen = chosen[~chosen["own"] & chosen["columns"].notna()]
        found = [
            (method, nogueira(_supports([columns[:size] for columns in group["columns"]], width)).value)
            for (dataset, method), group in chosen.groupby(["dataset", "method"])
            if len(group) > 1 and (width := self._width(dataset)) > size
        ]
        values = pd.DataFrame(found, columns=["method", "value"])
        return values.groupby("method")["value"].mean()

    def seconds(self, *, own: bool) -> pd.Series:
        """Return the median time of a selection, in seconds."""
        rows = self.selections[self.selections["dataset"].isin(self.datasets)]
        return rows[rows["own"] == own].groupby("method")["seconds"].median()

    def _width(self, dataset: str) -> int:
        """Return the number of columns of a dataset: as many as the largest selection."""
        of_dataset = self.selections[self.selections["dataset"] == dataset]
        largest = max((int(max(c, default=-1)) for c in of_dataset["columns"].dropna()), default=0) + 1
        return max(largest, int(of_dataset["n_columns"].max()))

    @cached_property
    def _done(self) -> dict[str, set[Cell]]:
        """The finished cells of each dataset; what is left out counts as finished."""
        if self.scores.empty or self.selections.empty:
            return {}
        done: dict[str, set[Cell]] = {name: set() for name in self.config.datasets}
        for row in self.scores[["dataset", *Cell._fields]].itertuples(index=False):
            done[row[0]].add(Cell(*row[1:]))
        skipped = self.selections[self.selections["note"] != ""]
        missing = set(
            zip(skipped["dataset"], skipped["fold"], skipped["method"], skipped["own"], strict=True)
        )
        if missing:
            for stage in self.config.stages:
                for cell in cells(self.config, stage):
                    for name in self.config.datasets:
                        if (name, cell.fold, cell.method, cell.size == OWN) in missing:
                            done[name].add(cell)
        return done

    def _pairs(self, folds: tuple[int, ...]) -> list[tuple[str, str]]:
        wanted: dict[tuple[str, str], set[Cell]] = {}
        for stage in self.config.stages:
            for cell in cells(self.config, stage):
                if self.config.classifiers[cell.classifier].methods is None and cell.fold in folds:
                    wanted.setdefault((cell.size, cell.classifier), set()).add(cell)
        return [
            pair
            for pair, needed in wanted.items()
            if self.datasets and all(needed <= self._done[name] for name in self.datasets)
        ]


def signed_ranks(pair: pd.DataFrame) -> float:
    """Return the p-value of the signed-rank test of two methods over datasets."""
    return statistics.wilcoxon(pair)


def wins_ties_losses(pair: pd.DataFrame) -> tuple[int, int, int]:
    """Count the datasets on which the reference is better, about equal, and worse."""
    difference = pair["accuracy"] - pair["other"]
    return (
        int((difference >= TIE).sum()),
        int((difference.abs() < TIE).sum()),
        int((difference <= -TIE).sum()),
    )


def friedman(table: pd.DataFrame) -> statistics.Friedman | None:
    """Compare methods over the datasets; None if there are too few methods or datasets."""
    if table.shape[1] < 3 or table.index.get_level_values("dataset").nunique() < 3:
        return None
    with np.errstate(invalid="ignore"):
        return statistics.friedman(table)


def _supports(
    selections: list[np.ndarray[tuple[int], np.dtype[np.int64]]], width: int
) -> sparse.csr_array:
    rows = np.repeat(np.arange(len(selections)), [len(one) for one in selections])
    columns = np.concatenate([*selections, np.empty(0, np.int64)]).astype(np.int64)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(selections), width))
