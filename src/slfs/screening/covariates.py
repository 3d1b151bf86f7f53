"""The conditioning columns of a table -> the model of the target given them, for tests."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.resources import Resources
from slfs.coding.codebook import MAX_LEVELS
from slfs.counting.backend import make_backend
from slfs.counting.planes import SampleLayout
from slfs.measures.adjusted import fit_covariates
from slfs.measures.adjusted_numbers import AnyCovariates, centred_ranks, fit_number_covariates
from slfs.screening.blind import pack_table_blind
from slfs.screening.blocks import by_column, each_block
from slfs.screening.forced import Forced, n_intervals
from slfs.screening.plan import Block, make_plan
from slfs.screening.reasons import Reason
from slfs.tables.choice import number_categories
from slfs.tables.table import Table

Mask = NDArray[np.bool_]


def learn_covariates(
    table: Table, layout: SampleLayout, categorical: Mask, resources: Resources, forced: Forced
) -> tuple[list[NDArray[np.int64]], AnyCovariates]:
    """Return the levels of the conditioning columns, and the model of the target given them."""
    codes = _covariate_codes(table, layout, categorical, resources, forced)
    ranks = _covariate_ranks(table, layout, categorical, resources, forced)
    return codes, _fit_covariates(codes, ranks, layout)


def _covariate_codes(
    table: Table, layout: SampleLayout, categorical: Mask, resources: Resources, forced: Forced
) -> list[NDArray[np.int64]]:
    """Return the levels of the conditioning columns in each row of the table, of those with samples.

    Numbers are cut into intervals. Categories are not pooled: samples of different categories must not
    be in the same stratum.
    """
    layout = layout.tested or layout
    keep = forced.reason == Reason.CONDITIONING
    packed = pack_table_blind(
        table,
        categorical,
        keep,
        MAX_LEVELS,
        resources,
        counts=layout.counts,
        intervals=n_intervals(layout.n_samples),
    )
    backend = make_backend(packed, resources.threads)
    codes = np.zeros((len(packed), table.n_samples), np.int64)
    for f in range(len(packed)):
        codes[f, np.sort(layout.order)] = backend.codes(PackedIndex(f))
    found = dict(zip(packed.columns.tolist(), codes, strict=True))
    work = functools.partial(_category_codes, keep=keep)
    found |= by_column(table, layout, categorical, work, resources)
    return [own for own in found.values() if np.ptp(own[layout.order]) > 0]


def _category_codes(table: Table, block: Block, *, keep: Mask) -> dict[int, NDArray[np.int64]]:
    """Number the categories of some columns in a block, however many there are."""
    found = {}
    for column in block.columns[keep[block.columns]].tolist() if block.kind != "mdlp" else ():
        labels = table.label_block(column, None)
        found[column] = number_categories(labels.values, labels.missing)
    return found


def _covariate_ranks(
    table: Table, layout: SampleLayout, categorical: Mask, resources: Resources, forced: Forced
) -> NDArray[np.float64]:
    """Return the ranks of conditioning columns of numbers, in the order of the samples.

    Only tests of a continuous target use them.
    """
    layout = layout.tested or layout
    if layout.target_ranks is None:
        return np.empty((0, layout.n_samples))
    keep = forced.reason == Reason.CONDITIONING
    work = functools.partial(_rank_block, order=layout.order, keep=keep)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    return np.concatenate(list(each_block(table, work, plan, resources)))


def _rank_block(
    table: Table, block: Block, *, order: NDArray[np.int64], keep: Mask
) -> NDArray[np.float64]:
    """Return the ranks of some columns of numbers in a block."""
    columns = block.columns[keep[block.columns]]
    if block.kind != "mdlp" or len(columns) == 0:
        return np.empty((0, len(order)))
    return centred_ranks(table.number_block(columns, order).dense())


def _fit_covariates(
    codes: list[NDArray[np.int64]], ranks: NDArray[np.float64], layout: SampleLayout
) -> AnyCovariates:
    """Fit the model of the target given the conditioning columns, for tests.

    ``codes`` are their levels in each row of the table, ``ranks`` those of `_covariate_ranks`.
    """
    layout = layout.tested or layout
    ordered = [own[layout.order] for own in codes]
    if layout.target_ranks is not None:
        target = layout.target_ranks[layout.order]
        return fit_number_covariates(ordered, ranks, target, layout.labels)
    return fit_covariates(ordered, layout.labels)
