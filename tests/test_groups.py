"""feature_groups: columns that enter together; groups: rows that stay together."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

from slfs import BNSLFS, MRMR, SLFS, ResidualPursuit, StabilitySelection
from slfs.counting.residuals import Residuals
from slfs.evaluation import compare_methods, p_values
from slfs.files.writing import write_table
from slfs.measures import strata
from slfs.measures.adjusted import fit_covariates
from slfs.measures.adjusted_numbers import fit_number_covariates
from slfs.measures.residuals import AdditiveModel
from slfs.saving import load, save
from slfs.selectors._shared.joint_gain import joint_gain
from tests.helpers import information_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

WEAK = [f"weak{i}" for i in range(5)]
NOISE = [f"noise{i}" for i in range(8)]
GROUPS = {"weak": WEAK, "noise": NOISE}
SELECTORS = [SLFS, ResidualPursuit]


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Five weak columns, of which each tells less than "single", and one strong column."""
    random = np.random.default_rng(0)
    n = 800
    weak, single, strong = random.normal(size=(n, 5)), *random.normal(size=(2, n))
    y = (1.5 * strong + 0.5 * weak.sum(axis=1) + 0.9 * single + random.logistic(size=n) > 0).astype(int)
    X = pd.DataFrame(weak, columns=WEAK).assign(single=single, strong=strong)
    return X.join(pd.DataFrame(random.normal(size=(n, 8)), columns=NOISE)), y


@pytest.mark.parametrize("kind", SELECTORS)
def test_a_group_of_weak_columns_beats_a_single_column(
    kind: Any, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = table
    alone = kind(n_features_to_select=2).fit(X, y)
    assert alone.get_feature_names_out().tolist() == ["single", "strong"]
    fitted = kind(n_features_to_select=6, feature_groups=GROUPS).fit(X, y)
    assert X.columns[fitted.indices_].tolist() == ["strong", *WEAK]
    assert len(set(fitted.selection_scores_[1:].tolist())) == 1
    sentence = fitted.explain("weak2")
    assert "together with the 4 other columns of the group 'weak', after 1 other" in sentence


@pytest.mark.parametrize("kind", SELECTORS)
def test_a_group_that_does_not_fit_is_left_out(
    kind: Any, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = table
    fitted = kind(n_features_to_select=5, feature_groups=GROUPS).fit(X, y)
    assert set(fitted.get_feature_names_out()) == {"single", "strong"}


@pytest.mark.parametrize("kind", SELECTORS)
def test_the_size_is_found_by_groups(kind: Any, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    fitted = kind(feature_groups=GROUPS).fit(X, y)
    assert set(fitted.get_feature_names_out()) == {"strong", "single", *WEAK}
    losses = fitted.size_path_.log_loss
    assert len(set(losses[1:6].tolist())) < 5  # sizes inside a group have the loss of the one before


def test_copies_add_nothing() -> None:
    random = np.random.default_rng(1)
    n = 800
    copied, single = random.normal(size=(2, n))
    y = (copied + 1.4 * single + random.logistic(size=n) > 0).astype(int)
    X = pd.DataFrame({f"copy{i}": copied for i in range(10)}).assign(single=single)
    groups = {"copies": [f"copy{i}" for i in range(10)]}
    fitted = ResidualPursuit(n_features_to_select=11, feature_groups=groups).fit(X, y)
    assert fitted.indices_[0] == 10  # although its gain is not twice that of a copy
    one = ResidualPursuit(n_features_to_select=2).fit(X[["copy0", "single"]], y)
    assert fitted.selection_scores_[1] < 1.2 * one.selection_scores_[1]


def test_the_gain_of_one_column_is_the_joint_gain() -> None:
    random = np.random.default_rng(2)
    for n_classes in (2, 4):
        codes = random.integers(0, 3, (3, 200)).astype(np.uint8)
        y = (codes[0] + random.integers(0, 2, 200)) % n_classes
        information = information_of(codes, y)
        layout = information.packed.layout
        model = AdditiveModel(layout.labels, layout.totals)
        rows = Residuals.of_rows(model.weights(), model.n_residuals)
        for f in range(3):
            found = joint_gain(information, np.array([f]), rows)
            assert found == pytest.approx(information.backend.gains(np.array([f]), rows)[0])


@pytest.mark.parametrize("kind", SELECTORS)
def test_groups_of_one_column_change_nothing(kind: Any, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    plain = kind().fit(X, y)
    own: list[Any] = [{"a": ["weak0"], "b": ["strong"]}, list(range(X.shape[1])), [None] * X.shape[1]]
    for groups in own:
        fitted = kind(feature_groups=groups).fit(X, y)
        assert_array_equal(fitted.indices_, plain.indices_)
        assert_array_equal(fitted.selection_scores_, plain.selection_scores_)
        assert_array_equal(fitted.size_path_.log_loss, plain.size_path_.log_loss)


def test_labels_and_mappings_mean_the_same(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    labels = ["weak"] * 5 + [None, None] + ["noise"] * 8
    first = SLFS(n_features_to_select=6, feature_groups=GROUPS).fit(X, y)
    second = SLFS(n_features_to_select=6, feature_groups=labels, n_jobs=2).fit(X, y)
    assert_array_equal(first.indices_, second.indices_)
    assert first.explain("weak0") == second.explain("weak0")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature_groups": {"a": ["weak0", "weak1"], "b": ["weak1", "weak2"]}}, "'a' and 'b'.*overlap"),
        ({"feature_groups": [1, 2]}, "has 2 labels; X has 15 columns"),
        ({"feature_groups": GROUPS, "include": ["weak0"]}, "the group 'weak'.*List all of them or none"),
        ({"feature_groups": GROUPS, "order": "conditional"}, "needs order='residual'"),
        ({"feature_groups": {"a": ["weak7", "weak1"]}}, "names columns that X does not have"),
    ],
)
def test_errors(
    parameters: dict[str, Any], message: str, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    with pytest.raises(ValueError, match=message):
        SLFS(**parameters).fit(*table)


def test_a_tree_without_room_for_a_group_has_none_of_it(
    table: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X, y = table
    fitted = SLFS(n_features_to_select=8, feature_groups=GROUPS, max_depth=1, max_children=4).fit(X, y)
    assert not set(fitted.get_feature_names_out()) & set(WEAK)


def test_groups_with_other_parameters(table: tuple[pd.DataFrame, np.ndarray], tmp_path: Any) -> None:
    X, y = table
    given = SLFS(feature_groups=GROUPS, condition_on=["strong"], n_features_to_select=5).fit(X, y)
    assert given.get_feature_names_out().tolist() == WEAK
    included = SLFS(feature_groups=GROUPS, include=NOISE, n_features_to_select=9).fit(X, y)
    assert set(included.get_feature_names_out()) == {"strong", *NOISE}
    tested = SLFS(feature_groups=GROUPS, irrelevance="test", n_features_to_select=15).fit(X, y)
    assert not set(tested.get_feature_names_out()) & set(NOISE)
    save(given, tmp_path / "model.slfs")
    assert load(tmp_path / "model.slfs").explain("weak1") == given.explain("weak1")
    stable = StabilitySelection(clone(given).set_params(condition_on=None), n_subsamples=4).fit(X, y)
    assert len(set(stable.frequencies_[:5].tolist())) == 1
    noisy = StabilitySelection(clone(given), n_subsamples=4, fdr=0.5).fit(X, y)
    assert noisy.get_feature_names_out().tolist() == WEAK


# -- rows that stay together ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def patients() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten samples of each of 60 patients; the columns tell who it is, but not what is wrong."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    y = random.integers(0, 2, 60)[patient]
    return random.normal(size=(60, 30))[patient] + 0.05 * random.normal(size=(600, 30)), y, patient


def test_folds_keep_groups_together(patients: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, y, patient = patients
    assert SLFS().fit(X, y).size_path_.best > 5
    for cv in (5, StratifiedGroupKFold(5), GroupKFold(3)):
        fitted = SLFS(cv=cv).fit(X, y, groups=patient)
        assert fitted.size_path_.best <= 1
    names = pd.Series([f"patient {number}" for number in patient])
    assert_array_equal(
        SLFS().fit(X, y, groups=names).size_path_.log_loss,
        SLFS().fit(X, y, groups=patient).size_path_.log_loss,
    )


@pytest.mark.parametrize("kind", [SLFS, ResidualPursuit])
def test_noise_of_groups_is_not_selected_because_of_p_values(kind: Any) -> None:
    """p-values treat the 600 rows of 60 patients as independent, and find all columns significant."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    y = random.integers(0, 2, 60)[patient]
    X = random.normal(size=(60, 30))[patient] + 0.05 * random.normal(size=(600, 30))
    with pytest.warns(UserWarning, match="if the rows of a group were independent samples"):
        selector = kind().fit(X, y, groups=patient)
    assert selector.size_path_.best == 0
    assert selector.n_features_ == 0
    assert selector.explain(1).endswith("The test treats the rows of a group as independent samples.")


def test_fewer_groups_than_folds_are_warned_about(
    patients: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Fewer folds were used without a word."""
    X, y, patient = patients
    ward = patient % 9
    with pytest.warns(UserWarning, match="cv=20 is larger than the number of groups, 9, .* 9 folds"):
        found = SLFS(cv=20).fit(X, y, groups=ward).size_path_
    assert_array_equal(found.log_loss, SLFS(cv=9).fit(X, y, groups=ward).size_path_.log_loss)


def test_subsamples_keep_groups_together(
    patients: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, patient = patients
    seen: list[np.ndarray] = []

    class Watching(SLFS):
        def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
            seen.append(np.unique(groups, return_counts=True)[1])
            return super().fit(X, y, sample_weight, groups)

    stable = StabilitySelection(Watching(n_features_to_select=5), n_subsamples=6)
    stable.fit(X, y, groups=patient)
    assert len(seen) == 6
    assert all((sizes == 10).all() and 25 <= len(sizes) <= 35 for sizes in seen)


@pytest.fixture(scope="module")
def pairs() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A normal and a tumor sample of each of 30 patients, who differ more than the samples do."""
    random = np.random.default_rng(0)
    pair, y = np.repeat([f"p{i}" for i in range(30)], 2), np.tile(["normal", "tumor"], 30)
    X = np.repeat(random.normal(size=(30, 60)) * 3, 2, axis=0) + 0.5 * random.normal(size=(60, 60))
    X[:, :3] += 1.2 * (y == "tumor")[:, np.newaxis]
    return pd.DataFrame(X).add_prefix("g").assign(pair=pair, half=np.repeat(["a", "b"], 30)), y, pair


def test_pairs_have_p_values_that_are_too_large(
    pairs: tuple[pd.DataFrame, np.ndarray, np.ndarray],
) -> None:
    """The warning said too small, whatever the classes of the rows of a group are."""
    X, y, pair = pairs
    X = X.drop(columns=["pair", "half"]).assign(g0=X["g0"] / 3 + 2 * (y == "tumor"))
    assert np.mean(p_values(X.iloc[:, 3:], y) <= 0.2) < 0.05
    with pytest.warns(UserWarning, match="too large if all groups have the same shares of the classes"):
        SLFS().fit(X, y, groups=pair)
    with pytest.warns(UserWarning, match="too large if the target has the same mean in all groups"):
        SLFS().fit(X, X["g0"] + X["g1"] / 9, groups=pair)


def test_groups_with_all_classes_may_have_p_values_that_are_too_small() -> None:
    """The warning said too large, and advised a test in which columns of the groups have p = 1."""
    random = np.random.default_rng(0)
    school = np.repeat(np.arange(60), 20)
    y = random.random(1200) < random.beta(2, 2, 60)[school]
    traits = random.normal(size=(60, 200))[school]
    assert np.mean(p_values(traits, y) <= 0.05) > 0.3
    names = pd.DataFrame(traits).add_prefix("t").assign(school=[f"s{one}" for one in school])
    with pytest.warns(
        UserWarning, match="and too small if not.* other columns with one row per group and the share"
    ):
        SLFS(n_features_to_select=3).fit(names.drop(columns="school"), y, groups=school)
    given = SLFS(condition_on="school").fit(names, y)
    assert np.nanmin(given.pvalues_) == 1


def test_small_strata_are_drawn_like_groups(
    pairs: tuple[pd.DataFrame, np.ndarray, np.ndarray],
) -> None:
    """Half of the rows had lost their partner, and nothing was selected."""
    X, y, pair = pairs
    X = X.assign(g0=X["g0"] / 3 + 2 * (y == "tumor"))
    stable = StabilitySelection(SLFS(condition_on="pair", n_features_to_select=2), n_subsamples=10)
    found, expected = clone(stable).fit(X, y), clone(stable).fit(X, y, groups=pair)
    assert_array_equal(found.frequencies_, expected.frequencies_)
    assert found.get_feature_names_out().tolist() == ["g0"]
    numbered = X.assign(pair=np.repeat(np.arange(30), 2))
    with pytest.warns(UserWarning, match=r"declare it categorical: categorical_features=\['pair'\]"):
        clone(stable).fit(numbered, y)


def test_groups_that_are_conditioned_on_are_part_of_the_tests(
    pairs: tuple[pd.DataFrame, np.ndarray, np.ndarray], tmp_path: Any
) -> None:
    """The advice was to test the means of pairs, which have no class."""
    X, y, pair = pairs
    with pytest.warns(
        UserWarning, match="3 columns depend significantly on the class given 'pair', but"
    ):
        given = SLFS(condition_on="pair").fit(X, y, groups=pair)
    save(given, tmp_path / "given.slfs")
    for fitted in (given, load(tmp_path / "given.slfs")):
        assert "rows of a group" not in fitted.explain("g0")
    with pytest.warns(UserWarning, match="have different classes: test columns that vary within groups"):
        SLFS().fit(X, y, groups=pair)
    with pytest.warns(UserWarning, match="selected 0"):  # halves of the patients do not tell the pair
        half = SLFS(condition_on="half").fit(X, y, groups=pair)
    assert half.explain("g0").endswith("The test treats the rows of a group as independent samples.")


def test_the_means_of_groups_with_different_classes_are_not_advised() -> None:
    """Rows of a group are nearly copies, so that rows pass for significant; half have another class."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    y = random.integers(0, 2, 60)[patient]
    X = random.normal(size=(60, 30))[patient] + 0.05 * random.normal(size=(600, 30))
    y[::100] = 1 - y[::100]
    with pytest.warns(UserWarning, match="test one row per .* means of its rows of the most freq"):
        SLFS().fit(X, y, groups=patient)
    y[::2] = 1 - y[::2]
    with pytest.warns(
        UserWarning, match="The rows of a group have different classes: test columns that vary"
    ):
        SLFS().fit(X, y, groups=patient)


def test_groups_are_routed(patients: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, y, patient = patients
    informative = np.column_stack([X, y + np.random.default_rng(0).normal(0, 0.3, len(y))])
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SLFS().set_fit_request(groups=True)
        classifier = BNSLFS(SLFS()).set_fit_request(groups=True)
        for model in (make_pipeline(selector, LogisticRegression()), classifier):
            found = cross_validate(model, informative, y, cv=GroupKFold(2), params={"groups": patient})
            assert len(found["test_score"]) == 2
    fitted = BNSLFS(SLFS()).fit(X, y, groups=patient)
    assert_array_equal(fitted.selector_.indices_, SLFS().fit(X, y, groups=patient).indices_)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "groups has 2 labels; X has 600 rows"),
        ([None] * 600, "groups has 600 missing labels, the first in row 0"),
        ([1] * 600, "groups has a single group"),
    ],
)
def test_wrong_groups(
    groups: list[Any], message: str, patients: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    X, y, _ = patients
    with pytest.raises(ValueError, match=message):
        SLFS().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="pass them to fit"):
        SLFS(cv=StratifiedGroupKFold(5)).fit(X, y)


@pytest.mark.parametrize("parameters", [{"feature_groups": {"g": [0, 1]}}, {"condition_on": [2]}])
def test_the_levels_of_stable_columns_are_those_of_their_codes(parameters: dict[str, Any]) -> None:
    random = np.random.default_rng(3)
    z, own = 4 * random.normal(size=400), random.normal(size=400)
    y = (own + 0.3 * random.normal(size=400) > 0).astype(int)
    grouped = "feature_groups" in parameters
    X = np.column_stack([own, random.normal(size=400), z] if grouped else [z + own, own, z])
    inner = SLFS(n_features_to_select=2, **parameters)
    stable = StabilitySelection(inner, n_subsamples=6).fit(X, y)
    assert stable.indices_.tolist() == [0, 1] if grouped else 0 in stable.indices_
    levels = stable.features_["n_levels"][stable.indices_]
    assert levels.min() > 1
    assert [len(own) for own in stable.network_counts_.class_counts] == levels.tolist()
    assert stable.to_classifier().score(X, y) > 0.8


def test_subsamples_of_a_single_group() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 90)
    X = random.normal(size=(90, 4)) + y[:, np.newaxis] * [1.5, 0, 0, 0]
    stable = StabilitySelection(SLFS(), n_subsamples=6).fit(X, y, groups=np.arange(90) % 3)
    assert 0 in stable.indices_
    with pytest.raises(ValueError, match="every class needs samples in at least two groups"):
        SLFS().fit(X, y, groups=y)


def customers(n_customers, n_rows, *, continuous, seed=0):
    """Columns and target that depend on the customer, but not on each other given the customer."""
    random = np.random.default_rng(seed)
    customer = np.repeat(np.arange(n_customers), n_rows)
    level = 2 * random.normal(size=n_customers)[customer]
    y = level + random.normal(size=len(level)) if continuous else random.random(len(level)) < 0.5
    y = y if continuous else random.random(len(level)) < 1 / (1 + np.exp(-level))
    numbers = 3 * random.normal(size=(n_customers, 300))[customer] + random.normal(size=(len(y), 300))
    X = pd.DataFrame(numbers).add_prefix("z").assign(age=customer % 50)
    return X.assign(customer=[f"C{one:04}" for one in customer]), y


@pytest.mark.parametrize("continuous", [False, True])
def test_more_categories_than_levels_are_conditioned_on(continuous, monkeypatch):
    """Categories beyond the 254 most frequent ones were one stratum: 23% of p-values were below 5%."""
    X, y = customers(300, 9, continuous=continuous)
    found = p_values(X, y, condition_on=["customer"], target="auto")
    assert np.mean(found[:300] < 0.05) < 0.09
    assert found[300] == 1  # the age of a customer is the same in all rows
    fitted = SLFS(condition_on="customer").fit(X, y)
    assert (fitted.qvalues_[:300] > 0.05).all()
    monkeypatch.setattr(strata, "MOST_PARAMETERS", 1000)
    many = X.assign(other=(np.arange(len(X)) // 2).astype(str))
    with pytest.raises(ValueError, match="1650 categories together, but at most 1000 are possible"):
        p_values(many, y, condition_on=["customer", "other"])


@pytest.mark.parametrize("continuous", [False, True])
def test_many_strata_are_tested_like_few_ones(continuous, monkeypatch):
    random = np.random.default_rng(0)
    stratum, labels = np.repeat(np.arange(40), 6), random.integers(0, 3, 240)
    columns = random.integers(0, 4, (20, 240)).astype(np.uint8)
    ranks = random.permutation(240) - 120

    def test_all():
        if continuous:
            model = fit_number_covariates([stratum], np.empty((0, 240)), ranks, labels)
        else:
            model = fit_covariates([stratum], labels)
        return model.test(columns, np.tile(np.arange(256) < 4, (20, 1)))

    expected = test_all()
    monkeypatch.setattr(strata, "_MANY", 20)
    np.testing.assert_allclose(test_all(), expected, rtol=0.01)


def test_tests_of_grouped_rows_are_warned_about(
    patients: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """An informative column had overwhelming evidence, which counts each patient ten times."""
    X, y, patient = patients
    X = np.column_stack([X, y + np.random.default_rng(0).normal(0, 0.3, len(y))])
    with pytest.warns(UserWarning, match="600 rows of 60 groups .* test one row per group"):
        SLFS().fit(X, y, groups=patient)
    with pytest.warns(
        UserWarning, match="treat the 600 rows of 30 groups .* test columns that vary within groups"
    ):
        SLFS().fit(X, y, groups=np.arange(600) % 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SLFS().fit(X, y, groups=np.arange(600))  # each row is a group


def test_models_name_what_uses_groups(patients: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """It was a TypeError about an argument that the model does have."""
    X, y, patient = patients
    with pytest.raises(ValueError, match="which MRMR does not do"):
        BNSLFS(MRMR()).fit(X, y, groups=patient)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_groups_on_the_command_line(
    suffix: str, slfs: Any, patients: tuple[np.ndarray, np.ndarray, np.ndarray], tmp_path: Any
) -> None:
    X, y, patient = patients
    table = pd.DataFrame(X[:, :6]).add_prefix("x").assign(patient=patient, y=np.where(y, "ill", "well"))
    table["good"] = y + np.random.default_rng(0).normal(0, 0.5, len(y))
    path = tmp_path / f"table.{suffix}"
    write_table(table, path)
    selected = json.loads(slfs("select", path, "-t", "y", "--groups", "patient", "--json")[1])
    expected = SLFS().fit(table.drop(columns=["y", "patient"]), table["y"], groups=patient)
    assert selected["selected"] == expected.get_feature_names_out().tolist() == ["good"]
    as_id = slfs("select", path, "-t", "y", "--groups", "patient", "--id", "patient", "--json")
    assert json.loads(as_id[1])["size_path"] == selected["size_path"]
    explained = slfs("explain", "good", path, "-t", "y", "--groups", "patient")
    assert "treats the rows of a group as independent" in explained[1]
    both = ("--groups", "patient", "--condition-on", "patient", "--categorical", "patient")
    given = slfs("select", path, "-t", "y", *both, "--json")
    assert "patient" not in json.loads(given[1])["selected"]
    position = str(table.columns.get_loc("patient"))
    by_index = slfs("select", path, "-t", "y", "--groups", position, *both[2:], "--json")
    assert json.loads(by_index[1])["selected"] == json.loads(given[1])["selected"]
    write_table(table.assign(patient=table["patient"].astype(str).where(patient > 5, "")), path)
    told = slfs("select", path, "-t", "y", "--groups", "patient", "--id", "patient")
    assert (told[0], " missing labels" in told[2]) == (1, True)
    code, _, error = slfs("select", path, "-t", "y", "--groups", "patient", "-m", "mrmr")
    assert code == 1
    assert "--method slfs or residual" in error


def test_comparisons_keep_groups_together(
    slfs: Any, patients: tuple[np.ndarray, np.ndarray, np.ndarray], tmp_path: Any
) -> None:
    """Columns that tell who a patient is seemed to predict the disease of patients never seen."""
    X, y, patient = patients
    table = pd.DataFrame(X).add_prefix("x")
    for groups, least, most in ((None, 0.9, 1), (patient, 0, 0.75)):
        rows = compare_methods(
            table, y, {"mrmr": MRMR()}, ["3-NN"], n_features_to_select=8, groups=groups
        )
        assert least <= rows["accuracy"].mean() <= most
    path = tmp_path / "table.csv"
    table.assign(patient=patient, y=y).to_csv(path, index=False)
    told = slfs(
        "compare", path, "-t", "y", "--groups", "patient", "--methods", "mrmr", "-k", "8", "--json"
    )
    accuracy = {row["classifier"]: row["accuracy"] for row in json.loads(told[1])["summary"]}
    assert accuracy["3-NN"] == pytest.approx(rows["accuracy"].mean())
    with pytest.raises(ValueError, match="there are 3 groups"):
        compare_methods(table, y, {"mrmr": MRMR()}, ["NB"], groups=np.arange(600) % 3)
    with pytest.raises(ValueError, match="The class 1 occurs in a single group"):
        compare_methods(table, y, {"mrmr": MRMR()}, ["NB"], groups=y * 100 + (1 - y) * patient, cv=2)


def test_a_mixed_group_among_many_does_not_change_what_groups_mean() -> None:
    """One patient with two outcomes led to the advice to condition on patients."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    y = (np.arange(60) % 2)[patient]
    X = random.normal(size=(60, 5))[patient] + 2 * y[:, np.newaxis] + random.normal(size=(600, 5))
    y[0] = 1 - y[0]
    with pytest.warns(UserWarning, match=r"too small if .* are alike. For valid ones, test one row per"):
        SLFS(n_features_to_select=2).fit(X, y, groups=patient)


@pytest.mark.filterwarnings("ignore:sample_weight")
def test_rows_of_weight_zero_are_not_counted() -> None:
    """They were left out of the selection, but part of the number of rows that is shown."""
    random = np.random.default_rng(0)
    y, pair, weight = np.arange(80) % 2, np.arange(80) // 2, random.random(80)
    X, weight[:8] = random.normal(size=(80, 3)) + y[:, np.newaxis], 0
    selector = SLFS(n_features_to_select=2)
    with pytest.warns(UserWarning, match="treat the 72 rows of 36 groups"):
        selector.fit(X, y, sample_weight=weight, groups=pair)
    assert selector.network_counts_.n_used == 72


@pytest.mark.filterwarnings("ignore:.* selected 0 of", "ignore:p-values")
def test_what_to_try_with_groups_has_no_groups(slfs: Any, tmp_path: Any, monkeypatch: Any) -> None:
    """Methods were suggested that refuse --groups."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    table["d"] = random.choice(list("uvw"), 200)
    table.assign(y=np.arange(200) % 2, who=np.arange(200) // 2).to_csv("t.csv", index=False)
    error = slfs("select", "t.csv", "-t", "y", "--groups", "who")[2]
    assert "use --method interactions (without --groups) to find" in error
    error = slfs("select", "t.csv", "-t", "y", "--groups", "who", "--stability", "6")[2]
    assert "use --method interactions (without --stability and --groups) to find" in error


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("continuous", [False, True])
def test_a_column_given_covariates_is_tested_like_without_the_others(continuous, many, monkeypatch):
    """To the bit: blocks of columns have any size."""
    random = np.random.default_rng(1)
    stratum, labels = random.integers(0, 9, 150), random.integers(0, 3, 150)
    widths = random.integers(1, 8, 40)
    codes = np.array([random.integers(0, width, 150) for width in widths]).astype(np.uint8)
    ordered = np.arange(256) < (widths * random.integers(0, 2, 40))[:, np.newaxis]
    if many:
        monkeypatch.setattr(strata, "_MANY", 5)
    model = fit_covariates([stratum], labels)
    if continuous:
        ranks = random.permutation(150) - 75
        model = fit_number_covariates([stratum], np.empty((0, 150)), ranks, labels)
    together = model.test(codes, ordered)
    alone = [model.test(codes[[column]], ordered[[column]])[0] for column in range(40)]
    np.testing.assert_array_equal(together, alone)
    assert len(set(together.tolist())) > 20
    monkeypatch.setattr(strata, "_MOST_AT_ONCE", 1 << 12)
    np.testing.assert_array_equal(together, model.test(codes, ordered))


def test_a_class_in_a_single_group_does_not_count_in_the_log_loss():
    """Its rows had a log loss of 34.5 nats whatever was selected."""
    random = np.random.default_rng(0)
    shop = random.integers(0, 20, 1000)
    kind = np.where(random.random(1000) < 0.5, "A", "B").astype(object)
    kind[shop == 7] = "outlet"
    X = pd.DataFrame(random.normal(size=(1000, 2)), columns=["x", "z"])
    X["x"] += 0.6 * (kind == "A")
    with pytest.warns(UserWarning, match="All rows of the class 'outlet' are in one group, so that"):
        path = SLFS().fit(X, kind, groups=shop).size_path_
    rest = shop != 7
    expected = SLFS().fit(X[rest], kind[rest], groups=shop[rest]).size_path_
    np.testing.assert_allclose(path.log_loss, expected.log_loss, atol=0.1)  # outlet has a share
    assert path.standard_error.max() < 0.05
    with pytest.raises(ValueError, match=r"'outlet' occurs in a single group, .* Leave out the rows"):
        compare_methods(X, kind, {"slfs": SLFS()}, ["NB"], groups=shop)
