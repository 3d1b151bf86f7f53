"""Damaged, foreign and forged model files: a helpful error, or the same model."""

import io
import json
import pickle
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from slfs import BNSLFS, SLFS, ResidualPursuit
from slfs.saving import ModelFileError, load, save
from slfs.saving.checks import _demand_forest
from tests.test_saving import LABELS, mixed


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The file of a fitted classifier."""
    X, y = mixed()
    path = tmp_path_factory.mktemp("models") / "model.slfs"
    save(BNSLFS(structure="linked").fit(X, LABELS["objects"][y]), path)
    return path


def load_changed(file, data):
    """Load other bytes: a helpful error, or the same model."""
    path = file.with_name("changed.slfs")
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError as error:
        return str(error)
    save(model, path)
    assert path.read_bytes() == file.read_bytes()
    return None


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_short(share, file):
    data = file.read_bytes()
    message = load_changed(file, data[: int(share * len(data))])
    assert "changed.slfs cannot be loaded" in message
    assert "save" in message


@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1))
def test_flipped_bytes(flips, file):
    data = bytearray(file.read_bytes())
    for share, bits in flips:
        data[int(share * len(data))] ^= bits
    message = load_changed(file, data)
    assert message is None or "changed.slfs cannot be loaded" in message


def test_each_byte_of_the_directory_flipped(file):
    """Change each byte of the end of the archive, which contains offsets and sizes of the members."""
    data = file.read_bytes()
    messages = []
    for offset in range(data.index(b"PK\x01\x02"), len(data)):
        changed = bytearray(data)
        changed[offset] ^= 0xFF
        messages.append(load_changed(file, changed))
    assert any(messages)
    assert not all(messages), "times and versions of tools do not matter"


@given(st.binary(max_size=200))
def test_foreign_files(data):
    with pytest.raises(ModelFileError, match="not a ZIP archive"):
        load_bytes(data)


def load_bytes(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "foreign.slfs"
        path.write_bytes(data)
        return load(path)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def with_content(file, change):
    """The file with a changed model.json and valid checksums."""
    members = members_of(file)
    content = json.loads(members["model.json"])
    change(content)
    return packed({**members, "model.json": json.dumps(content)})


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_members_that_no_model_has(file):
    members = members_of(file)
    assert load_bytes(packed(members)), "stored instead of deflated"
    for name in ("/etc/passwd", "../0.npy", "00.npy", "x.py", "folder/"):
        with pytest.raises(ModelFileError, match="is unexpected or occurs twice"):
            load_bytes(packed({**members, name: b""}))
    link = zipfile.ZipInfo("0.npy")
    link.external_attr = 0o120777 << 16
    with pytest.raises(ModelFileError, match="not a regular file"):
        load_bytes(packed({**{k: v for k, v in members.items() if k != "0.npy"}, link: b"/etc/passwd"}))
    with pytest.raises(ModelFileError, match="unsupported compression"):
        load_bytes(packed(members, compression=zipfile.ZIP_LZMA))
    with pytest.raises(ModelFileError, match=r"'\d\.npy' is unexpected or occurs twice"):
        load_bytes(packed({k: v for k, v in members.items() if k != "0.npy"}))
    with pytest.raises(ModelFileError, match=r"member 'model\.json' is missing"):
        load_bytes(packed({}))
    with pytest.raises(ModelFileError, match="is unexpected or occurs twice"):
        load_bytes(packed({"word/document.xml": b"<xml/>"}))


def test_arrays_that_no_model_has(file, monkeypatch):
    members = members_of(file)
    objects = np.array([1, "x"], dtype=object)
    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "load", None)
    with pytest.raises(ModelFileError, match="array of object"):
        load_bytes(packed({**members, "0.npy": npy(objects, allow_pickle=True)}))
    with pytest.raises(ModelFileError, match=r"shape \(2, 2\)"):
        load_bytes(packed({**members, "0.npy": npy(np.ones((2, 2)))}))
    header = npy(np.ones(3))
    huge = header.replace(b"(3,), }" + b" " * 12, b"(9000000000000,), }")
    assert len(huge) == len(header)
    with pytest.raises(ModelFileError, match=r"shape \(9000000000000,\) in 24 bytes"):
        load_bytes(packed({**members, "0.npy": huge}))
    with pytest.raises(ModelFileError):
        load_bytes(packed({**members, "0.npy": b"nothing"}))


def test_too_large(file):
    size = sum(map(len, members_of(file).values()))
    assert load(file, max_bytes=size)
    with pytest.raises(ModelFileError, match=f"have {size} bytes, more than max_bytes={size - 1}"):
        load(file, max_bytes=size - 1)


def test_other_versions_and_formats(file):
    for version in (1, 9, 11, "10", None):
        remedy = r"Upgrade slfs\." if version == 11 else "Fit and save the model again, or load it with"
        message = rf"format version {version!r}, written by slfs '9\.0'.*reads version 10\. {remedy}"
        with pytest.raises(ModelFileError, match=message):
            load_bytes(with_content(file, lambda c, v=version: c.update(version=v, slfs="9.0")))
    with pytest.raises(ModelFileError, match="does not contain format='slfs model'"):
        load_bytes(with_content(file, lambda content: content.update(format="other")))
    for text in (b"", b"{", b"[]", b"\xff", b'{"format": NaN}', b"[" * 100_000):
        with pytest.raises(ModelFileError):
            load_bytes(packed({**members_of(file), "model.json": text}))


def test_classes_come_from_the_registry_alone(file):
    def rename(content):
        content["objects"][0]["class"] = "os.system"

    with pytest.raises(ModelFileError, match=r"unknown class 'os\.system'"):
        load_bytes(with_content(file, rename))

    def smuggle(content):
        content["objects"][-1]["fitted"]["predict"] = "mine"

    with pytest.raises(ModelFileError, match="unknown attribute 'predict'"):
        load_bytes(with_content(file, smuggle))


def parts_of(content, name):
    return [entry for entry in content["objects"] if entry["class"] == name]


def coding_of(content):
    """The fields of the first coding, and those of its columns."""
    fields = parts_of(content, "Coding")[0]["fields"]
    return fields, dict(fields["columns"]["records"])


def swap_levels(content):
    """Exchange the levels of missing values and the numbers of levels."""
    fields, columns = coding_of(content)
    fields["columns"]["records"] = [*(columns | {"n_levels": columns["missing"]}).items()]


MADE_UP = {
    "offsets": lambda c: coding_of(c)[0].update(offset=coding_of(c)[1]["n_distinct"]),
    "thresholds": lambda c: coding_of(c)[0].update(thresholds=coding_of(c)[1]["low"]),
    "levels": swap_levels,
    "fields": lambda c: coding_of(c)[0]["columns"]["records"].pop(),
    "categories": lambda c: parts_of(c, "Coding")[0]["fields"].update(
        categories={"dict": [[0, {"dict": [["a", 999]]}]]}
    ),
    "alleles": lambda c: coding_of(c)[0].update(alleles={"dict": [[0, {"tuple": ["A", 1]}]]}),
    "alleles of nothing": lambda c: coding_of(c)[0].update(
        alleles={"dict": [[99, {"tuple": ["A", "G"]}]]}
    ),
    "columns": lambda c: c["objects"][-1]["fitted"].update(n_features_in_=1),
    "reading": lambda c: c["objects"][-1]["fitted"].update(_reading=["missing"]),
    "reading missing": lambda c: c["objects"][-1]["fitted"].update(
        _reading={"dict": [["missing", [1]]]}
    ),
    "reading otherwise": lambda c: c["objects"][-1]["fitted"].update(_reading={"dict": [["sep", ";"]]}),
    "reading decimals": lambda c: c["objects"][-1]["fitted"].update(
        _reading={"dict": [["decimal", "::"]]}
    ),
    "reading without names": lambda c: c["objects"][-1]["fitted"].update(
        _reading={"dict": [["like", {"tuple": [3, 3]}]]}
    ),
    "field": lambda c: parts_of(c, "TreeNetwork")[0]["fields"].pop("levels"),
    "cycle": lambda c: parts_of(c, "TreeNetwork")[0]["fields"].update(
        parents=parts_of(c, "TreeNetwork")[0]["fields"]["columns"]
    ),
    "tables": lambda c: c["objects"][-1]["fitted"].update(_tables=[]),
    "table": lambda c: parts_of(c, "LogTable")[0]["fields"].update(parent=1),
    "prior": lambda c: c["objects"][-1]["fitted"].update(_log_prior=None),
    "unfitted": lambda c: c["objects"][-1]["fitted"].clear(),
    "selector": lambda c: c["objects"][-1]["fitted"].update(selector_="SLFS"),
    "parameters": lambda c: c["objects"][-1]["parameters"].update(unknown=1),
    "not yet": lambda c: c["objects"][0]["fields"].update(names={"object": len(c["objects"]) - 1}),
    "outside": lambda c: parts_of(c, "LogTable")[0]["fields"].update(values={"array": [0, 10**12, [5]]}),
    "negative": lambda c: parts_of(c, "LogTable")[0]["fields"].update(values={"array": [0, -1, [1]]}),
    "kind": lambda c: c["objects"][-1]["parameters"].update(alpha={"eval": "1"}),
    "two keys": lambda c: c["objects"][-1]["parameters"].update(alpha={"float": "inf", "x": 1}),
    "class": lambda c: c.update({"class": "TAN"}),
    "root": lambda c: c.update(model={"object": 0}),
    "text": lambda c: c.update(model="BNSLFS"),
    "arrays": lambda c: c.update(arrays=10**9),
    "lacking": lambda c: c.pop("objects"),
}


@pytest.mark.parametrize("what", MADE_UP)
def test_models_that_do_not_hold_together(what, file):
    with pytest.raises(ModelFileError, match=r"foreign\.slfs cannot be loaded"):
        load_bytes(with_content(file, MADE_UP[what]))


@given(st.lists(st.integers(-1, 5), max_size=6))
def test_ways_up_that_do_not_end_are_found(parents):
    def ends(node):
        seen = set()
        while node != -1:
            if node in seen or node >= len(parents):
                return False
            seen.add(node)
            node = parents[node]
        return True

    if all(map(ends, range(len(parents)))):
        _demand_forest(np.array(parents, np.int64))
    else:
        with pytest.raises(ModelFileError, match=r"ancestor|not a node"):
            _demand_forest(np.array(parents, np.int64))


@pytest.mark.parametrize("p_value", [7.0, -0.5])
def test_p_values_must_be_probabilities(p_value, tmp_path):
    X, y = load_iris(return_X_y=True)
    selector = SLFS().fit(X, y)
    selector.features_["p_value"][2] = p_value
    with pytest.raises(ValueError, match="p-values are not probabilities"):
        save(selector, tmp_path / "forged.slfs")  # what is loaded goes through the same checks


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.5, 800.0])
def test_tables_must_have_probabilities(value, tmp_path):
    X, y = load_iris(return_X_y=True)
    for change in (lambda model: model._log_prior, lambda model: model._tables[0].values[0, 0]):
        classifier = BNSLFS(structure="linked").fit(X, y)
        change(classifier)[1] = value
        with pytest.raises(ValueError, match="a table does not contain probabilities"):
            save(classifier, tmp_path / "forged.slfs")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tables: tables.nodes[0].fill(np.nan), "infinite entries"),
        (lambda tables: tables.edges[1].fill(np.inf), "infinite entries"),
        (lambda tables: tables.nodes.pop(), "the table of a node is missing"),
        (lambda tables: tables.edges.__setitem__(1, None), "the table of an edge is missing"),
        (lambda tables: tables.edges.__setitem__(1, tables.edges[1][:1]), "the table of an edge is"),
        (lambda tables: tables.parents.fill(0), "its own ancestor"),
        (lambda tables: tables.log_prior.fill(0), "does not contain probabilities"),
    ],
)
def test_additive_tables_must_hold_together(change, message, tmp_path):
    classifier = BNSLFS(ResidualPursuit(3)).fit(*load_digits(return_X_y=True))
    assert [edge is None for edge in classifier._additive.edges] == [True, False, False]
    change(classifier._additive)
    with pytest.raises(ValueError, match=message):
        save(classifier, tmp_path / "forged.slfs")


@pytest.mark.parametrize("part", ["class_counts", "joint_counts", "class_totals"])
@pytest.mark.parametrize("change", [-10, 1])
def test_counts_must_be_those_of_samples(part, change, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS().fit(X, y)
    found = getattr(selector.network_counts_, part)
    array = found if part == "class_totals" else next(one for one in found if one is not None)
    array.flat[0] += change * (1 if change > 0 else array.sum())
    with pytest.raises(ValueError, match=r"not valid counts|a class has no samples"):
        save(selector, tmp_path / "forged.slfs")
