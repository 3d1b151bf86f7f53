"""A fitted selector -> its report: one HTML file, or the same content as a dict.

Start with `html.py` for the page and `facts.py` for its content; `words.py` makes the sentences. A new
panel needs a value in `facts.py`, an element in `report.html` and a script.
"""

from typing import TYPE_CHECKING

from slfs._core.lazy import lazy_attributes

if TYPE_CHECKING:
    from slfs.report.facts import make_facts
    from slfs.report.html import render_html, write_report

__all__ = ["make_facts", "render_html", "write_report"]

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "make_facts": "slfs.report.facts",
        "render_html": "slfs.report.html",
        "write_report": "slfs.report.html",
    },
)
