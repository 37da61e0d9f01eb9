"""Reads the numbers of fields of a nested array block by block, as many as a plot holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refbrowser.engine.nested.plain_contents import content_of
from refbrowser.engine.nested.plain_types import row_type
from refbrowser.engine.nested.reading import read_rows, unread_error
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedRows
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.nested_numbers import (
    NO_NUMBERS,
    FieldChoice,
    FieldNumbers,
    field_numbers,
    joined,
)
from refbrowser.views.nested_tally import FieldTally, tallied

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

#: Values that are read unasked; more when the user wants all.
UNASKED = 200_000
#: Values that are held, to be drawn as points.
HELD = LIMITS.view_points
#: Rows of the first block and of the largest one, and values that a block should have.
FIRST_ROWS, MOST_ROWS, BLOCK_VALUES = 256, 1 << 20, 1 << 18
#: What has come is told so often, in seconds.
PAUSE = 0.3
#: Blocks that cannot be read, after which no more are tried.
FAILURES_MOST = 32
#: Errors that other rows have as well: it is of no use to try fewer.
NOT_OF_ROWS = (ErrorKind.BLOCKED, ErrorKind.SOURCE, ErrorKind.IO, ErrorKind.UNSAFE)


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """What fields hold in the first rows of an array.

    Attributes
    ----------
    rows, of_rows
        How many rows were read, and how many there are.
    sums
        For each field that was asked for; of all rows that were read.
    fields
        The numbers themselves, as many as a plot holds.
    point_rows
        Of how many of the rows these are.
    skipped, error
        How many of the rows read could not be, and why the first of them.
    """

    rows: int
    of_rows: int
    sums: Sequence[FieldTally]
    fields: Sequence[FieldNumbers]
    point_rows: int
    skipped: int = 0
    error: RefbrowserError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all rows are in it."""
        return self.rows == self.of_rows


def node_of(
    hierarchy: Hierarchy | None, node: ArrayNode, path: Sequence[str]
) -> tuple[ArrayNode, tuple[str, ...]]:
    """Return the array to read a field from, and which of its fields it is.

    A field that is an array itself is read from that: nothing else is read then.
    """
    whole = (node, tuple(path))
    if hierarchy is None or node.nested is None or not path or any("/" in name for name in path):
        return whole
    found = hierarchy.find("/".join((node.path.rstrip("/"), *path)))
    if not isinstance(found, ArrayNode) or found.nested is None:
        return whole
    return (found, ()) if found.nested.length == node.nested.length else whole


def collect(
    dataset: Dataset,
    node: ArrayNode,
    choices: Sequence[FieldChoice],
    control: JobControl,
    tell: Callable[[Collected], None],
    most: int | None = None,
) -> Collected:
    """Return what fields hold in as many of the first rows as have `most` values; tell what has come.

    Raises
    ------
    RefbrowserError
        No row can be read.
    Cancelled
        `control` was cancelled.
    """
    return _Collector(dataset, node, choices, control, most).run(tell)


@dataclass(slots=True)
class _Collector:
    dataset: Dataset
    node: ArrayNode
    choices: Sequence[FieldChoice]
    control: JobControl
    most: int | None
    parts: list[Sequence[FieldNumbers]] = field(default_factory=list)
    #: Of all rows, once there are more values than are held.
    sums: list[FieldTally] = field(default_factory=list)
    done: int = 0
    point_rows: int = 0
    count: int = 0
    held: int = 0
    skipped: int = 0
    failures: int = 0
    error: RefbrowserError | None = None

    def run(self, tell: Callable[[Collected], None]) -> Collected:
        assert self.node.nested is not None
        length, size, told = self.node.nested.length, FIRST_ROWS, time.monotonic()
        while self.done < length and self.failures < FAILURES_MOST:
            if self.most is not None and self.count >= self.most:
                break
            self.control.check()
            stop = min(length, self.done + size)
            count = self._block(self.done, stop)
            if count is None:
                size = max(1, size // 4)
                continue
            self.done = stop
            self.point_rows = stop if not self.sums else self.point_rows
            self.control.progress(self.done, length)
            size = _next_size(size, count)
            if time.monotonic() - told > PAUSE:
                tell(self._collected(length))
                told = time.monotonic()
        if self.error is not None and not self.count and self.skipped == self.done:
            raise self.error
        return self._collected(length)

    def _collected(self, length: int) -> Collected:
        fields: Sequence[FieldNumbers] = [joined(parts) for parts in zip(*self.parts, strict=True)]
        fields = fields or [NO_NUMBERS for _ in self.choices]
        self.parts = [fields]
        sums = [each.copy() for each in self.sums] or tallied(fields)
        return Collected(self.done, length, sums, fields, self.point_rows, self.skipped, self.error)

    def _take(self, found: Sequence[FieldNumbers], count: int) -> None:
        """Hold numbers as long as there is room, and count the others."""
        self.count += count
        if not self.sums and self.held + count <= HELD:
            self.held += count
            self.parts.append(found)
            return
        if not self.sums:
            held = [joined(parts) for parts in zip(*self.parts, strict=True)] or [NO_NUMBERS for _ in found]
            self.parts, self.sums = [held], tallied(held)
        for tally, each in zip(self.sums, found, strict=True):
            tally.add(each)

    def _block(self, start: int, stop: int) -> int | None:
        """Read rows; returns how many values they have, None where fewer rows are to be tried."""
        dataset, found = self.dataset, []
        try:
            for choice in self.choices:
                node, path = node_of(dataset.hierarchy, choice.node, choice.path)
                found.append(field_numbers(self._rows(node, start, stop), start, path))
        except RefbrowserError as error:
            if stop - start > 1 and error.kind not in NOT_OF_ROWS:
                return None
            self.error = self.error or error
            self.skipped += stop - start
            self.failures += 1
            return 0
        count = max(max(len(each.numbers), each.values, sum(map(len, each.lengths))) for each in found)
        self._take(found, count)
        return count

    def _rows(self, node: ArrayNode, start: int, stop: int) -> NestedRows:
        session, access, token = self.dataset.session, self.dataset.access.at_once(), self.control.token
        if node.nested is not None:
            rows = read_rows(session, node, access, start, stop, token)
            error = unread_error(rows, node, start)
            if error is not None:
                raise error
            return rows
        selection = Selection.from_index(slice(start, stop), node.shape)
        values = session.read(node, access, selection, cancel=token)
        return NestedRows(content_of(values, row_type(node, values.shape)))


def _next_size(size: int, count: int) -> int:
    """Return how many rows the next block has: twice as many while these have few values."""
    if count * 2 <= BLOCK_VALUES:
        return min(size * 2, MOST_ROWS)
    return max(1, size // 2) if count > 2 * BLOCK_VALUES else size
