"""Counts -> entropies, mutual information, p-values, q-values, stability.

In: a counting backend, or tables of counts. Out: floats. Start with `information.py`.
"""

from slfs.measures.false_discovery import q_values
from slfs.measures.stability import Stability, effective_stability, nogueira

__all__ = ["Stability", "effective_stability", "nogueira", "q_values"]
