"""Bytes of a file that belong together: as runs that were put in order, or as steps within steps.

Those of gen rules are found by arithmetic, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from refbrowser.io.access.access import is_chained, storage_url
from refbrowser.references.rules.dimensions import INT_ROOM
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import Affine, bounds
from refbrowser.references.rules.layouts import ChunkLayout, Generated, RangeLayout
from refbrowser.references.rules.rule_urls import RuleUrls

Ints = npt.NDArray[np.int64]

#: URLs of a rule that are compared with that of the file.
URLS_MOST = 100_000
_LARGEST = (1 << 63) - 1


class Extent(NamedTuple):
    """Bytes `start` to `stop` (not included)."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class Runs:
    """Stretches of bytes that do not touch each other, rising.

    Attributes
    ----------
    start, stop
        Of each, int64.
    """

    start: Ints
    stop: Ints

    @classmethod
    def of(cls, start: Ints, stop: Ints) -> Self:
        """Return the bytes of ranges in any order, which may overlap and be empty."""
        is_held = stop > start
        if not is_held.all():
            start, stop = start[is_held], stop[is_held]
        if len(start) < 2 or (start[1:] > stop[:-1]).all():
            # None is empty: then they rise too. They are no copies.
            return cls(start, stop)
        if not (start[1:] >= start[:-1]).all():
            order = np.argsort(start, kind="stable")
            start, stop = start[order], stop[order]
        # Some touch or overlap: they are put together.
        reach = stop if (start[1:] >= stop[:-1]).all() else np.maximum.accumulate(stop)
        breaks = np.flatnonzero(start[1:] > reach[:-1])
        first, last = np.append(0, breaks + 1), np.append(breaks, len(reach) - 1)
        return cls(start[first], reach[last])

    @cached_property
    def before(self) -> Ints:
        """Bytes of all runs before each one."""
        found = np.zeros(len(self.start), np.int64)
        np.subtract(self.stop[:-1], self.start[:-1], out=found[1:])
        return np.cumsum(found, out=found)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return int(self.before[-1] + self.stop[-1] - self.start[-1]) if len(self) else 0

    def covered(self, edges: Ints) -> Ints:
        """Return how many bytes of the runs lie below each of `edges`."""
        if not len(self):
            return np.zeros(len(edges), np.int64)
        at = self.start.searchsorted(edges, side="right") - 1
        held = np.maximum(at, 0)
        inside = np.minimum(edges, self.stop[held]) - self.start[held]
        return np.where(at < 0, 0, self.before[held] + inside)

    def at(self, byte: int) -> Extent | None:
        """Return the run that a byte lies in, or None."""
        place = int(self.start.searchsorted(byte, side="right")) - 1
        if place < 0 or byte >= self.stop[place]:
            return None
        return Extent(int(self.start[place]), int(self.stop[place]))

    def around(self, byte: int) -> tuple[int | None, int | None]:
        """Return the last byte edge of a run at or before a byte, and the first one behind it."""
        place = int(self.start.searchsorted(byte, side="right")) - 1
        below = None
        if place >= 0:
            below = int(self.stop[place]) if self.stop[place] <= byte else int(self.start[place])
        if place >= 0 and self.stop[place] > byte:
            return below, int(self.stop[place])
        return below, int(self.start[place + 1]) if place + 1 < len(self) else None

    def next_run(self, byte: int) -> Extent | None:
        """Return the first run that begins behind a byte; the first of all where there is none."""
        if not len(self):
            return None
        place = int(self.start.searchsorted(byte, side="right")) % len(self)
        return Extent(int(self.start[place]), int(self.stop[place]))


@dataclass(frozen=True, slots=True)
class LatticeStep:
    """One level of a lattice.

    Attributes
    ----------
    stride
        Bytes from one of what lies below to the next.
    count
        How many there are.
    slot
        The dimension of the rule that runs so.
    is_turned
        The dimension runs towards the beginning of the file.
    """

    stride: int
    count: int
    slot: int
    is_turned: bool = False


@dataclass(frozen=True, slots=True)
class Lattice:
    """Ranges of equal length that lie in steps within steps, none touched by another: known, never listed.

    Attributes
    ----------
    base
        Where the first one begins.
    length
        Bytes of each.
    steps
        The widest first.
    """

    base: int
    length: int
    steps: tuple[LatticeStep, ...]

    @classmethod
    def of(cls, base: int, length: int, steps: list[LatticeStep]) -> Lattice | None:
        """Return the lattice of steps in any order; None where ranges overlap, or no file has such bytes."""
        if length < 1 or base < 0:
            return None
        ordered = sorted((step for step in steps if step.count > 1), key=lambda step: step.stride)
        extent = length
        for step in ordered:
            if step.stride < extent:
                return None
            extent += step.stride * (step.count - 1)
        if base + extent > INT_ROOM:
            return None
        return cls(base, length, tuple(reversed(ordered)))

    @property
    def count(self) -> int:
        """Number of ranges."""
        return prod(step.count for step in self.steps)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.count * self.length

    @property
    def stop(self) -> int:
        """Where the last range ends."""
        return self.base + self.length + sum(step.stride * (step.count - 1) for step in self.steps)

    def covered(self, edges: Ints) -> Ints:
        """Return how many bytes of the ranges lie below each of `edges`."""
        rest = np.maximum(edges - self.base, 0)
        found = np.zeros(len(edges), np.int64)
        unit = self.size
        for step in self.steps:
            unit //= step.count
            number = np.minimum(rest // step.stride, step.count - 1)
            found += number * unit
            rest = rest - number * step.stride
        return found + np.minimum(rest, self.length)

    def place(self, byte: int) -> tuple[tuple[int, ...], int]:
        """Return the number along each step of the last range that begins at or before a byte, and its start.

        That of the first one where none does.
        """
        rest = max(byte - self.base, 0)
        numbers = []
        start = self.base
        for step in self.steps:
            number = min(rest // step.stride, step.count - 1)
            rest -= number * step.stride
            start += number * step.stride
            numbers.append(number)
        return tuple(numbers), start

    def number(self, numbers: tuple[int, ...]) -> int:
        """Return the number of a range in the order of bytes."""
        found = 0
        for number, step in zip(numbers, self.steps, strict=True):
            found = found * step.count + number
        return found

    def numbers(self, number: int) -> tuple[int, ...]:
        """Return the number along each step of a range, counted in the order of bytes."""
        found = []
        for step in reversed(self.steps):
            number, one = divmod(number, step.count)
            found.append(one)
        return tuple(reversed(found))

    def starts(self, low: int, high: int, most: int) -> Iterator[tuple[int, int]]:
        """Yield number and start of the ranges that have bytes from `low` to `high`, at most so many."""
        numbers, start = self.place(low)
        first = self.number(numbers) + (start + self.length <= low)
        for number in range(first, min(first + most, self.count)):
            places = self.numbers(number)
            start = self.base + sum(
                place * step.stride for place, step in zip(places, self.steps, strict=True)
            )
            if start >= high:
                return
            yield number, start

    def count_below(self, edge: int) -> int:
        """Return how many ranges begin below a byte."""
        if edge <= self.base:
            return 0
        numbers, _ = self.place(edge - 1)
        return self.number(numbers) + 1

    def around(self, byte: int) -> tuple[int | None, int | None]:
        """Return the last byte edge of a range at or before a byte, and the first one behind it."""
        if byte < self.base:
            return None, self.base
        numbers, start = self.place(byte)
        if byte < start + self.length:
            return start, start + self.length
        following = self.number(numbers) + 1
        if following >= self.count:
            return start + self.length, None
        places = zip(self.numbers(following), self.steps, strict=True)
        return start + self.length, self.base + sum(place * step.stride for place, step in places)


# Of gen rules


def may_lead_to(rule: Generated, url: str) -> bool:
    """Tell whether references that something makes may lead to a file; False is certain."""
    if isinstance(rule, RangeLayout):
        return rule.head == url
    if isinstance(rule, ChunkLayout):
        head = storage_url(rule.head + rule.tail)
        return head == url if is_chained(rule.head) else url.startswith(rule.head) and not rule.tail
    assert isinstance(rule, GenRule)
    if "url" not in rule.fields:
        return False
    start = rule.static_origin()
    return url.startswith(start) or start.startswith(url)


def lattices_of(
    rule: GenRule, url: str
) -> list[tuple[Lattice, tuple[tuple[int, int], ...]]] | tuple[int, int]:
    """Return the ranges of a rule in a file by arithmetic, each with the dimensions that the URL fixes.

    Where that cannot be, the bytes between which they are: from the first to behind the last, or twice 0.
    """
    columns = rule.columns
    if columns is None:
        return []
    offset, length = columns.integers.get("offset"), columns.integers.get("length")
    if offset is None or length is None:
        return 0, 0
    reach, sizes = bounds(offset, rule.space), bounds(length, rule.space)
    if reach is None or sizes is None:
        return 0, 0
    span = max(reach[0], 0), min(max(reach[1] + sizes[1], 0), _LARGEST)
    places = _places_of_url(rule, url)
    if places is None or not isinstance(offset, Affine) or sizes[0] != sizes[1]:
        return span
    found = []
    for fixed in places:
        lattice = _lattice(rule, offset, sizes[0], fixed)
        if lattice is None:
            return span
        found.append((lattice, tuple(fixed.items())))
    return found


def _places_of_url(rule: GenRule, url: str) -> list[dict[int, int]] | None:
    """Return where in the dimensions of its URL a rule leads to a file; None where that is not decided."""
    urls = RuleUrls.of(rule)
    if urls is None:
        return []
    if urls.are_more_than(URLS_MOST):
        return None
    hits = [at for at, text in enumerate(urls.texts(0, urls.count)) if text == url]
    places = [column.tolist() for column in urls.positions(0, urls.count)]
    return [{slot: column[at] for slot, column in zip(urls.slots, places, strict=True)} for at in hits]


def _lattice(rule: GenRule, offset: Affine, length: int, fixed: dict[int, int]) -> Lattice | None:
    terms, base = dict(offset.terms), offset.constant
    steps = []
    for slot, dimension in enumerate(rule.space.dimensions):
        coefficient = terms.get(slot, 0)
        if slot in fixed:
            base += coefficient * dimension.values[fixed[slot]] if coefficient else 0
        elif not coefficient:
            if dimension.length > 1:
                # The same bytes again and again.
                return None
        elif not isinstance(dimension.values, range):
            return None
        else:
            stride = coefficient * dimension.values.step
            base += coefficient * dimension.values.start + min(stride, 0) * (dimension.length - 1)
            steps.append(LatticeStep(abs(stride), dimension.length, slot, stride < 0))
    return Lattice.of(base, length, steps)
