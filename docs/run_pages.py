"""Markdown pages -> their Python blocks, run one after another -> the output that each page must show.

A fence ``python`` is run; what it prints must stand in a fence ``text`` right below it. All blocks of a
page share one namespace. ``python docs/run_pages.py PAGE ...`` writes the outputs into the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """What the page shows below a piece of code, what this printed, and the line where it begins."""

    line: int
    shown: str
    printed: str


def run_page(page: Path) -> Iterator[Block]:
    """Run the blocks of a page in one namespace."""
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code"))
        code = compile("\n" * line + match["code"], str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(code, namespace)
        printed = "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())
        yield Block(line, match["output"] or "", printed)


def write_outputs(page: Path) -> None:
    """Put what the blocks print into the page."""
    printed = iter([block.printed for block in run_page(page)])

    def renew(match: re.Match[str]) -> str:
        output = next(printed)
        code = f"```python\n{match['code']}```\n"
        return f"{code}\n```text\n{output}```\n" if output else code

    page.write_text(_BLOCK.sub(renew, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name))
