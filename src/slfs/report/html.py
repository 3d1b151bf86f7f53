"""The facts of a report -> one HTML file that opens from disk and asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from slfs.files.atomic import replace_file

STYLES = ("page.css", "parts.css")
SCRIPTS = ("base.js", "charts.js", "layout.js", "tree.js", "panel.js", "table.js", "report.js")
"""Read in this order, into one script."""

_UNSAFE = "<>&\u2028\u2029"


def render_html(facts: dict[str, Any]) -> str:
    """Make the report of a selection.

    The same facts give the same text. Names and labels of the data are only ever text: they travel as
    JSON, and the page puts them in place as text. Its policy lets no script run but its own.

    Parameters
    ----------
    facts : dict
        What `make_facts` returned.

    Returns
    -------
    page : str
        A whole HTML document.
    """
    style = "\n".join(_read(name) for name in STYLES)
    script = '(() => {\n"use strict";\n' + "\n".join(_read(name) for name in SCRIPTS) + "})();"
    heading = facts["data"] or "Selected features"
    return Template(_read("report.html")).substitute(
        title=escape(f"{heading}: {facts['n_selected']} of {facts['n_columns']} columns"),
        heading=escape(heading),
        summary=escape(facts["summary"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        facts=embed_json(facts),
    )


def write_report(facts: dict[str, Any], path: Path) -> None:
    """Write the report of a selection to a file, which is whole or not there.

    Parameters
    ----------
    facts : dict
        What `make_facts` returned.
    path : Path
        Where to; a file of that name is replaced.
    """
    page = render_html(facts)
    replace_file(Path(path), partial(Path.write_text, data=page, encoding="utf-8", newline="\n"))


def embed_json(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it closes the element or opens another."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in _UNSAFE:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _read(name: str) -> str:
    return resources.files("slfs.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
