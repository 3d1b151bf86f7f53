"""Time and peak memory for growing numbers of columns and samples, each point in its own process.

Run one point with ``python -m benchmarks.scale columns 1000000``.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.data import binary_block
from benchmarks.internals import memory_taken, peak_memory
from benchmarks.timing import best
from slfs import SLFS
from slfs.files import ParquetColumns

COLUMNS = (10**5, 10**6, 10**7)
SAMPLES = (10**5, 10**6)


def scale():
    """Streams of 1000 x 10^5 to 10^7 binary columns, Parquet files of 10^5 and 10^6 x 100; scale.png."""
    points = {kind: [_elsewhere(kind, size) for size in sizes] for kind, sizes in _SIZES.items()}
    _draw(points, Path("scale.png"))
    rows = []
    for kind, found in points.items():
        for point, before in zip(found[1:], found[:-1], strict=True):
            slope = math.log10(point["seconds"] / before["seconds"])
            what = f"10^{math.log10(point['size']):.0f} {kind}, {point['mib']:.0f} MiB"
            rows.append((what, point["seconds"], f"a tenth; slope {slope:.2f}", before["seconds"]))
    return rows


def columns(size):
    """SLFS on a stream of generated binary columns, two cores, without the time to generate them."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 1000)
    spent = 0.0

    def blocks(width=10_000):
        nonlocal spent
        for number in range(size // width):
            begin = time.perf_counter()
            block = binary_block(number, y, width)
            spent += time.perf_counter() - begin
            yield block

    begin = time.perf_counter()
    SLFS(order="given", categorical_features="all", n_jobs=2).fit_stream(blocks(), y)
    return time.perf_counter() - begin - spent


def samples(size):
    """SLFS on a Parquet file with 100 columns of four types, two cores."""
    import pyarrow as pa
    from pyarrow import parquet

    random = np.random.default_rng(0)
    y = random.integers(0, 3, size)
    kinds = (
        lambda: random.normal(size=size) + 0.3 * y,
        lambda: random.normal(size=size).astype(np.float32),
        lambda: (50 * random.normal(size=size) + 20 * y).round().astype(np.int32),
        lambda: random.integers(0, 5, size).astype(np.int8),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tall.parquet"
        parquet.write_table(pa.table({f"c{j}": kinds[j % 4]() for j in range(100)}), path)
        begin = time.perf_counter()
        SLFS(n_jobs=2).fit(ParquetColumns(path), y)
        return time.perf_counter() - begin


def agree(shape=(1000, 50_000)):
    """The same wide table in memory, within a memory limit, from Dask, and as a stream."""
    import dask.array
    from distributed import Client, LocalCluster

    random = np.random.default_rng(0)
    y = random.integers(0, 2, shape[0])
    kept = {}

    def seconds(name, fit, order="conditional"):
        selectors = []
        time_taken = best(lambda: selectors.append(fit(SLFS(order=order, n_jobs=2))), 3)
        kept[name, order] = selectors[-1].network_
        return time_taken

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.npy"
        table = np.lib.format.open_memmap(path, "w+", np.float32, shape, fortran_order=True)
        for j in range(0, shape[1], 1000):
            table[:, j : j + 1000] = random.normal(size=(shape[0], 1000))
            table[:, j] += y
        table.flush()
        X, rows = np.array(table), []
        usual = seconds("in memory", lambda s: s.fit(X, y))
        alone = seconds("one thread", lambda s: s.set_params(n_jobs=1).fit(X, y))
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**options) as cluster, Client(cluster):
            widths = ((shape[0],), (5000,) * (shape[1] // 5000))
            spread = dask.array.map_blocks(_read_chunk, str(path), chunks=widths, dtype=np.float32)
            taken = seconds("dask", lambda s: s.fit(spread, y))
            rows.append(("Dask, two processes", taken, "in memory, one thread", alone))
            rows.append(("Dask, two processes", taken, "in memory, two threads", usual))
        mapped = np.load(path, mmap_mode="r")
        limit = memory_taken() + shape[1] * 700 + (64 << 20)
        within = seconds("limit", lambda s: s.set_params(memory_limit=limit).fit(mapped, y))
        rows.append(("from a file, within a limit", within, "in memory, two threads", usual))
        given = seconds("whole", lambda s: s.fit(mapped, y), "given")
        cut = [mapped[:, j : j + 7001] for j in range(0, shape[1], 7001)]
        streamed = seconds("stream", lambda s: s.fit_stream(cut, y), "given")
    for (name, order), network in kept.items():
        expected = kept["in memory" if order == "conditional" else "whole", order]
        same = np.array_equal(network.columns, expected.columns)
        if not (same and np.array_equal(network.parents, expected.parents)):
            raise AssertionError(f"{name} selects other columns than the table in memory")
    return [*rows, ("a stream of 8 blocks", streamed, "order='given', whole", given)]


def _read_chunk(path, block_info=None):
    begin, end = block_info[None]["array-location"][1]
    return np.load(path, mmap_mode="r")[:, begin:end]


_POINTS = {"columns": columns, "samples": samples}
_SIZES = {"columns": COLUMNS, "samples": SAMPLES}


def _elsewhere(kind, size):
    command = [sys.executable, "-m", "benchmarks.scale", kind, str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def _draw(points, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for ax, (kind, found) in zip(figure.subplots(1, 2), points.items(), strict=True):
        sizes = [point["size"] for point in found]
        ax.loglog(sizes, [point["seconds"] for point in found], "o-", color="#0b6e99", label="seconds")
        ax.loglog(
            sizes, [point["mib"] / 1024 for point in found], "s--", color="#e08e0b", label="GiB, peak"
        )
        ax.set_xlabel(kind)
        ax.legend(frameon=False)
        ax.grid(linewidth=0.4, alpha=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    SLFS().fit(np.eye(6)[:, :3], [0, 1] * 3)  # loads compiled kernels, which is not timed
    seconds = _POINTS[sys.argv[1]](int(sys.argv[2]))
    mib = peak_memory() / 2**20
    sys.stdout.write(json.dumps({"size": int(sys.argv[2]), "seconds": seconds, "mib": mib}))
