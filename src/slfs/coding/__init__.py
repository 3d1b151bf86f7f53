"""Columns -> levels.

In: blocks of columns from `slfs.tables`. Out: a `Coding` that maps values to levels, the counts of each
level and class, and the codes. Start with `codebook.py`.
"""
