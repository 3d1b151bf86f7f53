"""Plots with matplotlib as display objects, made by ``from_estimator`` and drawn by ``plot``.

In: a fitted estimator. Out: matplotlib axes. Start with `base.py`, the base class of all displays. Needs
the extra ``plot``.
"""

from typing import TYPE_CHECKING

from slfs._core.lazy import lazy_attributes

if TYPE_CHECKING:
    from slfs.plotting.accuracy import AccuracyCurveDisplay
    from slfs.plotting.comparison import ComparisonDisplay
    from slfs.plotting.distribution import DistributionDisplay
    from slfs.plotting.evidence import EvidenceDisplay
    from slfs.plotting.network import NetworkDisplay
    from slfs.plotting.relevance import RelevanceDisplay
    from slfs.plotting.size_path import SizePathDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ComparisonDisplay",
    "DistributionDisplay",
    "EvidenceDisplay",
    "NetworkDisplay",
    "RelevanceDisplay",
    "SizePathDisplay",
]

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "AccuracyCurveDisplay": "slfs.plotting.accuracy",
        "ComparisonDisplay": "slfs.plotting.comparison",
        "DistributionDisplay": "slfs.plotting.distribution",
        "EvidenceDisplay": "slfs.plotting.evidence",
        "NetworkDisplay": "slfs.plotting.network",
        "RelevanceDisplay": "slfs.plotting.relevance",
        "SizePathDisplay": "slfs.plotting.size_path",
    },
)
