"""Estimators behave like those of scikit-learn: its checks, pipelines, searches, copies, outputs."""

import functools
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline

from slfs import (
    BNSLFS,
    FCBF,
    MRMR,
    OSFS,
    SAOLA,
    SLFS,
    BNSLFSRegressor,
    Chi2Ranking,
    FastOSFS,
    MDLPDiscretizer,
    StabilitySelection,
)
from slfs.saving.registry import estimators
from slfs.selectors import selectors

with pytest.MonkeyPatch.context() as patch:
    # where array-api-compat is installed, which anndata needs, scikit-learn 1.6 asks for it on import
    patch.setenv("SCIPY_ARRAY_API", "1")
    from sklearn.utils.estimator_checks import parametrize_with_checks


class ContinuousMRMR(MRMR):
    """A selector that makes every target of the checks, most of which have two classes, continuous."""

    def fit(self, X, y):
        labels = np.asarray(y)
        if labels.ndim == 1 and labels.dtype.kind in "iuf" and len(labels) > 2:
            y = labels + np.arange(len(labels)) / (2 * len(labels))
        return super().fit(X, y)


FASTER = {"StabilitySelection": {"n_subsamples": 4}}
ESTIMATORS = [kind(**FASTER.get(name, {})) for name, kind in estimators().items()]
VARIANTS = [
    SLFS(order="given", swap="objective", irrelevance="reversed"),
    SLFS(order="relevance", rule="printed", irrelevance="test"),
    BNSLFS(SLFS(n_features_to_select=2), structure="tree"),
    BNSLFSRegressor(MRMR(n_features_to_select=2)),
    MRMR(n_features_to_select=2),
    Chi2Ranking(n_features_to_select=0.5),
    FastOSFS(samples_per_df=0),
    OSFS(statistic="fisher_z"),
    StabilitySelection(FCBF(), n_subsamples=4, fdr=0.5),
    ContinuousMRMR(2, target="regression"),
]


def test_every_registered_selector_is_checked():
    own = {kind for kind in selectors().values() if kind.__module__.startswith("slfs.")}
    assert own <= {type(estimator) for estimator in ESTIMATORS}


def expected_failures(estimator):
    """Folds and subsamples depend on the order of the rows, which the check shuffles."""
    has_folds = isinstance(estimator, BNSLFS) and estimator.selector is None
    if not has_folds and not isinstance(estimator, StabilitySelection):
        return {}
    reason = "Its splits depend on the order of the rows, which the check shuffles."
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@pytest.mark.filterwarnings("ignore:No features were selected")  # some checks fit pure noise
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_other_parameters(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_pipeline_and_grid_search(data):
    X, y = data
    pipeline = make_pipeline(SLFS(), MDLPDiscretizer(), CategoricalNB())
    grid = {"slfs__relevance_weight": [0.5, 1.0], "slfs__n_features_to_select": [3, "auto"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    nested = GridSearchCV(BNSLFS(SLFS()), {"selector__max_depth": [1, 2]}, cv=3, n_jobs=2).fit(X, y)
    assert nested.best_score_ > 0.9
    default = GridSearchCV(BNSLFS(), {"selector__max_depth": [1, 2]}, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        default.cv_results_["mean_test_score"], nested.cv_results_["mean_test_score"]
    )
    assert cross_val_score(BNSLFS(), X, y, cv=3, scoring="roc_auc").mean() > 0.97


@pytest.mark.parametrize("kind", [BNSLFS, StabilitySelection])
def test_parameters_of_the_default_selector(kind):
    estimator = kind()
    assert estimator.selector is None
    parameters = estimator.get_params()
    assert {f"selector__{name}": value for name, value in SLFS().get_params().items()} == {
        name: value for name, value in parameters.items() if name.startswith("selector__")
    }
    assert not any("__" in name for name in estimator.get_params(deep=False))
    assert clone(estimator).selector is None
    assert estimator.set_params(selector__max_depth=1) is estimator
    assert estimator.selector.max_depth == 1
    estimator.set_params(selector__max_children=3)
    assert (estimator.selector.max_depth, estimator.selector.max_children) == (1, 3), "the same selector"
    assert clone(estimator).selector.max_children == 3
    estimator.set_params(selector=None, selector__max_children=4)
    assert (estimator.selector.max_depth, estimator.selector.max_children) == (2, 4), "a new selector"
    assert estimator.set_params(selector=None).selector is None
    with pytest.raises(ValueError, match="Invalid parameter 'depth' for estimator SLFS"):
        kind().set_params(selector__depth=1)


def test_a_grid_search_can_exchange_any_selector_for_any_other(data):
    """One grid over all methods and sizes; every method selects at most the given number."""
    X, y = data
    methods = [kind() for kind in selectors().values()] + [StabilitySelection(n_subsamples=4)]
    sizes = [1, 3, 0.2, "auto"]
    pipeline = Pipeline([("select", SLFS()), ("classify", GaussianNB())])
    grid = {"select": methods, "select__n_features_to_select": sizes}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == len(methods) * len(sizes)
    assert search.cv_results_["mean_test_score"].min() > 0.7
    for method in methods:
        found = [clone(method).set_params(n_features_to_select=size).fit(X, y) for size in sizes]
        assert [selector.n_features_ for selector in found[:2]] == [1, 3], method
        share, free = found[2].n_features_, found[3].n_features_
        assert share == 6 or share == free < 6, method


def prices():
    """A table with a column that slfs warns about."""
    X = pd.DataFrame({"price": [f"${row},000" for row in range(40)], "good": ["a", "b"] * 20})
    return X, np.arange(40) % 2


@pytest.mark.parametrize(
    "use",
    [
        lambda X, y: SLFS().fit(X, y),
        lambda X, y: SAOLA().fit_stream([X], y),
        lambda X, y: StabilitySelection(n_subsamples=4, n_jobs=2).fit(X, y),
        lambda X, y: BNSLFS().fit(X, y),
        lambda X, y: MDLPDiscretizer().fit(X, y),
        lambda X, y: make_pipeline(SLFS(), MDLPDiscretizer().set_output(transform="default")).fit(X, y),
        lambda X, y: cross_val_score(BNSLFS(), X, y, cv=2),
        lambda X, y: GridSearchCV(BNSLFS(), {"alpha": [1]}, cv=2).fit(X, y),
    ],
    ids=["fit", "stream", "stability", "classifier", "discretizer", "pipeline", "cross_val", "grid"],
)
def test_warnings_point_at_the_line_of_the_user(use):
    with pytest.warns(UserWarning, match="look like numbers") as caught:
        use(*prices())
    assert {warning.filename for warning in caught} == {__file__}
    lines = {warning.lineno for warning in caught}
    assert lines == {use.__code__.co_firstlineno}


@pytest.mark.parametrize("name", [name for name, kind in selectors().items() if hasattr(kind, "extend")])
def test_a_plain_fit_of_an_online_selector_keeps_no_samples(name):
    """A fitted selector does not grow with the number of samples; a stream keeps its planes."""
    random = np.random.default_rng(0)
    sizes = {}
    for n_samples in (2_000, 200_000):
        y = np.arange(n_samples) % 2
        X = (random.random((n_samples, 6)) < 0.3 + 0.4 * y[:, np.newaxis]).astype(float)
        given = {"order": "given"} if name == "slfs" else {}
        kind = functools.partial(selectors()[name], categorical_features="all", **given)
        fitted = kind().fit(X, y)
        assert not hasattr(fitted, "_arrived")
        sizes[n_samples] = len(pickle.dumps(fitted))
    assert abs(sizes[200_000] - sizes[2_000]) < 200
    stream = kind().fit_stream([X], y)
    assert len(pickle.dumps(stream)) > sizes[200_000] + 6 * n_samples / 8
    assert len(pickle.dumps(stream.fit(X, y))) == sizes[200_000]


@pytest.mark.parametrize(
    "estimator", [SLFS(relevance_weight=1), BNSLFS(SLFS(max_depth=1)), MDLPDiscretizer()]
)
def test_copies_answer_the_same(estimator, data):
    X, y = data
    fitted = estimator.fit(X, y)
    buffer = io.BytesIO()
    joblib.dump(fitted, buffer)
    buffer.seek(0)
    method = "predict_proba" if hasattr(fitted, "predict_proba") else "transform"
    expected = np.asarray(getattr(fitted, method)(X))
    for copy in (
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(buffer),
        clone(fitted).fit(X, y),
    ):
        np.testing.assert_array_equal(np.asarray(getattr(copy, method)(X)), expected)


def test_fit_does_not_touch_parameters_or_data(data):
    X, y = data
    before, selector = X.copy(), SLFS(n_features_to_select=4)
    parameters = selector.get_params()
    selector.fit(X, y).transform(X)
    assert selector.get_params() == parameters
    pd.testing.assert_frame_equal(X, before)


def test_set_output_keeps_names_and_types():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = pd.DataFrame(
        {
            "number": y + random.normal(size=200) / 5,
            "noise": random.normal(size=200),
            "word": pd.Categorical(np.where(random.random(200) < 0.8, y, 1 - y).astype(str)),
            "maybe": pd.array(np.where(random.random(200) < 0.1, None, y), dtype="Int64"),
        }
    )
    selector = SLFS().fit(frame, y)
    expected = ["number", "word", "maybe"]
    assert selector.get_feature_names_out().tolist() == expected
    assert selector.transform(frame).shape == (200, 3)
    out = selector.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(out, frame[expected])
    polars = pl.from_pandas(frame)
    with sklearn.config_context(transform_output="polars"):
        out = SLFS().fit(polars, y).transform(polars)
        assert out.equals(polars[expected])
        codes = MDLPDiscretizer().fit(polars, y).transform(polars)
        assert isinstance(codes, pl.DataFrame)
        assert codes.columns == polars.columns
    arrow = SLFS().set_output(transform="polars").fit(polars.to_arrow(), y)
    assert arrow.transform(polars.to_arrow()).columns == expected


def test_feature_names_are_checked(data):
    X, y = data
    selector = SLFS().fit(X, y)
    assert selector.n_features_in_ == 30
    np.testing.assert_array_equal(selector.feature_names_in_, X.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(X.rename(columns={"mean radius": "radius"}))
    with pytest.raises(ValueError, match="30 features"):
        BNSLFS().fit(X.to_numpy(), y).predict(X.to_numpy()[:, :5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"relevance_weight": -1},
            r"The 'relevance_weight' parameter of SLFS must be .* Got -1 instead",
        ),
        ({"max_depth": 0}, r"The 'max_depth' parameter of SLFS .* Got 0 instead"),
        (
            {"n_features_to_select": 1.5},
            r"The 'n_features_to_select' parameter of SLFS .* Got 1.5 instead",
        ),
        ({"n_features_to_select": 0}, r"The 'n_features_to_select' parameter .* Got 0 instead"),
        ({"n_features_to_select": None}, r"The 'n_features_to_select' parameter .* Got None instead"),
        ({"order": "random"}, r"The 'order' parameter of SLFS .* Got 'random' instead"),
        ({"irrelevance": None}, r"The 'irrelevance' parameter of SLFS .* Got None instead"),
        ({"fdr": 1.0}, r"The 'fdr' parameter of SLFS .* Got 1.0 instead"),
    ],
)
def test_bad_parameters_are_named(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        SLFS(**parameters).fit(*data)


def test_bad_parameters_of_the_classifier_are_named(data):
    with pytest.raises(ValueError, match="The 'structure' parameter of BNSLFS"):
        BNSLFS(structure="forest").fit(*data)
    with pytest.raises(ValueError, match="The 'alpha' parameter of BNSLFS"):
        SLFS().fit(*data).to_classifier(alpha=0)


def test_nothing_selected_keeps_the_rows():
    random = np.random.default_rng(0)
    frame, y = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"]), random.integers(0, 2, 60)
    selector = SLFS().fit(frame, y)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(frame).shape == (60, 0)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.set_output(transform="pandas").transform(frame).shape == (60, 0)
    assert "MDLP finds no cut that is worth its cost." in MRMR().fit(frame, y).explain("a")
