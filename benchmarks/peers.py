"""Other packages, which run in environments of their own (``make bench`` creates these).

Each function returns NaN for a time if the environment does not exist.
"""

import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import in_environment

ORANGE = Path(".venv-orange/bin/python")
PEERS = Path(".venv-peers/bin/python")

_ORANGE_MDLP = """
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

_MRMRS = """
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

_PYAGRUM_TAN = """
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

_BORUTA = """
from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier
forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=2, random_state=0)
found = BorutaPy(forest, n_estimators="auto", random_state=0).fit(data["X"], data["y"])
importance = np.nanmean(found.importance_history_, axis=0)
print(*found.support_.astype(int))
print(*np.lexsort((-importance, found.ranking_)))
"""

_PRAZNIK = """
shape <- as.integer(commandArgs(TRUE)[1:2])
file <- file("table", "rb")
X <- matrix(readBin(file, "integer", prod(shape)), shape[1])
y <- factor(readBin(file, "integer", shape[1]))
columns <- lapply(seq_len(shape[2]), function(j) factor(X[, j]))
names(columns) <- paste0("c", seq_len(shape[2]))
X <- structure(columns, class = "data.frame", row.names = seq_len(shape[1]))
for (name in c("MRMR", "JMI", "CMIM")) {
    select <- getExportedValue("praznik", name)
    seconds <- replicate(3, system.time(select(X, y, k = 50, threads = 2))[["elapsed"]])
    cat(min(seconds), "\\n")
}
"""


def orange_mdlp(X, y):
    """Return the time of Orange3's discretization."""
    return float(in_environment(ORANGE, _ORANGE_MDLP, X=X, y=y)[0]) if ORANGE.exists() else math.nan


def mrmrs(X, y):
    """Return the time of mrmrs for 50 features."""
    return float(in_environment(PEERS, _MRMRS, X=X, y=y)[0]) if PEERS.exists() else math.nan


def pyagrum_tan(X, y):
    """Return the times of pyAgrum's TAN for fit and predict; the latter is extrapolated."""
    if not PEERS.exists():
        return math.nan, math.nan
    return tuple(map(float, in_environment(PEERS, _PYAGRUM_TAN, X=X, y=y)[-2:]))


def boruta(X, y):
    """Return the support of Boruta and all columns in order of its ranking, or None."""
    if not PEERS.exists():
        return None
    lines = in_environment(PEERS, _BORUTA, X=X, y=y)[-2:]
    return [np.array(line.split(), int) for line in lines]


def praznik(X, y):
    """Return the times of praznik's mRMR, JMI and CMIM for 50 features; R gets factors."""
    program = shutil.which("Rscript")
    if program is None:
        return [math.nan] * 3
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "select.R").write_text(_PRAZNIK, encoding="utf-8")
        table = np.asfortranarray(X, np.int32).tobytes("F") + y.astype(np.int32).tobytes()
        (Path(folder) / "table").write_bytes(table)
        command = [program, "select.R", *map(str, X.shape)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "no package called" in run.stderr:
        return [math.nan] * 3
    run.check_returncode()
    return [float(line) for line in run.stdout.splitlines()[-3:]]
