"""The times of an axis of a dataset as instants: read from its coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.expectations.present_chunks import present_chunks
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.cf import Packing, TimeUnits
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.model.time_axis import instants_of
from refbrowser.references.expectations.chunk_sets import UndecidedSetError

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AxisTimes:
    """Times of a coordinate.

    Attributes
    ----------
    node
        The coordinate.
    at
        The positions of the elements that are times: neither missing nor fill. Rising, shape (n,).
    instants
        Of these, microseconds from 1970 in the calendar, shape (n,).
    tolerance
        Microseconds by which they may be wrong.
    """

    node: ArrayNode
    calendar: str
    at: Ints
    instants: Ints
    tolerance: int = 0


def coordinate_of(hierarchy: Hierarchy, node: ArrayNode, name: str) -> ArrayNode | None:
    """Return the coordinate of a dimension of an array: of its name, in its group or one above."""
    size = node.shape[axis_of(node, name)]
    groups: list[GroupNode] = []
    above: GroupNode | ArrayNode | None = hierarchy.root
    for part in [part for part in node.path.split("/") if part]:
        if not isinstance(above, GroupNode):
            break
        groups.append(above)
        above = above.groups.get(part)
    found = (group.arrays.get(name) for group in reversed(groups))
    return next((each for each in found if each is not None and each.shape == (size,)), None)


def axis_of(node: ArrayNode, name: str) -> int:
    """Return which axis of an array has the dimension; -1 where none has."""
    return node.dimensions.index(name) if name in node.dimensions else -1


def read_times(dataset: Dataset, node: ArrayNode, token: CancelToken) -> AxisTimes:
    """Read a coordinate.

    Raises
    ------
    RefbrowserError
        It cannot be read; `E_META`: it holds no times that are understood; `E_BUDGET`: there are too many.
    """
    place = Place(document=dataset.document.name, path=node.path)
    (size,) = node.shape
    if size > LIMITS.expect_times:
        message = f"{quoted(node.path)} has {size:,} times, more than {LIMITS.expect_times:,} (expect_times)"
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    values = dataset.session.read(node, dataset.access, Selection.whole(node.shape), cancel=token)
    there = _stored(node)
    if values.dtype.kind == "M":
        there &= ~np.isnat(values)
        instants = values.astype("M8[us]").astype(np.int64)
        return AxisTimes(node, "proleptic_gregorian", np.flatnonzero(there), instants[there])
    units = TimeUnits.from_attributes(node.attributes)
    if units is None or values.dtype.kind not in "iuf":
        advice = "its attribute units has the form: days since 2000-01-01"
        raise RefbrowserError(ErrorKind.META, f"{quoted(node.path)} holds no times", place, advice)
    decoded = Packing.of(node).masked(values)
    there &= ~np.ma.getmaskarray(decoded)
    numbers = decoded.data[there]
    finite = np.isfinite(numbers)
    found = instants_of(numbers[finite], units)
    if found is None:
        message = f"times in {quoted(units)}, calendar {quoted(units.calendar)}, cannot be counted"
        raise RefbrowserError(ErrorKind.META, message, place)
    return AxisTimes(node, units.calendar, np.flatnonzero(there)[finite], *found)


def _stored(node: ArrayNode) -> npt.NDArray[np.bool_]:
    """Return which elements of a coordinate are stored: the others read as fill, which is no time."""
    (size,) = node.shape
    there = np.ones(size, bool)
    if not node.has_manifest:
        return there
    try:
        tally = present_chunks(node).tally(0)
    except UndecidedSetError:
        return there
    axis = node.grid.dimensions[0]
    for first, last, count in zip(
        tally.bounds[:-1].tolist(), tally.bounds[1:].tolist(), tally.counts.tolist(), strict=True
    ):
        if not count:
            start, stop = axis.starts(np.array([first, last], np.int64)).tolist()
            there[start:stop] = False
    return there
