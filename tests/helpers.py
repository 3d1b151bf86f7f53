"""Coded columns for tests, and a short way to pack them."""

import numpy as np

from slfs._core.threads import Threads
from slfs.counting.numba_backend import NumbaBackend
from slfs.counting.planes import SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.measures.information import Information


def pack_codes(codes, y):
    """Pack columns of codes; levels are 0 .. max."""
    codes, y = np.asarray(codes), np.asarray(y)
    n_classes = int(y.max()) + 1
    layout = SampleLayout.from_class_codes(y.astype(np.int64), n_classes)
    levels = codes.max(axis=1) + 1
    counts = [
        np.bincount(column * n_classes + y, minlength=d * n_classes)
        for column, d in zip(codes, levels, strict=True)
    ]
    ordered = np.ascontiguousarray(codes[:, layout.order].astype(np.uint8))
    columns = np.arange(len(codes))
    store = PlaneStore(layout)
    store.append(pack_block(layout, columns, ordered, levels, np.concatenate(counts)))
    return store.packed()


def information_of(codes, y, n_jobs=1):
    return Information(NumbaBackend(pack_codes(codes, y), Threads(n_jobs)))


def dependent_codes(seed, n_samples, n_columns, n_levels=4, n_classes=3):
    """Columns that depend on the class and on each other, with every level and class present."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    codes = []
    for _ in range(n_columns):
        source = codes[random.integers(len(codes))] if codes and random.random() < 0.5 else y
        noise = random.integers(0, n_levels, n_samples)
        column = np.where(random.random(n_samples) < random.uniform(0.3, 0.8), source, noise) % n_levels
        column[:n_levels] = np.arange(n_levels)
        codes.append(column)
    y[:n_classes] = np.arange(n_classes)
    return np.array(codes), y
