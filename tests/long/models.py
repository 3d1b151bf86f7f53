"""Models -> the stored files in `tests/corpus`: run `python -m tests.long.models` for a new format."""

import io
import json
import sys
import zipfile

import numpy as np
from sklearn.datasets import load_iris

from slfs import BNSLFS, SLFS, TAN, Chi2, MDLPDiscretizer, NaiveBayes
from slfs.saving import save
from tests.long.files import CORPUS


def write_models(folder):
    """Write one file per kind of model, and one with a forged probability; return their paths."""
    X, y = load_iris(return_X_y=True)
    fitted = {
        "chi2": Chi2().fit(X, y),
        "classifier": BNSLFS().fit(X, y),
        "discretizer": MDLPDiscretizer().fit(X, y),
        "levels": NaiveBayes(categorical_features="all").fit(X.round(), y),
        "selector": SLFS().fit(X, y),
        "tan": TAN().fit(X, y),
    }
    paths = {name: folder / f"{name}.slfs" for name in [*fitted, "forged-probability"]}
    for name, model in fitted.items():
        save(model, paths[name])
    paths["forged-probability"].write_bytes(forge_probability(paths["levels"].read_bytes()))
    return list(paths.values())


def forge_probability(data):
    """The model file of a classifier in which one log-probability is not a number."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    parts = json.loads(members["model.json"])["objects"]
    table = next(part for part in parts if part["class"] == "LogTable")
    member, begin, _shape = table["fields"]["values"]["array"]
    numbers = np.load(io.BytesIO(members[f"{member}.npy"]), allow_pickle=False)
    numbers[begin] = np.nan
    stream = io.BytesIO()
    np.save(stream, numbers)
    members[f"{member}.npy"] = stream.getvalue()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


if __name__ == "__main__":
    sys.stdout.write("".join(f"{path}\n" for path in write_models(CORPUS)))
