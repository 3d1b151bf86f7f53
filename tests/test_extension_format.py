"""A file format of another package: with one function and one call, the command line reads it."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from slfs.files import read_file, register_format
from slfs.files.writing import write_table


def read_lists(content, options):
    """Read one JSON object with a list for each column."""
    frame = pd.DataFrame(json.load(content))
    return frame.replace(dict.fromkeys(options.missing)), None


def write_lists(frame, path):
    path.write_text(json.dumps(frame.to_dict("list")))


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    register_format("lists", ["lists", "columns"], read_lists, write=write_lists)
    path = tmp_path_factory.mktemp("iris") / "iris.lists"
    write_table(load_iris(as_frame=True).frame, path)
    return path


def test_read_and_write(iris):
    frame = load_iris(as_frame=True).frame
    file = read_file(str(iris), target="target", drop=["sepal width (cm)"])
    pd.testing.assert_frame_equal(file.X, frame.drop(columns=["target", "sepal width (cm)"]))
    assert file.y.tolist() == frame["target"].tolist()
    other = iris.rename(iris.with_suffix(".data"))
    with pytest.raises(ValueError, match=r"from its suffix.*\.lists.* set --format to one of .*lists"):
        read_file(str(other))
    assert read_file(str(other), file_format="lists").X.shape == (150, 5)
    other.rename(iris)


def test_the_command_line_reads_and_writes_it(iris, tmp_path, monkeypatch, capsys):
    from slfs.cli import main

    out = tmp_path / "selected.columns"
    monkeypatch.setattr(
        "sys.argv", ["slfs", "select", str(iris), "--target", "target", "--out", str(out)]
    )
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, None), capsys.readouterr().err
    assert "petal width (cm)" in capsys.readouterr().out
    assert read_file(str(out)).names[-1] == "target"


def test_installed_packages_add_formats_by_an_entry_point(tmp_path):
    """In another process, since entry points are looked up once."""
    (tmp_path / "made_up_format.py").write_text(
        "import pandas as pd\n"
        "from slfs.files import register_format\n"
        "register_format('pipes', ['pipes'], lambda file, options: (pd.read_csv(file, sep='|'), None))\n"
    )
    info = tmp_path / "made_up-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[slfs.formats]\npipes = made_up_format\n")
    (tmp_path / "table.pipes").write_text("a|b\n1|2\n")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from slfs.files import read_file
assert read_file({str(tmp_path / "table.pipes")!r}).names == ["a", "b"]
"""
    run_python(code)


def test_listing_formats_imports_no_library():
    run_python("""
import sys
import slfs.files.reading
from slfs.files.registry import formats
assert {"csv", "parquet", "npz"} <= set(formats())
assert not {"pandas", "pyarrow", "scipy", "sklearn", "numba"} & set(sys.modules)
""")


def run_python(code):
    subprocess.run([sys.executable, "-c", code], check=True)
