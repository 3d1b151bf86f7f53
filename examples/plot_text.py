"""
Text: a sparse matrix of word counts
====================================

This tutorial is for readers who select features of a sparse matrix. At the end you will have
selected the words that predict the topic of a document, compared SLFS with two other methods, and
looked at the errors.

A document-term matrix has one row for each document and one column for each word, and almost all
entries are zero. ``SLFS`` accepts it as a sparse matrix and never converts it to a dense one.

The documents are the docstrings of SciPy's functions. The class is the subpackage to which a
function belongs.
"""

# %%
# Documents and classes
# ---------------------

import importlib
import inspect
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict, cross_val_score

from slfs import BNSLFS, CMIM, SLFS, Chi2Ranking
from slfs.plotting import NetworkDisplay

SUBPACKAGES = ("linalg", "ndimage", "optimize", "signal", "special")

documents, subpackage = [], []
for name in SUBPACKAGES:
    module = importlib.import_module(f"scipy.{name}")
    for function in sorted(name for name in module.__all__ if not name.startswith("_")):
        text = inspect.getdoc(getattr(module, function))
        if text and callable(getattr(module, function)):
            documents.append(re.split(r"\n(?:Notes|References|Examples|See Also)\n", text)[0])
            subpackage.append(name)
subpackage = np.array(subpackage)
print(pd.Series(subpackage).value_counts().to_string())

# %%
# From each docstring we keep the description, the parameters and the return values. The matrix is
# binary: 1 if the word occurs, 0 otherwise. The names of the subpackages are excluded, because they
# would reveal the class.

vectorizer = CountVectorizer(
    binary=True,
    min_df=5,
    token_pattern=r"[a-z]{3,}",
    stop_words=[*ENGLISH_STOP_WORDS, *SUBPACKAGES, "scipy", "numpy"],
)
words = vectorizer.fit_transform(documents)
vocabulary = vectorizer.get_feature_names_out()
density = words.nnz / np.prod(words.shape)
print(f"{words.shape[0]} documents, {words.shape[1]} words, density {density:.1%}")

# %%
# Select words
# ------------
# There are more words than documents, so we use ``irrelevance="test"`` to control the false
# discovery rate.

selector = SLFS(irrelevance="test", max_children=8, max_depth=2, n_features_to_select=30).fit(
    words, subpackage
)
selected = vocabulary[selector.indices_]
print(", ".join(selected))

# %%
# A sparse matrix has no column names, so the features are called ``x123``. ``network_`` is a
# dataclass, so we can make a copy with the words as names.

tree = replace(selector.network_, names=tuple(selected), class_name="subpackage")
NetworkDisplay(tree).plot()

# %%
# Each child of the class adds new information. Words on the second level are the closest to their
# parent: they often occur together with it, or hardly ever.
#
# The next plot shows how often each child of the class occurs in each subpackage.

top = [word for word, level in zip(selected, tree.levels, strict=True) if level == 1]
columns = [np.flatnonzero(vocabulary == word)[0] for word in top]
share = pd.DataFrame(words[:, columns].toarray(), columns=top).groupby(subpackage).mean().T

figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set_xticks(range(len(SUBPACKAGES)), share.columns)
axes.set_yticks(range(len(top)), top)
figure.colorbar(image, label="share of documents with the word")

# %%
# Compare methods and numbers of words
# ------------------------------------
# We compare SLFS with CMIM, which compares words in pairs, and with a ranking by chi-square, which
# ignores redundancy. All three use the same kind of classifier, and the selection is learned
# inside the training sets.

sizes = (5, 10, 20, 40)
curves = {"SLFS": [], "CMIM": [], "Chi2Ranking": []}
for size in sizes:
    for model in (
        SLFS(irrelevance="test", n_features_to_select=size),
        CMIM(n_features_to_select=size),
        Chi2Ranking(n_features_to_select=size),
    ):
        accuracy = cross_val_score(BNSLFS(model), words, subpackage, cv=5).mean()
        curves[type(model).__name__].append(accuracy)

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for label, values in curves.items():
    axes.plot(sizes, values, marker="o", label=label)
axes.set(xlabel="words", ylabel="accuracy, 5-fold cross-validation", xscale="log", xticks=sizes)
axes.minorticks_off()
axes.set_xticklabels(sizes)
axes.legend()
pd.DataFrame(curves, index=sizes).round(3)

# %%
# The confusion matrix shows which subpackages are confused.

predicted = cross_val_predict(
    BNSLFS(SLFS(irrelevance="test", n_features_to_select=40)), words, subpackage, cv=5
)
display = ConfusionMatrixDisplay.from_predictions(subpackage, predicted, cmap="Blues", colorbar=False)
display.figure_.set_size_inches(4.5, 4.2)

# %%
# Summary
# -------
# - A few well-chosen words are sufficient to predict the subpackage.
# - SLFS selects words that add information, instead of many words that always occur together.
# - Sparse matrices need no scaling, weighting or conversion.
