"""
Which genes tell two kinds of tumour apart?
===========================================

Tables of gene expression have few patients and thousands of genes. Two things make them hard. Some
genes tell the classes apart by pure chance. And genes work in *modules*: dozens of genes rise and fall
together, so that many answers are equally good.

This tutorial uses made data, so that we know the truth. It has the shape of the well-known colon and
leukemia tables: 72 patients, 5000 genes.
"""

# %%
# Made patients
# -------------
# Forty modules of 25 genes each. Three of the modules differ between the two kinds of tumour. The other
# 4000 genes are noise.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from slfs import BNSLFS, SLFS
from slfs.plotting import NetworkDisplay

N_PATIENTS, N_GENES, N_MODULES, MODULE_SIZE = 72, 5000, 40, 25
TRUE_MODULES = (0, 1, 2)

random = np.random.default_rng(7)
tumour = pd.Series(np.repeat(["ALL", "AML"], [47, 25]), name="tumour")
activity = random.normal(size=(N_PATIENTS, N_MODULES))
activity[:, TRUE_MODULES] += 2.2 * (tumour == "AML").to_numpy()[:, np.newaxis]
genes = random.normal(size=(N_PATIENTS, N_GENES))
module_of = np.full(N_GENES, -1)
for module in range(N_MODULES):
    members = slice(module * MODULE_SIZE, (module + 1) * MODULE_SIZE)
    module_of[members] = module
    genes[:, members] = 0.9 * activity[:, [module]] + 0.45 * genes[:, members]

names = [f"g{j} (module {m})" if m >= 0 else f"g{j} (noise)" for j, m in enumerate(module_of)]
table = pd.DataFrame(genes, columns=names)


def kinds(columns):
    """How many of the columns belong to a module that matters, to another one, to none."""
    modules = module_of[columns]
    true = np.isin(modules, TRUE_MODULES)
    return {
        "true module": sum(true),
        "other module": sum(~true & (modules >= 0)),
        "noise": sum(modules < 0),
    }


# %%
# With so many columns, ask for a test
# ------------------------------------
# The default, ``irrelevance="mdl"``, judges each gene alone. Among 5000 genes some pass by chance.
# ``irrelevance="test"`` accounts for their number: it holds the false discovery rate at ``alpha``.

selectors = {kind: SLFS(irrelevance=kind).fit(table, tumour) for kind in ("mdl", "test")}
pd.DataFrame({kind: kinds(found.get_support(indices=True)) for kind, found in selectors.items()})

# %%
# The tree
# --------
# Six places below the class are enough to look at. Genes of one module hang below each other. So the
# branches of the tree are the modules, and the genes
# next to the class are their representatives. Nobody told the method about modules.

selector = SLFS(irrelevance="test", max_children=6).fit(table, tumour)
NetworkDisplay.from_estimator(selector)

# %%
# A gene that was dropped is not worthless. ``explain`` says which gene stands for it.

dropped = next(j for j in range(N_GENES) if selector.features_["role"][j] == "redundant")
print(selector.explain(dropped))

# %%
# How stable is the answer?
# -------------------------
# Leave out a fifth of the patients, at random, thirty times, and look at what is selected with
# ``max_depth=1``, that is, which genes stand next to the class.

rounds = 30
hits = np.zeros((rounds, N_GENES), dtype=bool)
for turn in range(rounds):
    some = random.permutation(N_PATIENTS)[:58]
    sparse_selector = SLFS(irrelevance="test", max_depth=1).fit(genes[some], tumour[some])
    hits[turn] = sparse_selector.get_support()

by_gene = hits.mean(axis=0)
by_module = np.array([hits[:, module_of == module].any(axis=1).mean() for module in range(N_MODULES)])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
often = np.argsort(-by_gene)[:15]
colours = np.where(np.isin(module_of[often], TRUE_MODULES), "#0b6e99", "#c44e52")
left.barh([names[j] for j in often][::-1], by_gene[often][::-1], color=colours[::-1])
left.set(xlim=(0, 1), xlabel="share of the rounds", title="The 15 genes selected most often")
left.tick_params(axis="y", labelsize=7)
right.bar(
    range(N_MODULES), by_module, color=["#0b6e99" if m in TRUE_MODULES else "#c44e52" for m in range(40)]
)
right.set(ylim=(0, 1.05), xlabel="module", title="Some gene of the module is selected")

# %%
# Which *gene* stands for a module changes from round to round: they are nearly copies of each other.
# Which *modules* are found hardly changes.
#
# Does it classify?
# -----------------
# Everything is learned inside the training parts, the selection too.

accuracy = {
    "largest class": max(np.mean(tumour == "ALL"), np.mean(tumour == "AML")),
    "BNSLFS, mdl": cross_val_score(BNSLFS(SLFS()), table, tumour, cv=8).mean(),
    "BNSLFS, test": cross_val_score(BNSLFS(SLFS(irrelevance="test")), table, tumour, cv=8).mean(),
}
print(pd.Series(accuracy).round(3).to_string())

# %%
# The noise does the classifier little harm here. What the test buys is a list that one can believe.
#
# In plain words
# --------------
# With 72 patients and 5000 genes, use ``irrelevance="test"``: nearly all noise is then gone. Read the
# tree by its branches, not by its leaves: a branch is a group of genes that say the same thing. Do not
# trust the name of a single gene before you have looked at the stability. Another sample of patients
# will name another gene of the same group.
