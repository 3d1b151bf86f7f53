"""A network -> Mermaid and HTML text, with all names escaped."""

from __future__ import annotations

from html import escape

from slfs.network.tree import ROOT, TreeNetwork

_MAX_SHOWN = 500
"""Maximum number of nodes shown in a notebook."""


def mermaid(network: TreeNetwork) -> str:
    """Write the tree as a Mermaid flowchart with the node ids root, n0, n1, ..."""
    lines = ["flowchart TD", f'  root(["{_entities(network.root_name)}"])']
    lines += [f'  n{node}["{_entities(name)}"]' for node, name in enumerate(network.names)]
    for node, parent in enumerate(network.parents.tolist()):
        above = "root" if parent == ROOT else f"n{parent}"
        lines.append(f"  {above} -->|{network.edge_label(node)}| n{node}")
    return "\n".join(lines)


def html(network: TreeNetwork) -> str:
    """Write the tree as nested HTML lists with relevances; the most relevant siblings come first."""
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
        elif n_shown < _MAX_SHOWN:
            n_shown += 1
            relevance = f"{network.relevance[node]:.3f}"
            lines.append(f"<li>{_shown(network.names[node])} <small>{relevance} nats</small>")
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
    """Escape a name for HTML; unprintable characters are shown as escape sequences."""
    return escape("".join(map(_printed, name))) or "(no name)"


def _entities(name: str) -> str:
    """Escape a name for a Mermaid string: special characters become #number; entities."""
    printed = "".join(map(_printed, name))
    kept = (char if char.isalnum() or char in " _,()" else f"#{ord(char)};" for char in printed)
    return "".join(kept).strip() or "(no name)"


def _printed(char: str) -> str:
    return char if char.isprintable() else repr(char)[1:-1]
