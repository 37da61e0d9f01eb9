"""Which message supplied each element of a slice: later messages count where they overlap."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.io.cancel import CancelToken
from refbrowser.wings.ncstream.reading.message_reader import arrived_boxes, lost_sections
from refbrowser.wings.ncstream.reading.sections import Ints, Sections
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: In the place of a row of `Supply.numbers`: no message gave the element; it was not found out.
NEVER, UNDECIDED = -1, -2
#: Nor in this case: the message with the element is damaged, or may be, or was cut off before it.
LOST = -3
#: More messages than these are not counted one by one.
MOST_COUNTED = 255
#: Factors up to this one are multiplied without a thought of overflow.
_SMALL = 1 << 31
#: Messages of so few elements each are laid down together, so many elements at once.
_SMALL_SECTION, _AT_ONCE = 256, 1 << 19
#: Messages that are laid down one by one, and the pause after them, in seconds: the window goes on meanwhile.
_ROUND, _REST = 256, 0.0005


@dataclass(frozen=True, slots=True)
class Positions:
    """Which of the indices that a picture takes along an axis each message gives: `first::step`, to `stop`.

    Where a message gives none of them, `stop` is not above `first`.
    """

    first: Ints
    stop: Ints
    step: Ints

    @property
    def is_any(self) -> npt.NDArray[np.bool_]:
        """Which messages give any."""
        return self.stop > self.first

    @property
    def count(self) -> Ints:
        """How many each gives, where it gives any."""
        return (self.stop - self.first - 1) // self.step + 1


def _along(sections: Sections, axis: int) -> tuple[Ints, Ints, Ints]:
    """Return starts, sizes and strides along one dimension."""
    return sections.starts[:, axis], sections.sizes[:, axis], sections.strides[:, axis]


def positions_in(taken: range, starts: Ints, sizes: Ints, strides: Ints) -> Positions:
    """Return where the sections of messages along one axis meet the indices `taken` (its step is positive).

    Both are arithmetic progressions, and so is what they share.
    """
    count = len(starts)
    last = starts + (sizes - 1) * strides
    shared = np.gcd(strides, taken.step)
    step = strides // shared
    distance = starts - taken.start
    offset, rest = np.divmod(distance % strides, shared)
    first = np.zeros(count, np.int64)
    for stride in np.unique(strides).tolist():
        rows = strides == stride
        first[rows] = _solution(offset[rows], stride, taken.step)
    # Not before the section begins: in whole steps from the first solution.
    lowest = -(-distance // taken.step)
    first += np.maximum(0, -(-(lowest - first) // step)) * step
    # A sum that overflowed is far behind the end.
    first = np.where(first < 0, len(taken), first)
    stop = np.minimum(len(taken), (last - taken.start) // taken.step + 1)
    return Positions(first, np.where(rest == 0, stop, 0), step)


def _solution(offset: Ints, stride: int, taken_step: int) -> Ints:
    """Return the least p, not negative, with ``p * taken_step = offset * gcd`` modulo `stride`."""
    shared = math.gcd(stride, taken_step)
    modulus = stride // shared
    inverse = pow(taken_step // shared, -1, modulus) if modulus > 1 else 0
    if modulus < _SMALL:
        return offset % modulus * inverse % modulus
    exact = [each * inverse % modulus for each in offset.tolist()]
    return np.array(exact, np.int64)


@dataclass(frozen=True, eq=False)
class Supply:
    """What supplied each element of a slice, or of every n-th of it.

    Attributes
    ----------
    numbers
        Numbers of the messages that have a part in the slice, ascending.
    rows
        For each element the row in `numbers` of the message that counts, int32; else `NEVER`, `UNDECIDED` or
        `LOST`.
        In the order of the axes: ``(y, x)`` or ``(x,)``.
    counts
        How many messages gave it, uint8, at most `MOST_COUNTED`.
    axes
        The dimensions of the slice.
    ranges
        The indices along them that it was found out for.
    sections
        Of all messages of the array.
    """

    numbers: Ints
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]
    axes: tuple[int, ...]
    ranges: tuple[range, ...]
    sections: Sections

    @cached_property
    def seen(self) -> Ints:
        """How many elements each of `numbers` supplies."""
        known = self.rows[self.rows >= 0]
        return np.bincount(known, minlength=len(self.numbers)).astype(np.int64)

    @cached_property
    def overwritten(self) -> int:
        """How many elements several messages gave."""
        return int(np.count_nonzero(self.counts > 1))

    def count(self, what: int) -> int:
        """Return how many elements are `NEVER` sent, `UNDECIDED` or `LOST`."""
        return int(np.count_nonzero(self.rows == what))

    def box(self, row: int) -> tuple[slice, ...]:
        """Return which positions of `rows` a message gave: the one of a row of `numbers`."""
        at = int(np.searchsorted(self.sections.numbers, self.numbers[row]))
        found = []
        for axis, taken in zip(self.axes, self.ranges, strict=True):
            columns = (column[at : at + 1] for column in _along(self.sections, axis))
            found += _slices(positions_in(taken, *columns))
        return tuple(found)

    def message_at(self, position: Sequence[int]) -> int:
        """Return the number of the message that supplied the element at a position of `rows`.

        `NEVER`, `UNDECIDED` or `LOST` where there is none.
        """
        row = int(self.rows[tuple(position)])
        return row if row < 0 else int(self.numbers[row])


def messages_of_element(sections: Sections, index: Sequence[int]) -> list[int]:
    """Return the numbers of all messages that gave one element, in their order: the last one counts.

    What came before a damaged one that was to give it does not count any more.
    """
    given = _announced(sections, index)
    if is_cut_off(sections, index):
        given[-1] = False
    if sections.damaged is not None and (broken := np.flatnonzero(given & sections.damaged)).size:
        given[: broken[-1] + 1] = False
    return [int(number) for number in sections.numbers[given]]


def is_lost(sections: Sections, index: Sequence[int]) -> bool:
    """Tell whether one element is lost, if no message gave it: a damaged one may have."""
    if sections.has_lost_rest or is_cut_off(sections, index):
        return True
    return sections.damaged is not None and bool(sections.damaged[_announced(sections, index)].any())


def is_cut_off(sections: Sections, index: Sequence[int]) -> bool:
    """Tell whether the stream was cut off before one element, in the message that was to give it."""
    if sections.arrived < 0 or not _announced(sections, index)[-1]:
        return False
    steps = (np.asarray(index, np.int64) - sections.starts[-1]) // sections.strides[-1]
    place = 0
    for step, size in zip(steps.tolist(), sections.sizes[-1].tolist(), strict=True):
        place = place * size + step
    return place >= sections.arrived


def _announced(sections: Sections, index: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Return in which sections one element is."""
    at = np.asarray(index, np.int64)[None, :]
    distance = at - sections.starts
    given = (
        (distance >= 0) & (distance % sections.strides == 0) & (distance // sections.strides < sections.sizes)
    )
    return given.all(axis=1)


def taken_for(lengths: Sequence[int], most: int | None = None) -> tuple[range, ...]:
    """Return the indices along axes of these lengths for a picture of at most so many elements."""
    room = STREAM_LIMITS.supply_elements if most is None else most
    side = max(1, int(room ** (1 / max(1, len(lengths)))))
    return tuple(range(0, length, max(1, -(-length // side))) for length in lengths)


def supply_of(
    sections: Sections,
    indices: Sequence[int],
    axes: Sequence[int],
    ranges: Sequence[range],
    token: CancelToken | None = None,
) -> Supply:
    """Return what supplied the elements of a slice.

    Work is bounded: where very many messages lie over each other, what the last of them did not give may stay
    `UNDECIDED`.

    Parameters
    ----------
    indices
        One for each dimension; those of the axes are not looked at.
    axes
        The dimensions of the slice, in the order of the answer.
    ranges
        The indices that are taken along them; steps are positive.
    """
    whole = sections if sections.arrived < 0 else sections.taken(np.arange(len(sections) - 1))
    meets, found = _met(whole, indices, axes, ranges)
    numbers = whole.numbers[meets]
    given = [Positions(each.first[meets], each.stop[meets], each.step[meets]) for each in found]
    shape = tuple(len(taken) for taken in ranges)
    lay = _laid_element_by_element if _are_small(given, len(numbers)) else _laid_one_by_one
    rows, counts = lay(shape, given, len(numbers), token or CancelToken())
    if whole.damaged is not None:
        broken = np.append(whole.damaged[meets], [False, False])
        # The two that were added are those for `UNDECIDED` and `NEVER`.
        rows[broken[rows]] = LOST
    supply = Supply(numbers, rows, counts, tuple(axes), tuple(ranges), sections)
    supply = supply if whole is sections else _with_cut(supply, indices)
    if sections.has_lost_rest:
        supply.rows[supply.rows == NEVER] = LOST
    return supply


def _met(
    sections: Sections, indices: Sequence[int], axes: Sequence[int], ranges: Sequence[range]
) -> tuple[npt.NDArray[np.bool_], list[Positions]]:
    """Return which sections have a part in a slice, and where each of them is along its axes."""
    meets = np.ones(len(sections.numbers), bool)
    for axis in range(len(indices)):
        if axis not in axes:
            meets &= positions_in(range(indices[axis], indices[axis] + 1), *_along(sections, axis)).is_any
    found = [positions_in(taken, *_along(sections, axis)) for axis, taken in zip(axes, ranges, strict=True)]
    for each in found:
        meets &= each.is_any
    return meets, found


def _with_cut(supply: Supply, indices: Sequence[int]) -> Supply:
    """Return a slice with what arrived of the last message over it, and the `LOST` elements below."""
    sections = supply.sections
    columns = (sections.starts[-1], sections.sizes[-1], sections.strides[-1])
    each = zip(*(column.tolist() for column in columns), strict=True)
    section = tuple(range(start, start + (size - 1) * by + 1, by) for start, size, by in each)
    for lost in lost_sections(section, sections.arrived):
        for where in _places(supply, indices, lost):
            part = supply.rows[where]
            part[part == NEVER] = LOST
    row = len(supply.numbers)
    for box in arrived_boxes(section, sections.arrived):
        for where in _places(supply, indices, box.section):
            supply.rows[where] = row
            supply.counts[where] += supply.counts[where] < MOST_COUNTED
    return replace(supply, numbers=np.append(supply.numbers, sections.numbers[-1]))


def _places(supply: Supply, indices: Sequence[int], box: Sequence[range]) -> list[tuple[Any, ...]]:
    """Return which positions of a slice a box gives, as an index; none where it has no part in it."""
    each = np.array([(side.start, len(side), side.step) for side in box], np.int64).reshape(1, -1, 3)
    sections = Sections(np.zeros(1, np.int64), each[..., 0], each[..., 1], each[..., 2])
    meets, found = _met(sections, indices, supply.axes, supply.ranges)
    return [tuple(slice for each in found for slice in _slices(each))] if meets[0] else []


def _are_small(given: Sequence[Positions], count: int) -> bool:
    """Tell whether messages give so few elements each that laying them down one by one would take longer."""
    elements = np.ones(count)
    for each in given:
        elements *= each.count
    return bool(len(given)) and float(elements.sum()) <= min(
        _SMALL_SECTION * count, STREAM_LIMITS.supply_work
    )


def _laid_element_by_element(
    shape: tuple[int, ...], given: Sequence[Positions], count: int, token: CancelToken
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Lay the elements of messages down, those of many at once: the last one that is written counts."""
    rows = np.full(math.prod(shape), NEVER, np.int32)
    counts = np.zeros(len(rows), np.uint8)
    elements = np.ones(count, np.int64)
    for each in given:
        elements *= each.count
    ends = np.cumsum(elements)
    first = 0
    while first < count:
        token.check()
        done = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, done + _AT_ONCE, "right")))
        places = _flat_places(shape, given, elements, slice(first, stop))
        rows[places] = np.repeat(np.arange(first, stop, dtype=np.int32), elements[first:stop])
        times = np.bincount(places, minlength=len(rows))
        counts[:] = np.minimum(counts + times, MOST_COUNTED)
        first = stop
    return rows.reshape(shape), counts.reshape(shape)


def _flat_places(
    shape: tuple[int, ...], given: Sequence[Positions], elements: Ints, some: slice
) -> npt.NDArray[np.int64]:
    """Return where in the picture the elements of some messages are, message after message."""
    sizes = elements[some]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    left = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places: npt.NDArray[Any] = np.zeros(len(owner), np.int64)
    weight = 1
    for length, each in zip(reversed(shape), reversed(given), strict=True):
        left, along = np.divmod(left, each.count[some][owner])
        places = places + weight * (each.first[some][owner] + along * each.step[some][owner])
        weight *= length
    return places


def _slices(positions: Positions) -> Any:
    columns = (positions.first, positions.stop, positions.step)
    return (slice(*each) for each in zip(*(column.tolist() for column in columns), strict=True))


def _laid_one_by_one(
    shape: tuple[int, ...], given: Sequence[Positions], count: int, token: CancelToken
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Lay messages over each other from the last to the first: what is there counts."""
    bounds = [list(_slices(each)) for each in given]
    rows = np.full(shape, NEVER, np.int32)
    counts = np.zeros(shape, np.uint8)
    work = STREAM_LIMITS.supply_work
    for row in range(count - 1, -1, -1):
        if row % _ROUND == 0:
            token.check()
            time.sleep(_REST)
        # With the dots it is a view for a scalar, too.
        where: tuple[Any, ...] = (*(axis[row] for axis in bounds), ...)
        part, times = rows[where], counts[where]
        work -= times.size
        if work < 0:
            rows[rows == NEVER] = UNDECIDED
            break
        part[times == 0] = row
        times += times < MOST_COUNTED
    return rows, counts
