"""LaTeX formulas -> MathML, which browsers render without scripts or a network connection."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def _visit_inline(writer, node):
    writer.body.append(_to_mathml(node, as_block=False))
    raise nodes.SkipNode  # its text is written


def _visit_display(writer, node):
    writer.body.append(f'<div class="math">{_to_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _to_mathml(node, *, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        _log.warning("%s in %r", error, node.astext(), location=node)
        return ""


def setup(app):
    """Offer the renderer under the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
