"""Evaluation of selections: significance, accuracy, comparison of methods and of networks.

In: a selector or several, a table, its labels. Out: p-values, accuracies, tests between methods. Start
with `cross_validation.py`, which all comparisons use, or with `significance.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slfs._core.lazy import lazy_attributes

if TYPE_CHECKING:
    from slfs.evaluation.accuracy import accuracy_curve, compare_accuracy
    from slfs.evaluation.groups import feature_groups
    from slfs.evaluation.methods import compare_methods
    from slfs.evaluation.network_comparison import FoldScore, NetworkComparison, NetworkPair
    from slfs.evaluation.networks import compare_networks
    from slfs.evaluation.pairs import Interactions, PairTable, interactions
    from slfs.evaluation.significance import assess, p_values
    from slfs.evaluation.similarity import FeatureSimilarity, feature_similarity

__all__ = [
    "FeatureSimilarity",
    "FoldScore",
    "Interactions",
    "NetworkComparison",
    "NetworkPair",
    "PairTable",
    "accuracy_curve",
    "assess",
    "compare_accuracy",
    "compare_methods",
    "compare_networks",
    "feature_groups",
    "feature_similarity",
    "interactions",
    "p_values",
]

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "FeatureSimilarity": "slfs.evaluation.similarity",
        "FoldScore": "slfs.evaluation.network_comparison",
        "NetworkComparison": "slfs.evaluation.network_comparison",
        "Interactions": "slfs.evaluation.pairs",
        "NetworkPair": "slfs.evaluation.network_comparison",
        "PairTable": "slfs.evaluation.pairs",
        "accuracy_curve": "slfs.evaluation.accuracy",
        "assess": "slfs.evaluation.significance",
        "compare_accuracy": "slfs.evaluation.accuracy",
        "compare_methods": "slfs.evaluation.methods",
        "compare_networks": "slfs.evaluation.networks",
        "feature_groups": "slfs.evaluation.groups",
        "feature_similarity": "slfs.evaluation.similarity",
        "interactions": "slfs.evaluation.pairs",
        "p_values": "slfs.evaluation.significance",
    },
)
