"""A table -> coded, judged and packed columns, block by block.

In: a table and its class labels. Out: facts about every column, and bit planes of the columns that pass.
Start with `pipeline.py`.
"""
