"""Packed columns -> groups of columns with the same levels, up to the names of the levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs.counting.planes import MAX_PLANE_LEVELS, PackedColumns

Words = NDArray[np.uint64]

_PIECE = 1 << 20
"""Maximum number of words that are read at a time."""


def find_duplicates(packed: PackedColumns, sums: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return groups of columns that are copies or recodings of each other, by packed index.

    ``sums`` contains integers for each column that are equal for duplicates, such as its sums of
    n log n: only columns with equal ones are read. Their levels are compared by a hash that does not
    depend on the order of the levels.
    """
    several = np.flatnonzero(packed.arrays.levels > 1)
    keys = packed.arrays.levels[several]
    for column in sums.T:
        keys = _mixed(keys) + column[several].astype(np.uint64)
    order, same = _sorted(keys)
    tied = np.sort(several[order[same | np.append(same[1:], False)]])
    if len(tied) == 0:
        return []
    order, same = _sorted(_hashes(packed, tied))
    begins = np.flatnonzero(~same & np.append(same[1:], False))
    ends = np.flatnonzero(same & ~np.append(same[1:], False)) + 1
    groups = [np.sort(tied[order[begin:end]]) for begin, end in zip(begins, ends, strict=True)]
    return sorted(groups, key=lambda group: int(group[0]))


def _sorted(keys: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return an order of the keys, and whether each one is equal to the one before it."""
    order = np.argsort(keys)
    ordered = keys[order]
    return order, np.append(False, ordered[1:] == ordered[:-1])[: len(keys)]


def _hashes(packed: PackedColumns, columns: NDArray[np.int64]) -> Words:
    """Hash columns: the sum over the levels of a hash of the level's plane.

    The hash of a plane is linear: that of the last level, which has no plane, follows from the others.
    """
    arrays, n_words = packed.arrays, packed.layout.n_words
    weights = np.random.default_rng(0).integers(0, 2**64, n_words, np.uint64)
    everything = (packed.layout.sample_bits() * weights).sum(dtype=np.uint64)
    hashes = np.empty(len(columns), np.uint64)
    levels = arrays.levels[columns]
    for n_levels in np.unique(levels).tolist():
        own = np.flatnonzero(levels == n_levels)
        if n_levels > MAX_PLANE_LEVELS:  # stored as codes
            hashes[own] = [_hash_codes(packed, int(column)) for column in columns[own]]
            continue
        n_planes = n_levels - 1
        width = max(1, _PIECE // (n_planes * n_words))
        for begin in range(0, len(own), width):
            part = own[begin : begin + width]
            first = arrays.offset[columns[part]].astype(np.int64)
            words = arrays.words[first[:, np.newaxis] + np.arange(n_planes * n_words)]
            planes = words.reshape(len(part), n_planes, n_words)
            of_level = np.einsum("ijk,k->ij", planes, weights)
            last = everything - of_level.sum(axis=1, dtype=np.uint64)
            hashes[part] = _mixed(of_level).sum(axis=1, dtype=np.uint64) + _mixed(last)
    return hashes


def _hash_codes(packed: PackedColumns, column: int) -> int:
    """Hash a column that is stored as codes, with its levels numbered in order of appearance."""
    n_samples = packed.layout.n_samples
    begin = int(packed.arrays.offset[column])
    words = packed.arrays.words[begin : begin - (-n_samples // 8)]
    codes = words.astype("<u8").view(np.uint8)[:n_samples]
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    return hash(np.argsort(np.argsort(first)).astype(np.uint8)[index].tobytes()) & (2**64 - 1)


def _mixed(words: Words) -> Words:
    """Mix the bits of words (SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
