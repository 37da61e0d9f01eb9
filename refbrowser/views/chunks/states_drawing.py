"""How the references of an array differ, drawn on its chunk grid: a colour and a sign for each state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ChunkState
from refbrowser.markup import Markup, element

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


def states_drawing(states: npt.NDArray[np.uint8], label: str, most: int = CELLS) -> Iterator[Markup]:
    """Yield the drawing of the states of a grid as SVG, and what its colours mean.

    Parameters
    ----------
    states
        `ChunkState` numbers in the shape of the grid, of one chunk at least.
    label
        What it shows, for those who do not see it.
    most
        Cells along each side.
    """
    cells = cells_of(states, most)
    height, width = cells.shape
    side = max(4, min(16, 640 // max(width, 1)))
    yield element(
        "svg",
        (run for row in range(height) for run in _runs(cells[row], row, side)),
        class_="grid",
        role="img",
        aria_label=label,
        width=width * side,
        height=height * side,
        viewBox=f"0 0 {width * side} {height * side}",
    )
    there = (state for state in ChunkState if (states == state).any())
    yield element("p", map(_legend, there), class_="legend")


def layout_rules(line: str, within: str = "") -> str:
    """Return rules of a style sheet for drawings, and for what their colours mean.

    Parameters
    ----------
    line
        The colour of the lines around them.
    within
        A selector of what they are in.
    """
    place = f"{within} " if within else ""
    rules = {
        ".grid": f"display: block; margin: .5rem 0; max-width: 100%; height: auto; border: 1px solid {line};",
        ".grid text": "fill: #000000;",
        ".legend span": "display: inline-block; margin-right: 1.1rem; white-space: nowrap;",
        ".legend i": "display: inline-block; width: .9em; height: .9em; margin-right: .4em; "
        f"vertical-align: -.1em; border: 1px solid {line};",
    }
    return "".join(f"{place}{name} {{ {rule} }}\n" for name, rule in rules.items())


def state_rules(*, is_dark: bool, within: str = "") -> str:
    """Return rules of a style sheet with the colours of states, for drawings within what a selector names."""
    place = f"{within} " if within else ""
    return "".join(
        f"{place}.s{int(state)} {{ fill: {pair[is_dark]}; background: {pair[is_dark]}; }} "
        for state, pair in _COLOURS.items()
    )


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


def cells_of(states: npt.NDArray[np.uint8], most: int = CELLS) -> npt.NDArray[np.uint8]:
    """Return the states of a grid as a picture: the last dimension across, all others down.

    Of a grid that is larger than `most` each cell has the worst state of its chunks.
    """
    flat = states.reshape(-1, states.shape[-1]) if states.ndim > 1 else states.reshape(1, -1)
    rank = np.zeros(len(ChunkState), np.uint8)
    for place, state in enumerate(reversed(_WORST)):
        rank[state] = place
    worst = rank[flat]
    for axis in (0, 1):
        size = worst.shape[axis]
        if size > most:
            starts = np.linspace(0, size, most, endpoint=False).astype(np.int64)
            worst = np.maximum.reduceat(worst, starts, axis=axis)
    back = np.array([int(state) for state in reversed(_WORST)], np.uint8)
    return back[worst]
