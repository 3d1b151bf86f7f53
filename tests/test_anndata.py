"""AnnData, in memory and on disk: the same results as the same table in a dataframe."""

import functools
import gzip
import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import slfs
import slfs.anndata
from slfs import BNSLFS, MRMR, SLFS, StabilitySelection
from slfs._core.warn import quiet
from slfs.evaluation import p_values
from slfs.files import AnnDataColumns
from slfs.files.reading import read_file
from slfs.screening.plan import BlockLimits, block_limits
from slfs.tables import read_table, stored
from slfs.tables.anndata import table_of

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.filterwarnings(
    # anndata 0.12 with pandas 3
    "ignore:The 'future.infer_string' option",
    "ignore:The 'mode.chained_assignment' option",
    "ignore:Consolidated metadata",
    "ignore:.*zarr v2",
)

N, P = 400, 60
SELECTOR = functools.partial(SLFS, n_features_to_select=6)
KINDS = {
    "dense": np.asarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr array": sparse.csr_array,
}


@pytest.fixture(scope="module", autouse=True)
def _strings_of_pandas_3_can_be_written():
    before = anndata.settings.allow_write_nullable_strings
    anndata.settings.allow_write_nullable_strings = True
    yield
    anndata.settings.allow_write_nullable_strings = before


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    kind = random.integers(3, size=N)
    values = random.poisson(0.3, (N, P)).astype(np.float32)
    for column in range(6):
        values[:, 7 * column] += random.poisson(1.2 * (kind == column % 3))
    values[:, 3] = np.where(random.random(N) < 0.1, np.nan, values[:, 0])
    frame = pd.DataFrame(values, columns=[f"g{column}" for column in range(P)])
    return frame.assign(kind=np.array(["B", "NK", "T"])[kind])


def make(frame, convert=sparse.csr_matrix):
    """Return the table as an AnnData, with a layer, raw and annotations."""
    values = frame.drop(columns="kind").to_numpy()
    random = np.random.default_rng(1)
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(frame["kind"]),
            "batch": np.array(["u", "v", "w"])[random.integers(3, size=N)],
            "depth": random.normal(size=N),
            "weight": np.arange(N) % 2 + 1,
        },
        index=[f"cell{row}" for row in range(N)],
    )
    adata = anndata.AnnData(convert(values), obs=obs, var=pd.DataFrame(index=frame.columns[:-1]))
    adata.layers["twice"] = convert(2 * values)
    adata.raw = adata
    return adata


@pytest.fixture(scope="module")
def expected(frame):
    return SELECTOR().fit(frame.drop(columns="kind"), frame["kind"])


@pytest.fixture(scope="module", params=KINDS)
def written(request, frame, tmp_path_factory):
    """An h5ad file and a Zarr folder, with a dense, CSR or CSC matrix."""
    folder = tmp_path_factory.mktemp("anndata")
    adata = make(frame, KINDS[request.param])
    adata.write_h5ad(folder / "cells.h5ad")
    adata.write_zarr(folder / "cells.zarr")
    return folder


@pytest.fixture
def path(frame, tmp_path):
    make(frame).write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def assert_same(selector, expected):
    assert selector.indices_.tolist() == expected.indices_.tolist()
    np.testing.assert_array_equal(selector.scores_, expected.scores_)
    np.testing.assert_array_equal(selector.pvalues_, expected.pvalues_)
    assert selector.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_in_memory(frame, expected, kind):
    adata = make(frame, KINDS[kind])
    selector = SELECTOR().fit(adata, adata.obs["kind"])
    assert_same(selector, expected)
    selected = selector.transform(adata)
    assert sparse.issparse(selected) == (kind != "dense")
    dense = selected.toarray() if sparse.issparse(selected) else selected
    np.testing.assert_array_equal(dense, frame.loc[:, selector.get_feature_names_out()])
    model, other = (
        BNSLFS(SELECTOR()).fit(X, frame["kind"]) for X in (adata, frame.drop(columns="kind"))
    )
    np.testing.assert_array_equal(model.predict(adata), other.predict(frame.drop(columns="kind")))


def test_backed(written, expected, frame, monkeypatch):
    monkeypatch.setattr(stored, "_BLOCK_ENTRIES", 500)  # many blocks of rows
    adata = anndata.read_h5ad(written / "cells.h5ad", backed="r")
    assert adata.isbacked
    selector = SELECTOR().fit(adata, adata.obs["kind"])
    assert_same(selector, expected)
    assert_same(SELECTOR().fit(table_of(adata, use_raw=True), adata.obs["kind"]), expected)
    with block_limits(BlockLimits(n_rows=100, n_columns=7)):
        assert_same(SELECTOR().fit(adata, adata.obs["kind"]), expected)
    assert sparse.issparse(selector.transform(adata)) == hasattr(adata.X, "group")
    found, other = (p_values(X, frame["kind"]) for X in (adata, frame.drop(columns="kind")))
    np.testing.assert_array_equal(found, other)


@pytest.mark.parametrize("name", ["cells.h5ad", "cells.zarr"])
def test_files(written, expected, name, monkeypatch):
    monkeypatch.setattr(stored, "_BLOCK_ENTRIES", 500)
    file = read_file(str(written / name), target="kind")
    assert_same(SELECTOR().fit(file.X, file.y), expected)
    assert file.names == expected.feature_names_in_.tolist()
    assert sparse.issparse(file.in_memory()) == file.X._table.is_sparse
    layer = read_file(str(written / name), target="kind", sheet="twice")
    np.testing.assert_array_equal(layer.X.read("g7"), 2 * file.X.read("g7"))
    raw = read_file(str(written / name), target="kind", sheet="raw")
    np.testing.assert_array_equal(raw.X.read("g7"), file.X.read("g7"))
    again = pickle.loads(pickle.dumps(file.X))
    assert_same(SELECTOR().fit(again, file.y), expected)


def test_the_zeros_of_a_backed_matrix_stay_implicit(path):
    adata = anndata.read_h5ad(path, backed="r")
    block = read_table(adata).number_block(np.arange(5), np.arange(0, N, 2))
    assert block.sample is not None
    assert len(block.value) < 0.6 * 5 * N / 2
    stored_table = read_table(adata.X)
    part = stored_table.take(np.array([9, 3, 4]))
    np.testing.assert_array_equal(part.toarray(), adata.X[:, [9, 3, 4]].toarray())
    assert stored_table.take(np.array([], np.int64)).shape == (N, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backed", [False, True])
def test_views(frame, kind, backed, tmp_path):
    adata = make(frame, KINDS[kind])
    if backed:
        adata.write_h5ad(tmp_path / "cells.h5ad")
        adata = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    names = [f"g{column}" for column in (28, 0, 7, 14, 21, 3, 9)]
    view = adata[np.arange(50, N)[::-2], names]  # a backed AnnData has no views of views
    assert view.is_view
    X = frame.iloc[50:].iloc[::-2]
    expected = SELECTOR().fit(X[names], X["kind"])
    selector = SELECTOR().fit(view, view.obs["kind"])
    assert_same(selector, expected)
    selected = selector.transform(view)
    dense = selected.toarray() if sparse.issparse(selected) else selected
    np.testing.assert_array_equal(dense, X[selector.get_feature_names_out()])
    assert_same(
        SELECTOR().fit(table_of(view, use_raw=True), view.obs["kind"]),
        SELECTOR().fit(X.iloc[:, :-1], X["kind"]),
    )


@pytest.mark.parametrize("kind", [np.int32, np.float64, bool])
def test_types_of_numbers(frame, kind):
    values = frame.drop(columns=["kind", "g3"])
    adata = anndata.AnnData(sparse.csr_matrix(values.to_numpy().astype(kind)))
    selector = SELECTOR().fit(adata, frame["kind"])
    np.testing.assert_array_equal(
        selector.scores_, SELECTOR().fit(values.astype(kind), frame["kind"]).scores_
    )


@pytest.mark.parametrize("backed", [False, True])
def test_select_writes_to_the_anndata(expected, path, backed, tmp_path):
    adata = anndata.read_h5ad(path, backed="r" if backed else None)
    assert slfs.anndata.select(adata, target="kind", n_features_to_select=6) is None
    assert adata.var_names[adata.var["slfs"]].tolist() == expected.get_feature_names_out().tolist()
    np.testing.assert_array_equal(adata.var["slfs_score"], expected.scores_)
    np.testing.assert_array_equal(adata.var["slfs_pvalue"], expected.pvalues_)
    np.testing.assert_array_equal(adata.var["slfs_qvalue"], expected.qvalues_)
    in_order = adata.var["slfs_rank"].sort_values().dropna()
    assert in_order.index.tolist() == [f"g{column}" for column in expected.indices_]
    assert in_order.tolist() == list(range(1, len(in_order) + 1))
    tree = adata.uns["slfs"]["tree"]
    assert list(zip(tree["parent"], tree.index, strict=True)) == expected.network_.edges
    assert set(tree["parent"]) <= {"kind", *tree.index}
    adata.write_h5ad(tmp_path / "out.h5ad")
    again = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert again.var["slfs"].tolist() == adata.var["slfs"].tolist()
    assert again.uns["slfs"]["tree"]["parent"].tolist() == tree["parent"].tolist()
    assert again.uns["slfs"]["params"]["target"] == "kind"


def test_select_uses_covariates_weights_layer_and_raw(frame):
    adata = make(frame)
    X = frame.drop(columns="kind")
    slfs.anndata.select(
        adata, "kind", condition_on=["batch", "depth", "g0"], key_added="given", n_features_to_select=6
    )
    columns = {name: adata.obs[name].to_numpy() for name in ("batch", "depth")}
    given = SELECTOR(condition_on=["batch", "depth", "g0"]).fit(X.assign(**columns), frame["kind"])
    np.testing.assert_array_equal(adata.var["given_pvalue"], given.pvalues_[:P])
    assert adata.var_names[adata.var["given"]].tolist() == given.get_feature_names_out().tolist()
    slfs.anndata.select(adata, "kind", sample_weight="weight", method="mrmr", n_features_to_select=4)
    weighted = MRMR(n_features_to_select=4).fit(X, frame["kind"], sample_weight=adata.obs["weight"])
    assert adata.var["slfs_rank"].sort_values().index[:4].tolist() == [
        f"g{j}" for j in weighted.indices_
    ]
    slfs.anndata.select(adata, "kind", layer="twice", key_added="twice", n_features_to_select=6)
    assert adata.uns["twice"]["params"]["layer"] == "twice"
    slfs.anndata.select(adata, "kind", use_raw=True, key_added="raw", n_features_to_select=6)
    assert "raw" not in adata.var
    assert adata.raw.var["raw"].tolist() == adata.var["twice"].tolist()
    slfs.anndata.select(
        adata, "depth", n_features_to_select=2, target_type="regression", key_added="depth"
    )
    slfs.anndata.select(
        adata, "kind", method=StabilitySelection(MRMR(n_features_to_select=3), n_subsamples=4)
    )
    assert 0 < adata.var["slfs"].sum() <= 3


def test_an_annotation_with_the_name_of_a_gene(frame):
    adata = make(frame)
    adata.obs["g0"] = adata.obs["batch"]
    slfs.anndata.select(adata, "kind", condition_on="g0", n_features_to_select=6)
    X = frame.drop(columns="kind").assign(batch=adata.obs["batch"].to_numpy())
    given = SELECTOR(condition_on="batch").fit(X, frame["kind"])
    np.testing.assert_array_equal(adata.var["slfs_pvalue"], given.pvalues_[:P])


def test_a_view_in_memory_becomes_a_copy(frame):
    adata = make(frame)
    view = adata[::2]
    with pytest.warns(anndata.ImplicitModificationWarning):
        slfs.anndata.select(view, "kind", n_features_to_select=2)
    assert view.var["slfs"].sum() == 2
    assert "slfs" not in adata.var


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "kinds"}, r"no column 'kinds'. Did you mean 'kind'\?"),
        ({"target": "kind", "condition_on": "bach"}, r"no column 'bach'. Did you mean 'batch'\?"),
        ({"target": "kind", "condition_on": ["kind"]}, "condition_on contains the target 'kind'"),
        ({"target": "kind", "sample_weight": "w8"}, "no column 'w8'"),
        ({"target": "kind", "layer": "counts"}, "Unknown layer 'counts'. The layers are 'twice'"),
        ({"target": "kind", "layer": "twice", "use_raw": True}, "cannot be combined"),
        ({"target": "kind", "method": "slsf"}, r"Unknown method 'slsf'. Did you mean 'slfs'\?"),
    ],
)
def test_wrong_arguments(frame, arguments, message):
    adata = make(frame)
    with pytest.raises(ValueError, match=message):
        slfs.anndata.select(adata, **arguments)
    assert "slfs" not in adata.var


@pytest.mark.parametrize("backed", [False, True])
def test_markers_of_each_type_are_those_of_a_selector(frame, path, backed, tmp_path):
    adata = anndata.read_h5ad(path, backed="r" if backed else None)
    assert slfs.anndata.rank_markers(adata, "kind", n_genes=4, condition_on="batch") is None
    found = adata.uns["slfs_markers"]
    X = frame.drop(columns="kind")
    values = X.to_numpy()
    for kind in ("B", "NK", "T"):
        own = (frame["kind"] == kind).to_numpy()
        with quiet():
            expected = MRMR(n_features_to_select=4, condition_on=["batch"]).fit(
                X.assign(batch=adata.obs["batch"].to_numpy()), own
            )
        columns = expected.indices_
        assert found["names"][kind].tolist() == X.columns[columns].tolist()
        np.testing.assert_array_equal(found["pvals"][kind], expected.pvalues_[columns])
        np.testing.assert_array_equal(found["pvals_adj"][kind], expected.qvalues_[columns])
        np.testing.assert_allclose(found["scores"][kind], expected.scores_[columns], rtol=1e-6)
        part = values[:, columns]
        logarithms = (part != np.floor(part)).any() and part.max() < 50
        means = [part[rows].mean(axis=0) for rows in (own, ~own)]
        means = [(np.expm1(mean) if logarithms else mean) + 1e-9 for mean in means]
        np.testing.assert_allclose(
            found["logfoldchanges"][kind], np.log2(means[0] / means[1]), rtol=1e-4
        )
    assert found["params"]["groupby"] == "kind"
    adata.write_h5ad(tmp_path / "out.h5ad")
    again = anndata.read_h5ad(tmp_path / "out.h5ad").uns["slfs_markers"]
    assert again["names"]["T"].tolist() == found["names"]["T"].tolist()


def test_fold_changes_of_counts_and_of_scaled_values():
    random = np.random.default_rng(0)
    kind = np.repeat(["A", "B"], 100)
    counts = random.poisson(
        np.where((kind == "B")[:, np.newaxis] & (np.arange(5) < 1), 20, 10), (200, 5)
    )
    expected = np.log2(counts[:100, 0].mean() / counts[100:, 0].mean())
    for values, change in ((counts, expected), (np.log1p(counts), None), (counts - 10, np.nan)):
        adata = anndata.AnnData(values.astype(float))
        adata.obs["kind"] = kind
        slfs.anndata.rank_markers(adata, "kind", n_genes=1)
        found = float(adata.uns["slfs_markers"]["logfoldchanges"]["A"][0])
        if change is None:
            assert -1.2 < found < -0.8
        else:
            np.testing.assert_allclose(found, change, rtol=1e-5)


def test_markers_are_as_many_as_asked_for_where_few_genes_have_levels(frame):
    """A method that selects too few is completed by the smallest p-values."""
    adata = make(frame)
    n_genes = adata.n_vars
    slfs.anndata.rank_markers(adata, "kind", groups="T", n_genes=n_genes, key_added="all")
    assert adata.uns["all"]["names"].dtype.names == ("T",)
    assert sorted(adata.uns["all"]["names"]["T"]) == sorted(adata.var_names)
    slfs.anndata.rank_markers(adata, "kind", n_genes=n_genes - 1, condition_on="g3", key_added="given")
    assert sorted([*adata.uns["given"]["names"]["T"], "g3"]) == sorted(adata.var_names)
    adata.obs["number"] = adata.obs["kind"].cat.codes.astype("category")
    slfs.anndata.rank_markers(adata, "number", groups=["1"], n_genes=2)
    assert adata.uns["slfs_markers"]["names"].dtype.names == ("1",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "kind", "groups": ["NKT"]}, r"no type 'NKT'. Did you mean 'NK'\?"),
        ({"target": "kind", "n_genes": 0}, "n_genes=0 must be from 1"),
        ({"target": "kind", "groups": []}, "groups is empty"),
        ({"target": "one"}, "single type"),
        ({"target": "gaps"}, r"has 3 missing values.*notna\(\)"),
    ],
)
def test_wrong_arguments_of_markers(frame, arguments, message):
    adata = make(frame)
    adata.obs["one"] = "a"
    adata.obs["gaps"] = adata.obs["kind"].astype(object).where(np.arange(N) > 2, None)
    with pytest.raises(ValueError, match=message):
        slfs.anndata.rank_markers(adata, **arguments)
    assert not adata.uns


def test_what_cannot_be_used(frame, path):
    adata = make(frame)
    adata.var_names = ["twin", "twin", *adata.var_names[2:]]
    with pytest.raises(ValueError, match=r"'twin'.*var_names_make_unique"):
        SELECTOR().fit(adata, adata.obs["kind"])
    adata.var_names_make_unique()
    empty = anndata.AnnData(obs=adata.obs, var=adata.var, layers=dict(adata.layers))
    with pytest.raises(ValueError, match=r"has no X\. Set layer; the layers are 'twice'"):
        SELECTOR().fit(empty, adata.obs["kind"])
    with pytest.raises(ValueError, match="has no raw"):
        slfs.anndata.select(empty, "kind", use_raw=True)
    backed = anndata.read_h5ad(path, backed="r")
    with pytest.raises(ValueError, match="view of a backed AnnData"):
        slfs.anndata.select(backed[::2], "kind")
    fitted = SELECTOR().fit(backed, backed.obs["kind"])
    with pytest.raises(ValueError, match="do not match those seen in fit"):
        fitted.transform(backed[:, ::2])
    unlabelled = make(frame)
    unlabelled.obs["kind"] = unlabelled.obs["kind"].where(np.arange(N) > 3)
    with pytest.raises(ValueError, match="missing"):
        slfs.anndata.select(unlabelled, "kind")


def run(capsys, monkeypatch, *arguments):
    from slfs.cli import main

    monkeypatch.setattr("sys.argv", ["slfs", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


def test_a_column_of_obs_with_the_name_of_a_gene(frame, tmp_path, capsys, monkeypatch):
    pytest.importorskip("typer")
    adata = make(frame)
    adata.obs["g3"] = adata.obs["kind"]
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    code, _, error = run(capsys, monkeypatch, "select", path, "-t", "g3", "-k", "2")
    assert code == 1
    assert "Write obs:g3 for the column of obs." in error
    code, _, error = run(capsys, monkeypatch, "select", path, "-t", "obs:g3", "-k", "2")
    assert code == 0, error
    code, _, error = run(capsys, monkeypatch, "select", path, "-t", "kind", "--condition-on", "g3")
    assert (code, "Write obs:g3" in error) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells.h5ad", "cells.zarr"])
def test_commands(frame, expected, tmp_path, capsys, monkeypatch, name):
    pytest.importorskip("typer")
    adata = make(frame)
    adata.write_h5ad(tmp_path / name) if name.endswith("h5ad") else adata.write_zarr(tmp_path / name)
    path, model = tmp_path / name, tmp_path / "model.slfs"
    code, out, _ = run(
        capsys,
        monkeypatch,
        "select",
        path,
        "-k",
        "6",
        "-t",
        "kind",
        "--out",
        tmp_path / "o.csv",
        "--id",
        "obs_names",
        "--report",
        tmp_path / "report.html",
    )
    assert code == 0
    assert f"{len(expected.indices_)} of {P} columns selected" in out
    table = pd.read_csv(tmp_path / "o.csv")
    assert table.columns.tolist() == ["obs_names", *expected.get_feature_names_out(), "kind"]
    assert table["obs_names"].tolist() == adata.obs_names.tolist()
    best = f"g{expected.indices_[0]}"
    np.testing.assert_array_equal(table[best], frame[best])
    code, out, _ = run(
        capsys,
        monkeypatch,
        "select",
        path,
        "-k",
        "6",
        "-t",
        "kind",
        "--condition-on",
        "batch",
        "--weights",
        "weight",
        "--layer",
        "raw",
    )
    assert (code, "1 conditioned on" in out) == (0, True)
    code, *_ = run(
        capsys, monkeypatch, "fit", path, "-t", "kind", "--include", "depth", "-k", 3, "--model", model
    )
    assert code == 0
    code, out, _ = run(capsys, monkeypatch, "predict", model, path, "--id", "obs_names")
    assert (code, len(out.splitlines())) == (0, N + 1)
    code, out, _ = run(
        capsys,
        monkeypatch,
        "compare",
        path,
        "-t",
        "kind",
        "--methods",
        "mrmr",
        "-k",
        3,
        "--cv",
        2,
        "--classifiers",
        "3-NN",
        "-j",
        1,
    )
    assert (code, "mrmr" in out) == (0, True)
    code, out, _ = run(capsys, monkeypatch, "interactions", path, "-t", "kind", "--with", "batch")
    assert (code, f"of {P} pairs" in out) == (0, True)
    code, out, _ = run(capsys, monkeypatch, "explain", best, path, "-t", "kind")
    assert (code, "is selected" in out) == (0, True)


def test_a_model_reads_the_layer_to_which_it_was_fitted(path, frame, tmp_path, capsys, monkeypatch):
    model, other = tmp_path / "m.slfs", tmp_path / "other.h5ad"
    fit = ("fit", path, "-t", "kind", "-k", 3, "--layer", "twice", "--model", model)
    assert run(capsys, monkeypatch, *fit)[0] == 0
    predict = ("predict", model, path, "--id", "obs_names", "-p")
    _, remembered, _ = run(capsys, monkeypatch, *predict)
    _, given, _ = run(capsys, monkeypatch, *predict, "--layer", "twice")
    _, X, _ = run(capsys, monkeypatch, *predict, "--layer", "X")
    assert remembered == given != X
    adata = make(frame)
    del adata.layers["twice"]
    adata.write_h5ad(other)
    code, _, err = run(capsys, monkeypatch, "predict", model, other)
    assert (code, "If X has such values, set --layer X." in " ".join(err.split())) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "for example --target 'kind'"),
        (["-t", "kinds"], "has no column 'kinds'. Did you mean 'kind'?"),
        (["-t", "kind", "--condition-on", "bach"], "has no column 'bach'. Did you mean 'batch'?"),
        (["-t", "kind", "--layer", "counts"], "no layer 'counts'. The layers are: 'twice', 'raw'."),
        (["-t", "kind", "--missing", "0"], "0 cannot mean a missing value"),
        (["-t", "kind", "--no-header"], "--no-header is for CSV and Excel files"),
        (["-t", "kind", "--transpose"], "without --transpose"),
    ],
)
def test_wrong_options(path, capsys, monkeypatch, options, message):
    code, _, err = run(capsys, monkeypatch, "select", path, *options)
    assert code == 1
    assert message in " ".join(err.split())


def test_rows_with_a_target_stay_sparse(frame, tmp_path):
    adata = make(frame)
    adata.obs["kind"] = adata.obs["kind"].where(np.arange(N) % 4 > 0)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    file = read_file(str(tmp_path / "cells.h5ad"), target="kind").with_target_only()
    found = file.in_memory()
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), adata.X.toarray()[np.arange(N) % 4 > 0])


def test_marks_of_missing_values(frame, path):
    file = read_file(str(path), target="kind", missing=["5", "u"], covariates=["batch"])
    X = frame.drop(columns="kind").replace(5, np.nan).assign(batch=make(frame).obs["batch"].to_numpy())
    X["batch"] = X["batch"].replace("u", None)
    expected = SELECTOR().fit(X, frame["kind"])
    np.testing.assert_array_equal(SELECTOR().fit(file.X, file.y).scores_, expected.scores_)
    assert (
        file.X.take(np.array([0, P])).isna().sum().tolist() == X[["g0", "batch"]].isna().sum().tolist()
    )


def test_old_files_and_others(path, tmp_path):
    with pytest.raises(ValueError, match="cannot be read as anndata"):
        AnnDataColumns(__file__)
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["table"] = np.eye(3)
    with pytest.raises(ValueError, match="is not an AnnData file: it has no obs and no var"):
        AnnDataColumns(tmp_path / "other.h5ad")
    (tmp_path / "cells.h5ad.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ValueError, match="a file that is not compressed"):
        read_file(str(tmp_path / "cells.h5ad.gz"), target="kind")
    with pytest.raises(FileNotFoundError):
        AnnDataColumns(tmp_path / "none.h5ad")


def test_truncated_files(path, tmp_path):
    whole = path.read_bytes()
    for share in (0.0, 0.01, 0.3, 0.9, 0.999):
        (tmp_path / "part.h5ad").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=r"part\.h5ad cannot be read as anndata|is empty"):
            read_file(str(tmp_path / "part.h5ad"), target="kind")


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("damage", ["indices", "indptr", "data", "shape", "none", "text"])
def test_damaged_matrices(frame, tmp_path, form, damage):
    path = tmp_path / "cells.h5ad"
    make(frame, KINDS[form]).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        X = file["X"]
        if damage == "indices":
            X["indices"][7] = 10**6
        elif damage == "indptr":
            X["indptr"][5] = 10**8
        elif damage == "data":
            del X["data"]
        elif damage == "shape":
            X.attrs["shape"] = (N + 1, P)
        elif damage == "text":
            del file["X"]
            file["X"] = np.array([["a"] * P] * N, "S1")
        else:
            del file["X"]
    with pytest.raises(ValueError, match=r"cells\.h5ad"):
        read_table(AnnDataColumns(path)).take(np.arange(P))


def test_a_file_that_claims_to_be_huge(path):
    with h5py.File(path, "r+") as file:
        del file["obs"]["depth"]
        file["obs"].create_dataset("depth", shape=(10**13,), dtype="f8", chunks=(1024,))
    with pytest.raises(ValueError, match="cannot be read"):
        read_file(str(path), target="kind")


def test_damaged_zarr(frame, tmp_path):
    make(frame).write_zarr(tmp_path / "cells.zarr")
    first = read_file(str(tmp_path / "cells.zarr"), target="kind").fingerprint
    shutil.rmtree(tmp_path / "cells.zarr" / "var")
    with pytest.raises(ValueError, match=r"cells\.zarr"):
        read_file(str(tmp_path / "cells.zarr"), target="kind")
    make(frame.assign(g0=1.0)).write_zarr(tmp_path / "other.zarr")
    assert read_file(str(tmp_path / "other.zarr"), target="kind").fingerprint != first


def test_without_anndata(monkeypatch, path):
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    with pytest.raises(ImportError, match=r"pip install 'slfs\[anndata\]'"):
        AnnDataColumns(path)


def test_messages_name_the_parameter_of_select(frame):
    adata = make(frame)
    adata.obs["half"] = np.arange(N) % 2 / 2
    with pytest.raises(ValueError, match=r"are a quantity, use target_type='regression'\. If"):
        slfs.anndata.select(adata, "half", method=SELECTOR())
    with pytest.raises(ValueError, match=r"^target_type='regression' needs numbers"):
        slfs.anndata.select(adata, "kind", target_type="regression")
    adata.obs["number"] = np.arange(N) % 50
    with pytest.warns(UserWarning, match="use target_type='regression'; if not, target_type='class"):
        slfs.anndata.select(adata, "number", method=SELECTOR())


def test_genes_in_another_order_are_selected_by_name():
    random = np.random.default_rng(0)
    counts = random.poisson(1, (300, 40)).astype(float)
    adata = anndata.AnnData(counts)
    y = np.where(counts[:, 3] + random.normal(size=300) > 1, "A", "B")
    model = BNSLFS(SLFS(n_features_to_select=2)).fit(adata, y)
    other = adata[:, ::-1].copy()
    for own in (model, model.reduce()):
        with pytest.raises(ValueError, match=r"X\[:, list\(estimator.feature_names_in_\)\]"):
            own.predict(other)
        chosen = other[:, list(own.feature_names_in_)]
        np.testing.assert_array_equal(own.predict_proba(chosen), model.predict_proba(adata))


def test_markers_of_a_continuous_quantity_are_refused():
    random = np.random.default_rng(0)
    adata = anndata.AnnData(random.poisson(1, (30, 5)).astype(float))
    adata.obs["pseudotime"] = random.random(30)
    with pytest.raises(ValueError, match="numbers with fractional parts"):
        slfs.anndata.rank_markers(adata, "pseudotime", n_genes=1)
