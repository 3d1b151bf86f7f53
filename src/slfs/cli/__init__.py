"""The command ``slfs``. Needs the extra ``cli``."""

from slfs.cli.main import app, main

__all__ = ["app", "main"]
