"""CuPy arrays: the same selection as NumPy arrays, without a GPU a clear error."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from slfs import BNSLFS, MRMR, SLFS
from slfs.counting.backend import use_backend
from slfs.counting.cuda.card import why_unavailable


@pytest.mark.skipif(bool(why_unavailable()), reason=why_unavailable())
@pytest.mark.parametrize("selector", [SLFS(n_features_to_select=4), MRMR(4)], ids=str)
def test_an_array_on_the_card_gives_the_same_selection(selector):
    import cupy

    X, y = load_breast_cancer(return_X_y=True)
    expected = selector.fit(X, y).indices_
    found = selector.fit(cupy.asarray(X), cupy.asarray(y))
    np.testing.assert_array_equal(found.indices_, expected)
    selected = found.transform(cupy.asarray(X))
    assert isinstance(selected, cupy.ndarray)
    np.testing.assert_array_equal(selected.get(), X[:, found.support_])
    model = BNSLFS(MRMR(4)).fit(cupy.asarray(X), y)
    np.testing.assert_array_equal(model.predict(cupy.asarray(X)), BNSLFS(MRMR(4)).fit(X, y).predict(X))


def test_without_cupy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    X, y = load_breast_cancer(return_X_y=True)
    with use_backend("cuda"), pytest.raises(RuntimeError, match=r"install slfs\[gpu\], or use device="):
        MRMR(4).fit(X, y)
