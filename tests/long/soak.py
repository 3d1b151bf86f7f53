"""Random estimators on random tables for an hour: does memory grow?

    python -m tests.long.soak --minutes 60

Memory is what the process holds (resident set) after a collection of garbage, once every ten seconds. It
must not be larger in the last third than in the second by more than 2% and 8 MB: the first third fills
caches and the heap.
"""

import argparse
import gc
import sys
import time

import numpy as np
import psutil
import sklearn

from tests.long.tables import KINDS, make_labels, make_table
from tests.long.ways_in import CLASSIFIERS, SELECTORS, clear_errors


def resident():
    """Bytes that the process holds."""
    return psutil.Process().memory_info().rss


def one_round(random):
    """Generate a table of any size and kind, fit an estimator to it, and use it."""
    n_samples, n_features = int(10 ** random.uniform(0.3, 3.5)), int(10 ** random.uniform(0, 2.3))
    kind = KINDS[random.integers(len(KINDS))]
    if kind in ("frame", "objects", "lists", "text"):
        n_samples, n_features = min(n_samples, 300), min(n_features, 20)
    seed = int(random.integers(2**32))
    estimators = [*SELECTORS, *CLASSIFIERS]
    estimator = sklearn.clone(estimators[random.integers(len(estimators))])
    estimator.set_params(
        n_jobs=int(random.integers(1, 3))
    ) if "n_jobs" in estimator.get_params() else None
    with clear_errors():
        X, y = make_table(seed, n_samples, n_features, kind), make_labels(seed, n_samples, "integers")
        estimator.fit(X, y)
        if hasattr(estimator, "predict_proba"):
            estimator.predict_proba(X)
        elif estimator.n_features_:
            estimator.transform(X)


def soak(minutes, seed, every=10.0, tell=lambda _text: None):
    """(number of fits, memory over time)."""
    random = np.random.default_rng(seed)
    begin = last = time.monotonic()
    fits, memory = 0, []
    while time.monotonic() - begin < 60 * minutes:
        one_round(random)
        fits += 1
        if time.monotonic() - last > every:
            gc.collect()
            last = time.monotonic()
            memory.append(resident())
            tell(f"\r{(last - begin) / 60:.1f} min, {fits} fits, {memory[-1] / 2**20:.0f} MB")
    return fits, memory


def growth(memory):
    """Median memory of the second and of the last third, in bytes."""
    third = len(memory) // 3
    return float(np.median(memory[third : 2 * third])), float(np.median(memory[2 * third :]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    fits, memory = soak(options.minutes, options.seed, tell=sys.stderr.write)
    before, after = growth(memory)
    sys.stdout.write(
        f"\n{fits} fits in {options.minutes:g} minutes: {before / 2**20:.1f} MB in the second third, "
        f"{after / 2**20:.1f} MB in the last; least {min(memory) / 2**20:.1f}, most "
        f"{max(memory) / 2**20:.1f}.\n"
    )
    sys.exit(after > 1.02 * before + 8 * 2**20)


if __name__ == "__main__":
    main()
