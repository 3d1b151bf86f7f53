"""A network -> text that other programs draw, Mermaid and HTML, in which names do no harm."""

from __future__ import annotations

from html import escape

from slfs.network.tree import ROOT, TreeNetwork

_MOST = 500
"""Nodes that a notebook shows."""


def mermaid(network: TreeNetwork) -> str:
    """The tree in the language of Mermaid; nodes are called root, n0, n1, ... and carry their names."""
    lines = ["flowchart TD", f'  root(["{_entities(network.root_name)}"])']
    lines += [f'  n{node}["{_entities(name)}"]' for node, name in enumerate(network.names)]
    for node, parent in enumerate(network.parents.tolist()):
        above = "root" if parent == ROOT else f"n{parent}"
        lines.append(f"  {above} -->|{network.edge_label(node)}| n{node}")
    return "\n".join(lines)


def html(network: TreeNetwork) -> str:
    """The tree as nested lists, most relevant first among siblings, each with I(f;Y)."""
    summary = f"{len(network)} features, depth {int(network.levels.max(initial=0))}"
    lines = [
        f'<div class="slfs-network"><strong>{_shown(network.root_name)}</strong> ({summary})',
        "<ul>",
    ]
    waiting: list[int | str] = ["</ul>", *_children(network, ROOT)]
    n_shown = 0
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            lines.append(node)
        elif n_shown < _MOST:
            n_shown += 1
            told = f"{network.relevance[node]:.3f}"
            lines.append(f"<li>{_shown(network.names[node])} <small>{told} nats</small>")
            below = _children(network, node)
            if below:
                lines.append("<ul>")
                waiting += ["</ul></li>", *below]
            else:
                lines.append("</li>")
    if n_shown < len(network):
        lines.append(f"<em>and {len(network) - n_shown} more</em>")
    return "\n".join([*lines, "</div>"])


def _children(network: TreeNetwork, node: int) -> list[int]:
    return [child for child, _ in network.drawn_children(node)]


def _shown(name: str) -> str:
    """A name in HTML; what cannot be printed is spelled out."""
    return escape("".join(map(_printed, name))) or "(no name)"


def _entities(name: str) -> str:
    """A name in a Mermaid string: all but letters, digits and a few marks as #number;."""
    printed = "".join(map(_printed, name))
    kept = (char if char.isalnum() or char in " _,()" else f"#{ord(char)};" for char in printed)
    return "".join(kept).strip() or "(no name)"


def _printed(char: str) -> str:
    return char if char.isprintable() else repr(char)[1:-1]
