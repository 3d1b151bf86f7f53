"""A TOML file -> the configuration of an experiment, checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from experiments.methods import ESTIMATORS, make
from slfs.datasets.paper import DATASETS
from slfs.evaluation.classify import CLASSIFIERS

SIZES = ("own", "equal")


@dataclass(frozen=True)
class Method:
    """A selector with its parameters and the sizes at which it runs."""

    name: str
    estimator: str
    parameters: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[str, ...] = ("own",)


@dataclass(frozen=True)
class Config:
    """Everything that determines the rows."""

    seed: int
    folds: int
    datasets: tuple[str, ...]
    classifiers: tuple[str, ...]
    methods: tuple[Method, ...]
    sensitivity: str = "isolet"
    """The dataset of Table 3."""
    growth_scale: int = 1
    """Factor by which the tables of Table 1 are smaller."""
    subsamples: int = 50
    """Number of subsamples for the stability of selections."""

    def quick(self) -> Config:
        """Return a smaller configuration for tests: two small datasets, three folds, small tables."""
        return replace(
            self,
            folds=3,
            datasets=("breastcancer", "voting"),
            sensitivity="voting",
            growth_scale=5,
            subsamples=10,
        )


def read_config(path: Path | None = None) -> Config:
    """Read and check a configuration, by default that of the paper."""
    if path is None:
        text = resources.files("experiments").joinpath("paper.toml").read_text("utf-8")
    else:
        text = path.read_text("utf-8")
    try:
        raw = tomllib.loads(text)
        methods = tuple(
            Method(name, part["estimator"], part.get("parameters", {}), tuple(part["sizes"]))
            for name, part in raw["methods"].items()
        )
        config = Config(
            int(raw["seed"]),
            int(raw["folds"]),
            tuple(raw["datasets"]),
            tuple(raw["classifiers"]),
            methods,
            str(raw.get("sensitivity", "isolet")),
            int(raw.get("growth_scale", 1)),
            int(raw.get("subsamples", 50)),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        where = path or "paper.toml"
        raise ValueError(
            f"{where} is not a valid configuration: {error!r}. Compare it with experiments/paper.toml."
        ) from error
    _one_of("dataset", [*config.datasets, config.sensitivity], DATASETS)
    _one_of("classifier", config.classifiers, CLASSIFIERS)
    _one_of("estimator", [method.estimator for method in methods], ESTIMATORS)
    _one_of("size", [size for method in methods for size in method.sizes], SIZES)
    _one_of("key", raw, [*Config.__dataclass_fields__])
    for method in methods:
        try:
            make(method.estimator, method.parameters, None)
        except TypeError as error:
            raise ValueError(f"Invalid parameters for the method {method.name!r}: {error}.") from error
    if not methods or methods[0].sizes[:1] != ("own",):
        raise ValueError("The first method determines the equal size: its first size must be 'own'.")
    return config


def _one_of(what: str, given: Any, known: Any) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"Unknown {what} {name!r}. Use one of {', '.join(known)}.")
