"""The names of levels contain exactly the values that the levels contain."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slfs import SLFS
from slfs.coding.level_names import threshold_texts


@given(
    st.lists(st.integers(0, 90), min_size=30, max_size=60),
    st.sampled_from([0.0, 0.1776, -3e7]),
    st.sampled_from([1e-7, 1 / 3, 1e5]),
)
def test_texts_of_cut_points_separate_the_same_values(steps, offset, size):
    """Cut points by MDLP, and at quantiles of included columns that it does not cut."""
    x = offset + size * np.array(steps)
    X = np.column_stack([x, np.where(np.arange(len(x)) % 2, x, x // 7)])
    y = x > np.median(x)
    y[:2] = False, True
    selector = SLFS(include=[0, 1]).fit(X, y)
    coding = selector.network_counts_.coding
    for node, column in enumerate(selector.indices_):
        texts = threshold_texts(coding, node)
        for threshold, text in zip(coding.column_thresholds(node), texts, strict=True):
            assert ((X[:, column] <= threshold) == (X[:, column] <= float(text))).all()
