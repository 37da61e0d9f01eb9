"""A comparison as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ArrayComparison, ChunkState, Comparison
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
from refbrowser.views.reports.html_page import ReportPage, listing, long_text, soft, verdict

#: Cells of a drawn grid along each side; a larger one is drawn by blocks, the worst state of each.
CELLS = 64
#: What is told first of a block of chunks.
_WORST = (
    ChunkState.CHANGED,
    ChunkState.ONLY_HERE,
    ChunkState.ONLY_THERE,
    ChunkState.MOVED,
    ChunkState.UNDECIDED,
    ChunkState.APART,
    ChunkState.SAME,
    ChunkState.MISSING,
)
#: Colour of each state, light and dark, told apart by people who see few colours; and a sign.
_COLOURS = {
    ChunkState.MISSING: ("#e8e8e8", "#303030", ""),
    ChunkState.SAME: ("#9fbfdf", "#35567a", ""),
    ChunkState.MOVED: ("#f0b429", "#b07d12", "m"),
    ChunkState.CHANGED: ("#d1495b", "#d1495b", "x"),
    ChunkState.ONLY_HERE: ("#2a9d8f", "#2a9d8f", "\N{MINUS SIGN}"),
    ChunkState.ONLY_THERE: ("#7b5ea7", "#9a7fc4", "+"),
    ChunkState.APART: ("#c9d6c3", "#4b5a46", ""),
    ChunkState.UNDECIDED: ("#ffffff", "#101010", "?"),
}
_STYLE = """
.grid { display: block; margin: .6rem 0; max-width: 100%; height: auto; border: 1px solid var(--line); }
.legend { font-size: .92rem; }
.legend span { display: inline-block; margin-right: 1.1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .9em; height: .9em; border: 1px solid var(--line);
  margin-right: .4em; vertical-align: -0.1em; }
.grid text { fill: #000000; }
.grid, .legend i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
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
        style=_STYLE + _state_style(),
    )


def _sections(comparison: Comparison) -> Iterator[Markup]:
    equal = comparison.is_equal
    yield verdict(summary_of(comparison), "warning" if equal is None else "good" if equal else "fault")
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


# The grid of chunks


def _grid_of(array: ArrayComparison) -> Iterator[Markup]:
    states = array.chunks.states
    if states is None or not states.size or not array.chunks.different:
        return
    cells = cells_of(states)
    height, width = cells.shape
    side = max(4, min(16, 640 // max(width, 1)))
    yield element(
        "svg",
        (run for row in range(height) for run in _runs(cells[row], row, side)),
        class_="grid",
        role="img",
        aria_label=f"chunks of {array.path}: {chunk_words(array.chunks)}",
        width=width * side,
        height=height * side,
        viewBox=f"0 0 {width * side} {height * side}",
    )
    there = (state for state in ChunkState if (states == state).any())
    yield element("p", map(_legend, there), class_="legend")


def _legend(state: ChunkState) -> Markup:
    sign = f" ({_COLOURS[state][2]})" if _COLOURS[state][2] else ""
    return element("span", element("i", class_=f"s{int(state)}"), f"{state.words}{sign}")


def _runs(cells: npt.NDArray[np.uint8], row: int, side: int) -> Iterator[Markup]:
    cuts = np.flatnonzero(np.diff(cells)) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(cells)]
    for start, stop in zip(starts, stops, strict=True):
        state = ChunkState(int(cells[start]))
        x, y, width = start * side, row * side, (stop - start) * side
        yield element("rect", class_=f"s{int(state)}", x=x, y=y, width=width, height=side)
        sign = _COLOURS[state][2]
        if sign and side >= 10:
            for at in range(stop - start):
                yield element(
                    "text",
                    sign,
                    x=x + side * at + side // 2,
                    y=y + side - 3,
                    font_size=side - 3,
                    text_anchor="middle",
                )


def cells_of(states: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the states of a grid as a picture: the last dimension across, all others down.

    Of a grid that is larger than `CELLS` each cell has the worst state of its chunks.
    """
    flat = states.reshape(-1, states.shape[-1]) if states.ndim > 1 else states.reshape(1, -1)
    rank = np.zeros(len(ChunkState), np.uint8)
    for place, state in enumerate(reversed(_WORST)):
        rank[state] = place
    worst = rank[flat]
    for axis in (0, 1):
        size = worst.shape[axis]
        if size > CELLS:
            starts = np.linspace(0, size, CELLS, endpoint=False).astype(np.int64)
            worst = np.maximum.reduceat(worst, starts, axis=axis)
    back = np.array([int(state) for state in reversed(_WORST)], np.uint8)
    return back[worst]


def _state_style() -> str:
    light = "".join(
        f".s{int(state)} {{ fill: {pair[0]}; background: {pair[0]}; }} " for state, pair in _COLOURS.items()
    )
    dark = "".join(
        f".s{int(state)} {{ fill: {pair[1]}; background: {pair[1]}; }} " for state, pair in _COLOURS.items()
    )
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n"
