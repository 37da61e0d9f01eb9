"""Pieces laid over each other: which of them are seen, and whether they leave anything uncovered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from refbrowser.model.values import SourcePiece

Box = tuple[slice, ...]
#: Cells that the edges of pieces may cut a part into; where there are more nothing is found out.
_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class Layers:
    """What is seen of pieces that are laid down one after the other.

    Attributes
    ----------
    seen
        Positions of those of which anything is seen, in their order.
    is_ordered
        Some of these lie over each other: they must be laid down in their order.
    is_covered
        They leave no element uncovered.
    """

    seen: tuple[int, ...]
    is_ordered: bool
    is_covered: bool


def layers_of(pieces: Sequence[SourcePiece], area: Box) -> Layers:
    """Return what is seen of pieces that lie in `area`.

    Nothing that is said is wrong; where finding out would take long, more is said to be seen, ordered and
    uncovered than is.

    Parameters
    ----------
    area
        Slices without steps.
    """
    if len(pieces) == 1:
        return Layers((0,), False, pieces[0].hides and _is_whole(pieces[0].target, area))
    boxes = [piece.target for piece in pieces]
    cuts = [
        sorted({part.start for part in parts} | {part.stop for part in parts})
        for parts in zip(area, *boxes, strict=True)
    ]
    shape = tuple(len(each) - 1 for each in cuts)
    if prod(shape) > _CELLS:
        return Layers(tuple(range(len(pieces))), True, False)
    return _seen(pieces, [{at: number for number, at in enumerate(each)} for each in cuts], shape)


def _seen(pieces: Sequence[SourcePiece], numbers: list[dict[int, int]], shape: tuple[int, ...]) -> Layers:
    #: Cells that are hidden from what lies below, and those in which anything lies.
    full, used = np.zeros(shape, bool), np.zeros(shape, bool)
    seen = []
    places = set()
    is_ordered = False
    for row in reversed(range(len(pieces))):
        box = pieces[row].target
        cells = tuple(
            slice(number[part.start], number[part.stop]) for number, part in zip(numbers, box, strict=True)
        )
        place = tuple((part.start, part.stop, part.step) for part in box)
        if place in places or full[cells].all():
            continue
        seen.append(row)
        is_ordered = is_ordered or bool(used[cells].any())
        used[cells] = True
        if not pieces[row].hides:
            continue
        places.add(place)
        if all(part.step in (None, 1) for part in box):
            full[cells] = True
    return Layers(tuple(reversed(seen)), is_ordered, bool(full.all()))


def _is_whole(box: Box, area: Box) -> bool:
    return all(
        (part.start, part.stop) == (all_.start, all_.stop) and part.step in (None, 1)
        for part, all_ in zip(box, area, strict=True)
    )
