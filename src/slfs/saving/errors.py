"""The error for invalid model files."""


class ModelFileError(ValueError):
    """Raised when a file is not a model file, or is damaged."""
