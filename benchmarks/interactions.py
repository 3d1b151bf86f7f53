"""Pairs of columns: the speed of a scan, how often noise reaches a p-value, which pairs are found."""

import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from benchmarks.internals import pair_p_values, pair_planes
from slfs import interactions
from slfs._core.compile import popcount

LEVELS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
ZERO, ONE = np.uint64(0), np.uint64(1)


def pairs(n_columns=10_000, n_samples=1000):
    """All pairs of 10000 columns, N = 1000, 3 levels, two classes: CPU time of two threads."""
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (n_samples, n_columns)), random.integers(0, 2, n_samples)
    packed = pair_planes(X, y)
    popcounts(packed.arrays, 0, 2, 1)
    pair_p_values(pair_planes(X[:, :100], y))
    rows, other = [], "popcounts of the same planes"
    for _ in range(3):
        bare = _cpu_seconds(lambda: _popcounts_of_two_threads(packed.arrays, n_columns))
        taken = _cpu_seconds(lambda: pair_p_values(packed, n_jobs=2))
        rows.append(("tables, scores, tests, top list", taken, other, bare))
    whole = _cpu_seconds(lambda: interactions(X, y, n_jobs=2))
    return [*rows, ("interactions(X, y)", whole, other, bare)]


def _popcounts_of_two_threads(packed, n_columns):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda first: popcounts(packed, first, n_columns, 2), range(2)))


@numba.njit(nogil=True)
def popcounts(packed, first, n_columns, step):
    """Count the four pairs of planes of all pairs of columns, and do nothing else."""
    words, bounds = packed.words, packed.first_word
    n_words, checksum = packed.home_word[np.uint64(len(packed.home_word) - 1)], ZERO
    for f in range(np.uint64(first), np.uint64(n_columns), np.uint64(step)):
        f0 = packed.offset[f]
        f1 = f0 + n_words
        for k in range(f + ONE, np.uint64(n_columns)):
            k0 = packed.offset[k]
            k1 = k0 + n_words
            for c in range(np.uint64(len(bounds) - 1)):
                n00, n01, n10, n11 = ZERO, ZERO, ZERO, ZERO
                for w in range(bounds[c], bounds[c + ONE]):
                    x0, x1, z0, z1 = words[f0 + w], words[f1 + w], words[k0 + w], words[k1 + w]
                    n00 += np.uint64(popcount(x0 & z0))
                    n01 += np.uint64(popcount(x0 & z1))
                    n10 += np.uint64(popcount(x1 & z0))
                    n11 += np.uint64(popcount(x1 & z1))
                checksum += n00 ^ n01 ^ n10 ^ n11
    return checksum


def _cpu_seconds(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def pair_calibration(n_pairs=4_200_000, width=2050):
    """How often pairs without interaction reach a p-value, divided by it; 10^8 pairs in all."""
    print(f"\n  Pairs without interaction, {n_pairs} of each kind: probability / p")
    print(f"  {'':<44}" + "".join(f"{level:>9g}" for level in LEVELS), flush=True)
    reached, every = np.zeros(len(LEVELS)), 0
    for n_samples in (200, 500, 2000):
        for share in (0.5, 0.1):
            for kind, make in NOISE.items():
                own, tested, seed = np.zeros(len(LEVELS)), 0, 0
                while tested < n_pairs:
                    y = (np.arange(n_samples) < share * n_samples).astype(np.int64)
                    p_value, number = pair_p_values(
                        pair_planes(make(np.random.default_rng(seed), y, width), y)
                    )
                    own += (p_value[:, np.newaxis] <= LEVELS).sum(axis=0)
                    tested, seed = tested + number, seed + 1
                name = f"N = {n_samples}, {share:.0%}, {kind}"
                rates = "".join(f"{rate:9.2f}" for rate in own / tested / LEVELS)
                print(f"  {name:<44}{rates}", flush=True)
                reached, every = reached + own, every + tested
    rates = "".join(f"{rate:9.2f}" for rate in reached / every / LEVELS)
    print(f"  {f'all {every} pairs':<44}{rates}")
    return []


def _numbers(shift):
    """Numbers whose mean differs between the classes, independent given the class: no interaction."""

    def make(random, y, width):
        return random.normal(size=(len(y), width)) + np.outer(y, shift * random.normal(size=width))

    return make


def _categories(effect):
    """Three categories, 70%, 20% and 10% of the first class, independent given the class."""

    def make(random, y, width):
        weights = np.array([0.7, 0.2, 0.1]) * np.exp(effect * random.normal(size=(width, 3)))
        bounds = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        drawn = random.random((len(y), width))
        low, high = np.where(y[:, np.newaxis] == 1, bounds[:, 0], 0.7), bounds[:, 1]
        return (drawn > low) + (drawn > np.where(y[:, np.newaxis] == 1, high, 0.9)).astype(np.int64)

    return make


NOISE = {
    "terciles": _numbers(0),
    "terciles, main effects": _numbers(0.5),
    "70/20/10%": _categories(0),
    "70/20/10%, main effects": _categories(0.5),
}


def xor(n_tables=200, n_samples=500, n_noise=2000):
    """The class is a xor b, among 2000 columns of noise, N = 500: how often is the pair found?"""
    found, false = 0, 0
    for seed in range(n_tables):
        X = np.random.default_rng(seed).integers(0, 2, (n_samples, n_noise + 2))
        significant = interactions(X, X[:, 0] ^ X[:, 1], n_jobs=2)
        first = significant.pairs[: significant.n_significant]
        hit = (first.first_index == 0) & (first.second_index == 1)
        found, false = found + hit.any(), false + (~hit).any()
        if (seed + 1) % 50 == 0:
            print(f"  found in {found} of {seed + 1} tables, a false pair in {false}", flush=True)
    return []


def pair_power(n_tables=20, n_noise=500):
    """How often an interaction is found among 125,000 pairs, by number of samples and its strength."""
    print("\n  Share of tables in which the pair is found; P(y = 1) is 0.5 + or - the effect")
    effects = (0.05, 0.1, 0.15, 0.2, 0.3)
    for kind in ("numbers", "0/1"):
        print(f"  {kind:<20}" + "".join(f"{effect:>9g}" for effect in effects))
        for n_samples in (200, 500, 1000, 2000, 5000):
            shares = [_found(kind, n_samples, n_noise, effect, n_tables) for effect in effects]
            print(f"  N = {n_samples:<16}" + "".join(f"{share:9.2f}" for share in shares), flush=True)
    return []


def _found(kind, n_samples, n_noise, effect, n_tables):
    number = 0
    for seed in range(n_tables):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n_samples, n_noise))
        if kind == "0/1":
            X = (X > 0).astype(np.int64)
        sign = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), 1, -1)
        y = (random.random(n_samples) < 0.5 + effect * sign).astype(np.int64)
        found = interactions(X, y, n_jobs=2)
        significant = found.pairs[: found.n_significant]
        number += ((significant.first_index == 0) & (significant.second_index == 1)).any()
    return number / n_tables
