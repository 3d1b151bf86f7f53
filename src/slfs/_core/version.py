"""The version, in a module that every package can import."""

__version__ = "0.2.0"
