"""Reads for a view, done by a worker: chunks of a picture, coordinates, auxiliary coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.cf import SCALING, fill_is_value
from refbrowser.model.multiscales.conventions import multiscale_of
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.dimensions import is_coordinate
from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.numbers import degrees_text, value_text
from refbrowser.views.plot.bands import Bands, bands_of
from refbrowser.views.plot.coordinates import (
    LONGEST_COORDINATE,
    AxisRole,
    Coordinate,
    attribute_text,
    plain_coordinate,
    role_of,
)
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import ViewPlan
from refbrowser.views.plot.resolution import level_coordinates
from refbrowser.views.plot.slicing import dimension_names
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.engine.reading.parts import EndedPart
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


#: Attributes that say which number a stored element stands for.
_PACKING = (*SCALING, "_Unsigned")


def read_picture(
    session: Session,
    access: Access,
    picture: Picture,
    cancel: CancelToken,
    progress: Callable[..., None] | None = None,
) -> None:
    """Read the chunks of a picture into it, noting each as it comes.

    Raises
    ------
    RefbrowserError
        Nothing can be read at all; chunks that failed alone are noted in the picture.
    """
    from refbrowser.engine.reading.parts import PartState

    states = {
        PartState.DONE: ChunkState.DONE,
        PartState.MISSING: ChunkState.FILLED if fill_is_value(picture.node) else ChunkState.MISSING,
        PartState.FAILED: ChunkState.FAILED,
    }

    if access.memory.locked is not None and picture.node.has_manifest:
        picture.hold_against(access)

    def note(part: EndedPart) -> None:
        picture.accept(part.part.coords, states[part.state], part.error)

    session.read(
        picture.node,
        access,
        picture.plan.selection,
        out=picture.out,
        on_part=note,
        cancel=cancel,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class CoordinateSet:
    """The coordinates of an array's dimensions, and why some could not be read."""

    coordinates: tuple[Coordinate, ...]
    errors: Mapping[str, BaseException] = field(default_factory=dict)


def coordinate_nodes(hierarchy: Hierarchy, node: ArrayNode) -> tuple[ArrayNode | None, ...]:
    """Return the coordinate array of each dimension: 1-D, of its name and size, in the group or one above."""
    found: list[ArrayNode | None] = []
    groups = groups_above(hierarchy, node.path)
    for name, size in zip(dimension_names(node), node.shape, strict=True):
        candidates = (group.arrays.get(name) for group in groups)
        fitting = (array for array in candidates if array is not None and array.shape == (size,))
        array = next(fitting, None)
        found.append(None if array is None or array.path == node.path else array)
    return tuple(found)


def roles_of(nodes: tuple[ArrayNode | None, ...]) -> tuple[AxisRole, ...]:
    """Return what each dimension's coordinate means, from its metadata alone."""
    return tuple(AxisRole.NONE if node is None else role_of(node.name, node.attributes) for node in nodes)


def bands_with(node: ArrayNode, nodes: tuple[ArrayNode | None, ...]) -> Bands | None:
    """Return the bands of an array of pictures, by its metadata and that of its coordinates alone."""
    names = dimension_names(node)
    beside = {name: each.attributes for name, each in zip(names, nodes, strict=True) if each is not None}
    return bands_of(node, names, beside)


def groups_above(hierarchy: Hierarchy, path: str) -> list[GroupNode]:
    """Return the group that a path is in, and those above it, the nearest first."""
    groups: list[GroupNode] = []
    node: Any = hierarchy.root
    for part in [part for part in path.split("/") if part]:
        if not isinstance(node, GroupNode):
            break
        groups.append(node)
        node = node.groups.get(part)
    return groups[::-1]


def read_coordinates(
    session: Session,
    access: Access,
    node: ArrayNode,
    nodes: tuple[ArrayNode | None, ...],
    cancel: CancelToken,
    told: Sequence[Coordinate | None] = (),
) -> CoordinateSet:
    """Read the coordinates of an array's dimensions; one that fails is left out and told.

    Parameters
    ----------
    told
        What attributes tell of each dimension, for those that have no array of coordinates.
    """
    coordinates, errors = [], {}
    others = told or [None] * len(node.shape)
    for name, size, array, other in zip(dimension_names(node), node.shape, nodes, others, strict=True):
        coordinate = None
        if array is not None and array.error is None and size <= LONGEST_COORDINATE:
            try:
                values = session.read(array, access, Selection.whole(array.shape), cancel=cancel)
                coordinate = made_coordinate(name, array, values)
            except RefbrowserError as error:
                errors[name] = error
        coordinates.append(coordinate or other or plain_coordinate(name, size))
    return CoordinateSet(tuple(coordinates), errors)


def told_coordinates(hierarchy: Hierarchy, node: ArrayNode) -> tuple[Coordinate | None, ...]:
    """Return the coordinates of an array that attributes tell, one per dimension; none of most arrays."""
    found = multiscale_of(hierarchy, node)
    number = None if found is None else found.number(node.path)
    return () if found is None or number is None else level_coordinates(found, number)


def made_coordinate(name: str, array: ArrayNode, values: Any) -> Coordinate | None:
    """Return the coordinate that the values of `array` make, or None where they are no numbers or text."""
    attributes = array.attributes
    label = attribute_text(attributes, "long_name").replace("_", " ") or name
    role = role_of(array.name, attributes)
    if values.dtype.kind in "SUOT":
        texts = [item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in values]
        return Coordinate(name=name, size=len(values), role=role, texts=texts, label=label)
    shown = Interpretation(array, decoded=True)
    if not shown.is_number:
        return None
    numbers = shown.numbers(values).astype(np.float64)
    coordinate = Coordinate(
        name=name,
        size=len(values),
        role=role,
        values=numbers,
        units="" if shown.dates is not None else shown.units,
        label=label,
        dates=shown.dates,
        durations=shown.durations(numbers),
    )
    # Looked at here, in the worker: for millions of values it takes longer than a frame.
    _ = coordinate.ascending, coordinate.even, coordinate.step, coordinate.tells_cells_apart
    return coordinate


def same_packing(before: ArrayNode, now: ArrayNode) -> bool:
    """Whether the stored elements of an array mean the same numbers after an edit of its attributes."""
    return all(before.attributes.get(name) == now.attributes.get(name) for name in _PACKING)


def _source(node: ArrayNode) -> object:
    return node.assembled if node.nested is None else node.nested


def reads_the_same(before: ArrayNode, after: ArrayNode, selection: Selection) -> bool:
    """Whether a selection has the same chunks, decoded in the same way, after an edit as before it."""
    if not before.has_manifest or not after.has_manifest:
        return False
    kept = ("shape", "dtype", "grid", "order", "codecs", "format")
    if any(getattr(before, name) != getattr(after, name) for name in kept):
        return False
    if repr(before.fill_value) != repr(after.fill_value) or _source(before) is not _source(after):
        return False
    coords = before.grid.coords(selection)
    one, other = before.manifest.columns(coords), after.manifest.columns(coords)
    if not all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("kind", "offset", "length")
    ):
        return False
    urls, others = np.array([*one.urls, ""], object), np.array([*other.urls, ""], object)
    return bool((urls[one.url] == others[other.url]).all()) and dict(one.inline) == dict(other.inline)


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
    if array.path == node.path or array.error is not None or array.dtype is None or not array.has_grid:
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


class ElementCoordinate(Protocol):
    """A coordinate of single elements.

    Attributes
    ----------
    name
        For the readout.
    """

    name: str

    @property
    def role(self) -> AxisRole:
        """What the coordinate is."""
        ...

    def text(self, indices: Sequence[int]) -> str:
        """Return that of an element (an index per dimension of the plotted array); empty for none."""
        ...

    def spans(self, dimensions: Sequence[int]) -> bool:
        """Whether it depends on all of these dimensions of the plotted array."""
        ...

    def grows(self, dimension: int) -> bool | None:
        """Whether it grows with the index along a dimension; None where that is not known."""
        ...


class Auxiliary:
    """The part of an auxiliary coordinate that belongs to one view.

    Parameters
    ----------
    values
        Elements for the indices that are taken, one axis per dimension of it that is on an axis.
    taken
        Indices along the dimensions on the axes; those that `plan` reads where nothing else is said.
    """

    def __init__(
        self,
        found: AuxiliaryNode,
        plan: ViewPlan,
        values: npt.NDArray[Any],
        taken: Mapping[int, range] | None = None,
    ) -> None:
        self.name = found.node.name
        self._plan, self._values = plan, values
        self._taken = taken or dict(zip(plan.slice.axes, plan.ranges, strict=True))
        self._dimensions = found.dimensions
        self._shown = Interpretation(found.node, decoded=True)
        self._role = role_of(found.node.name, found.node.attributes)
        #: Whether they grow along a dimension, as far as it was asked.
        self._grows: dict[int, bool | None] = {}
        #: The same for coordinates of the same elements with the same values; made where it is read.
        self.key = (found.node.path, found.dimensions, *self._taken.items(), _content(values))

    def text(self, indices: Sequence[int]) -> str:
        """Return the coordinate of an element (an index per dimension of the plotted array).

        It is empty where the element was left out of the view, or lies on another slice.
        """
        taken = self._taken
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

    @property
    def role(self) -> AxisRole:
        """What the coordinate is."""
        return self._role

    def spans(self, dimensions: Sequence[int]) -> bool:
        """Whether it depends on all of these dimensions of the plotted array."""
        return bool(dimensions) and set(dimensions) <= set(self._dimensions)

    def grows(self, dimension: int) -> bool | None:
        """Whether the values mostly grow with the index along a dimension that is on an axis.

        None where they do not depend on it, or fall as often as they grow. Longitudes go round at 360.
        """
        if dimension not in self._grows:
            self._grows[dimension] = self._mostly_grow(dimension)
        return self._grows[dimension]

    def _mostly_grow(self, dimension: int) -> bool | None:
        on_axes = [each for each in self._dimensions if each in self._plan.slice.axes]
        if dimension not in on_axes or not self._shown.is_number or not self._values.size:
            return None
        with np.errstate(invalid="ignore"):
            steps = np.diff(self._shown.numbers(self._values), axis=on_axes.index(dimension))
            if self._role is AxisRole.LONGITUDE:
                steps = wrap_longitudes(steps)
        more, less = int(np.count_nonzero(steps > 0)), int(np.count_nonzero(steps < 0))
        return None if more == less else more > less

    def over(self, axes: Sequence[int]) -> tuple[npt.NDArray[np.float64], tuple[range, ...]] | None:
        """Return the numbers over the axes of the view, in their order, and the indices that they are at.

        None where they are no numbers, or do not depend on all of these axes.
        """
        taken = self._taken
        own = [each for each in self._dimensions if each in taken]
        if not self._shown.is_number or sorted(own) != sorted(axes) or self._values.ndim != len(own):
            return None
        numbers = self._shown.numbers(self._values).astype(np.float64)
        return numbers.transpose([own.index(axis) for axis in axes]), tuple(taken[axis] for axis in axes)

    def _value_text(self, raw: Any) -> str:
        if self._role in _HEMISPHERES and self._shown.is_number and not self._shown.is_missing(raw):
            return degrees_text(float(self._shown.numbers(np.asarray(raw))), None, *_HEMISPHERES[self._role])
        return self._shown.text_with_units(raw) if isinstance(raw, np.generic) else value_text(raw)


@dataclass(frozen=True, slots=True)
class AuxiliarySet:
    """The auxiliary coordinates of one view that could be read, and why others could not."""

    found: tuple[Auxiliary, ...] = ()
    lost: tuple[str, ...] = ()


def read_auxiliary(
    session: Session,
    access: Access,
    nodes: Sequence[AuxiliaryNode],
    plan: ViewPlan,
    cancel: CancelToken,
) -> AuxiliarySet:
    """Read the auxiliary coordinates of what a plan reads; those that are too large or fail are left out."""
    from refbrowser.engine.jobs import Priority

    found, lost = [], []
    for each in nodes:
        taken = _taken(each, plan)
        index = tuple(
            slice(taken[dimension].start, taken[dimension].stop, taken[dimension].step)
            if dimension in taken
            else plan.slice.indices[dimension]
            for dimension in each.dimensions
        )
        selection = Selection.from_index(index, each.node.shape)
        chunks = each.node.grid.count(selection)
        if selection.size > ELEMENTS_MOST or chunks > LIMITS.view_chunks:
            lost.append(f"{one_line(each.node.name)} was not read: it is in {count_text(chunks)} chunks")
            continue
        try:
            values = session.read(each.node, access, selection, cancel=cancel, priority=Priority.NEIGHBOUR)
        except RefbrowserError as error:
            lost.append(f"{one_line(each.node.name)} cannot be read: {error.message}")
            continue
        made = Auxiliary(each, plan, np.asarray(values), taken)
        # Looked at here, in the worker: for millions of values it takes longer than a frame.
        _ = [made.grows(dimension) for dimension in plan.slice.axes]
        found.append(made)
    return AuxiliarySet(tuple(found), tuple(lost))


def _content(values: npt.NDArray[Any]) -> int:
    """Return a number that is another one for other values."""
    return 0 if values.dtype.hasobject else crc32(np.ascontiguousarray(values).view(np.uint8).data)


def _taken(found: AuxiliaryNode, plan: ViewPlan) -> dict[int, range]:
    """Return which indices along the axes of a view are read of a coordinate: of a large one every n-th."""
    taken = dict(zip(plan.slice.axes, plan.ranges, strict=True))
    own = [dimension for dimension in found.dimensions if dimension in taken]
    size = prod(len(taken[dimension]) for dimension in own)
    factor = ceil((size / ELEMENTS_MOST) ** (1 / max(1, len(own))))
    return {
        dimension: range(each.start, each.stop, each.step * factor) if dimension in own else each
        for dimension, each in taken.items()
    }
