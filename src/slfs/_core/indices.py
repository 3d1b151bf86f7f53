"""Three ways to number columns, as types that cannot be mixed up."""

from typing import NewType

TableIndex = NewType("TableIndex", int)
"""A column of the user's table."""

PackedIndex = NewType("PackedIndex", int)
"""A column among those that were packed as bit planes."""

NodeIndex = NewType("NodeIndex", int)
"""A node of a network, in the order in which nodes joined; the class is -1."""
