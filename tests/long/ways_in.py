"""Entry points and their invariants: a clear error of slfs, or a valid result."""

import tempfile
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import sklearn
from scipy import sparse

import slfs
from slfs.saving import load, save
from slfs.saving.interchange import to_bif, to_states

OURS = (str(Path(slfs.__file__).parent), str(Path(sklearn.__file__).parent / "utils"))

SELECTORS = [
    slfs.SLFS(),
    slfs.SLFS(order="relevance", relevance_weight=1.0, max_depth=None, max_children=1),
    slfs.SLFS(order="given", swap="objective", rule="printed", irrelevance="printed"),
    slfs.SLFS(irrelevance="test", categorical_features="all", n_features_to_select=2),
    slfs.SLFS(order="given", irrelevance="reversed", max_depth=3),
    slfs.MRMR(),
    slfs.MRMR(3, criterion="MIQ", categorical_features="all"),
    slfs.JMI(2),
    slfs.CMIM(0.5),
    slfs.FCBF(),
    slfs.Chi2(),
    slfs.Chi2Ranking(),
    slfs.OSFS(),
    slfs.OSFS(statistic="fisher_z"),
    slfs.FastOSFS(statistic="chi2", samples_per_df=0.0, degrees_of_freedom="adjusted"),
    slfs.SAOLA(),
    slfs.AlphaInvesting(),
    slfs.AlphaInvesting(categorical_features="all"),
]
CLASSIFIERS = [
    slfs.BNSLFS(),
    slfs.BNSLFS(slfs.SLFS(max_depth=None), structure="tree", alpha=1e-30, backoff=None),
    slfs.BNSLFS(slfs.MRMR(), structure="augmented"),
    slfs.TAN(),
    slfs.NaiveBayes(),
    slfs.NaiveBayes(categorical_features="all"),
]


@contextmanager
def clear_errors():
    """Let errors pass that slfs, or scikit-learn's checks on its behalf, raise with a message."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        about_columns = (
            "likely identifiers|likely row numbers|look like|leakage|selected 0 of|Tentative columns|"
            "have more categories than|seen in fit|outside the range in fit|integers above"
        )
        warnings.filterwarnings("ignore", f"(?s).*({about_columns}|A column-vector y was passed)")
        warnings.filterwarnings("ignore", "X (does not have valid|has) feature names")
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        warnings.filterwarnings("ignore", "Some classes of the target")
        warnings.filterwarnings("ignore", "The index of y has the labels of the index of X")
        warnings.filterwarnings("ignore", r"The target .* distinct (integers|texts)")
        try:
            yield
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            file = traceback.extract_tb(error.__traceback__)[-1].filename
            if not file.startswith(OURS) or not str(error):
                raise


def try_selector(selector, X, y):
    """Fit a selector; if it accepts the table, all public methods must work."""
    with clear_errors():
        fitted = sklearn.clone(selector).fit(X, y)
        check_selector(fitted, X)
        again = sklearn.clone(selector).fit(X, y)
        assert again.indices_.tolist() == fitted.indices_.tolist()
        np.testing.assert_array_equal(again.selection_scores_, fitted.selection_scores_)
        check_classifier(fitted.to_classifier(), X)


def check_selector(fitted, X):
    """Check the invariants of a fitted selector."""
    n_features = fitted.n_features_in_
    records = fitted.features_
    assert len(records) == len(fitted.support_) == n_features
    assert fitted.support_.sum() == fitted.n_features_ == len(fitted.indices_)
    for name in ("relevance", "entropy"):
        assert np.isfinite(records[name]).all()
        assert (records[name] >= 0).all()
    for column in range(min(n_features, 5)):
        assert fitted.explain(column)
    assert str(fitted.network_)
    assert fitted.network_._repr_html_()
    assert fitted.network_.to_mermaid()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No features were selected")
        reduced = fitted.transform(X)
    assert reduced.shape == (n_rows(X), fitted.n_features_)


def n_rows(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def try_classifier(classifier, X, y):
    """Fit a classifier; if it accepts the table, predict, save, load and write it as BIF."""
    with clear_errors():
        fitted = sklearn.clone(classifier).fit(X, y)
        check_classifier(fitted, X)
        rarely = fitted._coding.columns["few_missing"][np.argsort(fitted.network_.columns)]
        assert fitted.explain_prediction(X).known[:, ~rarely].all()


def check_classifier(fitted, X):
    """Check the invariants of a fitted classifier."""
    shares = fitted.predict_proba(X)
    assert shares.shape == (n_rows(X), len(fitted.classes_))
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
    assert set(fitted.predict(X).tolist()) <= set(fitted.classes_.tolist())
    explained = fitted.explain_prediction(X)
    np.testing.assert_allclose(explained.probabilities, shares, rtol=1e-6, atol=1e-12)
    assert np.isfinite(fitted.feature_importances_).all()


def try_saving(estimator, X, y):
    """Fit, save, load: the same answers."""
    with clear_errors(), tempfile.TemporaryDirectory() as folder:
        fitted = sklearn.clone(estimator).fit(X, y)
        path = Path(folder) / "model.slfs"
        save(fitted, path)
        back = load(path)
        if hasattr(fitted, "predict_proba"):
            np.testing.assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))
        else:
            for field in fitted.features_.dtype.names:
                np.testing.assert_array_equal(back.features_[field], fitted.features_[field])
            np.testing.assert_array_equal(back.indices_, fitted.indices_)


def try_bif(classifier, X, y):
    """Fit and write the network for other programs; every sample has a state of each variable."""
    with clear_errors():
        fitted = sklearn.clone(classifier).fit(X, y)
        text = to_bif(fitted)
        assert text.isascii()
        assert text.count("variable ") >= 1
        assert len(to_states(fitted, X)) == n_rows(X)


def try_discretizer(X, y, *, categorical):
    """Fit and transform: every code is a valid level."""
    with clear_errors():
        discretizer = slfs.MDLPDiscretizer(categorical_features=categorical).fit(X, y)
        codes = np.asarray(discretizer.transform(X))
        assert codes.shape == (n_rows(X), discretizer.n_features_in_)
        assert (codes < discretizer.n_levels_).all()
        for cuts in discretizer.cut_points_:
            assert (np.diff(cuts) > 0).all()
            assert not np.isnan(cuts).any()


def try_later_table(estimator, X, y, later):
    """Fit to one table and use another: a result or a clear error."""
    with clear_errors():
        fitted = sklearn.clone(estimator).fit(X, y)
        check_classifier(fitted, later)


def try_stream(selector, X, y, widths):
    """A stream of blocks gives the same result as the table."""
    with clear_errors():
        whole = sklearn.clone(selector).fit(X, y)
        blocks, begin = [], 0
        n_columns = whole.n_features_in_
        for width in [*widths, n_columns]:
            if begin < n_columns:
                blocks.append(columns_of(X, begin, min(begin + width, n_columns)))
                begin += width
        online = sklearn.clone(selector).fit_stream(blocks, y)
        assert online.indices_.tolist() == whole.indices_.tolist()
        np.testing.assert_array_equal(online.selection_scores_, whole.selection_scores_)


def columns_of(X, begin, end):
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, begin:end]
    if sparse.issparse(X):
        return sparse.csc_array(X)[:, begin:end]
    if isinstance(X, list):
        return [row[begin:end] for row in X]
    return X[:, begin:end]


def other_libraries(X):
    """The same table in polars and PyArrow, if they support its types."""
    if not isinstance(X, pd.DataFrame):
        return
    for convert in (pl.from_pandas, lambda frame: nw.from_native(frame).to_arrow()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = convert(X)
        except Exception:  # what these libraries cannot hold is theirs to say
            continue
        yield table


def try_other_libraries(classifier, X, y):
    """Tables of polars and PyArrow give the same results or errors."""
    for table in other_libraries(X):
        try_classifier(classifier, table, y)


VALUES = [
    None, 0, 1, -1, 2, 10**30, 0.0, 0.5, 1.0, 5e-324, 1e-300, 1.7e308, float("nan"), float("inf"),
    -float("inf"), "auto", "", "all", "from_dtype", "test", "MIQ", [], [0], [True, False], ["a"], {},
    b"x", np.int64(3), np.float32(0.5), True, object,
]  # fmt: skip


def try_parameters(estimator, X, y, seed):
    """Set a few parameters to anything: a clear error, or a fit."""
    random = np.random.default_rng(seed)
    known = sorted(estimator.get_params(deep=False))
    chosen = random.permutation(known)[: random.integers(1, 4)]
    values = {str(name): VALUES[random.integers(len(VALUES))] for name in chosen}
    if values.get("n_jobs") == 10**30:
        values["n_jobs"] = 2
    with clear_errors():
        fitted = sklearn.clone(estimator).set_params(**values).fit(X, y)
        if hasattr(fitted, "predict_proba"):
            check_classifier(fitted, X)
        else:
            check_selector(fitted, X)
