"""Records of a selection that has no columns, or fewer than asked for -> why, and what to try."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from slfs._core.interface import parameter, remedy
from slfs.screening.reasons import BY_LABEL, SIGNIFICANT, Reason, Role
from slfs.selectors._shared.row_groups import MIXED, instead_of_rows
from slfs.selectors._shared.sentences import Figures, required
from slfs.selectors._shared.wording import listed, percent

_MOST_INCLUDED = 10
"""Maximum number of columns to include that are suggested; a tree of default size has room for them."""

_LARGE_SHARE = 0.5
"""Share of the class entropy from which a column of condition_on is said to explain the class."""

_COUNTED = {
    Reason.CONSTANT: "constant",
    Reason.ALL_MISSING: "without values",
    Reason.NO_CUT: "without a cut point that is worth its cost (MDLP)",
    Reason.ONE_GROUP: "without a grouping of their categories that is worth its cost",
    Reason.EQUAL_AS_FLOATS: "of integers that are the same number when rounded to 64-bit floats",
    Reason.NO_GAIN: "that do not lower the cross-validated log loss",
    Reason.GAPS_NOT_SIGNIFICANT: "without a cut point, whose missing values are not significant",
    Reason.CRITERION_NOT_MET: "that do not meet the selection criterion",
    Reason.COSTS_MORE: "with less information than their parameters cost (MDL)",
    Reason.NO_INFORMATION: "without information about the target",
    Reason.NOT_SIGNIFICANT: "not significant",
    Reason.DUPLICATE: "with the same levels as another column",
    Reason.NEAR_DUPLICATE: "that are nearly copies of another column",
    Reason.ADDS_NOTHING: "that add nothing significant to another column",
    Reason.NO_ROOM: "without room in the tree",
    Reason.BEYOND_SIZE: "beyond the number of columns to select",
    Reason.EXPLAINED: "without significant information given the conditioning columns",
    Reason.SEPARATED: "that do not depend on the target given other columns, by a test",
    Reason.EXCLUDED: "excluded",
    Reason.CONDITIONING: "conditioned on",
    Reason.RARELY_SELECTED: "selected in too few subsamples",
    Reason.NO_THRESHOLD: "without a threshold that controls the FDR",
}
"""Descriptions of columns with the same reason; for others the name of the reason is used."""


def nothing_selected(records: Any, method: str, figures: Figures, n_wanted: int | None) -> str:
    """Say why no column was selected, and what to try.

    ``figures`` contains the parameters of the selector. ``n_wanted`` is the number of columns that were
    asked for; None if the method chooses it.
    """
    given = listed(figures["conditioning"])
    noun = f"{figures['noun']} given {given}" if given else figures["noun"]
    text = f"{method} selected 0 of {len(records)} columns: {_counted(records['reason'], figures)}."
    least = float(np.nanmin(np.append(records["q_value"], np.inf)))
    significant = records["q_value"] <= SIGNIFICANT
    n_significant = int(significant.sum())
    depend = "columns depend" if n_significant > 1 else "column depends"
    if n_significant and figures["grouped"]:
        others = "" if figures["grouping"] == MIXED else "Use more groups or other columns, or "
        how = instead_of_rows(figures["grouping"], figures["noun"])
        advice = f"{others}{how}" if others else how[0].upper() + how[1:]
        return (
            f"{text} {n_significant} {depend} significantly on the {noun} if the rows of a group were "
            f"independent samples, which the tests assume. {advice}"
        )
    n_empty = figures.get("n_empty", 0)
    by_test = figures.get("irrelevance") == "test" and n_empty > figures.get("n_subsamples", 0) / 2
    if n_significant and by_test:
        return (
            f"{text} {n_significant} {depend} significantly on the {noun}, but in {n_empty} of "
            f"{figures['n_subsamples']} subsamples no column does: they have fewer samples. Test all "
            f"samples, and use {parameter('irrelevance', 'mdl')} for the subsamples, or use more "
            "samples."
        )
    some_agree = "frequency" in records.dtype.names and (records["frequency"][significant] > 0).any()
    if some_agree and (records["reason"] == Reason.NO_THRESHOLD.label).any():
        fdr, rate = figures["fdr_of_frequencies"], remedy("fdr", "--fdr")
        return (
            f"{text} {n_significant} {depend} significantly on the {noun}, but an FDR of {fdr:g} "
            f"requires at least {required(fdr)} columns that are selected more often than noise. "
            f"Increase {rate}, or select by {parameter('threshold')}, without {rate}."
        )
    if some_agree:
        which = "them" if n_significant > 1 else "it"
        return (
            f"{text} {n_significant} {depend} significantly on the {noun}, but the subsamples do not "
            f"agree on {which}. Lower {parameter('threshold')}, increase the number of columns that the "
            "selector may select, or use more samples."
        )
    if n_significant:
        number = len(to_include(records, n_wanted))
        which = "them" if n_significant > 1 else "it"
        if number < n_significant:
            which = f"the {number} with the smallest p-values" if number > 1 else "the best"
        has_include = "include" in figures and "n_subsamples" not in figures
        how = remedy(  # the commands name the columns to include themselves
            f" To select {which} regardless, {'set' if has_include else 'use SLFS with'} "
            f"include=numpy.argsort(selector.pvalues_)[:{number}].",
            "",
        )
        return (
            f"{text} {n_significant} {depend} significantly on the {noun}, but too weakly for "
            f"{method}.{how}"
        )
    xor = "; columns that are informative only in combination, as in y = a xor b, are found by "
    xor += remedy("InteractionSelector", "--method interactions")
    xor = "" if method == "InteractionSelector" else xor
    smallest = f" (the smallest FDR is {percent(least)})" if least <= 1 else ""
    if given:
        return (
            f"{text} No column depends significantly on the {noun}{smallest}. "
            f"{_confounded(records, figures)}Check without {parameter('condition_on')} which columns "
            f"depend on the {figures['noun']} alone, or use more samples or other columns."
        )
    paired = ""
    if figures["grouped"] and figures["grouping"] == MIXED:
        several = "classes" if figures["noun"] == "class" else "targets"
        paired = (
            f"The rows of a group have different {several}: {instead_of_rows(MIXED, figures['noun'])} "
        )
    return (
        f"{text} No column depends significantly on the {noun}{smallest}. {paired}Check that y is the "
        f"intended target, or use more samples or other columns{xor}."
    )


def _confounded(records: Any, figures: Figures) -> str:
    """Say which columns of condition_on leave little of the target to explain; "" if none does."""
    shares = records["relevance"] / figures["class_entropy"]
    known = (records["role"] == Role.CONDITIONING) & (shares >= _LARGE_SHARE)
    noun = figures["noun"]
    return "".join(
        f"{name!r} tells {share:.0%} of the entropy of the {noun} by itself, so that what comes with "
        f"the {noun} cannot be distinguished from what comes with {name!r}. "
        for name, share in zip(records["name"][known], shares[known], strict=True)
    )


def fewer_selected(dropped: Any, figures: Figures, n_wanted: int | None) -> str:
    """Say why fewer columns are selected than were asked for; "" if there are enough, or none.

    ``dropped`` are the records of the other columns.
    """
    count = figures["n_features_"]
    if n_wanted is None or not 0 < count < n_wanted or len(dropped) == 0:
        return ""
    are = "column is" if count == 1 else "columns are"
    return (
        f"{count} {are} selected, although {n_wanted} were asked for. The others are "
        f"{_counted(dropped['reason'], figures)}."
    )


def to_include(records: Any, n_wanted: int | None) -> list[int]:
    """Return the significant columns, the smallest p-value first; at most as many as were asked for."""
    most = _MOST_INCLUDED if n_wanted is None else min(n_wanted, _MOST_INCLUDED)
    number = min(int((records["q_value"] <= SIGNIFICANT).sum()), most)
    order: list[int] = np.argsort(records["p_value"])[:number].tolist()
    return order


def _counted(reasons: Any, figures: Figures) -> str:
    """Count the columns with each reason."""
    words = dict(_COUNTED)
    if figures.get("n_tried") == 0:
        words[Reason.NO_GAIN] = "that could not be tried in cross-validation"
    described = [words.get(BY_LABEL[label], repr(label)) for label in reasons.tolist()]
    return ", ".join(f"{count} {text}" for text, count in Counter(described).most_common())
