"""A chunk grid as a drawing: the last two dimensions as a face, each one before them as a strip above it.

Nothing but the grid is asked, and what is drawn has one size, whatever the number of chunks: where edges
would lie too close together only some are drawn, dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.markup import Markup, element
from refbrowser.model.chunk_axes import ChunkAxis, RegularAxis
from refbrowser.model.grid import ChunkGrid
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

#: Width of strips and faces, height of a strip, and the longest and shortest sides of a face, in pixels.
_WIDTH, _STRIP, _TALLEST, _SHORTEST = 220, 12, 170, 34
#: Pixels between edges at least.
_APART = 4
#: Strips that are drawn; further dimensions are counted.
_STRIPS = 4
#: Characters of the name of a dimension.
_NAME = 24
#: Pixels of a character, about, and between a shape and what is said of it.
_LETTER, _GAP, _LINE = 6.2, 10, 15
#: What is drawn of a chunk along one dimension at least, in pixels.
_VISIBLE = 2.0


@dataclass(frozen=True, slots=True)
class DrawnAxis:
    """One dimension, as long as it is drawn.

    Attributes
    ----------
    words
        Its name and size, and how it is divided.
    length
        In pixels.
    places
        Edges of chunks from 0 to `length`, both of these included.
    first
        Where the first chunk ends.
    is_whole
        Whether all edges are among them.
    """

    words: tuple[str, str]
    length: float
    places: tuple[float, ...]
    first: float
    is_whole: bool


def drawn_axis(axis: ChunkAxis, name: str | None, length: float) -> DrawnAxis:
    """Return a dimension with its edges; of many those nearest to some that lie evenly."""
    size, count = axis.size, axis.count
    words = f"{_cut(name)} {count_text(size)}".strip(), chunk_words(axis)
    if not size or not count:
        return DrawnAxis(words, length, (0.0, length), 0.0, True)
    most = max(1, int(length // _APART))
    inner = range(1, count) if count <= most else [count * at // most for at in range(1, most)]
    # One by one and in Python's integers: dimensions may be as long as those of 64 bits.
    starts = [length * (int(axis.start(chunk)) / size) for chunk in inner]
    first = length * (min(int(axis.extent(0)), size) / size)
    places = (0.0, *dict.fromkeys(round(start, 2) for start in starts if 0 < start < length), length)
    return DrawnAxis(words, length, places, min(max(first, _VISIBLE), length), count <= most)


def chunk_words(axis: ChunkAxis) -> str:
    """Return how a dimension is divided: ``12 chunks of 1``, ``5 chunks of 28 to 31``."""
    count = counted_spaced(axis.count, "chunk")
    if isinstance(axis, RegularAxis):
        return count if axis.count <= 1 else f"{count} of {count_text(axis.largest)}"
    extents = axis.runs.extents
    shortest, longest = int(extents.min(initial=axis.largest)), int(extents.max(initial=0))
    if shortest >= longest:
        return f"{count} of {count_text(longest)}"
    return f"{count} of {count_text(shortest)} to {count_text(longest)}"


def _cut(name: str | None) -> str:
    text = one_line(name or "")
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"


def chunk_drawing(grid: ChunkGrid, names: Sequence[str | None]) -> Markup:
    """Return the drawing of a grid as SVG; nothing of one without dimensions.

    Parameters
    ----------
    names
        Of the dimensions, None for one without.
    """
    axes = grid.dimensions
    if not axes:
        return Markup("")
    labels = [*names, *[None] * (len(axes) - len(names))]
    drawing = _Drawing(has_first=grid.size > 1)
    leading = max(0, len(axes) - 2)
    for axis, name in list(zip(axes, labels, strict=False))[: min(leading, _STRIPS)]:
        drawing.add_strip(drawn_axis(axis, name, _WIDTH), _STRIP)
    if leading > _STRIPS:
        drawing.add_line(f"and {counted_spaced(leading - _STRIPS, 'more dimension')}")
    if len(axes) == 1:
        drawing.add_strip(drawn_axis(axes[0], labels[0], _WIDTH), _SHORTEST)
    else:
        height, width = face_sides(axes[-2].size, axes[-1].size)
        down, across = drawn_axis(axes[-2], labels[-2], height), drawn_axis(axes[-1], labels[-1], width)
        drawing.add_face(down, across)
    if drawing.is_partial:
        drawing.add_line("Dashed: only some of the edges are drawn.")
    return drawing.svg(f"chunk grid: {counted_spaced(grid.size, 'chunk')}")


def face_sides(rows: int, columns: int) -> tuple[float, float]:
    """Return the height and width of a face: in proportion, unless a side would be too short to be seen."""
    if rows <= 0 or columns <= 0:
        return float(_SHORTEST), float(_WIDTH)
    scale = min(_TALLEST / rows, _WIDTH / columns)
    return max(rows * scale, float(_SHORTEST)), max(columns * scale, float(_SHORTEST))


class _Drawing:
    """Shapes below each other, and how large they are together.

    Parameters
    ----------
    has_first
        Whether the first chunk is one of several, and marked.
    """

    def __init__(self, *, has_first: bool) -> None:
        self._has_first = has_first
        self._shapes: list[Markup] = []
        self._height, self._width = 1.0, 0.0
        self.is_partial = False

    def add_strip(self, axis: DrawnAxis, height: float) -> None:
        """Add a dimension by itself, with its words beside it."""
        top = self._height
        self._add_box(top, DrawnAxis(("", ""), height, (0.0, height), height, True), axis)
        self._say_line(axis.length + _GAP, top + height / 2 + 4, *axis.words)
        self._height = top + height + 7

    def add_face(self, down: DrawnAxis, across: DrawnAxis) -> None:
        """Add two dimensions: the words of one beside it, of the other below it."""
        top = self._height
        self._add_box(top, down, across)
        self._say_below(across.length + _GAP, top + down.length / 2 - 3, *down.words)
        self._say_line(0, top + down.length + _LINE, *across.words)
        self._height = top + down.length + _LINE + 6

    def add_line(self, words: str) -> None:
        """Add words."""
        self._say_line(0, self._height + 10, "", words)
        self._height += _LINE + 2

    def _add_box(self, top: float, down: DrawnAxis, across: DrawnAxis) -> None:
        width, height = across.length, down.length
        self._shapes.append(element("rect", x=0, y=top, width=width, height=height, class_="rb-face"))
        if self._has_first:
            sides = {"width": across.first, "height": down.first}
            title = element("title", "the first chunk")
            self._shapes.append(element("rect", title, x=0, y=top, class_="rb-first", **sides))
        for axis, lines in (
            (across, [f"M{place:g} {top:g}v{height:g}" for place in across.places]),
            (down, [f"M0 {top + place:g}h{width:g}" for place in down.places]),
        ):
            ends = [lines[0], lines[-1]]
            self._shapes.append(element("path", d="".join(ends), class_="rb-edges"))
            if lines[1:-1]:
                kind = "rb-edges" if axis.is_whole else "rb-edges rb-some"
                self._shapes.append(element("path", d="".join(lines[1:-1]), class_=kind))
            self.is_partial |= not axis.is_whole
        self._width = max(self._width, width)

    def _say_line(self, x: float, y: float, strong: str, soft: str) -> None:
        """Put words at a place, in one line."""
        told = element("tspan", soft, class_="rb-soft", dx=8 if strong else None)
        self._shapes.append(element("text", strong, told, x=x, y=y))
        self._widen(x, len(strong) + len(soft) + 2)

    def _say_below(self, x: float, y: float, strong: str, soft: str) -> None:
        """Put words at a place, and what is soft below them."""
        told = element("tspan", soft, class_="rb-soft", x=x, y=y + _LINE)
        self._shapes.append(element("text", element("tspan", strong, x=x, y=y), told, x=x, y=y))
        self._widen(x, max(len(strong), len(soft)))

    def _widen(self, x: float, letters: int) -> None:
        self._width = max(self._width, x + letters * _LETTER)

    def svg(self, label: str) -> Markup:
        """Return all of it."""
        width, height = round(self._width + 2), round(self._height)
        return element(
            "svg",
            self._shapes,
            class_="rb-chunks",
            role="img",
            aria_label=label,
            width=width,
            height=height,
            viewBox=f"-1 0 {width} {height}",
        )
