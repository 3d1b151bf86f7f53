"""The result of comparing networks -> tables, plain values, text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slfs.network.tree import ROOT, TreeNetwork

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FoldScore:
    """Scores of one network on the test part of one fold.

    ``log_joint`` is the mean of log P(features, class) over the test samples, with discretized features,
    ``log_class`` the mean of log P(class | features).
    """

    network: str
    repeat: int
    fold: int
    n_features: int
    accuracy: float
    log_joint: float
    log_class: float


@dataclass(frozen=True)
class NetworkPair:
    """Two networks: the edges that they share, and tests of the difference in accuracy.

    ``shared`` counts the edges between features that are in both trees, in either direction,
    ``same_direction`` those with the same direction; ``shared_children`` counts the features that are
    children of the class in both trees. ``difference`` is the mean difference in accuracy.
    ``first_only`` and ``second_only`` count the samples that only one of the two networks classifies
    correctly, and ``mcnemar`` is the exact p-value of McNemar's test of these counts. ``t_test`` is the
    p-value of the t-test over all folds, corrected for overlapping training parts.
    """

    first: str
    second: str
    shared: int
    same_direction: int
    shared_children: int
    difference: float
    first_only: int
    second_only: int
    mcnemar: float
    t_test: float


@dataclass(frozen=True)
class NetworkComparison:
    """The result of `compare_networks`.

    Attributes
    ----------
    networks : dict of str to TreeNetwork
        Learned from all samples; ``columns`` are column indices of the table.
    relevance_weight : float
        Weight of relevance in J.
    scores : list of FoldScore
        One per network and fold.
    pairs : list of NetworkPair
        One per pair of networks.
    n_splits, repeats : int
        Number of folds and of repetitions of the cross-validation.
    same_columns : bool
        Whether all networks have the same features, so that ``log_joint`` and J can be compared.
    """

    networks: dict[str, TreeNetwork]
    relevance_weight: float
    scores: list[FoldScore]
    pairs: list[NetworkPair]
    n_splits: int
    repeats: int
    same_columns: bool

    def summary(self) -> list[dict[str, Any]]:
        """Summarize each network: its size, J on all samples, and means over the folds.

        Returns
        -------
        rows : list of dict
        """
        rows = []
        for name, network in self.networks.items():
            own = [score for score in self.scores if score.network == name]
            rows.append(
                {
                    "network": name,
                    "n_features": len(network),
                    "children": int((network.parents == ROOT).sum()),
                    "edges": int((network.parents != ROOT).sum()),
                    "objective": network.objective(self.relevance_weight),
                    "log_joint": float(np.mean([score.log_joint for score in own])),
                    "log_class": float(np.mean([score.log_class for score in own])),
                    "accuracy": float(np.mean([score.accuracy for score in own])),
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Convert the comparison to plain values that can be written as JSON.

        Returns
        -------
        found : dict
        """
        return {
            "n_splits": self.n_splits,
            "repeats": self.repeats,
            "relevance_weight": self.relevance_weight,
            "same_columns": self.same_columns,
            "networks": [
                {**row, "tree": [list(edge) for edge in self.networks[row["network"]].edges]}
                for row in self.summary()
            ],
            "pairs": [asdict(pair) for pair in self.pairs],
        }

    def to_frame(self) -> pd.DataFrame:
        """Convert the summary to a pandas dataframe with one row per network.

        Returns
        -------
        frame : DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'slfs[cli]'") from error
        return pd.DataFrame(self.summary()).set_index("network")

    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Format the comparison as three tables of text.

        Returns
        -------
        tables : list of (head, lines)
            The networks, the edges of each pair, and the accuracies of each pair.
        """
        networks = [
            [
                row["network"],
                str(row["n_features"]),
                str(row["children"]),
                str(row["edges"]),
                f"{row['objective']:.3f}",
                f"{row['log_joint']:.3f}",
                f"{row['log_class']:.4f}",
                f"{100 * row['accuracy']:.2f}",
            ]
            for row in self.summary()
        ]
        head = [
            "network",
            "features",
            "below the class",
            "other edges",
            f"J (weight {self.relevance_weight:g})",
        ]
        edges = [
            [
                f"{pair.first}, {pair.second}",
                *map(str, (pair.shared, pair.same_direction, pair.shared_children)),
            ]
            for pair in self.pairs
        ]
        tests = [
            [
                f"{pair.first} less {pair.second}",
                f"{100 * pair.difference:+.2f}",
                f"{pair.t_test:.2g}",
                f"{pair.first_only} : {pair.second_only}",
                f"{pair.mcnemar:.2g}",
            ]
            for pair in self.pairs
        ]
        return [
            ([*head, "log P(x,y)", "log P(y|x)", "accuracy, %"], networks),
            (["edges between features", "shared", "same direction", "both below the class"], edges),
            (["accuracy", "points", "p (t-test)", "right alone", "p (McNemar)"], tests),
        ]

    def __str__(self) -> str:
        """Return the three tables as aligned text."""
        return "\n\n".join(_aligned([head, *lines]) for head, lines in self.tables())


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    """Align columns of text: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = (
        [
            line[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True)),
        ]
        for line in lines
    )
    return "\n".join("  ".join(row).rstrip() for row in rows)
