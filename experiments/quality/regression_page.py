from pathlib import Path


def write_regression_page(config, rows, docs):
    return docs / "quality-regression.md"
