"""Shared helpers without knowledge of tables or counts: compiling, threads, memory, progress, warnings.

Nothing here imports from another package of slfs. Start with `compile.py` to see how kernels are made.
"""
