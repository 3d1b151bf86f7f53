"""Access to all private parts of slfs that the benchmarks use."""

import sys
from contextlib import contextmanager

import numpy as np
import psutil

from slfs._core.memory import memory_taken
from slfs._core.resources import Resources
from slfs.counting.backend import make_backend
from slfs.counting.planes import SampleLayout
from slfs.evaluation import significance
from slfs.measures.false_discovery import LordPlusPlus, q_values
from slfs.measures.information import Information
from slfs.screening.blind import pack_table_blind, pack_table_few
from slfs.screening.judging import drop_constant
from slfs.screening.pairs import rectangles, scan_pairs
from slfs.screening.pipeline import screen_table
from slfs.tables.registry import read_table

__all__ = [
    "LordPlusPlus",
    "information",
    "memory_taken",
    "pack",
    "pair_p_values",
    "pair_planes",
    "peak_memory",
    "planes",
    "q_values",
    "value_planes",
    "without_early_stopping",
]


def pack(X, y, categorical, n_jobs):
    """Encode a table and pack it into bit planes: all columns as categories, or all as numbers."""
    layout = SampleLayout.from_class_codes(y, int(y.max()) + 1)
    table = read_table(X)
    mask = np.full(table.n_features, categorical)
    with Resources(n_jobs) as resources:
        _, store = screen_table(table, layout, mask, resources, drop_constant)
    return store


def information(codes, y):
    """Return the object that computes information between columns of codes, on one thread."""
    packed = pack(codes, y, categorical=True, n_jobs=1).packed()
    return Information(make_backend(packed, Resources(1).threads))


def planes(found):
    """Return the words of all planes of `information`: (n_columns, n_planes, n_words)."""
    words = found.packed.arrays.words
    return words.reshape(len(found.packed), 2, -1)


def pair_planes(X, y):
    """Return the packed columns that `interactions` counts."""
    table, layout = read_table(X), SampleLayout.from_class_codes(y, int(y.max()) + 1)
    every, none = np.ones(table.n_features, bool), np.zeros(table.n_features, bool)
    with Resources(1) as resources:
        return pack_table_few(table, layout, none, every, 3, resources)


def peak_memory():
    """Return the largest resident memory that this process has had, in bytes."""
    if sys.platform == "win32":  # has no module resource
        return psutil.Process().memory_info().peak_wset
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def value_planes(X, n_jobs):
    """Pack all columns of numbers as categories, in the order of the table."""
    table = read_table(X)
    every = np.ones(table.n_features, bool)
    with Resources(n_jobs) as resources:
        return pack_table_blind(table, every, every, 255, resources)


def pair_p_values(packed, n_jobs=1):
    """Test all pairs of packed columns; return the smallest p-values, and the number of all."""
    every = np.arange(len(packed))
    parts = rectangles(every, every)
    with Resources(n_jobs) as resources:
        found = scan_pairs(make_backend(packed, resources.threads), parts, 0.05)
    return found["p_value"], sum(part.n_pairs for part in parts)


@contextmanager
def without_early_stopping():
    """Draw all permutations of p_values, also for columns that are clearly not significant."""
    enough, significance.ENOUGH = significance.ENOUGH, 10**9
    try:
        yield
    finally:
        significance.ENOUGH = enough
