"""Records and figures -> sentences: why a column was selected or dropped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from slfs._core.interface import parameter
from slfs.screening.reasons import BY_LABEL, SIGNIFICANT, Reason, Role
from slfs.selectors._shared.size_sentences import baseline
from slfs.selectors._shared.wording import apart, frequency, listed, p_text

Figures = Mapping[str, Any]
"""Parameters of the selector, and the figures on which a decision is based."""

_PLAIN = (
    Reason.CONSTANT, Reason.NO_CUT, Reason.ONE_GROUP, Reason.NO_INFORMATION, Reason.MERGED,
    Reason.EQUAL_AS_FLOATS, Reason.ALL_MISSING,
)  # fmt: skip
"""Reasons of columns without information: their sentences do not mention it."""

_NO_CUTS = "MDLP finds no cut of its numbers that is worth its cost"


def explain(record: Any, figures: Figures) -> str:
    """Explain in a sentence or two why a column was selected or dropped.

    ``figures`` contains the parameters of the selector, ``n_features_`` (number of selected columns),
    ``noun`` ("class" or "target"), ``relevance_share`` (relevance as a share of the class entropy) and
    the figures of the decision.
    """
    sentence = _decision(record, figures)
    if "only_missing" in figures:
        is_cut = figures["only_missing"] != "categories" and "partner" not in figures
        why = f": {_NO_CUTS}" if is_cut else ""  # MDLP does not cut columns of pairs
        sentence += f" Only whether its value is missing is used{why}."
    if "groups" in figures:
        groups = ", ".join(f"{n} for the {count} of {name!r}" for name, count, n in figures["groups"])
        sentence += f" The figures are those of groups of categories: {groups}."
    if "n_categories" in figures:
        number = figures["n_categories"]
        sentence += f" It has {number} categories, and likely less information about new samples."
    if "partner" in figures:
        sentence = f"{sentence} {_together(figures)}"
    return f"{sentence} {_joined(figures)}" if "joined" in figures else sentence


def _together(figures: Figures) -> str:
    """Say what a column and the other column of its best pair tell together."""
    return (
        f"Together with {figures['partner']!r} it has {figures['joint_information']:.3g} nats, "
        f"{figures['synergy']:.3g} more than both on their own."
    )


def _joined(figures: Figures) -> str:
    """Say what a column added to the columns that were selected before it."""
    before, after, number = figures["log_loss_before"], figures["log_loss"], figures["joined"]
    first, last = apart(before, after)
    verb = "lowers" if after < before else "changes"
    falls = f"{verb} the training log loss of the growing model from {first} to {last}"
    if "group" in figures:
        size = figures["n_together"]
        others = "" if number == 1 else f", after {number - 1} other{'s' if number > 2 else ''}"
        return (
            f"It was selected together with the {size - 1} other column{'s' if size > 2 else ''} of the "
            f"group {figures['group']!r}{others}: the group {falls}."
        )
    if number == 1:
        return f"It was selected first: it {falls}."
    others = "column" if number == 2 else f"{number - 1} columns"
    return (
        f"It was selected as number {number}: it best explains what the model of the {others} before it "
        f"still gets wrong, and {falls}."
    )


def _decision(record: Any, figures: Figures) -> str:
    name, role = record["name"], record["role"]
    if role == Role.EXCLUDED:
        return f"{name!r} is excluded ({parameter('exclude')}): it was not a candidate."
    noun = figures["noun"]
    entropy = "class entropy" if noun == "class" else "entropy of its bins"
    has = (
        f"it has {record['relevance']:.3g} nats of information about the {noun} "
        f"({figures['relevance_share']:.0%} of the {entropy}{_given(record, figures)})"
    )
    if role == Role.CONDITIONING:
        return (
            f"{name!r} is conditioned on ({parameter('condition_on')}): {has}, which the selected "
            "columns are not credited with. It cannot be selected itself."
        )
    if record["reason"] == Reason.INCLUDED.label:
        where = "" if record["parent"] is None else f" It is a child of {record['parent']!r}."
        return f"{name!r} is selected because it is included ({parameter('include')}): {has}.{where}"
    if role == Role.STRONG:
        return f"{name!r} is selected as strongly relevant: {has} and is a child of the {noun}."
    if role == Role.WEAK and record["parent"] is None:
        return (
            f"{name!r} is selected as weakly relevant: {has}. It is closest to "
            f"{figures['displaced_by']!r}, below which the tree is full, so that it is a child of the "
            f"{noun}."
        )
    if role == Role.WEAK:
        return f"{name!r} is selected as weakly relevant{_below_parent(record, figures)}"
    if role == Role.SUPPORTING:
        return f"{name!r} is selected as supporting: {_supports(record, figures)}."
    if role == Role.TENTATIVE:
        where = f"is a child of the {noun}"
        if record["parent"] is not None:
            where = f"is a child of {record['parent']!r}"
        return f"{name!r} is selected as tentative: {has} and {where}, but its FDR is above 5%."
    if role == Role.SELECTED:
        often = ""
        if "n_subsamples" in figures:
            often = f"it was {frequency(record['frequency'], figures['n_subsamples'])}, and "
        return f"{name!r} is selected: {often}{has}."
    reason = BY_LABEL[record["reason"]]
    why = _WHY[reason](record, figures)
    dropped = "dropped because there is no room" if role == Role.NO_ROOM else f"dropped as {role}"
    if reason not in _PLAIN:
        why = f"{has}, but {why}"
    elif role == Role.TOO_WEAK:
        why = f"it depends on the {noun}, but {why}, so that it was not tried with others "
        why += f"({parameter('include')} selects it)"
    return f"{name!r} is {dropped}: {why}."


def _given(record: Any, figures: Figures, has: str = "") -> str:
    """Say how much information a column has given the columns that are conditioned on, if any."""
    nats = record["relevance_given"]
    return "" if math.isnan(nats) else f"; {has}{nats:.3g} nats given {listed(figures['conditioning'])}"


def _below_parent(record: Any, figures: Figures) -> str:
    parent, noun = record["parent"], figures["noun"]
    shared = f"it shares {record['mutual_information']:.3g} nats with its parent {parent!r}"
    given = _given(record, figures, "it has ")
    if "joined" in figures:
        added = f"{record['conditional_relevance']:.3g} nats of information about the {noun}"
        return f": {shared}, to which it adds {added}{given}."
    return (
        f" but not redundant: {shared} and adds {record['conditional_relevance']:.3g} nats of "
        f"information about the {noun} to it{given}."
    )


def _supports(record: Any, figures: Figures) -> str:
    """Say why a column is selected that adds nothing significant to its parent."""
    why = "it improves the model of all selected columns together"
    if "joined" not in figures:  # in the order of the paper
        why = "the tree has room"
    return (
        f"it shares {record['mutual_information']:.3g} nats with its parent {record['parent']!r}, to "
        f"which alone it adds no significant information about the {figures['noun']} "
        f"({record['conditional_relevance']:.3g} nats{_given(record, figures, 'it has ')}), but {why}"
    )


def _no_room(record: Any, _: Figures) -> str:
    room = "the tree is full; raise max_depth or max_children to include it"
    if record["lost_to"] is None:
        return room
    return (
        f"it shares {record['mutual_information']:.3g} nats with {record['lost_to']!r}, to which it "
        f"adds {record['conditional_relevance']:.3g} nats, and {room}"
    )


def _duplicate(record: Any, _: Figures) -> str:
    return f"in these samples its levels are those of {record['lost_to']!r}"


def _near_duplicate(record: Any, figures: Figures) -> str:
    return (
        f"it is nearly a copy of {record['lost_to']!r}: it shares {record['mutual_information']:.3g} "
        f"nats with it and adds no significant information about the {figures['noun']} to it"
    )


def _adds_nothing(record: Any, figures: Figures) -> str:
    return (
        f"it shares {record['mutual_information']:.3g} nats with {record['lost_to']!r} and adds no "
        f"significant information about the {figures['noun']} to it "
        f"({record['conditional_relevance']:.3g} nats)"
    )


def _separated(_: Any, figures: Figures) -> str:
    noun, others, p_value = figures["noun"], listed(figures["given"]), figures["p_value"]
    if p_value == 1.0:
        return (
            f"there are too few samples to test it given {others} (samples_per_df), so it counts as "
            f"independent of the {noun} given these"
        )
    alpha = figures["alpha"]
    shown, _ = apart(p_value, alpha, least=2)
    return (
        f"a test does not find that it depends on the {noun} given {others} "
        f"(p = {shown}, alpha = {alpha:g})"
    )


def _closer(_: Any, figures: Figures) -> str:
    others, noun = listed(figures["given"]), figures["noun"]
    return f"it is closer to {others} than to the {noun} (symmetrical uncertainty)"


def _outranked(_: Any, figures: Figures) -> str:
    count = figures["n_features_"]
    return f"{count} other column{'s were' if count > 1 else ' was'} preferred"


def _beyond_size(record: Any, figures: Figures) -> str:
    if "partner" in figures:  # pairs are selected as a whole, so that room may be left
        return f"{parameter('n_features_to_select')} leaves no room for it"
    count = figures["n_features_"]
    were = f"{count} other column{'s were' if count > 1 else ' was'} preferred"
    if figures["n_wanted"] is not None and count < figures["n_wanted"]:
        size = parameter("n_features_to_select", figures["n_wanted"])
        why = f"its group has more columns than {size} has room for"
    elif figures["n_wanted"] is not None:
        asked = f"asked for ({parameter('n_features_to_select')})"
        why = f"only {count} column{'s were' if count > 1 else ' was'} {asked}"
    elif figures["n_tried"] <= count < figures["max_features"]:
        more = "more columns" if figures["n_tried"] > figures["n_first"] else "column"
        why = f"{were}, and the folds of the cross-validation had no {more} to try (size_path_)"
    elif figures["n_found"] == figures["n_first"]:
        lowers = f"lowers the cross-validated log loss{_by_how_much(figures)}"
        larger, but = ("larger ", "") if count == figures["n_found"] else ("", _significant(count))
        why = f"{were}, and no {larger}number of columns {lowers} (size_path_){but}"
    elif figures["one_standard_error"]:
        why = f"{were}, the fewest within {figures['margin']} of the smallest log loss (size_path_)"
    elif count == figures["max_features"]:
        why = f"{were}, and more were not tried (max_features={count})"
    elif count >= figures["n_least"]:
        why = f"{were}, and more columns do not lower the cross-validated log loss (size_path_)"
    else:
        why = f"{were}, and more columns hardly lower the cross-validated log loss (size_path_)"
    if figures.get("order") == "residual" and record["lost_to"] is not None:
        noun = figures["noun"]
        why += f"; {record['lost_to']!r} contains nearly all of its information about the {noun}"
    return why


def _significant(count: int) -> str:
    return f"; the {'last' if count > 1 else 'one'} that is selected is significant"


def _no_gain(_: Any, figures: Figures) -> str:
    if figures.get("n_tried") == 0:
        return "no column could be tried in cross-validation (size_path_)"
    given = listed(figures.get("conditioning", []))
    alone = baseline(figures.get("n_first", 0), given, figures["noun"])
    much = _by_how_much(figures)
    return f"no number of columns has a smaller cross-validated log loss than {alone}{much} (size_path_)"


def _by_how_much(figures: Figures) -> str:
    """Say what counts as a smaller log loss, if some number of columns has one that does not count."""
    first = figures.get("n_first", 0)
    return " by more than one standard error" if figures.get("n_best", first) > first else ""


def _rarely(record: Any, figures: Figures) -> str:
    words = frequency(record["frequency"], figures["n_subsamples"])
    return f"it was {words}, fewer than the {figures['needed']} required"


def _no_information(record: Any, figures: Figures) -> str:
    nothing = f"its levels contain no information about the {figures['noun']}"
    if "n_subsamples" in figures and record["frequency"] > 0:
        often = frequency(record["frequency"], figures["n_subsamples"])
        return f"{nothing} on all samples together, although it was {often}"
    return nothing


def _no_threshold(record: Any, figures: Figures) -> str:
    words = frequency(record["frequency"], figures["n_subsamples"])
    fdr = figures["fdr_of_frequencies"]
    return (
        f"it was {words}, and no threshold controls the FDR at {fdr:g}: that requires at "
        f"least {required(fdr)} columns that are selected more often than noise"
    )


def required(fdr: float) -> int:
    """Return the minimum number of columns of a selection with a false discovery rate."""
    return math.ceil(round(1 / fdr, 9))


def _not_significant(record: Any, figures: Figures) -> str:
    given = listed(figures.get("conditioning", []))
    if given and record["p_value"] > SIGNIFICANT:
        return _explained(record, figures)
    if "fdr" in figures:
        return f"it is not significant at a false discovery rate of fdr={figures['fdr']:g}"
    return "it is not significant at the level 0.05, divided by the number of columns"


def _gaps_not_significant(_: Any, figures: Figures) -> str:
    return (
        f"only by whether its value is missing, which is not significant given "
        f"{listed(figures['conditioning'])}: {_NO_CUTS}"
    )


def _not_affordable(_: Any, figures: Figures) -> str:
    shown, level = apart(figures["p_value"], figures["level"], least=2)
    return f"adding it has p = {shown}, above the level {level}"


def _explained(record: Any, figures: Figures) -> str:
    given, p = listed(figures["conditioning"]), p_text(record["p_value"])
    return f"given {given} it is not significant ({p})"


_WHY: dict[Reason, Callable[[Any, Figures], str]] = {
    Reason.CANDIDATE: _outranked,
    Reason.CONSTANT: lambda *_: "it has a single value",
    Reason.ALL_MISSING: lambda *_: "all its values are missing",
    Reason.NO_CUT: lambda *_: "MDLP finds no cut that is worth its cost",
    Reason.NO_INFORMATION: _no_information,
    Reason.COSTS_MORE: lambda *_: "this is less than its parameters cost (MDL)",
    Reason.NOT_SIGNIFICANT: _not_significant,
    Reason.MERGED: lambda *_: "all its intervals can be merged into one without inconsistency",
    Reason.EQUATION_7: lambda _, figures: (
        f"equation 7 of the paper ({parameter('irrelevance', figures['irrelevance'])}) excludes it"
    ),
    Reason.LOW_UNCERTAINTY: lambda _, figures: (
        f"its symmetrical uncertainty with the {figures['noun']} is at most delta={figures['delta']:g}"
    ),
    Reason.INDEPENDENT: lambda _, figures: (
        f"a test finds it independent of the {figures['noun']} (p = {figures['p_value']:.2g})"
    ),
    Reason.TOO_FEW_SAMPLES: lambda _, figures: (
        f"there are too few samples to test it, so it counts as independent of the {figures['noun']}"
    ),
    Reason.NOT_AFFORDABLE: _not_affordable,
    Reason.ONE_GROUP: lambda *_: "no grouping of its categories is worth its cost",
    Reason.EQUAL_AS_FLOATS: lambda *_: (
        "its integers are above 2**53 and differ, but are all the same number when rounded to 64-bit "
        "floats"
    ),
    Reason.NO_GAIN: _no_gain,
    Reason.GAPS_NOT_SIGNIFICANT: _gaps_not_significant,
    Reason.CRITERION_NOT_MET: lambda *_: "no column met the selection criterion",
    Reason.DUPLICATE: _duplicate,
    Reason.NEAR_DUPLICATE: _near_duplicate,
    Reason.ADDS_NOTHING: _adds_nothing,
    Reason.NO_ROOM: _no_room,
    Reason.EXPLAINED: _explained,
    Reason.CLOSER_TO_ANOTHER: _closer,
    Reason.SEPARATED: _separated,
    Reason.OUTRANKED: _outranked,
    Reason.BEYOND_SIZE: _beyond_size,
    Reason.RARELY_SELECTED: _rarely,
    Reason.NO_THRESHOLD: _no_threshold,
}
