"""The tables of an additive regressor for some samples -> what each feature adds to the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slfs._core.rounding import short_number
from slfs.classifiers.explanation import FEATURES, SampleExplanation, aligned

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class RegressionExplanation(SampleExplanation):
    """What each feature adds to the predictions of a regressor for some samples.

    The prediction is ``baseline``, the mean of the target, plus the contributions of all features, in
    units of the target; no sampling is involved. What an edge between two features adds counts for the
    feature that is further from the root of the tree. A value that was not seen in ``fit`` contributes
    0.

    Attributes
    ----------
    feature_names : list of str
        Names of the features of the network, in the order of the table.
    levels : ndarray of shape (n_samples, n_features)
        Interval or category of each value, as text.
    known : ndarray of bool of shape (n_samples, n_features)
        Which values are known; the others were not seen in ``fit``.
    baseline : float
        Mean of the target in the training data.
    contributions : ndarray of shape (n_samples, n_features)
        What each feature adds to the prediction.
    samples : ndarray of shape (n_samples,)
        Row number of each sample in the table that was explained.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from slfs import SLFS, BNSLFSRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> regressor = BNSLFSRegressor(SLFS(n_features_to_select=3)).fit(X, y)
    >>> print(regressor.explain_prediction(X.head(1)))
    sample 0: predicted 186.8
      feature  value                          adds
      bmi      -0.00674486 < x ≤ 0.0730132  +13.76
      s3       ≤ -0.0157886                 +12.73
      s5       -0.00376118 < x ≤ 0.0243924  +8.162
      (mean of the target)                   152.1
      (sum)                                  186.8
    """

    _by_sample = ("samples", "levels", "known", "contributions")

    feature_names: list[str]
    levels: NDArray[np.object_]
    known: NDArray[np.bool_]
    baseline: float
    contributions: Floats
    samples: NDArray[np.int64]

    @property
    def predictions(self) -> Floats:
        """Predicted target of each sample."""
        found: Floats = self.baseline + self.contributions.sum(axis=1)
        return found

    def reasons(self, n_reasons: int = 3) -> list[list[tuple[str, str, float]]]:
        """List the features that change each prediction most.

        Parameters
        ----------
        n_reasons : int, default=3
            Maximum number of features per sample.

        Returns
        -------
        reasons : list of list of (str, str, float)
            For each sample the name, the level and the contribution of the features with the largest
            absolute contribution. Features that contribute nothing are left out.
        """
        found = []
        for levels, added in zip(self.levels, self.contributions, strict=True):
            order = np.argsort(-np.abs(added), kind="stable")[:n_reasons]
            found.append(
                [
                    (self.feature_names[feature], levels[feature], float(added[feature]))
                    for feature in order.tolist()
                    if added[feature] != 0
                ]
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per sample and feature, with the columns ``sample``, ``feature``, ``level`` and
            ``contribution``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'slfs[cli]'") from error
        n_samples, n_features = self.contributions.shape
        return pd.DataFrame(
            {
                "sample": np.repeat(self.samples, n_features),
                "feature": np.tile(np.array(self.feature_names, object), n_samples),
                "level": self.levels.ravel(),
                "contribution": self.contributions.ravel(),
            }
        )

    def __repr__(self) -> str:
        return "RegressionExplanation({} samples, {} features)".format(*self.contributions.shape)

    def _describe(self, sample: int) -> str:
        added = self.contributions[sample]
        order = np.argsort(-np.abs(added), kind="stable")
        shown, rest = order[:FEATURES], order[FEATURES:]
        rows = [
            (self.feature_names[j], self.levels[sample, j], short_number(added[j], sign="+"))
            for j in shown.tolist()
        ]
        if len(rest):
            rows.append((f"({len(rest)} other features)", "", short_number(added[rest].sum(), sign="+")))
        rows += [
            ("(mean of the target)", "", short_number(self.baseline)),
            ("(sum)", "", short_number(self.predictions[sample])),
        ]
        head = f"sample {self.samples[sample]}: predicted {short_number(self.predictions[sample])}"
        return "\n".join([head, *aligned(rows, "adds")])
