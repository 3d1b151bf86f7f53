"""Evaluation of selections: significance, accuracy, comparison of methods and of networks.

In: a selector or several, a table, its labels. Out: p-values, accuracies, tests between methods. Start
with `cross_validation.py`, which all comparisons use, or with `significance.py`.
"""

from slfs.evaluation.accuracy import accuracy_curve, compare_accuracy
from slfs.evaluation.network_comparison import FoldScore, NetworkComparison, NetworkPair
from slfs.evaluation.networks import compare_networks
from slfs.evaluation.significance import assess, p_values

__all__ = [
    "FoldScore",
    "NetworkComparison",
    "NetworkPair",
    "accuracy_curve",
    "assess",
    "compare_accuracy",
    "compare_networks",
    "p_values",
]
