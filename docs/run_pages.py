"""Run the Python blocks of Markdown pages and compare their output with the page.

A ``python`` block is executed; its output must follow in a ``text`` block. All blocks of a page share
one namespace. ``python docs/run_pages.py PAGE ...`` updates the output in the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """Output that the page shows below a block, output of the block, and the line where it starts."""

    line: int
    shown: str
    printed: str


def run_page(page: Path) -> Iterator[Block]:
    """Run the blocks of a page in one namespace and yield their output."""
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
    """Write the output of the blocks into the page; files that they write are not kept."""
    page = page.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        printed = iter([block.printed for block in run_page(page)])

    def update(match: re.Match[str]) -> str:
        output = next(printed)
        code = f"```python\n{match['code']}```\n"
        return f"{code}\n```text\n{output}```\n" if output else code

    page.write_text(_BLOCK.sub(update, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name))
