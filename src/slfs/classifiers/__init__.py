"""Bayesian network classifiers.

In: counts of levels and classes. Out: a fitted classifier with `predict_proba`, `explain_prediction`,
`score_samples` and `sample`. Start with `base.py`; `bnslfs.py` classifies with the network of a
selector, `tan.py` contains the classifiers that use all columns. `inference.py` computes probabilities
from the tables of a network, and `explanation.py` their parts.
"""
