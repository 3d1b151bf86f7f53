"""Full disks, kills, interrupts, lost workers, damaged caches: files are kept, errors give a remedy."""

import gc
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from slfs import BNSLFS
from slfs.files.atomic import replace_file
from slfs.files.writing import write_table
from slfs.saving import load, save
from slfs.saving.interchange import write_bif
from tests.long import kills

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", kills.CASES)
def test_kills_at_random_moments(name, tmp_path):
    kills.CASES[name](tmp_path, 10, np.random.default_rng(0))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def model():
    return BNSLFS(structure="linked").fit(*load_iris(return_X_y=True))


def writers(model):
    frame = pd.DataFrame({"a": np.arange(50_000), "b": ["text"] * 50_000})
    return {
        "model.slfs": lambda path: save(model, path),
        "model.bif": lambda path: write_bif(model, path),
        "table.csv": lambda path: write_table(frame, path),
        "table.parquet": lambda path: write_table(frame, path),
        "table.xlsx": lambda path: write_table(frame.head(900), path),
    }


@pytest.fixture
def small_files():
    """Files of at most 500 bytes, as under a quota."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["model.slfs", "model.bif", "table.csv", "table.parquet", "table.xlsx"])
def test_a_quota_leaves_the_old_file(name, model, tmp_path, request):
    path = tmp_path / name
    path.write_text("old")
    request.getfixturevalue("small_files")
    with pytest.raises(OSError, match=r"not enough space to write.*file is unchanged\. Free some space"):
        writers(model)[name](path)
    assert path.read_text() == "old"
    assert names(tmp_path) == [name]


@pytest.mark.usefixtures("small_files")
def test_a_quota_is_reported_once(model, tmp_path, monkeypatch):
    """Python printed errors of generators and archives of openpyxl when it removed them."""
    later = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)
    for name, write in writers(model).items():
        with pytest.raises(OSError, match="not enough space"):
            write(tmp_path / name)
        gc.collect()
        assert not later, name


def test_a_full_disk_leaves_the_old_file(model, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        for name, write in writers(model).items():
            path = disk / name
            path.write_text("old")
            (disk / "filler").write_bytes(bytes(shutil.disk_usage(disk).free))
            with pytest.raises(OSError, match="not enough space to write"):
                write(path)
            assert path.read_text() == "old"
            (disk / "filler").unlink()
            assert names(disk) == [name]
            path.unlink()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_folders_that_accept_no_files_are_named(model):
    with pytest.raises(
        OSError, match=r"/proc/model.slfs cannot be written \(.*\)\. Write to another folder"
    ):
        save(model, Path("/proc/model.slfs"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_permissions_stay(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("old")
    path.chmod(0o600)
    replace_file(path, lambda draft: draft.write_text("new"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_drafts_of_killed_processes_go_after_a_day(tmp_path):
    path = tmp_path / "a[1].txt"
    old, fresh, other = (tmp_path / f".{name}.part.txt" for name in ("a[1].11-1", "a[1].12-1", "b.11-1"))
    for draft in (old, fresh, other):
        draft.write_text("half")
    for draft in (old, other):
        os.utime(draft, (0, 0))
    replace_file(path, lambda draft: draft.write_text("whole"))
    assert names(tmp_path) == sorted([path.name, fresh.name, other.name])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_model_that_is_cut_short(share, model, tmp_path):
    path = tmp_path / "model.slfs"
    save(model, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match=r"cannot be loaded.*(?i:save the model again)"):
        load(path)


SLOW_SELECT = """
import sys, time
from slfs import SLFS
from slfs.cli import main
real = SLFS.fit
def fit(self, X, y, **given):
    print("fitting", file=sys.stderr, flush=True)
    time.sleep(300)
SLFS.fit = fit
sys.argv = ["slfs", "select", sys.argv[1], "--target", "target", "--out", sys.argv[2]]
main()
"""


def interrupted(arguments, sign, number=signal.SIGINT):
    """Run a command, send it a signal once it has printed ``sign``; return its exit code and output."""
    process = subprocess.Popen(
        [sys.executable, "-c", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    printed = ""
    while sign not in printed and process.poll() is None:
        printed += process.stdout.readline()
    process.send_signal(number)
    rest, _ = process.communicate(timeout=120)
    return process.returncode, printed + rest


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="processes cannot be sent SIGINT")
def test_ctrl_c_in_select_leaves_the_old_file(tmp_path):
    data, out = tmp_path / "iris.csv", tmp_path / "out.csv"
    load_iris(as_frame=True).frame.to_csv(data, index=False)
    out.write_text("old")
    code, said = interrupted([SLOW_SELECT, str(data), str(out)], "fitting")
    assert code == 130, said
    assert "Traceback" not in said
    assert out.read_text() == "old"
    assert names(tmp_path) == ["iris.csv", "out.csv"]


SMALL = """
from slfs._core.compile import late_kernel

@late_kernel
def twice(number):
    return 2 * number
"""


@pytest.fixture
def compile_small(tmp_path):
    """A function that calls a kernel in a fresh process, its cache in ``tmp_path / "cache"``."""
    (tmp_path / "small.py").write_text(SMALL)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def call(before=""):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{before}\n"
        code += "import small; print(small.twice(21))"
        result = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert result.stdout == "42\n", result.stderr
        return result.stderr

    return call


@pytest.mark.slow
def test_a_damaged_cache_is_rebuilt(compile_small, tmp_path):
    assert compile_small() == ""
    for ending in ("nbi", "nbc"):
        (path,) = (tmp_path / "cache").rglob(f"*.{ending}")
        path.write_bytes(path.read_bytes()[:20])
        assert "is damaged" in compile_small()
    assert compile_small() == "", "the cache is valid again"


def test_a_cache_on_a_full_disk_is_not_needed(compile_small):
    pytest.importorskip("resource")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    assert "could not store a compiled kernel" in compile_small(limit)


def test_a_cache_that_cannot_be_written(compile_small, tmp_path):
    (tmp_path / "cache").write_text("a file, no folder")
    compile_small()
