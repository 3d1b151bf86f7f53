"""SIGKILL at random moments: what is on the disk is old or new, never half, and nothing is lost.

    python -m tests.long.kills --kills 200

Children are forks that have everything imported, so a kill costs milliseconds.
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

from experiments import run
from experiments.config import Config, Method
from slfs import BNSLFS, SLFS
from slfs.files.writing import write_table
from slfs.saving import load, save


def killed(work, seconds):
    """Let a fork do something and kill it after so many seconds; whether it was still at work."""
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
        raise AssertionError("the work failed by itself")
    return os.WIFSIGNALED(status)


def forever(first, second):
    while True:
        first()
        second()


def kill_saving(folder, kills, random):
    """Two models take turns in one file: it always holds one of them."""
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
    """Two tables take turns in one file: its bytes are those of one of them."""
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
    """Rows of a run that is killed again and again: what was finished once stays, and it ends whole."""
    data, target = make_classification(120, 8, random_state=0)
    made = Bunch(data=pd.DataFrame(data).add_prefix("x"), target=target)
    real, run._data = run._data, lambda _name: made
    methods = (Method("SLFS", "SLFS"), Method("mRMR", "MRMR", {}, ("own", "equal")))
    config = Config(7, 10, ("voting",), ("3-NN", "NB"), methods)
    try:
        finished, known = 0, {}
        for _ in range(kills):
            place = folder / f"run-{finished}"
            was_killed = killed(lambda: run_quietly(config, place), random.random())  # noqa: B023
            rows = stored_rows(place)
            assert known.items() <= rows.items(), "a finished cell was lost or worked out again"
            known = rows
            if not was_killed:
                check_whole(config, place)
                finished, known = finished + 1, {}
        place = folder / f"run-{finished}"
        run_quietly(config, place)
        assert known.items() <= stored_rows(place).items()
        check_whole(config, place)
    finally:
        run._data = real


def run_quietly(config, place):
    return run.run(config, place, n_jobs=1, progress=lambda *_: None)


def stored_rows(place):
    """When each cell and classifier was worked out, told by its seconds."""
    rows = [row for path in place.glob("cells/*.jsonl") for row in run.read_journal(path)]
    if (place / "rows.parquet").exists():
        rows += pd.read_parquet(place / "rows.parquet").to_dict("records")
    return {json.dumps([run._key(row), row["classifier"]]): row["selection_seconds"] for row in rows}


def check_whole(config, place):
    assert len(run_quietly(config, place)) == 10 * 3 * 2
    assert not (place / "cells").exists()


CASES = {"model save": kill_saving, "select --out": kill_writing, "reproduce": kill_reproducing}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="for each of the cases")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder), options.kills, random)
        sys.stdout.write(f"{name}: {options.kills} kills, nothing lost or half-written\n")


if __name__ == "__main__":
    main()
