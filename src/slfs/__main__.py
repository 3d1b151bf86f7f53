"""``python -m slfs``: the command ``slfs``."""

from slfs.cli import main

main()
