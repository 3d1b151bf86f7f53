"""The log losses of numbers of columns -> sentences about the number that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slfs.selectors._shared.wording import apart

if TYPE_CHECKING:
    from slfs.selectors._shared.size_path import SizePath


def baseline(n_included: int, given: str, noun: str) -> str:
    """Return what is in the model before the first column is selected."""
    if n_included == 0:
        return f"{given} alone" if given else f"predicting the {_frequencies(noun)}"
    alone = f"the {n_included} included" if n_included > 1 else "the included one"
    return f"{alone} with {given}" if given else alone


def _frequencies(noun: str) -> str:
    return "class frequencies" if noun == "class" else "frequencies of the bins of the target"


def size_sentence(
    path: SizePath, size: int, n_selected: int, *, full: bool, given: str = "", noun: str = "class"
) -> str:
    """Say which number of columns was found by cross-validation.

    ``size`` is the number that was found, ``n_selected`` the number of columns that are selected.
    ``full`` says that the tree has no room for more. ``given`` lists the columns that are conditioned
    on. ``noun`` is what is predicted: "class" or "target".
    """
    most, best, fewest = int(path.n_features[-1]), path.best, path.within_one_standard_error
    shown = [path.at(size), path.at(best), int(path.log_loss.argmin()), 0]
    own, smallest, lowest, without = apart(*path.log_loss[shown])
    if path.log_loss[0] == 0:  # a log loss that was computed is larger
        return "No class has two samples: numbers of columns cannot be compared by cross-validation."
    first = int(path.n_features[0])
    alone = baseline(first, given, noun)
    base = f"with {baseline(first, '', noun)} only" if first else "without columns"
    if given:
        base = f"with {given} alone" if first == 0 else f"{base} and {given}"
    if most == first:
        return _nothing_tried(f"the log loss {base} is {without} nats", n_selected > first)
    if best == first:
        tried = f"No number of columns from {first + 1} to {most} has"
        if most == first + 1:
            tried = f"{most} column{' does' if most == 1 else 's do'} not have"
        text = f"{tried} a smaller cross-validated log loss than {alone} ({without} nats)."
        return f"{text} A column is selected because it is significant." if n_selected > first else text
    least = int(path.n_features[path.log_loss.argmin()])
    spread = path.standard_error[path.at(best if size == best else least)]
    error = f" (standard error {spread:.2g})" if spread > 0 else ""  # unknown for a single split
    if size == best:
        if size == least:
            has = "column has" if size == 1 else "columns have"
            text = (
                f"{size} {has} the smallest cross-validated log loss of {first} to {most} columns: "
                f"{smallest} nats{error}, compared with {without} {base}."
            )
        else:
            text = (
                f"{size} {'column is' if size == 1 else 'columns are'} the fewest whose cross-validated "
                f"log loss, {smallest} nats{error}, is nearly the smallest of {first} to {most} "
                f"columns: {lowest} nats with {least} columns, compared with {without} {base}."
            )
        if fewest < best:
            are = "column is" if fewest == 1 else "columns are"
            text += f" {fewest} {are} the fewest within {path.margin} of the smallest."
    else:
        are = "column is" if size == 1 else "columns are"
        text = (
            f"{size} {are} the fewest whose cross-validated log loss, {own} nats, is within "
            f"{path.margin} of the smallest of {first} to {most} columns: {lowest} nats with "
            f"{_columns(least)}{error}, compared with {without} {base}."
        )
    if size == first < n_selected:
        text += " A column is selected because it is significant."
    if n_selected < size:
        why = "the tree is full (max_depth, max_children)" if full else "no other column can be added"
        text += f" Only {n_selected} could be selected: {why}."
    return text


def _columns(number: int) -> str:
    return f"{number} column{'' if number == 1 else 's'}"


def _nothing_tried(log_loss: str, selected: bool) -> str:
    """Say that cross-validation could not compare numbers of columns, and why one is selected if so."""
    if not selected:
        return f"There is no column to try: {log_loss}."
    return (
        "In the folds of the cross-validation no column passes the criterion for a candidate, so that "
        f"numbers of columns could not be compared ({log_loss}). A column is selected because it is "
        "significant."
    )
