"""Reads for a view, done by a worker: the chunks of a picture, and coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.coordinates import Coordinate, attribute_text, plain_coordinate
from refbrowser.views.interpretation import Interpretation
from refbrowser.views.picture import ChunkState, Picture
from refbrowser.views.roles import AxisRole, role_of
from refbrowser.views.slicing import dimension_names

if TYPE_CHECKING:
    from refbrowser.engine.pieces import Piece
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken

#: Coordinates longer than this are not read: the axis shows indices.
LONGEST_COORDINATE = 1 << 22
#: Attributes that say which number a stored element stands for.
_PACKING = ("scale_factor", "add_offset", "_Unsigned")


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
    from refbrowser.engine.pieces import PieceState

    states = {
        PieceState.DONE: ChunkState.DONE,
        PieceState.MISSING: ChunkState.MISSING,
        PieceState.FAILED: ChunkState.FAILED,
    }

    def note(piece: Piece) -> None:
        picture.accept(piece.part.coords, states[piece.state], piece.error)

    session.read(
        picture.node,
        access,
        picture.plan.selection,
        out=picture.out,
        on_piece=note,
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
) -> CoordinateSet:
    """Read the coordinates of an array's dimensions; one that fails is left out and told."""
    coordinates, errors = [], {}
    for name, size, array in zip(dimension_names(node), node.shape, nodes, strict=True):
        coordinate = None
        if array is not None and array.error is None and size <= LONGEST_COORDINATE:
            try:
                values = session.read(array, access, Selection.whole(array.shape), cancel=cancel)
                coordinate = made_coordinate(name, array, values)
            except RefbrowserError as error:
                errors[name] = error
        coordinates.append(coordinate or plain_coordinate(name, size))
    return CoordinateSet(tuple(coordinates), errors)


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
    )
    # Looked at here, in the worker: for millions of values it takes longer than a frame.
    _ = coordinate.ascending, coordinate.even, coordinate.step, coordinate.tells_cells_apart
    return coordinate


def same_packing(before: ArrayNode, now: ArrayNode) -> bool:
    """Whether the stored elements of an array mean the same numbers after an edit of its attributes."""
    return all(before.attributes.get(name) == now.attributes.get(name) for name in _PACKING)


def reads_the_same(before: ArrayNode, after: ArrayNode, selection: Selection) -> bool:
    """Whether a selection has the same chunks, decoded in the same way, after an edit as before it."""
    kept = ("shape", "dtype", "grid", "order", "codecs", "format")
    if any(getattr(before, name) != getattr(after, name) for name in kept):
        return False
    if repr(before.fill_value) != repr(after.fill_value) or before.source is not after.source:
        return False
    if before.manifest is None or after.manifest is None or before.grid is None:
        return False
    coords = before.grid.coords(selection)
    one, other = before.manifest.columns(coords), after.manifest.columns(coords)
    if not all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("kind", "offset", "length")
    ):
        return False
    urls, others = np.array([*one.urls, ""], object), np.array([*other.urls, ""], object)
    return bool((urls[one.url] == others[other.url]).all()) and dict(one.inline) == dict(other.inline)
