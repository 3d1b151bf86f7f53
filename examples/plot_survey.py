"""
Who renews a subscription? A survey with holes
==============================================

Surveys are mixed: numbers, words, grades, yes and no, and many questions without an answer. ``SLFS``
takes such a table as it is. A missing answer is an answer too, and sometimes the most telling one.

The survey is made, so that we know what to expect: people renew if they use the service much and find
it useful; and those who are unhappy tend to skip the question about the price.
"""

# %%
# The survey
# ----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
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
# Select, with nothing prepared
# -----------------------------
# Numbers are cut into intervals, words and grades keep their levels, holes are a level of their own.
# Post codes look like numbers but are names, so we say so.

selector = SLFS(categorical_features=["post code"]).fit(survey, renews)
NetworkDisplay.from_estimator(selector)

# %%
# A record for each question
# --------------------------

columns = ["name", "role", "relevance", "n_levels", "parent", "reason"]
pd.DataFrame(selector.features_)[columns].round(3)

# %%
# Ask why
# -------

for question in ("hours a week", "minutes a day", "price is", "region", "post code"):
    print(selector.explain(question))

# %%
# The silent answer
# -----------------
# ``price is`` is kept although what people say about the price was drawn by lot. What tells is who does
# *not* say it. Fill the holes with the most frequent answer, as is often done, and most of that is
# lost:

filled = survey.assign(**{"price is": survey["price is"].fillna("fair")})
relevance = {
    "holes kept": selector.features_["relevance"][3],
    "holes filled": SLFS(categorical_features=["post code"])
    .fit(filled, renews)
    .features_["relevance"][3],
}
print(pd.Series(relevance).round(4).to_string())

share = (renews == "yes").groupby(survey["price is"].fillna("(no answer)")).mean().sort_values()
figure, axes = plt.subplots(figsize=(5, 2.4), layout="constrained")
axes.barh(
    share.index, share, color=["#c44e52" if name == "(no answer)" else "#0b6e99" for name in share.index]
)
axes.axvline((renews == "yes").mean(), color="#222222", linewidth=1, linestyle="--")
axes.set(xlabel="share that renews (dashed: all)", xlim=(0, 1), title="price is ...")

# %%
# Predict for new people
# ----------------------
# New answers may have holes, and words that were never seen. Nothing stops.

classifier = selector.to_classifier()
newcomers = survey.head(3).copy()
newcomers.loc[0, "price is"] = "outrageous"
newcomers.loc[1, "hours a week"] = np.nan
print(
    pd.DataFrame(classifier.predict_proba(newcomers), columns=classifier.classes_).round(3).to_string()
)

# %%
# And how good is it? The selection is part of what is validated.

models = {
    "BNSLFS": BNSLFS(SLFS(categorical_features=["post code"])),
    "naive Bayes, all questions": NaiveBayes(categorical_features=["post code"]),
}
accuracy = {name: cross_val_score(model, survey, renews, cv=5).mean() for name, model in models.items()}
print(pd.Series(accuracy).round(3).to_string())

# %%
# In plain words
# --------------
# Use and usefulness decide. Minutes a day repeat hours a week, and the tree shows it: one hangs below
# the other. Region, age and post code say nothing. And whoever skips the question about the price is
# likely to leave: so do not throw away or fill in missing answers before you have looked at them.
