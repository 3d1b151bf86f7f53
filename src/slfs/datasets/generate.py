"""Generated data with known relevant columns: samples from a Bayesian network around the class."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from slfs._compat import Interval, validate_params


@validate_params(  # type: ignore[untyped-decorator]
    {
        name: [Interval(Integral, least, None, closed="left")]
        for name, least in {
            "n_samples": 1,
            "n_children": 1,
            "n_descendants": 0,
            "n_noise": 0,
            "n_levels": 2,
            "n_classes": 2,
        }.items()
    }
    | {"random_state": ["random_state"]},
    prefer_skip_nested_validation=True,
)
def make_network_classification(
    n_samples: int = 1000,
    *,
    n_children: int = 6,
    n_descendants: int = 12,
    n_noise: int = 30,
    n_levels: int = 3,
    n_classes: int = 2,
    random_state: Any = None,
) -> Bunch:
    """Sample a table of levels from a random tree Bayesian network whose root is the class.

    The children of the class are its Markov blanket: given them, their descendants are independent of
    the class. The noise columns are independent of everything. Columns are shuffled.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_children : int, default=6
        Number of columns that depend directly on the class.
    n_descendants : int, default=12
        Number of columns that depend on a child of the class or on one of its descendants.
    n_noise : int, default=30
        Number of columns that are independent of all others and of the class.
    n_levels : int, default=3
        Number of levels of each column.
    n_classes : int, default=2
        Number of classes.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers.

    Returns
    -------
    data : Bunch
        ``data`` of shape (n_samples, n_columns), ``target`` of shape (n_samples,), the sorted indices
        ``blanket`` (children of the class), ``descendants`` and ``noise``, and ``parents``: the index of
        the parent of each column, -1 for the class, -2 for none.

    Examples
    --------
    >>> from slfs import FastOSFS, make_network_classification
    >>> made = make_network_classification(5000, random_state=0)
    >>> made.blanket
    array([ 5, 11, 27, 28, 33, 41])
    >>> FastOSFS(categorical_features="all").fit(made.data, made.target).get_support(indices=True)
    array([ 5, 11, 27, 28, 33, 41])
    """
    random = check_random_state(random_state)
    y = random.randint(n_classes, size=n_samples)
    columns: list[NDArray[np.int64]] = []
    parents: list[int] = []
    for _ in range(n_children):
        columns.append(_depend(y, n_classes, n_levels, random))
        parents.append(-1)
    for _ in range(n_descendants):
        parent = int(random.randint(len(columns)))
        columns.append(_depend(columns[parent], n_levels, n_levels, random))
        parents.append(parent)
    for _ in range(n_noise):
        columns.append(random.randint(n_levels, size=n_samples))
        parents.append(-2)
    order = random.permutation(len(columns))
    new_index = np.argsort(order)
    shuffled = np.array(parents)[order]
    related = n_children + n_descendants
    return Bunch(
        data=np.stack(columns, axis=1)[:, order],
        target=y,
        blanket=np.sort(new_index[:n_children]),
        descendants=np.sort(new_index[n_children:related]),
        noise=np.sort(new_index[related:]),
        parents=np.where(shuffled < 0, shuffled, new_index[shuffled]),
    )


def _depend(
    source: NDArray[np.int64], n_source: int, n_levels: int, random: np.random.RandomState
) -> NDArray[np.int64]:
    """Make a column in which 40 to 60% of the values are determined by ``source``."""
    shift = random.randint(n_levels)
    follows = random.random_sample(len(source)) < random.uniform(0.4, 0.6)
    image = (np.arange(n_source) + shift) % n_levels
    noise: NDArray[np.int64] = random.randint(n_levels, size=len(source))
    return np.where(follows, image[source], noise)
