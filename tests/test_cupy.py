"""CuPy arrays: the same selection as NumPy arrays, without a GPU a clear error."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from slfs import BNSLFS, MRMR, SLFS, StabilitySelection, interactions
from slfs.cli.commands import app
from slfs.cli.common import make_selector, read_labelled
from slfs.counting.backend import use_backend
from slfs.counting.cuda.card import why_unavailable
from slfs.evaluation import p_values


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


def test_target_weights_and_groups_may_be_on_the_card():
    X, y = load_breast_cancer(return_X_y=True)
    weights, groups = np.arange(len(y)) % 3 + 1.5, np.arange(len(y)) // 10
    expected = SLFS().fit(X, y, sample_weight=weights, groups=groups)
    given = {"sample_weight": OnTheCard(weights), "groups": OnTheCard(groups)}
    found = SLFS().fit(X, OnTheCard(y), **given)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    np.testing.assert_array_equal(found.size_path_.log_loss, expected.size_path_.log_loss)


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
