"""Shared fixtures: random coded data, and the datasets of the paper if they are available."""

import os
import signal
import sys
import warnings
from pathlib import Path

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile(
    "slfs", deadline=None, max_examples=int(os.environ.get("SLFS_EXAMPLES", "60")), derandomize=True
)
hypothesis.settings.load_profile("slfs")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell lets jobs in the background ignore Ctrl-C, and so would the processes that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def paper_data():
    """A function name -> (X, y) for the datasets of the paper, or a skip that says why."""

    def load(name):
        folder = os.environ.get("SLFS_DATA")
        if not folder:
            pytest.skip("SLFS_DATA is not set: the datasets of the paper are not here")
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{name}.npz is not in SLFS_DATA")
        with np.load(path) as data:
            if "indptr" in data:
                from scipy.sparse import csr_array

                parts = (data["data"], data["indices"], data["indptr"])
                return csr_array(parts, shape=tuple(data["shape"])), data["y"]
            return data["X"], data["y"]

    return load


@pytest.fixture
def slfs(capsys):
    """Run the command; return exit code, standard output and standard error."""

    from slfs.cli import main

    def run(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["slfs", *map(str, arguments)])
            patch.setattr(warnings, "showwarning", warnings.showwarning)  # restores it after main
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
