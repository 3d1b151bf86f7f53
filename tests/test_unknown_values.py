"""Values that were not seen in fit are summed out of the network, and one warning counts them."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from slfs import BNSLFS, MRMR, SLFS, TAN, ChowLiu, MDLPDiscretizer, NaiveBayes, UnseenValueWarning
from slfs.classifiers import inference
from slfs.classifiers.inference import joint_log_proba, log_factors, parents_first
from slfs.classifiers.tables import LogTable
from slfs.coding.encode import Encoded, encode_table
from slfs.coding.level_names import level_names
from tests import naive
from tests.helpers import dependent_codes

CLASSIFIERS = {
    "linked": BNSLFS(SLFS(categorical_features="all", max_children=2, max_depth=3), structure="linked"),
    "augmented": BNSLFS(SLFS(categorical_features="all", max_depth=3), structure="augmented"),
    "tree": BNSLFS(SLFS(categorical_features="all", max_children=2), structure="tree"),
    "mrmr": BNSLFS(MRMR(4, categorical_features="all"), structure="linked"),
    "tan": TAN(categorical_features="all"),
    "chow-liu": ChowLiu(categorical_features="all"),
    "naive": NaiveBayes(categorical_features="all"),
}


@st.composite
def networks(draw):
    """A network of up to five nodes, its prior, and samples with unknown values."""
    n_nodes, n_classes = draw(st.integers(0, 5)), draw(st.integers(2, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parents = [int(random.integers(-1, node)) if node else -1 for node in range(n_nodes)]
    shuffled = random.permutation(n_nodes)  # parents need not come first
    place = np.argsort(shuffled)
    parents = [int(place[parents[old]]) if parents[old] >= 0 else -1 for old in shuffled]
    levels = random.integers(1, 4, n_nodes)
    tables = []
    for node, parent in enumerate(parents):
        given = 1 if parent < 0 else levels[parent]
        shape = (levels[node], given, 1 if random.random() < 0.3 else n_classes)
        shares = random.random(shape) ** 4 + 1e-9
        tables.append(LogTable(parent, np.log(shares / shares.sum(axis=0))))
    prior = random.dirichlet(np.ones(n_classes))
    n_samples = draw(st.integers(0, 4))
    codes = (random.random((n_nodes, n_samples)) * levels[:, np.newaxis]).astype(np.uint8)
    mask = random.random((n_nodes, n_samples)) < draw(st.sampled_from([0, 0.3, 0.7, 1]))
    unknown = {node: mask[node] for node in range(n_nodes) if mask[node].any()}
    return tables, prior, Encoded(codes, unknown), mask


def brute_force(tables, prior, codes, mask):
    """log P(class, known values) of each sample, by the definition."""
    plain = [np.exp(table.values).tolist() for table in tables]
    parents = [table.parent for table in tables]
    return np.log(
        [
            naive.marginal_probability(
                prior.tolist(),
                plain,
                parents,
                [None if gone else int(code) for code, gone in zip(*sample, strict=True)],
            )
            for sample in zip(codes.T, mask.T, strict=True)
        ]
    ).reshape(-1, len(prior))


@given(networks())
def test_unknown_values_are_summed_out(network):
    tables, prior, encoded, mask = network
    found = joint_log_proba(tables, np.log(prior), encoded)
    expected = brute_force(tables, prior, encoded.codes, mask)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(networks())
def test_factors_follow_the_chain_rule(network):
    tables, prior, encoded, mask = network
    found = log_factors(tables, len(prior), encoded)
    assert found.shape == (*encoded.codes.T.shape, len(prior))
    assert not found[mask.T].any(), "unknown values say nothing"
    hidden = np.ones_like(mask)
    before = brute_force(tables, prior, encoded.codes, hidden)
    np.testing.assert_allclose(before, np.tile(np.log(prior), (len(before), 1)))
    for node in parents_first(np.array([table.parent for table in tables], np.int64)):
        hidden[node] = mask[node]
        after = brute_force(tables, prior, encoded.codes, hidden)
        np.testing.assert_allclose(found[:, node], after - before, atol=1e-9)
        before = after


@given(networks())
def test_samples_in_pieces(network):
    tables, prior, encoded, _ = network
    whole = joint_log_proba(tables, np.log(prior), encoded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "_MESSAGE_ENTRIES", 1)
        np.testing.assert_array_equal(joint_log_proba(tables, np.log(prior), encoded), whole)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_fitted_classifiers_sum_missing_values_out(name):
    codes, y = dependent_codes(3, 150, 5, n_levels=3)
    classifier = CLASSIFIERS[name].fit(codes.T, y)
    assert len(classifier.network_) >= 3
    random = np.random.default_rng(0)
    X = codes.T[:40].astype(float)
    X[random.random(X.shape) < 0.4] = np.nan
    X[0] = np.nan
    X[1] = 17  # a new category
    mask = np.isnan(X) | (X == 17)
    assert (~mask).all(axis=1).any()
    own = classifier.network_.columns
    values = np.nan_to_num(X[:, own]).astype(int).T
    with pytest.warns(UnseenValueWarning):
        joint = classifier.predict_joint_log_proba(X)
    expected = brute_force(classifier._tables, np.exp(classifier._log_prior), values, mask[:, own].T)
    np.testing.assert_allclose(joint, expected, rtol=1e-9)
    prior = (np.bincount(y) + 1) / (len(y) + 3)
    with pytest.warns(UnseenValueWarning):
        np.testing.assert_allclose(classifier.predict_proba(X[:2]), [prior, prior], rtol=1e-15)


def test_missing_values_that_were_seen_are_a_level():
    y = np.array([0, 1] * 50)
    x = np.where(y == 1, np.nan, 0.5)
    frame = pd.DataFrame({"x": x, "s": np.where(y == 1, None, "a")})
    classifier = NaiveBayes().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classifier.predict(frame).tolist() == y.tolist()
    new = pd.DataFrame({"x": ["text", "nan"], "s": ["b", 3]})
    with pytest.warns(UnseenValueWarning, match=r"'x' \(2 of 2 rows, e\.g\. 'text'\)"):
        np.testing.assert_allclose(classifier.predict_proba(new), 0.5)


def test_text_that_is_a_number_counts_as_one():
    X, y = load_iris(return_X_y=True, as_frame=True)
    classifier = BNSLFS().fit(X, y)
    text = X.iloc[::10].astype(str)
    np.testing.assert_array_equal(classifier.predict_proba(text), classifier.predict_proba(X.iloc[::10]))
    text.iloc[0, 3] = "0.2 cm"
    known = X.iloc[::10].copy()
    known.iloc[0, 3] = np.nan
    with pytest.warns(UnseenValueWarning, match="0.2 cm"):
        found = classifier.predict_proba(text)
    with pytest.warns(UnseenValueWarning, match="a missing value"):
        np.testing.assert_array_equal(found, classifier.predict_proba(known))


def test_one_warning_counts_the_values_of_each_column():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    classifier = NaiveBayes().fit(X, y)
    new = X.iloc[:10].copy()
    new.iloc[2:5, :7] = np.nan
    for method in ("predict", "predict_proba", "predict_log_proba", "score_samples"):
        with pytest.warns(UnseenValueWarning) as caught:
            getattr(classifier, method)(new)
        assert len(caught) == 1
        message = str(caught[0].message)
        assert message.startswith(
            "7 columns contain values that were not seen in fit: 'mean radius' (3 of"
        )
        assert "10 rows, e.g. a missing value), 'mean texture'" in message
        assert message.endswith("and 2 more. These values carry no information in the prediction.")
        assert caught[0].filename == __file__


def test_rows_without_unknown_values_are_not_changed_by_others():
    X, y = load_breast_cancer(return_X_y=True)
    classifier = TAN().fit(X, y)
    expected = classifier.predict_joint_log_proba(X)
    X[::2, 3:9] = np.nan
    with pytest.warns(UnseenValueWarning):
        found = classifier.predict_joint_log_proba(X)
    np.testing.assert_array_equal(found[1::2], expected[1::2])
    with pytest.warns(UnseenValueWarning):
        np.testing.assert_array_equal(classifier.predict_joint_log_proba(X[:1]), found[:1])


def test_the_discretizer_codes_unseen_values_and_says_so():
    frame = pd.DataFrame({"a": ["u", "u", "v", "v", "v"], "b": [1.0, 2, None, 1, 2]})
    discretizer = MDLPDiscretizer().fit(frame, [0, 0, 1, 1, 1])
    with pytest.warns(
        UnseenValueWarning, match="coded as missing or as the most frequent level"
    ) as caught:
        codes = discretizer.transform(pd.DataFrame({"a": ["w", None, "u"], "b": ["x", None, "1"]}))
    assert codes.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert len(caught) == 1


def test_a_column_that_was_all_missing_in_fit_does_not_know_numbers():
    X = np.column_stack([np.full(6, np.nan), np.arange(6)])
    discretizer = MDLPDiscretizer().fit(X, [0, 1] * 3)
    with pytest.warns(UnseenValueWarning, match=r"'x0' \(1 of 2 rows, e\.g\. 3\)"):
        assert discretizer.transform([[3.0, 1], [np.nan, 1]])[:, 0].tolist() == [0, 0]


def test_probabilities_that_no_float_can_hold():
    """An unknown node with a hundred children: their product is far below the smallest float."""
    likely = np.log([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]])[:, :, np.newaxis]
    hub = LogTable(-1, np.log([[[0.3, 0.6]], [[0.7, 0.4]]]))
    tables = [hub, *(LogTable(0, likely) for _ in range(100))]
    codes = np.zeros((101, 2), np.uint8)
    codes[1:51, 1] = 1  # half of the children contradict the other half
    encoded = Encoded(codes, {0: np.ones(2, np.bool_)})
    found = joint_log_proba(tables, np.log([0.5, 0.5]), encoded)
    half = np.log(0.5)
    np.testing.assert_allclose(found[0], half + np.log([0.3, 0.6]) + 100 * np.log(1 - 1e-9))
    np.testing.assert_allclose(found[1], half + 50 * np.log(1e-9) + 50 * np.log(1 - 1e-9))


def test_text_with_underscores_is_not_a_number():
    """Python reads 2024_01 as 202401."""
    a = 5 * np.random.default_rng(0).normal(size=300)
    model = BNSLFS().fit(pd.DataFrame({"a": a}), a > 0)
    with pytest.warns(UnseenValueWarning, match="2024_01"):
        found = model.predict_proba(pd.DataFrame({"a": ["2024_01"]}))
    np.testing.assert_allclose(found[0], np.bincount(a > 0) / 300, atol=0.01)


@pytest.mark.parametrize("n_codes", [4, 16, 17, 40])
def test_text_that_is_a_number_is_the_category_of_that_number(n_codes):
    """Columns with more than 16 categories are grouped; that must not change what a value means."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"code": random.integers(0, n_codes, 2000)})
    y = random.random(2000) < 0.2 + 0.6 * (X["code"] % 2)
    model = BNSLFS(SLFS(categorical_features=["code"])).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X.astype(str)), model.predict_proba(X))
    with pytest.warns(UnseenValueWarning, match="'no code'"):
        model.predict(pd.DataFrame({"code": ["1", "no code"]}))


def test_dates_and_booleans_as_text():
    """A service receives them as JSON."""
    random = np.random.default_rng(0)
    days = pd.Series(pd.Timestamp("2022-01-01") + pd.to_timedelta(random.integers(0, 1000, 400), "D"))
    flag = random.random(400) < 0.5
    y = (days > "2023-06-01").to_numpy() * 2 + flag + random.normal(size=400) > 1.5
    X = pd.DataFrame({"when": days, "flag": flag})
    model = BNSLFS().fit(X, y)
    expected = model.predict_proba(X)
    for text in ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"):
        found = model.predict_proba(X.assign(when=days.dt.strftime(text), flag=flag.astype(str)))
        np.testing.assert_array_equal(found, expected)
    with pytest.warns(UnseenValueWarning, match=r"'soon'.*'maybe'"):
        model.predict(pd.DataFrame({"when": ["soon"], "flag": ["maybe"]}))


def test_dates_and_durations_out_of_range():
    """New dates were asked for their unit, and durations were shown in microseconds."""
    random = np.random.default_rng(0)
    y = random.integers(2, size=300)
    days = pd.to_timedelta(random.integers(0, 300, 300) + 200 * y, unit="D")
    X = pd.DataFrame(
        {"start": pd.Timestamp("2022-01-01") + days, "length": days + pd.Timedelta(hours=12)}
    )
    model = BNSLFS(SLFS(include=["start", "length"])).fit(X, y)
    later = X.assign(start=X["start"] + pd.Timedelta(days=999))
    with pytest.warns(UnseenValueWarning, match=r"'start' .* in fit 2022-01-0\d to 2023.*as durations"):
        model.predict(later)
    with pytest.warns(UnseenValueWarning, match="'start' .* in fit 2022-01-0"):
        model.predict(later.astype({"start": str}))
    with pytest.warns(UnseenValueWarning, match=r"e\.g\. [\d.]+ days; in fit [\d.]+ to [\d.]+ days\)"):
        model.predict(X.assign(length=X["length"] * 99))


@pytest.mark.parametrize("structure", ["additive", "linked"])
def test_a_value_that_was_missing_once_is_no_evidence(structure):
    """Where one of 6000 training rows lacked three values, their loss made models sure of its class."""
    random = np.random.default_rng(0)
    y = random.random(6000) < 0.3
    X = pd.DataFrame({name: random.normal(size=6000) + y for name in "abcd"})
    X.iloc[int(y.argmax()), :3] = np.nan
    model = BNSLFS(structure=structure).fit(X, y)
    lost = X[1000:].assign(a=np.nan, b=np.nan, c=np.nan)
    with pytest.warns(UnseenValueWarning, match="not, or hardly ever, seen in fit: .*5000 of 5000 rows"):
        shares = model.predict_proba(lost)[:, 1]
    with pytest.warns(UnseenValueWarning, match="1 of 1 rows"):  # it was silent for less than five rows
        model.predict(lost[:1])
    assert shares.mean() == pytest.approx(y[1000:].mean(), abs=0.03)
    others = BNSLFS(structure=structure).fit(X.dropna(), y[X.notna().all(axis=1)])
    with pytest.warns(UnseenValueWarning, match="not seen in fit"):
        expected = others.predict_proba(lost)[:, 1]
    np.testing.assert_allclose(shares, expected, atol=0.03)


def calls(n_samples, share_of_standard_texts=0.0, seed=0):
    """Notes on calls, nearly all of them different, that exist if there was a call; and a class."""
    random = np.random.default_rng(seed)
    y = random.random(n_samples) < 0.4
    called = random.random(n_samples) < np.where(y, 0.7, 0.1)
    standard = random.random(n_samples) < share_of_standard_texts
    text = np.where(standard, "no answer", [f"note {seed}-{i}" for i in range(n_samples)])
    note = pd.Series(np.where(called, text, None), dtype=object)
    return pd.DataFrame({"note": note, "called": np.where(called, "yes", "no")}), y


@pytest.mark.parametrize("n_samples", [120, 1500])
@pytest.mark.parametrize("structure", ["additive", "linked"])
def test_new_texts_are_like_those_that_occur_once(n_samples, structure):
    """Notes were preferred to 'called', but all new notes were unknown, so that the model lost both."""
    (X, y), (new, _) = calls(n_samples), calls(400, seed=1)
    found = BNSLFS(structure=structure).fit(X, y)
    assert found.selector_.get_feature_names_out().tolist() == ["note"]
    assert "Only whether its value is missing is used." in found.selector_.explain("note")
    alone = BNSLFS(structure=structure).fit(X[["called"]], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = alone.predict_proba(new[["called"]])
        np.testing.assert_allclose(found.predict_proba(new), expected, atol=0.01)


@pytest.mark.parametrize("n_samples", [200, 2000])
def test_texts_that_occur_once_have_a_level_beside_frequent_ones(n_samples):
    X, y = calls(n_samples, share_of_standard_texts=0.3)
    y = y & (X["note"] != "no answer").to_numpy()
    classifier = BNSLFS().fit(X[["note"]], y)
    names = np.array(level_names(classifier._coding, 0))
    assert "missing" in names
    assert any(name.startswith("no answer") for name in names)
    new = classifier.predict_proba(pd.DataFrame({"note": ["another note", "no answer", None]}))[:, 1]
    single = X["note"].notna() & (X["note"] != "no answer")
    assert new[0] == pytest.approx(y[single].mean(), abs=0.03)
    assert new[1] < 0.1


def test_a_new_value_among_repeated_ones_is_unknown():
    """Only where most values occur once does this tell anything about new ones."""
    random = np.random.default_rng(0)
    city = random.integers(0, 60, 3000)
    y = random.random(3000) < np.where(city % 2, 0.7, 0.3)
    frame = pd.DataFrame({"city": [f"city {value}" for value in city]})
    classifier = BNSLFS().fit(frame, y)
    with pytest.warns(UnseenValueWarning, match="'city' .1 of 1 rows, e.g. 'a village'"):
        share = classifier.predict_proba(pd.DataFrame({"city": ["a village"]}))[0, 1]
    assert share == pytest.approx(y.mean(), abs=0.01)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize(("label", "n_missing", "rarely"), [(0, 20, False), (1, 4, True)])
def test_missing_values_are_counted_without_weights(label, n_missing, rarely, class_weight):
    """Of a frequent class, 20 were few, and of a rare one, 4 many."""
    random = np.random.default_rng(0)
    y = (np.arange(400) < 40).astype(int)
    X = pd.DataFrame({"x": random.normal(size=400) + 2 * y})
    X.iloc[np.flatnonzero(y == label)[:n_missing]] = np.nan
    counts = SLFS(include=["x"], class_weight=class_weight).fit(X, y).network_counts_
    assert counts.coding.columns["few_missing"].tolist() == [rarely]


def test_a_column_that_is_selected_for_its_missing_values_uses_them():
    """Four of four missing values had the rare class, which was all that was found, and ignored."""
    random = np.random.default_rng(0)
    y = (np.arange(200) < 8).astype(int)
    X = pd.DataFrame({"x": random.normal(size=200)})
    X.iloc[:4] = np.nan
    model = BNSLFS().fit(X, y)
    assert "Only whether its value is missing is used" in model.selector_.explain("x")
    missing, known = model.predict_proba(pd.DataFrame({"x": [np.nan, 0.0]}))[:, 1]
    assert missing > 0.3 > known


def test_a_number_among_texts_is_unknown():
    (X, y), _ = calls(400), None
    model = BNSLFS().fit(X[["note"]], y)
    with pytest.warns(UnseenValueWarning, match=r"'note' \(1 of 2 rows, e\.g\. 5\)"):
        number, text = model.predict_proba(pd.DataFrame({"note": [5, "a new note"]}, dtype=object))[:, 1]
    assert number == pytest.approx(y.mean(), abs=0.01)
    assert text > 0.7


def test_numbers_of_another_unit_are_warned_about():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BNSLFS(SLFS(n_features_to_select=2)).fit(X, y)
    name = model.selector_.get_feature_names_out()[0]
    other = X.assign(**{name: X[name] * 10})
    described = rf"1 column contains mostly values .*: '{re.escape(name)}' \(\d+ of 150 rows, e\.g\. "
    with pytest.warns(UnseenValueWarning, match=described):
        model.predict(other)
    texts = other.astype({name: str})
    with pytest.warns(UnseenValueWarning, match=f"{described}.* unit and the scale"):
        model.predict(texts)  # as from a file with a stray text, which was silent
    texts.loc[3, name] = "unknown"
    missing = other.assign(**{name: other[name].where(other.index != 3)})
    for one, example in [(texts, "'unknown'"), (missing, "a missing value")]:
        unknown = rf"\(1 of 150 rows, e\.g\. {example}\)"
        with (
            pytest.warns(UnseenValueWarning, match=unknown),
            pytest.warns(UnseenValueWarning, match=described),
        ):
            model.predict(one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        model.predict(other[:4])  # too few samples to tell
        model.predict(pd.concat([X, other]))  # not most of them


@pytest.mark.parametrize(("n_missing", "counted"), [(60, 61), (1, 2), (0, 1)])
def test_unknown_text_and_missing_values_are_counted(n_missing, counted):
    random = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = pd.DataFrame({"x": random.normal(size=400) + 2 * y})
    X.iloc[:2] = np.nan
    model = BNSLFS().fit(X, y)
    assert model._coding.columns["few_missing"].tolist() == [True]
    new = X[100:200].astype(object)
    new.iloc[0], new.iloc[1 : 1 + n_missing] = "n/d", np.nan
    seen = "not seen" if n_missing == 0 else "not, or hardly ever, seen"
    expected = rf"that were {seen} in fit: 'x' \({counted} of 100 rows, e\.g\. 'n/d'\)"
    with pytest.warns(UnseenValueWarning, match=expected):
        known = model.explain_prediction(new).known[:, 0]
    assert known.tolist() == [False] * (1 + n_missing) + [True] * (99 - n_missing)


def test_models_of_folds_know_as_little_about_missing_values():
    random = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = pd.DataFrame({"x": random.normal(size=400) + 2 * y})
    X.iloc[:4] = np.nan
    found = []

    def remember(table, coding, *rest):
        found.append(coding.columns["few_missing"].tolist())
        return encode_table(table, coding, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slfs.selectors._shared.calibration.encode_table", remember)
        SLFS(order="residual").fit(X, y)
    assert found == [[True]] * 5
