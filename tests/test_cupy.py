"""CuPy arrays: the same selection as NumPy arrays, without a GPU a clear error."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from slfs import BNSLFS, MRMR, SLFS, StabilitySelection, interactions
from slfs.cli.commands import app
from slfs.cli.common import make_selector, read_labelled
from slfs.counting.backend import use_backend
from slfs.counting.cuda.card import why_unavailable
from slfs.counting.cuda.pack import pack_values
from slfs.evaluation import p_values
from slfs.tables import cupy_arrays
from slfs.tables.cupy_arrays import CupyTable


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


class OnTheCard:
    """An array that is converted only if asked, as CuPy's."""

    __module__ = "cupy"

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __iter__(self):
        return map(OnTheCard, self.values)

    def get(self):
        return self.values


@pytest.mark.filterwarnings("ignore:p-values and q-values treat the 569 rows")
def test_target_weights_and_groups_may_be_on_the_card():
    X, y = load_breast_cancer(return_X_y=True)
    weights, groups = np.arange(len(y)) % 3 + 1.5, np.arange(len(y)) // 10
    expected = SLFS().fit(X, y, sample_weight=weights, groups=groups)
    given = {"sample_weight": OnTheCard(weights), "groups": OnTheCard(groups)}
    found = SLFS().fit(X, OnTheCard(y), **given)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    np.testing.assert_array_equal(found.size_path_.log_loss, expected.size_path_.log_loss)


class CardArray(np.ndarray):
    """A NumPy array in the place of one of CuPy."""

    __module__ = "cupy"

    def get(self):
        return np.array(self)


def pack_one_by_one(array, columns, source, n_values):
    """Set the bit of each value."""
    words = np.zeros((len(columns), n_values, len(source) // 64), np.uint64)
    for j, column in enumerate(columns):
        for bit, row in enumerate(source.tolist()):
            if row >= 0 and array[row, column] in range(n_values):
                words[j, int(array[row, column]), bit // 64] |= np.uint64(1 << bit % 64)
    return words


@pytest.fixture
def as_card_array(monkeypatch):
    """Return the function that makes arrays: of CuPy if there is a GPU, otherwise of NumPy."""
    if not why_unavailable():
        import cupy

        return cupy.asarray
    cupy = SimpleNamespace(ndarray=CardArray, asarray=lambda a: np.asarray(a).view(CardArray))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(cupy_arrays, "pack_values", pack_one_by_one)
    return cupy.asarray


@pytest.mark.skipif(bool(why_unavailable()), reason=why_unavailable())
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
)
def test_packing_on_the_card_sets_the_bit_of_each_value(dtype, order):
    import cupy

    random = np.random.default_rng(0)
    X = random.integers(0, 2 if dtype == "?" else 5, (210, 40)).astype(dtype, order=order)
    if X.dtype.kind == "f":
        X[random.random(X.shape) < 0.1] = np.nan
    columns, source = np.array([3, 39, 0, 7]), random.permutation(256).astype(np.int32)
    source[source >= 210] = -1
    for card, host in ((cupy.asarray(X), X), (cupy.asarray(X)[:, ::-1], X[:, ::-1])):
        found = pack_values(card, columns, source, 4)
        np.testing.assert_array_equal(found, pack_one_by_one(host, columns, source, 4))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.bool_, np.float32, np.float64])
def test_small_integers_are_packed_on_the_card(monkeypatch, as_card_array, dtype):
    random = np.random.default_rng(0)
    X = random.integers(0, 2 if dtype == np.bool_ else 4, (300, 30)).astype(dtype)
    y = (X[:, 3].astype(int) + X[:, 8] + random.integers(0, 3, 300)) // 3
    if X.dtype.kind == "f":
        X[random.random(X.shape) < 0.1] = np.nan
    card = as_card_array(X)
    expected = MRMR(5).fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(CupyTable, "number_block", None)  # no block of numbers is moved
        found = MRMR(5).fit(card, y)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    weights = random.integers(0, 3, 300)
    expected, found = (SLFS().fit(A, y, sample_weight=weights) for A in (X, card))
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    np.testing.assert_array_equal(p_values(card, y), p_values(X, y))
    continuous = y + random.random(300)
    expected, found = (p_values(A, continuous, target="regression") for A in (X, card))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("value", [-1, 4, 0.5, 1e300])
def test_other_values_are_not_packed_on_the_card(as_card_array, value):
    X = np.tile([0.0, 1, 2, 3, np.nan], (20, 1))
    assert CupyTable(as_card_array(X)).planes.all()
    X[7, 2] = value
    table = CupyTable(as_card_array(X))
    assert not table.planes.any()
    np.testing.assert_array_equal(table.number_block(np.arange(5), None).dense(), X.T)


def test_without_cupy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    X, y = load_breast_cancer(return_X_y=True)
    with use_backend("cuda"), pytest.raises(RuntimeError, match=r"install slfs\[gpu\], or use device="):
        MRMR(4).fit(X, y)


@pytest.mark.skipif(bool(why_unavailable()), reason=why_unavailable())
@pytest.mark.parametrize("share", [0.8, 1e-12], ids=["on the card", "in pieces"])
def test_the_device_does_not_change_the_result(monkeypatch, share):
    from slfs.counting.cuda import card
    from slfs.counting.cuda.backend import CudaBackend

    monkeypatch.setattr(card, "SHARE", share)
    monkeypatch.setattr(CudaBackend, "HOST_SECONDS", 0.0)
    X, y = load_breast_cancer(return_X_y=True)
    for selector in (SLFS(), MRMR(5), StabilitySelection(MRMR(5), n_subsamples=4)):
        name = "selector__device" if isinstance(selector, StabilitySelection) else "device"
        expected = selector.fit(X, y).indices_
        found = selector.set_params(**{name: "cuda"}).fit(X, y).indices_
        np.testing.assert_array_equal(found, expected)
    on_cpu, on_gpu = (interactions(X, y, device=device).pairs for device in ("cpu", "cuda"))
    assert on_cpu.tolist() == on_gpu.tolist()
    expected = p_values(X[:, :4], y, n_permutations=50)
    np.testing.assert_array_equal(p_values(X[:, :4], y, n_permutations=50, device="cuda"), expected)


def test_the_device_is_checked(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(RuntimeError, match=r"device='cuda': CuPy is not installed"):
        SLFS(device="cuda").fit(X, y)
    with pytest.raises(ValueError, match="device"):
        SLFS(device="gpu").fit(X, y)
    expected = MRMR(5).fit(X, y).indices_
    np.testing.assert_array_equal(MRMR(5, device="auto").fit(X, y).indices_, expected)


@pytest.mark.parametrize("command", ["select", "fit", "interactions"])
def test_commands_check_the_device(monkeypatch, tmp_path, command):
    monkeypatch.setitem(sys.modules, "cupy", None)
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n" + "1,2,no\n2,1,yes\n" * 20)
    arguments = [
        command,
        str(data),
        *(["--model", str(tmp_path / "m.slfs")] if command == "fit" else []),
    ]
    found = CliRunner().invoke(app, [*arguments, "--target", "y", "--device", "cuda"])
    assert found.exit_code == 2
    assert "CuPy is not installed" in found.output
    found = CliRunner().invoke(app, [*arguments, "--target", "y", "--device", "auto"])
    assert found.exit_code == 0, found.output


def test_the_device_of_the_command_is_that_of_the_selector():
    file = read_labelled(str(Path(__file__).parent / "corpus" / "plain.csv"), "kind", None)
    assert make_selector("mrmr", file, device="auto").device == "auto"
    assert make_selector("slfs", file).device == "cpu"
