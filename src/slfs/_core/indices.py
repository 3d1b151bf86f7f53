"""The three kinds of column indices, as distinct types."""

from typing import NewType

TableIndex = NewType("TableIndex", int)
"""Index of a column in the user's table."""

PackedIndex = NewType("PackedIndex", int)
"""Index of a column among those that were packed as bit planes."""

NodeIndex = NewType("NodeIndex", int)
"""Index of a node of a network, in order of insertion; the class is -1."""
