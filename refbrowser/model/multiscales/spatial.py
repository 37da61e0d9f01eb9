"""Where the pixels of an array are, as the Spatial convention for Zarr says (zarr-conventions/spatial, v0.1).

Its attributes stand on the array, on its group as a default, or in the layout of a multiscale image. What its
forerunner had below ``geo`` and ``proj:`` is taken for the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from refbrowser.errors import quoted
from refbrowser.findings.kinds import LEVEL_SHAPES, LEVEL_TRANSFORM
from refbrowser.model.multiscales.axis_transform import AxisTransform
from refbrowser.model.multiscales.crs import Crs
from refbrowser.model.multiscales.described_group import DescribedGroup, text_in
from refbrowser.model.multiscales.multiscale import Affine, Axis, Direction, Turned
from refbrowser.model.nodes import ArrayNode

_DIMENSIONS, _TRANSFORM, _BBOX = "spatial:dimensions", "spatial:transform", "spatial:bbox"
_SHAPE, _TYPE, _REGISTRATION = "spatial:shape", "spatial:transform_type", "spatial:registration"
#: What axes of arrays without names are called.
_LETTERS: dict[Direction | None, str] = {Direction.EAST: "x", Direction.NORTH: "y"}
#: What the first drafts called the same, also below ``geo`` and ``proj``.
_DRAFTS = {
    "spatial_dimensions": _DIMENSIONS,
    "transform": _TRANSFORM,
    "bbox": _BBOX,
    "code": "proj:code",
    "wkt2": "proj:wkt2",
    "projjson": "proj:projjson",
}


def spatial_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of the conventions Spatial and Proj, those of drafts under the names of today."""
    found = {}
    geo = attributes.get("geo")
    draft = geo.get("proj") if isinstance(geo, Mapping) else None
    nested = draft if isinstance(draft, Mapping) else {}
    for name, today in _DRAFTS.items():
        value = nested.get(name, attributes.get(f"proj:{name}"))
        if value is not None:
            found[today] = value
    return found | {
        name: value
        for name, value in attributes.items()
        if name.startswith(("spatial:", "proj:")) and value is not None
    }


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an array lies.

    Attributes
    ----------
    rows, columns
        Its dimensions that are Y and X.
    affine
        From the corner of a pixel (column, row) to x and y; None where nothing is told.
    is_node
        Coordinates are those of the centres of pixels already, not of their corners.
    """

    rows: int
    columns: int
    affine: Affine | None
    is_node: bool = False

    @property
    def is_straight(self) -> bool:
        """Whether its rows and columns lie along the axes of its space."""
        return self.affine is not None and not (self.affine[1] or self.affine[3])

    def transforms(self, rank: int) -> tuple[AxisTransform | None, ...]:
        """Return the transform of each dimension; None where the grid is turned or nothing is told."""
        found: list[AxisTransform | None] = [None] * rank
        if self.affine is not None and self.is_straight:
            a, _, c, _, e, f = self.affine
            made = AxisTransform if self.is_node else AxisTransform.from_corner
            found[self.columns], found[self.rows] = made(a, c), made(e, f)
        return tuple(found)

    @property
    def turned(self) -> Turned | None:
        """Where the elements of a turned grid are; None of a straight one."""
        if self.affine is None or self.is_straight:
            return None
        a, b, c, d, e, f = self.affine
        half = 0.0 if self.is_node else 0.5
        return Turned(self.rows, self.columns, (a, b, c + half * (a + b), d, e, f + half * (d + e)))

    def resampled(self, scale: Sequence[float], translation: Sequence[float]) -> Placed:
        """Return the place of a level that is made from this one.

        Factors are of the sizes of pixels, offsets of its origin in pixels of this one; (rows, columns).
        """
        if self.affine is None:
            return self
        a, b, c, d, e, f = self.affine
        (down, right), (below, beside) = scale, translation
        origin = c + a * beside + b * below, f + d * beside + e * below
        affine = (a * right, b * down, origin[0], d * right, e * down, origin[1])
        return Placed(self.rows, self.columns, affine, self.is_node)

    def axes(self, node: ArrayNode) -> tuple[Axis, ...]:
        """Return the axes of the array, those of its space with where they grow to."""
        directions = {self.rows: Direction.NORTH, self.columns: Direction.EAST}
        return tuple(
            Axis(name or _LETTERS.get(directions.get(at), ""), direction=directions.get(at, Direction.NONE))
            for at, name in enumerate(names_of(node))
        )


def names_of(node: ArrayNode) -> tuple[str | None, ...]:
    """Return the name of each dimension of an array, None for one that has none."""
    return node.dimensions if len(node.dimensions) == len(node.shape) else (None,) * len(node.shape)


def in_units(axes: Sequence[Axis], crs: Crs | None) -> tuple[Axis, ...]:
    """Return axes with the units of the coordinate system, those to the east and the north."""
    units = "" if crs is None else "degrees" if crs.is_geographic else crs.units
    return tuple(replace(axis, units=units) if axis.direction in _LETTERS else axis for axis in axes)


def placed(
    group: DescribedGroup, node: ArrayNode, sources: Sequence[Mapping[str, Any]], attribute: str = ""
) -> Placed:
    """Return where an array lies by the first of some attributes that tells it; what is wrong is noted.

    Parameters
    ----------
    group
        Whose attributes describe it.
    attribute
        The one that they are told in; their own names where it is empty.
    """
    rows, columns = _dimensions(group, node, _first(sources, _DIMENSIONS), attribute)
    is_node = _first(sources, _REGISTRATION) == "node"
    height, width = node.shape[rows], node.shape[columns]
    shape = _first(sources, _SHAPE)
    if isinstance(shape, list) and shape != [height, width]:
        message = f"{_SHAPE} of {node.path} is {quoted(shape)}, not {[height, width]}"
        group.note(LEVEL_SHAPES, message, attribute or _SHAPE)
    # Attributes that stand nearer say how it lies, in whatever words.
    for source in sources:
        if _TRANSFORM in source and (text_in(source, _TYPE) or "affine") == "affine":
            return Placed(rows, columns, _affine(group, node, source[_TRANSFORM], attribute), is_node)
    for source in sources:
        if _BBOX in source:
            affine = _of_bbox(group, node, source[_BBOX], (height, width), is_node, attribute)
            return Placed(rows, columns, affine, is_node)
    return Placed(rows, columns, None, is_node)


def _first(sources: Sequence[Mapping[str, Any]], name: str) -> Any:
    return next((each[name] for each in sources if name in each), None)


def _dimensions(group: DescribedGroup, node: ArrayNode, written: Any, attribute: str) -> tuple[int, int]:
    """Return which dimensions are Y and X: those that are named, else the last two."""
    last = len(node.shape) - 2, len(node.shape) - 1
    if written is None:
        return last
    names = written if isinstance(written, list) and len(written) == 2 else []
    places = [node.dimensions.index(name) for name in names if name in node.dimensions]
    if len(set(places)) == 2:
        return places[0], places[1]
    if names and not any(node.dimensions):
        # Arrays of Zarr v2 may have no names at all.
        return last
    message = f"{_DIMENSIONS} is {quoted(written)}, which are not two dimensions of {node.path}"
    group.wrong(message, attribute or _DIMENSIONS)
    return last


def _affine(group: DescribedGroup, node: ArrayNode, written: Any, attribute: str) -> Affine | None:
    # A draft had all nine numbers of the matrix.
    given = written[:6] if isinstance(written, list) and written[6:] == [0, 0, 1] else written
    blamed, what = attribute or _TRANSFORM, f"{_TRANSFORM} of {node.path}"
    found = group.numbers(given, 6, blamed, what)
    if found is None:
        return None
    a, b, c, d, e, f = found
    if a * e - b * d == 0:
        group.note(LEVEL_TRANSFORM, f"{what} puts all pixels on one line", blamed)
        return None
    return a, b, c, d, e, f


def _of_bbox(
    group: DescribedGroup,
    node: ArrayNode,
    written: Any,
    shape: tuple[int, int],
    is_node: bool,
    attribute: str,
) -> Affine | None:
    found = group.numbers(written, 4, attribute or _BBOX, f"{_BBOX} of {node.path}")
    if found is None:
        return None
    west, south, east, north = found
    height, width = (size - 1 if is_node else size for size in shape)
    if not height or not width or east == west or north == south:
        return None
    return (east - west) / width, 0.0, west, 0.0, -(north - south) / height, north
