"""A short run of `make fuzz`, and regression tests for the faults that it has found."""

import gzip
import io
import zipfile
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse

from slfs import MRMR, OSFS, SLFS, AlphaInvesting, Chi2, NaiveBayes
from slfs.files import ParquetColumns
from slfs.files.limits import max_bytes
from slfs.files.reading import read_file
from slfs.saving import ModelFileError, load
from tests.long import files
from tests.long.fuzz import WAYS, run_way


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_every_way_in(name):
    run_way(name, 100, seed=0)


@pytest.mark.parametrize("path", files.stored(), ids=lambda path: path.name)
def test_the_stored_files(path):
    files.try_file(path)


def test_the_corpus_can_be_read():
    """Otherwise the fuzzer would change files that are rejected anyway."""
    kinds = ("plain", "packed", "dense")
    read = [path for path in files.stored() if path.name.split(".")[0] in kinds]
    read = [path for path in read if path.suffix not in (".bim", ".fam")]  # read with the .bed file
    assert len(read) >= 9
    for path in read:
        assert read_file(str(path)).X.shape[0] == 30, path.name


def test_the_stored_models_can_be_loaded():
    """If this fails after a change of the format, run `python -m tests.long.models`."""
    stored = {path.stem: path for path in files.stored() if path.suffix == ".slfs"}
    with pytest.raises(ModelFileError, match="a table does not contain probabilities"):
        load(stored.pop("forged-probability"))
    found = {name: type(load(path)).__name__ for name, path in stored.items()}
    assert found == {
        "chi2": "Chi2",
        "classifier": "BNSLFS",
        "discretizer": "MDLPDiscretizer",
        "levels": "NaiveBayes",
        "selector": "SLFS",
        "tan": "TAN",
    }


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("indices", [0, 1, 2, 3, 4, 10**6]),
        ("indices", [0, 1, -1, 3, 4, 5]),
        ("indices", [0, 1, 2]),
        ("data", [1.0, 1.0]),
        ("indptr", [0, 1, 2, 3, 4, 5, 7]),
        ("indptr", [0, 1, 2, 9, 4, 5, 6]),
        ("indptr", [0, 1, -1, 3, 4, 5, 6]),
        ("indptr", [1, 1, 2, 3, 4, 5, 6]),
        ("indptr", [0, 1, 2, 3, 4, 5, 0]),
        ("indptr", [0, 1, 2, 6]),
    ],
)
def test_a_sparse_matrix_whose_places_lie_outside(make, part, values):
    """SciPy would write out of bounds when it converts rows to columns."""
    matrix = make(np.eye(6))
    setattr(matrix, part, np.array(values, getattr(matrix, part).dtype))
    with pytest.raises(ValueError, match=r"X is an invalid sparse matrix of shape \(6, 6\)"):
        SLFS().fit(matrix, [0, 1] * 3)


def test_a_sparse_matrix_stays_as_it_is():
    matrix = sparse.csr_array(np.eye(6))
    matrix.indices, matrix.data = np.append(matrix.indices, 99), np.append(matrix.data, 7.0)
    SLFS().fit(matrix, [0, 1] * 3)
    assert len(matrix.indices) == len(matrix.data) == 7, "room for more is not taken away"


def test_a_sparse_file_whose_places_lie_outside(tmp_path):
    parts = {"data": np.ones(3), "indices": np.array([0, 1, 99]), "indptr": np.array([0, 1, 2, 3])}
    np.savez(tmp_path / "a.npz", shape=np.array([3, 4]), y=np.array([0, 1, 0]), **parts)
    with pytest.raises(ValueError, match=r"a\.npz cannot be read as npz"):
        read_file(str(tmp_path / "a.npz"))


@pytest.mark.parametrize("selector", [OSFS(statistic="fisher_z"), AlphaInvesting()])
def test_infinities_and_huge_numbers_among_those_that_regress(selector):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    good = y + random.normal(size=200)
    X = np.column_stack([good, good * 1e305, good * 1e-300, random.normal(size=200)])
    X[0, 3], X[1, 3], X[2, 3] = np.inf, -np.inf, np.nan
    support = selector.fit(X, y).support_
    assert not support[3]
    assert support[:3].sum() == 1, "they say the same in other units"
    alone = [selector.fit(X[:, [column]], y).n_features_ for column in range(3)]
    assert alone == [1, 1, 1]


def test_fisher_z_does_not_depend_on_the_unit():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 100)
    X = (y + 0.3 * random.normal(size=100))[:, np.newaxis]
    first = OSFS(statistic="fisher_z").fit(X, y)
    second = OSFS(statistic="fisher_z").fit(X * 2.0**-60, y)
    np.testing.assert_array_equal(first.selection_scores_, second.selection_scores_)
    assert first.n_features_ == 1


def test_chi2_merges_columns_with_both_infinities():
    X = np.array([[-np.inf], [np.inf]] * 20)
    assert Chi2().fit(X, [0, 1] * 20).n_features_ == 1


def test_no_labels_at_all():
    with pytest.raises(ValueError, match="y is empty"):
        SLFS().fit([[1.0], [2.0]], [])


def test_labels_that_no_integer_can_hold():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SLFS().fit([[1.0], [2.0]] * 20, [1e300, 2e300] * 20)


def test_n_jobs_zero():
    with pytest.raises(ValueError, match="n_jobs is 0; expected"):
        SLFS(n_jobs=0).fit([[1.0], [2.0]], [0, 1])


def test_dictionaries_of_structs():
    held = pa.array([{"a": 1.0}, {"a": 2.0}])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int8()), held)
    with pytest.raises(ValueError, match="column 'x' of X has type Categorical, which is not supported"):
        SLFS().fit(pa.table({"x": column}), [0, 1, 0, 1])


def test_smoothing_beyond_any_integer():
    shares = NaiveBayes(alpha=10**30).fit([[1], [2]] * 5, [0, 1] * 5).predict_proba([[1]])
    np.testing.assert_allclose(shares, 0.5)


def test_a_damaged_page_of_a_parquet_file(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"x": np.random.default_rng(0).random(5000), "y": [0, 1] * 2500}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[10:60] = b"\xff" * 50
    path.write_bytes(content)
    table = ParquetColumns(path, drop=["y"])
    with pytest.raises(ValueError, match=r"a\.parquet is damaged"):
        SLFS().fit(table, table.read("y"))


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_packed_files_that_are_damaged(ending, tmp_path):
    data = (files.CORPUS / f"packed.csv.{ending}").read_bytes()
    path = tmp_path / f"a.csv.{ending}"
    for content in (data[: len(data) // 2], data[:50] + b"\xff\x00" * 20 + data[90:], b"nothing"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"a\.csv\.{ending} (is damaged|cannot be read)"):
            read_file(str(path))


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setenv("SLFS_MAX_BYTES", "2e6")


@pytest.mark.usefixtures("small_limit")
def test_what_unpacks_to_too_much_is_refused(tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10**6))
    assert bomb.stat().st_size < 10**5
    with pytest.raises(ValueError, match=r"exceeds the limit of 2000000.*SLFS_MAX_BYTES"):
        read_file(str(bomb), target="b")
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 1000)), y=np.zeros(1000))
    with pytest.raises(ValueError, match="the decompressed archive needs at least 8"):
        read_file(str(tmp_path / "bomb.npz"))
    (tmp_path / "far.svm").write_text("1 99999999:1\n0 3:1\n")
    with pytest.raises(ValueError, match="a table of 100000000 columns needs"):
        read_file(str(tmp_path / "far.svm"))


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_arrow_files_that_unpack_to_too_much_are_refused(compression, tmp_path):
    zeros = pa.table({"a": np.zeros(10**6), "y": np.arange(10**6) % 2})
    feather.write_feather(zeros, tmp_path / "bomb.arrow", compression=compression)
    with pa.ipc.new_stream(
        tmp_path / "stream.arrow", zeros.schema, options=pa.ipc.IpcWriteOptions(compression=compression)
    ) as stream:
        stream.write_table(zeros)
    again = pa.DictionaryArray.from_arrays(np.zeros(3, np.int32), pa.array(["a" * 3 * 10**6]))
    feather.write_feather(pa.table({"a": again}), tmp_path / "text.arrow", compression=compression)
    for name in ("bomb.arrow", "stream.arrow", "text.arrow"):
        assert (tmp_path / name).stat().st_size < 2 * 10**5
        with pytest.raises(
            ValueError, match=r"the decompressed table needs .* exceeds the limit of 2000000"
        ):
            read_file(str(tmp_path / name))


@pytest.mark.usefixtures("small_limit")
def test_columns_of_nothing_and_repeated_text_are_counted(tmp_path):
    feather.write_feather(pa.table({"a": pa.nulls(10**7)}), tmp_path / "nothing.arrow")
    with pytest.raises(ValueError, match="the table needs at least 10000000 bytes"):
        read_file(str(tmp_path / "nothing.arrow"))
    parquet.write_table(pa.table({"a": ["b" * 1000] * 3000, "y": [0, 1] * 1500}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 5000
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    source = ParquetColumns(tmp_path / "a.parquet")
    for read in (lambda: source.read("a"), lambda: read_file(str(tmp_path / "a.parquet.gz"))):
        with pytest.raises(ValueError, match=r"the text of 'a' needs at least \d{7} bytes") as refusal:
            read()
        assert "damaged" not in str(refusal.value)
    assert source.read("y").sum() == 1500
    parquet.write_table(pa.table({"a": np.zeros(10**6)}), tmp_path / "tall.parquet")
    with pytest.raises(
        ValueError, match=r"tall\.parquet cannot be read as parquet: a column needs at least 8000000"
    ):
        read_file(str(tmp_path / "tall.parquet"))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_files_of_polars_and_streams(compression, tmp_path):
    frame = polars.read_csv(files.CORPUS / "plain.csv")
    frame.write_ipc(tmp_path / "a.arrow", compression=compression)
    frame.write_ipc_stream(tmp_path / "b.arrow", compression=compression)
    for name in ("a.arrow", "b.arrow"):
        pd.testing.assert_frame_equal(read_file(str(tmp_path / name)).X, frame.to_pandas())


def test_columns_of_the_same_name_in_parquet(tmp_path):
    twins = pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["a", "a"])
    parquet.write_table(twins, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read .* duplicate column names. Rename"):
        ParquetColumns(tmp_path / "a.parquet")


def test_a_header_that_claims_more_than_there_is(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.zeros((2, 2)))
    forged = stream.getvalue().replace(b"(2, 2), }" + b" " * 12, b"(2, 9000000000000), }")
    assert forged != stream.getvalue()
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", forged)
    with pytest.raises(ValueError, match=r"shape \(2, 9000000000000\) in 32 bytes"):
        read_file(str(tmp_path / "a.npz"))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("point", [0x110000, 0xFFFFFFFF, 0xD800, 0xDFFF, 0x10FFFF, 0xD7FF, 0xE000])
def test_text_of_characters_that_do_not_exist(order, point, tmp_path):
    """NumPy accepts them; Python fails when one is accessed."""
    labels = np.frombuffer(np.array([65, point] * 10, f"{order}u4").tobytes(), f"{order}U1")
    np.savez(tmp_path / "a.npz", X=np.eye(20), y=labels)
    exists = point in (0x10FFFF, 0xD7FF, 0xE000)
    with nullcontext() if exists else pytest.raises(ValueError, match="invalid characters"):
        assert read_file(str(tmp_path / "a.npz")).y[1] == chr(point)


def test_the_limit_must_be_a_number(monkeypatch):
    assert max_bytes() > 10**8
    monkeypatch.setenv("SLFS_MAX_BYTES", "much")
    with pytest.raises(
        ValueError, match=r"Invalid SLFS_MAX_BYTES 'much': expected a positive number of bytes"
    ):
        max_bytes()


def test_mrmr_of_many_alike_columns_does_not_wrap_around():
    """Sums of this many mutual informations exceed 64 bits."""
    random = np.random.default_rng(0)
    y = np.arange(1000) % 2
    X = np.column_stack([np.where(random.random(1000) < 0.001, 1 - y, y) for _ in range(90)])
    scores = MRMR(80, categorical_features="all").fit(X, y).selection_scores_
    assert (np.abs(scores[1:]) < 0.1).all()
