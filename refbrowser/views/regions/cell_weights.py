"""How much of the Earth each cell of a grid covers, as far as CF tells: the weights of its values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.coordinates import AxisRole, Coordinate, attribute_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.reading import coordinate_nodes, groups_above
from refbrowser.views.plot.snippet_store import literal
from refbrowser.views.regions.region_grid import Box, Floats

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken

#: Longitudes whose cells differ by less than this, in parts of their mean, are cells of one width.
_EVEN = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """The weights of cells.

    Attributes
    ----------
    words
        What they are, after "weighted by".
    dimensions
        Those of the array that they depend on, ascending.
    values
        None is negative, or NaN.
    python
        The same as an expression of Python, of an xarray ``dataset`` and the ``values`` in it.
    units
        Empty where only their proportions count.
    """

    words: str
    dimensions: tuple[int, ...]
    values: Floats
    python: str
    units: str = ""

    def of(self, box: Box) -> Floats:
        """Return those of a box, an axis for each of the dimensions."""
        return self.values[tuple(slice(box[axis].start, box[axis].stop) for axis in self.dimensions)]


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """The weights of the cells of an array, None where there are none, and why there are no others."""

    weights: CellWeights | None = None
    note: str = ""


def read_weights(
    dataset: Dataset, node: ArrayNode, coordinates: tuple[Coordinate, ...], token: CancelToken
) -> Weighting:
    """Return the weights of the cells of an array.

    They are the areas that its attribute `cell_measures` names; else, with a dimension of latitudes, those
    between the bounds of these; else cosines of the latitudes.
    """
    note = ""
    measure = re.search(r"\barea:\s*(\S+)", attribute_text(node.attributes, "cell_measures"))
    if measure is not None:
        try:
            found = _areas(dataset, node, measure[1], token)
        except RefbrowserError as error:
            note = f"the cell areas {measure[1]} cannot be read: {error.message}"
        else:
            if found is not None:
                return Weighting(found)
            note = f"the cell areas {measure[1]} are not in this document"
    latitude = next((axis for axis, each in enumerate(coordinates) if each.role is AxisRole.LATITUDE), None)
    values = None if latitude is None else coordinates[latitude].values
    if latitude is None or values is None:
        return Weighting(None, note)
    try:
        bounds = _bounds(dataset, node, latitude, token)
        if bounds is not None:
            return Weighting(_between(dataset, node, coordinates, latitude, bounds, token), note)
    except RefbrowserError as error:
        note = "; ".join(filter(None, (note, f"the bounds of cells cannot be read: {error.message}")))
    cosines = np.cos(np.radians(np.clip(_filled(values), -90, 90)))
    python = f"np.cos(np.deg2rad(values[{literal(coordinates[latitude].name)}])).clip(0)"
    weights = CellWeights("the cosine of latitude", (latitude,), np.maximum(cosines, 0), python)
    return Weighting(weights, note)


class _Bounds(NamedTuple):
    """The two ends of each cell along a dimension, shape (n, 2)."""

    name: str
    ends: str
    values: Floats

    def widths(self, python: str) -> str:
        """Return an expression of how far an expression of the ends differs between both."""
        return f"abs({python}.diff({literal(self.ends)})).isel({{{literal(self.ends)}: 0}}, drop=True)"

    @property
    def python(self) -> str:
        """An expression of the ends."""
        return f"dataset[{literal(self.name)}]"


def _between(
    dataset: Dataset,
    node: ArrayNode,
    coordinates: tuple[Coordinate, ...],
    latitude: int,
    bounds: _Bounds,
    token: CancelToken,
) -> CellWeights:
    """Return the weights between bounds of latitudes, and of longitudes where these differ in width."""
    words = "the areas between the bounds of latitudes"
    heights = np.abs(np.diff(np.sin(np.radians(np.clip(bounds.values, -90, 90))), axis=1))[:, 0]
    python = bounds.widths(f"np.sin(np.deg2rad({bounds.python}.clip(-90, 90)))")
    for axis, each in enumerate(coordinates):
        if each.role is not AxisRole.LONGITUDE:
            continue
        across = _bounds(dataset, node, axis, token)
        widths = None if across is None else np.abs(np.diff(across.values, axis=1))[:, 0]
        is_uneven = widths is not None and np.ptp(widths) > _EVEN * widths.mean()
        if across is None or not is_uneven or node.shape[axis] * len(heights) > LIMITS.view_elements:
            break
        values = heights[:, np.newaxis] * widths
        words, python = f"{words} and longitudes", f"{python} * {across.widths(across.python)}"
        if axis < latitude:
            return CellWeights(words, (axis, latitude), np.ascontiguousarray(values.T), python)
        return CellWeights(words, (latitude, axis), values, python)
    return CellWeights(words, (latitude,), heights, python)


def _areas(dataset: Dataset, node: ArrayNode, name: str, token: CancelToken) -> CellWeights | None:
    found = _beside(dataset, node, name)
    if found is None:
        return None
    dimensions = []
    for own, size in zip(found.dimensions, found.shape, strict=False):
        if own is None or node.dimensions.count(own) != 1:
            return None
        axis = node.dimensions.index(own)
        if node.shape[axis] != size:
            return None
        dimensions.append(axis)
    if (
        not dimensions
        or len(dimensions) != len(found.shape)
        or int(np.prod(found.shape)) > LIMITS.view_elements
    ):
        return None
    order = np.argsort(dimensions)
    values = _filled(np.transpose(_numbers(dataset, found, token), order))
    shown = Interpretation(found, decoded=True)
    axes = tuple(dimensions[each] for each in order)
    python = f"dataset[{literal(name)}]"
    return CellWeights(f"the cell areas {name}", axes, np.maximum(values, 0), python, shown.units)


def _bounds(dataset: Dataset, node: ArrayNode, axis: int, token: CancelToken) -> _Bounds | None:
    """Return the bounds of a dimension's coordinate, or None where there are none."""
    coordinate = coordinate_nodes(dataset.hierarchy, node)[axis]
    name = "" if coordinate is None else attribute_text(coordinate.attributes, "bounds")
    found = _beside(dataset, node, name) if name else None
    if found is None or found.shape != (node.shape[axis], 2):
        return None
    values = _numbers(dataset, found, token)
    return _Bounds(name, str(found.dimensions[1]), values) if np.isfinite(values).all() else None


def _beside(dataset: Dataset, node: ArrayNode, name: str) -> ArrayNode | None:
    """Return an array of a name in the group of another one, or above it."""
    for group in groups_above(dataset.hierarchy, node.path):
        array = group.arrays.get(name)
        if array is not None:
            return array
    return None


def _numbers(dataset: Dataset, array: ArrayNode, token: CancelToken) -> Floats:
    values = dataset.session.read(array, dataset.access, Selection.whole(array.shape), cancel=token)
    numbers: npt.NDArray[np.float64] = Interpretation(array, decoded=True).numbers(values).astype(np.float64)
    return numbers


def _filled(values: Floats) -> Floats:
    """Return weights with 0 where there are none."""
    return np.where(np.isfinite(values), values, 0.0)
