"""The command fit: select columns, fit a classifier or regressor and save it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import labels, make_selector, read_labelled
from slfs.cli.options import (
    Categorical,
    ClassWeight,
    ConditionOn,
    Data,
    Device,
    Drop,
    DropMissingTarget,
    Exclude,
    Format,
    Groups,
    Id,
    Include,
    Jobs,
    Json,
    Memory,
    Method,
    Missing,
    NoHeader,
    OneStandardError,
    Order,
    Setting,
    Sheet,
    Size,
    Target,
    TargetsFrom,
    TargetType,
    Transpose,
    Weights,
)
from slfs.cli.output import NOTHING_SELECTED, label_key, progress, show_json
from slfs.cli.selection import explain_nothing, size_text

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile


def fit(
    data: Data,
    model: Annotated[
        Path, typer.Option("--model", "-o", metavar="FILE", help="File to save the model to.")
    ],
    target: Target = None,
    target_type: TargetType = "auto",
    method: Method = "slfs",
    n_features_to_select: Size = None,
    order: Order = None,
    one_standard_error: OneStandardError = False,
    settings: Setting = None,
    structure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classifier: additive (default), or a network: linked (default with --bif), augmented, "
            "tree.",
        ),
    ] = None,
    categorical: Categorical = None,
    include: Include = None,
    exclude: Exclude = None,
    condition_on: ConditionOn = None,
    weights: Weights = None,
    groups: Groups = None,
    class_weight: ClassWeight = None,
    drop: Drop = None,
    ids: Id = None,
    targets_from: TargetsFrom = None,
    drop_missing_target: DropMissingTarget = False,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
    file_format: Format = None,
    bif: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the network in the interchange format BIF."),
    ] = None,
    as_json: Json = False,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
    device: Device = "cpu",
) -> None:
    """Select columns, then fit and save a model.

    The classifier (BNSLFS) predicts the class from the selected columns; --structure chooses its model.
    The regressor (BNSLFSRegressor) predicts a quantity, with intervals.

    Example:  slfs fit cancer.csv --target diagnosis --model cancer.slfs
    """
    from slfs._core.progress import progress_callback
    from slfs.files.writing import check_output
    from slfs.saving import save
    from slfs.saving.interchange import write_bif

    if bif is not None and structure == "additive":
        raise ValueError(
            "--bif writes a Bayesian network, which --structure additive is not. Use --structure linked."
        )
    check_output(model, inputs=[data])
    check_output(bif, model, inputs=[data])
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        weights=weights,
        groups=groups,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        drop_missing_target=drop_missing_target,
        target_type=target_type,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
        covariates=[*(condition_on or ()), *(include or ())],
    )
    selector = make_selector(
        method,
        file,
        target_type=target_type,
        settings=settings,
        size=n_features_to_select,
        order=order,
        one_standard_error=one_standard_error,
        categorical=categorical,
        include=include,
        exclude=exclude,
        condition_on=condition_on,
        class_weight=class_weight,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        device=device,
    )
    with progress("fitting") as tick, progress_callback(tick):
        fitted = _make_model(selector, labels(file), structure, bif)
        fitted.fit(file.X, labels(file), sample_weight=file.weights, groups=file.groups)
    selected = [file.names[column] for column in fitted.selector_.indices_]
    if selected:
        fitted._reading = _reading(
            file, missing or (), layer=sheet, positions=no_header and not transpose
        )
        save(fitted, model)
        if bif is not None:
            write_bif(fitted, bif)
    if as_json:
        show_json(
            {
                "selected": selected,
                "data": file.name,
                "target": file.target,
                "ids": file.ids,
                **_about_target(fitted),
                "n_columns": file.X.shape[1],
                "model": str(model) if selected else None,
                "bif": str(bif) if bif is not None and selected else None,
            }
        )
    else:
        typer.echo(f"{file.name}: {len(selected)} of {file.X.shape[1]} columns selected.")
        if sentence := size_text(fitted.selector_):
            typer.echo(f"{sentence}{_about_losses(fitted)}")
        for path in (model, bif):
            if path is not None and selected:
                typer.echo(f"Written: {path}")
    if not selected:
        explain_nothing(fitted.selector_, model)
        raise typer.Exit(NOTHING_SELECTED)


def _reading(
    file: DataFile, missing: Sequence[str], *, layer: str | None, positions: bool
) -> dict[str, Any]:
    """What a model remembers of its file, so that 'slfs predict' reads others in the same way."""
    from slfs.files.anndata import AnnDataColumns

    found: dict[str, Any] = {}
    if missing:
        found["missing"] = list(missing)
    if "decimal" in file.style:
        found["decimal"] = file.style["decimal"]
    if layer is not None and isinstance(file.X, AnnDataColumns):
        found["layer"] = layer
    if positions:  # names of columns are their numbers
        names = file.all_names
        found["like"] = len(names), names.index(file.target) if file.target in names else None
    return found


def _make_model(selector: Any, y: Any, structure: str | None, bif: Path | None) -> Any:
    """Make the classifier, or the regressor if the target is a quantity."""
    from slfs import BNSLFS, BNSLFSRegressor
    from slfs._core.warn import quiet
    from slfs.tables.target import REGRESSION, read_target

    with quiet():  # fit warns about the target
        regression = read_target(y, selector.target).kind == REGRESSION
    if not regression:
        return BNSLFS(selector, structure=structure or ("additive" if bif is None else "linked"))
    for option, value in (("--structure", structure), ("--bif", bif)):
        if value is not None:
            raise ValueError(
                f"{option} is for classifiers, but the target is a quantity. Leave it out, or use "
                "--target-type classification."
            )
    return BNSLFSRegressor(selector)


def _about_losses(fitted: Any) -> str:
    """Say what the cross-validated models have that the written one has not."""
    from slfs.selectors._shared.wording import listed

    selector, structure = fitted.selector_, getattr(fitted, "structure", "additive")
    about = ""
    if selector.conditioning_:
        about = f" These models contain {listed(selector.conditioning_)}, too; the written one does not."
    if structure != "additive":
        about += f" These are losses of additive models. Those of {structure!r} models are different."
    return about


def _about_target(fitted: Any) -> dict[str, Any]:
    """What the JSON object says about the target."""
    if hasattr(fitted, "classes_"):
        return {"target_type": "classification", "classes": list(map(label_key, fitted.classes_))}
    return {"target_type": "regression", "mean": fitted.baseline_}
