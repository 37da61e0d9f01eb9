"""The pages of the manual: Markdown files among the resources."""

from __future__ import annotations

from typing import NamedTuple

from refbrowser.app.help.keys import as_markdown
from refbrowser.app.widgets.resources import resource
from refbrowser.formats.registry import foreign
from refbrowser.views.words import one_line

#: The pages in their order.
PAGES = (
    "index",
    "references",
    "stores",
    "streams",
    "awkward",
    "plots",
    "templates",
    "editing",
    "permissions",
    "export",
    "command_line",
    "preferences",
    "keyboard",
)
#: Stands in a page for the tables of all keys.
KEYS_MARK = "[[keys]]"
#: Stands in a page for the rows of formats of other packages.
FORMATS_MARK = "[[formats of other packages]]"


class Page(NamedTuple):
    """One page: its name in links, its title, and its text in Markdown."""

    name: str
    title: str
    text: str


def read_page(name: str) -> Page:
    """Return a page.

    Raises
    ------
    RefbrowserError
        It is not installed.
    """
    text = resource(f"manual/{name}.md").read_text("utf-8")
    if KEYS_MARK in text:
        text = text.replace(KEYS_MARK, as_markdown())
    if FORMATS_MARK in text:
        rows = (
            f"| {one_line(each.brief)} | drop it; another package reads it |\n" for each in foreign().formats
        )
        text = text.replace(f"{FORMATS_MARK}\n", "".join(rows))
    title = text.split("\n", 1)[0].lstrip("# ").strip()
    return Page(name, title, text)
