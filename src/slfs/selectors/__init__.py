"""One selection method per file.

In: screened and packed columns. Out: a fitted selector with `support_`, `network_` and `features_`.
Start with `base.py`, the base class, and `cmim.py`, a short method. To add a method, add a file with a
class that derives from `BaseSelector` and is decorated with `register` from `registry.py`; the command
line, saving, the experiments and the checks find it there. Code that several methods share is in
`_shared`.
"""

from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register, selectors

__all__ = [
    "BaseSelector",
    "Decision",
    "Reason",
    "Selection",
    "below_class",
    "register",
    "selectors",
]
