"""Models on coded columns: the additive classifier, the additive regressor and Bayesian networks.

In: counts of levels and classes. Out: a fitted classifier with `predict_proba`, `explain_prediction`
and, for networks, `score_samples` and `sample`, or a regressor with `predict_interval`. Start with
`base.py`; `bnslfs.py` classifies with the features of a selector, `bnslfs_regressor.py` predicts a
continuous target with them, `tan.py` contains the classifiers that use all columns. `inference.py`
computes probabilities from the tables of a network, and `explanation.py` their parts.
"""
