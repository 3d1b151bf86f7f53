"""The command ``slfs``. Needs the extra ``cli``.

In: the arguments of the command. Out: files, tables on the terminal, an exit code. Start with
`commands.py`, which lists the commands; `options.py` defines the options that several of them share.

To keep ``slfs --help`` fast, the modules of this package import only typer and the standard library.
Functions import everything else when they run.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line. Ctrl-C ends it with exit code 130, also while modules are imported."""
    try:
        from slfs.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
