"""Datasets: the nine of the paper by name, and generated data with known relevant columns.

Start with `paper.py` or `generate.py`.
"""

from slfs.datasets.generate import make_network_classification
from slfs.datasets.paper import DATASETS, FOLDER_VARIABLE, find, load

__all__ = ["DATASETS", "FOLDER_VARIABLE", "find", "load", "make_network_classification"]
