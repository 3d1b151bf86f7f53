"""The speed of slfs from commit to commit, measured by asv: ``make bench-history``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # asv imports this folder, not the package benchmarks
