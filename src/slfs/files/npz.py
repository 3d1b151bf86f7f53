"""npz files of NumPy, or of scipy.sparse.save_npz -> tables with class labels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.limits import ObjectsError, check_sparse, read_arrays, refuse_beyond
from slfs.files.registry import ReadOptions, register_format


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    try:
        arrays = read_arrays(content)
    except ObjectsError as error:
        how = "Save it as text or numbers, for example with y.astype(str) or X.astype(float)"
        raise ValueError(f"{error}. {how}") from error
    y = arrays.get("y")
    if y is not None and "classes" in arrays:
        y = arrays["classes"][y]
    if "X" not in arrays and "shape" in arrays:
        return check_sparse(_make_sparse(arrays)), y
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise ValueError(f"it has the arrays {sorted(arrays)}; expected X (two-dimensional) and y")
    import pandas as pd

    names = arrays.get("feature_names", np.array([f"x{j}" for j in range(arrays["X"].shape[1])]))
    return pd.DataFrame(arrays["X"], columns=names.astype(str)), y


def _make_sparse(arrays: dict[str, NDArray[Any]]) -> Any:
    """Make the matrix that scipy.sparse.save_npz has stored; without a format it is csr."""
    from scipy import sparse

    kind = str(arrays["format"].astype(str)) if "format" in arrays else "csr"
    shape = tuple(arrays["shape"].tolist())
    if kind == "coo":
        refuse_beyond(8 * shape[0], f"a table of {shape[0]} rows")
        return sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape).tocsr()
    if kind not in ("csr", "csc"):
        raise ValueError(f"it contains a sparse matrix in the format {kind!r}; expected csr, csc or coo")
    make = sparse.csr_array if kind == "csr" else sparse.csc_array
    return make((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)


register_format("npz", ["npz"], _read, requirement="slfs[cli]")
