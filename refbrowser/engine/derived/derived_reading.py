"""Reading derived arrays as others are read: chunks that lie together are computed together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.engine.derived.derived_values import Derived
from refbrowser.engine.derived.operations import How, Operation, Source
from refbrowser.engine.reading.parts import Parts
from refbrowser.engine.reading.reader import Batch, Needed, Reader, Reading
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.access.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, columns_of
from refbrowser.model.selection import Selection
from refbrowser.model.values import columns_of_kinds

#: Elements that are computed together, at most.
_TOGETHER = 1 << 21
#: Groups that are computed at once.
_AT_ONCE = 2
_NOTHING = memoryview(b"")


class DerivedReading(Reading):
    """How an array that is computed of others is read."""

    def __init__(self, node: ArrayNode, values: Derived) -> None:
        super().__init__(node)
        self.operation = values.operation

    def batch(self, reader: Reader, parts: Parts, start: int, stop: int) -> DerivedBatch:
        """Return what computes the parts from `start` to `stop`."""
        return DerivedBatch(reader, parts, start, stop, self.operation)

    def needed(self, access: Access, selection: Selection) -> Needed:
        """Return what the arrays that it is computed of need together."""
        self.check_count(selection)
        references = []
        for source, taken in self._taken(selection):
            needs = source.array.needed(taken)
            kinds = needs.columns.kind
            rows = np.flatnonzero((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE))
            references += [needs.columns.reference(row) for row in rows.tolist()]
        # An array that stands in an expression twice is read twice, the second time from the cache.
        return Needed(columns_of(dict.fromkeys(references)), chunks=self.node.grid.count(selection))

    def question(self, selection: Selection) -> RefbrowserError | None:
        """Return what to ask before a few values are computed of very many; None where they are not."""
        for source, taken in self._taken(selection):
            if taken.size > LIMITS.read_values:
                path = source.array.node.path
                message = f"it is computed of {taken.size} values of {quoted(path)}, more than"
                return RefbrowserError(
                    ErrorKind.BUDGET,
                    f"{message} {LIMITS.read_values} (read_values)",
                    Place(path=self.node.path),
                    "give --yes to read them anyway, or select fewer",
                )
        return None

    def _taken(self, selection: Selection) -> Iterator[tuple[Source, Selection]]:
        """Yield the arrays that a selection is computed of, with what is read of each."""
        ranges = dict(zip(self.operation.names, selection.axes, strict=True))
        for source, whole in self.operation.sources():
            yield source, source.taken({**ranges, **whole})


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Parts that are computed, some together: `owners` is the first of each group, `stops` where it ends."""

    columns: ReferenceColumns
    owners: list[int]
    stops: list[int]


class DerivedBatch(Batch[Groups]):
    """Parts of a read that are computed of other arrays."""

    def __init__(self, reader: Reader, parts: Parts, start: int, stop: int, operation: Operation) -> None:
        super().__init__(reader, parts, start, stop)
        self._operation = operation
        options = reader.options
        # A read that is too large for the cache is so for the arrays that it is computed of.
        self._how = How(reader.token, reader.read_more, options.export, options.priority, not reader.keep)
        #: Why parts could not be computed, where others of their group could.
        self._errors: dict[int, RefbrowserError] = {}

    def rows(self) -> Iterator[Groups]:
        """Yield the groups."""
        coords, columns = self.made_parts()
        self.note(coords, columns)
        size = prod(self.reader.node.grid.largest)
        owners = [self.start + at for at in _boxes(coords, max(_TOGETHER // max(size, 1), 1))]
        stops = [*owners[1:], self.stop]
        kinds = np.full(len(owners), ReferenceKind.DERIVED, np.uint8)
        yield Groups(columns_of_kinds(kinds), owners, stops)

    def run(self) -> None:
        """Compute every part: while one group waits for its arrays, another one is computed.

        The decode pool would not do: groups that wait in it for chunks of arrays of the same session would
        leave no thread to decode these.
        """
        try:
            for rows in self.rows():
                with ThreadPoolExecutor(_AT_ONCE, "derived") as threads:
                    groups = range(len(rows.owners))
                    for _ in threads.map(lambda row, rows=rows: self._group(rows, row), groups):
                        self.reader.check()
        finally:
            if self._notes is not None:
                self._notes.give_up()

    def _group(self, rows: Groups, row: int) -> None:
        self.reader.token.check()
        self.reader.check()
        if self._notes is not None:
            self._notes.asked(range(rows.owners[row], rows.stops[row]))
        self._decode(rows, row, _NOTHING, None)

    def cost(self, rows: Groups, row: int, size: int) -> int:
        """Return 0: chunks of the arrays are decoded in the pool, and joined here."""
        return 0

    def lay(self, rows: Groups, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Compute a group; where that fails each part of it, so that one lost chunk costs its part alone."""
        first, stop = rows.owners[row], rows.stops[row]
        try:
            self._compute(first, stop)
            return
        except RefbrowserError:
            if stop - first == 1:
                raise
        for number in range(first, stop):
            try:
                self._compute(number, number + 1)
            except RefbrowserError as error:
                self._errors[number] = error

    def ended(self, rows: Groups, row: int, error: RefbrowserError | None) -> None:
        """End each part of a group."""
        for number in range(rows.owners[row], rows.stops[row]):
            self.part_ended(number, self._errors.pop(number, error))

    def _compute(self, first: int, stop: int) -> None:
        """Compute the box of the parts from `first` to `stop`, to its place in the result."""
        reader, names = self.reader, self._operation.names
        start, end = self.parts[first], self.parts[stop - 1]
        origins = reader.node.grid.origin(start.coords), reader.node.grid.origin(end.coords)
        ranges, target = {}, []
        for axis, name in enumerate(names):
            place = slice(start.target[axis].start, end.target[axis].stop)
            low = origins[0][axis] + start.inside[axis].start
            last = end.inside[axis]
            high = origins[1][axis] + range(last.start, last.stop, last.step)[-1]
            count = place.stop - place.start
            step = (high - low) // (count - 1) if count > 1 else 1
            ranges[name] = range(low, high + 1, step)
            target.append(place)
        region = reader.region(start._replace(target=tuple(target)))
        self._operation.fill(region, ranges, self._how)


def _boxes(coords: npt.NDArray[np.int64], most: int) -> list[int]:
    """Return where boxes of chunks begin, of at most so many each, one after the other.

    Parameters
    ----------
    coords
        Of the chunks of a larger box, or of some that follow each other in it, in C order; shape (n, ndim).
    """
    begins, at = [], 0
    ends = (coords.min(axis=0), coords.max(axis=0)) if len(coords) else ()
    while at < len(coords):
        begins.append(at)
        at += _box(coords[at : at + most], *ends)
    return begins


def _box(coords: npt.NDArray[np.int64], lowest: npt.NDArray[np.int64], highest: npt.NDArray[np.int64]) -> int:
    """Return how many of the first chunks make a box: a part of a row, whole rows, whole planes..."""
    size = 1
    for axis in reversed(range(coords.shape[1])):
        alike = (coords[:, :axis] == coords[0, :axis]).all(axis=1)
        run = len(coords) if alike.all() else int(np.argmin(alike))
        size = run // size * size
        if coords[0, axis] != lowest[axis] or coords[size - 1, axis] != highest[axis]:
            break
    return size
