"""Run cases: ``python -m benchmarks [CASE ...]``, by default all; ``--list`` shows them.

Each case runs in its own process.
"""

import math
import platform
import subprocess
import sys

import numba
import numpy as np

from benchmarks.cases import CASES, warm_up
from benchmarks.internals import peak_memory


def main(names):
    if names == ["--list"]:
        width = max(map(len, CASES)) + 2
        for name, case in CASES.items():
            print(f"{name:<{width}}{case.__doc__}")
        return
    if len(names) == 2 and names[0] == "--here":
        run_here(names[1])
        return
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"Unknown case(s) {', '.join(unknown)}. Use some of {', '.join(CASES)}.")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, ", end="")
    print(f"numpy {np.__version__}, numba {numba.__version__}")
    for name in names or CASES:
        subprocess.run([sys.executable, "-m", "benchmarks", "--here", name], check=False)


def run_here(name):
    """Run one case in this process and print its rows."""
    print(f"\n{name}: {CASES[name].__doc__}", flush=True)
    compiled = warm_up()
    try:
        rows = CASES[name]()
    except FileNotFoundError as error:
        print(f"  skipped: {error}")
        return
    for what, seconds, other, other_seconds in rows:
        print(f"  {what:<34}{_show(seconds)}   {_compared(seconds, other_seconds)}  {other}")
    peak = peak_memory() / 2**20
    print(f"  (first fit {compiled:.2f} s, peak memory of the process {peak:.0f} MiB)")


def _compared(seconds, other_seconds):
    """Format a ratio and the time that it refers to, which is NaN for packages that are missing."""
    if math.isnan(other_seconds):
        return f"{'':>9}   not installed"
    ratio = seconds / other_seconds
    times = f"{ratio:6.2f} x" if ratio >= 0.1 else f"1/{1 / ratio:.0f} x"
    return f"{times:>9}   {_show(other_seconds)}"


def _show(seconds):
    return f"{seconds * 1000:9.2f} ms" if seconds < 1 else f"{seconds:9.2f} s "


if __name__ == "__main__":
    main(sys.argv[1:])
