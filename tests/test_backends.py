"""All counting backends return the same integers as the NumPy backend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from slfs import CMIM, DISR, FCBF, JMI, MRMR, OSFS, SLFS, TAN
from slfs._core.threads import Threads
from slfs.counting.backend import register_backend, use_backend
from slfs.counting.cuda.backend import CudaBackend
from slfs.counting.cuda.card import why_unavailable
from slfs.counting.nlogn import nlogn_table
from slfs.counting.numba_backend import NumbaBackend
from slfs.counting.numpy_backend import NumpyBackend
from slfs.counting.pairs import PairScreen
from slfs.evaluation import p_values
from tests import naive
from tests.helpers import pack_codes

NEEDS_GPU = pytest.mark.skipif(bool(why_unavailable()), reason=why_unavailable())


class EagerCudaBackend(CudaBackend):
    """Count also the smallest tables on the card."""

    HOST_SECONDS = 0.0


register_backend("eager cuda", EagerCudaBackend)

BACKENDS = [NumbaBackend, pytest.param(EagerCudaBackend, marks=NEEDS_GPU)]


@st.composite
def packed_columns(draw):
    """Columns with few and many levels; classes that fill no word, one word and several words."""
    n_samples = draw(st.integers(2, 300))
    levels = draw(st.lists(st.sampled_from([2, 3, 4, 5, 17, 64, 65, 200]), min_size=2, max_size=6))
    n_classes = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.stack([random.integers(0, d, n_samples) for d in levels])
    codes[:, 0] = np.array(levels) - 1
    y = random.integers(0, n_classes, n_samples)
    y[0] = n_classes - 1
    return pack_codes(codes, y), codes, y


def both(backend, packed, n_threads=1):
    return backend(packed, Threads(n_threads)), NumpyBackend(packed, Threads(1))


@given(packed_columns())
def test_the_reference_unpacks_what_was_packed(data):
    packed, codes, y = data
    reference = NumpyBackend(packed, Threads(1))
    order = packed.layout.order
    for f, column in enumerate(codes):
        np.testing.assert_array_equal(reference.codes(f), column[order])
    expected = naive.joint_counts(
        codes[0].tolist(), codes[1].tolist(), y.tolist(), reference.joint_counts(0, 1).shape
    )
    np.testing.assert_array_equal(reference.joint_counts(0, 1), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=packed_columns())
def test_codes_and_sums_of_columns(backend, data):
    fast, reference = both(backend, data[0])
    for f in range(len(data[0])):
        np.testing.assert_array_equal(fast.codes(f), reference.codes(f))
        np.testing.assert_array_equal(fast.class_counts(f), reference.class_counts(f))
    np.testing.assert_array_equal(fast.column_sums(), reference.column_sums())


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=packed_columns(), n_threads=st.integers(1, 2))
def test_pairs(backend, data, n_threads):
    packed = data[0]
    fast, reference = both(backend, packed, n_threads)
    every = np.arange(len(packed))
    np.testing.assert_array_equal(fast.pair_sums(0, every), reference.pair_sums(0, every))
    np.testing.assert_array_equal(fast.pooled_pair_sums(1, every), reference.pooled_pair_sums(1, every))
    np.testing.assert_array_equal(fast.joint_counts(1, 0), reference.joint_counts(1, 0))
    blocks = fast.block_sums(every[:2], every[1:])
    np.testing.assert_array_equal(blocks, reference.block_sums(every[:2], every[1:]))


@pytest.mark.parametrize("backend", BACKENDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(2, 300),
    n_classes=st.integers(1, 3),
    levels=st.lists(st.sampled_from([2, 3, 3, 4, 6]), min_size=2, max_size=7),
)
def test_pairs_that_may_interact(backend, seed, n_samples, n_classes, levels):
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, d, n_samples) for d in levels])
    codes[:, 0] = np.array(levels) - 1
    y = random.integers(0, n_classes, n_samples)
    y[0] = n_classes - 1
    fast, reference = both(backend, pack_codes(codes, y))
    every = np.arange(len(levels))
    every_pair = np.array([(f, k) for f in every for k in every if f < k])
    tables = reference.pair_tables(every_pair)
    np.testing.assert_array_equal(fast.pair_tables(every_pair), tables)
    # thresholds in the midst of the scores, so that some pairs pass exactly
    sums = reference.block_sums(every, every)
    screen = PairScreen(
        own=random.integers(-(2**30), 2**30, len(levels)),
        slack=random.integers(0, 2**15, len(levels)),
        least=np.full(26, int(np.median(sums[:, :, 1] - sums[:, :, 0]))),
    )
    for left, right, ordered in ((every, every, True), (every[:2], every[1:], False)):
        found = fast.screen_pairs(left, right, screen, ordered=ordered)
        expected = reference.screen_pairs(left, right, screen, ordered=ordered)
        assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))
    scores = (sums[:, :, 1] - sums[:, :, 0])[every[:2]][:, every[1:]]
    needed = screen.own[:2, np.newaxis] + screen.own[1:] + screen.least[0]
    passed = scores + np.outer(screen.slack[:2], screen.slack[1:]) >= needed
    assert len(expected) == passed.sum()


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=packed_columns(), n_given=st.integers(0, 2))
def test_conditional_counts(backend, data, n_given):
    fast, reference = both(backend, data[0])
    given_columns = tuple(range(1, min(n_given + 1, len(data[0]))))
    found, expected = (one.conditional_counts(0, given_columns) for one in (fast, reference))
    assert found.half_g == expected.half_g
    filled = expected.table[expected.table.any(axis=(1, 2))]
    np.testing.assert_array_equal(found.table[found.table.any(axis=(1, 2))], filled)


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=packed_columns(), seed=st.integers(0, 2**32 - 1))
def test_weights_and_labels(backend, data, seed):
    packed = data[0]
    fast, reference = both(backend, packed, 2)
    random = np.random.default_rng(seed)
    weights = random.integers(-(2**40), 2**40, (packed.layout.n_samples, 3))
    columns = np.arange(len(packed))[::-1].copy()
    np.testing.assert_array_equal(
        fast.weighted_sums(columns, weights), reference.weighted_sums(columns, weights)
    )


@pytest.mark.parametrize("backend", BACKENDS)
@given(n_samples=st.integers(3, 200), n_labels=st.integers(2, 4), seed=st.integers(0, 2**32 - 1))
def test_permuted_labels(backend, n_samples, n_labels, seed):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 4, (5, n_samples))
    codes[:, 0] = 3
    packed = pack_codes(codes, np.zeros(n_samples, int))
    fast, reference = both(backend, packed, 2)
    labels = random.integers(0, n_labels, n_samples).astype(np.uint8)
    labels[0] = n_labels - 1
    observed = reference.label_sums(labels)
    np.testing.assert_array_equal(fast.label_sums(labels), observed)
    permuted = np.stack([random.permutation(labels) for _ in range(30)])
    counts = []
    for one in (fast, reference):
        hits, draws = np.zeros(5, np.int64), np.zeros(5, np.int64)
        one.count_exceedances(np.array([0, 2, 4]), permuted, observed, 3, hits, draws)
        assert hits[1] == draws[1] == 0
        counts.append((hits.tolist(), draws.tolist()))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("other", ["numpy", pytest.param("eager cuda", marks=NEEDS_GPU)])
@pytest.mark.parametrize(
    "selector", [SLFS(), MRMR(6), JMI(6), CMIM(6), DISR(6), FCBF(), OSFS(), TAN()], ids=str
)
def test_a_whole_fit_is_the_same_to_the_bit(selector, other):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::3, :12], y[::3]
    fast = selector.fit(X, y).network_
    with use_backend(other):
        slow = selector.fit(X, y).network_
    for field in ("columns", "parents", "relevance", "mutual_information", "conditional_relevance"):
        np.testing.assert_array_equal(getattr(fast, field), getattr(slow, field))


@pytest.mark.parametrize("other", ["numpy", pytest.param("eager cuda", marks=NEEDS_GPU)])
def test_permutation_p_values_are_the_same(other):
    X, y = load_breast_cancer(return_X_y=True)
    expected = p_values(X[::5, :4], y[::5], n_permutations=60)
    with use_backend(other):
        np.testing.assert_array_equal(p_values(X[::5, :4], y[::5], n_permutations=60), expected)


# -- a backend of another package -------------------------------------------------------------------


class MatrixBackend(NumpyBackend):
    """Count pairs by products of indicator matrices."""

    def _indicators(self, f):
        return (self.codes(f)[:, np.newaxis] == np.arange(self.packed.arrays.levels[f])).astype(int)

    def joint_counts(self, f, k):
        classes = self.packed.layout.labels == np.arange(self.packed.layout.n_classes)[:, np.newaxis]
        one, other = self._indicators(f), self._indicators(k)
        return np.stack([one[member].T @ other[member] for member in classes])

    def pair_sums(self, f, others):
        nlogn = nlogn_table(self.packed.layout.n_samples).table
        tables = [self.joint_counts(f, k) for k in others.tolist()]
        sums = [[nlogn[t.sum(axis=0)].sum(), nlogn[t].sum()] for t in tables]
        return np.array(sums, np.int64).reshape(-1, 2)


def test_a_backend_from_outside():
    X, y = load_breast_cancer(return_X_y=True)
    expected = SLFS().fit(X[:, :10], y)
    register_backend("matrix", MatrixBackend)
    with use_backend("matrix"):
        found = SLFS().fit(X[:, :10], y)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    assert str(found.features_[0]) == str(expected.features_[0])  # as text, NaN equals NaN


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match=r"Unknown counting backend 'cuda9'\. Available: numba"):
        use_backend("cuda9").__enter__()
