"""A fitted selector -> what the commands print about it: the selection, or why nothing is selected."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from slfs._core.rounding import short_number
from slfs.cli.output import show_table, tell

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile

_MAX_GROUPS = 3
"""Maximum number of groups of duplicates, and of similar columns, that are printed."""

_MAX_MEMBERS = 6
"""Maximum number of columns of a group that are printed."""

_MAX_LENGTH = 50

_MAX_RANKED = 5
"""Maximum number of columns that a ranking is suggested for."""

_MANY_CLASSES = 30
"""Number of classes above which numbers are likely a quantity."""

_MAX_FDR = 0.5
"""Maximum false discovery rate that is suggested."""

_RESULTS = ("name", "role", "relevance", "p_value", "q_value", "parent", "reason")
"""Fields of a record that are written to a table."""


def show_selection(file: DataFile, selector: Any) -> None:
    """Print the selected columns in order of selection, and the number of dropped columns by role."""
    from slfs import StabilitySelection
    from slfs.selectors._shared.wording import grade, listed, percent

    size = f"{selector.n_features_} of {file.X.shape[1]} columns selected"
    typer.echo(f"{file.name}: {size} to predict {file.target!r} ({_samples(selector)}).")
    stable = isinstance(selector, StabilitySelection)
    entropy, root = selector._class_entropy(), str(selector.network_.class_name)
    lines = []
    for column in selector.indices_:
        record = selector.features_[column]
        role = record["role"].partition(",")[0]
        if stable:
            role = f"{round(record['frequency'] * selector.n_subsamples)} of {selector.n_subsamples}"
        evidence = grade(record["q_value"])
        parent = str(record["parent"] or root)
        share = f"{100 * record['relevance'] / entropy:.1f}"
        numbers = [percent(record["q_value"]), share, f"{record['relevance']:.4f}"]
        lines.append([record["name"], role, evidence, *numbers, parent])
    if lines:
        noun = selector._target_noun()
        entropy_of = "% of class\nentropy" if noun == "class" else "% of entropy\nof the bins"
        numbers = ["FDR\n(q-value)", entropy_of, "relevance\n(nats)"]
        head = ["column", "subsamples" if stable else "role", "evidence", *numbers, "parent"]
        if all(line[-1] == root for line in lines):  # no tree
            head, lines = head[:-1], [line[:-1] for line in lines]
        typer.echo()
        show_table(head, lines, right=numbers)
        given = f"\ngiven {listed(selector.conditioning_)}" if selector.conditioning_ else ""
        typer.echo(
            "\nFDR (q-value): expected share of false discoveries among the columns with at least this\n"
            f"much evidence of a relation to the {noun}{given}. Relevance: mutual information with the "
            f"{noun}{' alone' if given else ''}."
        )
        if sentence := _pairs_text(selector):
            typer.echo(f"\n{sentence}")
        by_gaps = _selected_with(selector, "only_missing")
        if by_gaps:
            also = [name for name, tested in by_gaps.items() if tested == "numbers"]
            tests = f" The evidence is also that of the numbers of {', '.join(also)}." if also else ""
            typer.echo(f"\nOnly whether a value is missing is used of: {', '.join(by_gaps)}.{tests}")
        if none := _none_texts(file, selector):
            typer.echo(f"\nRead as missing: the text 'None' of {none}. If it is a category, rename it.")
        if many := _selected_with(selector, "n_categories"):
            counts = ", ".join(f"{name} ({count})" for name, count in many.items())
            typer.echo(
                "\nThe relevance is that in these samples. Columns with many categories are likely\n"
                f"less relevant in new ones: {counts}."
            )
    if stable:
        typer.echo(f"\n{_stability_text(selector)}")
        if selector.memory_limit is None:  # the levels of all columns are kept in memory
            typer.echo(_similar_text(file, selector))
    elif sentence := size_text(selector):
        typer.echo(f"\n{sentence}")
    dropped = Counter(selector.features_["role"][~selector.support_].tolist())
    if dropped:
        counted = ", ".join(f"{count} {role}" for role, count in dropped.most_common())
        typer.echo(f"\nDropped: {counted}. 'slfs explain COLUMN' with the same options explains each.")
    selected = set(selector.features_["name"][selector.support_].tolist())
    duplicates = sorted(selector.duplicates_, key=selected.isdisjoint)  # selected columns first
    groups = [_equal(group) for group in duplicates[:_MAX_GROUPS]]
    if groups:
        others = len(selector.duplicates_) - _MAX_GROUPS
        more = f", and {others} more group{'s' if others > 1 else ''}" if others > 0 else ""
        what = "Same levels in all samples (copies, recodings, or values that are grouped alike)"
        typer.echo(f"{what}: {', '.join(groups)}{more}.")


def _pairs_text(selector: Any) -> str:
    """The pairs because of which an InteractionSelector has selected columns; "" without pairs."""
    from slfs import InteractionSelector
    from slfs.selectors._shared.wording import percent

    if not isinstance(selector, InteractionSelector):
        return ""
    kept, names = selector.support_, selector.features_["name"]
    pairs = [pair for pair in selector.pairs_ if kept[pair["first"]] and kept[pair["second"]]]
    if not pairs:
        return ""
    shown = [
        f"{names[pair['first']]!r} and {names[pair['second']]!r} (FDR {percent(pair['q_value'])})"
        for pair in pairs[:_MAX_GROUPS]
    ]
    more = f"; and {len(pairs) - _MAX_GROUPS} more" if len(pairs) > _MAX_GROUPS else ""
    return (
        "The table is about each column on its own. Pairs that tell more together, with the FDR of "
        f"their interaction: {'; '.join(shown)}{more}."
    )


def _equal(names: list[str]) -> str:
    """The columns of a group of duplicates, of which only the first are named."""
    shown, others = names[:_MAX_MEMBERS], len(names) - _MAX_MEMBERS
    text = " = ".join(map(repr, shown))
    return f"{text} and {others} more" if others > 0 else text


def size_text(selector: Any) -> str:
    """How many columns cross-validation has found; "" if their number was given."""
    from slfs.selectors._shared.size_path import AutomaticSizeMixin

    return selector._size_sentence() if isinstance(selector, AutomaticSizeMixin) else ""


def explanation(selector: Any, column: Any) -> dict[str, Any]:
    """Why a column is selected or dropped, as plain values."""
    index = selector._column_index(column)
    record = selector.features_[index]
    return {
        "column": str(record["name"]),
        "selected": bool(selector.support_[index]),
        "role": str(record["role"]),
        "reason": str(record["reason"]),
        "parent": None if record["parent"] is None else str(record["parent"]),
        "relevance": _number(record["relevance"]),
        "relevance_given": _number(record["relevance_given"]),
        "p_value": _number(record["p_value"]),
        "q_value": _number(record["q_value"]),
        "explanation": selector.explain(column),
    }


def results_frame(file: DataFile, selector: Any) -> Any:
    """One row per column, with chromosome, position and alleles if it is a variant."""
    import pandas as pd

    from slfs.files.genotypes import GenotypeColumns

    records = selector.features_
    frame = pd.DataFrame({name: records[name] for name in _RESULTS})
    frame.insert(1, "selected", selector.support_)
    if selector.conditioning_:
        after = frame.columns.get_loc("relevance") + 1
        frame.insert(after, "relevance_given", records["relevance_given"])
    if isinstance(file.X, GenotypeColumns):
        frame = pd.concat([frame[["name"]], file.X.annotations(), frame.drop(columns="name")], axis=1)
    return frame


def explain_nothing(selector: Any, out: Path | None) -> None:
    """Print on standard error why no column is selected, and what to try."""
    import numpy as np

    from slfs.screening.reasons import Role

    records = selector.features_
    candidates = ~np.isin(records["role"], [Role.CONDITIONING, Role.EXCLUDED])
    p_value = np.nan_to_num(records["p_value"], nan=1.0)
    frequency = records["frequency"] if "frequency" in records.dtype.names else np.zeros(len(records))
    best = int(np.lexsort((-records["relevance"], p_value, -frequency, ~candidates))[0])
    lines = [
        f"No column is selected. The one that comes closest: {selector.explain(best)}",
        f"What to try: {_remedies(selector)}.",
    ]
    if out is not None:
        lines.append(f"{out} is not written.")
    tell("\n".join(lines), typer.colors.YELLOW)


def _remedies(selector: Any) -> str:
    """What to try if no column is selected. The tests follow each of these remedies."""
    import numpy as np

    from slfs import InteractionSelector, StabilitySelection
    from slfs.selectors._shared.remedies import to_include

    records, stable = selector.features_, isinstance(selector, StabilitySelection)
    inner, grouped = selector._inner() if stable else selector, selector._rows_are_grouped()
    omitted = _stability_options(selector) if stable else []
    without = f" (without {' and '.join(omitted)})" if omitted else ""
    omitted += ["--groups"] * grouped
    other = f" (without {' and '.join(omitted)})" if omitted else ""
    weak = to_include(records, selector._n_wanted(len(records)))
    if grouped:
        weak = weak[:0]  # p-values treat rows as independent
    found: list[str] = []
    classes = getattr(selector, "classes_", ())
    if len(classes) > _MANY_CLASSES and np.asarray(classes).dtype.kind in "iuf":
        found.append("if the target is a quantity, add --target-type regression")
    if math.isinf(getattr(selector, "threshold_", 0)):
        found.append("increase --fdr, or omit it to select by a threshold")
    elif stable and (threshold := _sufficient_threshold(records)):
        found.append(f"accept columns that fewer subsamples select, with --threshold {threshold}")
    elif fdr := _sufficient_fdr(inner, records):
        # cross-validation may find that columns with so much noise among them predict nothing
        number = " -k 5" if inner.n_features_to_select == "auto" else ""
        found.append(f"allow more false discoveries with --set fdr={fdr}{number}{without}")
    if weak:
        method = "" if "include" in inner.get_params(deep=False) else "--method slfs "
        which = f"{len(weak)} columns with the smallest p-values"
        which = "column with the smallest p-value" if len(weak) == 1 else which
        names = [str(name) for name in records["name"][weak]]
        found.append(f"select the {which} regardless with {method}{_include(names)}{without}")
    else:
        alone = "omit --condition-on to see what depends on the target alone, " * bool(
            selector.conditioning_
        )
        found.append(
            f"{alone}check --target, declare numeric codes with --categorical, or use more samples"
        )
        forced = inner.include is not None or inner.exclude is not None
        if not (selector.conditioning_ or forced or isinstance(inner, InteractionSelector)):
            found.append(
                f"use --method interactions{other} to find columns that are informative only in "
                "combination"
            )
        if (n_columns := _rankable(inner, records)) > 1:
            k = min(n_columns, _MAX_RANKED)
            found.append(
                f"rank the {n_columns} columns that have levels regardless with --method mrmr -k {k}"
                f"{other}"
            )
    return "; ".join(found)


def _stability_options(selector: Any) -> list[str]:
    """The options that made a StabilitySelection, and that cannot be given without each other."""
    default = type(selector)()
    given = [name for name in ("fdr", "threshold") if getattr(selector, name) != getattr(default, name)]
    return ["--stability", *(f"--{name}" for name in given)]


def _sufficient_threshold(records: Any) -> str:
    """The ``threshold`` with which a significant column is selected; "" if subsamples select none."""
    from slfs.screening.reasons import SIGNIFICANT

    most = max(records["frequency"][records["q_value"] <= SIGNIFICANT].tolist(), default=0.0)
    return f"{math.floor(100 * most) / 100:g}" if most >= 0.01 else ""


def _sufficient_fdr(selector: Any, records: Any) -> str:
    """The smallest ``fdr`` with which a column is significant, rounded up; "" if it is too large."""
    from slfs.screening.reasons import Reason

    if getattr(selector, "irrelevance", None) != "test":
        return ""
    tested = records["reason"] == Reason.NOT_SIGNIFICANT.label
    if (records["q_value"] <= selector.fdr).any():
        return ""  # it is not the false discovery rate for which no column is selected
    least = min(records["q_value"][tested].tolist(), default=1.0)
    if not 0 < least <= _MAX_FDR:
        return ""
    unit = 10.0 ** (math.floor(math.log10(least)) - 1)
    return f"{math.ceil(least / unit) * unit:.2g}"


def _rankable(selector: Any, records: Any) -> int:
    """The number of columns that a ranking can select: they have levels that tell something.

    These are the levels that MDLP makes.
    """
    from slfs.screening.reasons import Role
    from slfs.selectors.base import BaseSelector

    by_mdlp = type(selector)._cut_points is BaseSelector._cut_points
    if not by_mdlp or getattr(selector, "condition_on", None) is not None:
        return 0
    return int(((records["role"] != Role.EXCLUDED) & (records["relevance"] > 0)).sum())


def _include(names: list[str]) -> str:
    """The option --include for some columns, to be pasted into a shell."""
    lists = [[name] for name in names] if any("," in name for name in names) else [names]
    return " ".join(f"--include {shlex.quote(','.join(own))}" for own in lists)


def _selected_with(selector: Any, figure: str) -> dict[str, Any]:
    """The values of a figure that some selected columns have, by name."""
    return {
        repr(str(selector.features_["name"][column])): figures[figure]
        for column in selector.indices_.tolist()
        if figure in (figures := selector._figures.get(column, {}))
    }


def _none_texts(file: DataFile, selector: Any) -> str:
    """The selected columns of categories that have the text None in the file, and how often."""
    chosen = selector.support_ & ~selector.features_["numeric"]
    if file.typed_ids is None or file.read_originals is None or not chosen.any():  # not a text file
        return ""
    texts = file.read_originals([name for name, kept in zip(file.names, chosen, strict=True) if kept])
    counts = {name: int((texts[name].astype(str).str.strip() == "None").sum()) for name in texts}
    return ", ".join(f"{str(name)!r} ({count} rows)" for name, count in counts.items() if count)


def _samples(selector: Any) -> str:
    """The number of samples in all and in each class; only the number of classes if that is long."""
    counts = selector.network_counts_
    totals = counts.class_sizes
    bins = selector.target_bins_
    if bins is not None:
        low, high = bins["smallest"].min(), bins["largest"].max()
        listed = f"a number from {short_number(low, 6)} to {short_number(high, 6)}, in {len(bins)} bins"
    else:
        classes = zip(selector.classes_.tolist(), totals, strict=True)
        listed = ", ".join(f"{name} {count}" for name, count in classes)
    if bins is None and len(listed) > _MAX_LENGTH:
        listed = f"{len(totals)} classes"
    return f"{counts.size_text()}: {listed}"


def _stability_text(selector: Any) -> str:
    """How well the subsamples agree, and how many of them had to select a column."""
    stability, needed = selector.stability_, selector.threshold_ * selector.n_subsamples
    threshold = f"Threshold: selected in at least {needed:.0f} of {selector.n_subsamples} subsamples."
    if math.isinf(needed):
        threshold = "No threshold reaches the requested FDR: 'slfs explain COLUMN' explains why."
    note = " Nearly all columns are selected every time, so agreement beyond chance is hard to measure."
    return (
        f"{threshold} {str(stability).capitalize()} (1: the same columns in every subsample; 0: no "
        f"better than chance).{note if stability.share > 0.9 else ''}"
    )


def _similar_text(file: DataFile, selector: Any) -> str:
    """How well the subsamples agree up to near-copies, and which columns replace each other."""
    from slfs.evaluation import feature_groups, feature_similarity
    from slfs.evaluation.groups import merged_supports
    from slfs.measures import nogueira

    similarity = feature_similarity(file.X, categorical_features=selector.categorical_features)
    groups = feature_groups(selector, similarity)
    agreement = nogueira(merged_supports(selector, groups))
    lines = [f"If each group of similar columns counts as one column: {agreement}."]
    number = selector.n_subsamples
    groups = groups[groups["group_frequency"] > groups["frequency"]]
    for group in groups[:_MAX_GROUPS]:
        names = [repr(str(name)) for name in group.members[:_MAX_MEMBERS]]
        more = ", ..." if group.n_members > _MAX_MEMBERS else ""
        lines.append(
            f"Similar columns: {names[0]} is selected in {round(group.frequency * number)} of {number} "
            f"subsamples, it or {', '.join(names[1:])}{more} in {round(group.group_frequency * number)}."
        )
    return "\n".join(lines)


def _number(value: Any) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None
