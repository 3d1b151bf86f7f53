"""A fitted classifier -> its Bayesian network in BIF, for pgmpy, pyAgrum, bnlearn and GeNIe.

The file contains the class, every feature with more than one level, and the probabilities that
`predict_proba` uses: P(class) and P(feature | class, parent). Names of variables and states consist of
letters, digits and underscores, which all readers accept; comments contain the original names.
`to_states` converts new samples to the states of the file. The posteriors of pgmpy agree with
`predict_proba` to 1e-9; pyAgrum keeps seven digits of the numbers in BIF files.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slfs.classifiers.base import NetworkClassifier
from slfs.coding.level_names import level_names, threshold_texts
from slfs.files.atomic import replace_file
from slfs.network.tree import ROOT
from slfs.tables.dates import TimeKind

_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
_LONGEST = 60


@dataclass(frozen=True)
class _Variable:
    """A variable of the file: its name, its states, and a comment."""

    name: str
    states: list[str]
    comment: str


def to_bif(classifier: NetworkClassifier) -> str:
    """Convert the network of a fitted classifier to the Bayesian Interchange Format (BIF).

    Columns with a single level contain no information about the class and are left out.

    Parameters
    ----------
    classifier : BNSLFS, TAN, ChowLiu or NaiveBayes
        A fitted classifier that is a Bayesian network: not ``BNSLFS(structure="additive")``.

    Returns
    -------
    text : str
        The content of the file, in ASCII. Probabilities have full precision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.saving.interchange import to_bif
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SLFS(n_features_to_select=1).fit(X, y)
    >>> print(to_bif(selector.to_classifier(structure="linked")))
    network slfs {
    }
    variable target {
      // "target": "0", "1", "2"
      type discrete [ 3 ] { v0, v1, v2 };
    }
    variable petal_width_cm {
      // "petal width (cm)": "\\u2264 0.8", "0.8 < x \\u2264 1.75", "> 1.75"
      // cut points: 0.8, 1.75
      type discrete [ 3 ] { up_to_0_8, over_0_8_up_to_1_75, over_1_75 };
    }
    probability ( target ) {
      table 0.333333..., 0.333333..., 0.333333...;
    }
    probability ( petal_width_cm | target ) {
      (v0) 0.962264..., 0.018867..., 0.018867...;
      (v1) 0.018867..., 0.943396..., 0.037735...;
      (v2) 0.018867..., 0.113207..., 0.867924...;
    }
    <BLANKLINE>
    """
    variables = _variables(classifier)
    blocks = ["network slfs {\n}\n"]
    for variable in variables.values():
        states = ", ".join(variable.states)
        blocks.append(
            f"variable {variable.name} {{\n{variable.comment}"
            f"  type discrete [ {len(variable.states)} ] {{ {states} }};\n}}\n"
        )
    prior = _row(np.exp(classifier._log_prior))
    blocks.append(f"probability ( {variables[ROOT].name} ) {{\n  table {prior};\n}}\n")
    blocks += [_table(classifier, variables, node) for node in variables if node != ROOT]
    return "".join(blocks)


def write_bif(classifier: NetworkClassifier, path: str | Path) -> None:
    """Write the network of a fitted classifier to a file; see `to_bif`.

    Parameters
    ----------
    classifier : BNSLFS, TAN, ChowLiu or NaiveBayes
        A fitted classifier that is a Bayesian network: not ``BNSLFS(structure="additive")``.
    path : str or Path
        Path of the file. An existing file is replaced atomically once the new one is complete.
    """
    text = to_bif(classifier)
    replace_file(Path(path), lambda draft: draft.write_text(text, encoding="ascii", newline="\n"))


def to_states(classifier: NetworkClassifier, X: Any) -> list[dict[str, str]]:
    """Convert samples to states of the network that `to_bif` writes, as evidence for other programs.

    Parameters
    ----------
    classifier : BNSLFS, TAN, ChowLiu or NaiveBayes
        A fitted classifier that is a Bayesian network: not ``BNSLFS(structure="additive")``.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        Input data.

    Returns
    -------
    states : list of dict
        One dict per sample: the state of each variable except the class, by name. Values that were not
        seen in ``fit`` are left out, so that other programs sum them out as `predict_proba` does.
    """
    variables = _variables(classifier)
    encoded = classifier._encode(X)
    features = [(node, variable) for node, variable in variables.items() if node != ROOT]
    known = ~encoded.unknown_mask(np.arange(encoded.codes.shape[1]))
    return [
        {
            variable.name: variable.states[encoded.codes[node, sample]]
            for node, variable in features
            if known[node, sample]
        }
        for sample in range(encoded.codes.shape[1])
    ]


def _variables(classifier: NetworkClassifier) -> dict[int, _Variable]:
    """Return the variables of the file: the class, at ROOT, and the nodes with more than one level."""
    if not isinstance(classifier, NetworkClassifier):
        hint = " Pass selector.to_classifier()." if hasattr(classifier, "to_classifier") else ""
        raise TypeError(
            f"classifier is of type {type(classifier).__name__}; expected a fitted BNSLFS, TAN, ChowLiu "
            f"or NaiveBayes.{hint}"
        )
    check_is_fitted(classifier)
    if not hasattr(classifier, "predict_joint_log_proba"):
        raise ValueError(
            "structure='additive' is not a Bayesian network, which BIF files contain. Use "
            "BNSLFS(structure='linked') or to_classifier(structure='linked')."
        )
    network, coding = classifier.network_, classifier._coding
    nodes = [node for node in range(len(network)) if coding.n_levels[node] > 1]
    titles = [network.class_name, *(network.names[node] for node in nodes)]
    names = _identifiers(titles, "x")
    labels = [str(label) for label in classifier.classes_.tolist()]
    comment = _comment(f"{_quoted(titles[0])}: {_listed(labels)}")
    variables: dict[int, _Variable] = {ROOT: _Variable(names[0], _identifiers(labels, "v"), comment)}
    for node, title, name in zip(nodes, titles[1:], names[1:], strict=True):
        words = level_names(coding, node)
        states = _identifiers([_in_words(word) for word in words], "v")
        comment = _comment(f"{_quoted(title)}: {_listed(words)}")
        if coding.cut[node]:
            cuts = _row(coding.column_thresholds(node))
            if coding.time_kind(node) == TimeKind.DATE:
                cuts = ", ".join(threshold_texts(coding, node))
            comment += _comment(f"cut points: {cuts}")
        variables[node] = _Variable(name, states, comment)
    return variables


def _table(classifier: NetworkClassifier, variables: dict[int, _Variable], node: int) -> str:
    """Format P(node | class, parent), with one row per combination of states of class and parent."""
    own = classifier._tables[node]
    sees_class = own.values.shape[2] > 1
    given = [variables[ROOT]] if sees_class else []
    if own.parent in variables and own.parent != ROOT:
        given.append(variables[own.parent])
    axes = (2, 1, 0) if sees_class else (1, 2, 0)
    rows = np.exp(own.values).transpose(axes).reshape(-1, len(own.values))
    names = ", ".join(variable.name for variable in given)
    lines = [f"probability ( {variables[node].name} | {names} ) {{"]
    states = itertools.product(*(variable.states for variable in given))
    lines += [f"  ({', '.join(state)}) {_row(row)};" for state, row in zip(states, rows, strict=True)]
    return "\n".join([*lines, "}\n"])


def _row(numbers: NDArray[np.float64]) -> str:
    """Format numbers with full precision, without exponents, which some readers do not support."""
    digits = (repr(number) for number in numbers.tolist())
    return ", ".join(np.format_float_positional(float(n)) if "e" in n else n for n in digits)


def _identifiers(texts: Iterable[str], prefix: str) -> list[str]:
    """Convert texts to identifiers that are unique even if case is ignored."""
    taken, names = set(_KEYWORDS), []
    for text in texts:
        name = _identifier(text, prefix)
        free = next(one for one in _numbered(name) if one.lower() not in taken)
        taken.add(free.lower())
        names.append(free)
    return names


def _identifier(text: str, prefix: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"(?<![0-9A-Za-z])-(?=[0-9.])", "minus_", plain)
    name = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_")[:_LONGEST]
    name = re.sub(r"(table|default)(?=[0-9eE])", r"\1_", name)  # pgmpy reads table1 as a table
    return name if name[:1].isalpha() else prefix + name


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield f"{name}_{number}"


def _in_words(word: str) -> str:
    """Convert an interval to words."""
    between = re.fullmatch(r"(.+) < x ≤ (.+)", word)
    if between:
        return f"over {between[1]} up to {between[2]}"
    return re.sub("^> ", "over ", re.sub("^≤ ", "up to ", word))


def _quoted(text: str) -> str:
    """Return a JSON string without characters that could end a comment or start a block."""
    return re.sub(r"[^\w .,:()<>=+'\-\\\"]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text))


def _listed(texts: list[str]) -> str:
    return ", ".join(map(_quoted, texts))


def _comment(text: str) -> str:
    return f"  // {text}\n"
