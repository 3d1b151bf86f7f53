"""SIGKILL at random moments: files on disk are old or new, never partly written, and nothing is lost.

    python -m tests.long.kills --kills 200

Children are forks that have imported everything, so that a kill takes milliseconds.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, make_classification
from sklearn.utils import Bunch

from experiments.cells import key
from experiments.config import Config, Method
from experiments.run import run
from experiments.storage import read_journal
from slfs import BNSLFS, SLFS
from slfs.files.writing import write_table
from slfs.saving import load, save


def killed(work, seconds):
    """Run a function in a fork, kill it after some seconds, and return whether it was still running."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError("the function failed without being killed")
    return os.WIFSIGNALED(status)


def forever(first, second):
    while True:
        first()
        second()


def kill_saving(folder, kills, random):
    """Two models are saved to one file in turn: it always contains one of them."""
    X, y = load_iris(return_X_y=True)
    models = [BNSLFS().fit(X, y), SLFS(n_features_to_select=1).fit(X, y)]
    path = folder / "model.slfs"
    save(models[0], path)
    found = set()
    for _ in range(kills):
        killed(
            lambda: forever(*(lambda m=model: save(m, path) for model in models)), random.random() / 20
        )
        found.add(type(load(path)).__name__)
    assert found == {"BNSLFS", "SLFS"} or kills < 20


def kill_writing(folder, kills, random):
    """Two tables are written to one file in turn: it always contains one of them."""
    frames = [pd.DataFrame({"a": np.arange(3000) + k, "b": [f"text {k}"] * 3000}) for k in (0, 1)]
    for ending in (".csv", ".parquet"):
        path, contents = folder / f"table{ending}", []
        for frame in frames:
            write_table(frame, path)
            contents.append(path.read_bytes())
        for _ in range(kills // 2):
            killed(
                lambda: forever(*(lambda f=frame: write_table(f, path) for frame in frames)),  # noqa: B023
                random.random() / 10,
            )
            assert path.read_bytes() in contents


def kill_reproducing(folder, kills, random):
    """A run that is killed repeatedly keeps its finished cells and completes."""
    methods = (Method("SLFS", "SLFS"), Method("mRMR", "MRMR", {}, ("own", "equal")))
    config = Config(7, 10, ("voting",), ("3-NN", "NB"), methods)
    finished, known = 0, {}
    for _ in range(kills):
        current = folder / f"run-{finished}"
        was_killed = killed(lambda: run_quietly(config, current), random.random())  # noqa: B023
        rows = stored_rows(current)
        assert known.items() <= rows.items(), "a finished cell was lost or computed again"
        known = rows
        if not was_killed:
            check_complete(config, current)
            finished, known = finished + 1, {}
    current = folder / f"run-{finished}"
    run_quietly(config, current)
    assert known.items() <= stored_rows(current).items()
    check_complete(config, current)


def generated(_name):
    """A small dataset instead of one of the paper's."""
    data, target = make_classification(120, 8, random_state=0)
    return Bunch(data=pd.DataFrame(data).add_prefix("x"), target=target)


def run_quietly(config, folder):
    return run(config, folder, n_jobs=1, progress=lambda *_: None, load=generated)


def stored_rows(folder):
    """The seconds of each cell and classifier, which identify the run that computed it."""
    rows = [row for path in folder.glob("cells/*.jsonl") for row in read_journal(path)]
    if (folder / "rows.parquet").exists():
        rows += pd.read_parquet(folder / "rows.parquet").to_dict("records")
    return {json.dumps([key(row), row["classifier"]]): row["selection_seconds"] for row in rows}


def check_complete(config, folder):
    assert len(run_quietly(config, folder)) == 10 * 3 * 2
    assert not (folder / "cells").exists()


CASES = {"model save": kill_saving, "select --out": kill_writing, "reproduce": kill_reproducing}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="per case")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not hasattr(os, "fork"):
        sys.exit("The children are forks, which this system does not have. Use Linux or macOS.")
    random = np.random.default_rng(options.seed)
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder), options.kills, random)
        sys.stdout.write(f"{name}: {options.kills} kills, nothing lost or partly written\n")


if __name__ == "__main__":
    main()
