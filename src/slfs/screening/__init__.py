"""A table -> coded, screened and packed columns, block by block.

In: a table and its class labels. Out: facts about every column, and bit planes of the candidate columns.
Start with `pipeline.py`.
"""
