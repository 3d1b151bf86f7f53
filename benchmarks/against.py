"""Compare the speed of this tree with another checkout of slfs, such as version 0.1.

    python -m benchmarks.against /path/to/checkout [CASE ...]

Two processes, one per checkout, run each case in turn, so that both see the same state of the machine.
Their first call is not timed. The ratio is the time of this tree divided by that of the checkout, below
1 where this tree is faster.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).parent.parent

ROUNDS = 7
"""Least number of measurements per case and checkout."""
SHORTEST = 0.05
"""Seconds: shorter calls are repeated within one measurement."""
LONGEST = 4.0
"""Seconds after which no further measurements are added to `ROUNDS`."""


class Worker:
    """A process that imports slfs from a source folder."""

    def __init__(self, source):
        if not (source / "slfs" / "__init__.py").exists():
            raise FileNotFoundError(f"There is no slfs package in {source}.")
        environment = {**os.environ, "PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=ROOT,  # where the package benchmarks is
            text=True,
        )
        imported = Path(self._answer()["slfs"])
        if source.resolve() not in imported.resolve().parents:
            raise RuntimeError(f"The process for {source} has imported {imported}.")

    def prepare(self, case):
        """Load the data and run a case once; return a hash of its result."""
        return self._ask(prepare=case)["result"]

    def seconds(self, loops):
        """Time the prepared case; return the mean of ``loops`` calls."""
        return self._ask(loops=loops)["seconds"]

    def close(self):
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The worker has stopped with exit code {self._process.wait()}.")
        return json.loads(line)


def measure(workers, case):
    """Return whether the results agree, and the times of both workers."""
    results = [worker.prepare(case) for worker in workers]
    loops = max(1, int(SHORTEST / workers[0].seconds(1)))
    times = [[], []]
    while len(times[0]) < ROUNDS or (sum(map(sum, times)) * loops < LONGEST and len(times[0]) < 30):
        order = (0, 1) if len(times[0]) % 2 else (1, 0)
        for index in order:
            times[index].append(workers[index].seconds(loops))
    return results[0] == results[1], times


def main(checkout, names):
    from benchmarks.public_cases import CASES

    cases = [case for case in CASES if not names or any(case.startswith(name) for name in names)]
    if not cases:
        sys.exit(f"No case starts with {' or '.join(names)}. There are: {', '.join(CASES)}.")
    workers = [Worker(ROOT / "src"), Worker(checkout.resolve() / "src")]
    head = f"{'ms':<16}{'new, best':>11}{'old, best':>11}{'ratio':>8}{'median':>8}  same result"
    print(f"new: {ROOT}\nold: {checkout}\n{head}")
    ratios = []
    for case in cases:
        try:
            same, (new, old) = measure(workers, case)
        except RuntimeError as error:
            print(f"{case:<16}  failed: {error}", flush=True)
            continue
        ratios.append(min(new) / min(old))
        figures = f"{1000 * min(new):11.2f}{1000 * min(old):11.2f}{ratios[-1]:8.2f}"
        print(
            f"{case:<16}{figures}{median(new) / median(old):8.2f}  {'yes' if same else 'NO'}", flush=True
        )
    if ratios:
        print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.2f}")
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
