"""How things show themselves in notebooks and at prompts, by what they are."""

from __future__ import annotations

from functools import singledispatch

from refbrowser.engine.dataset import Array, Dataset, Group
from refbrowser.model.report import Displayed, Report
from refbrowser.views.notebook.dataset_html import array_html, dataset_html, group_html
from refbrowser.views.notebook.dataset_text import (
    array_line,
    array_text,
    dataset_text,
    group_line,
    group_text,
)


@singledispatch
def html_of(thing: Displayed | Report) -> str:
    """Return what a notebook shows of something."""
    raise TypeError(f"nothing is known of how to show {type(thing).__name__}")


html_of.register(Dataset)(dataset_html)
html_of.register(Group)(group_html)
html_of.register(Array)(array_html)


@html_of.register
def _report_html(report: Report) -> str:
    # What audits and exports are made of is not loaded for a dataset.
    from refbrowser.views.notebook.report_html import report_html

    return report_html(report)


@singledispatch
def text_of(thing: Displayed) -> str:
    """Return the lines that a prompt shows of something by itself."""
    raise TypeError(f"nothing is known of how to show {type(thing).__name__}")


text_of.register(Dataset)(dataset_text)
text_of.register(Group)(group_text)
text_of.register(Array)(array_text)


@singledispatch
def line_of(thing: Displayed) -> str:
    """Return what stands for something among others; a dataset is seldom among any."""
    return text_of(thing)


line_of.register(Group)(group_line)
line_of.register(Array)(array_line)
