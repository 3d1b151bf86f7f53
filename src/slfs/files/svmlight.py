"""svmlight files -> sparse arrays with class labels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from slfs.files.limits import check_sparse
from slfs.files.registry import ReadOptions, register_format


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(
        content, zero_based=True
    )  # the column named x7 has the index 7 in the file
    with np.errstate(invalid="ignore"):  # labels may be too large for an integer
        integers = y.astype(np.int64)
    return check_sparse(X), integers if (integers == y).all() else y


register_format("svmlight", ["svm", "svmlight", "libsvm"], _read)
