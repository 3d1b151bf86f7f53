"""The factors of a network for some samples -> what each feature contributes to the prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from slfs._core.rounding import short_number

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

_SAMPLES, FEATURES = 5, 10
"""Maximum number of samples, and of features of each, that are printed."""

UNKNOWN = "(unknown)"
"""Shown in place of the level of an unknown value."""


class SampleExplanation:
    """Base class of the explanations of several samples: their number, a part of them, their text."""

    _by_sample: ClassVar[tuple[str, ...]]
    """Names of the fields that have one row per sample."""

    def __len__(self) -> int:
        return len(getattr(self, self._by_sample[0]))

    def __getitem__(self, samples: Any) -> Self:
        """Return the explanation of some samples, given by an index, a slice or an array."""
        rows = np.atleast_1d(np.arange(len(self))[samples])
        taken = {name: getattr(self, name)[rows] for name in self._by_sample}
        return replace(self, **taken)  # type: ignore[type-var]

    def __str__(self) -> str:
        """Show the explanations of the first samples."""
        blocks = [self._describe(sample) for sample in range(min(len(self), _SAMPLES))]
        if len(self) > _SAMPLES:
            blocks.append(f"... and {len(self) - _SAMPLES} more samples")
        return "\n\n".join(blocks) if blocks else repr(self)

    def _describe(self, sample: int) -> str:
        """Explain one sample, the strongest contribution first."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class PredictionExplanation(SampleExplanation):
    """Contribution of each feature to the predicted probabilities of some samples.

    The probability of a class given a sample is proportional to the frequency of the class and one
    factor per feature. The logarithms of the factors add up to the prediction exactly; no sampling is
    involved. A value that was not seen in ``fit`` has the factor 1. With ``structure="additive"`` the
    factors of the other features are then corrected; see the page "Production use".

    In a Bayesian network, the factor is P(value | class, parent), where the parent is the feature on
    which it depends in the network. If the value of the parent was not seen, it is P(value | class, the
    other values before it in the network). With ``structure="additive"``, the logarithm of the factor is
    the entry of a table that was fitted together with those of the other features, plus that of the
    table of the feature and its parent if it has one; factors are not probabilities.

    ``print`` shows, for each sample, the evidence for the predicted class against the second most
    probable one.

    Attributes
    ----------
    feature_names : list of str
        Names of the features of the network, in the order of the table.
    classes : ndarray of shape (n_classes,)
        Class labels.
    levels : ndarray of shape (n_samples, n_features)
        Interval or category of each value, as text.
    known : ndarray of bool of shape (n_samples, n_features)
        Which values are known; the others were not seen in ``fit``.
    log_prior : ndarray of shape (n_classes,)
        Logarithms of the class frequencies: the baseline, to which the features add.
    log_factors : ndarray of shape (n_samples, n_features, n_classes)
        Logarithms of the factors; 0 for unknown values.
        ``log_prior + log_factors.sum(axis=1)`` is the logarithm of the probability of each class up to a
        constant per sample; for a Bayesian network it is ``predict_joint_log_proba(X)``.
    samples : ndarray of shape (n_samples,)
        Row number of each sample in the table that was explained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import BNSLFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> classifier = BNSLFS().fit(X, y)
    >>> print(classifier.explain_prediction(X.iloc[[70]]))
    sample 0: predicted 2 (P = 0.824) rather than 1 (P = 0.162)
      feature            value            evidence  odds
      petal width (cm)   1.75 < x ≤ 1.85     +1.71  x 5.55
      petal length (cm)  4.75 < x ≤ 5.15     +0.93  x 2.55
      sepal width (cm)   3.05 < x ≤ 3.35     -0.80  x 0.451
      sepal length (cm)  5.75 < x ≤ 6.15     -0.23  x 0.796
      (class frequencies)                    +0.00  x 1
      (sum)                                  +1.63  x 5.08
    """

    _by_sample = ("samples", "levels", "known", "log_factors")

    feature_names: list[str]
    classes: NDArray[Any]
    levels: NDArray[np.object_]
    known: NDArray[np.bool_]
    log_prior: Floats
    log_factors: Floats
    samples: NDArray[np.int64]

    @property
    def contributions(self) -> Floats:
        """Contributions of shape (n_samples, n_features, n_classes), comparable between classes.

        The contribution of a feature to a class is the logarithm of its factor for this class, minus the
        logarithm of the mean of its factors over all classes, weighted by the class frequencies:
        ``log_factors - logsumexp(log_prior + log_factors)``. The same number is subtracted for all
        classes, so that the softmax of ``log_prior + contributions.sum(axis=1)`` over the classes is
        ``predict_proba(X)``. 0 means no information, and an unknown value contributes 0.

        The exponential says by how much the factor alone multiplies the probability of the class: for
        each feature, ``exp(log_prior + contributions)`` are the class probabilities that follow from the
        class frequencies and the factor of this feature alone, and add up to 1.

        - In a Bayesian network, for a feature without a parent, this is P(value | class) / P(value): how
          many times as likely the value is in this class as in all samples. For a feature with a parent,
          it is P(value | class, parent) divided by the mean of this probability over the classes,
          weighted by their frequencies in all samples, not in those with the same value of the parent.
        - With ``structure="additive"``, it cannot be read as a ratio of probabilities of the value: a
          value that is typical of a class contributes little to it where other features of the model
          contain the same information.
        """
        mean = logsumexp(self.log_factors + self.log_prior, axis=2, keepdims=True)
        centred: Floats = self.log_factors - mean
        centred[~self.known] = 0  # exactly, although the prior sums to one only nearly
        return centred

    @property
    def probabilities(self) -> Floats:
        """Predicted probabilities of shape (n_samples, n_classes): those of ``predict_proba(X)``."""
        shares: Floats = softmax(self._joint(), axis=1)
        return shares

    @property
    def predictions(self) -> NDArray[Any]:
        """Predicted class of each sample."""
        labels: NDArray[Any] = self.classes[self._ranked()[:, 0]]
        return labels

    @property
    def rivals(self) -> NDArray[Any]:
        """Second most probable class of each sample."""
        labels: NDArray[Any] = self.classes[self._ranked()[:, 1]]
        return labels

    def evidence(self, label: Any = None, against: Any = None) -> Floats:
        """Compute the evidence of each feature for one class against another one.

        It is the logarithm of the ratio of the factors of the two classes: its exponential is the factor
        by which the value changes the odds between them. The evidence of all features and of the class
        frequencies adds up to the logarithm of the predicted odds.

        Parameters
        ----------
        label : object, optional
            Class label. By default the predicted class of each sample.
        against : object, optional
            Another class label. By default the most probable class other than ``label``.

        Returns
        -------
        evidence : ndarray of shape (n_samples, n_features)
            Positive where the value speaks for ``label``, negative where it speaks against it.
        """
        first, second = self._compared(label, against)
        both = np.take_along_axis(self.log_factors, np.stack([first, second], -1)[:, np.newaxis], 2)
        difference: Floats = both[:, :, 0] - both[:, :, 1]
        return difference

    def reasons(self, n_reasons: int = 3) -> list[list[tuple[str, str, float]]]:
        """List the features with the most evidence for or against each prediction.

        Parameters
        ----------
        n_reasons : int, default=3
            Maximum number of features per sample.

        Returns
        -------
        reasons : list of list of (str, str, float)
            For each sample the name, the level and the evidence of the features with the largest
            absolute evidence for the predicted class against the second most probable one. Features
            without evidence are left out.
        """
        found = []
        for levels, evidence in zip(self.levels, self.evidence(), strict=True):
            order = np.argsort(-np.abs(evidence), kind="stable")[:n_reasons]
            found.append(
                [
                    (self.feature_names[feature], levels[feature], float(evidence[feature]))
                    for feature in order.tolist()
                    if evidence[feature] != 0
                ]
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per sample, feature and class, with the columns ``sample``, ``feature``, ``level``,
            ``class`` and ``contribution``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'slfs[cli]'") from error
        n_samples, n_features, n_classes = self.log_factors.shape
        return pd.DataFrame(
            {
                "sample": np.repeat(self.samples, n_features * n_classes),
                "feature": np.tile(
                    np.repeat(np.array(self.feature_names, object), n_classes), n_samples
                ),
                "level": np.repeat(self.levels.ravel(), n_classes),
                "class": np.tile(self.classes, n_samples * n_features),
                "contribution": self.contributions.ravel(),
            }
        )

    def __repr__(self) -> str:
        n_samples, n_features, n_classes = self.log_factors.shape
        return f"PredictionExplanation({n_samples} samples, {n_features} features, {n_classes} classes)"

    def _describe(self, sample: int) -> str:
        one = self[sample]
        first, second = one._ranked()[0, :2]
        shares, evidence = one.probabilities[0], one.evidence()[0]
        order = np.argsort(-np.abs(evidence), kind="stable")
        shown, rest = order[:FEATURES], order[FEATURES:]
        rows = [(self.feature_names[j], one.levels[0, j], evidence[j]) for j in shown.tolist()]
        if len(rest):
            rows.append((f"({len(rest)} other features)", "", evidence[rest].sum()))
        prior = self.log_prior[first] - self.log_prior[second]
        rows += [("(class frequencies)", "", prior), ("(sum)", "", prior + evidence.sum())]
        head = (
            f"sample {self.samples[sample]}: predicted {self.classes[first]} (P = {shares[first]:.3g}) "
            f"rather than {self.classes[second]} (P = {shares[second]:.3g})"
        )
        figures = [(name, level, f"{value:+8.2f}") for name, level, value in rows]
        lines = aligned(figures, "evidence")
        odds = ["odds", *(f"x {short_number(np.exp(value), 3)}" for _, _, value in rows)]
        return "\n".join([head, *(f"{line}  {text}" for line, text in zip(lines, odds, strict=True))])

    def _joint(self) -> Floats:
        joint: Floats = self.log_prior + self.log_factors.sum(axis=1)
        return joint

    def _ranked(self) -> NDArray[np.int64]:
        """Return the indices of the classes of each sample, the most probable first."""
        return np.argsort(-self._joint(), axis=1, kind="stable")

    def _compared(self, label: Any, against: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the indices of the two classes to compare, for each sample."""
        ranked = self._ranked()
        first = ranked[:, 0] if label is None else np.full(len(self), self._index(label))
        if against is not None:
            return first, np.full(len(self), self._index(against))
        return first, np.where(ranked[:, 0] == first, ranked[:, 1], ranked[:, 0])

    def _index(self, label: Any) -> int:
        found = np.flatnonzero(self.classes == label)
        if len(found) == 0:
            raise ValueError(f"There is no class {label!r}. The classes are {self.classes.tolist()}.")
        return int(found[0])


def aligned(rows: list[tuple[str, str, str]], title: str) -> list[str]:
    """Format rows of name, level and figure as a table; ``title`` is the title of the figures."""
    names = max(len("feature"), *(len(name) for name, level, _ in rows if level), 0)
    levels = max(len("value"), *(len(level) for _, level, _ in rows))
    width = max(names + 2 + levels, *(len(name) for name, _, _ in rows))
    figures = max(len(title), *(len(figure) for _, _, figure in rows))
    head = f"{'feature'.ljust(names)}  value".ljust(width)
    lines = [f"  {head}  {title.rjust(figures)}"]
    for name, level, figure in rows:
        label = f"{name.ljust(names)}  {level}" if level else name
        lines.append(f"  {label.ljust(width)}  {figure.rjust(figures)}")
    return lines
