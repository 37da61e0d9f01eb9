"""Auxiliary coordinates (CF conventions, section 5): places of elements that no single dimension tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.coordinates import attribute_text
from refbrowser.views.dimension_uses import is_coordinate
from refbrowser.views.interpretation import Interpretation
from refbrowser.views.numbers import degrees_text, value_text
from refbrowser.views.plan import ViewPlan
from refbrowser.views.reading import groups_above
from refbrowser.views.roles import AxisRole, role_of

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken

#: So many of an array's auxiliary coordinates are shown.
MOST = 8
#: Elements of one that are read for one view.
ELEMENTS_MOST = 1 << 23
_NAMES_LENGTH = 4_000
_HEMISPHERES = {AxisRole.LATITUDE: ("N", "S"), AxisRole.LONGITUDE: ("E", "W")}


@dataclass(frozen=True, slots=True)
class AuxiliaryNode:
    """An array of coordinates, and which dimension of the plotted array each of its own is."""

    node: ArrayNode
    dimensions: tuple[int, ...]


def auxiliary_nodes(hierarchy: Hierarchy, node: ArrayNode) -> tuple[AuxiliaryNode, ...]:
    """Return the auxiliary coordinates of an array.

    They are those that its attribute `coordinates` names, or else that of its group (as xarray writes it),
    and arrays of latitudes and longitudes over two or more of its dimensions beside it. Coordinates of
    dimensions, and scalars, which are the same for all elements, are not among them.
    """
    groups = groups_above(hierarchy, node.path)
    names = attribute_text(node.attributes, "coordinates")
    names = names or (attribute_text(groups[0].attributes, "coordinates") if groups else "")
    found: dict[str, AuxiliaryNode] = {}
    for name in names[:_NAMES_LENGTH].split():
        for group in groups:
            array = group.arrays.get(name)
            if array is not None:
                _add(found, node, array)
                break
    if groups and len(node.shape) > 1:
        for array in groups[0].arrays.values():
            if len(array.shape) > 1 and role_of(array.name, array.attributes) in _HEMISPHERES:
                _add(found, node, array)
    return tuple(found.values())[:MOST]


def _add(found: dict[str, AuxiliaryNode], node: ArrayNode, array: ArrayNode) -> None:
    """Take an array whose dimensions are some of those of `node`; not the coordinate of a dimension."""
    if array.path == node.path or array.error is not None or array.dtype is None or array.grid is None:
        return
    if not array.shape or is_coordinate(array):
        return
    numbers = []
    for name, size in zip(array.dimensions, array.shape, strict=False):
        if name is None or node.dimensions.count(name) != 1:
            return
        number = node.dimensions.index(name)
        if node.shape[number] != size:
            return
        numbers.append(number)
    if len(numbers) == len(array.shape):
        found.setdefault(array.path, AuxiliaryNode(array, tuple(numbers)))


class Auxiliary:
    """The part of an auxiliary coordinate that belongs to one view.

    Parameters
    ----------
    values
        Elements for the indices that `plan` reads, one axis per dimension of it that is on an axis.
    """

    def __init__(self, found: AuxiliaryNode, plan: ViewPlan, values: npt.NDArray[Any]) -> None:
        self.name = found.node.name
        self._plan, self._values = plan, values
        self._dimensions = found.dimensions
        self._shown = Interpretation(found.node, decoded=True)
        self._role = role_of(found.node.name, found.node.attributes)

    def text(self, indices: Sequence[int]) -> str:
        """Return the coordinate of an element (an index per dimension of the plotted array).

        It is empty where the element was left out of the view, or lies on another slice.
        """
        taken = dict(zip(self._plan.slice.axes, self._plan.ranges, strict=True))
        place = []
        for dimension in self._dimensions:
            if dimension not in taken:
                if indices[dimension] != self._plan.slice.indices[dimension]:
                    return ""
            elif indices[dimension] in taken[dimension]:
                place.append(taken[dimension].index(indices[dimension]))
            else:
                return ""
        return self._value_text(self._values[tuple(place)])

    def _value_text(self, raw: Any) -> str:
        if self._role in _HEMISPHERES and self._shown.is_number and not self._shown.is_missing(raw):
            return degrees_text(float(self._shown.numbers(np.asarray(raw))), None, *_HEMISPHERES[self._role])
        return self._shown.text_with_units(raw) if isinstance(raw, np.generic) else value_text(raw)


def read_auxiliary(
    session: Session,
    access: Access,
    nodes: Sequence[AuxiliaryNode],
    plan: ViewPlan,
    cancel: CancelToken,
) -> tuple[Auxiliary, ...]:
    """Read the auxiliary coordinates of what a plan reads; those that are too large or fail are left out."""
    from refbrowser.engine.jobs import Priority

    taken = dict(zip(plan.slice.axes, plan.ranges, strict=True))
    found = []
    for each in nodes:
        index = tuple(
            slice(taken[dimension].start, taken[dimension].stop, taken[dimension].step)
            if dimension in taken
            else plan.slice.indices[dimension]
            for dimension in each.dimensions
        )
        selection = Selection.from_index(index, each.node.shape)
        assert each.node.grid is not None
        if selection.size > ELEMENTS_MOST or each.node.grid.count(selection) > LIMITS.view_chunks:
            continue
        try:
            values = session.read(each.node, access, selection, cancel=cancel, priority=Priority.NEIGHBOUR)
        except RefbrowserError:
            continue
        found.append(Auxiliary(each, plan, np.asarray(values)))
    return tuple(found)
