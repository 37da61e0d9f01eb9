"""What parts of an expression are: operations with the coordinates of their dimensions and their units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Array, while_open
from refbrowser.engine.derived.operations import How, Operation
from refbrowser.io.cancel import CancelToken
from refbrowser.model.expressions.units import Unit
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.coordinates import LONGEST_COORDINATE, Coordinate
from refbrowser.views.plot.reading import made_coordinate

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.reading.reader import Needed

#: Coordinates are the same where they differ by no more than this part: single precision has such steps.
NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class OpenedArray:
    """An array of a dataset that somebody has opened, and may close (`OpenArray`)."""

    array: Array

    @property
    def node(self) -> ArrayNode:
        """What it is."""
        return self.array.node

    def read(self, selection: Selection, how: How, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Return values as they are stored, and tell the bytes and requests that they took."""
        dataset, counts = self.array.dataset, [0, 0]

        def progress(done: int, total: int, *, read_bytes: int, requests: int) -> None:
            counts[:] = read_bytes, requests

        with while_open(dataset):
            values = dataset.session.read(
                self.node,
                dataset.access,
                selection,
                out=out,
                cancel=how.token,
                progress=progress,
                export=how.export,
                priority=how.priority,
                passing=how.passing,
            )
        how.told(*counts)
        return values

    def needed(self, selection: Selection) -> Needed:
        """Return what reading a selection needs."""
        dataset = self.array.dataset
        return dataset.session.needs(self.node, dataset.access, selection)


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of a part of an expression.

    Attributes
    ----------
    dataset, node
        Its coordinate; None where it has none, or is laid by position.
    taken
        Which elements of that, as they follow each other.
    """

    size: int
    dataset: Dataset | None = None
    node: ArrayNode | None = None
    taken: range = range(0)

    def selection(self) -> Selection:
        """Return what is taken of the coordinate."""
        if self.taken.step > 0:
            return Selection((self.taken,))
        return Selection((self.taken[::-1],), backwards=frozenset({0}))

    def differs(self, other: Axis, token: CancelToken) -> str:
        """Return in what the coordinates of two dimensions differ; empty where they do not, or one has none.

        Raises
        ------
        RefbrowserError
            One cannot be read.
        """
        if self.node is other.node and self.taken == other.taken:
            return ""
        mine, theirs = self.coordinate(token), other.coordinate(token)
        if mine is None or theirs is None:
            return ""
        unlike = np.flatnonzero(_unlike(mine, theirs))
        if not len(unlike):
            return ""
        at = int(unlike[0])
        return f"element {at} is at {mine.text(at)} in one, and at {theirs.text(at)} in the other"

    def coordinate(self, token: CancelToken) -> Coordinate | None:
        """Return what is taken of the coordinate; None where there is none, or it is no numbers and no text.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        if self.node is None or self.dataset is None or self.size > LONGEST_COORDINATE:
            return None
        session, access = self.dataset.session, self.dataset.access
        values = session.read(self.node, access, self.selection(), cancel=token)
        return made_coordinate(self.node.name, self.node, values)


def _unlike(one: Coordinate, other: Coordinate) -> npt.NDArray[np.bool_]:
    """Return where two coordinates of a size differ."""
    if one.dates is not None and other.dates is not None and one.dates != other.dates:
        dates = (
            each.dates.units.dates(each.values)
            for each in (one, other)
            if each.dates and each.values is not None
        )
        first, second = (np.array([str(date) for date in found]) for found in dates)
        return first != second
    if one.values is None or other.values is None:
        return np.array(one.texts or ()) != np.array(other.texts or ())
    near = NEAR * np.maximum(np.abs(one.values), np.abs(other.values))
    return ~(np.abs(one.values - other.values) <= near)


@dataclass(frozen=True, slots=True)
class Operand:
    """A part of an expression.

    Attributes
    ----------
    operation
        What computes it.
    axes
        Its dimensions by their names, in the order of its axes.
    unit
        Of its values; None is not known.
    is_number
        It is computed of numbers alone: it takes the units that it is added to.
    """

    operation: Operation
    axes: Mapping[str, Axis] = field(default_factory=dict)
    unit: Unit | None = None
    is_number: bool = False
