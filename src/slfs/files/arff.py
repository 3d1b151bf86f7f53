"""ARFF files of Weka -> pandas DataFrames."""

from __future__ import annotations

import io
from typing import Any

from slfs.files.registry import ReadOptions, register_format


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    import pandas as pd
    from scipy.io import arff

    rows, attributes = arff.loadarff(io.TextIOWrapper(content, "utf-8"))
    table = pd.DataFrame(rows)
    for name, kind in zip(attributes.names(), attributes.types(), strict=True):
        if kind == "nominal":
            text = table[name].str.decode("utf-8")
            table[name] = text.where(text != "?", None).astype("category")
    return table, None


register_format("arff", ["arff"], _read, requirement="slfs[cli]")
