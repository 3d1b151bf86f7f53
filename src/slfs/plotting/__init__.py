"""Pictures with matplotlib, as Display objects: made from an estimator, drawn with ``plot()``.

Needs the extra ``plot``.
"""

from slfs.plotting.accuracy import AccuracyCurveDisplay
from slfs.plotting.comparison import ComparisonDisplay
from slfs.plotting.distribution import DistributionDisplay
from slfs.plotting.network import NetworkDisplay
from slfs.plotting.relevance import RelevanceDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ComparisonDisplay",
    "DistributionDisplay",
    "NetworkDisplay",
    "RelevanceDisplay",
]
