"""A tree over selected features, rooted at the class: what SLFS learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx

ROOT = -1
"""The place of the class variable: parent of the features at level 1."""


@dataclass(frozen=True)
class TreeNetwork:
    """A tree Bayesian network over features, with the class at its root.

    Nodes stand in the order in which they joined the tree. All information is in nats.

    Attributes
    ----------
    names : tuple of str
        Name of each node.
    columns : ndarray of shape (n_nodes,)
        Column of each node in the table.
    parents : ndarray of shape (n_nodes,)
        Place of each node's parent among the nodes; -1 for the class.
    levels : ndarray of shape (n_nodes,)
        1 for the children of the class, 2 for theirs, and so on.
    relevance, entropy : ndarray of shape (n_nodes,)
        R(f) = I(f;Y) and H(f).
    mutual_information, conditional_relevance : ndarray of shape (n_nodes,)
        I(f;pa) and I(f;Y|pa), pa being the parent; R(f) and 0 where the parent is the class.
    class_name : str
        What the root is called in drawings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> network = SLFS().fit(*load_iris(return_X_y=True, as_frame=True)).network_
    >>> print(network)
    target
    ├── petal width (cm)
    │   └── sepal width (cm)
    └── petal length (cm)
        └── sepal length (cm)
    """

    names: tuple[str, ...]
    columns: NDArray[np.int64]
    parents: NDArray[np.int64]
    levels: NDArray[np.int64]
    relevance: NDArray[np.float64]
    entropy: NDArray[np.float64]
    mutual_information: NDArray[np.float64]
    conditional_relevance: NDArray[np.float64]
    class_name: str = "class"

    def __len__(self) -> int:
        return len(self.names)

    def children(self, node: int = ROOT) -> list[int]:
        """Find the children of a node, in the order in which they joined.

        Parameters
        ----------
        node : int, default=-1
            Its place among the nodes; by default the class.

        Returns
        -------
        children : list of int
            Their places.
        """
        return np.flatnonzero(self.parents == node).tolist()

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) by name, the class under its own name."""
        return [
            (self._name(parent), name) for parent, name in zip(self.parents, self.names, strict=True)
        ]

    def objective(self, relevance_weight: float = 1.0) -> float:
        """The criterion J of the paper (eq. 6): how well the tree explains features and class.

        Parameters
        ----------
        relevance_weight : float, default=1.0
            Weight of relevance against redundancy.

        Returns
        -------
        objective : float
            Sum over nodes of I(f;pa) - H(f) + lambda (R(f) - I(f;Y|pa)).
        """
        likelihood = self.mutual_information - self.entropy
        return float(
            (likelihood + relevance_weight * (self.relevance - self.conditional_relevance)).sum()
        )

    def edge_label(self, node: int) -> str:
        """What is written at the edge above a node: the information that it carries.

        Parameters
        ----------
        node : int
            Its place among the nodes.

        Returns
        -------
        label : str
        """
        return f"{self.mutual_information[node]:.3f}"

    def to_networkx(self) -> networkx.DiGraph[str]:
        """A networkx.DiGraph with the class as root; nodes and edges carry the information figures.

        A feature that has the name of the class variable is told apart from it by a prime.

        Returns
        -------
        graph : networkx.DiGraph
        """
        try:
            import networkx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx: pip install networkx, or slfs with its extra 'plot'"
            ) from error
        graph: networkx.DiGraph[str] = networkx.DiGraph()
        graph.add_node(self._name(ROOT), level=0)
        for node, name in enumerate(self.names):
            graph.add_node(
                name,
                level=int(self.levels[node]),
                relevance=float(self.relevance[node]),
                entropy=float(self.entropy[node]),
            )
            graph.add_edge(
                self._name(self.parents[node]),
                name,
                mutual_information=float(self.mutual_information[node]),
                conditional_relevance=float(self.conditional_relevance[node]),
            )
        return graph

    def to_dot(self) -> str:
        """Write the tree in the language of Graphviz.

        Returns
        -------
        text : str
        """
        lines = ["digraph slfs {", "  node [shape=box, style=rounded];"]
        lines.append(f"  {_quoted(self._name(ROOT))} [shape=ellipse];")
        for node, (parent, child) in enumerate(self.edges):
            lines.append(f'  {_quoted(parent)} -> {_quoted(child)} [label="{self.edge_label(node)}"];')
        return "\n".join([*lines, "}"])

    def to_mermaid(self) -> str:
        """Write the tree in the language of Mermaid, which Markdown pages and notebooks draw.

        Returns
        -------
        text : str
        """
        from slfs.network.drawing import mermaid

        return mermaid(self)

    def _repr_html_(self) -> str:
        """The tree as nested lists: what a notebook shows."""
        from slfs.network.drawing import html

        return html(self)

    def __str__(self) -> str:
        """Draw the tree in text, most relevant first among siblings."""
        return "\n".join([self._name(ROOT), *self._branches()])

    def __repr__(self) -> str:
        return f"TreeNetwork({len(self)} features, depth {int(self.levels.max(initial=0))})"

    def _branches(self) -> Iterator[str]:
        waiting = [(child, "", last) for child, last in self.drawn_children(ROOT)]
        while waiting:
            node, indent, last = waiting.pop()
            yield f"{indent}{'└── ' if last else '├── '}{self._shown(node)}"
            below = indent + ("    " if last else "│   ")
            waiting += [(child, below, end) for child, end in self.drawn_children(node)]

    def drawn_children(self, node: int) -> list[tuple[int, bool]]:
        """Find the children of a node, the last to be drawn first.

        Parameters
        ----------
        node : int
            Its place among the nodes, -1 for the class.

        Returns
        -------
        children : list of (int, bool)
            Their places, and whether each is the last to be drawn.
        """
        children = sorted(self.children(node), key=lambda child: self.relevance[child])
        return [(child, place == 0) for place, child in enumerate(children)]

    def _shown(self, node: int) -> str:
        """What stands for a node in the drawing in text."""
        return self.names[node]

    def _name(self, node: int) -> str:
        return self.root_name if node == ROOT else self.names[int(node)]

    @property
    def root_name(self) -> str:
        """The name of the class variable, with a prime if a feature has the same."""
        name = self.class_name
        while name in self.names:
            name += "'"
        return name


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
