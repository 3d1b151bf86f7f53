"""Results do not depend on the process; concurrent fits in threads, forks and Dask workers."""

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from sklearn.datasets import load_breast_cancer, load_iris

from slfs import BNSLFS, MRMR, OSFS, SLFS, Chi2
from slfs._core.threads import Threads

FINGERPRINTS = """
import hashlib, json, os, sys
import numpy as np, pandas as pd
import slfs
from slfs.saving.interchange import to_bif
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.assign(
    town=pd.Series(["A", "B", None, "é"] * 143)[: len(X)],
    mixed=[[1, "1", (2, "a"), b"x", None][k % 5] for k in range(len(X))],
)
n_jobs = int(sys.argv[1])
found = {}
for kind in (
    slfs.SLFS, slfs.MRMR, slfs.JMI, slfs.CMIM, slfs.FCBF, slfs.Chi2, slfs.Chi2Ranking, slfs.OSFS,
    slfs.FastOSFS, slfs.SAOLA,
):
    fitted = kind(n_jobs=n_jobs).fit(X, y)
    classifier = fitted.to_classifier()
    parts = [
        fitted.indices_.tobytes(),
        fitted.selection_scores_.tobytes(),
        repr(fitted.features_.tolist()).encode(),
        classifier.predict_proba(X).tobytes(),
        to_bif(fitted.to_classifier(structure="linked")).encode(),
    ]
    found[kind.__name__] = hashlib.sha256(b"".join(parts)).hexdigest()
print(json.dumps(found))
"""

SETTINGS = [
    ("1", {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}),
    ("2", {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "2"}),
    ("-1", {"PYTHONHASHSEED": "4242", "OPENBLAS_NUM_THREADS": "1", "MALLOC_PERTURB_": "165"}),
]


def run(code, *arguments, **environment):
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


@pytest.mark.slow
def test_fresh_processes_with_other_settings_give_the_same_bits():
    found = [json.loads(run(FINGERPRINTS, n_jobs, **settings)) for n_jobs, settings in SETTINGS]
    assert len(found[0]) == 10
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_fits_in_parallel_threads_are_those_of_one():
    X, y = load_breast_cancer(return_X_y=True)
    selectors = [SLFS(n_jobs=2), MRMR(5), Chi2(), OSFS(), SLFS(irrelevance="test"), BNSLFS()] * 3

    def answer(selector):
        fitted = type(selector)(**selector.get_params(deep=False)).fit(X, y)
        return fitted.predict(X) if isinstance(fitted, BNSLFS) else fitted.indices_

    alone = [answer(selector) for selector in selectors]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, selectors))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_the_first_fits_of_a_process_may_come_at_once():
    """All threads compile at the same time."""
    code = """
from concurrent.futures import ThreadPoolExecutor
from sklearn.datasets import load_iris
from slfs import SLFS, Chi2, OSFS
X, y = load_iris(return_X_y=True)
kinds = [SLFS, Chi2, OSFS, SLFS, Chi2, OSFS]
with ThreadPoolExecutor(6) as pool:
    fitted = pool.map(lambda kind: kind().fit(X, y), kinds)
    print(len({(kind.__name__, tuple(one.indices_)) for kind, one in zip(kinds, fitted)}))
"""
    assert run(code).strip() == "3"


def _ranking(n_jobs):
    X, y = load_iris(return_X_y=True)
    return SLFS(n_jobs=n_jobs).fit(X, y).indices_.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_of_a_process_that_has_fitted():
    expected = _ranking(2)
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        results = [pool.apply_async(_ranking, (n_jobs,)) for n_jobs in (1, 2, -1)]
        assert [result.get(timeout=60) for result in results] == [expected] * 3


@pytest.mark.filterwarnings("ignore:(?s)Port 8787 is already in use")
def test_a_task_of_dask_takes_one_thread():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        counts = client.gather(client.map(_count_threads, [-1, None, 3], pure=False))
        rankings = client.gather(client.map(_ranking, [-1, -1, -1, -1], pure=False))
    assert counts == [1, 1, 3]
    assert rankings == [_ranking(1)] * 4
    assert _count_threads(-1) == cpu_count()


def _count_threads(n_jobs):
    with Threads(n_jobs) as threads:
        return threads.count


def test_threads_inside_joblib_do_not_multiply():
    counts = Parallel(n_jobs=2, backend="threading")(delayed(_count_threads)(-1) for _ in range(3))
    assert counts == [1, 1, 1]
    with parallel_config(n_jobs=3):
        assert _count_threads(None) == 3
    assert _count_threads(10**30) <= max(32, 4 * cpu_count())
