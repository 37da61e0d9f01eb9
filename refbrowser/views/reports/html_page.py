"""A report as one page of HTML that needs nothing else: no script, no address; light, dark and on paper."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

from refbrowser.limits import LIMITS
from refbrowser.markup import Content, Markup, element, markup, page, plain
from refbrowser.version import __version__
from refbrowser.views.reports.shareable import shareable, shareable_html
from refbrowser.words import binary_size_text

_LIGHT = """--text: #1c1e21; --soft: #59616b; --back: #ffffff; --card: #f6f7f9; --line: #dde1e6;
  --accent: #2b5fa4; --fault: #b3261e; --warning: #8a5a00; --good: #1b6e3c;"""
_DARK = """--text: #e6e8eb; --soft: #a3abb5; --back: #16181b; --card: #1f2226; --line: #363b42;
  --accent: #8ab4f0; --fault: #ff8a80; --warning: #ffc668; --good: #7ad9a0;"""
_STYLE = f"""
a {{ color: var(--accent); }}
:root {{ color-scheme: light dark; {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 66rem; margin: 0 auto; padding: 2.25rem 1.5rem 3rem; }}
h1 {{ font-size: 1.45rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.1rem; margin: 2.25rem 0 .6rem; overflow-wrap: anywhere; }}
h3 code {{ font-size: .95em; font-weight: 600; }}
h3 {{ font-size: 1rem; margin: 0; overflow-wrap: anywhere; }}
p {{ margin: .3rem 0; overflow-wrap: anywhere; }}
code, pre, td.mono {{ font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }}
pre {{ margin: .4rem 0; white-space: pre-wrap; }}
dl {{ display: grid; grid-template-columns: var(--names, max-content) minmax(0, 1fr); gap: .15rem 1.25rem;
  margin: .5rem 0; }}
dt {{ color: var(--soft); }}
dd {{ margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }}
.about {{ font-size: .92rem; margin: 0; padding-bottom: 1.1rem; border-bottom: 1px solid var(--line); }}
.verdict {{ font-size: 1.1rem; font-weight: 600; margin: 1.4rem 0 .4rem; }}
.soft {{ color: var(--soft); }}
.good {{ color: var(--good); }} .fault {{ color: var(--fault); }} .warning {{ color: var(--warning); }}
.card {{ background: var(--card); border: 1px solid var(--line); border-left: .25rem solid var(--line);
  border-radius: .4rem; padding: .7rem 1rem .8rem; margin: 0 0 .9rem; break-inside: avoid-page; }}
.card.is-good {{ border-left-color: var(--good); }}
.card.is-warning {{ border-left-color: var(--warning); }}
.card.is-fault {{ border-left-color: var(--fault); }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: .93rem; margin: .5rem 0; }}
table.fixed {{ table-layout: fixed; }}
th, td {{ text-align: left; vertical-align: top; padding: .32rem 1rem .32rem 0;
  border-bottom: 1px solid var(--line); }}
th {{ color: var(--soft); font-weight: 600; white-space: nowrap; }}
th:last-child, td:last-child {{ padding-right: 0; }}
td {{ overflow-wrap: anywhere; }}
td.mono {{ white-space: pre-wrap; }}
th.number, td.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
td:first-child {{ min-width: 9rem; }}
tbody tr:last-child td {{ border-bottom: 0; }}
summary {{ cursor: pointer; color: var(--soft); margin-top: .4rem; }}
footer {{ margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); color: var(--soft);
  font-size: .88rem; }}
@media (max-width: 36rem) {{
  main dl {{ grid-template-columns: minmax(0, 1fr); }}
  main dd {{ margin-bottom: .4rem; }}
}}
@media print {{
  :root {{ color-scheme: light; {_LIGHT} }}
  html {{ font-size: 13px; }}
  body {{ max-width: none; padding: 0; font-size: 10pt; }}
  .scroll {{ overflow: visible; }}
  tr {{ break-inside: avoid; }}
  h2, h3 {{ break-after: avoid; }}
  details::details-content {{ content-visibility: visible; block-size: auto; }}
}}
"""


@dataclass(frozen=True, slots=True)
class Made:
    """How a report came about.

    Attributes
    ----------
    command
        The command that asked for it, fit to be sent to others; empty where it was none.
    when
        Seconds since 1970; the present when None.
    """

    command: str = ""
    when: float | None = None

    @property
    def seconds(self) -> float:
        """When it was made, in seconds since 1970."""
        return time.time() if self.when is None else self.when


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """What a report shows as a page.

    Attributes
    ----------
    title
        What it is.
    about
        What it is of: names in plain words and values, such as the document.
    sections
        The report, from the top down. The page may end behind any of them.
    style
        More rules of its style.
    """

    title: str
    about: Sequence[tuple[str, Content]] = ()
    sections: Iterable[Markup] = ()
    style: str = ""


def page_text(report: ReportPage, made: Made | None = None) -> str:
    """Return a page, fit to be sent to others; longer than `LIMITS.page_size` it ends early, and says so."""
    return page(
        shareable(report.title),
        _STYLE + report.style,
        element("header", _heading(report, made or Made())),
        element("main", _bounded(report.sections)),
    )


def page_bytes(report: ReportPage, made: Made | None = None) -> bytes:
    """Return a page as its file holds it."""
    return page_text(report, made).encode("utf-8", "replace")


def _heading(report: ReportPage, made: Made) -> Markup:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(made.seconds))
    rows: list[tuple[Content, Content]] = [*report.about, ("Made", f"{when}, by refbrowser {__version__}")]
    if made.command:
        rows.append(("Command", element("code", made.command)))
    return _shareable(markup(element("h1", report.title), definitions(rows, class_="about")))


def _bounded(sections: Iterable[Markup]) -> Iterator[Markup]:
    left = LIMITS.page_size
    for item in sections:
        left -= len(item)
        if left < 0:
            most = binary_size_text(LIMITS.page_size)
            yield verdict(f"The page ends here: no page is larger than {most}.", "warning")
            break
        yield _shareable(item)


def _shareable(item: Markup) -> Markup:
    return Markup(shareable_html(item))


# What pages are made of


def verdict(text: str, state: str = "") -> Markup:
    """Return the line that says most.

    Parameters
    ----------
    state
        ``good``, ``warning``, ``fault``, or empty for neither.
    """
    return element("p", text, class_=f"verdict {state}".rstrip())


def soft(*content: Content) -> Markup:
    """Return a paragraph that stands back behind the others."""
    return element("p", *content, class_="soft")


def code(text: str) -> Markup:
    """Return text in the type of code; nothing of an empty one."""
    return element("code", text) if text else Markup()


def long_text(text: str, most: int) -> Markup:
    """Return text of which more is shown than of others."""
    return Markup(escape(plain(text, most)))


def definitions(pairs: Iterable[tuple[Content, Content]], **attributes: str) -> Markup:
    """Return names with their values beside them; nothing where there are none."""
    pending = iter(pairs)
    shown = islice(pending, LIMITS.page_rows)
    rows = [markup(element("dt", name), element("dd", value)) for name, value in shown]
    more = _more(pending)
    if more:
        rows.append(markup(element("dt", more), element("dd")))
    return element("dl", rows, **attributes) if rows else Markup()


def listing(
    headings: Sequence[str], rows: Iterable[Sequence[Content]], kinds: Sequence[str] = (), **attributes: str
) -> Markup:
    """Return a table; rows beyond `LIMITS.page_rows` are counted.

    Parameters
    ----------
    kinds
        Classes of the columns: ``number``, ``mono``, or empty.
    """
    classes = [kind or None for kind in (*kinds, *[""] * (len(headings) - len(kinds)))]
    columns = list(zip(headings, classes, strict=True))
    head = element("tr", (element("th", heading, scope="col", class_=kind) for heading, kind in columns))
    pending = iter(rows)
    lines = [
        element("tr", (element("td", cell, class_=kind) for cell, kind in zip(row, classes, strict=True)))
        for row in islice(pending, LIMITS.page_rows)
    ]
    more = _more(pending)
    if more:
        lines.append(element("tr", element("td", more, class_="soft", colspan=len(headings))))
    inner = element("table", element("thead", head), element("tbody", lines), **attributes)
    return element("div", inner, class_="scroll")


def _more(pending: Iterator[object]) -> str:
    left = sum(1 for _ in pending)
    return f"and {left:,} more" if left else ""
