"""What is said about the element under the pointer: where it is, its value, its chunk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refbrowser.errors import quoted
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture
from refbrowser.views.plot.plot_kind import Sought
from refbrowser.views.plot.plot_kinds import best
from refbrowser.views.plot.reading import ElementCoordinate

_SEPARATOR = "   "
#: Characters of a line that are shown as one text.
_TEXT_SHOWN = 500


def readout(
    picture: Picture,
    shown: Interpretation,
    coordinates: Sequence[Coordinate],
    indices: Sequence[int],
    auxiliary: Sequence[ElementCoordinate] = (),
) -> str:
    """Return one line about the element at `indices` (along the axes of the plot); empty outside the picture.

    Where values are sampled it tells of the value that is drawn there, at the indices of that value.
    """
    position = picture.position(indices)
    if position is None:
        return ""
    exact = [taken[at] for taken, at in zip(picture.plan.ranges, position, strict=True)]
    places = []
    for axis, index in zip(picture.plan.slice.axes, exact, strict=True):
        text = coordinates[axis].text(index)
        name = coordinates[axis].name
        places.append(f"{name} {text} [{index}]" if text else f"{name} [{index}]")
    full = list(picture.plan.slice.indices)
    for axis, index in zip(picture.plan.slice.axes, exact, strict=True):
        full[axis] = index
    told = [(each.name, each.text(full)) for each in auxiliary]
    places += [f"{name} {text}" for name, text in told if text]
    # The value first: what does not fit at the end of a line is cut.
    parts = [value_at(picture, shown, position), *places, f"chunk {chunk_key(picture, exact)}"]
    return _SEPARATOR.join(parts)


def chunk_key(picture: Picture, indices: Sequence[int]) -> str:
    """Return the key of the chunk that holds the element at `indices` (along the axes of the plot)."""
    coords = picture.chunk_coords(indices)
    return picture.node.manifest.key(coords)


def value_at(picture: Picture, shown: Interpretation, position: tuple[int, ...]) -> str:
    """Return the value at a position of the picture with its units, or why there is none."""
    state = picture.state_at(position)
    if state is ChunkState.PENDING:
        return "still loading"
    if state is ChunkState.MISSING:
        fill = picture.node.fill_value
        reads = "" if fill is None else f", reads as {value_text(fill)}"
        return f"missing chunk{reads}"
    if state is ChunkState.FAILED:
        error = picture.error_at(position)
        return f"could not be read: {error.message}" if error is not None else "could not be read"
    cut, value = picture.plan.slice, picture.values[position]
    text = best(Sought(shown, cut)).text(shown, cut, value)
    if state is ChunkState.FILLED:
        return f"{text} (chunk not stored: fill value)"
    return f"{text} ({STALE_NAME})" if picture.is_stale_at(position) else text


def notes_of(picture: Picture, detailed: bool, part: bool) -> list[str]:
    """Return what a picture leaves out; not what `detailed` shows in full; `part`: it is of a part only."""
    notes = []
    if picture.plan.is_sampled and not detailed:
        steps = " × ".join(str(step) for step in picture.plan.steps)
        notes.append(f"one value of {steps} is shown; zoom in for more")
    if part:
        notes.append("a part is shown; pan to read on")
    if picture.finished and picture.error is not None:
        notes.append("not read to the end")
    if text := _line_text(picture):
        notes.append(f"as one text: {quoted(text, _TEXT_SHOWN)}")
    return notes


def _line_text(picture: Picture) -> str:
    """Return the text that single characters along the last dimension make; empty where they are none."""
    values, plan = picture.values, picture.plan
    is_character = values.dtype == "S1" or values.dtype.newbyteorder("=") == "U1"
    along_last = plan.slice.axes == (len(picture.node.shape) - 1,)
    if not is_character or not along_last or plan.is_sampled or not picture.all_done:
        return ""
    first = values[: _TEXT_SHOWN + 1]
    if values.dtype.kind == "U":
        return "".join(first.tolist())
    # Characters of one byte each are together the bytes of UTF-8.
    return np.ascontiguousarray(first).tobytes().rstrip(b"\0").decode("utf-8", "backslashreplace")
