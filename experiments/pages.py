"""Stored rows -> the results page: tables in Markdown, the paper's claims one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from experiments import stability, statistics
from experiments.claims import check_claims
from experiments.growth import STATED, VARIED, slopes
from experiments.sensitivity import READINGS, sensitivity_table
from experiments.statistics import COLUMNS
from experiments.storage import digest
from slfs.datasets.paper import DATASETS
from slfs.measures.stability import Stability


def results_page(
    rows: pd.DataFrame, growth: pd.DataFrame, table3: pd.DataFrame, subsamples: pd.DataFrame
) -> str:
    """The whole page."""
    parts = [
        "# Results",
        "<!-- Made by `slfs reproduce`: change the experiments, not this page. -->",
        _setting(rows),
        "## Summary",
        _summary(rows),
        "## The paper's claims",
        _claims(rows, growth, table3),
        "## At most the size of SLFS",
        _equal(rows),
        "## At each method's own size",
        _own(rows),
        "## Accuracy by dataset",
        _by_dataset(rows),
        "## Table 1: growth of time",
        table1(growth),
        "## Table 2: the datasets",
        table2(),
        "## Table 3: sensitivity on Isolet",
        table3_text(table3),
        "## Stability of the selection",
        stability_text(subsamples),
        "## Networks",
        "Trees of SLFS on BreastCancer and Voting with MAXDEPTH = 4, as in the paper's last figure.",
        "![Tree of BreastCancer](results/network-breastcancer.png)",
        "![Tree of Voting](results/network-voting.png)",
    ]
    return "\n\n".join(parts) + "\n"


def table1(growth: pd.DataFrame) -> str:
    """Exponents of measured growth beside the stated complexity."""
    exponents = slopes(growth)
    base = growth[growth["varied"] == "p"].groupby("method")["seconds"].max()
    lines = [
        [
            method,
            stated,
            *(f"{exponents.loc[method, name]:.2f}" for name in VARIED),
            _seconds(base[method]),
        ]
        for method, stated in STATED.items()
    ]
    size = growth[growth["varied"] == "p"][["n_samples", "n_features"]].max()
    head = ["method", "stated", *(f"exponent of {name}" for name in VARIED)]
    text = _table([*head, f"seconds at {size['n_samples']} x {size['n_features']}"], lines)
    return text + (
        "\n\nMade tables of three levels; one quantity grows eightfold, the others stay. An exponent of "
        "1 is linear growth; below 1, fixed costs still weigh. |S| counts the features that the method "
        "did select. Columns that are irrelevant by themselves cost SLFS only their coding."
    )


def table2() -> str:
    """The datasets."""
    lines = [
        [entry.title, str(entry.n_samples), str(entry.n_features), str(entry.n_classes), entry.about]
        for entry in DATASETS.values()
    ]
    return _table(["dataset", "N", "p", "classes", ""], lines)


def table3_text(rows: pd.DataFrame) -> str:
    """Table 3, ours beside the paper's."""
    found = sensitivity_table(rows)
    head = ["NCH", "lambda", "MAXDEPTH", "paper"]
    for reading in READINGS:
        head += [f"{reading}: features", "BNSLFS / NB, %"]
    lines = []
    for _, row in found.iterrows():
        line = [f"{row['NCH']:.0f}", f"{row['lambda']:g}", f"{row['MAXDEPTH']:.0f}"]
        line.append(f"{row['NSF, paper']:.0f}, {row['accuracy, paper']:.2f} %")
        for reading in READINGS:
            line.append(f"{row[f'NSF, {reading}']:.1f}")
            line.append(f"{row[f'BNSLFS, {reading}']:.1f} / {row[f'NB, {reading}']:.1f}")
        lines.append(line)
    return _table(head, lines) + (
        "\n\nMeans over the folds, everything learned inside the training part. *reversed*: equation 7 "
        "as the sentence below it says, columns in the given order; *mdl*: our rule for irrelevant "
        "columns, given order; *conditional*: our default order. The paper does not say of which "
        "classifier its accuracies are."
    )


def stability_text(rows: pd.DataFrame) -> str:
    """How much the selections on subsamples agree, at the size of SLFS and with few features."""
    first = "arcene" if "arcene" in set(rows["dataset"]) else str(rows["dataset"].iloc[0])
    text = (
        f"Each method selects on the same {rows['subsample'].nunique()} subsamples, complementary "
        f"halves with the classes in their shares (seed {rows['seed'].iloc[0]}); what it selects is in "
        "`experiments/stability.parquet`. Nogueira's measure is 1 if all selections are the same and "
        "about 0 if they are random; below 0.4 it is called poor, above 0.75 excellent. Square brackets "
        "hold its 95 % interval, round ones the mean number of features. Sizes are at most the median "
        f"of what SLFS selects by itself, or at most {stability.FEW}; FCBF stops by itself, often "
        "earlier. The measure takes columns as such: two that say nearly the same count as different."
    )
    parts = [text]
    for size, words in (("equal", "At most the size of SLFS"), ("few", "Few features")):
        found, sizes = stability.stabilities(rows, size), stability.sizes(rows, size)
        limit = rows[(rows["dataset"] == first) & (rows["size"] == size)]["limit"].iloc[0]
        shown = ", ".join(
            f"{method} {_interval(found.loc[first, method])} with {sizes.loc[first, method]:.0f}"
            for method in found.columns
        )
        parts += [
            f"### {words}",
            f"{DATASETS[first].title}, at most {limit} features: {shown}.",
            _stability_table(found, sizes),
            " ".join(_record_of_stability(found, rival) for rival in ("mRMR MID", "FCBF")),
        ]
    return "\n\n".join(parts)


def _interval(found: Stability) -> str:
    return (
        "not defined"
        if np.isnan(found.value)
        else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
    )


def _stability_table(found: pd.DataFrame, sizes: pd.DataFrame) -> str:
    lines = []
    for name in DATASETS:
        if name in found.index:
            cells = [
                "all kept" if np.isnan(one.value) else f"{one.value:.2f} ({sizes.loc[name, method]:.0f})"
                for method, one in found.loc[name].items()
            ]
            lines.append([DATASETS[name].title, *cells])
    return _table(["dataset", *found.columns], lines)


def _record_of_stability(found: pd.DataFrame, rival: str) -> str:
    """On how many datasets SLFS is more or less stable than a rival, intervals apart."""
    both = zip(found["SLFS"], found[rival], strict=True)
    pairs = [pair for pair in both if not np.isnan([one.value for one in pair]).any()]
    more = sum(one.low > other.high for one, other in pairs)
    fewer = sum(one.high < other.low for one, other in pairs)
    return (
        f"SLFS is more stable than {rival} on {more} of {len(pairs)} datasets and less on {fewer}, "
        "counting those whose intervals do not touch."
    )


def _setting(rows: pd.DataFrame) -> str:
    versions = json.loads(rows["versions"].mode()[0])
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{rows['dataset'].nunique()} datasets, {rows['fold'].nunique()}-fold stratified "
        f"cross-validation (seed {rows['seed'].iloc[0]}), {rows['method'].nunique()} methods, "
        f"{rows['classifier'].nunique()} classifiers: {len(rows)} rows in `experiments/rows.parquet` "
        f"(digest `{digest(rows)}`), run at commit `{rows['commit'].mode()[0]}` on "
        f"{rows['machine'].mode()[0]} with {named}. Discretisation, selection and scaling are learned "
        "inside each training part. Nearest neighbours and the linear SVM (LIBSVM, C = 1, on all "
        "datasets) see standardised columns, categories as 0/1 columns; naive Bayes, BNSLFS and TAN see "
        'MDLP codes.\n\n"Bayes" is BNSLFS for SLFS and naive Bayes for the others, as in the paper. '
        "Each method keeps at most as many features as SLFS chose in the same fold, or its *own size*: "
        'as many as it chooses by its own rule (`n_features_to_select="auto"`). Differences are tested '
        "with the "
        "corrected resampled t-test over folds (Nadeau & Bengio 2003), level 0.05."
    )


def _summary(rows: pd.DataFrame) -> str:
    equal = statistics.comparison(rows)
    table = statistics.accuracies(equal)[statistics.filters(rows)]
    ranks, result = statistics.mean_ranks(table), statistics.friedman(table)
    naive = statistics.accuracies(statistics.comparison(rows, bayes="NB"))[statistics.filters(rows)]
    full = statistics.mean_ranks(table[statistics.of_full_size(equal)])
    second = ranks.drop("SLFS").index[0]
    accuracy = 100 * table.mean().sort_values(ascending=False)
    return (
        f"Among {table.shape[1]} filter methods that keep at most as many features as SLFS, mean ranks "
        f"over {len(table)} blocks (dataset x column) are {_best(ranks)}; SLFS against {second} "
        f"wins/ties/loses {_record(equal, second)} blocks. Among the {len(full)} that do keep as many: "
        f"{_best(full)}. With plain naive Bayes for SLFS, too: {_best(statistics.mean_ranks(naive))}. "
        f"Mean accuracy: {_best(accuracy)} %.\n\n"
        f"The blocks of a dataset are not independent. With each dataset counted once the ranks are "
        f"{_best(result.ranks)} (Friedman's p = {result.p_value:.2g}); Nemenyi's critical difference is "
        f"{result.critical_difference:.2f}: the best methods cannot be told apart on "
        f"{rows['dataset'].nunique()} datasets."
    )


def _best(values: pd.Series, count: int = 3) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.iloc[:count].items())


def _claims(rows: pd.DataFrame, growth: pd.DataFrame, table3: pd.DataFrame) -> str:
    lines = [[claim.text, claim.verdict, claim.evidence] for claim in check_claims(rows, growth, table3)]
    return _table(["the paper says", "here", "evidence"], lines) + (
        "\n\nThe rivals are the paper's own (mRMR and the chi-square ranking at the size of SLFS; OSFS, "
        "Fast-OSFS and alpha-investing at their own). *holds*: SLFS is more accurate than each (5-NN: "
        "at least as accurate); *tie*: as accurate as the best, or behind it, but not significantly; "
        "*fails*: significantly behind it. "
        '"SLFS, paper" is equation 7 reversed, columns in the given order, lambda 1.'
    )


def _equal(rows: pd.DataFrame) -> str:
    equal = statistics.comparison(rows)
    filters = statistics.filters(rows)
    rivals = [name for name in filters if name != "SLFS"]
    p_values = statistics.holm(
        np.array([statistics.wilcoxon(statistics.against(equal, "SLFS", name)) for name in rivals])
    )
    text = _ranking(equal, filters, dict(zip(rivals, p_values, strict=True)))
    return text + (
        "\n\nRanks are among the filters. p: signed ranks over datasets, corrected for the number of "
        "rivals (Holm). Methods without a rank ask a classifier, select nothing, or are other readings "
        "of SLFS. OSFS and Fast-OSFS do badly on many classes because they take two variables for "
        "independent without a test where there are fewer than five samples a degree of freedom "
        "(`samples_per_df`, as the authors' own code).\n\n"
        "![Critical differences](results/critical-difference.png)\n\n"
        "![Accuracy by classifier and dataset](results/accuracy.png)"
    )


def _own(rows: pd.DataFrame) -> str:
    own = statistics.comparison(rows, "own")
    return _ranking(own, sorted(own["method"].unique()), {})


def _ranking(rows: pd.DataFrame, ranked: list[str], p_values: dict[str, float]) -> str:
    """Methods by mean rank; those that are not ranked at the end."""
    table = statistics.accuracies(rows)
    ranks = statistics.mean_ranks(table[ranked])
    sizes = rows.pivot_table(index="dataset", columns="method", values="n_features").mean()
    seconds = rows.groupby("method")["selection_seconds"].median()
    lines = []
    for method in [*ranks.index, *(name for name in table.columns if name not in ranked)]:
        line = [
            f"**{method}**" if method == "SLFS" else method,
            f"{ranks[method]:.2f}" if method in ranked else "",
            f"{100 * table[method].mean():.2f}",
            "" if method == "SLFS" else _record(rows, method),
            f"{p_values[method]:.2g}" if method in p_values else "",
            f"{sizes[method]:.0f}",
            _seconds(seconds[method]),
        ]
        lines.append(line if p_values else [*line[:4], *line[5:]])
    head = ["method", "mean rank", "mean accuracy, %", "SLFS wins/ties/losses"]
    head += ["p"] if p_values else []
    return _table([*head, "features", "median seconds"], lines)


def _record(rows: pd.DataFrame, other: str) -> str:
    """How often SLFS wins, ties and loses against another method."""
    return "/".join(map(str, statistics.wins_ties_losses(statistics.against(rows, "SLFS", other))))


def _by_dataset(rows: pd.DataFrame) -> str:
    table = 100 * statistics.accuracies(statistics.comparison(rows))
    filters = statistics.filters(rows)
    methods = [*filters, *(name for name in table.columns if name not in filters)]
    parts = ["At most the size of SLFS, in per cent; the best of each row in bold."]
    for column in COLUMNS:
        part = table.xs(column, level="column")[methods]
        parts += [f"### {column}", _percentages(part)]
    ours = rows[rows["method"] == "SLFS"]
    codes = 100 * ours.pivot_table(index="dataset", columns="classifier", values="accuracy")
    parts += [
        "### Network classifiers on the columns of SLFS",
        _percentages(codes[["NB", "BNSLFS", "TAN"]]),
    ]
    return "\n\n".join(parts)


def _percentages(table: pd.DataFrame) -> str:
    lines = []
    for name in DATASETS:
        if name in table.index:
            best = round(table.loc[name].max(), 1)
            shown = [
                f"**{value:.1f}**" if round(value, 1) == best else f"{value:.1f}"
                for value in table.loc[name]
            ]
            lines.append([DATASETS[name].title, *shown])
    return _table(["dataset", *table.columns], lines)


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---"] * len(head)
    cells = ([cell.replace("|", "\\|") for cell in line] for line in [head, rule, *lines])
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)
