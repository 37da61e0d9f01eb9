"""Which slice of an array a view shows: the axes of the plot and an index for every other dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy.typing as npt

from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.coordinates import AxisRole

#: Slices, and indices of dimensions, that are remembered.
_REMEMBERED = 500
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class SliceState:
    """The slice on the screen; a change gives a new value.

    Attributes
    ----------
    shape
        Of the whole array.
    names
        One name per dimension, made up where the array has none.
    x
        The dimension that runs to the right.
    y
        The dimension that runs upwards, or None for a line.
    indices
        One index per dimension; those of the axes are kept for when they become sliders.
    bands
        The dimension that is shown as colours; None where each of its indices is an image by itself.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    x: int
    y: int | None
    indices: tuple[int, ...]
    bands: Bands | None = None

    @classmethod
    def of(
        cls, shape: tuple[int, ...], names: tuple[str, ...], selection: Selection, axes: Sequence[int]
    ) -> SliceState:
        """Return the slice with these axes that a selection of an array is part of.

        Axes that the array has not, or that are not told, are those that a selection has more than one index
        of, or the last ones.
        """
        if not axes or max(axes) >= len(shape):
            long = [axis for axis, taken in enumerate(selection.axes) if len(taken) != 1]
            axes = tuple(long[-2:]) or (max(0, len(shape) - 1),)
        indices = tuple(taken.start if taken else 0 for taken in selection.axes)
        return cls(shape, names, axes[-1], axes[0] if len(axes) > 1 else None, indices)

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions on the axes in the order of a picture: ``(y, x)`` or ``(x,)``; none of a scalar."""
        if not self.shape:
            return ()
        return (self.x,) if self.y is None else (self.y, self.x)

    @property
    def shown(self) -> tuple[int, ...]:
        """The dimensions that are seen whole: `axes`, and then that of the bands of an image in colour."""
        return self.axes if self.bands is None else (*self.axes, self.bands.dimension)

    def is_parallel(self, other: SliceState | None) -> bool:
        """Return whether another slice differs at most in the indices at which it is held."""
        return other is not None and replace(other, indices=self.indices) == self

    @property
    def order(self) -> tuple[int, ...]:
        """Which axis of what is read each of `shown` is."""
        return tuple(sorted(self.shown).index(axis) for axis in self.shown)

    @property
    def sliders(self) -> tuple[int, ...]:
        """The dimensions that are held at an index, in the array's order."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.shown)

    def with_index(self, dimension: int, index: int) -> SliceState:
        """Return the slice moved to `index` along one dimension; the index is held inside the array."""
        held = max(0, min(index, self.shape[dimension] - 1))
        indices = (*self.indices[:dimension], held, *self.indices[dimension + 1 :])
        return replace(self, indices=indices)

    def with_x(self, dimension: int) -> SliceState:
        """Return the slice with another x axis; when that was the y axis, the two are exchanged."""
        return replace(self, x=dimension, y=self.x if dimension == self.y else self.y)._with_own_bands()

    def with_y(self, dimension: int | None) -> SliceState:
        """Return the slice with another y axis (None: a line); exchanged when that was the x axis."""
        if dimension is not None and dimension == self.x:
            if self.y is None:
                return self
            return replace(self, x=self.y, y=dimension)
        return replace(self, y=dimension)._with_own_bands()

    def with_bands(self, bands: Bands | None) -> SliceState:
        """Return the slice as an image in colour, or as one of a single band; a line stays one."""
        return replace(self, bands=bands)._with_own_bands()

    def _with_own_bands(self) -> SliceState:
        """Return the slice without colours where it is a line, or these are on an axis."""
        if self.bands is None or (self.y is not None and self.bands.dimension not in self.axes):
            return self
        return replace(self, bands=None)

    @property
    def band_names(self) -> tuple[str, ...]:
        """What the bands of an image in colour are called; none of another one."""
        if self.bands is None:
            return ()
        return self.bands.names(self.names[self.bands.dimension], self.shape[self.bands.dimension])

    def line(self, dimension: int, indices: tuple[int, ...]) -> SliceState:
        """Return a line along a dimension through an element."""
        return replace(self, x=dimension, y=None, indices=indices, bands=None)

    def arranged(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what was read of this slice in the order of its axes, with its bands last."""
        return values.transpose(self.order)

    def index(self, ranges: Sequence[range]) -> tuple[int | slice, ...]:
        """Return the numpy index of `ranges` along the axes (in the order of `axes`) at this slice."""
        chosen = dict(zip(self.axes, ranges, strict=True))
        if self.bands is not None:
            chosen[self.bands.dimension] = range(self.shape[self.bands.dimension])
        return tuple(
            slice(chosen[axis].start, chosen[axis].stop, chosen[axis].step) if axis in chosen else index
            for axis, index in enumerate(self.indices)
        )

    def text(self, window: Sequence[range] | None = None) -> str:
        """Return the slice as it is written for `--select` (``0,3,:,:``).

        `window` are the indices along its axes, steps of 1, where it is a part of the slice alone.
        """
        held, parts = self.sliders, dict(zip(self.axes, window or (), strict=False))

        def written(axis: int, size: int, index: int) -> str:
            part = parts.get(axis, range(size))
            if axis in held:
                return str(index)
            return ":" if part == range(size) or not part else f"{part.start}:{part.stop}"

        return ",".join(map(written, range(len(self.shape)), self.shape, self.indices))

    def selected(
        self, selection: Selection, bands: Bands | None
    ) -> tuple[SliceState, tuple[range, ...] | None]:
        """Return the slice that shows a selection of the array, and the part of it; None for all of it.

        What has more than one index selected is on the axes: these stay where they can. Of more than two such
        dimensions all others are held at their first index, but for that of `bands`, whose colours are shown.
        """
        kept = [axis for axis, taken in enumerate(selection.axes) if len(taken) != 1]
        in_colour = bands is not None and bands.dimension in kept and len(kept) > 2
        if bands is not None and in_colour:
            kept.remove(bands.dimension)
        if len(kept) == 1:
            x, y = kept[0], None
        elif not kept or (self.y is not None and set(self.axes) <= set(kept)):
            x, y = self.x, self.y
        else:
            x, y = kept[-1], kept[-2]
        indices = zip(selection.axes, self.indices, strict=True)
        first = tuple(taken.start if taken else index for taken, index in indices)
        state = replace(self, x=x, y=y, indices=first).with_bands(bands if in_colour else None)
        whole = tuple(range(self.shape[axis]) for axis in state.axes)
        window = tuple(
            range(taken.start, taken[-1] + 1) if len(taken) > 1 else all_of_it
            for taken, all_of_it in zip((selection.axes[axis] for axis in state.axes), whole, strict=True)
        )
        return state, None if window == whole else window


def dimension_names(node: ArrayNode) -> tuple[str, ...]:
    """Return a name for each dimension of `node`; ``dim 0`` and so on where it has none."""
    given = node.dimensions if len(node.dimensions) == len(node.shape) else (None,) * len(node.shape)
    return tuple(name or f"dim {axis}" for axis, name in enumerate(given))


def first_slice(
    node: ArrayNode,
    roles: Sequence[AxisRole],
    before: SliceState | None = None,
    bands: Bands | None = None,
) -> SliceState:
    """Return the slice to begin with.

    The axes are longitude and latitude (or projected x and y) where the roles tell them, else the dimensions
    called x and y, else the last dimensions longer than one; a single such dimension gives a line. Where
    `before` has the same dimensions, its axes and indices stay. A scalar has no axis, and bands are none.
    """
    names = dimension_names(node)
    if before is not None and before.names == names and before.shape == node.shape:
        return before
    x, y = _first_axes(node.shape, names, roles, bands)
    state = SliceState(node.shape, names, x, y, (0,) * len(node.shape))
    if before is not None:
        for dimension, name in enumerate(names):
            if name in before.names and before.shape[before.names.index(name)] == node.shape[dimension]:
                state = state.with_index(dimension, before.indices[before.names.index(name)])
    return state


def grown_slice(state: SliceState, node: ArrayNode) -> SliceState | None:
    """Return the slice of an array that got longer; None where it is not the same with longer dimensions."""
    if dimension_names(node) != state.names or node.shape == state.shape:
        return None
    is_longer = all(now >= before for now, before in zip(node.shape, state.shape, strict=True))
    return replace(state, shape=node.shape) if is_longer else None


def chunk_window(node: ArrayNode, coords: Sequence[int]) -> tuple[range, ...] | None:
    """Return the indices along each dimension that a chunk holds, or None where there is no such chunk."""
    if not node.has_grid or len(coords) != len(node.shape):
        return None
    grid = node.grid
    if not all(0 <= at < count for at, count in zip(coords, grid.grid_shape, strict=True)):
        return None
    coords = tuple(coords)
    starts = zip(grid.origin(coords), grid.extent(coords), strict=True)
    return tuple(range(start, start + extent) for start, extent in starts)


class SliceMemory:
    """Where the user was in one document: an array of the same dimensions begins there."""

    def __init__(self) -> None:
        self._states: dict[tuple[tuple[str, ...], tuple[int, ...]], SliceState] = {}
        self._indices: dict[tuple[str, int], int] = {}

    def keep(self, state: SliceState, named: Sequence[str | None]) -> None:
        """Remember a slice; `named` are the dimensions' own names, None where they have none.

        Whether it is in colour depends on the array, not on its dimensions.
        """
        _put(self._states, (state.names, state.shape), state.with_bands(None))
        for name, size, index in zip(named, state.shape, state.indices, strict=False):
            if name is not None:
                _put(self._indices, (name, size), index)

    def first(self, node: ArrayNode, roles: Sequence[AxisRole], bands: Bands | None = None) -> SliceState:
        """Return the slice to begin with: the last one of such an array, else `first_slice`.

        In the second case dimensions of the same name and size keep their index.
        """
        state = first_slice(node, roles, self._states.get((dimension_names(node), node.shape)), bands)
        for dimension, key in enumerate(zip(node.dimensions, node.shape, strict=False)):
            index = self._indices.get(key)  # type: ignore[arg-type]
            if index is not None:
                state = state.with_index(dimension, index)
        return state


def _put(into: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Put a value at the end, and let go of the oldest beyond what is remembered."""
    into.pop(key, None)
    into[key] = value
    if len(into) > _REMEMBERED:
        del into[next(iter(into))]


def _first_axes(
    shape: tuple[int, ...], names: Sequence[str], roles: Sequence[AxisRole], bands: Bands | None
) -> tuple[int, int | None]:
    long = [axis for axis, size in enumerate(shape) if size > 1]
    if bands is not None:
        long.remove(bands.dimension)
    if len(long) < 2:
        return (long[0] if long else max(0, len(shape) - 1)), None
    east = [axis for axis in long if roles[axis].runs_east]
    north = [axis for axis in long if roles[axis].runs_north]
    if east and north:
        return east[-1], north[-1]
    # Samples of pictures come after these.
    called = {names[axis].lower(): axis for axis in long}
    if "x" in called and "y" in called:
        return called["x"], called["y"]
    return long[-1], long[-2]
