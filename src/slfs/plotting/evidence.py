"""Bar chart of the evidence of each feature in one prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slfs.plotting.base import DROPPED, STRONG, WEAK, Display, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from slfs.classifiers.explanation import PredictionExplanation


class EvidenceDisplay(Display):
    """Bar chart of the evidence for the predicted class of one sample against the second most probable.

    Bars to the right speak for the prediction, bars to the left against it. Together with the bar of the
    class frequencies they add up to the logarithm of the predicted odds.

    Parameters
    ----------
    explanation : PredictionExplanation
        Result of ``classifier.explain_prediction(X)``.
    sample : int, default=0
        Row of ``X`` to draw.
    max_features : int, default=12
        Maximum number of bars of features; the others are added up.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import BNSLFS
    >>> from slfs.plotting import EvidenceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = EvidenceDisplay.from_estimator(BNSLFS().fit(X, y), X, sample=70)
    """

    def __init__(
        self, explanation: PredictionExplanation, *, sample: int = 0, max_features: int = 12
    ) -> None:
        self.explanation, self.sample, self.max_features = explanation, sample, max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sample: int = 0,
        max_features: int = 12,
        ax: Axes | None = None,
    ) -> EvidenceDisplay:
        """Explain the prediction of one sample and draw it.

        Parameters
        ----------
        estimator : object
            A fitted classifier of this library.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.
        sample : int, default=0
            Row of ``X`` to draw.
        max_features : int, default=12
            Maximum number of bars of features; the others are added up.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : EvidenceDisplay
        """
        explanation = estimator.explain_prediction(X)
        return cls(explanation, sample=sample, max_features=max_features).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 7.0, 1.4 + 0.3 * (min(len(self.explanation.feature_names), self.max_features + 1) + 1)

    def _draw(self, ax: Axes) -> None:
        one = self.explanation[self.sample]
        evidence, label, rival = one.evidence()[0], one.predictions[0], one.rivals[0]
        order = np.argsort(-np.abs(evidence), kind="stable")
        shown, rest = order[: self.max_features], order[self.max_features :]
        names = [f"{plain(one.feature_names[j])}: {plain(one.levels[0, j], 24)}" for j in shown]
        widths = evidence[shown].tolist()
        if len(rest):
            names.append(f"{len(rest)} other features")
            widths.append(float(evidence[rest].sum()))
        names.append("class frequencies")
        prior = dict(zip(one.classes.tolist(), one.log_prior, strict=True))
        widths.append(float(prior[label] - prior[rival]))
        colours = [STRONG if width >= 0 else WEAK for width in widths[:-1]] + [DROPPED]
        ax.barh(np.arange(len(names)), widths, 0.7, color=colours)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks(np.arange(len(names)), names, fontsize=8.5)
        ax.invert_yaxis()
        label, rival = plain(str(label), 24), plain(str(rival), 24)
        ax.set_xlabel(f"evidence for {label} against {rival} (nats)")
        ax.set_title(f"predicted: {label}, P = {one.probabilities.max():.3g}", fontsize=10, loc="left")
        ax.spines[["top", "right", "left"]].set_visible(False)
