"""A comparison as a page of HTML that needs nothing else: no script, no address, readable light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ArrayComparison, ChunkState, Comparison
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
from refbrowser.views.words import plain_lines

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
:root { color-scheme: light dark; --text: #1a1a1a; --page: #ffffff; --line: #d0d0d0; --muted: #5f5f5f;
  --here: #0b6e5f; --there: #6a3fa0; --band: #f4f4f4; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --page: #1b1b1b; --line: #444444;
  --muted: #a8a8a8; --here: #62d2c0; --there: #c3a3f0; --band: #262626; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { background: var(--band); font-weight: 600; } td.mono { font: 13px/1.4 ui-monospace, monospace;
  white-space: pre-wrap; }
.muted { color: var(--muted); } .here { color: var(--here); } .there { color: var(--there); }
.grid { display: block; margin: .6rem 0; max-width: 100%; height: auto; border: 1px solid var(--line); }
.legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .9em; height: .9em; border: 1px solid var(--line);
  margin-right: .3em; vertical-align: -0.1em; }
"""


def comparison_html(comparison: Comparison) -> str:
    """Return the page; all text of datasets is plain text in it."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    names = comparison.here, comparison.there
    title = f"{_text(names[0])} and {_text(names[1])}"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>{title}</title><style>{_STYLE}{_state_style()}</style></head><body>"
    yield f"<h1>{_text(summary_of(comparison))}</h1>"
    yield f'<p><b class="here">here</b> {_text(names[0])} ({_text(comparison.format_here)})<br>'
    yield f'<b class="there">there</b> {_text(names[1])} ({_text(comparison.format_there)})</p>'
    yield f'<p class="muted">{_text(compared_of(comparison.arrays))}</p>'
    for note in comparison.notes:
        yield f'<p class="muted">{_text(note)}</p>'
    arrays = {each.path: each for each in comparison.arrays}
    for node in nodes_of(comparison):
        yield f"<h2>{_text(node.path or 'Documents')}</h2>"
        if node.path in arrays:
            yield from _grid_of(arrays[node.path])
        yield from _table(node.rows)
    if comparison.spelled:
        yield '<h2>Spelled differently</h2><p class="muted">These mean the same.</p>'
        yield from _table(tuple(map(row_of, comparison.spelled)))
    yield from _all_arrays(comparison)
    yield "</body></html>"


def _table(rows: tuple[ComparedRow, ...]) -> Iterator[str]:
    yield "<table><tr><th>What</th><th>Here</th><th>There</th><th>Note</th></tr>"
    for row in rows:
        here, there = (_text(text) for text in (row.here, row.there))
        if row.side is Side.HERE:
            there = '<span class="muted">not there</span>'
        elif row.side is Side.THERE:
            here = '<span class="muted">not here</span>'
        yield (
            f'<tr><td>{_text(row.what)}</td><td class="mono">{here}</td>'
            f'<td class="mono">{there}</td><td>{_text(row.note)}</td></tr>'
        )
    yield "</table>"


def _all_arrays(comparison: Comparison) -> Iterator[str]:
    if not comparison.arrays:
        return
    yield "<h2>All arrays in both</h2>"
    yield "<table><tr><th>Array</th><th>Equality</th><th>References</th><th>Values</th></tr>"
    for each in comparison.arrays:
        values = "not compared" if each.values is None else value_words(each.values)
        yield (
            f"<tr><td>{_text(each.path)}</td><td>{each.verdict}</td><td>{_text(chunk_words(each.chunks))}</td>"
            f"<td>{_text(values)}</td></tr>"
        )
    yield "</table>"


# The grid of chunks


def _grid_of(array: ArrayComparison) -> Iterator[str]:
    states = array.chunks.states
    if states is None or not states.size or not array.chunks.different:
        return
    cells = cells_of(states)
    height, width = cells.shape
    side = max(4, min(16, 640 // max(width, 1)))
    size = f'width="{width * side}" height="{height * side}" viewBox="0 0 {width * side} {height * side}"'
    label = _text(f"chunks of {array.path}: {chunk_words(array.chunks)}")
    yield f'<svg class="grid" role="img" aria-label="{label}" {size}>'
    for row in range(height):
        yield from _runs(cells[row], row, side)
    yield "</svg><p class='legend'>"
    for state in ChunkState:
        if (states == state).any():
            sign = f" ({_COLOURS[state][2]})" if _COLOURS[state][2] else ""
            yield f'<span><i class="s{int(state)}"></i>{state.words}{sign}</span>'
    yield "</p>"


def _runs(cells: npt.NDArray[np.uint8], row: int, side: int) -> Iterator[str]:
    cuts = np.flatnonzero(np.diff(cells)) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(cells)]
    for start, stop in zip(starts, stops, strict=True):
        state = ChunkState(int(cells[start]))
        x, y, width = start * side, row * side, (stop - start) * side
        yield f'<rect class="s{int(state)}" x="{x}" y="{y}" width="{width}" height="{side}"/>'
        sign = _COLOURS[state][2]
        if sign and side >= 10:
            yield from (
                f'<text x="{x + side * at + side // 2}" y="{y + side - 3}" font-size="{side - 3}" '
                f'text-anchor="middle">{sign}</text>'
                for at in range(stop - start)
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
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


def _text(text: str) -> str:
    return escape(plain_lines(text, len(text)))
