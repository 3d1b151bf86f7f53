"""npy files of NumPy -> tables whose columns stay on disk, or pandas DataFrames."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.columns import FileColumns
from slfs.files.limits import check_array, read_array
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order


class NpyColumns(FileColumns):
    """A two-dimensional array of numbers in an npy file, as a table that need not fit in memory.

    The columns are named x0, x1, ... Files in column-major order (``np.asfortranarray``) are read
    fastest.

    Parameters
    ----------
    path : str or Path
    drop : sequence of str, default=()
        Columns that are not features, such as the target.
    missing : sequence of str, default=()
        Numbers, as text, that mean a missing value.

    Attributes
    ----------
    names : list of str
    shape : tuple of int

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs.files import NpyColumns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/table.npy", np.eye(20)[:, :3].repeat(3, axis=0))
    ...     table = NpyColumns(f"{folder}/table.npy", drop=["x2"])
    ...     SLFS(categorical_features="all").fit(table, table.read("x2")).n_features_in_
    ...     del table  # Windows does not remove files that are open
    2
    """

    def __init__(
        self, path: str | Path, *, drop: Sequence[str] = (), missing: Sequence[str] = ()
    ) -> None:
        path, self._marks = Path(path), Marks(missing)
        with path.open("rb") as file:
            try:
                check_array(file, path.stat().st_size, path.name)
            except Exception as error:  # NumPy's parser may raise anything
                raise ValueError(
                    f"{path} is damaged or not an npy file: {error}. Write it again."
                ) from error
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            found = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{path} contains {found}; expected a two-dimensional array of numbers.")
        if 0 in array.shape:
            raise ValueError(f"{path} has no columns or no rows.")
        self._array = array
        super().__init__(path, [f"x{column}" for column in range(array.shape[1])], len(array), drop)

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their indices in ``names``.

        Returns
        -------
        frame : DataFrame
        """
        import pandas as pd

        names = [self.names[column] for column in columns]
        frame = pd.DataFrame(np.array(self._array[:, self._source(columns)]), columns=names)
        return self._marks.remove(frame)

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        from slfs.tables.arrays import ArrayTable

        block = ArrayTable(self._array).number_block(self._source(columns), order)
        return replace(block, value=self._marks.remove_numbers(block.value, self._array.dtype))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        from slfs.tables.arrays import ArrayTable

        source = int(self._source(np.array([column]))[0])
        block = ArrayTable(self._array).label_block(source, order)
        marked = [value in self._marks for value in block.values]
        return replace(block, missing=block.missing | np.array(marked, np.bool_))

    def _kind(self, _name: str) -> tuple[bool, bool]:
        return True, self._array.dtype.kind == "b"

    def _values(self, name: str) -> NDArray[Any]:
        return self._marks.remove_numbers(np.array(self._array[:, int(name[1:])]))

    def _source(self, columns: Columns) -> Columns:
        """Return the indices in the file of columns of the table."""
        return np.array([int(self.names[column][1:]) for column in columns], np.int64)


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    import pandas as pd

    array = read_array(content.read(), "the file")
    if array.ndim != 2:
        raise ValueError(f"it contains an array of shape {array.shape}; expected two dimensions")
    return pd.DataFrame(array, columns=[f"x{column}" for column in range(array.shape[1])]), None


register_format("npy", ["npy"], _read, open_columns=NpyColumns, requirement="slfs[cli]")
