"""
Gene expression: many more columns than samples
===============================================

This tutorial is for readers whose table has many more columns than samples. At the end you will
have selected genes at a controlled false discovery rate, read the tree, and measured how stable the
selection is.

Gene expression tables have few patients and thousands of genes, which causes two problems. Some
genes differ between the classes by chance. And genes belong to *modules* of dozens of correlated
genes, so that many selections are equally good.

The data are synthetic, so that the informative genes are known. Their shape is that of the
well-known colon and leukemia datasets: 72 patients, 5000 genes.
"""

# %%
# Synthetic data
# --------------
# There are forty modules of 25 genes each. Three of the modules differ between the two types of
# tumor. The other 4000 genes are noise.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from slfs import BNSLFS, SLFS
from slfs.plotting import NetworkDisplay

N_PATIENTS, N_GENES, N_MODULES, MODULE_SIZE = 72, 5000, 40, 25
INFORMATIVE = (0, 1, 2)

random = np.random.default_rng(7)
tumor = pd.Series(np.repeat(["ALL", "AML"], [47, 25]), name="tumor")
activity = random.normal(size=(N_PATIENTS, N_MODULES))
activity[:, INFORMATIVE] += 2.2 * (tumor == "AML").to_numpy()[:, np.newaxis]
genes = random.normal(size=(N_PATIENTS, N_GENES))
module_of = np.full(N_GENES, -1)
for module in range(N_MODULES):
    members = slice(module * MODULE_SIZE, (module + 1) * MODULE_SIZE)
    module_of[members] = module
    genes[:, members] = 0.9 * activity[:, [module]] + 0.45 * genes[:, members]

names = [f"g{j} (module {m})" if m >= 0 else f"g{j} (noise)" for j, m in enumerate(module_of)]
table = pd.DataFrame(genes, columns=names)


def kinds(columns):
    """Count the columns in an informative module, in another module, and in none."""
    modules = module_of[columns]
    informative = np.isin(modules, INFORMATIVE)
    return {
        "informative module": sum(informative),
        "other module": sum(~informative & (modules >= 0)),
        "noise": sum(modules < 0),
    }


# %%
# Control the false discovery rate
# --------------------------------
# The default, ``irrelevance="mdl"``, decides about each gene separately. Of 5000 genes some pass by
# chance. ``irrelevance="test"`` takes the number of genes into account: it controls the false
# discovery rate at ``fdr``, which is 5% by default. How many genes are selected is decided by the
# cross-validated log loss: genes of the same module, which are measured with noise, predict better
# together, so that most of them are selected.

selectors = {kind: SLFS(irrelevance=kind).fit(table, tumor) for kind in ("mdl", "test")}
pd.DataFrame({kind: kinds(found.get_support(indices=True)) for kind, found in selectors.items()})

# %%
# Read the tree
# -------------
# ``order="conditional"`` drops genes that add no significant information to a gene of the tree, so that
# the tree is small. For a readable plot, it is also limited to six children per node. All genes of a
# branch belong to the same module, and the child of the class is their representative; a module may
# have several branches. SLFS has no information about the modules except the data.

selector = SLFS(irrelevance="test", order="conditional", max_children=6).fit(table, tumor)
NetworkDisplay.from_estimator(selector)

# %%
# A gene that was dropped as redundant may still be informative. ``explain`` names the selected gene
# that represents it.

dropped = next(j for j in range(N_GENES) if selector.features_["role"][j] == "redundant")
print(selector.explain(dropped))

# %%
# Measure the stability
# ---------------------
# We leave out a fifth of the patients at random, thirty times, and select ten genes each time.

n_subsamples = 30
hits = np.zeros((n_subsamples, N_GENES), dtype=bool)
for subsample in range(n_subsamples):
    some = random.permutation(N_PATIENTS)[:58]
    short = SLFS(irrelevance="test", n_features_to_select=10).fit(genes[some], tumor[some])
    hits[subsample] = short.get_support()

by_gene = hits.mean(axis=0)
by_module = np.array([hits[:, module_of == module].any(axis=1).mean() for module in range(N_MODULES)])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
most = np.argsort(-by_gene)[:15]
colours = np.where(np.isin(module_of[most], INFORMATIVE), "#0b6e99", "#c44e52")
left.barh([names[j] for j in most][::-1], by_gene[most][::-1], color=colours[::-1])
left.set(xlim=(0, 1), xlabel="share of the subsamples", title="Most frequently selected genes")
left.tick_params(axis="y", labelsize=7)
right.bar(
    range(N_MODULES), by_module, color=["#0b6e99" if m in INFORMATIVE else "#c44e52" for m in range(40)]
)
right.set(ylim=(0, 1.05), xlabel="module", title="Modules with a selected gene")

# %%
# Which *gene* represents a module changes between subsamples, because the genes of a module are
# nearly copies of each other. Which *modules* are found hardly changes.
# :class:`~slfs.StabilitySelection` computes such frequencies for any selector.
#
# Estimate the accuracy
# ---------------------
# The selection is part of the cross-validation: it is learned inside the training sets.

accuracy = {
    "largest class": max(np.mean(tumor == "ALL"), np.mean(tumor == "AML")),
    "BNSLFS, mdl": cross_val_score(BNSLFS(SLFS()), table, tumor, cv=8).mean(),
    "BNSLFS, test": cross_val_score(BNSLFS(SLFS(irrelevance="test")), table, tumor, cv=8).mean(),
}
print(pd.Series(accuracy).round(3).to_string())

# %%
# The noise has little effect on the classifier here. The advantage of the test is a list of genes
# with few false discoveries.
#
# Summary
# -------
# - With many more columns than samples, use ``irrelevance="test"``. It removes nearly all noise.
# - Interpret the branches of the tree rather than single features: a branch is a group of features
#   with similar information.
# - Check the stability before you report a single gene. On other patients another gene of the same
#   group may be selected.
