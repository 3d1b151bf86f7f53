"""Cross-validated log loss against the number of columns of an automatic size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from slfs.plotting.base import DROPPED, STRONG, WEAK, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from slfs.selectors._shared.size_path import SizePath


class SizePathDisplay(Display):
    """Cross-validated log loss by number of columns, with one standard error as a band.

    Two points are marked: the number of columns with the smallest log loss, and the smallest number
    whose log loss is at most one standard error (or 0.001 nats) above the smallest. The number that was
    selected is filled.

    Parameters
    ----------
    size_path : SizePath
        ``size_path_`` of a fitted selector.
    n_selected : int or None, default=None
        Number of columns that were selected; ``None`` for that with the smallest log loss. It is larger
        than both if a column is selected because it is significant.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    AccuracyCurveDisplay : Accuracy of any classifier on the first columns of any selector.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from slfs import ResidualPursuit
    >>> from slfs.plotting import SizePathDisplay
    >>> selector = ResidualPursuit().fit(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> display = SizePathDisplay.from_estimator(selector)
    """

    def __init__(self, size_path: SizePath, *, n_selected: int | None = None) -> None:
        self.size_path, self.n_selected = size_path, n_selected

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SizePathDisplay:
        """Draw the size path of a fitted selector.

        Parameters
        ----------
        estimator : object
            A selector that found its number of columns by cross-validation, such as
            ``SLFS(order="residual").fit(X, y)``; or a classifier with such a selector.
        ax : matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.

        Returns
        -------
        display : SizePathDisplay
        """
        check_is_fitted(estimator)
        selector = getattr(estimator, "selector_", estimator)
        path = getattr(selector, "size_path_", None)
        if path is None:
            raise ValueError(
                f"This {type(selector).__name__} has not found its number of columns by "
                "cross-validation. Fit SLFS(order='residual') or ResidualPursuit() with "
                "n_features_to_select='auto'."
            )
        return cls(path, n_selected=selector.n_features_).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        path = self.size_path
        sizes, mean, error = path.n_features, path.log_loss, path.standard_error
        ax.fill_between(sizes, mean - error, mean + error, color=STRONG, alpha=0.18, linewidth=0)
        ax.plot(sizes, mean, color=STRONG, marker="o", markersize=2.5)
        nearly = "nearly the " * bool(mean[path.at(path.best)] > mean.min())
        ax.axhline(path.limit, color=DROPPED, linewidth=0.9, linestyle="--")
        chosen = path.best if self.n_selected is None else self.n_selected
        marks = {chosen: "selected"} if chosen in sizes else {}
        marks |= {
            path.within_one_standard_error: f"fewest within {path.margin} of the smallest",
            path.best: f"{nearly}smallest log loss",  # also if both are the same
        }
        for size, meaning in marks.items():
            ax.plot(
                [size],
                [mean[path.at(size)]],
                linestyle="none",
                marker="o",
                markersize=9,
                markeredgewidth=1.8,
                markeredgecolor=WEAK,
                markerfacecolor=WEAK if size == chosen else "white",
                label=f"{size} column{'' if size == 1 else 's'}: {meaning}",
            )
        ax.set_xlabel("number of columns")
        ax.set_ylabel("cross-validated log loss (nats, ± standard error)")
        ax.locator_params(axis="x", integer=True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(linewidth=0.4, alpha=0.6)
        ax.legend(frameon=False, fontsize=8.5)
