"""A comparison as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refbrowser.engine.comparing.differences import ArrayComparison, Comparison
from refbrowser.markup import Markup, element, markup
from refbrowser.references.edits.compare import Side
from refbrowser.tools.compare.comparison_words import (
    ComparedRow,
    chunk_words,
    compared_of,
    nodes_of,
    row_of,
    summary_of,
    value_words,
)
from refbrowser.views.chunks.states_drawing import layout_rules, state_rules, states_drawing
from refbrowser.views.reports.html_page import ReportPage, listing, long_text, soft, verdict
from refbrowser.views.reports.verdict_states import comparison_state

_STYLE = f"""
{layout_rules("var(--line)")}
.legend {{ font-size: .92rem; }}
.grid, .legend i {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
{state_rules(is_dark=False)}
@media screen and (prefers-color-scheme: dark) {{ {state_rules(is_dark=True)} }}
"""
#: Characters of either side of a difference that are shown.
_SIDE = 20_000


def page_of(comparison: Comparison) -> ReportPage:
    """Return a comparison as a page; all text of datasets is plain text in it."""
    here, there = comparison.here, comparison.there
    return ReportPage(
        title=f"Comparison of {here} and {there}",
        about=(
            ("Here", f"{here} ({comparison.format_here})"),
            ("There", f"{there} ({comparison.format_there})"),
            ("Compared", compared_of(comparison.arrays)),
        ),
        sections=_sections(comparison),
        style=_STYLE,
    )


def _sections(comparison: Comparison) -> Iterator[Markup]:
    yield verdict(summary_of(comparison), comparison_state(comparison))
    yield from map(soft, comparison.notes)
    arrays = {each.path: each for each in comparison.arrays}
    for node in nodes_of(comparison):
        grid = _grid_of(arrays[node.path]) if node.path in arrays else ()
        yield markup(element("h2", node.path or "Documents"), grid, _table(node.rows))
    if comparison.spelled:
        rows = _table(map(row_of, comparison.spelled))
        yield markup(element("h2", "Spelled differently"), soft("These mean the same."), rows)
    if comparison.arrays:
        yield markup(element("h2", "All arrays in both"), _all_arrays(comparison))


def _table(rows: Iterable[ComparedRow]) -> Markup:
    cells = ((row.what, *_sides(row), row.note) for row in rows)
    return listing(("What", "Here", "There", "Note"), cells, ("", "mono", "mono"), class_="fixed")


def _sides(row: ComparedRow) -> tuple[Markup, Markup]:
    here, there = (long_text(text, _SIDE) for text in (row.here, row.there))
    if row.side is Side.HERE:
        return here, element("span", "not there", class_="soft")
    if row.side is Side.THERE:
        return element("span", "not here", class_="soft"), there
    return here, there


def _all_arrays(comparison: Comparison) -> Markup:
    cells = (
        (
            each.path,
            str(each.verdict),
            chunk_words(each.chunks),
            "not compared" if each.values is None else value_words(each.values),
        )
        for each in comparison.arrays
    )
    return listing(("Array", "Equality", "References", "Values"), cells)


def _grid_of(array: ArrayComparison) -> Iterator[Markup]:
    states = array.chunks.states
    if states is not None and states.size and array.chunks.different:
        yield from states_drawing(states, f"chunks of {array.path}: {chunk_words(array.chunks)}")
