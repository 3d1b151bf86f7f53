"""Shared helpers that do not depend on tables or counts: compilation, threads, memory, progress.

Nothing here imports from another package of slfs. Start with `compile.py` to see how kernels are
compiled.
"""
