"""ARFF files of Weka -> pandas DataFrames."""

from __future__ import annotations

import io
import re
from typing import Any

from slfs.files.inference import TableError
from slfs.files.registry import ReadOptions, register_format

_NAME = r"""('[^']*'|"[^"]*"|[^\s{}]+)"""
_TYPE = r"(\{.*\}|numeric|real|integer|date\b.*)"


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    import pandas as pd
    from scipy.io import arff

    problem = _header_problem(content)
    if problem:
        raise TableError(problem)
    content.seek(0)
    rows, attributes = arff.loadarff(io.TextIOWrapper(content, "utf-8"))
    table = pd.DataFrame(rows)
    for name, kind in zip(attributes.names(), attributes.types(), strict=True):
        if kind == "nominal":
            text = table[name].str.decode("utf-8")
            table[name] = text.where(text != "?", None).astype("category")
    return table, None


def _header_problem(content: io.BytesIO) -> str:
    """Describe the first line of the header that is not ARFF, with its number; "" if there is none."""
    content.seek(0)
    attributes = 0
    for number, raw in enumerate(content, 1):
        line = raw.decode("utf-8-sig", "replace").strip()
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if not line or line.startswith("%") or word == "@relation":
            continue
        where = f"line {number} of its header, {line[:60]!r},"
        if word == "@data":
            return "" if attributes else f"{where} comes before any @attribute"
        if word != "@attribute":
            return f"{where} is not @relation, @attribute or @data"
        if re.fullmatch(rf"@attribute\s+{_NAME}\s+string", line, re.IGNORECASE):
            return f"{where} declares text, which is not supported. Use a list of values, {{a,b}}"
        if not re.fullmatch(rf"@attribute\s+{_NAME}\s+{_TYPE}\s*(%.*)?", line, re.IGNORECASE):
            return (
                f"{where} is not '@attribute NAME TYPE', with the type numeric, real, integer or {{a,b}}"
            )
        attributes += 1
    return "its header has no line @data"


register_format("arff", ["arff"], _read, requirement="slfs[cli]")
