"""A fitted estimator -> a file without pickle -> the same estimator.

`save` writes a model, `load` reads it. Loading does not run code from the file: classes are looked up in
a fixed list, numbers are read as plain arrays, and inconsistent models are rejected.

What is saved
-------------
All parameters and fitted attributes: `predict`, `predict_proba`, `explain_prediction`, `transform`,
`explain`, `sample`, `network_`, `features_`, `to_classifier` and `get_feature_names_out` return the same
bits as before. To save only what is needed for predictions, save ``classifier.reduce()``. The packed
samples that `fit_stream` keeps for `extend` are not saved; to extend a loaded selector, call
`fit_stream` again. Parameters that are array-likes of other libraries (for example a pandas Index as
``categorical_features``) are loaded as NumPy arrays.

The format, version 10
----------------------
A ZIP archive, stored or deflated, that contains exactly these members:

``model.json``
    An object with ``format`` ("slfs model"), ``version`` (10), ``slfs`` (the version that wrote it),
    ``class``, ``arrays`` (the number of array members), ``objects`` and ``model``.
``0.npy``, ``1.npy``, ...
    One-dimensional arrays in NumPy's format, one per dtype: the concatenated arrays of the model that
    have this dtype.

``objects`` lists the parts of the model, each after the parts it refers to:
``{"class": name, "fields": {...}}``, or for an estimator
``{"class": name, "parameters": {...}, "fitted": {...}}``. A value is null, a boolean, an integer, a
finite float, a string, a list of values, or an object with one key:

========================================  =========================================================
``{"object": k}``                         entry k of ``objects``; ``model`` itself is such a reference
``{"array": [m, begin, shape]}``          the elements of member m from ``begin`` on
``{"labels": [shape, values]}``           an array of Python values
``{"records": [[field, array], ...]}``    an array of records
``{"tuple": values}``                     a tuple
``{"dict": [[key, value], ...]}``         a dict with keys of any type
``{"numpy": [type, value]}``              a NumPy scalar
``{"float": text}``                       "nan", "inf" or "-inf"
``{"bytes": text}``                       base64
``{"decimal": text}``                     a decimal.Decimal
``{"fraction": [above, below]}``          a fractions.Fraction (numerator and denominator)
``{"interval": [left, right, closed]}``   a pandas.Interval
========================================  =========================================================

Examples
--------
>>> import tempfile
>>> from pathlib import Path
>>> from sklearn.datasets import load_iris
>>> from slfs import BNSLFS
>>> from slfs.saving import load, save
>>> X, y = load_iris(return_X_y=True)
>>> with tempfile.TemporaryDirectory() as folder:
...     save(BNSLFS().fit(X, y), Path(folder) / "iris.slfs")
...     classifier = load(Path(folder) / "iris.slfs")
>>> classifier.predict(X[[0, 60, 120]])
array([0, 1, 2])
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from slfs._core.version import __version__
from slfs.files.atomic import replace_file
from slfs.saving.archive import read_archive, write_archive
from slfs.saving.checks import check_model
from slfs.saving.codec import Decoder, Encoder
from slfs.saving.errors import ModelFileError
from slfs.saving.registry import estimators

__all__ = ["ModelFileError", "load", "save"]

FORMAT, VERSION = "slfs model", 10
MAX_BYTES = 4 << 30


def save(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file.

    Parameters
    ----------
    estimator : object
        A fitted selector, classifier or discretizer of this library.
    path : str or Path
        Path of the file. An existing file is replaced atomically once the new one is complete; if
        writing fails, it is unchanged.
    """
    name = type(estimator).__name__
    if estimators().get(name) is not type(estimator):
        raise TypeError(
            f"estimator is of type {type(estimator).__module__}.{type(estimator).__qualname__}; "
            f"expected an estimator of slfs or a registered selector: {', '.join(estimators())}. To "
            "save a pipeline, save its slfs steps one by one."
        )
    check_is_fitted(estimator)
    try:
        check_model(estimator, name)
    except ModelFileError as error:
        raise ValueError(f"The {name} cannot be saved: {error}") from error
    encoder = Encoder()
    model = encoder.encode(estimator, name)
    arrays = encoder.arrays()
    content = {
        "format": FORMAT,
        "version": VERSION,
        "slfs": __version__,
        "class": name,
        "arrays": len(arrays),
        "objects": encoder.objects,
        "model": model,
    }
    replace_file(Path(path), lambda draft: write_archive(draft, content, arrays))


def load(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a fitted estimator from a file that `save` has written.

    Parameters
    ----------
    path : str or Path
        Path of the file.
    max_bytes : int, default=4 GiB
        Maximum uncompressed size of the file, as declared by its members. Larger files are rejected
        before any data are read.

    Returns
    -------
    estimator : object
        The fitted estimator that was saved.

    Raises
    ------
    ModelFileError
        A ValueError: the file is damaged, truncated, too large, of another format version or not a model
        file.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {str(path)!r}. 'slfs fit' or save writes one.")
    with path.open("rb") as stream:
        try:
            content, arrays = read_archive(stream, max_bytes, _check_header)
            estimator = Decoder(content["objects"], arrays).decode(content["model"])
            check_model(estimator, content["class"])
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be loaded: {error}") from error.__cause__
        except Exception as error:
            raise ModelFileError(
                f"{path} cannot be loaded: it is damaged, truncated or not an slfs model "
                f"({type(error).__name__}: {error}). Save the model again with slfs.saving.save."
            ) from error
    return estimator


def _check_header(content: Any) -> None:
    """Raise an error if a file is not a model, or has another format version."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(
            f"its model.json does not contain format={FORMAT!r}. Pass a file written by "
            "slfs.saving.save."
        )
    version = content.get("version")
    if version != VERSION:
        remedy = "Fit and save the model again, or load it with the slfs that wrote it."
        if isinstance(version, int) and version > VERSION:
            remedy = "Upgrade slfs."
        raise ModelFileError(
            f"it has format version {version!r}, written by slfs {content.get('slfs')!r}; slfs "
            f"{__version__} reads version {VERSION}. {remedy}"
        )
