"""Cases that use only the public interface of slfs, of this version and of version 0.1.

Each prepares its data and returns a function to be timed, whose result must not depend on the version.
"""

import inspect

import numpy as np

import slfs
from benchmarks import data


def sized(kind, size, **parameters):
    """Make a selector of ``size`` columns, whatever its parameter is called."""
    names = inspect.signature(kind).parameters
    (name,) = {"n_features_to_select", "k", "max_features"} & names.keys()
    return kind(**{name: size}, **parameters)


def indices(selector):
    """Return the selected columns in order of selection (``ranking_`` in version 0.1)."""
    return selector.indices_ if hasattr(selector, "indices_") else selector.ranking_


def greedy(kind, name):
    """A selector of 50 columns on a set of generated codes."""
    X, y = data.coded_set(name)
    selector = sized(getattr(slfs, kind), 50, categorical_features="all", n_jobs=2)
    return lambda: indices(selector.fit(X, y))


def selection(kind, name):
    """A selector with its defaults on a dataset of the paper."""
    X, y = data.paper(name)
    selector = getattr(slfs, kind)(n_jobs=2)
    return lambda: indices(selector.fit(X, y))


def mdlp():
    """Discretization of set C."""
    X, y = data.set_c()
    return lambda: np.concatenate(slfs.MDLPDiscretizer(n_jobs=2).fit(X, y).cut_points_)


def tan_fit():
    """TAN on set D."""
    X, y = data.coded_set("D")
    model = slfs.TAN(categorical_features="all", n_jobs=2)
    return lambda: model.fit(X, y).network_.parents


def tan_predict():
    """Prediction of the 20000 rows of set D by TAN."""
    X, y = data.coded_set("D")
    model = slfs.TAN(categorical_features="all", n_jobs=2).fit(X, y)
    return lambda: model.predict(X)


def bnslfs_predict():
    """Prediction of the 20000 rows of set D by BNSLFS."""
    X, y = data.coded_set("D")
    model = slfs.BNSLFS(slfs.SLFS(categorical_features="all", n_jobs=2)).fit(X, y)
    return lambda: model.predict(X)


def stream():
    """A stream of 10^5 binary columns of 1000 samples."""
    y = np.random.default_rng(0).integers(0, 2, 1000)
    blocks = [data.binary_block(number, y) for number in range(10)]
    selector = slfs.SLFS(order="given", categorical_features="all", n_jobs=2)
    return lambda: indices(selector.fit_stream(blocks, y))


CASES = {
    **{
        f"{kind.lower()}-{name}": lambda kind=kind, name=name: greedy(kind, name)
        for kind in ("MRMR", "JMI", "CMIM")
        for name in "EBAF"
    },
    **{
        f"{kind.lower()}-{name}": lambda kind=kind, name=name: selection(kind, name)
        for kind, name in (
            ("SLFS", "madelon"),
            ("SLFS", "arcene"),
            ("SLFS", "isolet"),
            ("SLFS", "dorothea"),
            ("OSFS", "madelon"),
        )
    },
    "mdlp": mdlp,
    "tan-fit": tan_fit,
    "tan-predict": tan_predict,
    "bnslfs-predict": bnslfs_predict,
    "stream": stream,
}
"""By name: a function that prepares the data."""
