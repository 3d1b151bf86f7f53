"""Windows and macOS, simulated: what they lack or do otherwise is taken away or imitated here."""

import errno
import gc
import io
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from sklearn.datasets import load_iris

from benchmarks.internals import peak_memory
from experiments.quality.methods import time_limit
from experiments.storage import digest
from slfs import BNSLFS
from slfs._core.memory import memory_taken
from slfs.counting.planes import PackedBlock, SampleLayout
from slfs.counting.store import PlaneStore
from slfs.files import write_plink
from slfs.files.atomic import replace_file
from slfs.files.writing import check_output, write_table
from slfs.saving import save
from tests.long import kills

ROOT = Path(__file__).parents[1]
JAPANESE = "花弁"


@pytest.fixture(scope="module")
def flowers():
    frame = load_iris(as_frame=True).frame.rename(columns={"petal width (cm)": JAPANESE})
    return frame.assign(target=np.array(["setosa", "Größe", JAPANESE])[frame["target"]])


@pytest.fixture
def here(flowers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flowers.to_csv("iris.csv", index=False)
    save(BNSLFS().fit(flowers.drop(columns="target"), flowers["target"]), "iris.slfs")
    return tmp_path


def run_in(encoding, *arguments):
    """Run a command whose standard output has an encoding; return what it has printed as bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "slfs", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("encoding", "branch"), [("cp1252", "|-- "), ("cp437", "├── "), ("utf-8", "├── ")]
)
def test_the_tree_in_encodings_of_windows(encoding, branch):
    said = run_in(encoding, "select", "iris.csv", "-t", "target", "--tree").decode(encoding)
    name = JAPANESE if encoding == "utf-8" else r"\u82b1\u5f01"
    assert f"{branch}{name}" in said


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_json_has_the_same_values_in_every_encoding():
    texts = {
        encoding: run_in(encoding, "predict", "iris.slfs", "iris.csv", "--explain", "--json")
        for encoding in ("cp1252", "utf-8")
    }
    plain, full = (
        [json.loads(line) for line in text.decode(encoding).splitlines()]
        for encoding, text in texts.items()
    )
    assert texts["cp1252"].isascii()
    assert JAPANESE.encode() in texts["utf-8"]
    assert plain == full
    assert {record["prediction"] for record in plain} >= {"Größe", JAPANESE}


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_csv_on_standard_output_can_be_read_again():
    printed = run_in("cp1252", "predict", "iris.slfs", "iris.csv")
    assert {"Größe", JAPANESE} <= set(pd.read_csv(io.BytesIO(printed))["prediction"])


class Windows(io.TextIOWrapper):
    """A standard output that ends lines as on Windows."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="cp1252", newline="\r\n")


def test_csv_on_standard_output_has_no_empty_lines(monkeypatch):
    from slfs.cli.output import show_csv

    stream = Windows()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(os, "linesep", "\r\n")
    show_csv(pd.DataFrame({"a": [1, 2]}))
    stream.flush()
    assert stream.buffer.getvalue() == b"a\r\n1\r\n2\r\n"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json"])
def test_files_have_the_same_bytes_on_every_system(suffix, tmp_path, monkeypatch, open_as_windows):
    frame = pd.DataFrame({"a": [1, 2], "b": ["ä", JAPANESE]})
    write_table(frame, tmp_path / f"here.{suffix}")
    monkeypatch.setattr(os, "linesep", "\r\n")
    open_as_windows()
    write_table(frame, tmp_path / f"there.{suffix}")
    assert (tmp_path / f"there.{suffix}").read_bytes() == (tmp_path / f"here.{suffix}").read_bytes()


@pytest.fixture
def open_as_windows(monkeypatch):
    """A function after which paths are opened with the defaults of Windows: cp1252 and \\r\\n."""
    real = io.open

    def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **rest):
        if "b" not in mode:
            encoding = "cp1252" if encoding in (None, "locale") else encoding
            newline = "\r\n" if newline is None and mode != "r" else newline
        return real(file, mode, buffering, encoding, errors, newline, **rest)

    return lambda: monkeypatch.setattr(io, "open", opened)


def test_plink_files_have_the_same_bytes_on_every_system(tmp_path, open_as_windows):
    genotypes = np.array([[0.0, 1, 2], [2, 1, 0]])
    for name in ("here", "there"):
        if name == "there":
            open_as_windows()
        write_plink(tmp_path / f"{name}.bed", genotypes, names=["ä", "b", JAPANESE])
    for suffix in (".bim", ".fam"):
        one, other = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in ("here", "there"))
        assert one == other


def test_the_hash_of_results_does_not_depend_on_line_ends(monkeypatch):
    from experiments.cells import KEY

    rows = pd.DataFrame({**dict.fromkeys(KEY, "a"), "classifier": ["b"], "accuracy": [0.5]})
    expected = digest(rows)
    monkeypatch.setattr(os, "linesep", "\r\n")
    assert digest(rows) == expected


def os_of(name):
    """The module os with another name; pytest and pathlib keep the real one."""
    return SimpleNamespace(**{**vars(os), "name": name})


class Closed(io.StringIO):
    """An output whose reader has closed it, on Windows."""

    def write(self, _text):
        raise OSError(errno.EINVAL, "Invalid argument")


def test_a_closed_pipe_of_windows(monkeypatch):
    from slfs.cli.commands import _OutputClosed, _watch_output
    from slfs.cli.output import tell

    monkeypatch.setattr(sys, "stderr", Closed())
    tell("nobody reads this", "red")
    for system, expected in (("nt", _OutputClosed), ("posix", OSError)):
        monkeypatch.setattr("slfs.cli.commands.os", os_of(system))
        with pytest.raises(expected), _watch_output():
            Closed().write("text")
    monkeypatch.setattr("slfs.cli.commands.os", os_of("nt"))
    with pytest.raises(OSError, match=r"a\.csv"), _watch_output():
        raise OSError(errno.EINVAL, "Invalid argument", "a.csv")


def test_a_file_that_another_program_has_open(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def refuse(draft, target):
        raise PermissionError(errno.EACCES, "Access is denied", str(draft), None, str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError, match=r"table\.csv cannot be written .* Close it in other"):
        replace_file(path, lambda draft: draft.write_text("new"))
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text() == "old"


def test_a_draft_that_cannot_be_removed_does_not_hide_the_error(tmp_path, monkeypatch):
    def refuse(draft, **_):
        raise PermissionError(errno.EACCES, "The file is used by another process", str(draft))

    def fail(_draft):
        raise ValueError("the reason")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ValueError, match="the reason"):
        replace_file(tmp_path / "table.csv", fail)


def test_drafts_are_never_read_only_on_windows(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(stat.S_IREAD)
    monkeypatch.setattr("slfs.files.atomic.os", os_of("nt"))
    monkeypatch.setattr(Path, "replace", lambda draft, _: drafts.append(draft.stat().st_mode))
    drafts = []
    replace_file(path, lambda draft: draft.write_text("new"))
    assert drafts[0] & stat.S_IWRITE


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_the_input_in_another_case(tmp_path):
    """A hard link stands for the second spelling of a file on a file system that ignores case."""
    data, other = tmp_path / "data.csv", tmp_path / "Data.csv"
    data.write_text("a")
    if not other.exists():
        check_output(other, inputs=[data])  # another file, where case matters
        other.hardlink_to(data)
    with pytest.raises(ValueError, match="is the input"):
        check_output(other, inputs=[data])


def test_planes_in_a_temporary_file_with_a_name(tmp_path, monkeypatch):
    """Windows has no unnamed files: its TemporaryFile is NamedTemporaryFile."""
    monkeypatch.setattr(tempfile, "TemporaryFile", tempfile.NamedTemporaryFile)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    layout = SampleLayout.from_class_codes(np.arange(64) % 2, 2)
    one, two = np.arange(4, dtype=np.uint64), np.arange(4, 8, dtype=np.uint64)
    block = [
        PackedBlock(np.array([0]), np.array([2], np.uint64), words, words.view(np.int64))
        for words in (one, two)
    ]
    store = PlaneStore(layout, max_bytes=1)
    store.append(block[0])
    first = store.packed().arrays.words
    store.append(block[1], first=1)  # the file grows while it is mapped
    assert list(tmp_path.iterdir())
    both = store.packed().arrays.words
    del store
    gc.collect()
    np.testing.assert_array_equal(first, one[: len(first)])
    np.testing.assert_array_equal(both, np.concatenate([one, two])[: len(both)])
    assert not list(tmp_path.iterdir())


FIELDS = {
    "linux": {"rss": 900, "shared": 300, "vms": 5000},
    "macos": {"rss": 900, "vms": 5000},
    "windows": {"rss": 900, "vms": 5000, "private": 600},
    "windows, committed memory that is not used": {"rss": 900, "vms": 5000, "private": 4000},
}


@pytest.mark.parametrize(("system", "expected"), [*zip(FIELDS, [600, 900, 600, 900], strict=True)])
def test_memory_by_the_fields_that_a_system_has(system, expected, monkeypatch):
    fields = FIELDS[system]
    info = SimpleNamespace(**fields)
    monkeypatch.setattr(psutil.Process, "memory_info", lambda _: info)
    assert memory_taken() == expected


def test_peak_memory_without_the_module_resource(monkeypatch):
    info = SimpleNamespace(peak_wset=12345)
    monkeypatch.setattr(psutil.Process, "memory_info", lambda _: info)
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr(sys, "platform", "win32")
    assert peak_memory() == 12345


def test_a_time_limit_without_alarms(monkeypatch):
    monkeypatch.delattr(signal, "setitimer", raising=False)
    with time_limit(1e-9):
        assert sum(range(1000)) == 499500


def test_kills_without_forks(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    monkeypatch.setattr(sys, "argv", ["kills"])
    with pytest.raises(SystemExit, match="Use Linux or macOS"):
        kills.main()


WITHOUT = """
import os, signal, sys
import joblib, psutil  # have code for each system
for module in ("resource", "fcntl", "termios", "pwd", "grp"):
    sys.modules[module] = None
for name in ("fork", "sched_getaffinity", "getuid", "sysconf", "mkfifo", "statvfs"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGPIPE", "SIGALRM", "setitimer", "alarm"):
    if hasattr(signal, name):
        delattr(signal, name)
import importlib, pkgutil, slfs
for module in pkgutil.walk_packages(slfs.__path__, "slfs."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
from slfs import SLFS
X = [[0, 1], [1, 1], [0, 0], [1, 0]] * 20
print(SLFS(n_jobs=2, memory_limit="8GiB").fit(X, [0, 1, 0, 1] * 20).n_features_)
"""


@pytest.mark.slow
def test_slfs_needs_nothing_that_only_posix_has():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout == "1\n", done.stderr
