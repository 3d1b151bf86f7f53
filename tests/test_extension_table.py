"""A table type of another package: with one class and one call, estimators accept it."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from slfs import BNSLFS, SLFS
from slfs.evaluation import compare_accuracy
from slfs.tables import ColumnSource, read_table, register_table
from slfs.tables.planes import PlaneBlock


class Study:
    """A table of a fictitious library: one list of measurements per name."""

    def __init__(self, measurements):
        self.measurements = measurements


class StudyColumns(ColumnSource):
    """The columns of a study, for slfs."""

    def __init__(self, study):
        self.columns = study.measurements
        self.names = list(self.columns)
        self.n_samples, self.n_features = len(self.columns[self.names[0]]), len(self.names)
        self.categorical = np.array([isinstance(column[0], str) for column in self.columns.values()])
        self.numbers = ~self.categorical

    def take(self, columns):
        return pd.DataFrame({self.names[column]: self.columns[self.names[column]] for column in columns})


class Flags:
    """A table that stores bits: one bit per row and column."""

    def __init__(self, bits):
        self.bits = bits


class FlagColumns(ColumnSource):
    """The columns of such a table, for slfs: they are bit planes already, and are not decoded."""

    def __init__(self, flags):
        self.bits = flags.bits
        self.n_samples, self.n_features = self.bits.shape
        self.names = [f"flag {column}" for column in range(self.n_features)]
        self.numbers = self.planes = np.ones(self.n_features, bool)
        self.categorical = np.zeros(self.n_features, bool)

    def take(self, columns):
        return self.bits[:, columns].astype(float)

    def plane_block(self, columns, layout):
        planes = np.zeros((len(columns), 2, 64 * layout.n_words), bool)
        planes[:, 1, layout.bit_positions()] = self.bits[layout.order][:, columns].T
        planes[:, 0, layout.bit_positions()] = ~self.bits[layout.order][:, columns].T
        words = np.packbits(planes, axis=2, bitorder="little").view(np.uint64)
        return PlaneBlock(np.array([0.0, 1.0]), words, layout)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["color"] = np.where(np.arange(150) % 7 == 0, "white", np.array(["blue", "red", "violet"])[y])
    return X, y


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_table(Study, StudyColumns)


def test_columns_that_are_bit_planes():
    random = np.random.default_rng(0)
    bits = random.random((300, 40)) < 0.4
    y = bits[:, 3] | bits[:, 30] ^ (random.random(300) < 0.1)
    register_table(Flags, FlagColumns)
    outside, inside = SLFS().fit(Flags(bits), y), SLFS().fit(bits.astype(float), y)
    assert outside.get_feature_names_out().tolist() == ["flag 3", "flag 30"]
    for field in ("role", "relevance", "p_value", "q_value", "reason"):
        np.testing.assert_array_equal(outside.features_[field], inside.features_[field])
    predicted = BNSLFS().fit(Flags(bits), y).predict_proba(Flags(bits))
    np.testing.assert_array_equal(
        predicted, BNSLFS().fit(bits.astype(float), y).predict_proba(bits.astype(float))
    )


def test_fit_transform_and_predict(iris):
    frame, y = iris
    X = Study({name: frame[name].tolist() for name in frame})
    outside, inside = SLFS().fit(X, y), SLFS().fit(frame, y)
    np.testing.assert_array_equal(outside.features_["relevance"], inside.features_["relevance"])
    assert outside.get_feature_names_out().tolist() == inside.get_feature_names_out().tolist()
    assert outside.transform(X).equals(frame.loc[:, inside.support_])
    predicted = BNSLFS().fit(X, y).predict(X)
    np.testing.assert_array_equal(predicted, BNSLFS().fit(frame, y).predict(frame))
    with pytest.raises(ValueError, match="color"):
        outside.transform(Study({name: frame[name].tolist() for name in frame if name != "color"}))


def test_streams_and_cross_validation(iris):
    frame, y = iris
    parts = frame[["petal width (cm)", "color"]], frame[["sepal length (cm)"]]
    blocks = [Study({name: part[name].tolist() for name in part}) for part in parts]
    stream = SLFS(order="given").fit_stream(blocks[:1], y).extend(blocks[1])
    assert stream.feature_names_in_.tolist() == [name for part in parts for name in part]
    X = Study({name: frame[name].tolist() for name in frame})
    assert compare_accuracy(SLFS(), X, y) == compare_accuracy(SLFS(), frame, y)


def test_subclasses_and_single_rows(iris):
    frame, y = iris
    kind = type("LongStudy", (Study,), {})
    X, row = (kind({name: part[name].tolist() for name in frame}) for part in (frame, frame[:1]))
    assert len(BNSLFS().fit(X, y).predict(row)) == 1
    with pytest.raises(ValueError, match=r"1 sample\(s\) .* minimum of 2"):
        SLFS().fit(row, y[:1])


def test_a_module_name_stands_for_its_types():
    module = types.ModuleType("made_up_library.studies")
    exec("class Trial:\n    values = {'a': [1.0, 2.0, 3.0]}", vars(module))
    register_table("made_up_library", lambda trial: StudyColumns(Study(trial.values)))
    assert "made_up_library" not in sys.modules
    table = read_table(module.Trial())
    assert table.names == ["a"]
    block = table.number_block(np.array([0]), np.array([2, 0]))
    assert block.dense().tolist() == [[3.0, 1.0]]
