"""Files are replaced atomically."""

import os
import threading

import pytest

from slfs.files.atomic import replace_file


def test_the_old_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write(draft):
        draft.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        replace_file(path, write)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    replace_file(link, lambda draft: draft.write_text("new"))
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_is_written_to_directly(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    replace_file(pipe, lambda draft: draft.write_text("news"))
    reader.join(5)
    assert received == ["news"]
    assert pipe.is_fifo()


def test_file_names_of_maximum_length(tmp_path):
    path = tmp_path / ("n" * 250 + ".csv")
    replace_file(path, lambda draft: draft.write_text("new"))
    assert path.read_text() == "new"
