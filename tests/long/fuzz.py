"""Fuzz all entry points with tables, parameters and files until the time is up.

    python -m tests.long.fuzz --minutes 10 --seed 1

Stops at the first fault with the example that makes it; the seed makes the same examples again. What a
file reader stumbles over is left in the folder of temporary files, to be put into `tests/corpus`.
"""

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from tests.long import files, ways_in
from tests.long.tables import KINDS, make_table, seeds, tables

selectors = st.sampled_from(ways_in.SELECTORS)
streams = st.sampled_from([one for one in ways_in.SELECTORS if hasattr(one, "fit_stream")])
classifiers = st.sampled_from(ways_in.CLASSIFIERS)
estimators = st.one_of(selectors, classifiers)
later = st.builds(make_table, seeds, st.integers(1, 12), st.integers(1, 5), st.sampled_from(KINDS))


def try_damaged(path, seed):
    """A stored file with one damage; it is kept if it reveals a fault."""
    damaged = Path(tempfile.gettempdir()) / f"fuzz-{os.getpid()}-{path.name}"
    damaged.write_bytes(files.damaged(np.random.default_rng(seed), path))
    copies = [damaged.with_suffix(other.suffix) for other in files.belonging(path)]
    for copy, other in zip(copies, files.belonging(path), strict=True):
        copy.write_bytes(other.read_bytes())
    files.try_file(damaged)
    for made in (damaged, *copies):
        made.unlink()


WAYS = {
    "selectors": (lambda data, selector: ways_in.try_selector(selector, *data), tables(), selectors),
    "classifiers": (lambda data, one: ways_in.try_classifier(one, *data), tables(), classifiers),
    "saving": (lambda data, one: ways_in.try_saving(one, *data), tables(wrong=False), estimators),
    "bif": (lambda data, one: ways_in.try_bif(one, *data), tables(wrong=False), classifiers),
    "discretizer": (
        lambda data, choice: ways_in.try_discretizer(*data, categorical=choice),
        tables(),
        st.sampled_from(["from_dtype", "all"]),
    ),
    "later tables": (
        lambda data, one, table: ways_in.try_later_table(one, *data, table),
        tables(wrong=False),
        classifiers,
        later,
    ),
    "streams": (
        lambda data, one, widths: ways_in.try_stream(one, *data, widths),
        tables(wrong=False),
        streams,
        st.lists(st.integers(1, 4), max_size=5),
    ),
    "polars and PyArrow": (
        lambda data, one: ways_in.try_other_libraries(one, *data),
        tables(wrong=False),
        classifiers,
    ),
    "parameters": (
        lambda data, one, seed: ways_in.try_parameters(one, *data, seed),
        tables(wrong=False),
        estimators,
        seeds,
    ),
    "files": (try_damaged, st.sampled_from(files.stored()), seeds),
}
"""Name -> what to call, and the strategies of its arguments."""


def run_way(name, n_examples, seed):
    """Fuzz one entry point with ``n_examples`` examples; the same seed generates the same ones."""
    function, *strategies = WAYS[name]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=n_examples,
        deadline=None,
        derandomize=False,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(*strategies))
    def attempt(arguments):
        counted[name] += 1
        function(*arguments)

    attempt()


counted = Counter()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--examples", type=float, default=1e9, help="maximum number of examples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=WAYS, help="a single entry point")
    options = parser.parse_args()
    faulthandler.enable()
    begin, seed = time.monotonic(), options.seed
    names = [options.only] if options.only else list(WAYS)
    while time.monotonic() - begin < 60 * options.minutes and counted.total() < options.examples:
        for name in names:
            run_way(name, 200, seed)
        seed += 1
        sys.stderr.write(f"\r{counted.total()} examples, seed {seed}")
    sys.stderr.write("\n")
    share = ", ".join(f"{name} {count}" for name, count in counted.items())
    sys.stdout.write(
        f"{counted.total()} examples in {(time.monotonic() - begin) / 60:.1f} minutes from seed "
        f"{options.seed}, no fault: {share}.\n"
    )


if __name__ == "__main__":
    main()
