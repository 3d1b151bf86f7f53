"""Files on disk -> tables and back.

In: a path. Out: a table with its target, or a file that is written completely or not at all. Start with
`reading.py`; each format has one file and registers itself.
"""

from slfs.files.columns import NpyColumns, ParquetColumns
from slfs.files.reading import DataFile, read_file

__all__ = ["DataFile", "NpyColumns", "ParquetColumns", "read_file"]
