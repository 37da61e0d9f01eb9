"""Parts of layouts: what a read of some rows shares, and which function reads which layout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.awkward0.layouts import Layout, NumpyLayout, PlainLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.marks import Marks
from refbrowser.formats.awkward0.values.steps import Elements
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedFault

if TYPE_CHECKING:
    from awkward.contents import Content

#: Items of an index that are looked at together.
BLOCK = 1 << 20
#: Makes rows of one kind of layout: the read, the layout, the rows, and where.
Reader = Callable[["Parts", Any, Extent, "Spot"], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in the values a layout is read.

    Attributes
    ----------
    path
        Fields and possibilities of unions above.
    fields
        Names of fields that alone are wanted of the records below, the next one first.
    turns
        Links that were followed on the way.
    depth
        Layouts above, from the last link on.
    """

    path: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    turns: int = 0
    depth: int = 0

    def below(self) -> Spot:
        """Return the spot one level further down."""
        return replace(self, depth=self.depth + 1)

    def named(self, name: str) -> Spot:
        """Return the spot of a field or possibility."""
        return replace(self, path=(*self.path, name), depth=self.depth + 1)

    def chosen(self) -> Spot:
        """Return the spot of the field that alone is wanted."""
        return replace(self, fields=self.fields[1:], depth=self.depth + 1)

    def turned(self) -> Spot:
        """Return the spot behind a link."""
        return replace(self, turns=self.turns + 1, depth=0)


@dataclass(slots=True, eq=False)
class Parts:
    """One read of rows.

    Attributes
    ----------
    readers
        What reads each kind of layout.
    by_number
        Layout of each expression, for links.
    marks
        Positions that were summed up before.
    turns
        Links that are followed at most, one after the other.
    faults
        What could not be read, so far.
    """

    readers: Mapping[type[Layout], Reader]
    by_number: Mapping[int, Layout]
    marks: Marks
    turns: int = LIMITS.awkward_turns
    faults: list[NestedFault] = field(default_factory=list)
    _visits: int = 0
    _bytes: int = 0

    async def content(self, layout: Layout, extent: Extent, spot: Spot) -> Content:
        """Return rows of a layout, one entry for each row of `extent`.

        Raises
        ------
        RefbrowserError
            They cannot be read.
        """
        self._visit(layout, spot)
        return await self.readers[type(layout)](self, layout, extent, spot)

    def _visit(self, layout: Layout, spot: Spot) -> None:
        self._visits += 1
        if self._visits > LIMITS.awkward_visits:
            message = f"more than {LIMITS.awkward_visits} nodes would be read"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))
        if spot.depth > LIMITS.awkward_depth:
            message = f"values nested more than {LIMITS.awkward_depth} deep are not read"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))

    def note(self, spot: Spot, error: RefbrowserError) -> None:
        """Remember that values cannot be read."""
        if len(self.faults) < LIMITS.awkward_faults:
            self.faults.append(NestedFault("/".join(spot.path), again(error)))

    async def elements(self, layout: NumpyLayout, extent: Extent) -> npt.NDArray[Any]:
        """Return elements of a basic array.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: too many bytes would be read; or as the reader.
        """
        buffer = layout.buffer
        if not extent.size:
            return np.empty((0, *buffer.dtype.shape), buffer.dtype.base)
        if extent.reach > buffer.count:
            raise beyond(layout, extent.reach, buffer.count)
        self.hold(layout, extent.size * buffer.dtype.itemsize)
        return await Elements(buffer, extent.runs)

    def hold(self, layout: Layout, size: int) -> None:
        """Note that bytes are going to be held for the rows.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: they are too many.
        """
        self._bytes += size
        if self._bytes > LIMITS.awkward_rows:
            self._bytes -= size
            message = f"more than {LIMITS.awkward_rows} bytes would be read together"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout), "read fewer rows at a time")

    async def integers(self, layout: Layout, extent: Extent) -> Positions:
        """Return items of a layout of integers, native 64 bit; of more than one dimension as they are.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: they are not integers, or too large for any position.
        """
        if isinstance(layout, NumpyLayout):
            values = await self.elements(layout, extent)
        elif isinstance(layout, PlainLayout):
            values = _plain_integers(layout)[extent.positions()]
        else:
            values = _as_numpy(layout, await self.content(layout, extent, Spot()))
        if values.dtype.kind not in "iu":
            raise wrong(layout, f"integers are expected, not {values.dtype}")
        is_long = values.dtype.kind == "u" and values.dtype.itemsize == 8 and len(values) > 0
        if is_long and int(values.max()) > np.iinfo(np.int64).max:
            raise wrong(layout, "a position is beyond any length")
        return values.astype(np.int64, copy=False)

    async def looked_at(self, index: Layout, start: int, stop: int) -> Positions:
        """Return items of an index that are only looked at: they do not count as read for the rows."""
        return await Parts(self.readers, self.by_number, self.marks).flat(index, Extent.of(start, stop))

    async def flat(self, layout: Layout, items: Extent) -> Positions:
        """Return items, counted over all dimensions, of a layout of integers."""
        if not isinstance(layout, NumpyLayout) or not layout.buffer.dtype.shape:
            return await self.integers(layout, items)
        size = prod(layout.buffer.dtype.shape)
        if not size:
            return np.zeros(0, np.int64)
        if (items.starts % size).any() or (items.stops % size).any():
            raise wrong(layout, "the shapes of indexes differ")
        rows = Extent(items.starts // size, items.stops // size)
        return (await self.integers(layout, rows)).reshape(-1)


def items_of(index: Layout) -> int:
    """Return the items of one row of an index."""
    return prod(index.buffer.dtype.shape) if isinstance(index, NumpyLayout) else 1


def outer_shape(index: Layout, extent: Extent) -> tuple[tuple[int, ...], Extent]:
    """Return the shape of one row of an index, and which items over all its dimensions some rows take."""
    inner = index.buffer.dtype.shape if isinstance(index, NumpyLayout) else ()
    return inner, extent.times(prod(inner))


def _plain_integers(layout: PlainLayout) -> npt.NDArray[Any]:
    values = layout.value
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise wrong(layout, "a list of integers is expected")
    try:
        return np.array(values, np.int64)
    except OverflowError:
        raise wrong(layout, "a position is beyond any length") from None


def _as_numpy(layout: Layout, values: Any) -> npt.NDArray[Any]:
    import awkward

    try:
        return np.asarray(awkward.to_numpy(values, allow_missing=False))
    except (ValueError, TypeError):
        raise wrong(layout, "integers are expected") from None


def place_of(layout: Layout) -> Place:
    """Return where a layout is."""
    return layout.buffer.place if isinstance(layout, NumpyLayout) else Place(field=layout.key)


def again(error: RefbrowserError) -> RefbrowserError:
    """Return an error that was raised before, free of what it held then."""
    return error.at(error.place)


def wrong(layout: Layout, message: str) -> RefbrowserError:
    """Return the error that a layout does not hold what it must."""
    name = f"{layout.function}: " if layout.function else ""
    return RefbrowserError(ErrorKind.SCHEMA, f"{name}{message}", place_of(layout))


def beyond(layout: Layout, reach: int, length: int) -> RefbrowserError:
    """Return the error that something points to a row that is not there."""
    name = layout.function or layout.key
    message = f"row {reach - 1} of {name} is asked for, which has {length}"
    return RefbrowserError(ErrorKind.SCHEMA, message, place_of(layout))
