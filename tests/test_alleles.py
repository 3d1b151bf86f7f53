"""A model counts the alleles of the genotypes that it was fitted to, whatever new genotypes count."""

import io
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from slfs import BNSLFS, SLFS, TAN, BNSLFSRegressor, MDLPDiscretizer
from slfs.files import PlinkColumns, write_plink
from slfs.saving import load, save
from tests.test_plink import make_genotypes

SWAPPED = ["variant_3", "variant_4"]


def write_cohort(path, genotypes, y, alleles=None):
    """Write genotypes; ``alleles`` are those of some variants, by name, instead of A and G."""
    write_plink(path, genotypes, phenotype=1 + y)
    lines = [line.split("\t") for line in path.with_suffix(".bim").read_text().splitlines()]
    for line in lines:
        line[4:] = (alleles or {}).get(line[1], line[4:])
    path.with_suffix(".bim").write_text("".join("\t".join(line) + "\n" for line in lines))
    return PlinkColumns(path)


@pytest.fixture(scope="module")
def cohorts(tmp_path_factory):
    """A cohort, the same one with two variants that count the other allele, and the classes."""
    folder = tmp_path_factory.mktemp("alleles")
    genotypes, y = make_genotypes()
    other = genotypes.copy()
    other[:, [2, 3]] = 2 - other[:, [2, 3]]
    swapped = {name: ["G", "A"] for name in SWAPPED}
    return (
        write_cohort(folder / "cohort.bed", genotypes, y),
        write_cohort(folder / "new.bed", other, y, swapped),
        y,
    )


def counts_of(text):
    """The numbers of variants that a message is about."""
    return [int(found) for found in re.search(r" of (\d+) of (\d+) needed variants", text).groups()]


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (BNSLFS(), "predict_proba"),
        (BNSLFS(SLFS(n_features_to_select=3), structure="linked"), "predict_proba"),
        (BNSLFSRegressor(), "predict"),
        (TAN(), "predict_proba"),
        (SLFS(), "transform"),
        (MDLPDiscretizer(), "transform"),
        (MDLPDiscretizer(categorical_features="all"), "transform"),
    ],
    ids=["additive", "linked", "regressor", "tan", "selector", "discretizer", "levels"],
)
def test_genotypes_that_count_the_other_allele_are_recoded(cohorts, model, method, tmp_path):
    X, new, y = cohorts
    target = y + np.linspace(0, 0.5, len(y)) if isinstance(model, BNSLFSRegressor) else y
    model.fit(X, target)
    expected = getattr(model, method)(X)  # no warning
    save(model, tmp_path / "model.slfs")
    for own in (model, load(tmp_path / "model.slfs")):
        with pytest.warns(UserWarning, match="count the other allele") as caught:
            found = getattr(own, method)(new)
        assert len(caught) == 1
        assert counts_of(str(caught[0].message))[0] == 2
        assert "'variant_3' (G/A, in fit A/G), 'variant_4' (G/A, in fit A/G)" in str(caught[0].message)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_explanations_reductions_and_parts_of_the_samples(cohorts):
    X, new, y = cohorts
    model = SLFS().fit(X, y).to_classifier()
    expected = model.explain_prediction(X).to_frame()
    with pytest.warns(UserWarning, match="count the other allele"):
        pd.testing.assert_frame_equal(model.explain_prediction(new).to_frame(), expected)
    small = model.reduce()
    unused = [name for name in X.names if name not in set(small.feature_names_in_)]
    about = pd.DataFrame({"age": np.arange(5) % 3}, index=new.ids[10:15])
    with pytest.warns(UserWarning, match="count the other allele"):
        found = small.predict_proba(new.without(unused).match(about))
    np.testing.assert_array_equal(found, model.predict_proba(X)[10:15])


def test_a_stream_remembers_the_alleles_of_its_blocks(cohorts):
    X, new, y = cohorts
    halves = [X.without(X.names[3:]), X.without(X.names[:3])]
    model = SLFS(order="given").fit_stream(halves, y).to_classifier()
    with pytest.warns(UserWarning, match="count the other allele"):
        found = model.predict_proba(new)
    np.testing.assert_array_equal(found, model.predict_proba(X))


@pytest.mark.parametrize(
    ("seen", "new"),
    [
        (["A", "G"], ["T", "C"]),
        (["A", "G"], ["A", "C"]),
        (["A", "G"], ["C", "A"]),
        (["A", "G"], ["0", "T"]),
        (["A", "AT"], ["1", "2"]),
    ],
)
def test_other_alleles_are_an_error(tmp_path, seen, new):
    genotypes, y = make_genotypes()
    X = write_cohort(tmp_path / "a.bed", genotypes, y, {"variant_3": seen, "variant_50": seen})
    other = write_cohort(tmp_path / "b.bed", genotypes, y, {"variant_3": new, "variant_50": new})
    model = BNSLFS().fit(X, y)
    assert "variant_3" in model.network_.names
    assert "variant_50" not in model.network_.names  # what it counts does not matter
    expected = rf"'variant_3' \({'/'.join(new)}, in fit {'/'.join(seen)}\).*--flip of PLINK"
    for method in (model.predict, model.selector_.transform, model.explain_prediction):
        with pytest.raises(ValueError, match=expected) as caught:
            method(other)
        assert counts_of(str(caught.value)) == [1, len(model.network_)]


@pytest.mark.parametrize(
    ("alleles", "copies"),
    [
        (["a", "g"], 0),
        (["0", "G"], 0),  # PLINK has not seen the other allele
        (["0", "A"], 2),
        (["A", "."], 0),
        (["0", "0"], None),
    ],
)
def test_alleles_that_are_not_known(tmp_path, alleles, copies):
    genotypes, y = make_genotypes()
    model = BNSLFS().fit(write_cohort(tmp_path / "a.bed", genotypes, y), y)
    frame = pd.DataFrame(genotypes, columns=model.feature_names_in_)
    genotypes[:, 2] = np.nan if copies is None else 0
    other = write_cohort(tmp_path / "b.bed", genotypes, y, {"variant_3": alleles})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.predict_proba(other)
    assert len(caught) == (copies == 2)
    expected = model.predict_proba(frame.assign(variant_3=np.nan if copies is None else float(copies)))
    np.testing.assert_array_equal(found, expected)


def test_alleles_that_look_the_same_on_both_strands(tmp_path):
    genotypes, y = make_genotypes()
    model = BNSLFS().fit(write_cohort(tmp_path / "a.bed", genotypes, y, {"variant_3": ["C", "G"]}), y)
    new = write_cohort(tmp_path / "b.bed", genotypes, y, {"variant_3": ["G", "C"]})
    with pytest.warns(
        UserWarning, match=r"recoded \(2 - genotype\)\. The alleles of 1 are A and T or C"
    ):
        model.predict(new)


def test_tables_that_do_not_know_alleles(cohorts):
    X, new, y = cohorts
    frame = X.in_memory()
    expected = BNSLFS().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(BNSLFS().fit(X, y).predict_proba(frame), expected)
    np.testing.assert_array_equal(BNSLFS().fit(frame, y).predict_proba(X), expected)
    assert not np.array_equal(BNSLFS().fit(frame, y).predict_proba(new), expected)


@pytest.mark.filterwarnings("always:The genotypes of")
def test_the_command_predict(cohorts, tmp_path, slfs):
    X, new, y = cohorts
    model = tmp_path / "model.slfs"
    assert slfs("fit", X.path, "--model", model)[0] == 0
    code, expected, error = slfs("predict", model, X.path, "-p", "--explain")
    assert (code, error) == (0, "")
    code, out, error = slfs("predict", model, new.path, "-p", "--explain")
    assert code == 0
    assert out == expected
    assert error.count("warning: The genotypes of 2 of 3 needed variants") == 1
    assert len(pd.read_csv(io.StringIO(out))) == len(y)
    other = write_cohort(tmp_path / "b.bed", make_genotypes()[0], y, {"variant_3": ["T", "C"]})
    code, out, error = slfs("predict", model, other.path)
    assert (code, out) == (1, "")
    assert "'variant_3' (T/C, in fit A/G)" in error


def test_variants_without_ids_and_in_another_order(tmp_path):
    genotypes, y = make_genotypes()
    names, order = ["."] * genotypes.shape[1], np.arange(genotypes.shape[1])[::-1]
    write_plink(tmp_path / "a.bed", genotypes, names=names)
    write_plink(tmp_path / "b.bed", 2 - genotypes[:, order], names=names, positions=(order + 1).tolist())
    bim = (tmp_path / "b.bim").read_text()
    (tmp_path / "b.bim").write_text(bim.replace("A\tG", "G\tA"))
    X, new = PlinkColumns(tmp_path / "a.bed"), PlinkColumns(tmp_path / "b.bed")
    model = BNSLFS().fit(X, y)
    small = model.reduce()
    with pytest.warns(UserWarning, match="count the other allele"):
        found = small.predict_proba(new.only(small.feature_names_in_))
    np.testing.assert_array_equal(found, model.predict_proba(X))
    with pytest.raises(ValueError, match=r"b.bed does not have 1 of the columns: \['rs1'\]"):
        new.only(["1:3:A:G", "rs1"])


@pytest.mark.filterwarnings("always:The genotypes of")
def test_a_pgen_file_counts_the_alternate_allele(cohorts, tmp_path, slfs):
    pgenlib = pytest.importorskip("pgenlib", reason="pgenlib is not installed")
    X, _, y = cohorts
    genotypes = make_genotypes()[0].T
    calls = np.where(np.isnan(genotypes), -9, 2 - genotypes).astype(np.int8).copy()
    with pgenlib.PgenWriter(
        bytes(tmp_path / "a.pgen"), len(y), variant_ct=len(calls), nonref_flags=False
    ) as writer:
        writer.append_biallelic_batch(calls)
    lines = [f"1\t{j + 1}\t{name}\tA\tG\n" for j, name in enumerate(X.names)]
    (tmp_path / "a.pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + "".join(lines))
    (tmp_path / "a.psam").write_text("#IID\n" + "".join(f"{one}\n" for one in X.ids))
    assert slfs("fit", X.path, "--model", tmp_path / "model.slfs")[0] == 0
    tables = []
    for path in (X.path, tmp_path / "a.pgen"):
        code, out, error = slfs("predict", tmp_path / "model.slfs", path, "-p")
        assert code == 0, error
        tables.append(pd.read_csv(io.StringIO(out)).drop(columns="FID"))
    assert "The genotypes of 3 of 3 needed variants" in error
    pd.testing.assert_frame_equal(*tables)
