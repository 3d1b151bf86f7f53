"""Rows <-> files: a journal per job while it runs, one Parquet file at the end.

A job appends each finished cell to its journal, so that a run that is killed loses at most the cells
that were being computed.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.cells import KEY, Row, key
from slfs.files.atomic import replace_file


def read_rows(path: Path) -> pd.DataFrame:
    """Read the stored rows."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path} is damaged ({error}). Restore it, or remove it to compute its rows again."
        ) from error


def store_rows(rows: list[Row], path: Path) -> None:
    """Write all rows; a later row replaces an earlier one of the same cell and classifier."""
    frame = pd.DataFrame(rows).drop_duplicates([*KEY, "classifier"], keep="last")
    frame = frame.sort_values([*KEY, "classifier"], ignore_index=True)
    replace_file(path, lambda draft: frame.to_parquet(draft, compression="zstd", index=False))


def digest(rows: pd.DataFrame) -> str:
    """Return a short hash of a set of rows, to be printed on the pages made from them."""
    columns = [*KEY, "classifier", "accuracy"]
    text = rows.sort_values(columns[:-1])[columns].to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_journal(path: Path) -> Iterator[Row]:
    """Yield the rows of the finished cells; skip truncated and damaged lines."""
    if path.exists():
        for line in path.read_text("utf-8", "replace").split("\n")[:-1]:
            with contextlib.suppress(json.JSONDecodeError):  # left by a full disk or a crash
                yield from json.loads(line)


def append(journal: Path, rows: list[Row]) -> None:
    """Add one finished cell to a journal and wait until it is on disk."""
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps(rows) + "\n")
        file.flush()
        os.fsync(file.fileno())


def start_journal(journal: Path, rows: list[Row]) -> None:
    """Add rows of earlier runs to a journal, and remove a truncated last line."""
    kept = list(read_journal(journal))
    known = {key(row) for row in kept}
    kept += [row for row in rows if key(row) not in known]
    lines = [list(cell) for _, cell in itertools.groupby(kept, key)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    replace_file(journal, lambda draft: draft.write_text(text, "utf-8"))


def remove_stored(folder: Path, stored: list[Row]) -> None:
    """Remove drafts, and journals whose rows are all stored, from a folder of journals."""
    if folder.is_dir():
        known = {(*key(row), row["classifier"]) for row in stored}
        for path in folder.iterdir():
            rows = [] if path.name.startswith(".") else read_journal(path)
            if all((*key(row), row["classifier"]) in known for row in rows):
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
