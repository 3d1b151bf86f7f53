"""Tables and class labels of any supported type -> validated blocks of columns, and class codes.

In: arrays, dataframes, sparse matrices, Dask collections, files whose columns stay on disk. Out: a
`Table`, which returns blocks of columns, and a `Target`, which contains the class of each sample.

Start with `table.py`, which defines tables and blocks, then `registry.py`, which finds the
reader for a given type. Each kind of table has one file: `arrays.py`, `sparse.py`, `frames.py`,
`dask_array.py`, `dask_frame.py`.

To add a kind of table, derive a class from `ColumnSource` and call `register_table` with the type, or
the name of the module that defines it, and a function that makes the `ColumnSource`. Inside this
package, add a file and a line to ``READERS`` in `registry.py`.
"""

from slfs.tables.registry import read_table, register_table
from slfs.tables.table import ColumnSource, LabelBlock, NumberBlock, Table, dense_block

__all__ = [
    "ColumnSource",
    "LabelBlock",
    "NumberBlock",
    "Table",
    "dense_block",
    "read_table",
    "register_table",
]
