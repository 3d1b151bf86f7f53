"""Benchmarks: named cases, each compared with another package or with a lower bound in the same run.

`cases.py` lists them; `against.py` compares two checkouts of slfs.
"""
