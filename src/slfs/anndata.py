"""AnnData -> the genes that predict an annotation of the cells, written to the same AnnData.

Estimators also take an AnnData as ``X``; `select` and `rank_markers` follow the habit of scanpy instead:
they change the AnnData and return nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from slfs._core.interface import renamed
from slfs._core.suggest import similar_names
from slfs._core.warn import quiet
from slfs.selectors import selectors
from slfs.tables.anndata import annotation, annotation_name, table_of

__all__ = ["rank_markers", "select"]

_FIELDS = ("names", "scores", "pvals", "pvals_adj", "logfoldchanges")
"""The arrays that scanpy expects."""

_LARGEST_LOG = 50
"""Larger values are not logarithms."""

_SMALL = 1e-9
"""Added to mean counts before their ratio is computed, as scanpy does."""


def select(
    adata: Any,
    target: str,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    method: Any = "slfs",
    condition_on: str | Sequence[str] = (),
    sample_weight: str | None = None,
    target_type: str = "auto",
    key_added: str = "slfs",
    **parameters: Any,
) -> None:
    """Select the genes that predict an annotation of the cells, such as the cell type.

    A matrix on disk (``backed="r"``) is read in blocks, and sparse matrices stay sparse. A dense or CSR
    matrix on disk is copied to the folder for temporary files first; a CSC matrix is not.

    Parameters
    ----------
    adata : AnnData of shape (n_obs, n_vars)
        In memory or backed.
    target : str
        The column of ``adata.obs`` to predict: classes or numbers.
    layer : str or None, default=None
        The layer to select from; by default ``adata.X``.
    use_raw : bool, default=False
        Whether to select from ``adata.raw``. The results are then written to ``adata.raw.var``.
    method : str or selector, default="slfs"
        Name of the method, as ``slfs methods`` lists them, or a selector such as
        ``StabilitySelection()``.
    condition_on : str or sequence of str, default=()
        Columns of ``adata.obs``, such as the batch or the donor, or genes: their influence is taken into
        account, but they are not selected.
    sample_weight : str or None, default=None
        The column of ``adata.obs`` with the weights of the cells.
    target_type : {"auto", "classification", "regression"}, default="auto"
        What the target is.
    key_added : str, default="slfs"
        Name under which the results are stored.
    **parameters
        Parameters of the selector, such as ``n_features_to_select``, ``class_weight``, ``memory_limit``
        or ``n_jobs``.

    Returns
    -------
    None
        Sets the following fields:

        ``adata.var[key_added]``
            Whether a gene is selected.
        ``adata.var[key_added + "_rank"]``
            Position in the order of selection, from 1; NaN for other genes.
        ``adata.var[key_added + "_score"]``
            Relevance: the mutual information of the gene and the target, in nats.
        ``adata.var[key_added + "_pvalue"]``, ``adata.var[key_added + "_qvalue"]``
            Significance of the relation to the target, given the columns of ``condition_on``.
        ``adata.uns[key_added]``
            A dictionary: ``"tree"`` is a dataframe with the parent of each selected gene, which is
            another gene or the target; ``"params"`` contains the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata, slfs.anndata  # doctest: +SKIP
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(1, (200, 50)).astype(float)
    >>> counts[100:, 7] += 4
    >>> adata = anndata.AnnData(counts)  # doctest: +SKIP
    >>> adata.obs["cell_type"] = ["B"] * 100 + ["T"] * 100  # doctest: +SKIP
    >>> slfs.anndata.select(adata, target="cell_type")  # doctest: +SKIP
    >>> adata.var_names[adata.var["slfs"]].tolist()  # doctest: +SKIP
    ['7']
    """
    labels, table, given, n_genes = _read(adata, target, layer, use_raw, condition_on, parameters)
    weights = None if sample_weight is None else annotation(adata, sample_weight).to_numpy()
    selector = _selector(method, parameters, target_type)
    with renamed(target="target_type"):
        selector.fit(table, labels, **({} if weights is None else {"sample_weight": weights}))
    rank = np.full(len(table.names), np.nan)
    rank[selector.indices_] = np.arange(1, len(selector.indices_) + 1)
    results = {
        "": selector.support_,
        "_rank": rank,
        "_score": selector.scores_,
        "_pvalue": selector.pvalues_,
        "_qvalue": selector.qvalues_,
    }
    for suffix, values in results.items():
        (adata.raw if use_raw else adata).var[key_added + suffix] = values[:n_genes]
    about = {"target": target, "method": str(method), "use_raw": use_raw, "condition_on": given}
    adata.uns[key_added] = {
        "params": {**about, **_described(layer, parameters)},
        "tree": _tree(selector.network_),
    }


def rank_markers(
    adata: Any,
    target: str,
    *,
    n_genes: int = 10,
    groups: str | Sequence[str] | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    method: Any = "mrmr",
    condition_on: str | Sequence[str] = (),
    sample_weight: str | None = None,
    key_added: str = "slfs_markers",
    **parameters: Any,
) -> None:
    """Rank the genes that distinguish each type of cells from all others.

    Each type has a list of its own, as in `scanpy.tl.rank_genes_groups`, but the genes of a list
    complement each other: a gene that tells the same as one before it comes late. A list can contain
    genes whose expression is lower in the type; see the log fold changes. For a short list that tells
    all types apart, use `select`.

    The matrix is read once per type.

    Parameters
    ----------
    adata : AnnData of shape (n_obs, n_vars)
        In memory or backed.
    target : str
        The column of ``adata.obs`` with the types.
    n_genes : int, default=10
        Number of genes per type.
    groups : str, sequence of str or None, default=None
        The types to rank genes for; by default all of them.
    layer : str or None, default=None
        The layer to select from; by default ``adata.X``.
    use_raw : bool, default=False
        Whether to select from ``adata.raw``.
    method : str or selector, default="mrmr"
        Name of the method, as ``slfs methods`` lists them, or a selector with the parameter
        ``n_features_to_select``.
    condition_on : str or sequence of str, default=()
        Columns of ``adata.obs``, or genes, whose influence is taken into account.
    sample_weight : str or None, default=None
        The column of ``adata.obs`` with the weights of the cells.
    key_added : str, default="slfs_markers"
        Name under which the results are stored.
    **parameters
        Further parameters of the selector, such as ``memory_limit`` or ``n_jobs``.

    Returns
    -------
    None
        Sets ``adata.uns[key_added]``, a dictionary like that of `scanpy.tl.rank_genes_groups`, so that
        functions such as `scanpy.get.rank_genes_groups_df` and
        `scanpy.pl.rank_genes_groups_dotplot` can use it with ``key=key_added``. ``"names"``,
        ``"scores"``, ``"pvals"``, ``"pvals_adj"`` and ``"logfoldchanges"`` are structured arrays with
        one field per type and one row per gene, in order of selection. The scores are mutual
        information with the type, in nats. Fold changes are those of means of log1p counts, as in
        scanpy, or of counts if all values are whole numbers; NaN if some values are negative, as
        those of a scaled matrix are. ``"params"`` contains the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata, slfs.anndata  # doctest: +SKIP
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(1, (200, 50)).astype(float)
    >>> counts[:100, 3] += 4
    >>> counts[150:, 7] += 4
    >>> adata = anndata.AnnData(np.log1p(counts))  # doctest: +SKIP
    >>> adata.obs["cell_type"] = ["B"] * 100 + ["T"] * 50 + ["NK"] * 50  # doctest: +SKIP
    >>> slfs.anndata.rank_markers(adata, "cell_type", n_genes=1)  # doctest: +SKIP
    >>> adata.uns["slfs_markers"]["names"]["NK"].tolist()  # doctest: +SKIP
    ['7']
    """
    labels, table, given, n_all = _read(adata, target, layer, use_raw, condition_on, parameters)
    n_free = n_all - sum(name in table.names[:n_all] for name in given if name not in adata.obs)
    if not 1 <= n_genes <= n_free:
        raise ValueError(f"n_genes={n_genes} must be from 1 to the number of genes, {n_free}.")
    weights = None if sample_weight is None else annotation(adata, sample_weight).to_numpy()
    chosen = _groups(labels, target, groups)
    results: dict[str, dict[str, Any]] = {name: {} for name in _FIELDS}
    for group in chosen:
        own = (labels == group).to_numpy()
        selector = _selector(method, {**parameters, "n_features_to_select": n_genes}, "auto")
        with quiet():  # about leaks and tentative columns: a marker is meant to tell the type
            selector.fit(table, own, **({} if weights is None else {"sample_weight": weights}))
        order = np.argsort(np.nan_to_num(selector.pvalues_, nan=1.0), kind="stable")
        free = ~selector.support_ & ~np.isin(table.names, selector.conditioning_)
        free[n_all:] = False
        columns = np.append(selector.indices_, order[free[order]])[:n_genes]  # if it selects too few
        change = _fold_changes(table.number_block(columns, None).dense(), own)
        found = (
            np.array(table.names, object)[columns],
            selector.scores_[columns].astype(np.float32),
            selector.pvalues_[columns],
            selector.qvalues_[columns],
            change.astype(np.float32),
        )
        for name, part in zip(_FIELDS, found, strict=True):
            results[name][str(group)] = part
    about = {
        "groupby": target,
        "reference": "rest",
        "method": f"slfs {method}",
        "use_raw": use_raw,
        "corr_method": "benjamini-hochberg",
        "condition_on": given,
    }
    arrays = {name: _structured(columns) for name, columns in results.items()}
    adata.uns[key_added] = {"params": {**about, **_described(layer, parameters)}, **arrays}


def _read(
    adata: Any,
    target: str,
    layer: str | None,
    use_raw: bool,
    condition_on: str | Sequence[str],
    parameters: dict[str, Any],
) -> tuple[Any, Any, list[str], int]:
    """Return the labels, the table, the names of ``condition_on`` and the number of genes.

    The parameter ``condition_on`` of the selector is set.
    """
    if adata.is_view and adata.isbacked:
        raise ValueError(
            "adata is a view of a backed AnnData, to which nothing can be written. Pass it to an "
            "estimator, SLFS().fit(adata, adata.obs[target]), or pass adata.copy(filename) or "
            "adata.to_memory()."
        )
    labels = annotation(adata, target)
    given = [condition_on] if isinstance(condition_on, str) else list(condition_on)
    genes = set(map(str, (adata.raw if use_raw and adata.raw is not None else adata).var_names))
    covariates = [name for name in given if name not in genes or name in adata.obs]
    for name in covariates:
        annotation(adata, name)
    if target in given:
        raise ValueError(f"condition_on contains the target {target!r}. Remove it.")
    if given:
        parameters["condition_on"] = [
            annotation_name(name, genes) if name in covariates else name for name in given
        ]
    table = table_of(adata, layer=layer, use_raw=use_raw, obs=covariates)
    return labels, table, given, len(genes)


def _fold_changes(values: Any, own: Any) -> Any:
    """Return the log2 fold change of the mean of each row in some cells against all others."""
    inside, outside = values[:, own].mean(axis=1), values[:, ~own].mean(axis=1)
    if np.nanmin(values) < 0:
        return np.full(len(values), np.nan)
    if (values != np.floor(values)).any() and np.nanmax(values) < _LARGEST_LOG:
        inside, outside = np.expm1(inside), np.expm1(outside)
    return np.log2((inside + _SMALL) / (outside + _SMALL))


def _groups(labels: Any, target: str, groups: str | Sequence[str] | None) -> list[Any]:
    """Return the types to rank genes for, in the order of the categories or of the alphabet."""
    if labels.isna().any():
        raise ValueError(
            f"obs[{target!r}] has {int(labels.isna().sum())} missing values. Leave these cells out, for "
            f"example with adata[adata.obs[{target!r}].notna()].copy()."
        )
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise ValueError(
            f"obs[{target!r}] holds numbers with fractional parts, but markers are ranked for types of "
            "cells. Use slfs.anndata.select for a continuous quantity, or cut it into types with "
            "pandas.cut."
        )
    categories = labels.astype("category").cat.remove_unused_categories().cat.categories
    present: list[Any] = categories.tolist()
    if len(present) < 2:
        raise ValueError(f"obs[{target!r}] has a single type, which cannot be compared with others.")
    if groups is None:
        return present
    named = {str(group): group for group in present}
    wanted = [groups] if isinstance(groups, str) else [str(group) for group in groups]
    unknown = [group for group in wanted if group not in named]
    if unknown or not wanted:
        near = similar_names("".join(unknown[:1]), list(named)) or list(named)
        shown = f"no type {unknown[0]!r}" if unknown else "types, but groups is empty"
        raise ValueError(f"obs[{target!r}] has {shown}. Did you mean {' or '.join(map(repr, near))}?")
    return [named[group] for group in wanted]


def _structured(columns: dict[str, Any]) -> Any:
    """Join arrays of the same length to a structured array with one field per type."""
    return np.rec.fromarrays(
        list(columns.values()), dtype=[(group, part.dtype) for group, part in columns.items()]
    )


def _described(layer: str | None, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that can be written to a file."""
    shown = {name: value for name, value in parameters.items() if isinstance(value, str | int | float)}
    return shown if layer is None else {"layer": layer, **shown}


def _selector(method: Any, parameters: dict[str, Any], target_type: str) -> Any:
    """Make the selector that the arguments describe."""
    if target_type != "auto":
        parameters = {**parameters, "target": target_type}
    if not isinstance(method, str):
        return clone(method).set_params(**parameters)
    known = selectors()
    if method not in known:
        near = similar_names(method, list(known)) or list(known)
        raise ValueError(f"Unknown method {method!r}. Did you mean {' or '.join(map(repr, near))}?")
    return known[method](**parameters)


def _tree(network: Any) -> Any:
    """Return the tree as a dataframe with one row per selected gene."""
    import pandas as pd

    parents = [parent for parent, _ in network.edges]
    return pd.DataFrame(
        {
            "parent": np.array(parents, object),
            "level": network.levels,
            "relevance": network.relevance,
            "mutual_information": network.mutual_information,
            "conditional_relevance": network.conditional_relevance,
        },
        index=pd.Index(network.names, name="gene", dtype=object),
    )
