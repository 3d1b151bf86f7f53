"""Files on disk -> tables, and back.

In: a path. Out: a table with its target, or a file that is replaced atomically. Start
with `reading.py`, which has `read_file`, then `registry.py`, which lists the formats. Each format has
one file (`csv.py`, `parquet.py`, `arrow.py`, `excel.py`, `jsonl.py`, `npy.py`, `npz.py`, `svmlight.py`,
`arff.py`, `anndata.py`, `plink.py`, `pgen.py`) that registers itself; `inference.py` finds the types of
columns, `matching.py` transposes tables and matches labels of another file, `cohort.py` matches
genotypes with a table about the samples, and `limits.py` refuses files that would need too much memory.

To add a format, call `register_format` with its name, its suffixes and a function that reads it. Inside
this package, add a file that does so, and its name to ``BUILT_IN`` in `registry.py`. A package can list
a module that does so as an entry point in the group ``slfs.formats``; the command line then finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slfs._core.lazy import lazy_attributes

if TYPE_CHECKING:
    from slfs.files.anndata import AnnDataColumns
    from slfs.files.data_file import DataFile
    from slfs.files.npy import NpyColumns
    from slfs.files.parquet import ParquetColumns
    from slfs.files.pgen import PgenColumns
    from slfs.files.plink import PlinkColumns, write_plink
    from slfs.files.reading import read_file
    from slfs.files.registry import register_format

__all__ = [
    "AnnDataColumns",
    "DataFile",
    "NpyColumns",
    "ParquetColumns",
    "PgenColumns",
    "PlinkColumns",
    "read_file",
    "register_format",
    "write_plink",
]

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "AnnDataColumns": "slfs.files.anndata",
        "DataFile": "slfs.files.data_file",
        "NpyColumns": "slfs.files.npy",
        "ParquetColumns": "slfs.files.parquet",
        "PgenColumns": "slfs.files.pgen",
        "PlinkColumns": "slfs.files.plink",
        "read_file": "slfs.files.reading",
        "register_format": "slfs.files.registry",
        "write_plink": "slfs.files.plink",
    },
)
