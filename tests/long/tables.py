"""Hypothesis strategies: tables and labels of every kind that a user may give, valid or not.

A strategy draws shapes, kinds and seeds; the cells come from NumPy's generator and from pools of awkward
values. So an example costs a millisecond, and a failing one is small because its shape and kinds shrink.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

FLOATS = np.array(
    [
        0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 2.2e-308, 1e-300, 1e300,
        1.7976931348623157e308, -1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 2.0**63, 255.0, 256.0,
        1.0 + 2.0**-52, 0.1, 0.1 + 2.0**-55,
    ]
)  # fmt: skip
INTEGERS = np.array(
    [0, 1, -1, 2, 127, 128, 255, 256, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)], np.int64
)
TEXTS = [
    "", " ", "a", "A", "b", "é", "e\u0301", "naïve", "日本", "😀", "a\x00b", "\n", "\t,;", '"', "'",
    "<b>", "=1+1", "@x", "nan", "None", "1", "1.0", "\u202e", "x" * 300,
]  # fmt: skip
THINGS = [
    None, np.nan, pd.NA, True, False, 0, 1, 1.0, 2**70, -(2**70), Decimal("1.1"), Fraction(1, 3), "a",
    "1", "\ud800", b"a", np.float32(1.5), np.int64(7), (1, 2), pd.Interval(0, 1), 1e308, "é",
]  # fmt: skip
NUMBER_TYPES = [
    "f8", "f4", "f2", "g", ">f8", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">i4", "?",
]  # fmt: skip
FRAME_TYPES = [
    "float", "integer", "boolean", "text", "category", "unused", "ordered", "Int64", "Float64",
    "nullable boolean", "string", "things", "date", "missing", "constant", "many", "interval",
]  # fmt: skip

seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([*range(13), 5, 8, 10, 12, 20, 20, 33, 47, 64, 65, 90, 330])
widths = st.sampled_from([0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 16, 40])


def numbers(random, n, dtype):
    """Numbers of one type: small, large, special, or few distinct values."""
    dtype = np.dtype(dtype)
    way = random.integers(5)
    if dtype.kind == "b":
        return random.random(n) < random.random()
    if dtype.kind in "iu":
        if way == 0:
            return random.integers(0, 3, n).astype(dtype)
        if way == 1:
            return random.choice(INTEGERS, n).astype(dtype)
        if way == 2:
            return np.full(n, random.choice(INTEGERS)).astype(dtype)
        about = np.iinfo(dtype)
        return random.integers(about.min, about.max, n, dtype=dtype.newbyteorder("="), endpoint=True)
    with np.errstate(all="ignore"):
        if way == 0:
            return random.integers(0, 3, n).astype(dtype)
        if way == 1:
            return random.choice(FLOATS, n).astype(dtype)
        if way == 2:
            return np.full(n, random.choice(FLOATS)).astype(dtype)
        values = random.normal(size=n) * 10.0 ** random.integers(-320, 308)
        if way == 3:
            values[random.random(n) < 0.3] = np.nan
        return values.astype(dtype)


def things(random, n, pool):
    """Python values from a pool, some of which do not occur."""
    few = random.permutation(len(pool))[: random.integers(1, len(pool) + 1)]
    values = np.empty(n, object)
    for index, which in enumerate(few[random.integers(0, len(few), n)]):
        values[index] = pool[which]
    return values


def series(random, n, kind):
    """One column of a dataframe."""
    if kind == "float":
        return numbers(random, n, "f8")
    if kind == "integer":
        return numbers(random, n, "i8")
    if kind == "boolean":
        return numbers(random, n, "?")
    if kind == "text":
        return things(random, n, TEXTS)
    if kind == "category":
        return pd.Categorical(things(random, n, [*TEXTS, None]))
    if kind == "unused":
        return pd.Categorical(random.choice(["a", "b"], n), categories=["z", "b", "never", "a"])
    if kind == "ordered":
        return pd.Categorical(random.integers(0, 3, n), categories=[2, 1, 0, 9], ordered=True)
    if kind in ("Int64", "Float64"):
        missing = random.random(n) < 0.2
        values = numbers(random, n, "i8" if kind == "Int64" else "f8")
        return pd.array(
            [None if gone else v for gone, v in zip(missing, values, strict=True)], dtype=kind
        )
    if kind == "nullable boolean":
        return pd.array(things(random, n, [True, False, None]), dtype="boolean")
    if kind == "string":
        return pd.array(things(random, n, [*TEXTS, None]), dtype="string[python]")
    if kind == "things":
        return pd.Series(things(random, n, THINGS), dtype=object)
    if kind == "date":
        return pd.to_datetime(random.integers(0, 10**9, n), unit="s")
    if kind == "missing":
        return np.full(n, [None, np.nan, pd.NA][random.integers(3)], object)
    if kind == "constant":
        return np.full(n, 1.5)
    if kind == "many":
        return np.array([f"level {k}" for k in range(n)], object)
    return pd.Categorical(pd.cut(random.random(n), [0.0, 0.5, 1.0]))


def names(random, n):
    """Names of columns: ordinary, not strings, unusual, duplicated."""
    way = random.integers(5)
    if way == 0:
        return [f"x{j}" for j in range(n)]
    if way == 1:
        return list(range(n))
    if way == 2:
        return [("a", j) for j in range(n)]
    if way == 3:
        return [TEXTS[int(k)] for k in random.integers(0, len(TEXTS), n)]
    return [TEXTS[j % len(TEXTS)] + str(j // len(TEXTS) or "") for j in range(n)]


def laid_out(random, array):
    """The same numbers in another memory order, read-only, strided or reversed."""
    way = random.integers(6)
    if way == 0:
        array = np.asfortranarray(array)
    elif way == 1:
        wide = np.zeros((array.shape[0] * 2, array.shape[1] * 3), array.dtype)
        wide[::2, ::3] = array
        array = wide[::2, ::3]
    elif way == 2:
        array = array[::-1, ::-1]
    elif way == 3:
        array = array.copy()
        array.flags.writeable = False
    elif way == 4:
        array = (
            np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
        )
    return array


def sparse_table(random, n, p):
    """A sparse matrix, possibly unsorted, with explicit zeros and duplicate entries."""
    count = int(random.integers(0, n * p + 1)) if n * p else 0
    values = numbers(random, count, random.choice(["f8", "f4", "i8", "i4", "?"]))
    indices = (random.integers(0, max(n, 1), count), random.integers(0, max(p, 1), count))
    with np.errstate(all="ignore"):
        matrix = sparse.coo_array((values, indices), shape=(n, p))
        kind = random.choice(["coo", "csr", "csc", "lil", "dok", "matrix"])
        if kind == "matrix":
            return sparse.csr_matrix(matrix)
        return (
            matrix.asformat(kind)
            if kind in ("coo", "csr", "csc")
            else sparse.csr_array(matrix).asformat(kind)
        )


def make_table(seed, n, p, kind):
    """A table of the given kind; the same arguments give the same table."""
    random = np.random.default_rng(seed)
    if kind in NUMBER_TYPES:
        array = numbers(random, n * p, kind).reshape(n, p)
        return laid_out(random, array)
    if kind == "sparse":
        return sparse_table(random, n, p)
    if kind == "text":
        return things(random, n * p, TEXTS).reshape(n, p).astype(str)
    if kind == "objects":
        return things(random, n * p, THINGS).reshape(n, p)
    if kind == "lists":
        pool = random.choice(3)
        return things(random, n * p, [THINGS, TEXTS, [1, 2.5, None]][pool]).reshape(n, p).tolist()
    if kind == "wrong":
        wrong = [
            None,
            3,
            "a.csv",
            [],
            [[]],
            {},
            object(),
            np.zeros(n),
            np.zeros((n, 2, 2)),
            [[1], [1, 2]],
        ]
        return wrong[random.integers(len(wrong))]
    types = random.choice(FRAME_TYPES, p) if random.random() < 0.7 else [random.choice(FRAME_TYPES)] * p
    columns = [series(random, n, one) for one in types]
    frame = pd.DataFrame(dict(enumerate(columns)), index=range(n))
    frame.columns = pd.Index(names(random, p), tupleize_cols=False)
    if random.random() < 0.2:
        frame.index = random.integers(0, 3, n)
    return frame


KINDS = [*NUMBER_TYPES, "sparse", "text", "objects", "lists", "wrong", *["frame"] * 8]


def make_labels(seed, n, kind):
    """Class labels of the given kind."""
    random = np.random.default_rng(seed)
    few = random.integers(0, int(random.integers(2, 5)), n)
    if n > 1:
        few[:2] = [0, 1]
    if kind == "text":
        return np.array([TEXTS[2 + k] for k in few], object)
    if kind == "boolean":
        return few > 0
    if kind == "large":
        return few + (2**53)
    if kind == "floats":
        return few.astype(float)
    if kind == "categorical":
        return pd.Series(pd.Categorical.from_codes(few, ["a", "b", "c", "d", "never"]), name="y")
    if kind == "each":
        return np.arange(n)
    if kind == "wrong":
        wrong = [
            None, few[:-1], np.zeros(n), random.normal(size=n), np.full(n, np.nan), few[:, np.newaxis],
            things(random, n, THINGS), "y", np.stack([few, few], axis=1), [], pd.Series(few, name=3),
            few.astype("M8[s]"), few.astype(complex), np.where(few > 0, np.inf, 1.0),
        ]  # fmt: skip
        return wrong[random.integers(len(wrong))]
    return few


LABELS = ["integers", "integers", "text", "boolean", "large", "floats", "categorical", "each", "wrong"]


@st.composite
def tables(draw, *, wrong=True):
    """(X, y): a table and its labels."""
    n, p, seed = draw(sizes), draw(widths), draw(seeds)
    kind = draw(st.sampled_from(KINDS if wrong else [kind for kind in KINDS if kind != "wrong"]))
    label = draw(st.sampled_from(LABELS if wrong else LABELS[:-1]))
    return make_table(seed, n, p, kind), make_labels(seed, n, label)
