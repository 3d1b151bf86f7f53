"""A memory limit changes how a table is read and where planes are kept, never the result."""

import copy
import functools
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from slfs import CMIM, FCBF, SLFS, TAN, MDLPDiscretizer
from slfs._core import memory
from slfs._core.memory import Budget, parse_size
from slfs._core.resources import Resources
from slfs.coding import by_rows
from slfs.counting.planes import SampleLayout
from slfs.counting.store import PlaneStore
from slfs.files import ParquetColumns
from slfs.screening.judging import drop_one_level
from slfs.screening.pipeline import screen_table
from slfs.screening.plan import BlockLimits, block_limits, make_plan
from slfs.tables.registry import read_table


def mixed_table(seed, n_samples, n_classes=3):
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    numbers = random.normal(size=n_samples) + y
    incomplete = np.where(random.random(n_samples) < 0.2, np.nan, numbers.round(1))
    frame = pd.DataFrame(
        {
            "float": numbers,
            "incomplete": incomplete,
            "whole": (5 * numbers).round().astype(int),
            "flag": random.random(n_samples) < 0.3 + 0.1 * y,
            "text": np.array(["low", "middle", "high", "none"])[
                (y + random.integers(0, 2, n_samples)) % 4
            ],
            "gaps": pd.Series(np.array(["a", None, "b"], object)[random.integers(0, 3, n_samples)]),
            "noise": random.normal(size=n_samples),
        }
    )
    return frame, y


def small_blocks(n_rows, n_columns=1):
    """Read at most ``n_rows`` rows of ``n_columns`` columns at a time, and keep no planes in memory."""
    return block_limits(BlockLimits(n_rows, n_columns, plane_bytes=0))


def assert_same_fit(one, other):
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.network_.columns, other.network_.columns)
    np.testing.assert_array_equal(one.network_.parents, other.network_.parents)
    for name in one.features_.dtype.names:
        mine, yours = one.features_[name], other.features_[name]
        assert all(a == b or (a != a and b != b) for a, b in zip(mine, yours, strict=True)), name


@pytest.mark.parametrize("n_rows", [1, 7, 64, 199, 200, 500])
def test_pieces_of_rows_change_nothing(n_rows):
    frame, y = mixed_table(0, 200)
    selector = SLFS(irrelevance="test", fdr=0.5)
    whole = clone_fit(selector, frame, y)
    with small_blocks(n_rows):
        assert_same_fit(clone_fit(selector, frame, y), whole)


def clone_fit(selector, X, y):
    return copy.deepcopy(selector).fit(X, y)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 5), st.sampled_from([1, 2]))
def test_block_sizes_do_not_change_the_selection(seed, n_rows, n_columns, n_jobs):
    frame, y = mixed_table(seed, 80, n_classes=2)
    kinds = (SLFS(), FCBF(), CMIM(3))
    whole = [clone_fit(kind, frame, y) for kind in kinds]
    with small_blocks(n_rows, n_columns):
        for kind, expected in zip(kinds, whole, strict=True):
            assert_same_fit(clone_fit(kind.set_params(n_jobs=n_jobs), frame, y), expected)


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asfortranarray, pd.DataFrame])
def test_pieces_of_rows_of_any_table(kind):
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 150)
    X = kind(random.integers(0, 4, (150, 12)) * (random.random((150, 12)) < 0.4) + 0.0)
    discretizer = MDLPDiscretizer().fit(X, y)
    whole, classifier = clone_fit(SLFS(), X, y), TAN().fit(X, y)
    with small_blocks(40, 3):
        assert_same_fit(clone_fit(SLFS(), X, y), whole)
        np.testing.assert_array_equal(TAN().fit(X, y).predict_proba(X), classifier.predict_proba(X))
        again = MDLPDiscretizer().fit(X, y)
    for mine, yours in zip(again.cut_points_, discretizer.cut_points_, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_parquet_rows_are_read_group_by_group(tmp_path):
    frame, y = mixed_table(1, 300)
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=37)
    table = ParquetColumns(tmp_path / "table.parquet")
    whole = clone_fit(SLFS(), frame, y)
    assert_same_fit(SLFS().fit(table, y), whole)
    with small_blocks(50):
        assert_same_fit(SLFS().fit(table, y), whole)


def test_bins_lose_little_and_do_not_depend_on_the_pieces(monkeypatch):
    """With more values than bins, cut points are between bins and lose little information."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 4000)
    X = random.normal(size=(4000, 6)) + y[:, np.newaxis] * np.linspace(0, 1.5, 6)
    exact = SLFS().fit(X, y).features_["relevance"]
    monkeypatch.setattr(by_rows, "MAX_BINS", 256)
    found = []
    for n_rows in (501, 1500):
        with small_blocks(n_rows):
            found.append(SLFS().fit(X, y).features_["relevance"])
    np.testing.assert_array_equal(*found)
    assert (found[0] != exact).any()  # bins were used
    np.testing.assert_allclose(found[0], exact, atol=0.005)


def test_rows_with_a_period_lose_nothing(monkeypatch):
    """Only every other row depends on the class: a sample of every other row would miss it."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 4096)
    x = random.random(4096)
    x[1::2] = 10 + 0.5 * random.random(2048) + 0.5 * y[1::2]
    exact = SLFS().fit(x[:, np.newaxis], y).features_["relevance"][0]
    monkeypatch.setattr(by_rows, "MAX_BINS", 128)
    monkeypatch.setattr(by_rows, "SAMPLE_ROWS", 2048)
    with small_blocks(1000):
        found = SLFS().fit(x[:, np.newaxis], y).features_["relevance"][0]
    assert found > 0.95 * exact > 0.3


def test_bins_do_not_depend_on_the_memory_that_is_free(monkeypatch):
    """Whether bins are used depends on the limit and the number of samples, not on the free memory."""
    table = read_table(np.zeros((500_000, 3)))
    for taken, n_threads in ((100, 1), (100, 2), (150, 2), (180, 2)):
        monkeypatch.setattr(memory, "memory_taken", lambda taken=taken: taken << 20)
        plans = [
            make_plan(table, table.n_samples, table.categorical, Resources(n_threads, f"{limit}MiB"))
            for limit in (400, 200 + taken)
        ]
        tall = [plan.blocks[0].n_rows < 500_000 for plan in plans]
        assert tall == [False, (200 + taken << 20) / 4 < 500_000 * 120]


def test_bins_cut_between_values(monkeypatch):
    """Cut points between bins are cut points of the values: the counts on each side are the same."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 3000)
    X = random.normal(size=(3000, 1)) + y[:, np.newaxis]
    monkeypatch.setattr(by_rows, "MAX_BINS", 16)
    with small_blocks(1000):
        discretizer = MDLPDiscretizer().fit(X, y)
        relevance = SLFS().fit(X, y).features_["relevance"][0]
    assert len(discretizer.cut_points_[0]) > 0
    codes = discretizer.transform(X)[:, 0]
    again = SLFS(categorical_features="all").fit(codes[:, np.newaxis], y).features_["relevance"][0]
    assert relevance == again


# -- the store of the planes ---------------------------------------------------------------------


@pytest.mark.parametrize("max_bytes", [0, 200, 10**9])
def test_planes_in_a_file_are_those_in_memory(max_bytes):
    frame, y = mixed_table(2, 130)
    table, layout = read_table(frame), SampleLayout.from_class_codes(y, 3)
    stores = [PlaneStore(layout), PlaneStore(layout, max_bytes)]
    for round_ in range(3):
        for store in stores:
            screen_table(
                table, layout, table.categorical, Resources(1), drop_one_level,
                store=store, first=7 * round_,
            )  # fmt: skip
        expected, found = (store.packed() for store in stores)
        copies = [copy.deepcopy(stores[1]).packed(), pickle.loads(pickle.dumps(stores[1])).packed()]
        for packed in (found, *copies):
            np.testing.assert_array_equal(packed.columns, expected.columns)
            for mine, yours in zip(packed.arrays, expected.arrays, strict=True):
                np.testing.assert_array_equal(mine, yours)
    before = stores[1].packed()
    n_columns = len(before) // 3
    for part in (stores[1].packed(n_columns), stores[1].start_of(n_columns).packed()):
        assert len(part) == n_columns
        for mine, yours in zip(part.arrays[:5], before.arrays[:5], strict=True):
            np.testing.assert_array_equal(mine, yours[: len(mine)])


def relevant_columns(n_features):
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 300)
    X = (random.random((300, n_features)) < 0.4 + 0.3 * y[:, np.newaxis]).astype(int)
    return X, y


def test_a_stream_in_a_file_gives_the_same():
    X, y = relevant_columns(400)
    blocks = [X[:, j : j + 50] for j in range(0, 400, 50)]
    selector = SLFS(order="given", categorical_features="all")
    whole = clone_fit(selector, X, y)
    with small_blocks(300, 20):  # planes go to the file at once
        stream = copy.deepcopy(selector).fit_stream(blocks[:6], y)
    assert not stream._arrived.store.spill(), "it has no planes in memory"
    again = pickle.loads(pickle.dumps(stream))
    for one in (stream, again):
        assert_same_fit(one.extend(blocks[6]).extend(blocks[7]), whole)


def test_a_stream_moves_to_a_file_before_it_gives_up(monkeypatch):
    """Little memory is left until the planes of the first block are in a file."""
    X, y = relevant_columns(40)
    short, files, open_file = False, [], tempfile.TemporaryFile

    def watched(**options):
        files.append(open_file(**options))
        return files[-1]

    def blocks():
        nonlocal short
        yield X[:, :20]
        short = True
        yield X[:, 20:]

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    monkeypatch.setattr(memory, "memory_taken", lambda: (short and not files) << 40)
    selector = SLFS(order="given", categorical_features="all", memory_limit="1GiB")
    stream = copy.deepcopy(selector).fit_stream(blocks(), y)
    assert len(files) == 1
    assert_same_fit(stream, clone_fit(selector, X, y))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_leaves_the_stream_as_it_was(monkeypatch):
    X, y = relevant_columns(60)
    make = functools.partial(SLFS, order="given", categorical_features="all")
    with block_limits(BlockLimits(plane_bytes=1500)):  # enough for the first block
        selector = make().fit_stream([X[:, :20]], y)
    with monkeypatch.context() as inner:
        full = functools.partial(Path("/dev/full").open, "r+b")
        inner.setattr("tempfile.TemporaryFile", lambda buffering, prefix: full(buffering))  # noqa: ARG005
        message = "Set TMPDIR to a folder on a larger disk, or raise"
        with small_blocks(300, 20), pytest.raises(OSError, match=message):
            make().fit_stream([X], y)
        with pytest.raises(OSError, match=message):
            selector.extend(X[:, 20:])
    assert_same_fit(selector.extend(X[:, 20:]), make().fit(X, y))


def test_blocks_without_relevant_columns_do_not_disturb_the_file():
    X, y = relevant_columns(40)
    X[:, 10:30] = 1
    stream = SLFS(order="given", categorical_features="all")
    with small_blocks(300, 5):
        stream.fit_stream([X[:, j : j + 10] for j in range(0, 40, 10)], y)
    assert_same_fit(stream, SLFS(order="given", categorical_features="all").fit(X, y))


def test_copies_of_a_stream_are_independent():
    X, y = relevant_columns(60)
    one = SLFS(order="given", categorical_features="all").fit_stream([X[:, :20]], y)
    other = copy.copy(one)
    one.extend(X[:, 20:30])
    other.extend(X[:, 40:])
    one.extend(X[:, 30:40])
    assert_same_fit(one, clone_fit(SLFS(order="given", categorical_features="all"), X[:, :40], y))
    apart = np.delete(X, np.s_[20:40], axis=1)
    assert_same_fit(other, clone_fit(SLFS(order="given", categorical_features="all"), apart, y))


# -- the limit -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("2GiB", 2 << 30),
        ("500 MB", 5 * 10**8),
        ("1.5g", 15 * 10**8),
        (1024, 1024),
        ("2e6", 2 * 10**6),
        ("64kib", 65536),
    ],
)
def test_sizes(size, expected):
    assert parse_size(size) == expected


@pytest.mark.parametrize("size", ["lots", "2XB", "", "-1", "0", 0, -5, "1e"])
def test_invalid_sizes_are_rejected(size):
    with pytest.raises(ValueError, match="memory_limit"):
        SLFS(memory_limit=size).fit(np.eye(6), [0, 1] * 3)


def test_a_limit_that_is_too_small_is_rejected_at_once():
    with pytest.raises(
        MemoryError, match=r"memory_limit='1KiB' is too small.*Set memory_limit to [\d.]+ [MG]iB, "
    ):
        SLFS(memory_limit="1KiB").fit(np.eye(6), [0, 1] * 3)
    with pytest.raises(MemoryError, match="memory_limit=5000 is too small"):
        SLFS(memory_limit=5000).fit(np.eye(6), [0, 1] * 3)


def test_what_is_reserved_counts_once(monkeypatch):
    """What the steps had taken of the bytes that were reserved for them was subtracted again."""
    taken, mebibyte = 300, 1 << 20
    monkeypatch.setattr("slfs._core.memory.memory_taken", lambda: taken * mebibyte)
    budget = Budget("500MiB")
    libraries = 200 * mebibyte - budget.spare()
    with budget.reserve(50 * mebibyte, "codes"):
        left = budget.spare()
        assert left == 150 * mebibyte - libraries
        taken = 340
        assert budget.spare() == left
        with (
            pytest.raises(MemoryError, match="uses 340 MiB already, and residuals need") as error,
            budget.reserve(left + 1, "residuals"),
        ):
            pass
        assert int(re.search(r"memory_limit to (\d+) MiB", str(error.value))[1]) > 500
    assert budget.spare() == 160 * mebibyte


@pytest.mark.parametrize("whole", [False, True])
def test_a_larger_limit_does_not_fail_where_a_smaller_one_works(monkeypatch, whole):
    """Between 240 and 310 MiB this table was neither read in parts, nor did a column fit."""
    table = read_table(np.zeros((500_000, 3)))
    monkeypatch.setattr(memory, "memory_taken", lambda: 180 << 20)
    works = []
    for limit in range(180, 500, 10):
        resources = Resources(1, f"{limit}MiB")
        try:
            plan = make_plan(table, table.n_samples, table.categorical, resources, whole=whole)
        except MemoryError:
            works.append(False)
        else:
            works.append(True)
            assert not whole or plan.blocks[0].n_rows == table.n_samples
    assert works == sorted(works)
    assert works[8 if not whole else 20]


_TWICE = """
import re, sys
import numpy as np
from slfs import SLFS

n_rows, n_columns = map(int, sys.argv[1:])
X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
y = X[:, 0] > 0
try:
    SLFS(memory_limit="1MB").fit(X, y)
except MemoryError as error:
    limit = re.search(r"Set memory_limit to (\\d+ MiB)", str(error))[1]
SLFS(memory_limit=limit).fit(X, y)
"""


@pytest.mark.parametrize(("n_rows", "n_columns"), [(500, 20), (100_000, 5)])
def test_the_limit_that_an_error_names_suffices(n_rows, n_columns):
    """It left no room for the kernels, which are loaded later, and for later steps."""
    command = [sys.executable, "-c", _TWICE, str(n_rows), str(n_columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


_LIMITED = """
import sys, threading, time
import numpy as np
from slfs import SLFS
from slfs._core.memory import memory_taken

path, limit = sys.argv[1], sys.argv[2]
SLFS(order="conditional").fit(np.eye(6), [0, 1] * 3)
X = np.load(path, mmap_mode="r")
y = np.arange(len(X)) % 2
peak, done = memory_taken(), False

def watch():
    global peak
    while not done:
        peak = max(peak, memory_taken())
        time.sleep(0.002)

before = memory_taken()
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
limit = None if limit == "none" else before + int(limit)
selector = SLFS(order="conditional", memory_limit=limit, n_jobs=2).fit(X, y)
done = True
watcher.join()
print(peak - before, *selector.network_.columns)
"""


def test_columns_are_tested_given_others_as_a_whole_if_one_fits(monkeypatch):
    """More than a quarter of the limit for a column was an error with ``condition_on``."""
    monkeypatch.setattr(memory, "memory_taken", lambda: 0)
    monkeypatch.setattr(memory, "_LIBRARIES", 0)
    y = np.arange(20_000) % 2
    X = np.random.default_rng(0).normal(size=(20_000, 3)) + y[:, np.newaxis]
    selector = SLFS(order="conditional", condition_on=[0])
    expected = clone_fit(selector, X, y)
    assert_same_fit(clone_fit(selector.set_params(memory_limit="8MB"), X, y), expected)
    with pytest.raises(MemoryError, match=r"20000 samples x 3 columns need .* Set memory_limit to"):
        selector.set_params(memory_limit="4MB").fit(X, y)


class _Wide(ParquetColumns):
    """Note how many numbers are read at a time."""

    most = 0

    def number_block(self, columns, order):
        self.most = max(self.most, len(columns) * self.n_samples)
        return super().number_block(columns, order)


def test_few_columns_of_a_file_are_read_for_some_rows(tmp_path):
    """Columns are read as a whole: 26 of them for a fold of 40 000 rows."""
    path = tmp_path / "table.parquet"
    random = np.random.default_rng(0)
    y = np.arange(60_000) % 2
    pd.DataFrame(
        random.normal(size=(60_000, 25)) + y[:, np.newaxis], columns=list(map("x{}".format, range(25)))
    ).to_parquet(path)
    table = _Wide(path)
    SLFS(cv=5, max_features=25).fit(table, y)
    assert table.most <= 1.4e6


_ORDERS = """
import re, sys, threading, time, warnings
import numpy as np
from slfs import SLFS
from slfs._core.memory import memory_taken, parse_size

path, limit, order, n_jobs = sys.argv[1:]
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
few = np.arange(200) % 2
SLFS().fit(random.normal(size=(200, 4)) + few[:, np.newaxis], few)
SLFS(order="conditional").fit(random.normal(size=(200, 4)) + few[:, np.newaxis], few)
X = np.load(path, mmap_mode="r")
peak, done = 0, False

def watch():
    global peak
    while not done:
        peak = max(peak, memory_taken())
        time.sleep(0.002)

watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
limit = None if limit == "none" else limit
begin = time.process_time()
try:
    selector = SLFS(order=order, memory_limit=limit, n_jobs=int(n_jobs))
    found = selector.fit(X, np.arange(len(X)) % 2).order_
except MemoryError as error:
    found = re.search(r"Set memory_limit to ([\\d.]+ [MG]iB)", str(error))[1]
    assert time.process_time() - begin < 2, "it came late"
done = True
watcher.join()
print(found, peak, sep=",")
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory is measured in /proc")
@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_each_limit_up_to_the_whole_need_suffices_for_some_order(tmp_path, n_jobs):
    """Limits that were enough for the residuals but not for the folds failed, after the first fold."""
    random = np.random.default_rng(0)
    path, n_rows = tmp_path / "table.npy", 60_000
    X = np.lib.format.open_memmap(path, "w+", np.float64, (n_rows, 16), fortran_order=True)
    for j in range(16):
        X[:, j] = random.normal(size=n_rows) + 0.02 * j * (np.arange(n_rows) % 2)
    X.flush()

    def run(limit, order):
        command = [sys.executable, "-c", _ORDERS, str(path), str(limit), order, n_jobs]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found, peak = done.stdout.split(",")
        return found, int(peak)

    least, most = (run("1MiB", order)[0] for order in ("auto", "residual"))
    assert run(most, "residual")[0] == "residual"
    orders = []
    for limit in np.linspace(parse_size(least), parse_size(most), 4).astype(int).tolist():
        found, peak = run(limit, "auto")
        assert peak <= limit
        orders.append(found)
    assert orders == sorted(orders)
    assert (orders[0], orders[-1]) == ("conditional", "residual")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory is measured in /proc")
def test_the_limit_holds_as_measured(tmp_path):
    """A tall table from a file: the fit takes more without a limit, and stays within it with one."""
    random = np.random.default_rng(0)
    path = tmp_path / "tall.npy"
    y = np.arange(1_200_000) % 2
    X = np.lib.format.open_memmap(path, "w+", np.float64, (1_200_000, 8), fortran_order=True)
    for j in range(8):
        X[:, j] = (random.normal(size=len(y)) + 0.2 * j * y).round(2)
    X.flush()

    def run(limit):
        command = [sys.executable, "-c", _LIMITED, str(path), limit]
        peak, *columns = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.split()
        return int(peak), columns

    free, expected = run("none")
    allowed = 120 * 10**6
    assert free > allowed  # without a limit it takes more
    held, columns = run(str(allowed))
    assert held <= allowed
    assert columns == expected
