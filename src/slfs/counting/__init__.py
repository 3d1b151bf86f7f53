"""Levels -> bit planes -> integer counts.

In: codes of columns, samples sorted by class. Out: integer counts, and integer sums of n log n over
them. Start with `backend.py`, the interface of a counting backend. `numpy_backend.py` is the reference
implementation, `numba_backend.py` the fast one.
"""
