"""AnnData -> the genes that predict an annotation of the cells, written to the same AnnData.

Estimators also take an AnnData as ``X``; `select` follows the habit of scanpy instead: it changes the
AnnData and returns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from slfs._core.suggest import similar_names
from slfs._core.warn import reworded
from slfs.selectors import selectors
from slfs.tables.anndata import annotation, annotation_name, table_of

__all__ = ["select"]


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
    if adata.is_view and adata.isbacked:
        raise ValueError(
            "adata is a view of a backed AnnData, to which nothing can be written. Pass it to an "
            "estimator, SLFS().fit(adata, adata.obs[target]), or pass adata.copy(filename) or "
            "adata.to_memory()."
        )
    labels = annotation(adata, target)
    weights = None if sample_weight is None else annotation(adata, sample_weight).to_numpy()
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
    selector = _selector(method, parameters, target_type)
    with reworded(lambda text: text.replace("target='", "target_type='")):
        selector.fit(table, labels, **({} if weights is None else {"sample_weight": weights}))
    n_genes = len(genes)
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
    about |= {} if layer is None else {"layer": layer}
    shown = {name: value for name, value in parameters.items() if isinstance(value, str | int | float)}
    adata.uns[key_added] = {"params": {**about, **shown}, "tree": _tree(selector.network_)}


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
