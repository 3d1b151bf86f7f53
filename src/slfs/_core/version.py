"""The version, where every package can import it."""

__version__ = "0.2.0.dev0"
