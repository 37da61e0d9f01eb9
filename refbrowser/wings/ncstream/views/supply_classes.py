"""Sorts the elements of a slice into few classes by the message that supplied them, to be coloured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from refbrowser.wings.ncstream.views.supply import LOST, NEVER, UNDECIDED, Supply

#: So many messages have a class each; more are put together, in so many classes.
MOST_ALONE, TOGETHER = 12, 16
#: Messages that are named in a picture.
MOST_NAMED = 400
#: Where in a box its label may stand, as parts of its sides: the middle first, then around it.
_PLACES = (
    (0.5, 0.5),
    (0.5, 0.2),
    (0.5, 0.8),
    (0.2, 0.5),
    (0.8, 0.5),
    (0.2, 0.2),
    (0.8, 0.8),
    (0.2, 0.8),
    (0.8, 0.2),
)


class SupplyKind(StrEnum):
    """Where the elements of a class have their values from."""

    MESSAGE = "message"
    #: Nothing gave them: they hold the fill value.
    NEVER = "never"
    UNDECIDED = "undecided"
    #: A message with them is damaged, or the stream was cut off before them: they are an error.
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class SupplyClass:
    """One entry of the legend.

    Attributes
    ----------
    first, last
        Numbers of the messages; -1 where there is none.
    place, total
        Which of how many looks it has; 0 of 0 where it is of no message. A message keeps its look from slice
        to slice where only few are seen.
    is_scale
        Whether several messages share each class: their colours then run from the first to the last.
    elements
        How many there are.
    overwritten
        How many of them several messages gave.
    """

    kind: SupplyKind
    first: int = -1
    last: int = -1
    place: int = 0
    total: int = 0
    is_scale: bool = False
    elements: int = 0
    overwritten: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ColouredSupply:
    """A slice by classes.

    Attributes
    ----------
    classes
        In the shape of `Supply.rows`: twice the position in `legend`, and 1 more where several messages gave
        the element.
    legend
        Without those of no elements.
    """

    supply: Supply
    classes: npt.NDArray[np.uint8]
    legend: tuple[SupplyClass, ...]


def coloured(supply: Supply) -> ColouredSupply:
    """Return what supplied the elements of a slice as classes to be coloured."""
    seen = np.flatnonzero(supply.seen)
    is_scale = len(seen) > MOST_ALONE
    groups = (
        np.array_split(seen, min(TOGETHER, len(seen)))
        if is_scale
        else [seen[at : at + 1] for at in range(len(seen))]
    )
    # One more place for each of the three that stand for no message, reached by -1 to -3.
    place_of = np.zeros(len(supply.numbers) + 3, np.uint8)
    legend = []
    repeated = supply.counts > 1
    places: Sequence[int] = range(len(groups)) if is_scale else _own_places(supply, seen)
    for at, (place, rows) in enumerate(zip(places, groups, strict=True)):
        place_of[rows] = at
        first, last = int(supply.numbers[rows[0]]), int(supply.numbers[rows[-1]])
        elements = int(supply.seen[rows].sum())
        legend.append(SupplyClass(SupplyKind.MESSAGE, first, last, place, len(groups), is_scale, elements))
    without = {NEVER: SupplyKind.NEVER, UNDECIDED: SupplyKind.UNDECIDED, LOST: SupplyKind.LOST}
    for what, kind in without.items():
        count = supply.count(what)
        if count:
            place_of[what] = len(legend)
            legend.append(SupplyClass(kind, elements=count))
    classes = place_of[supply.rows] * np.uint8(2)
    classes += repeated
    return ColouredSupply(supply, classes, tuple(_with_overwritten(legend, classes)))


def _own_places(supply: Supply, rows: npt.NDArray[np.int64]) -> list[int]:
    """Return a place for each of a few messages: the same one in every slice, unless another has it."""
    found: list[int] = []
    for place in np.searchsorted(supply.sections.numbers, supply.numbers[rows]).tolist():
        while place % MOST_ALONE in found:
            place += 1
        found.append(place % MOST_ALONE)
    return found


def _with_overwritten(legend: list[SupplyClass], classes: npt.NDArray[np.uint8]) -> list[SupplyClass]:
    """Return the legend with how many elements of each class several messages gave."""
    counts = np.bincount(classes.ravel(), minlength=2 * len(legend))
    return [replace(each, overwritten=int(counts[2 * at + 1])) for at, each in enumerate(legend)]


@dataclass(frozen=True, slots=True)
class Label:
    """Where a message can be named in a picture: an element that it supplies, near the middle.

    `centre` is a position in the picture, `box` the positions that its section has along each axis.
    """

    number: int
    centre: tuple[int, ...]
    box: tuple[slice, ...]


def labels(supply: Supply, most: int = MOST_NAMED) -> tuple[Label, ...]:
    """Return where messages can be named, those that supply most elements first.

    A message that was overwritten in all places that are tried has no label.
    """
    order = np.argsort(-supply.seen, kind="stable")[:most]
    found = []
    for row in order[supply.seen[order] > 0].tolist():
        box = supply.box(row)
        centre = _clear_place(supply, row, box)
        if centre is not None:
            found.append(Label(int(supply.numbers[row]), centre, box))
    return tuple(found)


def _clear_place(supply: Supply, row: int, box: tuple[slice, ...]) -> tuple[int, ...] | None:
    """Return an element of a box that a message supplies, with others that it supplies around."""
    only_one = None
    for parts in _PLACES:
        steps = [range(part.start, part.stop, part.step or 1) for part in box]
        at = [int((len(each) - 1) * part) for each, part in zip(steps, parts, strict=False)]
        place = tuple(each[index] for each, index in zip(steps, at, strict=True))
        if int(supply.rows[place]) != row:
            continue
        only_one = only_one or place
        around = tuple(
            slice(
                each[max(0, index - len(each) // 8)],
                each[min(len(each) - 1, index + len(each) // 8)] + 1,
                each.step,
            )
            for each, index in zip(steps, at, strict=True)
        )
        if (supply.rows[around] == row).all():
            return place
    return only_one
