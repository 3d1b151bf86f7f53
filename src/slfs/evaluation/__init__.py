"""How good is a selection? Significance, comparison of methods and of networks.

In: a selector or several, a table, its labels. Out: p-values, accuracies, tests between methods. Start
with `significance.py` or `methods.py`.
"""

from slfs.evaluation.network_comparison import FoldScore, NetworkComparison, NetworkPair
from slfs.evaluation.networks import compare_networks
from slfs.evaluation.significance import assess, p_values

__all__ = [
    "FoldScore",
    "NetworkComparison",
    "NetworkPair",
    "assess",
    "compare_networks",
    "p_values",
]
