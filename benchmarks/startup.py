"""Time before the first result: starting the command, importing, compiling."""

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.timing import seconds

COMMANDS = {
    "slfs --version (at most 3 x)": ["-m", "slfs", "--version"],
    "slfs --help (at most 3 x)": ["-m", "slfs", "--help"],
    "slfs select --help (at most 5 x)": ["-m", "slfs", "select", "--help"],
    "import slfs (at most 4 x)": ["-c", "import slfs"],
}
FLOOR = ["-c", "import numpy"]


def startup(repeats=9):
    """Fresh processes: slfs --version, --help, select --help and import slfs; medians."""
    times = {name: [] for name in ["floor", *COMMANDS]}
    for _ in range(repeats + 1):  # in turn, so that a slow moment of the machine affects all of them
        for name, arguments in {"floor": FLOOR, **COMMANDS}.items():
            times[name].append(seconds(lambda arguments=arguments: _run(arguments)))
    found = {name: median(taken[1:]) for name, taken in times.items()}  # the first fills disk caches
    return [(name, found[name], 'python -c "import numpy"', found["floor"]) for name in COMMANDS]


_FIRST_FIT = """
import time
from sklearn.datasets import load_breast_cancer
from slfs import SLFS
X, y = load_breast_cancer(return_X_y=True)
begin = time.perf_counter()
SLFS().fit(X, y)
print(time.perf_counter() - begin)
"""


def cold():
    """The first fit on a machine that has not compiled any kernels yet."""
    with tempfile.TemporaryDirectory() as cache:
        first, second = (float(_run(["-c", _FIRST_FIT], NUMBA_CACHE_DIR=cache).stdout) for _ in range(2))
    return [("first fit, kernels compiled", first, "from the cache", second)]


def _run(arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
