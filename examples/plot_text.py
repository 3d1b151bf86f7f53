"""
Which words give away what a function is for?
=============================================

Text is a wide and almost empty table: one row for each document, one column for each word. Such a table
goes into ``SLFS`` as a sparse matrix and is never made dense.

The documents here are on every machine that has SciPy: the docstrings of its functions. The question:
from the words alone, which part of SciPy does a function belong to?
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

PARTS = ("linalg", "ndimage", "optimize", "signal", "special")

documents, part = [], []
for name in PARTS:
    module = importlib.import_module(f"scipy.{name}")
    for function in sorted(name for name in module.__all__ if not name.startswith("_")):
        text = inspect.getdoc(getattr(module, function))
        if text and callable(getattr(module, function)):
            documents.append(re.split(r"\n(?:Notes|References|Examples|See Also)\n", text)[0])
            part.append(name)
part = np.array(part)
print(pd.Series(part).value_counts().to_string())

# %%
# Of each docstring we keep what it does and what it takes and gives; notes and examples go. A word is
# there or not: a column of 0 and 1. The names of the parts themselves would be cheating, so they go
# too.

vectorizer = CountVectorizer(
    binary=True,
    min_df=5,
    token_pattern=r"[a-z]{3,}",
    stop_words=[*ENGLISH_STOP_WORDS, *PARTS, "scipy", "numpy"],
)
words = vectorizer.fit_transform(documents)
vocabulary = vectorizer.get_feature_names_out()
filled = words.nnz / np.prod(words.shape)
print(f"{words.shape[0]} documents, {words.shape[1]} words, {filled:.1%} of the cells filled")

# %%
# Select words
# ------------
# The matrix goes in as it is. ``irrelevance="test"``, since there are more words than documents.

selector = SLFS(irrelevance="test", max_children=8, max_depth=2, n_features_to_select=30).fit(
    words, part
)
chosen = vocabulary[selector.indices_]
print(", ".join(chosen))

# %%
# A sparse matrix has no column names, so the tree speaks of ``x123``. A copy of the tree with the words
# in place is easy to make, since ``network_`` is a plain dataclass.

tree = replace(selector.network_, names=tuple(chosen), class_name="part of SciPy")
NetworkDisplay(tree).plot()

# %%
# Words next to the class each bring news. Words on the second level go along with their parent.
#
# How often does each word occur in each part?

top = [word for word, level in zip(chosen, tree.levels, strict=True) if level == 1]
columns = [np.flatnonzero(vocabulary == word)[0] for word in top]
share = pd.DataFrame(words[:, columns].toarray(), columns=top).groupby(part).mean().T

figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set_xticks(range(len(PARTS)), share.columns)
axes.set_yticks(range(len(top)), top)
figure.colorbar(image, label="share of documents with the word")

# %%
# How many words are enough?
# --------------------------
# The selection happens inside the training parts. Beside it stand CMIM, which looks for news as SLFS
# does, and the ranking by chi-square, which does not look at redundancy. All feed the same kind of
# network.

sizes = (5, 10, 20, 40)
curves = {"SLFS": [], "CMIM": [], "Chi2Ranking": []}
for size in sizes:
    for model in (
        SLFS(irrelevance="test", n_features_to_select=size),
        CMIM(n_features_to_select=size),
        Chi2Ranking(n_features_to_select=size),
    ):
        accuracy = cross_val_score(BNSLFS(model), words, part, cv=5).mean()
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
# Where does it err?

predicted = cross_val_predict(
    BNSLFS(SLFS(irrelevance="test", n_features_to_select=40)), words, part, cv=5
)
display = ConfusionMatrixDisplay.from_predictions(part, predicted, cmap="Blues", colorbar=False)
display.figure_.set_size_inches(4.5, 4.2)

# %%
# In plain words
# --------------
# A handful of well-chosen words tells what a function is for. The tree keeps words that bring news, and
# does not spend its places on ten words that always come together. Sparse text goes in as it is;
# nothing has to be scaled, weighted or made dense first.
