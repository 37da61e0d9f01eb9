"""Which level of a multiscale image a view shows, its slice of that level, and its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refbrowser.model.multiscales.axis_transform import AxisTransform, IndexMap
from refbrowser.model.multiscales.conventions import multiscale_of
from refbrowser.model.multiscales.crs import known_by_pyproj
from refbrowser.model.multiscales.multiscale import Axis, Direction, Multiscale, Turned
from refbrowser.model.multiscales.spatial import in_units
from refbrowser.model.nodes import ArrayNode, Hierarchy, changed_array
from refbrowser.model.selection import Selection
from refbrowser.views.multiscale_words import level_size
from refbrowser.views.plot.coordinates import LONGEST_COORDINATE, AxisRole, Coordinate, role_of
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.words import one_line

#: A level that is shown stays as long as it has so many elements for a pixel, and no coarser one has more.
KEPT_LEAST, KEPT_MOST = 0.8, 1.25
_ROLES = {
    Direction.EAST: AxisRole.EAST,
    Direction.NORTH: AxisRole.NORTH,
    Direction.DOWN: AxisRole.ROWS,
}
_DEGREES = {AxisRole.EAST: AxisRole.LONGITUDE, AxisRole.NORTH: AxisRole.LATITUDE}


@dataclass(frozen=True, slots=True)
class LevelView:
    """What is seen of a level.

    Attributes
    ----------
    number
        Of the level.
    state
        Its slice.
    window
        Indices along the axes of the slice that are visible, steps of 1; None for all of them.
    """

    multiscale: Multiscale
    number: int
    state: SliceState
    window: tuple[range, ...] | None = None

    def on(self, number: int) -> LevelView:
        """Return the same part of the same picture, on another level."""
        maps = self.multiscale.index_maps(self.number, number)
        shape = self.multiscale.levels[number].node.shape
        at = zip(maps, self.state.indices, shape, strict=True)
        indices = tuple(one.index(index, size) for one, index, size in at)
        window = self.window and tuple(
            maps[axis].window(part, shape[axis])
            for axis, part in zip(self.state.axes, self.window, strict=True)
        )
        return LevelView(self.multiscale, number, replace(self.state, shape=shape, indices=indices), window)

    def selection(self, selection: Selection, number: int) -> Selection:
        """Return a selection of this level as one of another: all, but for what is held at an index."""
        maps = self.multiscale.index_maps(self.number, number)
        shape = self.multiscale.levels[number].node.shape
        axes = list(Selection.whole(shape).axes)
        for axis in selection.dropped:
            index = maps[axis].index(selection.axes[axis].start, shape[axis])
            axes[axis] = range(index, index + 1)
        return replace(selection, axes=tuple(axes))

    def coordinates(self) -> tuple[Coordinate | None, ...]:
        """Return the coordinate of each dimension that the metadata of the level give."""
        return level_coordinates(self.multiscale, self.number)

    def place(self, at: Sequence[float], number: int) -> tuple[float, ...]:
        """Return where a place of this level is in another: positions along all dimensions."""
        maps = self.multiscale.index_maps(self.number, number)
        return tuple(one.position(each) for one, each in zip(maps, at, strict=True))

    def maps(self, number: int) -> tuple[IndexMap, ...]:
        """Return where elements of another level are along the axes of this one."""
        found = self.multiscale.index_maps(number, self.number)
        return tuple(found[axis] for axis in self.state.axes)


def level_node(multiscale: Multiscale, number: int) -> ArrayNode:
    """Return the array of a level, its dimensions named by the axes where it gives them no names."""
    node = multiscale.levels[number].node
    if any(node.dimensions) or not any(axis.name for axis in multiscale.axes):
        return node
    return changed_array(node, dimensions=tuple(axis.name or None for axis in multiscale.axes))


def named_node(hierarchy: Hierarchy, node: ArrayNode) -> ArrayNode:
    """Return an array whose dimensions are named: where it gives no names, as its image does."""
    found = None if any(node.dimensions) else multiscale_of(hierarchy, node)
    number = None if found is None else found.number(node.path)
    return node if found is None or number is None else level_node(found, number)


def sufficient_level(view: LevelView, density: Sequence[float], fits: Callable[[LevelView], bool]) -> int:
    """Return the coarsest level that has an element for each pixel; where none has, the finest that fits.

    Parameters
    ----------
    view
        What is shown, or would be.
    density
        Elements of it for a pixel, along each axis of the slice.
    fits
        Whether a level may be read.
    """
    counts = [_count(view, density, number) for number in range(len(view.multiscale.levels))]
    enough = [number for number, count in enumerate(counts) if count >= 1 and fits(view.on(number))]
    if enough:
        return enough[-1]
    return next((number for number in range(len(counts)) if fits(view.on(number))), len(counts) - 1)


def may_stay(view: LevelView, density: Sequence[float]) -> bool:
    """Whether the level that is shown fills the view well enough, so that it does not change back and forth.

    `density` is as in `sufficient_level`.
    """
    coarser = [_count(view, density, at) for at in range(view.number + 1, len(view.multiscale.levels))]
    return _count(view, density, view.number) >= KEPT_LEAST and max(coarser, default=0.0) < KEPT_MOST


def _count(view: LevelView, density: Sequence[float], number: int) -> float:
    """Return how many elements of a level there are for a pixel, along the axis where these are fewest."""
    maps = view.multiscale.index_maps(view.number, number)
    pairs = zip(view.state.axes, density, strict=True)
    return min(
        (one * abs(maps[axis].scale) for axis, one in pairs if view.state.shape[axis] > 1), default=0.0
    )


def level_titles(multiscale: Multiscale) -> tuple[str, ...]:
    """Return what each level is called in a list: its name, and its size where it is an image."""
    size = [at for at, axis in enumerate(multiscale.axes) if axis.direction] or None
    if size is None and multiscale.axes:
        size = list(range(len(multiscale.axes)))[-2:]
    return tuple(one_line(f"{level.name}: {level_size(level, size)}") for level in multiscale.levels)


# Coordinates


def level_roles(multiscale: Multiscale) -> tuple[AxisRole, ...]:
    """Return what the coordinate of each axis is."""
    return tuple(_role(multiscale, axis) for axis in multiscale.axes)


def _role(multiscale: Multiscale, axis: Axis) -> AxisRole:
    role = _ROLES.get(axis.direction, AxisRole.NONE)
    by_name = role_of(axis.name, {})
    is_geographic = multiscale.crs is not None and multiscale.crs.is_geographic
    if role in _DEGREES and (is_geographic or by_name is _DEGREES[role]):
        return _DEGREES[role]
    return role


def level_coordinates(multiscale: Multiscale, number: int) -> tuple[Coordinate | None, ...]:
    """Return the coordinate of each dimension of a level that its transforms give; None where they give none.

    A channel has no number, but may have a name. Where nothing but the index would be told, nothing is.
    """
    level = multiscale.levels[number]
    names = dimension_names(level_node(multiscale, number))
    if multiscale.crs is not None:
        crs = known_by_pyproj(multiscale.crs)
        multiscale = replace(multiscale, crs=crs, axes=in_units(multiscale.axes, crs))
    return tuple(
        _coordinate(axis, role, transform, name, size)
        for axis, role, transform, name, size in zip(
            multiscale.axes,
            level_roles(multiscale),
            level.transforms,
            names,
            level.node.shape,
            strict=True,
        )
    )


class TurnedPlace:
    """X or y of each element of a grid that is turned in its space.

    Parameters
    ----------
    number
        0 for x, 1 for y.
    """

    def __init__(self, multiscale: Multiscale, turned: Turned, number: int) -> None:
        self.name = "xy"[number]
        self._turned, self._number = turned, number
        axis = multiscale.axes[turned.rows if number else turned.columns]
        self._role, self._units = _role(multiscale, axis), axis.units
        self._steps = turned.affine[3 * number : 3 * number + 2]

    @property
    def role(self) -> AxisRole:
        """What the coordinate is."""
        return self._role

    def text(self, indices: Sequence[int]) -> str:
        """Return the coordinate of an element: an index per dimension of the array."""
        value = self._turned.at(indices)[self._number]
        least = min((abs(step) for step in self._steps if step), default=1.0)
        shown = Coordinate(self.name, 2, self._role, np.array([value, value + least]), units=self._units)
        return shown.text(0)

    def spans(self, dimensions: Sequence[int]) -> bool:
        """Whether it depends on all of these dimensions of the array."""
        return bool(dimensions) and set(dimensions) <= {self._turned.rows, self._turned.columns}

    def grows(self, dimension: int) -> bool | None:
        """Whether it grows with the index along a dimension; None where it does not depend on it."""
        columns, rows = self._steps
        step = {self._turned.columns: columns, self._turned.rows: rows}.get(dimension, 0.0)
        return step > 0 if step else None


def turned_places(multiscale: Multiscale, number: int) -> tuple[TurnedPlace, ...]:
    """Return x and y of each element of a level whose grid is turned; nothing of another one."""
    turned = multiscale.levels[number].turned
    return () if turned is None else tuple(TurnedPlace(multiscale, turned, each) for each in (0, 1))


def _coordinate(
    axis: Axis, role: AxisRole, transform: AxisTransform | None, name: str, size: int
) -> Coordinate | None:
    label = one_line(name)
    if len(axis.labels) >= size > 0 and any(axis.labels):
        texts = [text or str(at) for at, text in enumerate(axis.labels[:size])]
        return Coordinate(name=name, size=size, role=AxisRole.OTHER, texts=texts, label=label)
    if transform is None or size > LONGEST_COORDINATE:
        return None
    is_index = transform == AxisTransform() and not axis.units
    if is_index or (not axis.units and axis.direction is Direction.NONE):
        return None
    return Coordinate(
        name=name,
        size=size,
        role=AxisRole.OTHER if role is AxisRole.NONE else role,
        values=transform.origin + transform.step * np.arange(size, dtype=np.float64),
        units=axis.units,
        label=label,
    )


@dataclass(frozen=True, slots=True)
class Backdrop:
    """The picture of a coarser level, behind a part of a finer one.

    Attributes
    ----------
    shown
        What its elements mean.
    rows, columns
        Where its elements are along the axes of the slice that is drawn.
    """

    picture: Picture
    shown: Interpretation
    rows: IndexMap
    columns: IndexMap
