"""A part of the paper -> its tables and figures; missing rows are computed first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments import figures, growth, paper_tables, stability, statistics
from experiments.config import Config
from experiments.pages import results_page
from experiments.run import run
from experiments.sensitivity import sensitivity_config
from experiments.stability_page import stability_section
from experiments.trees import learn_trees
from slfs._core.progress import Listener
from slfs.files.atomic import replace_file
from slfs.plotting import NetworkDisplay

Progress = Callable[[str], AbstractContextManager[Listener]]
"""Takes a title; returns a context that yields a progress callback."""


@dataclass(frozen=True)
class Reproduction:
    """The parts of the paper, one method each.

    Attributes
    ----------
    config : Config
    rows : Path
        Folder of stored rows, which are not computed again.
    docs : Path
        Folder of ``results.md`` and of its pictures, which are in ``results``.
    n_jobs : int
        Number of processes.
    progress : Progress
    """

    config: Config
    rows: Path
    docs: Path
    n_jobs: int
    progress: Progress

    @property
    def pictures(self) -> Path:
        return self.docs / "results"

    def table1(self) -> str:
        """Format the growth of time."""
        return paper_tables.table1(self._growth())

    def table2(self) -> str:
        """Format the list of datasets."""
        return paper_tables.table2()

    def table3(self) -> str:
        """Format the sensitivity to the parameters."""
        return paper_tables.table3(self._sensitivity())

    def figures(self) -> str:
        """Draw accuracies and the diagram of critical differences."""
        rows = self._comparison()
        table, filters = statistics.accuracies(statistics.comparison(rows)), statistics.filters(rows)
        self.pictures.mkdir(parents=True, exist_ok=True)
        bars, diagram = self.pictures / "accuracy.png", self.pictures / "critical-difference.png"
        overview = self.pictures / "summary.png"
        shown = [name for name in ("SLFS", *statistics.PAPER_RIVALS, "CMIM") if name in filters]
        figures.mean_accuracy(table[[*filters, "all features"]], overview)
        figures.accuracy_bars(table, shown, bars)
        figures.critical_difference(statistics.friedman(table[filters]), diagram)
        return f"Written: {overview}, {bars}, {diagram}"

    def networks(self) -> str:
        """Draw the trees of BreastCancer and Voting."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        found = learn_trees(self.rows / "trees.json")
        for name, network in found.items():
            NetworkDisplay(network).save(self.pictures / f"network-{name}.png")
        texts = [f"{name}:\n\n```text\n{network}\n```" for name, network in found.items()]
        return "\n\n".join([*texts, f"Written to {self.pictures}"])

    def stability(self) -> str:
        """Describe the stability of the selections."""
        return stability_section(self._subsamples())

    def all(self) -> str:
        """Draw all figures and write the results page."""
        rows = self._comparison()
        self.figures()
        self.networks()
        page = self.docs / "results.md"
        text = results_page(rows, self._growth(), self._sensitivity(), self._subsamples())
        replace_file(page, lambda draft: draft.write_text(text, "utf-8"))
        return f"Written: {page}"

    def _comparison(self) -> pd.DataFrame:
        with self.progress("comparison") as tick:
            return run(self.config, self.rows, n_jobs=self.n_jobs, progress=tick)

    def _sensitivity(self) -> pd.DataFrame:
        config = sensitivity_config(self.config)
        with self.progress("sensitivity") as tick:
            return run(config, self.rows / "sensitivity", n_jobs=self.n_jobs, progress=tick)

    def _growth(self) -> pd.DataFrame:
        with self.progress("growth") as tick:
            return growth.measure(self.rows / "growth.parquet", self.config.growth_scale, tick)

    def _subsamples(self) -> pd.DataFrame:
        with self.progress("stability") as tick:
            return stability.measure(self.rows / "stability.parquet", self.config, self.n_jobs, tick)
