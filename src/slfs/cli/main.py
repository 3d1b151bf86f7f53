"""The commands under one name, and what becomes of errors."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import slfs

try:
    import typer
except ImportError as error:
    raise SystemExit(
        f"slfs: the command needs {error.name}, which is missing: pip install 'slfs[cli]'"
    ) from error

from slfs.cli import compare, models, paper, selecting
from slfs.cli.common import ERRORS

app = typer.Typer(
    help="Which columns of a table tell the classes apart, why the others do not, and a model that can "
    "be explained.",
    epilog="Exit codes: 0 done, 1 wrong data or parameters, 2 wrong usage, 130 stopped with Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (
    selecting.select,
    selecting.explain,
    models.fit,
    models.predict,
    compare.compare,
    selecting.discretize,
    paper.demo,
    paper.datasets,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        typer.echo(f"slfs {slfs.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; say errors of data and parameters in one line."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        app()
    except BrokenPipeError:  # whoever reads our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        _say(f"slfs: {error}", "red")
        sys.exit(1)


def _warn(message: Warning | str, *_: Any) -> None:
    """Show a warning to somebody who did not write the program."""
    _say(f"slfs: warning: {message}", "yellow")


def _say(text: str, style: str) -> None:
    ERRORS.print(text, style=style, markup=False, highlight=False, emoji=False, soft_wrap=True)
