"""Output of the commands: tables on standard output, progress on standard error."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from slfs._core.progress import Listener


NOTHING_SELECTED = 3
"""Exit code if no column is selected."""

_PLAINER = {"├": "|", "│": "|", "└": "`", "─": "-", "≤": "<=", "±": "+-", "²": "^2", "…": "..."}
"""ASCII for the characters that the commands print and some encodings do not have."""


def allow_any_text() -> None:
    """Let the standard output show text that its encoding does not have, such as trees in cp1252.

    Pipes and files on Windows, and terminals with an old locale, have such encodings.
    """
    codecs.register_error("slfs", _in_plainer_text)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="slfs")


def _in_plainer_text(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that cannot be encoded: by ASCII that looks similar, or by their number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    text = "".join(_PLAINER.get(one, one) for one in wrong)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _prints_unicode() -> bool:
    return codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name == "utf-8"


def show_table(
    head: Sequence[str], lines: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print a table: fitted to the width of a terminal, never cut off in a file or a pipe.

    Columns named in ``right`` hold numbers and are aligned on the right.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, text = Console(), io.StringIO()
    if not console.is_terminal:
        console = Console(file=text, width=10_000)
    table = Table(box=None, pad_edge=False)
    for title in head:
        justify = "right" if title in right else "left"
        table.add_column(title, no_wrap=not console.is_terminal, justify=justify)  # type: ignore[arg-type]
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)
    for line in text.getvalue().splitlines():
        typer.echo(line.rstrip())


def show_json(found: Any, default: Callable[[Any], Any] | None = None) -> None:
    """Print plain values as JSON on one line, in ASCII unless the standard output is UTF-8.

    ``default`` converts other values, as in `json.dumps`.
    """
    typer.echo(json.dumps(found, ensure_ascii=not _prints_unicode(), default=default))


def show_csv(frame: Any) -> None:
    """Print a dataframe as CSV in UTF-8, as it is written to files, in any locale."""
    from slfs.files.csv import write_csv

    if not _prints_unicode() and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    write_csv(frame, sys.stdout)  # Windows adds the carriage returns


def label_key(label: Any) -> str:
    """Return the key of a class label in a JSON object: its text, or its JSON (true, 1, 1.0)."""
    value = label.item() if hasattr(label, "item") else label
    return value if isinstance(value, str) else json.dumps(value, default=str)


def show_note(text: str) -> None:
    """Print a remark on standard error."""
    tell(f"note: {text}", typer.colors.CYAN)


def tell(text: str, colour: str) -> None:
    """Print a message on standard error; if its reader has closed it, the command goes on."""
    with suppress(OSError):  # Windows has no error of its own for a closed pipe
        typer.secho(f"slfs: {text}", fg=colour, err=True)


def status(text: str) -> AbstractContextManager[object]:
    """Show what is being done while it lasts; only on a terminal."""
    from rich.console import Console

    return Console(stderr=True).status(text)


@contextmanager
def progress(title: str) -> Iterator[Listener]:
    """Show a progress bar on standard error if that is a terminal; yield the function that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
