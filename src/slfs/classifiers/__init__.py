"""Classifiers on coded columns: the additive classifier and Bayesian networks.

In: counts of levels and classes. Out: a fitted classifier with `predict_proba`, `explain_prediction`
and, for networks, `score_samples` and `sample`. Start with `base.py`; `bnslfs.py` classifies with the
features of a selector, `tan.py` contains the classifiers that use all columns. `inference.py` computes
probabilities from the tables of a network, and `explanation.py` their parts.
"""
