"""What is wrong with a model file."""


class ModelFileError(ValueError):
    """A file is no model, or a damaged one."""
