"""Sphinx configuration: Markdown with MyST, reference from docstrings, tutorials that are executed."""

import re
import sys
from pathlib import Path

import slfs

sys.path.insert(0, str(Path(__file__).parent))  # for mathml.py

project = "slfs"
author = "the authors of slfs"
release = version = slfs.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"slfs {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

# Types are in the docstrings, so signatures do not repeat them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_validation_exclude = {  # dataclasses, which describe their fields under "Attributes"
    r"(Tree|Consensus)Network$",
    r"slfs\.(Prediction|Regression)Explanation$",
    r"measures\.Stability$",
    r"evaluation\.(NetworkComparison|NetworkPair|FoldScore)$",
    r"files\.DataFile",
    r"tables\.(Table|NumberBlock|LabelBlock)$",
    r"files\.\w+\.(number|label|plane)_block$",  # inherit their docstrings, or are like them
    r"\.Interactions$",
    r"\.PairTable$",
}
numpydoc_validation_checks = {
    *("GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),  # sections: known, and in order
    *("SS01", "SS03", "SS06"),  # summary: one line with a full stop
    *("PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR08", "PR09", "PR10"),  # parameters
    *("RT01", "RT04", "RT05", "YD01", "SA02", "SA03"),  # returns, yields, see also
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/tutorials",
    "within_subsection_order": "ExampleTitleSortKey",
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": ("_repr_html_",),
}


def _skip_foreign(app, what, name, member, skip, options):  # noqa: ARG001
    """Skip methods inherited from scikit-learn, which documents them."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    return skip or not str(getattr(function, "__module__", "slfs")).startswith("slfs")


def _escape_shapes(app, what, name, member, options, lines):  # noqa: ARG001
    """Escape "(n_features_,)", which would be read as a link."""
    lines[:] = [re.sub(r"(?<=[( ]n_features)((?:_in)?)_(?=[,)])", r"\1\\_", line) for line in lines]


def setup(app):
    """Connect the two functions above."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("autodoc-process-docstring", _escape_shapes, priority=100)
