"""Functions -> seconds, in this process, in another environment, or in fresh processes."""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


def best(function, repeats=7):
    """Return the shortest time of several calls, after one call that is not timed."""
    function()
    return min(seconds(function) for _ in range(repeats))


def typical(function, repeats=9):
    """Return the median time of several calls, after one call that is not timed."""
    function()
    return float(np.median([seconds(function) for _ in range(repeats)]))


def seconds(function):
    """Return the time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def in_environment(python, code, **arrays):
    """Run code with the interpreter of another environment; return the lines that it prints.

    The arrays are in its dictionary ``data``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, **arrays)
        header = "import sys, time\nimport numpy as np\ndata = np.load(sys.argv[1])\n"
        command = [str(python), "-W", "ignore", "-c", header + code, str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()
