"""All kinds of tables: the same data give the same selection, bad data an error with a remedy."""

import subprocess
import sys
import warnings
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from slfs import BNSLFS, MRMR, SLFS, MDLPDiscretizer
from slfs._compat import safe_indexing
from slfs.coding.level_names import level_names
from slfs.files import NpyColumns, ParquetColumns
from slfs.saving import load, save
from slfs.tables.arrays import indexable
from slfs.tables.frames import FrameTable, PandasTable
from slfs.tables.gather import gather
from slfs.tables.parts import Part, WithNoise
from slfs.tables.registry import read_table
from slfs.tables.table import dense_block, interleave


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda X: X.astype(object),
        lambda X: X.astype(">f8"),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.lil_array,
        pd.DataFrame,
        lambda X: pd.DataFrame(X).convert_dtypes(),
        lambda X: pl.DataFrame(X),
        lambda X: pl.DataFrame(X).to_arrow(),
    ],
    ids=[
        "fortran order", "lists", "objects", "big-endian", "strided", "csr", "csc", "lil", "pandas",
        "pandas nullable", "polars", "arrow",
    ],
)  # fmt: skip
def test_containers_of_numbers_agree(convert, cancer):
    X, y = cancer
    expected, found = SLFS().fit(X, y), SLFS().fit(convert(X), y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.features_.relevance, expected.features_.relevance)
    probabilities = BNSLFS().fit(convert(X), y).predict_proba(convert(X))
    np.testing.assert_array_equal(probabilities, BNSLFS().fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?"]
)
def test_types_of_numbers_agree(dtype, cancer):
    X, y = cancer
    levels = (np.median(X, axis=0) < X).astype(dtype)
    expected = SLFS(categorical_features="all").fit(levels.astype(float), y)
    np.testing.assert_array_equal(
        SLFS(categorical_features="all").fit(levels, y).support_, expected.support_
    )
    assert 0 < expected.n_features_ < 30


def test_memory_map(tmp_path, cancer):
    X, y = cancer
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    selector = SLFS().fit(mapped, y)
    np.testing.assert_array_equal(selector.support_, SLFS().fit(X, y).support_)
    np.testing.assert_array_equal(selector.transform(mapped), X[:, selector.support_])


@pytest.mark.parametrize(
    "convert", [np.asarray, sparse.csr_array, pd.DataFrame, lambda X: X.astype(object)]
)
@pytest.mark.parametrize("columns", [[0, 2, 1, 3], [3, 0], [2], [1, 2, 3]])
def test_blocks_have_the_requested_columns_in_order(convert, columns):
    X = np.random.default_rng(0).normal(size=(7, 5))
    order = np.array([3, 1, 0, 2, 6, 5, 4])
    block = read_table(convert(X)).number_block(np.array(columns), order)
    found = np.zeros((len(columns), 7))
    for j in range(len(columns)):
        own = slice(block.indptr[j], block.indptr[j + 1])
        found[j, slice(None) if block.sample is None else block.sample[own]] = block.value[own]
    np.testing.assert_array_equal(found, X[order][:, columns].T)


KINDS = [
    "array", "small", "strided", "sparse", "pandas", "polars", "arrow", "objects", "parquet", "npy",
    "part", "noise", "dask", "dask frame",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_order_means_the_rows_as_they_are(kind, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 4)) * (random.random((30, 4)) < 0.7)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=list("xyz") * 10)
    frame.to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", X)
    make = {
        "array": lambda: X,
        "small": lambda: (X > 0).astype(np.int8),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2, ::-1],
        "sparse": lambda: sparse.csr_array(X),
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.table(frame),
        "objects": lambda: frame.to_numpy(dtype=object),
        "parquet": lambda: ParquetColumns(tmp_path / "a.parquet"),
        "npy": lambda: NpyColumns(tmp_path / "a.npy"),
        "part": lambda: Part(read_table(frame), ["d", "e"], np.arange(20)[::-1], np.array([3, 4])),
        "noise": lambda: WithNoise(read_table(frame), list(frame), random),
        "dask": lambda: pytest.importorskip("dask.array").from_array(X, chunks=(10, 3)),
        "dask frame": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2),
    }
    table = read_table(make[kind]())
    order, numbers = np.arange(table.n_samples), np.flatnonzero(table.numbers)
    found, expected = table.number_block(numbers, None), table.number_block(numbers, order)
    assert found.n_samples == expected.n_samples == table.n_samples
    np.testing.assert_array_equal(found.dense(), expected.dense())
    for column in range(table.n_features):
        found, expected = table.label_block(column, None), table.label_block(column, order)
        assert (found.values, found.name) == (expected.values, expected.name)
        np.testing.assert_array_equal(found.missing, expected.missing)


def test_rows_as_they_are_need_no_numba():
    code = """
import sys
import numpy as np
from slfs.tables import read_table
X = np.arange(12.0).reshape(4, 3)
assert read_table(X).number_block(np.array([2, 0]), None).dense().tolist() == X[:, [2, 0]].T.tolist()
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.ndarray.tolist,
        sparse.coo_array,
        sparse.dia_matrix,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pl.DataFrame(X).to_arrow(),
        lambda X: nw.from_native(pl.DataFrame(X)),
    ],
)
def test_rows_and_columns_of_any_table(convert):
    X = np.arange(24.0).reshape(6, 4)
    rows, columns = np.array([4, 0, 5]), np.array([3, 1])
    part = safe_indexing(safe_indexing(indexable(convert(X)), rows), columns, axis=1)
    found = part.toarray() if sparse.issparse(part) else np.asarray(part)
    np.testing.assert_array_equal(found, X[rows][:, columns])


def mixed(n_samples=300, seed=0):
    """Columns of every kind, each relevant and with missing values."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_samples)
    noisy = np.where(random.random(n_samples) < 0.75, y, random.integers(0, 3, n_samples))
    missing = random.random((n_samples, 5)) < 0.1
    number = y + random.normal(size=n_samples) / 2
    return y, {
        "float": [None if gone else float(v) for v, gone in zip(number, missing[:, 0], strict=True)],
        "int": [None if gone else int(v) for v, gone in zip(noisy * 7, missing[:, 1], strict=True)],
        "bool": [None if gone else bool(v == 1) for v, gone in zip(noisy, missing[:, 2], strict=True)],
        "text": [None if gone else "abc"[v] for v, gone in zip(noisy, missing[:, 3], strict=True)],
        "category": [None if gone else "xyz"[v] for v, gone in zip(noisy, missing[:, 4], strict=True)],
    }


def mixed_tables():
    y, columns = mixed()
    objects = np.array(list(columns.values()), dtype=object).T
    pandas = pd.DataFrame(
        {
            "float": pd.Series(columns["float"], dtype="float64"),
            "int": pd.array(columns["int"], dtype="Int64"),
            "bool": pd.array(columns["bool"], dtype="boolean"),
            "text": pd.Series(columns["text"], dtype="string"),
            "category": pd.Categorical(columns["category"]),
        }
    )
    polars = pl.DataFrame(columns).with_columns(pl.col("category").cast(pl.Categorical))
    arrow = polars.to_arrow()
    return y, {
        "objects": objects,
        "lists": objects.tolist(),
        "pandas": pandas,
        "pandas objects": pd.DataFrame(columns, dtype=object),
        "polars": polars,
        "arrow": arrow,
        "enum": polars.with_columns(pl.col("category").cast(pl.Enum(["z", "y", "x"]))),
    }


@pytest.mark.parametrize("kind", ["lists", "pandas", "pandas objects", "polars", "arrow", "enum"])
def test_mixed_tables_with_missing_values_agree(kind):
    y, tables = mixed_tables()
    expected = SLFS().fit(tables["objects"], y).features_
    found = SLFS().fit(tables[kind], y)
    np.testing.assert_array_equal(found.features_.n_levels, expected.n_levels)
    np.testing.assert_array_equal(found.features_.relevance, expected.relevance)
    np.testing.assert_array_equal(found.features_.role, expected.role)
    assert found.features_.n_levels.tolist()[2:] == [3, 4, 4], "missing values are a level"
    reference = BNSLFS().fit(tables["objects"], y).predict_log_proba(tables["objects"])
    np.testing.assert_array_equal(
        BNSLFS().fit(tables[kind], y).predict_log_proba(tables[kind]), reference
    )


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: np.array(["no", "yes"])[y],
        lambda y: y.astype(bool),
        lambda y: y * 2 - 1,
        lambda y: y.astype(float),
        lambda y: y.astype(str).astype(object),
        lambda y: y.astype(object),
        lambda y: y.astype(bool).astype(object),
        lambda y: pd.Series(y, index=range(1000, 1000 + len(y))),
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Categorical.from_codes(y, ["no", "yes"]),
        lambda y: pl.Series("target", y),
        lambda y: pa.chunked_array([y]),
        np.ndarray.tolist,
    ],
)
def test_kinds_of_labels(labels, cancer):
    X, y = cancer
    expected, classifier = SLFS().fit(X, y), BNSLFS().fit(X, labels(y))
    np.testing.assert_array_equal(classifier.selector_.support_, expected.support_)
    assert len(classifier.classes_) == 2
    assert np.mean(classifier.predict(X) == np.asarray(labels(y))) > 0.95


DATES = pd.date_range("2020-01-01", periods=6)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            pd.DataFrame({"when": [DATES[0].date(), "soon"] * 3}),
            r"'when' of X mixes dates or times with other values \(date, str\). Convert all",
        ),
        (pl.DataFrame({"list": [[1]] * 6}), "'list' of X has type List.*Expand it into several columns"),
        (
            pd.DataFrame(np.eye(6, 3), columns=["a", "b", "a"]),
            r"duplicate column names: \['a'\]. Rename",
        ),
        (np.ones((6, 2), complex), "Complex data not supported"),
        (np.ones(6), "Expected 2D array, got 1D array"),
        (np.ones((6, 0)), r"0 feature\(s\)"),
        (pd.DataFrame(index=range(6)), r"0 feature\(s\)"),
        (np.ones((5, 2)), "X has 5 rows, y has 6 labels"),
        (pl.DataFrame({"a": [1.0]}), r"1 sample\(s\) .* minimum of 2"),
    ],
)
@pytest.mark.parametrize("estimator", [SLFS(), BNSLFS(), MDLPDiscretizer()])
def test_errors_of_bad_tables_give_a_remedy(X, message, estimator):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, [0, 1] * 3)


@pytest.mark.parametrize("dtype", [float, int, bool])
def test_sparse_columns_of_pandas_are_those_of_dense_ones(dtype):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    words = pd.Series(np.where(random.random(300) < 0.7, y, random.integers(0, 6, 300))).astype(str)
    X = pd.get_dummies(words, sparse=True, dtype=dtype).assign(number=random.normal(size=300) + y)
    dense = X.apply(lambda column: column.sparse.to_dense() if column.name != "number" else column)
    assert all(isinstance(kind, np.dtype) for kind in dense.dtypes)
    found, expected = (BNSLFS().fit(table, y) for table in (X, dense))
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(dense))
    np.testing.assert_array_equal(found.selector_.transform(X), expected.selector_.transform(dense))


@pytest.mark.parametrize("path", ["table.csv", Path("table.csv")])
def test_a_path_is_not_a_table(path):
    with pytest.raises(TypeError, match=r"X is a path .*'table.csv'.*read_file"):
        SLFS().fit(path, [0, 1])
    selector = SLFS().fit([[0], [1]] * 5, [0, 1] * 5)
    with pytest.raises(TypeError, match="X is a path"):
        selector.transform(path)


def test_cells_of_unsupported_types():
    X = np.array([["a", "x"], ["b", []], ["b", "x"]] * 2, dtype=object)
    with pytest.raises(TypeError, match=r"column 1 of X has a cell of type list, .*Expand such cells"):
        SLFS().fit(X, [0, 1] * 3)


def test_frames_without_columns_to_look_up():
    """Record batches were read as arrays, so that columns in another order gave wrong predictions."""
    X = pl.DataFrame({"a": [1, 2] * 20, "b": [1, 1] * 20})
    y = [0, 1] * 20
    selector = SLFS().fit(X, y)
    (batch,) = X.to_arrow().to_batches()
    for call in (lambda frame: SLFS().fit(frame, y), selector.transform, BNSLFS().fit(X, y).predict):
        with pytest.raises(TypeError, match=r"lazy frame.*X.collect"):
            call(X.lazy())
        for frame in (batch, pa.RecordBatchReader.from_batches(batch.schema, [batch])):
            with pytest.raises(TypeError, match=r"Pass it as a table: pyarrow\.table\(X\)"):
                call(frame)
            call(pa.table(frame))


@pytest.mark.parametrize("choice", ["all", "from_dtype"])
@pytest.mark.parametrize("kind", [float, int, bool, np.float32, object, str])
def test_a_mask_means_missing(kind, choice):
    values = np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 20).astype(kind)
    mask = np.zeros((80, 2), bool)
    mask[::3, 0] = mask[10:20, 1] = True
    missing = values.astype(object)
    missing[mask] = None
    y, plain, masked = np.arange(80) % 2, SLFS(), SLFS()
    plain.set_params(categorical_features=choice).fit(missing, y)
    masked.set_params(categorical_features=choice).fit(np.ma.array(values, mask=mask), y)
    np.testing.assert_array_equal(masked.features_["relevance"], plain.features_["relevance"])
    np.testing.assert_array_equal(masked.features_["entropy"], plain.features_["entropy"])
    unmasked = SLFS().fit(np.ma.array(values), y)
    np.testing.assert_array_equal(unmasked.indices_, SLFS().fit(values, y).indices_)


def test_a_mask_does_not_hide_unsupported_types():
    X = np.ma.array([[1j], [1j]] * 5, mask=[[True], [False]] * 5)
    with pytest.raises(ValueError, match="Complex data not supported"):
        SLFS().fit(X, [0, 1] * 5)


def test_masked_dates_are_missing():
    dates = np.ma.array(DATES.to_numpy().reshape(-1, 1), mask=[[True], [False]] * 3)
    values = read_table(dates).number_block(np.array([0]), None).value
    assert np.isnan(values).tolist() == [True, False] * 3


def test_labels_and_names_of_new_types():
    X, text = np.arange(40.0).reshape(20, 2), np.array(["a", "b"] * 10)
    expected = SLFS(categorical_features="all").fit(X % 3, text)
    for y in (text.astype(np.dtypes.StringDType()), pl.Series(text), pa.chunked_array([text])):
        found = SLFS(categorical_features="all").fit(X % 3, y)
        assert found.classes_.tolist() == ["a", "b"]
        np.testing.assert_array_equal(found.indices_, expected.indices_)
    names = np.array(["u"], np.dtypes.StringDType())
    frame = pd.DataFrame(X % 3, columns=["u", "v"])
    assert MDLPDiscretizer(categorical_features=names).fit(frame, text).n_levels_[0] > 1
    wide = pl.DataFrame(
        {"a": [2**100, 5] * 10, "b": [1, None] * 10}, schema={"a": pl.Int128, "b": pl.Int128}
    )
    assert SLFS().fit(wide, wide["b"].fill_null(0)).n_features_in_ == 2
    one = SLFS().fit(wide.select("a"), (wide["a"] > 5).cast(pl.Int128))
    assert one.classes_.tolist() == [0, 1]
    assert one.n_features_ == 1


@pytest.mark.parametrize("cell", [np.timedelta64(3, "D"), np.datetime64("2020-01-01")])
def test_numpy_times_in_object_arrays(cell):
    table = read_table(
        np.array([[cell], [2 * (cell - type(cell)(0, "D")) + type(cell)(0, "D")]], object)
    )
    first, second = table.number_block(np.array([0]), None).value
    assert second == 2 * first > 0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0] * 6, r"y contains only one class \(0\).*Pass samples of at least two classes"),
        (
            [0, 1, np.nan, 1, 0, np.nan],
            "Input y contains NaN: 2 missing label.*first in row 2 .rows count from 0.. Drop",
        ),
        (["a", None, "b", "a", "b", "b"], "Input y contains NaN: 1 missing label.*row 1"),
        (pd.array([0, 1, pd.NA, 1, 0, 1], dtype="Int64"), "Input y contains NaN: 1 missing"),
        (pl.Series([0, 1, None, 1, 0, 1]), "Input y contains NaN: 1 missing"),
        (np.eye(6, 2), "y should be a 1d array, got an array of shape"),
        ([np.inf, 0, 1, 0, 1, 0], "Input y contains infinity"),
        (None, "requires y to be passed"),
        (np.array([1, "a", 2.5, 1, "a", 1], dtype=object), "types float, int, str. Pass labels of one"),
        (DATES, "y has dtype datetime64"),
        (pd.Series(pd.cut(np.arange(6), 2)), "y has labels of the type Interval. Pass .*map.str, y"),
        (np.ma.array([0, 1] * 3, mask=[0, 0, 1, 0, 0, 0]), "Input y contains NaN: 1 missing.*row 2"),
        (np.ma.array(["a", "b"] * 3, mask=[0, 1] + [0] * 4), "Input y contains NaN: 1 missing.*row 1"),
    ],
)
@pytest.mark.parametrize("estimator", [SLFS(), BNSLFS(), MDLPDiscretizer()])
def test_errors_of_bad_labels_give_a_remedy(y, message, estimator):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.arange(12.0).reshape(6, 2), y)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (["b", "nope"], r"names columns that X does not have: \['nope'\]. X has 2 columns: 'a', 'b'\."),
        ([True], r"has shape \(1,\); expected \(2,\)"),
        ([2], "has the index 2; X has columns 0 to 1"),
        ([-1, 1], "has the index -1; X has columns 0 to 1"),
        ([0.7], "has the index 0.7; X has columns 0 to 1"),
        ("some", "The 'categorical_features' parameter of SLFS"),
    ],
)
def test_bad_choices_of_categorical_columns(choice, message):
    frame = pd.DataFrame({"a": range(6), "b": [0, 1] * 3})
    with pytest.raises(ValueError, match=message):
        SLFS(categorical_features=choice).fit(frame, [0, 1] * 3)


def test_categorical_columns_by_mask_index_and_name():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.integers(0, 5, 200), "b": random.integers(0, 5, 200)})
    y = (frame["a"] % 2).to_numpy()
    for choice in (["a"], [0], [True, False], np.array([True, False])):
        features = SLFS(categorical_features=choice).fit(frame, y).features_
        assert features.n_levels.tolist() == [5, 1]


def test_identifiers_are_dropped_without_a_warning():
    y = [0, 1] * 50
    x = np.where(np.arange(100) < 90, y, 0)
    frame = pd.DataFrame({"x": x, "id": [f"patient {i}" for i in range(100)]})
    selector = SLFS().fit(frame, y)
    assert selector.features_.reason.tolist() == ["selected", "one group"]


def test_no_warning_for_ordinary_tables(cancer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BNSLFS().fit(*cancer).predict(cancer[0])


def test_constant_and_missing_columns_are_irrelevant():
    X = np.column_stack([np.ones(50), np.full(50, np.nan), np.arange(50) % 2, np.arange(50)])
    features = SLFS().fit(X, np.arange(50) % 2).features_
    assert features.role.tolist() == ["irrelevant", "irrelevant", "strongly relevant", "irrelevant"]
    assert features.reason.tolist()[0] == "constant"
    assert features.reason.tolist()[3] == "no cut"


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_unseen_values_never_break_a_prediction():
    y, tables = mixed_tables()
    classifier = BNSLFS().fit(tables["pandas"], y)
    strange = pd.DataFrame(
        {
            "float": [np.inf, -np.inf, np.nan],
            "int": pd.array([10**9, -5, None], dtype="Int64"),
            "bool": pd.array([None, True, False], dtype="boolean"),
            "text": ["never seen", None, ""],
            "category": pd.Categorical(["new", None, "x"]),
        }
    )
    probabilities = classifier.predict_proba(strange)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_the_sparse_matrix_of_the_user_is_not_modified():
    indices = np.array([2, 0, 1, 0, 1, 1])  # out of order and with a duplicate
    matrix = sparse.csc_matrix((np.ones(6), indices, [0, 3, 6]), shape=(6, 2))
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    found = MDLPDiscretizer(categorical_features="all").fit(matrix, [0, 1, 1, 0, 0, 0])
    assert found.n_levels_.tolist() == [2, 3]
    np.testing.assert_array_equal(matrix.indices, indices)
    assert found.transform(matrix).tolist() == [[1, 1], [1, 2], [1, 0], *[[0, 0]] * 3]


DRIFT = {
    "number": ([1.5, 2.5, None, 9.5], [[1.5], ["2.5"], [None], [True]]),
    "text": (["a", "b", None, "c"], [["a"], [3], [None], [[]]]),
    "mixed": (["a", 1, None, "c"], [["a"], [1], [None], [1.0]]),
    "flag": ([True, False, None, True], [[True], [False], [None], [0]]),
}


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("name", DRIFT)
def test_later_tables_are_read_like_the_one_seen_in_fit(name):
    """A value means what it meant in fit, alone or in a batch, whatever the type of the table."""
    values, later = DRIFT[name]
    X = np.array(values * 30, dtype=object).reshape(-1, 1)
    y = np.array([0, 1, 2, 0] * 30)
    classifier = BNSLFS(SLFS(irrelevance="reversed")).fit(X, y)
    assert classifier.selector_.n_features_ == 1
    batch = np.empty((4, 1), dtype=object)
    batch[:, 0] = [row[0] for row in later]
    together = classifier.predict_log_proba(batch)
    for i in range(4):
        np.testing.assert_array_equal(classifier.predict_log_proba(batch[[i]])[0], together[i])
        frame = pd.DataFrame({"x": batch[[i], 0]}, dtype=object)
        alone = BNSLFS(SLFS(irrelevance="reversed")).fit(X, y).predict_log_proba(frame.to_numpy())
        np.testing.assert_array_equal(alone[0], together[i])
    expected = classifier.predict_log_proba(X[:4])
    np.testing.assert_array_equal(together[0], expected[0])
    np.testing.assert_array_equal(together[2], expected[2], "missing")


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_dataframes_whose_types_change():
    y = np.array([0, 1, 2] * 40)
    frame = pd.DataFrame({"a": y + 0.5, "s": np.array(list("xyz"))[y], "k": pd.Categorical(y)})
    classifier = BNSLFS(SLFS(max_depth=1, relevance_weight=0, irrelevance="printed")).fit(frame, y)
    row = pd.DataFrame([{"a": None, "s": "x", "k": 0}])
    assert np.isfinite(classifier.predict_proba(row)).all()
    assert np.isfinite(classifier.predict_proba(pl.DataFrame({"a": [None], "s": ["x"], "k": [0]}))).all()
    plain = frame.assign(k=y)
    np.testing.assert_array_equal(classifier.predict_proba(plain), classifier.predict_proba(frame))
    codes = MDLPDiscretizer().fit(frame, y)
    np.testing.assert_array_equal(codes.transform(plain), codes.transform(frame))


def test_types_of_object_columns_follow_from_all_values():
    from decimal import Decimal

    y = np.array([0, 1] * 150)
    late = pd.Series([None] * 100 + (y[100:] + 0.5).tolist(), dtype=object)
    frame = pd.DataFrame(
        {
            "late": late,
            "na": pd.Series([pd.NA, 1, 2] * 100, dtype=object),
            "exact": pd.Series([Decimal(v) for v in y.tolist()], dtype=object),
            "huge": pd.Series([10**400, -(10**400)] * 150, dtype=object),
        }
    )
    discretizer = MDLPDiscretizer().fit(frame, y)
    assert discretizer.n_levels_.tolist() == [3, 2, 2, 2]
    empty = pl.DataFrame({"none": [None] * 300, "y": y})
    assert SLFS().fit(empty, y).features_.reason[0] == "all missing"


def test_booleans_stay_categorical_beside_chosen_columns():
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 60)
    frame = pd.DataFrame(
        {"k": random.integers(0, 3, 60), "flag": (y + (random.random(60) < 0.3)) % 2 == 1}
    )
    for choice in ("from_dtype", ["k"], [0], [True, False]):
        features = SLFS(categorical_features=choice).fit(frame, y).features_
        assert features.n_levels[1] == 2
        assert features.relevance[1] > 0


def test_rows_in_lists_keep_their_types():
    rows = [[1.25, "x"], [2.5, "y"]] * 20
    assert safe_indexing(indexable(rows), np.array([1])).tolist() == [[2.5, "y"]]
    selector = MRMR(n_features_to_select=2).fit(rows, [0, 1] * 20)
    assert selector.transform(rows)[0].tolist() == [1.25, "x"]


def test_a_frame_of_one_column_as_labels(cancer):
    X, y = cancer
    with pytest.warns(Warning, match="column-vector"):
        selector = SLFS().fit(X, pd.DataFrame({"name": y}))
    assert selector.network_.class_name == "class"


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from(["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u8", "f2", "f4", "f8", ">i4"]),
    st.sampled_from(["C", "F", "strided"]),
    st.sampled_from([(0, 2), (0, 256), (-3, 4), (0, 257)]),
)
def test_columns_become_rows_whatever_type_and_memory_order(seed, n_rows, dtype, layout, span):
    random = np.random.default_rng(seed)
    numbers = random.integers(*span, (2 * n_rows, 18)).astype(dtype)
    source = numbers[::2, ::2] if layout == "strided" else np.array(numbers[:n_rows], order=layout)
    order = random.permutation(n_rows)
    for columns in (np.arange(2, 7), np.array([4, 1, 7]), np.array([3]), np.arange(0)):
        rows = gather(source, columns, order)
        np.testing.assert_array_equal(rows, source[order][:, columns].T)
        small = source.dtype.kind in "biu" and source.dtype not in ("u2", "u8", ">i4")
        if small and rows.min(initial=0) >= 0 and rows.max(initial=0) < 256:
            assert rows.dtype == np.uint8
        else:
            assert rows.dtype == np.float64


def test_pandas_numbers_are_read_together_with_the_same_result():
    """NumPy columns of a dataframe of several types: as the columns one by one."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "float": random.normal(size=30),
            "text": list("abc") * 10,
            "int": random.integers(0, 3, 30),
            "flag": random.random(30) < 0.5,
            "date": pd.date_range("2020-01-01", periods=30),
            "nullable": pd.array([1, None, 3] * 10, dtype="Int64"),
            "small": random.normal(size=30).astype(np.float32),
        }
    )
    found, expected = read_table(frame), FrameTable(nw.from_native(frame, eager_only=True))
    assert isinstance(found, PandasTable)
    np.testing.assert_array_equal(found.numbers, expected.numbers)
    np.testing.assert_array_equal(found.categorical, expected.categorical)
    order = random.permutation(30)
    for columns in ([0, 2, 6], [4, 5], [0, 4, 3, 5]):
        own, other = (table.number_block(np.array(columns), order) for table in (found, expected))
        np.testing.assert_array_equal(own.dense(), other.dense())
        np.testing.assert_array_equal(own.time_kinds(), other.time_kinds())
    for column in range(7):
        own, other = (table.label_block(column, order) for table in (found, expected))
        assert list(map(str, own.values)) == list(map(str, other.values))
        np.testing.assert_array_equal(own.missing, other.missing)
        assert own.name == other.name


@pytest.mark.parametrize("kind", ["numpy", "pandas", "nullable", "mixed", "polars", "arrow", "sparse"])
def test_levels_of_booleans_are_false_and_true(kind, tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    values = (random.random(200) < 0.2) ^ (y == 1)
    frame = pd.DataFrame({"flag": values, "other": values[::-1]})
    X = {
        "numpy": lambda: frame.to_numpy(),
        "pandas": lambda: frame,
        "nullable": lambda: frame.astype("boolean"),
        "mixed": lambda: frame.assign(number=random.normal(size=200), text="a"),
        "polars": lambda: pl.DataFrame(frame.to_dict("list")),
        "arrow": lambda: pa.table(frame.to_dict("list")),
        "sparse": lambda: sparse.csr_matrix(frame.to_numpy()),
    }[kind]()
    classifier = BNSLFS().fit(X, y)
    save(classifier, tmp_path / "model.slfs")
    for model in (classifier, load(tmp_path / "model.slfs")):
        found = model.explain_prediction(X)
        assert set(found.levels[:, 0]) == {"False", "True"}
        np.testing.assert_array_equal(found.levels[:, 0] == "True", values)
    if kind == "pandas":  # the values are compared as numbers, and other codes keep their names
        np.testing.assert_array_equal(model.predict(frame.astype(int)), model.predict(frame))
        codes = SLFS(categorical_features="all").fit(frame.astype(int), y)
        assert level_names(codes.network_counts_.coding, 0) == ["0", "1"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.period_range("2020-01", periods=30, freq="M"), r"period\[M\]"),
        (np.ones(30, complex), "complex128"),
    ],
)
def test_types_that_are_not_supported_are_named(values, kind):
    X = pd.DataFrame({"a": np.arange(30.0), "b": values})
    with pytest.raises(ValueError, match=f"The column 'b' of X has type {kind}, which is not supported"):
        SLFS().fit(X, np.arange(30) % 2)


def test_unknown_names_of_categorical_features():
    X = pd.DataFrame(np.eye(30, 15)).add_prefix("column_")
    y = np.arange(30) % 2
    with pytest.raises(ValueError, match=r"not have: \['colum_7'\]. Did you mean 'column_7' or"):
        SLFS(categorical_features=["colum_7"]).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 15 columns: 'column_0', .*'column_9', \.\.\.\.$"):
        SLFS(categorical_features=["zzz"]).fit(X, y)
    with pytest.raises(ValueError, match=r"X has no column names\. Use indices, 0 to 14\.$"):
        SLFS(categorical_features=["zzz"]).fit(X.to_numpy(), y)


@pytest.mark.parametrize("kinds", ["dd", "ds", "sd", "ss", "bd", "bb"])
@pytest.mark.parametrize("n_samples", [0, 5])
def test_columns_of_two_blocks_are_joined_in_any_order(kinds, n_samples):
    """Blocks are dense (d), sparse (s) or bytes (b)."""
    from_second = np.array([True, False, False, True, False])
    values = np.random.default_rng(0).integers(0, 3, (5, n_samples)).astype(float)

    def block(kind, own):
        if kind == "s":
            return read_table(sparse.csc_array(own.T), min_samples=0).number_block(
                np.arange(len(own)), None
            )
        time_kind = np.arange(len(own), dtype=np.int8) % 2
        return dense_block(own.astype(np.uint8) if kind == "b" else own, time_kind)

    parts = block(kinds[0], values[~from_second]), block(kinds[1], values[from_second])
    joined = interleave(*parts, from_second)
    np.testing.assert_array_equal(joined.dense(), values)
    for own, mask in zip(parts, (~from_second, from_second), strict=True):
        np.testing.assert_array_equal(joined.time_kinds()[mask], own.time_kinds())
    assert (joined.sample is not None) == (kinds == "ss")
    assert (joined.value.dtype == np.uint8) == (kinds == "bb")
