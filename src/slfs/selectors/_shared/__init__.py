"""Code shared by several selectors: base classes of families, selections, records, sentences.

`greedy.py`, `stream.py` and `markov_blanket.py` contain the base classes. `selection.py` defines what a
method returns; `records.py` and `sentences.py` turn it into `features_` and the text of `explain`.
"""
