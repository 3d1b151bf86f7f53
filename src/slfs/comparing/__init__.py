"""Networks of different kinds on the same data, side by side."""

from slfs.comparing.networks import compare_networks
from slfs.comparing.result import FoldScore, NetworkComparison, NetworkPair

__all__ = ["FoldScore", "NetworkComparison", "NetworkPair", "compare_networks"]
