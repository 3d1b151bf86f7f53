"""What a user has -> checked blocks of columns, and class codes.

In: arrays, dataframes, sparse matrices, Dask collections. Out: a `Table`, which hands out blocks of
columns. Start with `table.py`; each kind of table has one file and registers itself.
"""
