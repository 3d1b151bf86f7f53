"""The name of a dataset -> its table as the benchmark uses it, and its folds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold

from experiments.quality import regression_data
from experiments.quality.config import Config
from slfs.files.limits import read_arrays

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """Rows, classes 0, 1, ... or numbers, and the mask of the categorical columns."""

    X: Any
    """A NumPy array or a sparse CSR array."""
    y: NDArray[Any]
    categorical: NDArray[np.bool_]

    @property
    def n_cells(self) -> int:
        return int(self.X.shape[0]) * int(self.X.shape[1])


@dataclass(frozen=True)
class Part:
    """The training or test part of a fold."""

    X: Any
    y: NDArray[Any]
    categorical: NDArray[np.bool_]

    @property
    def is_continuous(self) -> bool:
        """Whether the target is continuous."""
        return self.y.dtype.kind == "f"

    def dense(self, columns: Ints | None = None) -> NDArray[np.float64]:
        """Return these columns, by default all, as one array of floats."""
        table = self.X if columns is None else self.X[:, columns]
        return np.asarray(table.toarray() if sparse.issparse(table) else table, np.float64)


def find(name: str, config: Config, folder: Path) -> Path:
    """Return the file of a dataset: in the folder of its group, or in ``folder`` itself."""
    paths = [folder / config.datasets[name] / f"{name}.npz", folder / f"{name}.npz"]
    for path in paths:
        if path.exists():
            return path
    raise FileNotFoundError(f"The dataset {name!r} is in none of {', '.join(map(str, paths))}.")


def load(name: str, config: Config, folder: Path) -> Data:
    """Read a dataset and leave out rows as the configuration says."""
    if config.task == "regression":
        numbers, target = regression_data.load(name, config.max_rows)
        return Data(numbers, target, np.zeros(numbers.shape[1], np.bool_))
    with find(name, config, folder).open("rb") as stream:
        arrays = read_arrays(stream)
    if "X" in arrays:
        X: Any = arrays["X"]
        complete = ~np.isnan(X).any(axis=1)
    else:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = sparse.csr_array(parts, shape=tuple(arrays["shape"]))
        complete = np.ones(X.shape[0], np.bool_)
    y = arrays["y"].astype(np.int64)
    large = np.bincount(y[complete], minlength=y.max() + 1) >= config.min_class_size
    rows = np.flatnonzero(complete & large[y])
    if len(rows) > config.max_rows:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[: config.max_rows]]
    # Voting has the levels y, n and ?, coded as numbers
    categorical = arrays.get("cat", np.full(X.shape[1], name == "voting")).astype(np.bool_)
    return Data(X[rows], np.unique(y[rows], return_inverse=True)[1], categorical)


def split(data: Data, config: Config, fold: int) -> tuple[Part, Part]:
    """Return the training part and the test part of one fold."""
    kind = KFold if config.task == "regression" else StratifiedKFold
    splitter = kind(config.folds, shuffle=True, random_state=config.seed)
    train, test = list(splitter.split(np.zeros(len(data.y)), data.y))[fold]
    return (
        Part(data.X[train], data.y[train], data.categorical),
        Part(data.X[test], data.y[test], data.categorical),
    )
