"""A TOML file -> the configuration of the benchmark, checked."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.quality.classifiers import CLASSIFIERS, METRICS
from experiments.quality.methods import METHODS

OWN = "own"
"""The size that a method chooses by itself. Other sizes are numbers, as text."""

DEFAULT = Path(__file__).with_name("config.toml")
REGRESSION = Path(__file__).with_name("regression.toml")


@dataclass(frozen=True)
class Method:
    """A selector; its version distinguishes rows of earlier code."""

    name: str
    estimator: str
    version: int
    sizes: tuple[str, ...]
    """Numbers of columns, as text, or "own"."""
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """What a row must agree with to be used."""
        return _identity(self)


@dataclass(frozen=True)
class Classifier:
    """A classifier; by default it is scored on the columns of all methods at all sizes."""

    name: str
    estimator: str
    version: int
    parameters: dict[str, Any] = field(default_factory=dict)
    wide: dict[str, Any] = field(default_factory=dict)
    """Parameters that replace others where there are many columns."""
    methods: tuple[str, ...] | None = None
    sizes: tuple[str, ...] | None = None

    @property
    def identity(self) -> str:
        """What a row must agree with to be used."""
        return _identity(self)


@dataclass(frozen=True)
class Stage:
    """A part of the plan: these folds, classifiers and sizes of all datasets and methods."""

    folds: tuple[int, ...]
    classifiers: tuple[str, ...]
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """Everything that determines the rows."""

    reference: str
    folds: int
    seed: int
    min_class_size: int
    max_rows: int
    sizes: tuple[int, ...]
    max_pair_cells: float
    max_seconds: float
    wide_columns: float
    max_dense_cells: float
    datasets: dict[str, str]
    """The group of each dataset."""
    methods: dict[str, Method]
    classifiers: dict[str, Classifier]
    stages: tuple[Stage, ...]
    variants: tuple[str, ...] = ()
    """Methods with nearly the same ranking as the reference, which are not its rivals."""
    task: str = "classification"
    """"classification", or "regression" for continuous targets."""

    @property
    def size_names(self) -> tuple[str, ...]:
        return (*map(str, self.sizes), OWN)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the scores, the most important one first."""
        return METRICS[self.task]

    @property
    def protocol(self) -> str:
        """What determines the rows of all methods: a row must agree with it to be used."""
        return json.dumps(
            [self.folds, self.seed, self.min_class_size, self.max_rows, max(self.sizes)],
        )


def read_config(path: Path = DEFAULT) -> Config:
    """Read and check a configuration."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
        config = _parse(raw)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a valid configuration: {error!r}. Compare it with {DEFAULT}."
        ) from error
    _one_of("task", [config.task], METRICS)
    _one_of("method", [config.reference, *config.variants], config.methods)
    _one_of("estimator", [method.estimator for method in config.methods.values()], METHODS)
    _one_of("estimator", [one.estimator for one in config.classifiers.values()], CLASSIFIERS)
    for classifier in config.classifiers.values():
        _one_of("method", classifier.methods or (), config.methods)
        _one_of("size", classifier.sizes or (), config.size_names)
    for stage in config.stages:
        _one_of("size", stage.sizes, config.size_names)
        _one_of("fold", stage.folds, range(config.folds))
    return config


def _identity(part: Method | Classifier) -> str:
    wide = part.wide if isinstance(part, Classifier) else {}
    return json.dumps([part.version, part.estimator, part.parameters, wide], sort_keys=True)


def _parse(raw: dict[str, Any]) -> Config:
    fixed = tuple(map(str, raw["sizes"]))
    methods, classifiers = {}, {}
    for name, part in raw["methods"].items():
        _one_of("size", part["sizes"], ("fixed", OWN))
        sizes = (*(fixed if "fixed" in part["sizes"] else ()), *((OWN,) if OWN in part["sizes"] else ()))
        methods[name] = Method(
            name, part["estimator"], int(part["version"]), sizes, part.get("parameters", {})
        )
    for name, part in raw["classifiers"].items():
        classifiers[name] = Classifier(
            name,
            part["estimator"],
            int(part["version"]),
            part.get("parameters", {}),
            part.get("wide", {}),
            tuple(part["methods"]) if "methods" in part else None,
            tuple(map(str, part["sizes"])) if "sizes" in part else None,
        )
    stages = tuple(
        Stage(
            tuple(part.get("folds", range(int(raw["folds"])))),
            # a stage may name classifiers that are not in use yet
            tuple(name for name in part.get("classifiers", classifiers) if name in classifiers),
            tuple(map(str, part.get("sizes", [*fixed, OWN]))),
        )
        for part in raw["stages"]
    )
    datasets = {name: group for group, names in raw["datasets"].items() for name in names}
    if len(datasets) < sum(map(len, raw["datasets"].values())):
        raise ValueError("A dataset is listed twice: every dataset has one group.")
    keys = ("reference", "folds", "seed", "max_rows")
    return Config(
        **{key: raw[key] for key in keys},
        sizes=tuple(raw["sizes"]),
        min_class_size=int(raw.get("min_class_size", 0)),
        max_pair_cells=float(raw.get("max_pair_cells", "inf")),
        max_seconds=float(raw["max_seconds"]),
        wide_columns=float(raw.get("wide_columns", "inf")),
        max_dense_cells=float(raw.get("max_dense_cells", "inf")),
        datasets=datasets,
        methods=methods,
        classifiers=classifiers,
        stages=stages,
        variants=tuple(raw.get("variants", ())),
        task=raw.get("task", "classification"),
    )


def _one_of(what: str, given: Any, known: Any) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"Unknown {what} {name!r}. Use one of {', '.join(map(str, known))}.")
