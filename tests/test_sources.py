"""Tables whose columns stay in files: the same results as in memory."""

import gzip
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone

from slfs import MRMR, SLFS, MDLPDiscretizer
from slfs.files import NpyColumns, ParquetColumns
from slfs.files.reading import read_file


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    columns = {f"n{j}": y * (j % 5 == 0) + random.normal(size=300) for j in range(40)}
    columns["whole"] = y * 2 + random.integers(0, 3, 300)
    columns["flag"] = (y > 0) ^ (random.random(300) < 0.1)
    columns["text"] = np.where(random.random(300) < 0.2, None, np.array(["a", "b", "c"])[y])
    columns["group"] = pd.Categorical(np.array(["u", "v"])[(y > 1) * 1])
    frame = pd.DataFrame(columns)
    frame.loc[::9, "n0"] = np.nan
    frame["nullable"] = pd.array(np.where(np.arange(300) % 7, y, 0), dtype="Int64")
    frame.loc[::11, "nullable"] = pd.NA
    return frame.assign(label=np.array(["x", "y", "z"])[y])


@pytest.fixture
def path(frame, tmp_path):
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=77)
    return tmp_path / "table.parquet"


@pytest.mark.parametrize(
    "selector", [SLFS(), SLFS(order="given", n_jobs=2), MRMR(n_features_to_select=5)], ids=str
)
def test_a_file_gives_the_same_results_as_its_table(selector, path, frame):
    source = ParquetColumns(path, drop=["label"])
    X, y = frame.drop(columns="label"), frame["label"].to_numpy()
    np.testing.assert_array_equal(source.read("label"), y)
    inside, outside = clone(selector).fit(X, y), clone(selector).fit(source, y)
    assert outside.network_.names == inside.network_.names
    np.testing.assert_array_equal(outside.features_["relevance"], inside.features_["relevance"])
    np.testing.assert_array_equal(outside.feature_names_in_, inside.feature_names_in_)
    pd.testing.assert_frame_equal(outside.transform(source), X.loc[:, inside.support_])
    predicted = outside.to_classifier().predict_proba(source)
    np.testing.assert_array_equal(predicted, inside.to_classifier().predict_proba(X))


def test_the_index_of_a_dataframe_is_not_a_column(frame, tmp_path):
    path = tmp_path / "indexed.parquet"
    frame.set_index(np.arange(300) * 3 + 1).to_parquet(path)
    source = ParquetColumns(path, drop=["label"])
    assert source.names == [name for name in frame.columns if name != "label"]
    fitted = SLFS().fit(source, frame["label"])
    assert fitted.transform(source).shape == (300, fitted.n_features_)


class WatchedColumns(ParquetColumns):
    """Remember which columns were asked for together."""

    def __init__(self, path, drop):
        self.asked = []
        super().__init__(path, drop=drop)

    def number_block(self, columns, order):
        self.asked.append(columns.tolist())
        return super().number_block(columns, order)

    def label_block(self, column, order):
        self.asked.append([column])
        return super().label_block(column, order)


def test_each_column_is_read_once_and_in_blocks(path, frame):
    source = WatchedColumns(path, drop=["label"])
    MDLPDiscretizer().fit(source, frame["label"])
    assert sorted(column for block in source.asked for column in block) == list(range(source.n_features))
    assert max(map(len, source.asked)) < source.n_features


def test_wrong_columns_are_named(path, frame, tmp_path):
    source = ParquetColumns(path, drop=["label"])
    fitted = SLFS().fit(source, frame["label"])
    with pytest.raises(ValueError, match=r"do not match those seen in fit of SLFS: missing: \['n3'\]"):
        fitted.transform(source.without(["n3"]))
    with pytest.raises(ValueError, match="X has more columns or another order"):
        fitted.transform(ParquetColumns(path))
    with pytest.raises(ValueError, match=r"Cannot drop columns \['nothing'\]"):
        ParquetColumns(path, drop=["nothing"])
    with pytest.raises(ValueError, match="no column 'nothing'"):
        source.read("nothing")
    frame.assign(when=pd.Timestamp("2020-01-01")).to_parquet(tmp_path / "dates.parquet")
    dates = ParquetColumns(tmp_path / "dates.parquet")
    assert dates.date_names == ["when"]
    fitted = SLFS().fit(dates.without(["label"]), frame["label"])
    assert fitted.explain("when") == "'when' is dropped as irrelevant: it has a single value."
    frame[:0].to_parquet(tmp_path / "empty.parquet")
    empty = ParquetColumns(tmp_path / "empty.parquet")
    assert empty.shape == (0, frame.shape[1])
    with pytest.raises(ValueError, match="0 sample"):
        SLFS().fit(empty.without(["label"]), [])
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "narrow.parquet", index=False)
    with pytest.raises(ValueError, match="no columns"):
        ParquetColumns(tmp_path / "narrow.parquet")


def test_an_index_of_dates_is_not_a_column(frame, tmp_path):
    dated = frame.set_index(pd.date_range("2020", periods=len(frame), name="day"))
    dated.to_parquet(tmp_path / "a.parquet")
    source = ParquetColumns(tmp_path / "a.parquet", drop=["label"])
    assert "day" not in source.names
    plain = SLFS().fit(frame.drop(columns="label"), frame["label"])
    np.testing.assert_array_equal(SLFS().fit(source, frame["label"]).indices_, plain.indices_)


def test_a_parquet_table_can_be_sent_to_another_process(path, frame):
    source = ParquetColumns(path, drop=["label"])
    again = pickle.loads(pickle.dumps(source))
    assert again.names == source.names
    np.testing.assert_array_equal(again.read("n3"), frame["n3"])
    np.testing.assert_array_equal(again.categorical, source.categorical)


def test_dropping_columns_does_not_open_the_file_again(path, frame):
    source = ParquetColumns(path, drop=["label"])
    path.unlink()
    np.testing.assert_array_equal(source.without(["n3"]).read("n4"), frame["n4"])


def test_a_file_of_which_nothing_is_selected(path, frame, tmp_path):
    source = ParquetColumns(path, drop=["label"])
    assert source.take(np.array([], np.int64)).shape == (300, 0)
    noise = np.random.default_rng(0).integers(0, 2, 300)
    frame[["n1"]].assign(y=noise).to_parquet(tmp_path / "noise.parquet")
    file = read_file(str(tmp_path / "noise.parquet"), target="y")
    selector = SLFS().fit(file.X, file.y)
    assert selector.n_features_ == 0
    assert selector.transform(file.X).shape == (300, 0)


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
@pytest.mark.parametrize("limit", [None, "1e5"])
def test_text_in_any_encoding(encoding, limit, tmp_path, monkeypatch):
    if limit:
        monkeypatch.setenv("SLFS_MAX_BYTES", limit)  # read in pieces
    table = pa.table({"a": ["x", "yy", None] * 700, "b": np.arange(2100.0), "c": ["u", "v", "w"] * 700})
    parquet.write_table(
        table,
        tmp_path / "a.parquet",
        use_dictionary=["c"],
        column_encoding={"a": encoding},
        row_group_size=999,
    )
    source = ParquetColumns(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(source.take(np.array([0, 1, 2])), table.to_pandas())
    pd.testing.assert_frame_equal(source.take(np.array([2, 0])), table.select(["c", "a"]).to_pandas())


def test_no_columns_are_left(path, frame, tmp_path):
    np.save(tmp_path / "a.npy", np.eye(300, 2))
    for source in (
        ParquetColumns(path, drop=frame.columns.tolist()),
        NpyColumns(tmp_path / "a.npy", drop=["x0", "x1"]),
    ):
        with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(300, 0\)\)"):
            SLFS().fit(source, frame["label"])


def test_npy_files(tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    X = random.normal(size=(120, 30)) + y[:, np.newaxis] * (np.arange(30) % 4 == 0)
    path = tmp_path / "table.npy"
    np.save(path, np.column_stack([y, X]))
    table = NpyColumns(path, drop=["x0", "x3"])
    whole = SLFS().fit(np.delete(X, 2, axis=1), y)
    selector = SLFS().fit(table, table.read("x0"))
    np.testing.assert_array_equal(selector.support_, whole.support_)
    assert table.shape == (120, 29)
    assert selector.transform(table).columns.tolist() == selector.get_feature_names_out().tolist()
    model = selector.to_classifier()
    np.testing.assert_array_equal(
        model.predict(table), whole.to_classifier().predict(np.delete(X, 2, axis=1))
    )
    file = read_file(str(path), target="0", drop=["3"])
    assert isinstance(file.X, NpyColumns)
    np.testing.assert_array_equal(SLFS().fit(file.X, file.y).support_, whole.support_)
    packed = tmp_path / "table.npy.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = read_file(str(packed), target="0", drop=["3"])
    np.testing.assert_array_equal(SLFS().fit(again.X, again.y).support_, whole.support_)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(4), "expected a two-dimensional array of numbers"),
        (np.array([["a"]]), "expected a two-dimensional array of numbers"),
        (np.zeros((0, 3)), "no columns or no rows"),
    ],
)
def test_npy_files_that_are_not_tables(tmp_path, array, message):
    np.save(tmp_path / "table.npy", array)
    with pytest.raises(ValueError, match=message):
        read_file(str(tmp_path / "table.npy"))


def test_a_truncated_npy_file(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, np.eye(20))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"is damaged or not an npy file"):
        read_file(str(path))
    header = b"\x93NUMPY\x01\x00\x76\x00" + (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1180591620717411303424, 3), }".ljust(117)
    ) + b"\n"  # fmt: skip
    for content in (b"", b"PK\x03\x04 and more", b"\x93NUMPY", header, header.replace(b"}", b" ")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"table\.npy is damaged or not an npy file"):
            NpyColumns(path)
