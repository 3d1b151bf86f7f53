"""Run cases: ``python -m benchmarks [CASE ...]``, all without a name, ``--list`` to see them."""

import platform
import resource
import subprocess
import sys

import numba
import numpy as np

from benchmarks.cases import CASES, warm_up


def main(names):
    if names == ["--list"]:
        for name, case in CASES.items():
            print(f"{name:<12}{case.__doc__}")
        return
    if len(names) == 2 and names[0] == "--here":
        run_here(names[1])
        return
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"unknown case(s) {unknown}; there are: {', '.join(CASES)}")
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
        ratio = seconds / other_seconds
        times = f"{ratio:6.2f} x" if ratio >= 0.1 else f"1/{1 / ratio:.0f} x"
        print(f"  {what:<30}{_show(seconds)}   {times:>9}   {_show(other_seconds)}  {other}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  (warm-up {compiled:.2f} s, peak memory of the process {peak:.0f} MiB)")


def _show(seconds):
    return f"{seconds * 1000:9.2f} ms" if seconds < 1 else f"{seconds:9.2f} s "


if __name__ == "__main__":
    main(sys.argv[1:])
