"""PLINK files: planes without decoding, phenotypes and covariates by id, errors, files for PLINK."""

import io
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from slfs import BNSLFS, MRMR, SLFS, ResidualPursuit, StabilitySelection, interactions
from slfs._core.resources import Resources
from slfs.counting.genotypes import split_genotypes
from slfs.counting.planes import SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.counting.value_planes import LevelPlanes, count_values
from slfs.evaluation import p_values
from slfs.files import PlinkColumns, read_file, write_plink
from slfs.screening.blind import pack_table_blind
from slfs.screening.plan import BlockLimits, block_limits
from slfs.tables.planes import PlaneBlock, read_numbers
from slfs.tables.registry import read_table
from tests import naive
from tests.long import files

CORPUS = Path(__file__).parent / "corpus"


def make_genotypes(n_people=401, n_variants=70, seed=0):
    """Genotypes with missing calls and special columns, and classes that depend on three of them."""
    random = np.random.default_rng(seed)
    frequency = random.uniform(0.02, 0.5, n_variants)
    genotypes = random.binomial(2, frequency, (n_people, n_variants)).astype(float)
    genotypes[:, 1:4] = random.binomial(2, 0.4, (n_people, 3))
    effect = genotypes[:, 1] - 1.5 * genotypes[:, 2] + 2 * (genotypes[:, 3] > 0)
    y = (effect + random.normal(size=n_people) > np.median(effect)).astype(int)
    genotypes[random.random(genotypes.shape) < 0.03] = np.nan
    genotypes[:, 7], genotypes[:, 8], genotypes[:, 9] = np.nan, 1, np.nan
    genotypes[::2, 9] = 2
    return genotypes, y


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """The .bed file, its genotypes as a DataFrame, and the classes."""
    genotypes, y = make_genotypes()
    path = tmp_path_factory.mktemp("plink") / "cohort.bed"
    write_plink(path, genotypes, phenotype=1 + y)
    return path, pd.DataFrame(genotypes, columns=PlinkColumns(path).names), y


def same_records(one, other):
    for field in one.features_.dtype.names:
        assert pd.Series(one.features_[field]).equals(pd.Series(other.features_[field])), field


@given(st.integers(0, 2**32 - 1), st.integers(1, 140), st.integers(1, 300))
def test_genotypes_become_planes_in_any_order(seed, n_variants, n_people):
    random = np.random.default_rng(seed)
    n_pairs = -(-n_people // 32)
    pairs = random.integers(0, 2**64, (n_variants, n_pairs), np.uint64)
    n_words = int(random.integers(1, 8))
    source = random.integers(0, n_people, 64 * n_words).astype(np.uint32)
    source[random.random(len(source)) < 0.1] = n_pairs * 32  # bits of no sample
    words = np.empty((n_variants, 3, n_words), np.uint64)
    split_genotypes(pairs, source, words)
    expected = naive.genotype_planes(pairs.tolist(), source.tolist(), n_pairs * 32)
    assert words.tolist() == expected


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 4))
def test_planes_of_values_are_counted_joined_and_decoded(seed, n_samples, n_classes):
    random = np.random.default_rng(seed)
    n_columns, n_values = 5, int(random.integers(1, 5))
    layout = SampleLayout.from_class_codes(random.integers(0, n_classes, n_samples), n_classes)
    values = random.integers(0, n_values + 1, (n_columns, n_samples))  # the last one: missing
    words = np.zeros((n_columns, n_values, 64 * layout.n_words), np.bool_)
    for j, v in np.ndindex(n_columns, n_values):
        words[j, v, layout.bit_positions()] = values[j] == v
    words = np.packbits(words, axis=2, bitorder="little").view(np.uint64)
    counts = np.empty((n_columns, n_values, n_classes), np.int64)
    count_values(words, layout.first_word, counts)
    for j, v, c in np.ndindex(counts.shape):
        assert counts[j, v, c] == naive.count_pairs(values[j], layout.labels)[v, c]
    n_levels = random.integers(1, 4, n_columns)
    level = (random.random((n_columns, n_values + 1)) * n_levels[:, np.newaxis]).astype(np.uint8)
    planes = LevelPlanes(words, level)
    codes = np.take_along_axis(level, values, axis=1)
    np.testing.assert_array_equal(planes.decoded(layout), codes)
    flat = planes.level_counts(n_levels, layout)
    expected = [naive.count_pairs(row, layout.labels) for row in codes]
    assert flat.tolist() == [
        own[a, c]
        for own, d in zip(expected, n_levels, strict=True)
        for a in range(d)
        for c in range(n_classes)
    ]
    columns = np.arange(n_columns)
    one, other = (pack_block(layout, columns, part, n_levels, flat) for part in (planes, codes))
    np.testing.assert_array_equal(one.words, other.words)


@pytest.mark.parametrize("n_people", [3, 64, 65, 130])
def test_a_file_gives_the_planes_of_decoded_genotypes(tmp_path, n_people):
    bed_reader = pytest.importorskip("bed_reader")
    genotypes, _ = make_genotypes(n_people, 150)
    write_plink(tmp_path / "a.bed", genotypes)
    with bed_reader.open_bed(tmp_path / "a.bed", num_threads=1) as file:
        decoded = file.read(dtype="int8")
    levels = np.where(decoded == -127, 3, decoded).astype(np.uint8)
    every = np.ones(150, bool)
    with Resources(1) as resources:
        one, other = (
            pack_table_blind(read_table(X), every, every, 255, resources).arrays
            for X in (PlinkColumns(tmp_path / "a.bed"), levels)
        )
    for name in ("words", "levels", "class_counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("categorical", ["from_dtype", "all"])
@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_records_are_those_of_decoded_genotypes(cohort, categorical, continuous, weighted):
    path, frame, y = cohort
    random = np.random.default_rng(1)
    target = 2.0 * y + random.normal(size=len(y)) if continuous else y
    weights = random.integers(0, 3, len(y)) if weighted else None
    one, other = (
        SLFS(categorical_features=categorical, n_jobs=2).fit(X, target, sample_weight=weights)
        for X in (PlinkColumns(path), frame)
    )
    same_records(one, other)
    assert one.n_features_ > 1


@pytest.mark.parametrize(
    "selector",
    [
        SLFS(condition_on=["variant_3"], irrelevance="test"),
        SLFS(memory_limit="2GiB"),
        ResidualPursuit(4),
        MRMR(4),
        StabilitySelection(SLFS(order="conditional"), n_subsamples=6, random_state=0),
    ],
    ids=["covariate", "limit", "residual", "mrmr", "stability"],
)
def test_selectors_select_what_they_select_from_decoded_genotypes(cohort, selector):
    path, frame, y = cohort
    one, other = clone(selector).fit(PlinkColumns(path), y), clone(selector).fit(frame, y)
    same_records(one, other)


def test_rows_in_pieces_and_narrow_blocks_change_nothing(cohort):
    path, frame, y = cohort
    expected = SLFS().fit(frame, y)
    for limits in (BlockLimits(n_rows=100), BlockLimits(n_columns=3), BlockLimits(plane_bytes=1)):
        with block_limits(limits):
            same_records(SLFS().fit(PlinkColumns(path), y), expected)


def test_classifier_p_values_and_interactions(cohort):
    path, frame, y = cohort
    X = PlinkColumns(path)
    one, other = BNSLFS().fit(X, y), BNSLFS().fit(frame, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(frame))
    np.testing.assert_array_equal(p_values(X, y), p_values(frame, y))
    for target in (y, y + np.random.default_rng(0).normal(size=len(y))):
        assert interactions(X, target).pairs.tolist() == interactions(frame, target).pairs.tolist()
    pd.testing.assert_frame_equal(
        SLFS().fit(X, y).transform(X), frame[SLFS().fit(X, y).get_feature_names_out()]
    )


def test_genotypes_are_not_decoded(cohort, monkeypatch):
    """Neither selection nor the scan of pairs reads a genotype as a number."""
    path, _, y = cohort

    def refuse(*_):
        raise AssertionError("genotypes were decoded")

    X = PlinkColumns(path)
    monkeypatch.setattr(PlinkColumns, "_genotypes", refuse)
    monkeypatch.setattr(PlaneBlock, "dense", refuse)
    SLFS(order="conditional").fit(X, y)
    SLFS(order="conditional", categorical_features="all").fit(X, y)
    interactions(X, y)
    with pytest.raises(AssertionError, match="decoded"):
        X.read("variant_1")


def test_a_missing_call_is_a_level(tmp_path):
    y = np.arange(200) % 2
    genotypes = np.where(np.random.default_rng(0).random((200, 3)) < 0.5, 0.0, 1.0)
    genotypes[(y == 1) & (np.arange(200) % 3 > 0), 1] = np.nan
    write_plink(tmp_path / "a.bed", genotypes)
    assert SLFS().fit(PlinkColumns(tmp_path / "a.bed"), y).get_feature_names_out().tolist() == [
        "variant_2"
    ]


def test_alleles_are_counted_as_in_the_bim_file():
    bed_reader = pytest.importorskip("bed_reader")
    X = PlinkColumns(CORPUS / "plain.bed")
    with bed_reader.open_bed(CORPUS / "plain.bed", num_threads=1) as file:
        np.testing.assert_array_equal(X.take(np.arange(9)).to_numpy(), file.read(dtype="float64"))
        assert X.variants.counted_allele.tolist() == file.allele_1.tolist()
        assert X.ids == file.iid.tolist()
        assert X.variants.position.tolist() == file.bp_position.tolist()


def test_a_part_of_the_samples_reads_their_planes(cohort):
    path, frame, y = cohort
    rows = np.random.default_rng(0).permutation(len(y))[:150]
    about = frame[[]].set_index(pd.Index(PlinkColumns(path).ids)).iloc[rows]
    X = PlinkColumns(path).match(about)
    kept = np.sort(rows)
    assert X.ids == [f"sample_{row + 1}" for row in kept]
    layout = SampleLayout.from_class_codes(y[kept], 2)
    block = read_numbers(X, np.arange(20), layout)
    assert isinstance(block, PlaneBlock)
    np.testing.assert_array_equal(block.dense(), frame.to_numpy()[kept][layout.order, :20].T)


def test_pickled_tables_read_the_same(cohort):
    path, frame, _ = cohort
    X = pickle.loads(pickle.dumps(PlinkColumns(path).without(["variant_1"])))
    pd.testing.assert_frame_equal(X.take(np.arange(3)), frame.iloc[:, 1:4])


def test_covariates_of_any_type_beside_genotypes(cohort):
    path, frame, y = cohort
    about = pd.DataFrame(
        {"age": np.arange(len(y)) % 50, "site": np.where(y, "a", "b")},
        index=[f"sample_{row + 1}" for row in range(len(y))],
    )
    X = PlinkColumns(path).match(about.iloc[::-1], covariates=["age", "site"])
    both = frame.assign(age=about["age"].to_numpy(), site=about["site"].to_numpy())
    assert X.names == both.columns.tolist()
    same_records(SLFS().fit(X, y), SLFS().fit(both, y))
    same_records(SLFS(condition_on="site").fit(X, y), SLFS(condition_on="site").fit(both, y))
    assert X.annotations()["chromosome"].isna().tolist() == [False] * 70 + [True, True]
    with pytest.raises(ValueError, match=r"already has a column 'variant_1'. Rename the covariate"):
        PlinkColumns(path).match(about.assign(variant_1=0), covariates=["variant_1"])
    with pytest.raises(ValueError, match=r"No sample of .*cohort.bed \('sample_1', "):
        PlinkColumns(path).match(about.reset_index(drop=True))
    with pytest.raises(ValueError, match="'sample_1' occurs more than once in the index"):
        PlinkColumns(path).match(pd.concat([about, about]))


def test_variants_without_a_unique_id(tmp_path):
    genotypes = make_genotypes(50)[0][:, :5]
    names, positions = ["rs1", ".", "rs1", ".", "."], [10, 20, 30, 40, 40]
    write_plink(
        tmp_path / "a.bed", genotypes, names=names, positions=positions, chromosomes=[1, 1, 2, "X", "X"]
    )
    X = PlinkColumns(tmp_path / "a.bed")
    assert X.names == ["1:10:A:G", "1:20:A:G", "2:30:A:G", "X:40:A:G", "X:40:A:G:2"]
    with pytest.raises(ValueError, match=r"several variants with the id 'rs1'.*--set-all-var-ids"):
        X.write_list(tmp_path / "list", ["2:30:A:G"])


def test_names_that_are_made_differ_from_those_of_the_file(tmp_path):
    names = ["1:10:A:G", ".", "1:10:A:G:3", ".", "rs1", "."]
    write_plink(tmp_path / "a.bed", np.eye(6), names=names, positions=[10] * 6)
    X = PlinkColumns(tmp_path / "a.bed")
    assert X.names == ["1:10:A:G", "1:10:A:G:2", "1:10:A:G:3", "1:10:A:G:4", "rs1", "1:10:A:G:5"]
    X.write_list(tmp_path / "list", ["1:10:A:G"])
    assert (tmp_path / "list").read_text() == "1:10:A:G\n"


def test_columns_without_variants(tmp_path, cohort, slfs):
    path, _, y = cohort
    about = pd.DataFrame({"IID": PlinkColumns(path).ids, "sick": y, "age": np.arange(len(y)) % 7})
    X = PlinkColumns(path).match(about.set_index("IID"), covariates=["age"])
    assert X.take(np.array([70]))["age"].tolist() == about["age"].tolist()
    about.to_csv(tmp_path / "pheno.tsv", sep="\t", index=False)
    for name in ("none.bed", "none.snplist"):
        options = ["--target", tmp_path / "pheno.tsv", "--include", "age", "-k", "1"]
        code, _, error = slfs("select", path, *options, "--out", tmp_path / name)
        assert code == 1
        assert "No variant of" in error
        assert "Write the columns to a .csv file instead" in error
        assert not (tmp_path / name).exists()


def test_matching_reads_the_ids_once(cohort, monkeypatch):
    path, _, _ = cohort
    X, calls = PlinkColumns(path), []
    ids = X.ids
    monkeypatch.setattr(PlinkColumns, "ids", property(lambda _: calls.append(1) or ids))
    X.match(pd.DataFrame(index=ids))
    assert len(calls) == 1


def test_texts_with_white_space_are_not_written(tmp_path):
    for option, value in (("names", "rs 1"), ("ids", ""), ("chromosomes", "1 ")):
        with pytest.raises(ValueError, match=f"{option} contains {value!r}"):
            write_plink(tmp_path / "a.bed", [[0]], **{option: [value]})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "truncated",
            "truncated.bed is truncated: 9 variants of the .bim file and 30 samples of the .fam",
        ),
        (
            "wrong-magic",
            "wrong-magic.bed is not a PLINK .bed file: it begins with 6c 1c 01, expected 6c 1b 01",
        ),
        ("by-sample", "by-sample.bed has one sample after the other.*plink --make-bed"),
        (
            "mismatched-size",
            "mismatched-size.bed is too long: 9 variants .* 20 samples .* need 48 bytes",
        ),
    ],
)
def test_damaged_files_are_clear_errors(name, message):
    with pytest.raises(ValueError, match=message):
        read_file(str(CORPUS / f"{name}.bed"))


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".bim", "1 rs1 0 5 A\n" * 9, r"Line 1 of .*plain.bim has 5 columns; expected a .bim file"),
        (".bim", "1 rs1 0 x A G\n" * 9, "has a position that is not an integer"),
        (".bim", "", "has no variants or no samples|is too long"),
        (".bim", b"\xff\xfe" * 9, "plain.bim is not text"),
        (".bim", None, "There is no file .*plain.bim.*next to the .bed file"),
        (".fam", "f i 0 0\n", "Line 1 of .*plain.fam has 4 columns; expected a .fam file"),
        (".bed", b"", "plain.bed is not a PLINK .bed file: it begins with nothing"),
    ],
)
def test_wrong_files_of_text_are_clear_errors(tmp_path, suffix, content, message):
    for path in (CORPUS / "plain.bed", *files.belonging(CORPUS / "plain.bed")):
        shutil.copy(path, tmp_path)
    wrong = tmp_path / f"plain{suffix}"
    if content is None:
        wrong.unlink()
    else:
        wrong.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        read_file(str(tmp_path / "plain.bed"))


def test_a_file_that_is_truncated_while_it_is_used(tmp_path):
    genotypes, y = make_genotypes(50)
    write_plink(tmp_path / "a.bed", genotypes)
    X = PlinkColumns(tmp_path / "a.bed")
    (tmp_path / "a.bed").write_bytes((tmp_path / "a.bed").read_bytes()[:-1])
    with pytest.raises(ValueError, match="has been truncated while it was read"):
        SLFS().fit(X, y)


def test_a_disk_may_return_a_part_of_what_is_asked_for(cohort, monkeypatch):
    path, frame, _ = cohort
    X = PlinkColumns(path)

    class Slow(io.FileIO):
        def readinto(self, buffer):
            return super().readinto(memoryview(buffer).cast("B")[:7])

    def open_slowly(path, _mode, buffering=-1):
        return Slow(path) if buffering == 0 else io.BufferedReader(Slow(path))

    monkeypatch.setattr(Path, "open", open_slowly)
    pd.testing.assert_frame_equal(X.take(np.arange(70)), frame)


def test_phenotype_of_the_fam_file(tmp_path):
    genotypes = make_genotypes(6)[0][:, :3]
    write_plink(tmp_path / "a.bed", genotypes, phenotype=[1, 2, 0, -9, 2, 1])
    np.testing.assert_array_equal(
        PlinkColumns(tmp_path / "a.bed").phenotype, [1, 2, np.nan, np.nan, 2, 1]
    )
    file = read_file(str(tmp_path / "a.bed"), target="phenotype")
    assert file.y.tolist() == [1, 2, 2, 1]
    assert file.X.ids == ["sample_1", "sample_2", "sample_5", "sample_6"]
    assert file.notes == [f"2 samples of {tmp_path / 'a.bed'} have no phenotype."]
    write_plink(tmp_path / "a.bed", genotypes, phenotype=[0.5, 0, -9, 2, 1, 3])
    assert read_file(str(tmp_path / "a.bed"), target="phenotype").y.tolist() == [0.5, 0, 2, 1, 3]
    assert read_file(str(tmp_path / "a.bed")).X.shape == (6, 3)  # to predict
    write_plink(tmp_path / "a.bed", genotypes)
    with pytest.raises(ValueError, match=r"All phenotypes in .* are missing"):
        read_file(str(tmp_path / "a.bed"), target="phenotype")


def test_phenotypes_are_matched_by_id(tmp_path, cohort):
    path, _, y = cohort
    random = np.random.default_rng(0)
    rows = random.permutation(len(y))[:300]
    about = pd.DataFrame(
        {"IID": [f"sample_{row + 1}" for row in rows], "age": rows % 40, "disease": y[rows]}
    )
    about.loc[0, "disease"] = -9
    about.to_csv(tmp_path / "pheno.tsv", sep="\t", index=False)
    plain = [" ".join(map(str, (row + 1, f"sample_{row + 1}", y[row]))) for row in rows[1:]]
    (tmp_path / "pheno.txt").write_text("\n".join(plain))
    by_path = read_file(str(path), target=str(tmp_path / "pheno.tsv"), covariates=["age"])
    named = read_file(
        str(path), target="disease", targets_from=str(tmp_path / "pheno.tsv"), covariates=["age"]
    )
    spaces = read_file(str(path), target=str(tmp_path / "pheno.txt"))
    kept = np.sort(rows[1:])
    for file in (by_path, named, spaces):
        assert file.X.ids == [f"sample_{row + 1}" for row in kept]
        np.testing.assert_array_equal(file.y, y[kept])
    assert by_path.X.names[-1] == "age"
    np.testing.assert_array_equal(by_path.X.read("age"), kept % 40)
    assert by_path.target == "disease"
    assert "299 of 401 samples of" in by_path.notes[0]
    with pytest.raises(ValueError, match=r"has no column 'diseas'. Did you mean 'disease'"):
        read_file(str(path), target="diseas", targets_from=str(tmp_path / "pheno.tsv"))
    with pytest.raises(ValueError, match=r"has no target 'disease'. Pass a file"):
        read_file(str(path), target="disease")


def test_ids_that_are_unique_within_families(tmp_path):
    genotypes = make_genotypes(4)[0][:, :3]
    write_plink(tmp_path / "a.bed", genotypes, ids=["1", "2", "1", "2"])
    fam = [f"{family} {one} 0 0 1 -9\n" for family in "ab" for one in "12"]
    (tmp_path / "a.fam").write_text("".join(fam))
    (tmp_path / "p.tsv").write_text("#FID\tIID\tsick\nb\t1\tyes\na\t1\tno\na\t2\tyes\n")
    file = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"), covariates=["sex"])
    assert file.y.tolist() == ["no", "yes", "yes"]
    assert file.X.samples.family.tolist() == ["a", "a", "b"]
    assert file.X.read("sex").tolist() == [1, 1, 1]
    (tmp_path / "p.tsv").write_text("IID\tsick\n1\tyes\n")
    with pytest.raises(ValueError, match=r"are not unique, and .* has no column FID"):
        read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"))


def write_fam(path, rows):
    path.write_text("".join(f"{family} {one} 0 0 1 -9\n" for family, one in rows))


def test_families_are_matched_if_they_tell_something(tmp_path):
    write_plink(tmp_path / "a.bed", [[0], [1], [2]], ids=["1", "2", "3"])
    path, about = str(tmp_path / "a.bed"), tmp_path / "p.tsv"
    about.write_text("FID\tIID\tsick\na\t1\tyes\nx\t2\tyes\nc\t3\tno\n")
    assert read_file(path, target=str(about)).X.ids == ["1", "2", "3"]  # FID = IID in the .fam file
    write_fam(tmp_path / "a.fam", [("a", 1), ("b", 2), ("c", 3)])
    assert read_file(path, target=str(about)).X.ids == ["1", "3"]
    assert read_file(path, target=str(about), ids=["IID"]).X.ids == ["1", "2", "3"]
    for ids in (["FID", "IID"], ["IID", "FID"]):
        assert read_file(path, target=str(about), ids=ids).X.ids == ["1", "3"]
    with pytest.raises(ValueError, match="at most two ids"):
        read_file(path, target=str(about), ids=["FID", "IID", "sick"])
    write_fam(tmp_path / "a.fam", [(0, 1), (0, 2), (0, 3)])
    assert read_file(path, target=str(about)).X.ids == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("p.tsv", "IID\tgrade\n1\t0\n2\t1\n3\t2\n4\t-9\n", [0, 1, 2]),
        ("p.pheno", "FID IID grade\n1 1 0\n2 2 1\n3 3 2\n4 4 -9\n", [0, 1, 2]),
        ("p.pheno", "1 1 0\n2 2 1\n3 3 2\n4 4 -9\n", [1, 2]),
        ("p.fam", "1 1 0 0 2 0\n2 2 0 0 1 1\n3 3 0 0 1 2\n4 4 0 0 1 -9\n", [1, 2]),
        ("p.tsv", "IID\tsick\n1\tcase\n2\tcontrol\n3\t-9\n", ["case", "control"]),
        ("p.pheno", "1 1 case\n2 2 control\n3 3 -9\n", ["case", "control"]),
        ("p.txt", "id\tstatus\n1\tcase\n2\t\n3\tcontrol\n", ["case", "control"]),
        ("p.txt", "id\tstatus\t2020\n1\tcase\t5\n3\tcontrol\t6\n", ["case", "control"]),
        ("p.txt", "id status\n1 case\n3 control\n", ["case", "control"]),
        ("p.txt", "1\t1\tcase\n2\t2\t\n3\t3\tcontrol\n", ["case", "control"]),
        ("p.pheno", "id\tstatus\n1\tcase\n2\t\n3\tcontrol\n", ["case", "control"]),
        ("p.pheno", "9 9 1\n2 2 1\n3 3 2\n", [1, 2]),
    ],
)
def test_tables_about_samples(tmp_path, name, text, labels):
    write_plink(tmp_path / "a.bed", [[0], [1], [2], [0]], ids=["1", "2", "3", "4"])
    (tmp_path / name).write_text(text)
    assert read_file(str(tmp_path / "a.bed"), target=str(tmp_path / name)).y.tolist() == labels


def test_missing_covariates_of_plink_files(tmp_path):
    write_plink(tmp_path / "a.bed", [[0], [1], [2]], ids=["1", "2", "3"])
    (tmp_path / "p.cov").write_text("FID IID sick age\n1 1 1 30\n2 2 2 -9\n3 3 1 50\n")
    (tmp_path / "p.tsv").write_text("IID\tsick\tcold\n1\t1\t-9\n2\t2\t-8\n")
    file = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.cov"), covariates=["age"])
    np.testing.assert_array_equal(file.X.read("age"), [30, np.nan, 50])
    file = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"), covariates=["cold"])
    np.testing.assert_array_equal(file.X.read("cold"), [-9, -8])


@pytest.mark.parametrize("fam", [True, False], ids=["fam", "file"])
def test_sex_that_is_unknown_is_noted(tmp_path, fam):
    write_plink(tmp_path / "a.bed", [[0], [1], [2], [0]], ids=["1", "2", "3", "4"])
    (tmp_path / "p.tsv").write_text("IID\tsick\tSEX\n1\t1\t0\n2\t2\t0\n3\t1\t0\n4\t2\t0\n")
    name = "sex" if fam else "SEX"
    notes = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"), covariates=[name]).notes
    assert "The sex of all samples is unknown (0)" in notes[-1]
    assert ".fam or .psam file" in notes[-1]
    text = (tmp_path / "p.tsv").read_text().replace("1\t0", "1\tF")
    (tmp_path / "p.tsv").write_text(text)
    (tmp_path / "a.fam").write_text("".join(f"0 {one} 0 0 {one % 3} -9\n" for one in range(1, 5)))
    notes = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"), covariates=[name]).notes
    assert not any("all samples is unknown" in note for note in notes)


def test_errors_about_covariates_name_the_columns_about_samples(tmp_path, slfs):
    write_plink(tmp_path / "a.bed", [[0], [1], [2]], ids=["1", "2", "3"], phenotype=[1, 2, 1])
    (tmp_path / "p.tsv").write_text("IID\tsick\tage\tsmoking, ever\n1\t1\t30\t0\n2\t2\t40\t1\n")
    about = ["--targets-from", tmp_path / "p.tsv", "--target", "sick"]
    code, _, error = slfs("select", tmp_path / "a.bed", *about, "--condition-on", "agge")
    assert code == 1
    assert "'agge' is not a variant of" in error
    assert "p.tsv. Did you mean 'age'?" in error
    _, _, error = slfs("select", tmp_path / "a.bed", *about, "--include", "income,age")
    assert "'income' is not" in error
    assert "Columns about the samples are 'sick', 'age', 'smoking, ever', 'sex', 'FID'." in error
    _, _, error = slfs("select", tmp_path / "a.bed", "--condition-on", "age")
    assert (
        "not known about its samples. Columns about the samples are 'sex', 'FID'. Pass a file" in error
    )
    given = ["smoking, ever", "age,sex"]
    file = read_file(str(tmp_path / "a.bed"), target=str(tmp_path / "p.tsv"), covariates=given)
    assert file.X.names[1:] == ["smoking, ever", "age", "sex"]


@pytest.mark.filterwarnings("ignore:p-values and q-values treat")
def test_families_are_groups_or_a_covariate(tmp_path, slfs):
    genotypes, y = make_genotypes(300)
    write_plink(tmp_path / "a.bed", genotypes, phenotype=1 + y)
    people = [line.split() for line in (tmp_path / "a.fam").read_text().splitlines()]
    lines = [" ".join([f"f{row // 3}", *one[1:]]) for row, one in enumerate(people)]
    (tmp_path / "a.fam").write_text("\n".join(lines) + "\n")
    code, output, error = slfs("select", tmp_path / "a.bed", "--groups", "FID", "--json")
    assert code == 0, error
    assert "FID" not in json.loads(output)["selected"]
    assert slfs("explain", "FID", tmp_path / "a.bed", "--groups", "FID")[0] == 1  # it is no column
    file = read_file(str(tmp_path / "a.bed"), covariates=["FID", "sex"])
    assert file.X.names[-2:] == ["FID", "sex"]
    assert file.X.read("FID")[3:7].tolist() == ["f1", "f1", "f1", "f2"]


@pytest.mark.filterwarnings("ignore:p-values and q-values treat")
def test_samples_without_a_family_are_no_family(tmp_path):
    """They were one group, which is a single fold."""
    genotypes, y = make_genotypes(30)
    write_plink(tmp_path / "a.bed", genotypes, phenotype=1 + y)
    people = [line.split() for line in (tmp_path / "a.fam").read_text().splitlines()]
    families = ["0" if row % 2 else f"f{row // 4}" for row in range(30)]
    lines = [" ".join([own, *one[1:]]) for own, one in zip(families, people, strict=True)]
    (tmp_path / "a.fam").write_text("\n".join(lines) + "\n")
    common = pytest.importorskip("slfs.cli.common")
    file = common.read_labelled(str(tmp_path / "a.bed"), None, None, groups="FID")
    assert len(set(file.groups)) == 15 + 8
    assert file.groups[::2].tolist() == families[::2]
    assert file.originals([])["FID"].tolist() == families
    about = pd.DataFrame({"IID": [one[1] for one in people], "#FID": families, "sick": y})
    about.to_csv(tmp_path / "p.tsv", sep="\t", index=False)
    for target, name in ((None, "FID"), (str(tmp_path / "p.tsv"), "#FID")):
        file = read_file(str(tmp_path / "a.bed"), target=target, covariates=[name])
        assert pd.isna(file.X.read(name)).sum() == 15


@pytest.mark.parametrize("name", ["p.tsv", "p.phe", "p.txt"])
def test_carriage_returns_inside_lines_are_named(tmp_path, slfs, name):
    write_plink(tmp_path / "a.bed", [[0], [1], [2]], ids=["1", "2", "3"], phenotype=[1, 2, 1])
    (tmp_path / name).write_bytes(b"IID\tsick\tage\n1\t1\r\t30\n2\t2\r\t40\n")
    about = ["--targets-from", tmp_path / name, "--target", "sick"]
    code, _, error = slfs("select", tmp_path / "a.bed", *about)
    assert code == 1
    assert "there is a carriage return (\\r) inside line 2" in error
    assert "tr -d '\\r'" in error


def test_a_model_with_covariates_predicts(tmp_path, cohort, slfs):
    path, _, y = cohort
    ids = PlinkColumns(path).ids
    about = pd.DataFrame({"IID": ids, "sick": y, "age": 3 * y + np.arange(len(y)) % 7})
    about.to_csv(tmp_path / "p.tsv", sep="\t", index=False)
    model = tmp_path / "m.slfs"
    options = ["--target", tmp_path / "p.tsv", "--include", "age,sex", "--model", model]
    assert slfs("fit", path, *options)[0] == 0
    code, _, error = slfs("predict", model, path)
    assert code == 1
    assert "'age'. Another file with them and the ids of the samples can be passed" in error
    about.assign(sick=np.nan).iloc[::-1][1:].to_csv(tmp_path / "new.tsv", sep="\t", index=False)
    code, out, error = slfs("predict", model, path, "--targets-from", tmp_path / "new.tsv")
    assert code == 0, error
    assert "1 of 401 samples" in error
    predicted = pd.read_csv(io.StringIO(out))
    assert predicted["IID"].tolist() == ids[:-1]
    assert (predicted["prediction"] == y[:-1]).mean() > 0.8
    about[["IID", "sick"]].to_csv(tmp_path / "few.tsv", sep="\t", index=False)
    code, _, error = slfs("predict", model, path, "--targets-from", tmp_path / "few.tsv")
    assert code == 1
    assert "'age'." in error
    assert "few.tsv does not have them either." in error


def test_commands(tmp_path, cohort, slfs):
    path, frame, y = cohort
    about = pd.DataFrame({"IID": PlinkColumns(path).ids, "sick": y, "age": np.arange(len(y)) % 7})
    about.to_csv(tmp_path / "pheno.tsv", sep="\t", index=False)
    options = ["--target", tmp_path / "pheno.tsv", "--condition-on", "age, sex", "--json"]
    for name in ("list.snplist", "subset.bed", "table.csv"):
        outputs = ["--out", tmp_path / name, "--results", tmp_path / "results.tsv"]
        code, out, error = slfs("select", path, *options, *outputs)
        assert code == 0, error
    selected = sorted(json.loads(out)["selected"], key=frame.columns.get_loc)
    assert (tmp_path / "list.snplist").read_text().split() == selected
    subset = PlinkColumns(tmp_path / "subset.bed")
    pd.testing.assert_frame_equal(subset.take(np.arange(len(selected))), frame[selected])
    assert subset.phenotype.tolist() == (1 + y).tolist()
    assert pd.read_csv(tmp_path / "table.csv").columns.tolist() == ["FID", "IID", *selected, "sick"]
    results = pd.read_csv(tmp_path / "results.tsv", sep="\t").set_index("name")
    assert results.index[results["selected"]].tolist() == selected
    row = results.loc["variant_3"]
    assert row[["position", "counted_allele", "other_allele"]].tolist() == [3, "A", "G"]
    assert row["p_value"] < row["q_value"] < 1e-6
    assert slfs("interactions", path, "--out", tmp_path / "pairs.tsv")[0] == 0
    assert {"first_position", "second_chromosome"} <= set(pd.read_csv(tmp_path / "pairs.tsv", sep="\t"))


def test_a_model_predicts_from_a_file(tmp_path, cohort, slfs):
    path, _, y = cohort
    assert slfs("fit", path, "--model", tmp_path / "model.slfs")[0] == 0
    _, out, _ = slfs("predict", tmp_path / "model.slfs", path)
    predicted = pd.read_csv(io.StringIO(out))
    assert predicted.columns.tolist() == ["FID", "IID", "prediction"]
    expected = BNSLFS().fit(PlinkColumns(path), 1 + y).predict(PlinkColumns(path))
    assert predicted["prediction"].tolist() == expected.tolist()


def test_pgen_files(tmp_path, slfs):
    pgenlib = pytest.importorskip("pgenlib", reason="pgenlib is not installed")
    from slfs.files.pgen import PgenColumns

    genotypes, y = make_genotypes(200, 12)
    calls = np.where(np.isnan(genotypes), -9, genotypes).astype(np.int8).T.copy()
    with pgenlib.PgenWriter(
        bytes(tmp_path / "a.pgen"), 200, variant_ct=12, nonref_flags=False
    ) as writer:
        writer.append_biallelic_batch(calls)
    lines = [f"1\t{j + 1}\trs{j}\tG\tA\n" for j in range(12)]
    (tmp_path / "a.pvar").write_text("##source=test\n#CHROM\tPOS\tID\tREF\tALT\n" + "".join(lines))
    people = [f"p{i}\t{'MF'[i % 2]}\t{1 + y[i]}\n" for i in range(200)]
    (tmp_path / "a.psam").write_text("#IID\tSEX\tPHENO1\n" + "".join(people))
    X = PgenColumns(tmp_path / "a.pgen")
    frame = pd.DataFrame(genotypes, columns=X.names)
    pd.testing.assert_frame_equal(X.take(np.arange(12)), frame)
    same_records(SLFS().fit(X, y), SLFS().fit(frame, y))
    file = read_file(str(tmp_path / "a.pgen"), target="phenotype", covariates=["sex"])
    assert file.y.tolist() == (1 + y).tolist()
    assert file.X.read("sex").tolist() == [1, 2] * 100
    assert file.X.variants.counted_allele.tolist() == ["A"] * 12
    more = [
        line.rstrip() + f"\t{'NA' if i == 0 else 'ab'[y[i]]}\t{i}\n" for i, line in enumerate(people)
    ]
    (tmp_path / "a.psam").write_text("#IID\tSEX\tPHENO1\ttype\tage\n" + "".join(more))
    file = read_file(str(tmp_path / "a.pgen"), target="type", covariates=["age", "sex"])
    assert file.y.tolist() == ["ab"[one] for one in y[1:]]
    assert file.X.read("age").tolist() == list(range(1, 200))
    file = read_file(str(tmp_path / "a.pgen"), target="phenotype", covariates=["age"])
    assert file.X.take(np.array([12]))["age"].tolist() == list(range(200))
    assert slfs("select", tmp_path / "a.pgen", "-k", "2", "--out", tmp_path / "b.bed")[0] == 0
    subset = PlinkColumns(tmp_path / "b.bed")
    assert subset.shape == (200, 2)
    np.testing.assert_array_equal(subset.phenotype, 1 + y)
    (tmp_path / "a.psam").write_text("#IID\np0\n")
    with pytest.raises(ValueError, match=r"a.pgen cannot be read with 12 variants .* and 1 samples"):
        read_file(str(tmp_path / "a.pgen"))


def test_an_array_that_grows_is_not_shared():
    """What a store has returned does not change when it grows."""
    layout = SampleLayout.from_class_codes(np.zeros(64, int), 1)
    store = PlaneStore(layout)
    random, parts = np.random.default_rng(0), []
    seen = []
    for _ in range(40):
        codes = random.integers(0, 2, (3, 64)).astype(np.uint8)
        counts = np.column_stack([(codes == 0).sum(axis=1), (codes == 1).sum(axis=1)]).reshape(-1)
        store.append(pack_block(layout, np.arange(3), codes, np.full(3, 2), counts))
        parts.append(codes)
        if random.random() < 0.5:
            seen.append((len(parts), store.packed().arrays.words))
    for number, words in seen:
        bits = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, 64)
        np.testing.assert_array_equal(bits, 1 - np.concatenate(parts[:number]))
