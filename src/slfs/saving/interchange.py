"""A fitted classifier -> its Bayesian network in BIF, which pgmpy, pyAgrum, bnlearn and GeNIe read.

The file holds the class, every feature with more than one level, and the probabilities that
`predict_proba` uses: P(class) and P(feature | class, parent). Names of variables and states are made of
letters, digits and underscores, so that every reader takes them; a comment beside each has the original.
`to_states` codes new samples by the states of the file. pgmpy gives the posteriors of `predict_proba` to
1e-9; pyAgrum keeps seven digits of what it reads from BIF.
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

from slfs._core.threads import Threads
from slfs.classifiers.base import NetworkClassifier
from slfs.coding.codebook import NONE
from slfs.coding.encode import encode_table
from slfs.coding.level_names import level_names
from slfs.files.atomic import replace_file
from slfs.network.tree import ROOT

_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
_LONGEST = 60


@dataclass(frozen=True)
class _Variable:
    """A variable of the file: its name, its states, and what is said of it in a comment."""

    name: str
    states: list[str]
    comment: str


def to_bif(classifier: NetworkClassifier) -> str:
    """The network of a fitted classifier in the Bayesian Interchange Format.

    A column with one level says nothing about the class and is left out.

    Parameters
    ----------
    classifier : BNSLFS, TAN, ChowLiu or NaiveBayes
        Fitted.

    Returns
    -------
    text : str
        ASCII. Probabilities have all their digits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import BNSLFS, SLFS
    >>> from slfs.saving.interchange import to_bif
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(to_bif(BNSLFS(SLFS(n_features_to_select=1)).fit(X, y)))
    network slfs {
    }
    variable target {
      // "target": "0", "1", "2"
      type discrete [ 3 ] { v0, v1, v2 };
    }
    variable petal_width_cm {
      // "petal width (cm)": "\\u2264 0.8", "0.8 < x \\u2264 1.75", "> 1.75"
      // cut points: 0.8, 1.75
      // a missing or unknown value counts as over_0_8_up_to_1_75
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
        Fitted.
    path : str or Path
        A file that is there is replaced at once when the new one is whole.
    """
    text = to_bif(classifier)
    replace_file(Path(path), lambda draft: draft.write_text(text, encoding="ascii", newline="\n"))


def to_states(classifier: NetworkClassifier, X: Any) -> list[dict[str, str]]:
    """What samples are in the file that `to_bif` makes: the evidence to give to another program.

    Parameters
    ----------
    classifier : BNSLFS, TAN, ChowLiu or NaiveBayes
        Fitted.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

    Returns
    -------
    states : list of dict
        One for each sample: the state of each variable but the class, by name.
    """
    variables = _variables(classifier)
    table = classifier._read_new_data(X)
    with Threads(None) as threads:
        codes = encode_table(table, classifier._coding, classifier.network_.columns, threads)
    features = [(node, variable) for node, variable in variables.items() if node != ROOT]
    return [
        {variable.name: variable.states[codes[node, sample]] for node, variable in features}
        for sample in range(table.n_samples)
    ]


def _variables(classifier: NetworkClassifier) -> dict[int, _Variable]:
    """The class, at ROOT, and the nodes that have more than one level."""
    if not isinstance(classifier, NetworkClassifier):
        hint = " Give selector.to_classifier()." if hasattr(classifier, "to_classifier") else ""
        raise TypeError(
            f"classifier is of type {type(classifier).__name__}; expected a fitted BNSLFS, TAN or "
            f"NaiveBayes.{hint}"
        )
    check_is_fitted(classifier)
    network, coding = classifier.network_, classifier._coding
    nodes = [node for node in range(len(network)) if coding.n_levels[node] > 1]
    titles = [network.class_name, *(network.names[node] for node in nodes)]
    names = _identifiers(titles, "x")
    labels = [str(label) for label in classifier.classes_.tolist()]
    comment = _comment(f"{_quoted(titles[0])}: {_listed(labels)}")
    variables = {ROOT: _Variable(names[0], _identifiers(labels, "v"), comment)}
    for node, title, name in zip(nodes, titles[1:], names[1:], strict=True):
        words = level_names(coding, node)
        states = _identifiers([_spoken(word) for word in words], "v")
        comment = _comment(f"{_quoted(title)}: {_listed(words)}")
        if coding.cut[node]:
            comment += _comment(f"cut points: {_row(coding.column_thresholds(node))}")
        if coding.columns["missing"][node] == NONE:
            comment += _comment(
                f"a missing or unknown value counts as {states[coding.columns['fallback'][node]]}"
            )
        variables[node] = _Variable(name, states, comment)
    return variables


def _table(classifier: NetworkClassifier, variables: dict[int, _Variable], node: int) -> str:
    """P(node | class, parent): a row for each state of these."""
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
    """Numbers with all their digits; without exponents, which some readers do not know."""
    digits = (repr(number) for number in numbers.tolist())
    return ", ".join(np.format_float_positional(float(n)) if "e" in n else n for n in digits)


def _identifiers(texts: Iterable[str], prefix: str) -> list[str]:
    """Texts as names that differ, in more than the case of letters."""
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
    name = re.sub(r"(table|default)(?=[0-9eE])", r"\1_", name)  # pgmpy takes table1 for a table
    return name if name[:1].isalpha() else prefix + name


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield f"{name}_{number}"


def _spoken(word: str) -> str:
    """An interval in words."""
    between = re.fullmatch(r"(.+) < x ≤ (.+)", word)
    if between:
        return f"over {between[1]} up to {between[2]}"
    return re.sub("^> ", "over ", re.sub("^≤ ", "up to ", word))


def _quoted(text: str) -> str:
    """A JSON string of harmless characters only: nothing that ends a comment or begins a block."""
    return re.sub(r"[^\w .,:()<>=+'\-\\\"]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text))


def _listed(texts: list[str]) -> str:
    return ", ".join(map(_quoted, texts))


def _comment(text: str) -> str:
    return f"  // {text}\n"
