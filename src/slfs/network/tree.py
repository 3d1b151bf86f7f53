"""A tree of selected features with the class at its root: the structure that SLFS learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import NodeIndex

if TYPE_CHECKING:
    import networkx

ROOT = NodeIndex(-1)
"""Index of the class variable, the parent of the features at level 1."""


@dataclass(frozen=True)
class TreeNetwork:
    """A tree Bayesian network over features, with the class at its root.

    Nodes are in the order in which they were added to the tree. All information is in nats.

    Attributes
    ----------
    names : tuple of str
        Name of each node.
    columns : ndarray of shape (n_nodes,)
        Index of each node in the table.
    parents : ndarray of shape (n_nodes,)
        Index of each node's parent among the nodes; -1 for the class.
    levels : ndarray of shape (n_nodes,)
        1 for the children of the class, 2 for theirs, and so on.
    relevance, entropy : ndarray of shape (n_nodes,)
        R(f) = I(f;Y) and H(f).
    mutual_information, conditional_relevance : ndarray of shape (n_nodes,)
        I(f;pa) and I(f;Y|pa), where pa is the parent; R(f) and 0 if the parent is the class.
    class_name : str
        Name of the root in drawings.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from slfs import SLFS
    >>> selector = SLFS(max_children=3, n_features_to_select=5)
    >>> network = selector.fit(*load_wine(return_X_y=True, as_frame=True)).network_
    >>> print(network)
    target
    ├── flavanoids
    │   └── hue
    ├── proline
    └── color_intensity
        └── alcohol
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
        """Return the children of a node, in the order in which they were added.

        Parameters
        ----------
        node : int, default=-1
            Index of the node; by default the class.

        Returns
        -------
        children : list of int
            Indices of the children.
        """
        return np.flatnonzero(self.parents == node).tolist()

    def take_columns(self, columns: NDArray[np.int64]) -> Self:
        """Return the same network for a table that has only some of the columns.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns in increasing order; they include all nodes.

        Returns
        -------
        network : TreeNetwork
        """
        return replace(self, columns=np.searchsorted(columns, self.columns))

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges as pairs of names (parent, child)."""
        return [
            (self._name(parent), name) for parent, name in zip(self.parents, self.names, strict=True)
        ]

    def objective(self, relevance_weight: float = 1.0) -> float:
        """Compute the criterion J of the paper (eq. 6): how well the tree explains features and class.

        Parameters
        ----------
        relevance_weight : float, default=1.0
            Weight of relevance against redundancy.

        Returns
        -------
        objective : float
            Sum over nodes of I(f;pa) - H(f) + relevance_weight * (R(f) - I(f;Y|pa)).
        """
        likelihood = self.mutual_information - self.entropy
        return float(
            (likelihood + relevance_weight * (self.relevance - self.conditional_relevance)).sum()
        )

    def edge_label(self, node: int) -> str:
        """Return the label of the edge above a node: the information shared with the parent.

        Parameters
        ----------
        node : int
            Index of the node.

        Returns
        -------
        label : str
        """
        return f"{self.mutual_information[node]:.3f}"

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Convert to a networkx.DiGraph whose nodes and edges have the information as attributes.

        If a feature has the same name as the class variable, the class gets a prime (').

        Returns
        -------
        graph : networkx.DiGraph
        """
        try:
            import networkx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx, which is not installed: pip install 'slfs[plot]'"
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
        """Export the tree in the DOT language of Graphviz.

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
        """Export the tree as a Mermaid flowchart, which Markdown pages and notebooks can show.

        Returns
        -------
        text : str
        """
        from slfs.network.drawing import mermaid

        return mermaid(self)

    def _repr_html_(self) -> str:
        """The tree as nested lists, shown by notebooks."""
        from slfs.network.drawing import html

        return html(self)

    def __str__(self) -> str:
        """Draw the tree as text; the most relevant siblings come first."""
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
        """Return the children of a node in reverse drawing order, so that a stack draws them in order.

        Parameters
        ----------
        node : int
            Index of the node, -1 for the class.

        Returns
        -------
        children : list of (int, bool)
            Index of each child, and whether it is the last one to be drawn.
        """
        children = sorted(self.children(node), key=lambda child: self.relevance[child])
        return [(child, position == 0) for position, child in enumerate(children)]

    def _shown(self, node: int) -> str:
        """The text of a node in the text drawing."""
        return self.names[node]

    def _name(self, node: int) -> str:
        return self.root_name if node == ROOT else self.names[int(node)]

    @property
    def root_name(self) -> str:
        """The name of the class variable, with a prime if a feature has the same name."""
        name = self.class_name
        while name in self.names:
            name += "'"
        return name


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
