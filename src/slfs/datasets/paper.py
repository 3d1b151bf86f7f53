"""A name -> one of the nine datasets of the paper, from a folder, from the cache, or from OpenML."""

from __future__ import annotations

import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import fetch_openml, get_data_home
from sklearn.utils import Bunch

from slfs.files.atomic import replace_file
from slfs.files.limits import read_arrays

FOLDER_VARIABLE = "SLFS_DATA"
"""Environment variable with the path of a folder of ``name.npz`` files."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Dataset:
    """Description of a dataset, which is compared with the loaded data."""

    name: str
    title: str
    openml: int
    n_samples: int
    n_features: int
    class_counts: tuple[int, ...]
    about: str
    sparse: bool = False
    """Stored as a sparse matrix."""
    votes: bool = False
    """Values are yes, no and neither instead of numbers."""

    @property
    def n_classes(self) -> int:
        return len(self.class_counts)


_LETTERS = (
    *(813, 805, 803, 796, 792, 789, 787, 786, 783, 783, 775, 773, 768),
    *(766, 764, 761, 758, 755, 753, 752, 748, 747, 739, 736, 734, 734),
)

DATASETS = {
    entry.name: entry
    for entry in (
        Dataset(
            "arcene", "ARCENE", 1458, 200, 10000, (112, 88),
            "Mass spectra of patients with and without cancer; a third of the columns are artificial "
            "probes (NIPS 2003 challenge; training and validation part).",
        ),
        Dataset(
            "breastcancer", "BreastCancer", 15, 683, 9, (444, 239),
            "Scores from 1 to 10 for nine properties of cells from benign or malignant breast lumps "
            "(Wisconsin, original); the 16 samples with missing values are removed, as in the paper.",
        ),
        Dataset(
            "dexter", "Dexter", 4136, 600, 20000, (300, 300),
            "Word counts of news articles, about corporate acquisitions or not; half of the columns are "
            "artificial probes (NIPS 2003 challenge; training and validation part).",
            sparse=True,
        ),
        Dataset(
            "dorothea", "Dorothea", 4137, 1150, 100000, (1038, 112),
            "Binary molecular features of compounds that bind to thrombin or do not; half of the "
            "columns are artificial probes (NIPS 2003 challenge; training and validation part).",
            sparse=True,
        ),
        Dataset(
            "isolet", "Isolet", 300, 7797, 617, (*24 * (300,), 299, 298),
            "Acoustic features of spoken letters of the alphabet.",
        ),
        Dataset(
            "letter", "Letter", 6, 20000, 16, _LETTERS,
            "Statistical moments and edge counts of distorted images of capital letters. It has 26 "
            "classes; the paper says 28.",
        ),
        Dataset(
            "madelon", "Madelon", 1485, 2600, 500, (1300, 1300),
            "Artificial data: five columns that are informative only together (exclusive or); fifteen "
            "combinations of them, 480 probes (NIPS 2003 challenge; training and validation part).",
        ),
        Dataset(
            "voting", "Voting", 56, 435, 16, (267, 168),
            "Votes (y, n, or ? for neither) of democrats and republicans in the U.S. House of "
            "Representatives in 1984.",
            votes=True,
        ),
        Dataset(
            "yeast", "Yeast", 181, 1484, 8, (463, 429, 244, 163, 51, 44, 35, 30, 20, 5),
            "Properties of the sequences of yeast proteins; the class is their location in the cell.",
        ),
    )
}  # fmt: skip
"""The datasets by name, sorted."""

_VOTES = {1: "y", 0: "n", -1: "?"}


def load(name: str) -> Bunch:
    """Load one of the nine datasets of the paper.

    The dataset is read from the folder in the environment variable ``SLFS_DATA``, or from the cache (the
    folder ``slfs`` in scikit-learn's data home). If it is in neither, it is downloaded from OpenML and
    stored in the cache. Its shape and class counts are checked in all cases.

    Parameters
    ----------
    name : str
        A key of ``slfs.datasets.DATASETS``: arcene, breastcancer, dexter, dorothea, isolet, letter,
        madelon, voting or yeast.

    Returns
    -------
    bunch : Bunch
        ``data``, a pandas DataFrame, or a sparse array for dexter and dorothea; ``target``, an array of
        labels; ``frame``, both in one DataFrame (None for dexter and dorothea); ``target_names``,
        ``feature_names``, ``DESCR`` and ``source``.

    Examples
    --------
    >>> from slfs.datasets.paper import load
    >>> votes = load("voting")  # doctest: +SKIP
    >>> votes.data.shape  # doctest: +SKIP
    (435, 16)
    """
    entry = _entry(name)
    path = find(name)
    if path is None:
        arrays, source = _download(entry), f"OpenML {entry.openml}"
        _check(entry, arrays, source)
        _save(arrays, _cache() / f"{name}.npz")
    else:
        arrays, source = _read(path), str(path)
        _check(entry, arrays, source)
    return _bunch(entry, arrays, source)


def find(name: str) -> Path | None:
    """Find the file of a dataset in the folder of ``SLFS_DATA`` or in the cache.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.

    Returns
    -------
    path : Path or None
        None if the dataset has to be downloaded.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    folders = [Path(folder)] if folder else []
    for candidate in [*folders, _cache()]:
        path = candidate / f"{_entry(name).name}.npz"
        if path.exists():
            return path
    return None


def _entry(name: str) -> Dataset:
    if name not in DATASETS:
        raise ValueError(f"Unknown dataset {name!r}. Use one of {', '.join(DATASETS)}.")
    return DATASETS[name]


def _cache() -> Path:
    return Path(get_data_home()) / "slfs"


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as stream:
            return read_arrays(stream)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read as a dataset ({error}). Remove the file to download it again."
        ) from error


def _save(arrays: Arrays, path: Path) -> None:
    replace_file(path, lambda draft: np.savez_compressed(draft, **arrays))  # type: ignore[arg-type]


def _download(entry: Dataset) -> Arrays:
    """Download a dataset from OpenML and convert it to the arrays of an .npz file."""
    parser = "liac-arff" if entry.sparse else "auto"
    try:
        fetched = fetch_openml(data_id=entry.openml, as_frame=not entry.sparse, parser=parser)
    except (URLError, OSError) as error:
        raise ConnectionError(
            f"The dataset {entry.name!r} is not on this machine and could not be downloaded from OpenML "
            f"(id {entry.openml}): {error}. Check the network connection, or put {entry.name}.npz into "
            f"a folder and set the environment variable {FOLDER_VARIABLE} to its path."
        ) from error
    labels = np.asarray(fetched.target).astype(str)
    classes, codes = np.unique(labels, return_inverse=True)
    arrays: Arrays = {"y": codes, "classes": classes, "feature_names": np.array(fetched.feature_names)}
    if entry.sparse:
        matrix = sparse.csr_array(fetched.data)
        parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
        return {**arrays, **parts, "shape": np.array(matrix.shape)}
    if entry.votes:
        yes, no = (fetched.data == answer for answer in ("y", "n"))
        arrays["X"] = np.where(yes, 1, np.where(no, 0, -1)).astype(np.int8)
        return arrays
    arrays["X"] = fetched.data.to_numpy(dtype=np.float64)
    return arrays


def _check(entry: Dataset, arrays: Arrays, source: str) -> None:
    """Remove samples with missing values; raise an error if this is not the dataset of the paper."""
    if "X" in arrays and np.isnan(arrays["X"]).any():
        complete = ~np.isnan(arrays["X"]).any(axis=1)
        arrays["X"], arrays["y"] = arrays["X"][complete], arrays["y"][complete]
    shape = tuple(map(int, arrays["X"].shape if "X" in arrays else arrays.get("shape", ())))
    counts = tuple(sorted(np.bincount(arrays.get("y", np.zeros(0, int))).tolist(), reverse=True))
    if shape != (entry.n_samples, entry.n_features) or counts != entry.class_counts:
        raise ValueError(
            f"{source} is not the dataset {entry.name!r}: it has shape {shape} and classes of "
            f"{counts[:5]} samples, expected {(entry.n_samples, entry.n_features)} and "
            f"{entry.class_counts[:5]}. Remove the file, or set {FOLDER_VARIABLE} to another folder."
        )


def _bunch(entry: Dataset, arrays: Arrays, source: str) -> Bunch:
    names = [str(name) for name in arrays.get("feature_names", ())]
    names = names or [f"V{column + 1}" for column in range(entry.n_features)]
    classes = arrays.get("class_names", arrays["classes"]).astype(str)
    target = classes[arrays["y"]]
    frame = None
    if entry.sparse:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        data: Any = sparse.csr_array(parts, shape=tuple(arrays["shape"]))
    else:
        import pandas as pd

        data = pd.DataFrame(arrays["X"], columns=names)
        if entry.votes:
            data = data.replace(_VOTES).astype("category")
        frame = data.assign(**{"class": target})
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        target_names=classes,
        feature_names=names,
        DESCR=f"{entry.title}: {entry.about}",
        source=source,
    )
