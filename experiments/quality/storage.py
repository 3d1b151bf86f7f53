"""Rows <-> files: two Parquet files per dataset, one of selections and one of scores.

Files are replaced as a whole, so that a run can be killed at any time. Each row has the versions of its
method and its classifier. Rows of other versions are not used, and are removed when the file is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.quality.config import OWN, Config
from experiments.quality.plan import Cell
from experiments.storage import read_rows
from slfs.files.atomic import replace_file

CIRCUMSTANCES = ("commit", "machine", "versions")
"""Where and with what a selection was computed."""


@dataclass
class Selection:
    """The columns that a method selected in one fold, or why it did not."""

    columns: NDArray[np.int64] | None
    """None where the method failed or was left out, and for all columns."""
    seconds: float
    note: str = ""
    """Why the method was left out, or how it failed; "" where it selected."""
    n_columns: int = 0
    """Number of selected columns."""
    circumstances: dict[str, str] = field(default_factory=dict)


class Rows:
    """The rows of one dataset with the versions of a configuration."""

    def __init__(self, config: Config, folder: Path, dataset: str) -> None:
        self._config = config
        self._selections_path = folder / "selections" / f"{dataset}.parquet"
        self._scores_path = folder / "scores" / f"{dataset}.parquet"
        self.selections: dict[tuple[int, str, bool], Selection] = {}
        self.scores: dict[Cell, dict[str, Any]] = {}
        self._read()

    def find(self, fold: int, method: str, size: str) -> Selection | None:
        """Return a stored selection."""
        return self.selections.get((fold, method, size == OWN))

    def save(self) -> None:
        """Write all rows: selections first, because scores refer to them."""
        selections = [
            {
                "fold": fold,
                "method": method,
                "own": own,
                **self._identity(method),
                "n_columns": one.n_columns,
                "columns": one.columns,
                "seconds": one.seconds,
                "note": one.note,
                **one.circumstances,
            }
            for (fold, method, own), one in sorted(self.selections.items())
        ]
        scores = [
            {
                **cell._asdict(),
                **self._identity(cell.method, cell.classifier),
                **row,
            }
            for cell, row in sorted(self.scores.items())
        ]
        for rows, path in ((selections, self._selections_path), (scores, self._scores_path)):
            if rows:
                frame = pd.DataFrame(rows)
                replace_file(path, lambda draft, frame=frame: _write(frame, draft))  # type: ignore[misc]

    def _identity(self, method: str, classifier: str | None = None) -> dict[str, str]:
        """Return what a stored row must agree with; no row agrees with what is not configured."""
        methods, classifiers = self._config.methods, self._config.classifiers
        known = {
            "protocol": self._config.protocol,
            "method_version": methods[method].identity if method in methods else "unknown",
        }
        if classifier is None:
            return known
        version = classifiers[classifier].identity if classifier in classifiers else "unknown"
        return {**known, "classifier_version": version}

    def _read(self) -> None:
        for row in _records(self._selections_path):
            if _agrees(row, self._identity(row["method"])):
                columns = row["columns"]
                self.selections[row["fold"], row["method"], row["own"]] = Selection(
                    None if columns is None else np.asarray(columns, np.int64),
                    row["seconds"],
                    row["note"],
                    row["n_columns"],
                    {name: row[name] for name in CIRCUMSTANCES},
                )
        for row in _records(self._scores_path):
            cell = Cell(*(row[name] for name in Cell._fields))
            selected = self.find(cell.fold, cell.method, cell.size) is not None
            if selected and _agrees(row, self._identity(cell.method, cell.classifier)):
                names = ("n_features", *self._config.metrics, "seconds", "note")
                self.scores[cell] = {name: row[name] for name in names}


def read_all(config: Config, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the selections and the scores of all datasets, each with a column ``dataset``."""
    selections, scores = [], []
    for dataset in config.datasets:
        rows = Rows(config, folder, dataset)
        selections += [
            {"dataset": dataset, "fold": fold, "method": method, "own": own, **vars(one)}
            for (fold, method, own), one in rows.selections.items()
        ]
        scores += [{"dataset": dataset, **cell._asdict(), **row} for cell, row in rows.scores.items()]
    return pd.DataFrame(selections), pd.DataFrame(scores)


def _agrees(row: dict[str, Any], identity: dict[str, str]) -> bool:
    return all(row[name] == value for name, value in identity.items())


def _records(path: Path) -> list[dict[str, Any]]:
    return read_rows(path).to_dict("records") if path.exists() else []


def _write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path, compression="zstd", index=False)
