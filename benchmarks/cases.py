"""The cases. Each returns rows (what, seconds, what it is compared with, seconds of that)."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.fdr import fdr, permutations
from benchmarks.scale import agree, scale

ORANGE = Path(".venv-orange/bin/python")
PEERS = Path(".venv-peers/bin/python")


def best(function, repeats=7):
    """The least time of several runs, the first of which does not count."""
    function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def warm_up():
    """Compile, or load what was compiled: shown apart, so that no case pays for it."""
    from slfs._core.compile import compile_kernels

    begin = time.perf_counter()
    compile_kernels()
    return time.perf_counter() - begin


def _information(codes, y, n_jobs=1):
    from slfs._core.threads import Threads
    from slfs.counting.planes import SampleLayout
    from slfs.measures.information import Information
    from slfs.screening.pipeline import code_table
    from slfs.tables.registry import read_table

    layout = SampleLayout.from_class_codes(y, int(y.max()) + 1)
    threads = Threads(n_jobs)
    table = read_table(codes)
    every = np.ones(table.n_features, bool)
    _, store = code_table(table, layout, every, threads, keep=lambda facts: facts.coding.n_levels > 1)
    return Information(store.packed(), threads)


def count():
    """One 3-level column against 20000 others, N = 1150, one core: tables and information."""
    X, y = data.set_a()
    others = np.arange(1, X.shape[1])
    information = _information(X, y)
    planes = information.packed.arrays.words.reshape(X.shape[1], 2, -1)
    floor = best(lambda: np.bitwise_count(planes & planes[0]), 20)

    def with_class():
        pair = information.pairs(0, others)
        return pair.mutual_information, pair.of_one_given_other

    questions = {
        "I(f;k) and I(f;Y|k)": with_class,
        "I(f;k) alone": lambda: information.mutual_information(0, others),
    }
    return [
        (name, best(ask, 20), "read planes once: np.bitwise_count(a & b)", floor)
        for name, ask in questions.items()
    ]


def pack():
    """Raw columns of set A (1150 x 20000) to planes, two cores."""
    from slfs._core.threads import Threads
    from slfs.counting.planes import SampleLayout
    from slfs.screening.pipeline import code_table
    from slfs.tables.registry import read_table

    X, y = data.set_a()
    layout = SampleLayout.from_class_codes(y, 2)
    rows = []
    for dtype in (np.int32, np.float64):
        raw = X.astype(dtype)
        floor = best(lambda raw=raw: np.ascontiguousarray(raw.T))
        for name, categorical in (("levels as they are", True), ("MDLP", False)):

            def to_planes(raw=raw, categorical=categorical):
                mask = np.full(raw.shape[1], categorical)
                with Threads(2) as threads:
                    keep = lambda facts: facts.coding.n_levels > 1  # noqa: E731
                    code_table(read_table(raw), layout, mask, threads, keep=keep)

            name = f"{np.dtype(dtype).name}, {name}"
            rows.append((name, best(to_planes), "np.ascontiguousarray(X.T)", floor))
    return rows


def mdlp():
    """MDLP on 2600 x 500 floats (set C), one core and two."""
    from slfs import MDLPDiscretizer

    X, y = data.set_c()
    sort = best(lambda: np.argsort(X, axis=0))
    one = best(lambda: MDLPDiscretizer().fit(X, y))
    two = best(lambda: MDLPDiscretizer(n_jobs=2).fit(X, y))
    rows = [("fit, one core", one, "np.argsort(X, axis=0), one core", sort)]
    if ORANGE.exists():
        peer = _elsewhere(ORANGE, ORANGE_MDLP, X=X, y=y)[0]
        rows.append(("fit, one core", one, "Orange3 EntropyMDL, one core", peer))
        rows.append(("fit, two cores", two, "Orange3 EntropyMDL, one core", peer))
    else:
        rows.append(("fit, two cores", two, "Orange3: not installed, run make bench", float("nan")))
    return rows


def _elsewhere(python, code, **arrays):
    """Run code in another environment on some arrays; the numbers that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, **arrays)
        header = "import sys, time\nimport numpy as np\ndata = np.load(sys.argv[1])\n"
        command = [str(python), "-W", "ignore", "-c", header + code, str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return [float(word) for word in run.stdout.split()]


ORANGE_MDLP = """
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
from Orange.preprocess.discretize import EntropyMDL
X, y = data["X"], data["y"]
columns = [ContinuousVariable(str(j)) for j in range(X.shape[1])]
table = Table.from_numpy(Domain(columns, DiscreteVariable("y", ["0", "1"])), X, y)
method = EntropyMDL(force=False)
times = []
for _ in range(3):
    begin = time.perf_counter()
    for column in columns:
        method(table, column)
    times.append(time.perf_counter() - begin)
print(min(times))
"""

MRMRS = """
import mrmrs, polars
frame = polars.DataFrame(data["X"].astype(float), schema=[f"c{j}" for j in range(data["X"].shape[1])])
target = polars.Series("y", data["y"].astype(float))
times = []
for _ in range(3):
    begin = time.perf_counter()
    mrmrs.mrmr(frame, target, 50, "classification")
    times.append(time.perf_counter() - begin)
print(min(times))
"""

PYAGRUM_TAN = """
import pandas
from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
from pyagrum.skbn import BNClassifier
frame = pandas.DataFrame(data["X"], columns=[f"c{j}" for j in range(data["X"].shape[1])])
processor = DiscreteTypeProcessor(discretizationThreshold=1000)
model = BNClassifier(learningMethod="TAN", type_processor=processor)
begin = time.perf_counter()
model.fit(frame, data["y"])
print(time.perf_counter() - begin)
begin = time.perf_counter()
model.predict(frame[:2000])
print((time.perf_counter() - begin) * len(frame) / 2000)
"""


def mrmr():
    """mRMR, 50 features, coding included, two cores; the peer ranks by F and Pearson correlation."""
    from slfs import MRMR

    rows = []
    shapes = {
        "E 200 x 10000": (200, 10_000, 3, 2, 3),
        "B 7797 x 617": (7797, 617, 5, 26, 2),
        "A 1150 x 20000": (1150, 20_000, 3, 2, 1),
        "F 1150 x 100000": (1150, 100_000, 3, 2, 4),
    }
    for name, shape in shapes.items():
        X, y = data.coded(*shape)
        selector = MRMR(50, categorical_features="all", n_jobs=2)
        ours = best(lambda selector=selector, X=X, y=y: selector.fit(X, y), 4)
        peer = _elsewhere(PEERS, MRMRS, X=X, y=y)[0] if PEERS.exists() else float("nan")
        rows.append((name, ours, "mrmrs (F, Pearson)", peer))
    return rows


def tan():
    """TAN on 20000 x 16 columns of 16 levels, 26 classes, two cores."""
    from slfs import TAN

    X, y = data.coded(20_000, 16, 16, 26, seed=5)
    classifier = TAN(categorical_features="all", n_jobs=2).fit(X, y)
    peer = _elsewhere(PEERS, PYAGRUM_TAN, X=X, y=y) if PEERS.exists() else [float("nan")] * 2
    return [
        ("fit", best(lambda: classifier.fit(X, y)), "pyAgrum", peer[0]),
        ("predict 20000 rows", best(lambda: classifier.predict(X)), "pyAgrum, at its rate", peer[1]),
    ]


def online():
    """The online methods on the paper's data, beside reading and coding the columns alone."""
    from slfs import OSFS, SAOLA, FastOSFS, MDLPDiscretizer

    rows = []
    for selector, name in ((OSFS(), "madelon"), (FastOSFS(), "arcene"), (SAOLA(), "arcene")):
        X, y = data.paper(name)
        coding = best(lambda X=X, y=y: MDLPDiscretizer().fit(X, y), 2)
        ours = best(lambda selector=selector, X=X, y=y: selector.fit(X, y), 2)
        rows.append((f"{type(selector).__name__}, {name}", ours, "MDLP alone", coding))
    return rows


def dorothea():
    """1150 x 100000 sparse binary columns, from matrix to fitted SLFS."""
    from slfs import SLFS

    X, y = data.paper("dorothea")
    floor = best(X.tocsc, 3)
    return [
        (f"fit, {n} core(s)", best(lambda n=n: SLFS(n_jobs=n).fit(X, y), 3), "X.tocsc()", floor)
        for n in (1, 2)
    ]


def isolet():
    """7797 x 617 floats, 26 classes, from matrix to fitted SLFS."""
    from sklearn.feature_selection import f_classif

    from slfs import SLFS

    X, y = data.paper("isolet")
    sort, peer = best(lambda: np.argsort(X, axis=0), 2), best(lambda: f_classif(X, y), 2)
    times = [best(lambda n=n: SLFS(n_jobs=n).fit(X, y), 3) for n in (1, 2)]
    return [
        ("fit, one core", times[0], "np.argsort(X, axis=0)", sort),
        ("fit, two cores", times[1], "np.argsort(X, axis=0)", sort),
        ("fit, two cores", times[1], "scikit-learn f_classif (ranks only)", peer),
    ]


def peers():
    """Relevance of 7797 x 617 columns in scikit-learn against the whole of SLFS, two cores."""
    from sklearn.feature_selection import mutual_info_classif

    from slfs import SLFS

    X, y = data.coded(7797, 617, 5, 26, seed=2)
    ours = best(lambda: SLFS(categorical_features="all", n_jobs=2).fit(X, y), 3)
    begin = time.perf_counter()
    mutual_info_classif(X, y, discrete_features=True, n_jobs=2)
    return [("SLFS fit", ours, "mutual_info_classif, relevance only", time.perf_counter() - begin)]


def growth():
    """Ten times the columns, ten times the samples: how many times the time."""
    from slfs import SLFS

    rows = []
    for what, small, large in (
        ("columns 10^4 -> 10^5", (1000, 10_000), (1000, 100_000)),
        ("samples 2*10^3 -> 2*10^4", (2000, 2000), (20_000, 2000)),
    ):
        times = []
        for shape in (large, small):
            X, y = data.coded(*shape, 3, 2, seed=7)
            times.append(best(lambda X=X, y=y: SLFS(n_jobs=2).fit(X, y), 3))
        rows.append((what, times[0], "a tenth of it", times[1]))
    return rows


def importing():
    """`import slfs` in a fresh process."""

    def seconds(modules):
        code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
        command = [sys.executable, "-c", code]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
        return min(float(run.stdout) for run in runs)

    both = "sklearn.feature_selection, numba"
    return [("import slfs", seconds("slfs"), f"import {both}", seconds(both))]


def cold():
    """The first fit on a machine that has compiled nothing yet."""
    code = """
import time
from sklearn.datasets import load_breast_cancer
from slfs import SLFS
X, y = load_breast_cancer(return_X_y=True)
begin = time.perf_counter()
SLFS().fit(X, y)
print(time.perf_counter() - begin)
"""

    def seconds(cache):
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(run.stdout)

    with tempfile.TemporaryDirectory() as cache:
        return [("first fit, kernels compiled", seconds(cache), "from the cache", seconds(cache))]


CASES = {
    case.__name__: case
    for case in (
        count,
        pack,
        mdlp,
        mrmr,
        tan,
        online,
        dorothea,
        isolet,
        peers,
        growth,
        importing,
        cold,
        scale,
        agree,
        permutations,
        fdr,
    )
}
