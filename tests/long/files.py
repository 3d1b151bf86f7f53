"""Stored files -> damaged and forged ones, for every reader of files and for the loader of models.

The corpus (`tests/corpus`) has a small file of every format, and each file that once broke a reader.
"""

import io
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from slfs import SLFS, UnseenValueWarning
from slfs.files.reading import read_file
from slfs.saving import load
from tests.long.ways_in import clear_errors

CORPUS = Path(__file__).parents[1] / "corpus"

PLINK = (".bed", ".bim", ".fam")
"""Suffixes of files that belong together."""

BYTES = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b",",
    b'"',
    b"-",
    b"nan",
    b"inf",
    b"1e999",
    b"9" * 30,
    b"?",
    b"{",
    b"}",
]
NUMBERS = [0, -1, 1, 2, 255, 10**6, 2**31, 2**63, -(2**63), 10**30]
JSON_VALUES = [
    None,
    True,
    -1,
    0,
    10**12,
    1.5,
    "",
    "x",
    [],
    {},
    [[]],
    {"object": 0},
    {"array": [0, 0, [3]]},
]


def mutate(random, data):
    """Some bytes changed, removed, duplicated or inserted."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        if not data:
            break
        index, length = int(random.integers(len(data))), int(random.integers(1, 17))
        way = random.integers(6)
        if way == 0:
            data[index] ^= 1 << int(random.integers(8))
        elif way == 1:
            del data[index : index + length]
        elif way == 2:
            del data[index:]
        elif way == 3:
            data[index:index] = data[index : index + length] * int(random.integers(1, 50))
        elif way == 4:
            data[index:index] = BYTES[random.integers(len(BYTES))]
        else:
            number = NUMBERS[random.integers(len(NUMBERS))]
            data[index : index + length] = str(number).encode()
    return bytes(data)


def mutate_json(random, value):
    """One value in a JSON document is changed or missing."""
    if isinstance(value, dict | list) and value and random.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = keys[int(random.integers(len(keys)))]
        changed = value.copy()
        way = random.integers(8)
        if way == 0:
            changed.pop(key)
        elif way == 1 and isinstance(value, list):
            changed.append(value[key])
        else:
            changed[key] = mutate_json(random, value[key])
        return changed
    if isinstance(value, int) and random.random() < 0.5:
        return value + int(random.choice([-1, 1, 100]))
    return JSON_VALUES[random.integers(len(JSON_VALUES))]


def mutate_archive(random, data):
    """One member of a ZIP archive is changed, with a valid checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(members)[random.integers(len(members))]
    if name.endswith(".json"):
        members[name] = json.dumps(mutate_json(random, json.loads(members[name]))).encode()
    elif random.random() < 0.3:
        others = sorted(members)
        members[name] = members[others[random.integers(len(others))]]
    elif name.endswith(".npy") and random.random() < 0.5:
        array = np.load(io.BytesIO(members[name]), allow_pickle=False).copy()
        if array.size and array.dtype.kind in "iuf":
            flat = array.reshape(-1)
            with np.errstate(all="ignore"):
                flat[random.integers(flat.size)] = np.float64(NUMBERS[random.integers(6)]).astype(
                    array.dtype
                )
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    else:
        members[name] = mutate(random, members[name])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return stream.getvalue()


def damaged(random, path):
    """A damaged file, as bytes."""
    data = path.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(data)) and random.random() < 0.8:
        return mutate_archive(random, data)
    return mutate(random, data)


def try_file(path):
    """Read a file of any content: a table to be fitted, a model that predicts, or a clear error."""
    with clear_errors():
        warnings.filterwarnings("ignore", category=Warning, module=r"(pandas|pyarrow|scipy|sklearn)\b")
        warnings.filterwarnings("ignore", category=UnseenValueWarning)
        if path.name.endswith(".slfs"):
            try_model(load(path, max_bytes=10**7))
        else:
            target = None if ".svm" in path.name or ".npz" in path.name else "-1"
            if path.suffix in PLINK:
                path, target = path.with_suffix(".bed"), "phenotype"
            file = read_file(str(path), target=target)
            if file.X.shape[0] * file.X.shape[1] < 10_000:
                SLFS().fit(file.X, file.y)


def try_model(model):
    """Every model file that is accepted must predict."""
    X = load_iris().data[::10]
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.explain_prediction(X).probabilities, model.predict_proba(X))
        model.predict(X)
    else:
        model.transform(X)
        str(getattr(model, "network_", ""))
    if hasattr(model, "to_classifier"):
        model.to_classifier().predict_proba(X)
    if hasattr(model, "explain"):
        model.explain(0)


def belonging(path):
    """The files without which a file cannot be read."""
    if path.suffix not in PLINK:
        return []
    return [path.with_suffix(suffix) for suffix in PLINK if suffix != path.suffix]


def stored():
    """The stored files."""
    return sorted(path for path in CORPUS.iterdir() if path.is_file())
