"""Which message supplied each element of a slice: later messages count where they overlap."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.tiles import Ints, Sections
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: In the place of a row of `Supply.numbers`: no message gave the element; it was not found out.
NEVER, UNDECIDED = -1, -2
#: More messages than these are not counted one by one.
MOST_COUNTED = 255
#: Factors up to this one are multiplied without a thought of overflow.
_SMALL = 1 << 31
#: Messages that are laid down at once, and the pause after them, in seconds: the window goes on meanwhile.
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
        For each element the row in `numbers` of the message that counts, int32; else `NEVER` or `UNDECIDED`.
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
        """Return how many elements are `NEVER` sent or `UNDECIDED`."""
        return int(np.count_nonzero(self.rows == what))

    def box(self, row: int) -> tuple[slice, ...]:
        """Return which positions of `rows` a message gave: the one of a row of `numbers`."""
        at = np.searchsorted(self.sections.numbers, self.numbers[row])
        chosen = np.array([True])
        return tuple(
            next(
                _slices(
                    positions_in(taken, *(column[at : at + 1] for column in _along(self.sections, axis))),
                    chosen,
                )
            )
            for axis, taken in zip(self.axes, self.ranges, strict=True)
        )

    def message_at(self, position: Sequence[int]) -> int:
        """Return the number of the message that supplied the element at a position of `rows`.

        `NEVER` or `UNDECIDED` where there is none.
        """
        row = int(self.rows[tuple(position)])
        return row if row < 0 else int(self.numbers[row])


def messages_of_element(sections: Sections, index: Sequence[int]) -> list[int]:
    """Return the numbers of all messages that gave one element, in their order: the last one counts."""
    at = np.asarray(index, np.int64)[None, :]
    distance = at - sections.starts
    given = (
        (distance >= 0) & (distance % sections.strides == 0) & (distance // sections.strides < sections.sizes)
    )
    return [int(number) for number in sections.numbers[given.all(axis=1)]]


def taken_for(lengths: Sequence[int], most: int | None = None) -> tuple[range, ...]:
    """Return the indices along axes of these lengths for a picture of at most so many elements."""
    room = LIMITS.supply_elements if most is None else most
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

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    fixed = [axis for axis in range(len(indices)) if axis not in axes]
    meets = np.ones(len(sections.numbers), bool)
    for axis in fixed:
        meets &= positions_in(range(indices[axis], indices[axis] + 1), *_along(sections, axis)).is_any
    found = [positions_in(taken, *_along(sections, axis)) for axis, taken in zip(axes, ranges, strict=True)]
    for each in found:
        meets &= each.is_any
    numbers = sections.numbers[meets]
    bounds = [list(_slices(each, meets)) for each in found]
    shape = tuple(len(taken) for taken in ranges)
    rows, counts = _laid_down(shape, bounds, len(numbers), token or CancelToken())
    return Supply(numbers, rows, counts, tuple(axes), tuple(ranges), sections)


def _slices(positions: Positions, chosen: npt.NDArray[np.bool_]) -> Any:
    columns = (positions.first[chosen], positions.stop[chosen], positions.step[chosen])
    return (slice(*each) for each in zip(*(column.tolist() for column in columns), strict=True))


def _laid_down(
    shape: tuple[int, ...], bounds: Sequence[Sequence[slice]], count: int, token: CancelToken
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Lay messages over each other from the last to the first: what is there counts."""
    rows = np.full(shape, NEVER, np.int32)
    counts = np.zeros(shape, np.uint8)
    work = LIMITS.supply_work
    for row in range(count - 1, -1, -1):
        if row % _ROUND == 0:
            token.check()
            time.sleep(_REST)
        # With the dots it is a view for a scalar, too.
        where: tuple[Any, ...] = (*(axis[row] for axis in bounds), ...)
        part, given = rows[where], counts[where]
        work -= given.size
        if work < 0:
            rows[rows == NEVER] = UNDECIDED
            break
        part[given == 0] = row
        given += given < MOST_COUNTED
    return rows, counts
