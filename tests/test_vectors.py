"""Vectors in kernels do the same as the same functions without compilation."""

import numba
import numpy as np

from slfs._core.vectors import eight_zeros, four, load_floats, load_ints, store, total


def add_and_multiply(floats, ints, float_out, int_out):
    scaled = load_floats(floats, 1) * four(0.1) + load_floats(floats, 5)
    store(scaled, float_out, 1)
    store(eight_zeros() + load_ints(ints, 1) + load_ints(ints, 9), int_out, 1)
    return total(scaled)


def test_compiled_vectors_equal_plain_ones():
    random = np.random.default_rng(0)
    floats, ints = random.normal(size=9), random.integers(-(2**15), 2**15, 17).astype(np.int16)
    ints[1] = ints[9] = -(2**15)
    results = []
    for function in (add_and_multiply, numba.njit(add_and_multiply)):
        out = np.zeros(6), np.zeros(10, np.int32)
        results.append((function(floats, ints, *out), out[0].tolist(), out[1].tolist()))
    assert results[0] == results[1]
    _, scaled, sums = results[1]
    np.testing.assert_allclose(scaled, [0, *(floats[1:5] * 0.1 + floats[5:]), 0], rtol=1e-15)
    assert sums == [0, *(ints[1:9].astype(int) + ints[9:]), 0]
