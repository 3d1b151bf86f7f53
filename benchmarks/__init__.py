"""Benchmarks: named cases, each in a process of its own, beside a peer or a floor in the same run."""
