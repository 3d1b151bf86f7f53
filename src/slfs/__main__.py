"""``python -m slfs``: the same as the command ``slfs``."""

from slfs.cli import main

main()
