"""Measure the GPU backend: ``python -m benchmarks.gpu [CASE ...]``, by default all. Needs an NVIDIA GPU.

Tables are generated on the card. Each line states what was measured, and the limit that it is compared
with, measured in the same run.
"""

import functools
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import patch

import cupy
import numpy as np

from benchmarks.data import coded_set
from slfs import MRMR, SLFS, interactions
from slfs._core.threads import Threads
from slfs.counting.backend import use_backend
from slfs.counting.cuda.backend import CudaBackend
from slfs.counting.cuda.card import CardPlanes, launch
from slfs.counting.cuda.scan import PairScan
from slfs.counting.kernels import PackedArrays
from slfs.counting.planes import PackedColumns, SampleLayout, column_words, unsigned_starts
from slfs.measures.information import Information
from slfs.selectors._shared.pursuit import Pursuit
from slfs.tables.cupy_arrays import CupyTable

READ = r"""
extern "C" __global__ void read_all(const ulonglong2* words, long long n, unsigned long long* out) {
    unsigned long long sum = 0;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const ulonglong2 word = words[i];
        sum ^= word.x ^ word.y;
    }
    if (sum == 42) *out = sum;
}
"""


def timed(function, repeats=5):
    """Return the shortest time of several calls on the card, in seconds."""
    function()
    found = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        function()
        end.record()
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(begin, end) / 1000)
    return min(found)


def generate(n_samples, n_columns, seed=0):
    """Generate columns of three levels and two classes on the card, as packed columns."""
    codes = (np.arange(n_samples) >= n_samples // 2).astype(np.int64)
    layout = SampleLayout.from_class_codes(codes, 2)
    n_words = layout.n_words
    levels = np.full(n_columns, 3, np.uint64)
    words = cupy.empty((n_columns, 2, n_words), cupy.uint64)
    random = cupy.random.RandomState(seed)
    mask = cupy.asarray(layout.sample_bits())
    at_once = max(1, (1 << 28) // n_words)
    for begin in range(0, n_columns, at_once):
        part = words[begin : begin + at_once]
        bits = random.randint(0, 2**32, (2, len(part), 2 * n_words), dtype=cupy.uint32)
        one, two = (half.view(cupy.uint64) for half in bits)
        part[:, 0] = one & two & mask
        part[:, 1] = one & ~two & mask
    words = words.reshape(-1)
    start = cupy.arange(2 * n_columns, dtype=cupy.uint64) * cupy.uint64(n_words)
    counts = cupy.empty((n_columns, 2, 2), cupy.int64)
    first_word = cupy.asarray(layout.first_word)
    arguments = (words, start, np.int64(2 * n_columns), first_word, np.int32(2), counts)
    launch("plane_counts", 2 * n_columns, 8, arguments)
    whole = np.empty((n_columns, 3, 2), np.int64)
    whole[:, :2] = counts.get()
    whole[:, 2] = layout.totals - whole[:, :2].sum(axis=1)
    arrays = PackedArrays(
        words=words,
        offset=unsigned_starts(column_words(levels, layout)),
        levels=levels,
        class_counts=whole.reshape(-1),
        counts_offset=unsigned_starts(levels * np.uint64(2)),
        first_word=layout.first_word,
        first_sample=layout.first_sample,
        home_word=layout.first_word,
        home_sample=layout.first_sample,
    )
    return PackedColumns(layout, np.arange(n_columns), arrays)


def biobank(n_samples=500_000, n_columns=800_000):
    """One column against all, mRMR and residual pursuit at the size of a biobank."""
    packed = generate(n_samples, n_columns)
    words = packed.arrays.words
    read = cupy.RawKernel(READ, "read_all")
    out = cupy.zeros(1, cupy.uint64)
    plain = timed(lambda: read((132 * 16,), (512,), (words, np.int64(len(words) // 2), out)))
    rate = words.nbytes / plain / 1e12
    print(f"  plain read of {words.nbytes / 1e9:.0f} GB: {plain * 1e3:.1f} ms, {rate:.2f} TB/s")
    backend = CudaBackend(packed, Threads(1))
    every = np.arange(n_columns)
    piece = next(backend._planes.pieces())
    for name, parts in (("by class", backend._by_class), ("pooled", backend._pooled)):
        count = functools.partial(backend._count_pairs, "few", 7, every, piece.address, parts)
        found, whole = timed(count), timed(lambda count=count: count().get())
        print(f"  one column against all, {name}: {found * 1e3:.1f} ms, {plain / found:.2f} of a read")
        print(f"    with the transfer of the sums: {whole * 1e3:.1f} ms")
    begin = time.perf_counter()
    information = Information(backend)
    middle = time.perf_counter()
    selector = MRMR(n_features_to_select=50)
    unknown = np.full(n_columns, np.nan)
    facts = SimpleNamespace(
        coding=every, reason=np.zeros(n_columns, np.int8), p_value=unknown, given_relevance=unknown
    )
    selector._select(information, facts)
    end = time.perf_counter()
    print(f"  mRMR, 50 columns: {end - middle:.2f} s (and {middle - begin:.2f} s for relevance)")
    begin = time.perf_counter()
    for number, _ in enumerate(Pursuit(information)):
        if number == 4:
            break
    print(f"  residual pursuit, 5 columns: {time.perf_counter() - begin:.2f} s")


def pairs():
    """All pairs: counts, scores and the list of the best."""
    for n_samples, n_columns in ((100_000, 50_000), (10_000, 50_000), (1000, 50_000)):
        packed = generate(n_samples, n_columns)
        scan = PairScan(packed, CardPlanes(packed.arrays.words, packed.arrays.offset))
        every, slack, limits = np.arange(n_columns), np.zeros(n_columns), np.full(5, 45.0)
        seconds = timed(functools.partial(scan.above, every, every, slack, limits, ordered=True))
        rate = n_columns * (n_columns - 1) / 2 * n_samples / seconds
        print(f"  {n_columns} columns, {n_samples} samples: {seconds * 1e3:.1f} ms, ", end="")
        print(f"{rate:.2e} pair-samples/s")
        del scan, packed
        cupy.get_default_memory_pool().free_all_blocks()


def interactions_of_a_table():
    """`slfs.interactions` from the table to the result, on the CPU (all cores) and on the GPU."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (1000, 10_000), dtype=np.int8)
    y = (X[:, 5] > 0) ^ (X[:, 9] > 0)
    found = {}
    for name in ("numba", "cuda"):
        with use_backend(name):
            interactions(X[:, :100], y, categorical_features="all")
            begin = time.perf_counter()
            table = interactions(X, y, categorical_features="all", n_jobs=-1)
            found[name] = time.perf_counter() - begin, table.pairs.tolist()[:10]
    same = found["numba"][1] == found["cuda"][1]
    print(f"  10 000 columns, 1000 samples: CPU {found['numba'][0]:.2f} s, ", end="")
    print(f"GPU {found['cuda'][0]:.2f} s, same pairs: {same}")


def whole_fit():
    """Set F from the table to the selection, on the CPU and on the GPU."""
    X, y = coded_set("F")[:2]
    for selector in (MRMR(n_features_to_select=50), SLFS(n_features_to_select=50)):
        selector.set_params(categorical_features="all")
        times, chosen = {"numba": [], "cuda": []}, []
        for repeat in range(10):
            for name, found in times.items():
                with use_backend(name):
                    begin = time.perf_counter()
                    selector.fit(X, y)
                    if repeat:  # not the first: kernels are compiled
                        found.append(time.perf_counter() - begin)
                chosen.append(selector.indices_)
        same = all(np.array_equal(indices, chosen[0]) for indices in chosen)
        on_cpu, on_card = (np.median(found) for found in times.values())
        print(f"  {type(selector).__name__}, median: CPU {on_cpu:.3f} s, ", end="")
        print(f"GPU {on_card:.3f} s, same columns: {same}")


def packing(n_samples=20_000, n_columns=50_000):
    """mRMR of an array on the card: packed there, moved as numbers, and as an array of NumPy."""
    random = cupy.random.RandomState(0)
    X = random.randint(0, 3, (n_samples, n_columns), dtype=np.int8)
    y = ((X[:, 5] + X[:, 9]) // 2).get()
    in_memory, selector = X.get(), MRMR(n_features_to_select=10, device="cuda", n_jobs=-1)
    none, chosen = np.zeros(n_columns, np.bool_), []
    ways = {"packed on the card": (X, {}), "moved": (X, {"planes": none}), "NumPy": (in_memory, {})}
    for name, (table, attributes) in ways.items():
        times = []
        with patch.multiple(CupyTable, **attributes) if attributes else nullcontext():
            for _ in range(4):
                begin = time.perf_counter()
                chosen.append(selector.fit(table, y).indices_)
                times.append(time.perf_counter() - begin)
        same = all(np.array_equal(indices, chosen[0]) for indices in chosen)
        print(f"  {name}: {min(times):.2f} s, same columns: {same}")


CASES = {
    "packing": packing,
    "pairs": pairs,
    "interactions": interactions_of_a_table,
    "whole_fit": whole_fit,
    "biobank": biobank,
}


def main(names):
    """Run cases."""
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(properties["name"].decode(), "CuPy", cupy.__version__)
    for name in names or CASES:
        print(f"{name}: {CASES[name].__doc__}", flush=True)
        CASES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
