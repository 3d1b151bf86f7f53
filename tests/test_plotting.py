"""Displays: the plots show the values of the estimator."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from slfs import BNSLFS, MRMR, SLFS, ResidualPursuit
from slfs.coding.level_names import level_names
from slfs.plotting import (
    AccuracyCurveDisplay,
    ComparisonDisplay,
    DistributionDisplay,
    EvidenceDisplay,
    NetworkDisplay,
    RelevanceDisplay,
    SizePathDisplay,
)
from slfs.selectors._shared.size_path import SizePath

mpl.use("Agg")


@pytest.fixture(scope="module")
def selector():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return SLFS(order="conditional").fit(X, y)


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_network(selector):
    display = NetworkDisplay.from_estimator(selector)
    texts = {text.get_text() for text in display.ax_.texts}
    assert texts == {*selector.network_.names, selector.network_.class_name}
    nodes = display.ax_.collections[0].get_offsets()
    np.testing.assert_array_equal(nodes[:, 0], selector.network_.levels)
    assert len(np.unique(nodes, axis=0)) == len(selector.network_), "no node on another"
    assert len(display.ax_.lines) == len(selector.network_)


def test_a_parent_stands_between_its_children(selector):
    network = selector.network_
    heights = NetworkDisplay.from_estimator(selector).ax_.collections[0].get_offsets()[:, 1]
    for node in range(len(network)):
        children = network.children(node)
        if children:
            assert heights[children].min() <= heights[node] <= heights[children].max()


def test_nothing_selected_is_drawn_too():
    random = np.random.default_rng(0)
    empty = SLFS(irrelevance="test").fit(random.normal(size=(60, 3)), random.integers(0, 2, 60))
    assert empty.n_features_ == 0
    assert len(NetworkDisplay.from_estimator(empty).ax_.texts) == 1
    RelevanceDisplay.from_estimator(empty)


def test_names_are_no_formulas(tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = pd.DataFrame({"$x_{1$": y + random.normal(size=200), "a very long name " * 9: y})
    fitted = SLFS().fit(X, y)
    NetworkDisplay.from_estimator(fitted).save(tmp_path / "tree.png")
    RelevanceDisplay.from_estimator(fitted).save(tmp_path / "relevance.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["relevance.svg", "tree.png"]


def test_relevance(selector):
    points = RelevanceDisplay.from_estimator(selector).ax_.collections
    assert sum(len(part.get_offsets()) for part in points) == selector.n_features_in_
    assert len(points[-1].get_offsets()) == (selector.features_["level"] == 1).sum()


def test_distribution_has_the_counts_of_the_column(selector):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    display = DistributionDisplay.from_estimator(selector, "worst perimeter")
    cuts = selector.network_counts_.coding.column_thresholds(0)
    codes = np.searchsorted(cuts, X["worst perimeter"], side="left")
    expected = [[((codes == a) & (y == c)).sum() for c in (0, 1)] for a in range(len(cuts) + 1)]
    assert selector.network_.names[0] == "worst perimeter"
    np.testing.assert_array_equal(display.counts, expected)
    assert display.levels[0].startswith("≤ ")
    assert display.levels[-1].startswith("> ")
    heights = [bar.get_height() for bar in display.ax_.patches]
    np.testing.assert_allclose(sum(heights), 200)
    with pytest.raises(ValueError, match="'worst radius' was not selected"):
        DistributionDisplay.from_estimator(selector, "worst radius")


def test_levels_have_names():
    y = np.tile([0, 0, 1, 1], 60)
    frame = pd.DataFrame(
        {
            "number": np.where(np.arange(240) % 9 == 0, np.nan, y + np.linspace(0, 0.5, 240)),
            "text": np.where(y, "b", None),
            "flag": y.astype(bool),
            "code": y * 3 + 4,
        }
    )
    fitted = MRMR(n_features_to_select=4, categorical_features=["code"]).fit(frame, y)
    coding = fitted.network_counts_.coding
    named = {name: level_names(coding, node) for node, name in enumerate(fitted.network_.names)}
    assert named["text"] == ["b", "missing"]
    assert named["code"] == ["4", "7"]
    assert named["flag"] == ["False", "True"]
    assert named["number"][-1] == "missing"
    assert named["number"][0].startswith("≤ ")
    assert all(all(levels) for levels in named.values())


@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, pd.DataFrame, sparse.csr_array])
def test_accuracy_curve(convert):
    X, y = load_wine(return_X_y=True)
    display = AccuracyCurveDisplay.from_estimator(MRMR(n_features_to_select=6), convert(X), y, cv=3)
    assert display.sizes.tolist() == [1, 2, 3, 4, 5, 6]
    assert display.accuracy.shape == (6, 3)
    assert display.accuracy[-1].mean() > display.accuracy[0].mean()
    noise = np.random.default_rng(0).normal(size=X.shape)
    with pytest.raises(ValueError, match="selects no columns"):
        AccuracyCurveDisplay.from_estimator(SLFS(irrelevance="test"), convert(noise), y, cv=3)


@pytest.mark.parametrize("one_standard_error", [False, True])
def test_size_path(one_standard_error):
    X, y = load_breast_cancer(return_X_y=True)
    fitted = ResidualPursuit(one_standard_error=one_standard_error).fit(X, y)
    path, ax = fitted.size_path_, SizePathDisplay.from_estimator(fitted).ax_
    curve = ax.lines[0]
    np.testing.assert_array_equal(curve.get_xdata(), path.n_features)
    np.testing.assert_array_equal(curve.get_ydata(), path.log_loss)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx((path.log_loss + path.standard_error).max())
    marks = {int(line.get_xdata()[0]): line for line in ax.lines if len(line.get_xdata()) == 1}
    assert set(marks) == {path.best, path.within_one_standard_error}
    filled = [size for size, mark in marks.items() if mark.get_markerfacecolor() != "white"]
    assert filled == [fitted.n_features_]
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {
        f"{path.best} columns: nearly the smallest log loss",
        f"{path.within_one_standard_error} columns: fewest within one standard error of the smallest",
    }


def test_size_path_marks_a_column_that_is_selected_because_it_is_significant():
    random = np.random.default_rng(7)
    X = random.normal(size=(150, 6))
    y = (0.35 * (X[:, 0] + X[:, 1]) + random.normal(size=150) > 0).astype(int)
    fitted = ResidualPursuit(one_standard_error=True).fit(X, y)
    path = fitted.size_path_
    assert (path.within_one_standard_error, path.best, fitted.n_features_) == (0, 1, 1)
    ax = SizePathDisplay.from_estimator(fitted).ax_
    marks = {int(line.get_xdata()[0]): line for line in ax.lines if len(line.get_xdata()) == 1}
    assert [n for n, mark in marks.items() if mark.get_markerfacecolor() != "white"] == [1]
    ax = SizePathDisplay(SizePath(np.arange(3), np.array([0.6, 0.7, 0.8]), np.zeros(3)), n_selected=1)
    labels = {text.get_text() for text in ax.plot().ax_.get_legend().get_texts()}
    assert labels == {"0 columns: smallest log loss", "1 column: selected"}


def test_size_path_needs_an_automatic_size():
    X, y = load_wine(return_X_y=True)
    classifier = BNSLFS(ResidualPursuit()).fit(X, y)
    assert SizePathDisplay.from_estimator(classifier).size_path is classifier.selector_.size_path_
    for fixed in (ResidualPursuit(2), MRMR(2), SLFS(order="conditional")):
        with pytest.raises(ValueError, match=rf"This {type(fixed).__name__} has not found its number"):
            SizePathDisplay.from_estimator(fixed.fit(X, y))


def test_comparison_draws_the_means():
    rows = pd.DataFrame(
        {
            "method": ["a", "a", "b", "b"] * 2,
            "classifier": ["SVM"] * 4 + ["NB"] * 4,
            "accuracy": [0.8, 0.9, 0.7, 0.7, 0.6, 0.6, 0.5, 0.7],
            "n_features": [3, 4, 10, 10] * 2,
        }
    )
    ax = ComparisonDisplay(rows).plot().ax_
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["a (3.5 columns)", "b (10 columns)"]
    bars = ax.patches
    np.testing.assert_allclose([bar.get_height() for bar in bars], [85, 60, 70, 60])


def test_evidence():
    X, y = load_wine(return_X_y=True, as_frame=True)
    classifier = BNSLFS().fit(X, y)
    found = classifier.explain_prediction(X)
    n_features = len(classifier.network_)
    assert n_features > 4
    display = EvidenceDisplay.from_estimator(classifier, X, sample=60, max_features=4)
    widths = [bar.get_width() for bar in display.ax_.patches]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[-2:] == [f"{n_features - 4} other features", "class frequencies"]
    strongest = np.abs(found.evidence()[60]).argmax()
    assert abs(widths[0]) == pytest.approx(np.abs(found.evidence()[60]).max())
    assert labels[0] == f"{found.feature_names[strongest]}: {found.levels[60, strongest]}"
    shares = np.sort(found.probabilities[60])
    assert sum(widths) == pytest.approx(np.log(shares[-1] / shares[-2]))
    assert f"evidence for {found.predictions[60]} against" in display.ax_.get_xlabel()
    every = EvidenceDisplay(found, sample=-1, max_features=99).plot()
    assert len(every.ax_.patches) == n_features + 1
