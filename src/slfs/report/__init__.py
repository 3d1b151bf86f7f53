"""A fitted selector -> its report: plain facts, and one HTML file that needs nothing else."""

from slfs.report.facts import make_facts
from slfs.report.html import render_html, write_report

__all__ = ["make_facts", "render_html", "write_report"]
