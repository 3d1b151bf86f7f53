"""Benchmarks: named cases, each compared with another package or with a lower bound in the same run.

`cases.py` lists them; `against.py` compares two checkouts of slfs, and `history/` contains what
asv has measured from commit to commit.
"""
