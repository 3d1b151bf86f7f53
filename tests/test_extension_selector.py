"""A selector of another package: the command line, saving and the checks find it by its entry point."""

import os
import subprocess
import sys

import pytest

SELECTOR = '''
import numpy as np

from slfs.selectors import BaseSelector, Selection, below_class, register


@register("first-relevant")
class FirstRelevant(BaseSelector):
    """Select the first relevant columns of a table."""

    def __init__(self, n_features_to_select=3, *, categorical_features="from_dtype", n_jobs=None):
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _select(self, information, facts):
        nodes = np.arange(len(information.packed))
        return Selection(nodes, below_class(nodes))
'''

USE = """
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator
from slfs import CMIM
from slfs.saving import load, save
from slfs.selectors import selectors

kind = selectors()["first-relevant"]
X, y = load_iris(return_X_y=True)
check_estimator(kind(), on_skip=None)
save(kind(2).fit(X, y), "model.slfs")
loaded = load("model.slfs")
assert loaded.indices_.tolist() == [0, 1] and "preferred" not in loaded.explain(0)
assert "only 2 columns were asked for" in loaded.explain(2)
assert loaded.to_classifier().score(X, y) > 0.6
pipeline = make_pipeline(kind(), GaussianNB())
grid = {"firstrelevant": [kind(), CMIM()], "firstrelevant__n_features_to_select": [1, 2, 0.75]}
print(GridSearchCV(pipeline, grid).fit(X, y).best_params_["firstrelevant__n_features_to_select"])
"""


@pytest.fixture
def installed(tmp_path):
    """A folder with an installed package that has a selector, and an environment that sees it."""
    (tmp_path / "first_relevant.py").write_text(SELECTOR)
    about = tmp_path / "first_relevant-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: first-relevant\nVersion: 1.0\n")
    entry = "[slfs.selectors]\nfirst-relevant = first_relevant:FirstRelevant\n"
    (about / "entry_points.txt").write_text(entry)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return tmp_path, {**os.environ, "PYTHONPATH": path}


def run(installed, *arguments):
    folder, environment = installed
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_python_finds_it(installed):
    assert run(installed, "-c", USE).strip() == "2"


@pytest.mark.slow
def test_the_command_line_finds_it(installed):
    pytest.importorskip("typer")
    from sklearn.datasets import load_iris

    load_iris(as_frame=True).frame.to_csv(installed[0] / "iris.csv", index=False)
    assert "first-relevant" in run(installed, "-m", "slfs", "methods")
    options = ["iris.csv", "--target", "target", "--method", "first-relevant", "-k", "1"]
    assert "sepal length (cm)" in run(installed, "-m", "slfs", "select", *options)
