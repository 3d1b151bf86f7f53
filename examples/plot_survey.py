"""
A survey: mixed types and missing values
========================================

This tutorial is for readers whose table has numbers, categories and missing values. At the end you
will have selected the questions of a survey that predict a renewed subscription, without any
preprocessing, and seen that a missing answer can be informative.

The survey is synthetic, so that the result is known: people renew if they use the service often and
find it useful, and unhappy people tend to skip the question about the price.
"""

# %%
# The survey
# ----------

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import entropy
from sklearn.model_selection import cross_val_score

from slfs import BNSLFS, SLFS, NaiveBayes
from slfs.plotting import NetworkDisplay

random = np.random.default_rng(3)
size = 1500

hours = random.gamma(2.0, 3.0, size)
useful = np.clip(np.round(random.normal(2.2 + 0.25 * hours, 1.0)), 1, 5)
happy = 0.35 * hours + 0.9 * useful + random.normal(scale=1.5, size=size)
renews = np.where(happy > np.quantile(happy, 0.45), "yes", "no")

price = np.where(random.random(size) < 0.5, "fair", np.where(random.random(size) < 0.6, "high", "low"))
skips_price = random.random(size) < np.where(renews == "no", 0.45, 0.08)

survey = pd.DataFrame(
    {
        "hours a week": np.where(random.random(size) < 0.1, np.nan, hours.round(1)),
        "minutes a day": (hours * 60 / 7 + random.normal(scale=8, size=size)).round(),
        "useful": pd.Categorical(useful.astype(int), ordered=True),
        "price is": pd.Series(price, dtype=object).where(~skips_price, None),
        "region": random.choice(["north", "east", "south", "west"], size),
        "post code": random.integers(10, 60, size),
        "age": np.where(random.random(size) < 0.2, np.nan, random.integers(18, 90, size)),
        "phone": random.random(size) < 0.6,
    }
)
renews = pd.Series(renews, name="renews")
survey.head()

# %%
# Select features without preprocessing
# -------------------------------------
# Numbers are discretized into intervals, categories keep their levels, and missing values are a
# level of their own. Postal codes are numbers, but their order has no meaning, so we declare them
# as categorical.

selector = SLFS(categorical_features=["post code"]).fit(survey, renews)
NetworkDisplay.from_estimator(selector)

# %%
# Inspect all columns
# -------------------
# ``features_`` has one record for each column:

columns = ["name", "role", "relevance", "q_value", "n_levels", "parent", "reason"]
pd.DataFrame(selector.features_)[columns].round(3)

# %%
# Explain the selection
# ---------------------

for question in ("hours a week", "minutes a day", "price is", "region", "post code"):
    print(selector.explain(question))

# %%
# Missing answers are informative
# -------------------------------
# ``price is`` is selected, although the answers to this question are random. The information is in
# the *missing* answers. Imputing the most frequent answer removes most of it. Relevance is shown in
# nats, and as a percentage of the class entropy:

filled = survey.assign(**{"price is": survey["price is"].fillna("fair")})
imputed = SLFS(categorical_features=["post code"]).fit(filled, renews)
relevance = pd.Series({"missing values kept": selector.scores_[3], "imputed": imputed.scores_[3]})
percent = 100 * relevance / entropy(renews.value_counts())
print(pd.DataFrame({"nats": relevance.round(4), "% of class entropy": percent.round(1)}).to_string())

share = (renews == "yes").groupby(survey["price is"].fillna("(no answer)")).mean().sort_values()
figure, axes = plt.subplots(figsize=(5, 2.4), layout="constrained")
axes.barh(
    share.index, share, color=["#c44e52" if name == "(no answer)" else "#0b6e99" for name in share.index]
)
axes.axvline((renews == "yes").mean(), color="#222222", linewidth=1, linestyle="--")
axes.set(xlabel="share of renewals (dashed: all people)", xlim=(0, 1), title="price is ...")

# %%
# Predict for new samples
# -----------------------
# New samples may have missing values and unknown categories. The classifier accepts both: a value that
# was not seen in `fit` carries no information. A warning counts such values.

classifier = selector.to_classifier()
new_samples = survey.head(3).copy()
new_samples.loc[0, "price is"] = "outrageous"
new_samples.loc[1, "hours a week"] = np.nan
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    probabilities = classifier.predict_proba(new_samples)
print(caught[0].message)
print(pd.DataFrame(probabilities, columns=classifier.classes_).round(3).to_string())

# %%
# The accuracy is estimated by cross-validation, including the selection.

models = {
    "BNSLFS": BNSLFS(SLFS(categorical_features=["post code"])),
    "naive Bayes, all questions": NaiveBayes(categorical_features=["post code"]),
}
accuracy = {name: cross_val_score(model, survey, renews, cv=5).mean() for name, model in models.items()}
print(pd.Series(accuracy).round(3).to_string())

# %%
# Summary
# -------
# - The use of the service and its usefulness predict the renewal.
# - Hours a week mostly repeats minutes a day, which the tree shows: one is a child of the other.
# - Region, age and postal code are irrelevant.
# - People who skip the question about the price are unlikely to renew. Look at missing values
#   before you impute or remove them.
