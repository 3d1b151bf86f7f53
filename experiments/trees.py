"""The last figure of the paper: the trees of two datasets, stored in a JSON file."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from slfs import SLFS, TreeNetwork
from slfs.datasets.paper import load
from slfs.files.atomic import replace_file

DRAWN = ("breastcancer", "voting")
MAX_DEPTH = 4


def learn_trees(path: Path) -> dict[str, TreeNetwork]:
    """Learn the trees from all samples, unless they are already stored in ``path``."""
    if not path.exists():
        found = {name: dataclasses.asdict(_learn(name)) for name in DRAWN}
        text = json.dumps(found, default=np.ndarray.tolist, indent=1)
        replace_file(path, lambda draft: draft.write_text(text, "utf-8"))
    stored: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return {name: _restore(fields) for name, fields in stored.items()}


def _learn(name: str) -> TreeNetwork:
    data = load(name)
    selector = SLFS(order="conditional", max_depth=MAX_DEPTH)
    return selector.fit(data.data, pd.Series(data.target, name="class")).network_


def _restore(fields: dict[str, Any]) -> TreeNetwork:
    arrays = {key: np.array(value) for key, value in fields.items() if isinstance(value, list)}
    return TreeNetwork(**{**fields, **arrays, "names": tuple(fields["names"])})
