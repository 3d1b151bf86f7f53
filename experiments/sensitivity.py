"""Table 3 of the paper: how the parameters change what SLFS selects on Isolet."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.config import Config, Method

SETTINGS = {
    (15, 1.0, 2): (80, 77.51),
    (8, 1.5, 2): (52, 62.43),
    (8, 1.5, 3): (194, 33.23),
    (15, 1.5, 2): (84, 62.94),
    (15, 0.75, 1): (16, 75.64),
    (15, 1.0, 1): (16, 82.07),
}
"""NCH, λ, MAXDEPTH -> the number of selected features and the accuracy that the paper reports."""

READINGS: dict[str, dict[str, Any]] = {
    "reversed": {"order": "given", "irrelevance": "reversed"},
    "mdl": {"order": "given", "irrelevance": "mdl"},
    "conditional": {"order": "conditional", "irrelevance": "mdl"},
}
"""Equation 7 reversed; our MDL rule; our MDL rule and our order of insertion."""


def sensitivity_config(config: Config) -> Config:
    """Return the configuration of Table 3, with seed and folds of another configuration."""
    methods = tuple(
        Method(
            _name(reading, *setting),
            "SLFS",
            {
                "max_children": setting[0],
                "relevance_weight": setting[1],
                "max_depth": setting[2],
                **parameters,
            },
        )
        for reading, parameters in READINGS.items()
        for setting in SETTINGS
    )
    return Config(config.seed, config.folds, (config.sensitivity,), ("NB", "BNSLFS"), methods)


def sensitivity_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's table with the features and accuracy of each reading as further columns."""
    means = rows.pivot_table(index="method", columns="classifier", values=["accuracy", "n_features"])
    found = []
    for (children, weight, depth), (printed_size, printed_accuracy) in SETTINGS.items():
        line: dict[str, Any] = {
            "NCH": children,
            "lambda": weight,
            "MAXDEPTH": depth,
            "NSF, paper": printed_size,
            "accuracy, paper": printed_accuracy,
        }
        for reading in READINGS:
            mean = means.loc[_name(reading, children, weight, depth)]
            line[f"NSF, {reading}"] = mean["n_features", "BNSLFS"]
            line[f"BNSLFS, {reading}"] = 100 * mean["accuracy", "BNSLFS"]
            line[f"NB, {reading}"] = 100 * mean["accuracy", "NB"]
        found.append(line)
    return pd.DataFrame(found)


def _name(reading: str, children: int, weight: float, depth: int) -> str:
    return f"{reading} {children} {weight} {depth}"
