"""Marker genes of cell types: slfs beside the rankings of scanpy, at the same number of genes.

``python -m benchmarks.markers`` prints one line per dataset, number of genes and method: the accuracy of
two classifiers on held-out cells, in percent. Genes are selected on the training cells only. Below it
is how much more accurate slfs is than each ranking, with the standard error over folds. The number of
genes is that of all types together, then that of each type. Needs scanpy.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SIZES, PER_TYPE = (10, 20, 50), (1, 2, 3, 5, 10)
CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "5-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}


def blood_cells():
    """Return 700 blood cells of ten types (scanpy's pbmc68k_reduced), normalized and log-transformed."""
    import scanpy

    whole = scanpy.datasets.pbmc68k_reduced()
    return whole.raw.to_adata(), "bulk_labels"


def simulated_cells(n_cells=1500, n_genes=2000, seed=0):
    """Return cells of eight types in a hierarchy: normalized negative binomial counts.

    Each branch of the hierarchy changes some genes, so that sister types share most of their markers;
    half of the genes that a branch changes are weak. The depths of the cells vary.
    """
    import anndata

    random = np.random.default_rng(seed)
    kind = random.choice(8, n_cells, p=np.array([8, 6, 5, 4, 3, 2, 1, 1]) / 30)
    log_mean = np.tile(random.normal(-2, 1.5, n_genes), (8, 1))
    _change(log_mean, np.arange(8) // 4, 60, random)
    _change(log_mean, np.arange(8) // 2, 30, random)
    _change(log_mean, np.arange(8), 15, random)
    depth = random.lognormal(0, 0.4, (n_cells, 1))
    mean = depth * np.exp(log_mean[kind])
    counts = random.poisson(random.gamma(2, mean / 2)).astype(np.float32)  # dispersion 1 / 2
    size = counts.sum(axis=1, keepdims=True)
    values = np.log1p(counts / size * np.median(size))
    obs = pd.DataFrame({"cell_type": pd.Categorical.from_codes(kind, list("ABCDEFGH"))})
    obs.index = obs.index.map(str)
    var = pd.DataFrame(index=[f"gene{j}" for j in range(n_genes)])
    return anndata.AnnData(sparse.csr_matrix(values), obs=obs, var=var), "cell_type"


def _change(log_mean, branches, number, random):
    """Change the expression of some genes in each branch of the hierarchy."""
    for branch in np.unique(branches):
        genes = random.choice(log_mean.shape[1], number, replace=False)
        strength = random.choice([0.5, 1.5], number) * random.choice([-1, 1], number, p=[0.3, 0.7])
        log_mean[np.ix_(branches == branch, genes)] += strength


def scanpy_genes(method):
    """Make a function that takes the best genes of each type in turn, until there are enough."""

    def choose(adata, target, size):
        import scanpy

        scanpy.tl.rank_genes_groups(adata, target, method=method, use_raw=False)
        names = pd.DataFrame(adata.uns["rank_genes_groups"]["names"])
        return list(dict.fromkeys(names.to_numpy().reshape(-1)))[:size]

    return choose


def slfs_genes(**parameters):
    """Make a function that selects genes with slfs."""

    def choose(adata, target, size):
        import slfs.anndata

        slfs.anndata.select(adata, target, n_features_to_select=size, **parameters)
        return adata.var_names[adata.var["slfs"]].tolist()

    return choose


def scanpy_markers(method):
    """Make a function that takes the best genes of each type."""

    def choose(adata, target, size):
        import scanpy

        scanpy.tl.rank_genes_groups(adata, target, method=method, use_raw=False)
        return _best_of_each(adata.uns["rank_genes_groups"]["names"], size)

    return choose


def slfs_markers(adata, target, size):
    """Take the best genes of each type, by slfs."""
    import slfs.anndata

    slfs.anndata.rank_markers(adata, target, n_genes=size)
    return _best_of_each(adata.uns["slfs_markers"]["names"], size)


def _best_of_each(names, size):
    return sorted(set(pd.DataFrame(names)[:size].to_numpy().reshape(-1)))


METHODS = {
    "slfs": slfs_genes(),
    "scanpy, Wilcoxon": scanpy_genes("wilcoxon"),
    "scanpy, t-test": scanpy_genes("t-test"),
}
MARKERS = {
    "slfs": slfs_markers,
    "scanpy, Wilcoxon": scanpy_markers("wilcoxon"),
    "scanpy, t-test": scanpy_markers("t-test"),
}


def score(adata, target, sizes=SIZES, repeats=2, methods=METHODS):
    """Yield one row per size, method and fold."""
    labels = adata.obs[target].astype(str).to_numpy()
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    for fold, (train, test) in enumerate(folds.split(labels, labels)):
        for size in sizes:
            for method, choose in methods.items():
                known, new = adata[train].copy(), adata[test]
                genes = choose(known, target, size)
                tables = [_dense(part[:, genes].X) for part in (known, new)]
                row = {"size": size, "method": method, "fold": fold, "genes": len(genes)}
                for name, classifier in CLASSIFIERS.items():
                    predicted = classifier.fit(tables[0], labels[train]).predict(tables[1])
                    row[name] = 100 * accuracy_score(labels[test], predicted)
                    row[f"{name}, balanced"] = 100 * balanced_accuracy_score(labels[test], predicted)
                yield row


def _dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    for name, make in (("blood cells", blood_cells), ("simulated cells", simulated_cells)):
        adata, target = make()
        for what, sizes, methods in (("in all", SIZES, METHODS), ("per type", PER_TYPE, MARKERS)):
            rows = pd.DataFrame(score(adata, target, sizes, repeats, methods))
            means = rows.drop(columns="fold").groupby(["size", "method"], sort=False).mean().round(1)
            title = f"{name}: {adata.n_obs} cells, {adata.n_vars} genes; number of genes {what}"
            print(f"{title}\n{means.to_string()}\n", flush=True)
            mean = rows.assign(accuracy=rows[list(CLASSIFIERS)].mean(axis=1))
            table = mean.pivot(index=["size", "fold"], columns="method", values="accuracy")
            more = -table.drop(columns="slfs").sub(table["slfs"], axis=0)
            print(more.groupby("size").agg(["mean", "sem"]).round(1).to_string(), "\n", flush=True)


if __name__ == "__main__":
    main()
