"""HTML and SVG as text: elements whose text is escaped, and how text of files is made plain in them.

`element` escapes whatever is not `Markup`: what a file says stays text, wherever it stands. Names of elements
and of attributes, and style sheets, are the program's own; none of it runs a script or loads anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias

#: Characters of one foreign text that are shown, unless more is asked for.
SHOWN = 2_000
#: What stands for characters that act on the page or on their neighbours: controls, surrogates, directions.
_MARK = "\N{REPLACEMENT CHARACTER}"
#: What stays beside what is printed: ends of lines, tabs, spaces that keep words together.
_SPACES = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
#: Elements that have no content, in HTML.
_VOID = frozenset({"br", "col", "hr", "meta"})


class Markup(str):
    """Text that is HTML or SVG already: `element` takes it as it is, and escapes all other text."""

    __slots__ = ()


Content: TypeAlias = "str | Iterable[Content]"


def plain(text: str, most: int = SHOWN) -> str:
    """Return foreign text that acts on nothing: cut, with a mark for each character that is not printed.

    Ends of lines and tabs stay. What turns the direction of text around is not printed, and neither are
    surrogates, which no page could be encoded with.
    """
    cut = text if len(text) <= most else text[:most] + "…"
    if cut.isprintable():
        return cut
    return "".join(each if each.isprintable() or each in _SPACES else _MARK for each in cut)


def markup(*content: Content) -> Markup:
    """Return contents one after the other as markup; texts in them are escaped."""
    return Markup("".join(_made(each) for each in content))


def _made(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return escape(plain(content))
    return "".join(map(_made, content))


def element(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """Return an element of HTML or SVG.

    Parameters
    ----------
    content
        What stands in it: markup as it is, texts escaped, or any number of both.
    attributes
        By name, where ``_`` stands for ``-``, and one at the end is left out (``class_``). None and False
        leave an attribute out; True gives one without a value.
    """
    opening = name + "".join(_attribute(each.rstrip("_"), value) for each, value in attributes.items())
    return Markup(f"<{opening}>" if name in _VOID else f"<{opening}>{markup(*content)}</{name}>")


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.replace("_", "-")
    if value is True:
        return f" {name}"
    # An attribute is one line: a break would be read as a blank anyway.
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(plain(text).replace(chr(10), " "))}"'


def table(headings: Sequence[Content], rows: Iterable[Sequence[Content]], **attributes: str) -> Markup:
    """Return a table with a row of headings; without one where there are none."""
    head = element("thead", element("tr", (element("th", each, scope="col") for each in headings)))
    body = element("tbody", (element("tr", (element("td", cell) for cell in row)) for row in rows))
    return element("table", head if headings else "", body, **attributes)


def folded(summary: Content, *content: Content, is_open: bool = False, **attributes: str) -> Markup:
    """Return what is hidden behind a summary until somebody unfolds it; browsers do so without a script."""
    return element("details", element("summary", summary), *content, open=is_open, **attributes)


def style(*rules: str) -> Markup:
    """Return a style sheet of the program's own rules, never of foreign text."""
    return Markup(f"<style>{''.join(rules)}</style>")


def page(title: str, sheet: str, *content: Content) -> str:
    """Return a whole page that needs nothing else: no script, no address; browsers load nothing for it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        # By which a report knows an earlier one, that it may replace.
        element("meta", name="generator", content="refbrowser"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("title", title),
        style(sheet),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *content), lang='en')}\n"
