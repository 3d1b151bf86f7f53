"""Datasets of the paper: where they are read from, and that other data are rejected."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from slfs.datasets import paper as datasets
from slfs.datasets.paper import DATASETS, find, load


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Without SLFS_DATA, and with an empty cache."""
    monkeypatch.delenv("SLFS_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    return tmp_path / "slfs"


def made_votes():
    random = np.random.default_rng(0)
    votes = random.choice(["y", "n"], (435, 16)).astype(object)
    votes[0, 3] = None
    frame = pd.DataFrame(votes, columns=[f"bill {j}" for j in range(16)])
    return Bunch(
        data=frame,
        target=pd.Series(["democrat"] * 267 + ["republican"] * 168),
        feature_names=list(frame.columns),
    )


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_dataset_loads_and_agrees_with_its_description(name, paper_data):
    paper_data(name)  # skips if the dataset is missing
    data = load(name)
    entry = DATASETS[name]
    assert data.data.shape == (entry.n_samples, entry.n_features)
    assert len(data.feature_names) == entry.n_features
    assert sorted(np.unique(data.target, return_counts=True)[1], reverse=True) == [*entry.class_counts]
    assert set(data.target) == set(data.target_names)
    assert (data.frame is None) == sparse.issparse(data.data) == entry.sparse
    if data.frame is not None:
        assert data.frame.shape == (entry.n_samples, entry.n_features + 1)


def test_votes_are_categories(paper_data):
    paper_data("voting")
    frame = load("voting").frame
    assert set(frame["physician-fee-freeze"]) == {"y", "n", "?"}
    assert frame.dtypes.iloc[0] == "category"


def test_from_openml_and_then_from_the_cache(monkeypatch, nowhere):
    asked = []

    def fetch(**arguments):
        asked.append(arguments)
        return made_votes()

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    first = load("voting")
    assert asked == [{"data_id": 56, "as_frame": True, "parser": "auto"}]
    assert first.frame.iloc[0, 3] == "?"
    assert find("voting") == nowhere / "voting.npz"
    again = load("voting")
    assert len(asked) == 1
    pd.testing.assert_frame_equal(first.frame, again.frame)
    assert [path.name for path in nowhere.iterdir()] == ["voting.npz"]


def test_sparse_from_openml(monkeypatch, nowhere):  # noqa: ARG001
    matrix = sparse.random_array((600, 20000), density=0.001, rng=0, format="csr")
    found = Bunch(
        data=matrix, target=np.repeat(["-1", "1"], 300), feature_names=[f"V{j}" for j in range(20000)]
    )
    monkeypatch.setattr(datasets, "fetch_openml", lambda **_: found)
    for _ in range(2):
        np.testing.assert_array_equal(load("dexter").data.toarray(), matrix.toarray())


def test_without_a_network_the_error_says_what_to_do(monkeypatch, nowhere):  # noqa: ARG001
    def fetch(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    with pytest.raises(ConnectionError, match=r"'yeast' is not on this.*181.*no route.*SLFS_DATA"):
        load("yeast")


def test_another_dataset_is_refused_and_not_kept(monkeypatch, nowhere):
    wrong = made_votes()
    wrong.target.iloc[0] = "republican"
    monkeypatch.setattr(datasets, "fetch_openml", lambda **_: wrong)
    with pytest.raises(ValueError, match=r"OpenML 56 is not the dataset 'voting'.*266, 169.*267, 168"):
        load("voting")
    assert not nowhere.exists()


def test_a_damaged_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SLFS_DATA", str(tmp_path))
    (tmp_path / "yeast.npz").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(ValueError, match=r"yeast\.npz cannot be read"):
        load("yeast")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown dataset 'iris'.*arcene.*yeast"):
        load("iris")
