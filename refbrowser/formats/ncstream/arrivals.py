"""What arrived of the message that a stream was cut off within."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from refbrowser.formats.ncstream.data_facts import item_size
from refbrowser.formats.ncstream.faults import FramingError
from refbrowser.formats.ncstream.framing import Span, arrived_objects
from refbrowser.formats.ncstream.messages import Payload
from refbrowser.formats.ncstream.rows import Row
from refbrowser.formats.ncstream.window import Window


class Stretch(NamedTuple):
    """Elements of a section that follow each other in row-major order and fill a box.

    Attributes
    ----------
    first
        Number of the first one.
    section
        The box.
    """

    first: int
    section: tuple[range, ...]


def arrived_part(window: Window, cut: Row, elements: int) -> Span:
    """Return the whole elements that arrived of a message, and how many; -1 where that cannot be told.

    Parameters
    ----------
    cut
        Its payload begins at `payload_offset`, with its length or count.
    elements
        That its section has.
    """
    nothing = Span(cut.payload_offset, cut.payload_offset, 0)
    if cut.payload == Payload.SEQUENCE:
        return nothing._replace(objects=-1)
    if cut.fault or cut.deflated:
        return nothing
    try:
        said, start = window.varint(cut.payload_offset)
    except FramingError:
        return nothing
    size = item_size(cut.data_type)
    if cut.payload == Payload.VARIABLE and said == elements:
        return arrived_objects(window, start, said)
    if cut.payload == Payload.REGULAR and size and said == elements * size:
        count = (window.size - start) // size
        return Span(start, start + count * size, count)
    return nothing


def arrived_stretches(section: tuple[range, ...], arrived: int) -> list[Stretch]:
    """Return the first elements of a section as boxes: whole outer rows, then ever smaller parts of one."""
    shape = tuple(map(len, section))
    if not shape or not arrived:
        return []
    found, first = [], 0
    place: list[range] = []
    for axis, each in enumerate(section):
        inner = prod(shape[axis + 1 :])
        count, arrived = divmod(arrived, inner)
        if count:
            found.append(Stretch(first, (*place, each[:count], *section[axis + 1 :])))
        first += count * inner
        place.append(each[count : count + 1])
        if not arrived:
            break
    return found


def lost_sections(section: tuple[range, ...], arrived: int) -> list[tuple[range, ...]]:
    """Return all but the first elements of a section as boxes, in order."""
    if not section:
        return [()]
    found: list[tuple[range, ...]] = []
    place: list[range] = []
    for axis, each in enumerate(section):
        inner = prod(map(len, section[axis + 1 :]))
        count, arrived = divmod(arrived, inner)
        behind = count + (arrived > 0)
        if behind < len(each):
            found.append((*place, each[behind:], *section[axis + 1 :]))
        place.append(each[count : count + 1])
        if not arrived:
            break
    return found[::-1]
