"""A name that does not exist -> similar names that do."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def similar_names(wanted: str, names: Sequence[str], cutoff: float = 0.6) -> list[str]:
    """Return up to three names that are similar to the wanted one; case does not matter."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    near = difflib.get_close_matches(wanted.casefold(), folded, n=3, cutoff=cutoff)
    return [name for key in near for name in folded[key]][:3]
