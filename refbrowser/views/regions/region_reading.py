"""From a region and an array to what statistics are made of: coordinates, weights and masks are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.engine.statistics.summarizing import Summarizing
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.coordinates import role_of
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import Picture, have_values
from refbrowser.views.plot.reading import (
    auxiliary_nodes,
    coordinate_nodes,
    read_coordinates,
    told_coordinates,
)
from refbrowser.views.regions.cell_weights import Weighting, read_weights
from refbrowser.views.regions.region import Bounds, Condition, Region, parts_of
from refbrowser.views.regions.region_cells import BesideArray, RegionCells
from refbrowser.views.regions.region_grid import Box, ElementPlaces, Floats, Mask, RegionGrid, boxes_of

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken


@dataclass(frozen=True, slots=True, eq=False)
class RegionOfArray:
    """A region on the grid of an array, ready for its values to be read.

    Attributes
    ----------
    wanted
        What is asked of the array along each dimension, steps of 1.
    boxes
        What of that has to be read.
    """

    dataset: Dataset
    node: ArrayNode
    shown: Interpretation
    region: Region
    wanted: Box
    boxes: tuple[Box, ...]
    cells: RegionCells
    weighting: Weighting

    def reached(self, axis: int) -> range:
        """Return the indices along a dimension among which the region has elements."""
        parts = [box[axis] for box in self.boxes]
        return (
            range(min(each.start for each in parts), max(each.stop for each in parts)) if parts else range(0)
        )

    def summarizing(self, along: int | None = None) -> Summarizing:
        """Return the pass over its values; with `along`, for each index of a dimension alone."""
        decoder = decoder_of(self.shown)
        return Summarizing(
            self.dataset.session,
            self.dataset.access,
            self.node,
            self.boxes,
            decoder.numbers,
            self.cells,
            range(1) if along is None else self.reached(along),
            decoder.only,
            along,
        )


def region_of_array(
    dataset: Dataset,
    node: ArrayNode,
    region: Region,
    selection: Selection,
    token: CancelToken,
    *,
    decoded: bool = True,
) -> RegionOfArray:
    """Return a region on the grid of an array: its coordinates, weights and masks are read.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the array has no numbers, or the region names coordinates or arrays that it has not. What
        could not be read of coordinates that the region needs.
    """
    shown = Interpretation(node, decoded)
    if not shown.is_number or node.nested is not None:
        message = f"{quoted(node.path)} has no numbers to make statistics of"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
    if any(part.step != 1 for part in selection.axes):
        message = "statistics are of all elements of a part, not of every n-th"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
    arrays = coordinate_nodes(dataset.hierarchy, node)
    told = told_coordinates(dataset.hierarchy, node)
    session, access = dataset.session, dataset.access
    read = read_coordinates(session, access, node, arrays, token, told)
    coordinates = read.coordinates
    _check_read(region, read.errors)
    grid = RegionGrid(node.path, coordinates, _element_places(dataset, node, token))
    beside = {
        part.path: _beside(dataset, node, part.path, token)
        for part in parts_of(region)
        if isinstance(part, Condition) and part.path
    }
    weighting = _noted(read_weights(dataset, node, coordinates, token), read.errors)
    cells = RegionCells(grid, region, beside, weighting.weights)
    boxes = tuple(boxes_of(grid.reach(region), selection.axes))
    return RegionOfArray(dataset, node, shown, region, selection.axes, boxes, cells, weighting)


def inside_picture(ready: RegionOfArray, picture: Picture, most: int) -> tuple[Mask, tuple[range, range]]:
    """Return which elements of a picture are in a region, of at most about `most` along each of its axes.

    Returns
    -------
    inside
        In the order of the picture: (rows, columns).
    ranges
        The indices of these rows and columns.
    """
    state = picture.plan.slice
    rows, columns = (part[:: max(1, len(part) // most)] for part in picture.plan.ranges)
    ranges = {state.axes[0]: rows, state.axes[1]: columns}
    box = tuple(ranges.get(axis, range(at, at + 1)) for axis, at in enumerate(state.indices))
    steps = tuple(
        part.step // taken.step for part, taken in zip((rows, columns), picture.plan.ranges, strict=True)
    )
    values = picture.values[:: steps[0], :: steps[1]]
    numbers = ready.shown.numbers(values).astype(np.float64)
    numbers[~have_values(_states(picture, steps))] = np.nan
    turned = numbers if state.axes[0] < state.axes[1] else numbers.T
    inside, _lost = ready.cells.inside(box, turned.reshape([len(part) for part in box]), None)
    whole = np.broadcast_to(True if inside is None else inside, [len(part) for part in box])
    flat = whole.reshape(turned.shape)
    return (flat if state.axes[0] < state.axes[1] else flat.T), (rows, columns)


def _check_read(region: Region, errors: Mapping[str, BaseException]) -> None:
    """Raise why the coordinates that a region needs were not read, by the names of dimensions."""
    for part in parts_of(region):
        if isinstance(part, Condition) or part.by_index:
            continue
        names = (part.name,) if isinstance(part, Bounds) else part.names or tuple(errors)
        for name in names:
            if name in errors:
                raise errors[name]


def _noted(weighting: Weighting, errors: Mapping[str, BaseException]) -> Weighting:
    """Return weights with what could not be read of the coordinates that might tell them."""
    lost = [
        f"the coordinates {name} cannot be read: {getattr(error, 'message', error)}"
        for name, error in errors.items()
    ]
    return Weighting(weighting.weights, "; ".join(filter(None, (weighting.note, *lost))))


def _states(picture: Picture, steps: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    places = [
        np.arange(0, size, step, dtype=np.int64)
        for size, step in zip(picture.values.shape, steps, strict=True)
    ]
    return picture.element_states(places)


def _element_places(dataset: Dataset, node: ArrayNode, token: CancelToken) -> list[ElementPlaces]:
    """Read the coordinates of single elements that are numbers, whole."""
    found = []
    for each in auxiliary_nodes(dataset.hierarchy, node):
        shown = Interpretation(each.node, decoded=True)
        if not shown.is_number or int(np.prod(each.node.shape)) > LIMITS.view_elements:
            continue
        selection = Selection.whole(each.node.shape)
        raw = dataset.session.read(each.node, dataset.access, selection, cancel=token)
        order = np.argsort(each.dimensions)
        values = np.transpose(shown.numbers(raw).astype(np.float64), order)
        dimensions = tuple(each.dimensions[at] for at in order)
        role = role_of(each.node.name, each.node.attributes)
        found.append(ElementPlaces(each.node.name, role, dimensions, values))
    return found


def _beside(dataset: Dataset, node: ArrayNode, path: str, token: CancelToken) -> BesideArray:
    """Return another array of the same grid.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such array, it is not on this grid, or has no numbers.
    """
    other = dataset.array(path).node
    dimensions = tuple(
        node.dimensions.index(name) if name is not None and node.dimensions.count(name) == 1 else -1
        for name in other.dimensions
    )
    sizes = [node.shape[axis] if axis >= 0 else -1 for axis in dimensions]
    shown = Interpretation(other, decoded=True)
    if sizes != list(other.shape) or list(dimensions) != sorted(set(dimensions)) or not shown.is_number:
        message = f"{quoted(path)} is not an array of numbers on the grid of {quoted(node.path)}"
        advice = "its dimensions have to be some of those, in the same order"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=path), advice)
    decoder = decoder_of(shown)

    def read(ranges: Box) -> tuple[Floats, Mask | None]:
        selection = Selection(ranges)
        lost = np.zeros(selection.shape, bool)

        def note(ended: EndedPart) -> None:
            if ended.state is PartState.FAILED:
                place: tuple[Any, ...] = (*ended.part.target, ...)
                lost[place] = True

        raw = dataset.session.read(other, dataset.access, selection, on_part=note, cancel=token)
        return decoder.numbers(raw), lost if lost.any() else None

    return BesideArray(dimensions, read)


class Decoder(NamedTuple):
    """How stored elements become numbers.

    Attributes
    ----------
    numbers
        Makes a new array, NaN where an element has no value.
    only
        The only numbers that there can be, ascending and evenly spaced; None where there are too many.
    """

    numbers: Callable[[npt.NDArray[Any]], Floats]
    only: Floats | None


def decoder_of(shown: Interpretation) -> Decoder:
    """Return how elements become the numbers that a plot shows."""
    dtype = shown.node.known_dtype.newbyteorder("=")
    packing = shown.packing
    if dtype.kind in "iu" and dtype.itemsize <= 2:
        return _looked_up(shown, dtype)
    bare = not (packing.is_scaled or packing.missing or packing.valid_min is not None)
    if dtype.kind == "f" and bare and packing.valid_max is None:
        return Decoder(lambda raw: raw.astype(np.float64), None)
    return Decoder(lambda raw: shown.numbers(raw).astype(np.float64), None)


def _looked_up(shown: Interpretation, dtype: np.dtype[Any]) -> Decoder:
    """Return how elements of few values become numbers: each value is decoded once."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    stored = np.arange(1 << (8 * dtype.itemsize), dtype=unsigned).view(dtype)
    table = shown.numbers(stored).astype(np.float64)

    def numbers(raw: npt.NDArray[Any]) -> Floats:
        return table[np.ascontiguousarray(raw).view(unsigned)]

    known = np.unique(table[np.isfinite(table)])
    steps = np.diff(known)
    even = len(known) > 1 and bool(np.allclose(steps, steps.mean(), rtol=1e-6, atol=0))
    return Decoder(numbers, known if even else None)
