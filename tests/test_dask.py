"""Dask tables: the same results as in memory, and little data sent."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import slfs
from slfs import (
    CMIM,
    FCBF,
    JMI,
    MRMR,
    OSFS,
    SAOLA,
    SLFS,
    TAN,
    AlphaInvesting,
    Chi2,
    Chi2Ranking,
    FastOSFS,
    InteractionSelector,
    MDLPDiscretizer,
)

reason = "dask and distributed are not installed: pip install 'slfs[dask]'"
dask = pytest.importorskip("dask", reason=reason)
da = pytest.importorskip("dask.array", reason=reason)
dd = pytest.importorskip("dask.dataframe", reason=reason)
distributed = pytest.importorskip("distributed", reason=reason)
cloudpickle = pytest.importorskip("cloudpickle", reason=reason)

from slfs._core.progress import progress_callback  # noqa: E402

FROM_COUNTS = [
    SLFS(),
    SLFS(order="given"),
    SLFS(irrelevance="test"),
    MRMR(n_features_to_select=5),
    JMI(n_features_to_select=5),
    CMIM(n_features_to_select=5),
    FCBF(),
    Chi2Ranking(n_features_to_select=5),
    OSFS(),
    FastOSFS(),
    SAOLA(),
    InteractionSelector(),
]
FROM_NUMBERS = [AlphaInvesting(), Chi2(), FastOSFS(statistic="fisher_z")]
# dask 2025.1 warns of other schedulers as long as the client, which all tests share, is open
pytestmark = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")


@pytest.fixture(scope="module")
def client():
    """Two workers, each in its own process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def _array(seed=0, n_samples=200, n_features=60):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_samples)
    X = random.normal(size=(n_samples, n_features))
    X[:, ::4] += y[:, np.newaxis] * random.uniform(0, 2, len(X[0, ::4]))
    return X, y


def _frame():
    X, y = _array(n_features=12)
    random = np.random.default_rng(1)
    columns = {f"n{j}": X[:, j] for j in range(12)}
    columns["whole"] = (y * 2 + random.integers(0, 3, len(y))).astype(np.int8)
    columns["flag"] = (y > 0) ^ (random.random(len(y)) < 0.1)
    columns["text"] = np.where(random.random(len(y)) < 0.2, None, np.array(["a", "b", "c"])[y])
    columns["group"] = pd.Categorical(np.array(["u", "v"])[(y > 1) * 1])
    columns["nullable"] = pd.array(np.where(np.arange(len(y)) % 7, y, 0), dtype="Int64")
    frame = pd.DataFrame(columns)
    frame["numbers as objects"] = pd.Series(frame["whole"].tolist(), dtype=object)
    frame["texts as objects"] = pd.Series(frame["text"].tolist(), dtype=object)
    frame.loc[::9, ["n0", "group", "nullable"]] = None
    return frame, pd.Series(np.array(["x", "y", "z"])[y], name="label")


def _assert_same(remote, local):
    assert remote.network_.names == local.network_.names
    assert remote.network_.class_name == local.network_.class_name
    np.testing.assert_array_equal(remote.network_.parents, local.network_.parents)
    np.testing.assert_array_equal(remote.indices_, local.indices_)
    np.testing.assert_array_equal(remote.selection_scores_, local.selection_scores_)
    for field in local.features_.dtype.names:
        np.testing.assert_array_equal(remote.features_[field], local.features_[field], field)
    assert hasattr(remote, "feature_names_in_") == hasattr(local, "feature_names_in_")


@st.composite
def _chunks(draw, length):
    """Irregular lengths of chunks, some of them 1."""
    cuts = draw(st.sets(st.integers(1, length - 1), max_size=5))
    return tuple(np.diff([0, *sorted(cuts), length]).tolist())


@pytest.mark.parametrize("kind", ["float", "float32", "int8", "bool", "missing", "text"])
@given(rows=_chunks(200), columns=_chunks(60))
@settings(max_examples=8)
def test_chunks_of_any_shape_change_nothing(kind, rows, columns):
    X, y = _array()
    if kind == "missing":
        X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    elif kind == "text":
        X = np.where(np.arange(60) % 3, X.round().astype(int).astype(object), (X > 1).astype(str))
    elif kind != "float":
        X = (X > 0) if kind == "bool" else X.round().astype(kind)
    with dask.config.set(scheduler="synchronous"):
        remote = SLFS().fit(da.from_array(X, chunks=(rows, columns)), y)
    _assert_same(remote, SLFS().fit(X, y))


@pytest.mark.parametrize("selector", FROM_COUNTS + FROM_NUMBERS, ids=str)
@pytest.mark.usefixtures("synchronous")
def test_selectors_agree(selector):
    X, y = _array()
    split = da.from_array(X, chunks=((70, 130), (7, 13, 40)))
    remote = clone(selector).fit(split, da.from_array(y, chunks=50))
    _assert_same(remote, clone(selector).fit(X, y))


@pytest.mark.parametrize("n_partitions", [1, 3, 8])
@pytest.mark.parametrize("convert", [True, False], ids=["Arrow strings", "Python strings"])
@pytest.mark.usefixtures("synchronous")
def test_dataframes_of_mixed_types(n_partitions, convert):
    frame, y = _frame()
    with dask.config.set({"dataframe.convert-string": convert}):
        split = dd.from_pandas(frame, npartitions=n_partitions)
        labels = dd.from_pandas(y, npartitions=n_partitions)
        whole = split.compute()
        for selector in (SLFS(), SLFS(categorical_features=["whole"]), MRMR(n_features_to_select=4)):
            _assert_same(clone(selector).fit(split, labels), clone(selector).fit(whole, y))
        remote, local = TAN().fit(split, y), TAN().fit(whole, y)
        np.testing.assert_array_equal(remote.predict_proba(split), local.predict_proba(whole))


@pytest.mark.usefixtures("synchronous")
def test_partitions_of_unknown_length_with_different_categories():
    frame, y = _frame()
    frame = frame.assign(text=frame["text"].fillna("none"))[["n1", "text", "n4"]]
    rows = [slice(0, 20), slice(20, 21), slice(21, 200)]
    meta = frame.iloc[:0].astype({"text": "category"})
    pieces = [dask.delayed(frame.iloc[part].astype({"text": "category"})) for part in rows]
    split = dd.from_delayed(pieces, meta=meta, verify_meta=False)
    assert not split.known_divisions
    _assert_same(SLFS().fit(split, y), SLFS().fit(frame.astype({"text": "category"}), y))


@pytest.mark.usefixtures("synchronous")
def test_arrays_of_unknown_length():
    X, y = _array()
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    _assert_same(SLFS().fit(frame.values, y), SLFS().fit(X, y))
    _assert_same(SLFS().fit(frame, y), SLFS().fit(pd.DataFrame(X), y))


@pytest.mark.usefixtures("synchronous")
def test_new_data_may_be_split_too():
    X, y = _array()
    split = da.from_array(X, chunks=(33, 11))
    selector, discretizer = SLFS().fit(split, y), MDLPDiscretizer().fit(split, y)
    np.testing.assert_array_equal(selector.transform(split), SLFS().fit(X, y).transform(X))
    classifier = selector.to_classifier()
    np.testing.assert_array_equal(classifier.predict_proba(split), classifier.predict_proba(X))
    np.testing.assert_array_equal(discretizer.transform(split), MDLPDiscretizer().fit_transform(X, y))


@pytest.mark.usefixtures("synchronous")
def test_new_dataframes_keep_their_names():
    frame, y = _frame()
    split = dd.from_pandas(frame, npartitions=4)
    selector = SLFS().fit(split, y)
    np.testing.assert_array_equal(selector.feature_names_in_, frame.columns)
    pd.testing.assert_frame_equal(selector.transform(split), split.compute().loc[:, selector.support_])
    local = SLFS().fit(split.compute(), y).to_classifier()
    predicted = selector.to_classifier().predict(split)
    np.testing.assert_array_equal(predicted, local.predict(split.compute()))
    with pytest.raises(ValueError, match=r"missing: \['n3'\]"):
        selector.to_classifier().predict(split.drop(columns="n3"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "selector", [SLFS(), SLFS(order="given"), MRMR(n_features_to_select=5), OSFS()], ids=str
)
@pytest.mark.usefixtures("client")
def test_processes_agree(selector):
    X, y = _array(n_samples=400, n_features=300)
    split = da.from_array(X, chunks=((100, 290, 10), (299, 1)))
    remote = clone(selector).fit(split, da.from_array(y, chunks=150))
    _assert_same(remote, clone(selector).fit(X, y))
    assert b"dask" not in pickle.dumps(remote)
    _assert_same(pickle.loads(pickle.dumps(remote)), remote)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_processes_agree_on_dataframes():
    frame, y = _frame()
    split = dd.from_pandas(frame, npartitions=3)
    remote, whole = SLFS().fit(split, y), split.compute()
    _assert_same(remote, SLFS().fit(whole, y))
    classifier = remote.to_classifier()
    np.testing.assert_array_equal(classifier.predict_proba(split), classifier.predict_proba(whole))


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(client, tmp_path):
    X, y = _array(n_features=400)
    marker = tmp_path / "died"

    def die_once(chunk, block_info=None):
        if block_info[0]["chunk-location"] == (1, 5) and not marker.exists():
            marker.touch()
            os._exit(1)
        return chunk

    before = client.run(os.getpid)
    split = da.from_array(X, chunks=(100, 50)).map_blocks(die_once, dtype=float)
    remote = SLFS().fit(split, y)
    assert marker.exists()
    _assert_same(remote, SLFS().fit(X, y))
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(before.values())


class WatchedScheduler:
    """A scheduler that counts the bytes of the graphs that it gets and of its results."""

    def __init__(self):
        self.sent, self.returned = 0, 0

    def __call__(self, graph, keys, **_):
        make = getattr(graph, "__dask_graph__", None)  # since 2025.4
        graph = dict(make() if make else graph)
        results = dask.get(graph, keys)
        self.sent += len(cloudpickle.dumps(graph))
        self.returned += len(pickle.dumps(results))
        return results


def _stored(X, folder, width):
    """A Dask array that workers read from files, so that no values are in its graph."""
    pieces = []
    for begin in range(0, X.shape[1], width):
        part = X[:, begin : begin + width]
        np.save(folder / f"{begin}.npy", part)
        piece = dask.delayed(np.load)(str(folder / f"{begin}.npy"))
        pieces.append(da.from_delayed(piece, part.shape, dtype=X.dtype))
    return da.hstack(pieces)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_results_are_much_smaller_than_the_table(dtype, tmp_path):
    X, y = _array(n_samples=1000, n_features=5000)
    X = X if dtype == np.float64 else (X > 0).astype(dtype)
    scheduler = WatchedScheduler()
    with dask.config.set(scheduler=scheduler):
        selector = SLFS(order="conditional").fit(_stored(X, tmp_path, 500), y)
    _assert_same(selector, SLFS(order="conditional").fit(X, y))
    assert (selector.features_["n_levels"] > 1).sum() > 1000, "a table where much is relevant"
    assert 0 < scheduler.returned <= X.nbytes / 16


def test_fits_send_little_and_nothing_fitted(tmp_path):
    sent = {}
    for n_samples in (1000, 21000):
        X, y = _array(n_samples=n_samples, n_features=40)
        (tmp_path / str(n_samples)).mkdir()
        split = _stored(X, tmp_path / str(n_samples), 10)
        selector = SLFS(order="given")
        for fit in ("first", "second"):
            scheduler = WatchedScheduler()
            with dask.config.set(scheduler=scheduler):
                selector.fit(split, y)
            sent[n_samples, fit] = scheduler.sent
    assert sent[1000, "second"] <= sent[1000, "first"] + 100, "the fitted state is not sent"
    assert sent[21000, "first"] - sent[1000, "first"] < 1.1 * 20000, "one byte per sample"


@pytest.mark.usefixtures("synchronous")
def test_blocks_are_joined_into_tasks():
    frame = pd.DataFrame({f"t{j}": list("abab") * 10 for j in range(600)})
    calls = []
    with progress_callback(lambda *counts: calls.append(counts)):
        MDLPDiscretizer().fit(dd.from_pandas(frame, npartitions=2), np.arange(40) % 2)
    assert 1 < calls[-1][1] <= 256, "fewer tasks than columns"


@pytest.mark.slow
@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("scheduler", ["threads", "synchronous", None])
@pytest.mark.usefixtures("client")
def test_progress_is_reported_for_every_task(scheduler):
    X, y = _array()
    calls = []
    with dask.config.set(scheduler=scheduler), progress_callback(lambda *counts: calls.append(counts)):
        SLFS().fit(da.from_array(X, chunks=(200, 5)), y)
    total = calls[-1][1]
    assert total > 1
    assert calls == [(done, total) for done in range(1, total + 1)]


@pytest.mark.usefixtures("client")
def test_an_error_in_the_progress_callback_stops_the_workers():
    X, y = _array()

    def stop(_done, _total):
        raise KeyboardInterrupt

    with progress_callback(stop), pytest.raises(KeyboardInterrupt):
        SLFS().fit(da.from_array(X, chunks=(200, 5)), y)
    _assert_same(SLFS().fit(da.from_array(X, chunks=(200, 5)), y), SLFS().fit(X, y))


@pytest.mark.usefixtures("synchronous")
def test_a_stream_of_dataframes_keeps_their_names():
    X, y = _array()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(60)])
    blocks = [dd.from_pandas(frame.iloc[:, j : j + 20], npartitions=3) for j in range(0, 60, 20)]
    stream = SLFS(order="given").fit_stream(blocks[:2], y).extend(blocks[2])
    _assert_same(stream, SLFS(order="given").fit(frame, y))


@pytest.mark.usefixtures("synchronous")
def test_hdf5_and_zarr_files(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install --group test")
    pytest.importorskip("zarr", reason="zarr is not installed: pip install --group test")
    X, y = _array()
    da.from_array(X, chunks=(70, 11)).to_zarr(tmp_path / "table.zarr")
    with h5py.File(tmp_path / "table.h5", "w") as file:
        stored = file.create_dataset("table", data=X, chunks=(50, 20))
        for remote in (da.from_array(stored, chunks=(200, 20)), da.from_zarr(tmp_path / "table.zarr")):
            _assert_same(SLFS().fit(remote, y), SLFS().fit(X, y))


def test_errors_give_a_remedy():
    X, y = _array()
    with pytest.raises(TypeError, match=r"Dask Delayed\w*; expected a dask\.array\.Array"):
        SLFS().fit(dask.delayed(X), y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        SLFS().fit(da.from_array(X[:, 0]), y)
    with pytest.raises(ValueError, match="minimum of 2"):
        SLFS().fit(da.from_array(X[:1]), y[:1])
    frame = pd.DataFrame(X[:1], columns=[f"c{j}" for j in range(60)])
    with pytest.raises(ValueError, match=r"1 sample\(s\) .* minimum of 2"):
        SLFS().fit(dd.from_pandas(frame, npartitions=1), y[:1])
    with pytest.raises(ValueError, match="200 rows, y has 199"):
        SLFS().fit(da.from_array(X), y[1:])
    from scipy import sparse

    chunks = da.from_array(X).map_blocks(sparse.csr_matrix)
    with pytest.raises(TypeError, match=r"chunks are of type csr_matrix.*X\.map_blocks"):
        SLFS().fit(chunks, y)


def test_a_missing_library_is_named(monkeypatch):
    X, y = _array()
    split = da.from_array(X)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'slfs\[dask\]'"):
        SLFS().fit(split, y)


def test_import_does_not_import_dask():
    code = "import sys, slfs; raise SystemExit('dask' in sys.modules)"
    folder = str(Path(slfs.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": folder}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
