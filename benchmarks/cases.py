"""The cases. Each returns rows: what, seconds, what it is compared with, seconds of that."""

import numpy as np

from benchmarks import data, peers
from benchmarks.calibration import calibration, power, target_calibration, target_power
from benchmarks.fdr import fdr, permutations
from benchmarks.interactions import pair_calibration, pair_power, pairs, xor
from benchmarks.internals import information, planes
from benchmarks.internals import pack as pack_table
from benchmarks.plink import plink
from benchmarks.scale import agree, scale
from benchmarks.startup import cold, startup
from benchmarks.timing import best, seconds, typical
from slfs import (
    CMIM,
    JMI,
    MRMR,
    OSFS,
    SAOLA,
    SLFS,
    TAN,
    FastOSFS,
    MDLPDiscretizer,
    ResidualPursuit,
)


def warm_up():
    """Load compiled kernels, so that this time is not part of a case; return the seconds."""
    return seconds(lambda: SLFS().fit(np.eye(6)[:, :3], [0, 1] * 3))


def count():
    """One 3-level column against 20000 others, N = 1150, one core: counts and information."""
    X, y = data.coded_set("A")
    others = np.arange(1, X.shape[1])
    found = information(X, y)
    words = planes(found)
    floor = best(lambda: np.bitwise_count(words & words[0]), 20)

    def with_class():
        pair = found.pairs(0, others)
        return pair.mutual_information, pair.of_one_given_other

    questions = {
        "I(f;k) and I(f;Y|k)": with_class,
        "I(f;k) alone": lambda: found.mutual_information(0, others),
    }
    return [
        (name, best(ask, 20), "read planes once: np.bitwise_count(a & b)", floor)
        for name, ask in questions.items()
    ]


def pack():
    """Columns of set A (1150 x 20000) to bit planes, two cores."""
    X, y = data.coded_set("A")
    rows = []
    for dtype in (np.int32, np.float64):
        raw = X.astype(dtype)
        floor = best(lambda raw=raw: np.ascontiguousarray(raw.T))
        for name, categorical in (("as categories", True), ("MDLP", False)):
            taken = best(lambda raw=raw, c=categorical: pack_table(raw, y, c, n_jobs=2))
            rows.append((f"{np.dtype(dtype).name}, {name}", taken, "np.ascontiguousarray(X.T)", floor))
    return rows


def mdlp():
    """MDLP on 2600 x 500 floats (set C), one core and two."""
    X, y = data.set_c()
    sort = best(lambda: np.argsort(X, axis=0))
    one = best(lambda: MDLPDiscretizer().fit(X, y))
    two = best(lambda: MDLPDiscretizer(n_jobs=2).fit(X, y))
    peer = peers.orange_mdlp(X, y)
    return [
        ("fit, one core", one, "np.argsort(X, axis=0), one core", sort),
        ("fit, one core", one, "Orange3 EntropyMDL, one core", peer),
        ("fit, two cores", two, "Orange3 EntropyMDL, one core", peer),
    ]


def mrmr():
    """mRMR, 50 features, including discretization, two cores; mrmrs uses F and Pearson correlation."""
    rows = []
    for name in "EBAF":
        X, y = data.coded_set(name)
        selector = MRMR(50, categorical_features="all", n_jobs=2)
        ours = best(lambda selector=selector, X=X, y=y: selector.fit(X, y), 4)
        rows.append((f"{name} {len(X)} x {X.shape[1]}", ours, "mrmrs", peers.mrmrs(X, y)))
    return rows


def praznik():
    """mRMR, JMI and CMIM, 50 features, two cores, compared with praznik (in R), given factors."""
    rows = []
    for name in "EBAF":
        X, y = data.coded_set(name)
        for kind, other in zip((MRMR, JMI, CMIM), peers.praznik(X, y), strict=True):
            selector = kind(50, categorical_features="all", n_jobs=2)
            ours = best(lambda selector=selector, X=X, y=y: selector.fit(X, y), 4)
            rows.append((f"{kind.__name__}, {name} {len(X)} x {X.shape[1]}", ours, "praznik", other))
    return rows


def residual():
    """Residual pursuit, 50 features, including its classifier, two cores, compared with mRMR."""
    rows = []
    for name in "EBAF":
        X, y = data.coded_set(name)
        fits = [
            lambda kind=kind, X=X, y=y: kind(50, categorical_features="all", n_jobs=2).fit(X, y)
            for kind in (ResidualPursuit, MRMR)
        ]
        ours, other = (typical(fit) for fit in fits)
        rows.append((f"{name} {len(X)} x {X.shape[1]}", ours, "mRMR", other))
    return rows


def tan():
    """TAN on 20000 x 16 columns of 16 levels, 26 classes (set D), two cores."""
    X, y = data.coded_set("D")
    classifier = TAN(categorical_features="all", n_jobs=2).fit(X, y)
    fit, predict = peers.pyagrum_tan(X, y)
    return [
        ("fit", best(lambda: classifier.fit(X, y)), "pyAgrum", fit),
        ("predict 20000 rows", best(lambda: classifier.predict(X)), "pyAgrum, extrapolated", predict),
    ]


def online():
    """Online methods on the paper's data, compared with discretization alone."""
    rows = []
    for selector, name in ((OSFS(), "madelon"), (FastOSFS(), "arcene"), (SAOLA(), "arcene")):
        X, y = data.paper(name)
        coding = best(lambda X=X, y=y: MDLPDiscretizer().fit(X, y), 2)
        ours = best(lambda selector=selector, X=X, y=y: selector.fit(X, y), 2)
        rows.append((f"{type(selector).__name__}, {name}", ours, "MDLP alone", coding))
    return rows


def dorothea():
    """SLFS on 1150 x 100000 sparse binary columns."""
    X, y = data.paper("dorothea")
    floor = best(X.tocsc, 3)
    return [
        (f"fit, {n} core(s)", best(lambda n=n: SLFS(n_jobs=n).fit(X, y), 3), "X.tocsc()", floor)
        for n in (1, 2)
    ]


def isolet():
    """SLFS on 7797 x 617 floats, 26 classes."""
    from sklearn.feature_selection import f_classif

    X, y = data.paper("isolet")
    sort, peer = best(lambda: np.argsort(X, axis=0), 2), best(lambda: f_classif(X, y), 2)
    times = [best(lambda n=n: SLFS(n_jobs=n).fit(X, y), 3) for n in (1, 2)]
    return [
        ("fit, one core", times[0], "np.argsort(X, axis=0)", sort),
        ("fit, two cores", times[1], "np.argsort(X, axis=0)", sort),
        ("fit, two cores", times[1], "scikit-learn f_classif (ranking only)", peer),
    ]


def relevance():
    """SLFS on 7797 x 617 columns (set B), two cores, compared with relevance alone in scikit-learn."""
    from sklearn.feature_selection import mutual_info_classif

    X, y = data.coded_set("B")
    ours = best(lambda: SLFS(categorical_features="all", n_jobs=2).fit(X, y), 3)
    peer = seconds(lambda: mutual_info_classif(X, y, discrete_features=True, n_jobs=2))
    return [("SLFS fit", ours, "mutual_info_classif", peer)]


def growth():
    """Ten times the columns, ten times the samples."""
    rows = []
    for what, small, large in (
        ("columns 10^4 -> 10^5", (1000, 10_000), (1000, 100_000)),
        ("samples 2*10^3 -> 2*10^4", (2000, 2000), (20_000, 2000)),
    ):
        times = []
        for shape in (large, small):
            X, y = data.coded(*shape, 3, 2, seed=7)
            times.append(best(lambda X=X, y=y: SLFS(n_jobs=2).fit(X, y), 3))
        rows.append((what, times[0], "a tenth of it", times[1]))
    return rows


CASES = {
    case.__name__: case
    for case in (
        count,
        pack,
        mdlp,
        mrmr,
        praznik,
        residual,
        tan,
        online,
        dorothea,
        isolet,
        relevance,
        growth,
        startup,
        cold,
        scale,
        agree,
        permutations,
        calibration,
        target_calibration,
        power,
        target_power,
        fdr,
        pairs,
        pair_calibration,
        pair_power,
        xor,
        plink,
    )
}
