"""The list of commands, and what happens to errors and warnings."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

try:
    import typer
except ImportError as error:
    raise SystemExit(
        f"slfs: the command line needs {error.name}, which is not installed: pip install 'slfs[cli]'"
    ) from error

from slfs._core.interface import command_line
from slfs._core.version import __version__
from slfs.cli import compare, discretize, extras, fit, interactions, predict, select
from slfs.cli.output import allow_any_text, tell


class _OutputClosed(Exception):  # noqa: N818 - not an error
    """The reader of the standard output has closed it, as ``head`` does when it has enough lines."""


class _Commands(typer.core.TyperGroup):
    """Commands that end in `_OutputClosed`, which typer does not turn into an exit code of 1."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _watch_output():  # --help is printed here
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _watch_output(), command_line():
            return super().invoke(ctx)


@contextmanager
def _watch_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not _is_closed_pipe(error):
            raise
        raise _OutputClosed from error


def _is_closed_pipe(error: OSError) -> bool:
    """Whether the reader of a pipe has closed it; Windows calls that an invalid argument."""
    invalid = error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and invalid)


app = typer.Typer(
    help="Select the columns of a table that predict a class or a number, explain each decision, and "
    "fit an interpretable classifier.",
    epilog="Exit codes: 0 success, 1 invalid data or parameters, 2 wrong usage, 3 no column selected, "
    "130 stopped by Ctrl-C.",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    select.select,
    select.explain,
    fit.fit,
    predict.predict,
    compare.compare,
    interactions.interactions,
    discretize.discretize,
    extras.methods,
    extras.datasets,
    extras.demo,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"slfs {__version__}")
        raise typer.Exit


def run() -> None:
    """Run a command; print errors and warnings as one line each, without a traceback."""
    warnings.showwarning = _show_once()
    allow_any_text()
    try:
        app()
    except _OutputClosed:  # files are written before anything is printed, so nothing is lost
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        tell(str(error), typer.colors.RED)
        sys.exit(1)


def _show_once() -> Callable[..., None]:
    """Make a function that prints each warning once, without the line of code that raised it."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any) -> None:
        text = str(message)
        if text not in seen:
            seen.add(text)
            tell(f"warning: {text}", typer.colors.YELLOW)

    return show
