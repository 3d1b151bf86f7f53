"""What several selectors share: templates of families, the selection, records, sentences.

`greedy.py`, `stream.py` and `markov_blanket.py` are the families; `selection.py` holds what a method
returns, `records.py` and `sentences.py` turn it into `features_` and `explain`.
"""
