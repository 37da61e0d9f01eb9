"""Indexes as numpy takes them, with places, masks and new axes; only chunks that are needed are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.scattered_reads import read_outer, read_points
from refbrowser.errors import ErrorKind
from refbrowser.model.selection import Selection, SelectionError, expanded

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.model.nodes import ArrayNode

_WHOLE = slice(None)


def read_index(session: Session, node: ArrayNode, access: Access, index: Any) -> Any:
    """Return what numpy's ``array[index]`` gives.

    Source: "Indexing on ndarrays" of numpy's user guide. Places and masks of all axes are broadcast against
    each other; their axes lie where the first of them was if they are neighbours, else in front.

    Raises
    ------
    SelectionError
        The index does not fit.
    RefbrowserError
        A chunk cannot be read; `E_BUDGET`: no memory holds the elements.
    """
    items = _items(index if isinstance(index, tuple) else (index,), node.shape)
    of_axes = tuple(item for item in items if item is not None)
    places = [item for item in of_axes if isinstance(item, np.ndarray)]
    if not places:
        values = session.read(node, access, Selection.from_index(of_axes, node.shape))
        return values[tuple(None if item is None else _WHOLE for item in items if not _is_integer(item))]
    try:
        ndim = len(np.broadcast_shapes(*(each.shape for each in places)))
    except ValueError:
        shapes = " and ".join(str(each.shape) for each in places)
        raise _usage(f"places of shapes {shapes} cannot be broadcast together") from None
    if len(places) == ndim == 1:
        # Each chunk is read once, not for each point.
        before = of_axes[: next(at for at, item in enumerate(of_axes) if item is places[0])]
        values = _read(read_outer, session, node, access, of_axes)
        values = np.moveaxis(values, sum(isinstance(item, slice) for item in before), 0)
    else:
        values = _read(read_points, session, node, access, of_axes)
    return _with_axes(values, items, ndim)


def read_outer_index(session: Session, node: ArrayNode, access: Access, index: Any) -> Any:
    """Return the elements at places of each axis, the axes taken for themselves; raises as `read_index`."""
    items = expanded(index if isinstance(index, tuple) else (index,), node.shape)
    found = [_of_axis(item, size) for item, size in zip(items, node.shape, strict=True)]
    return _read(read_outer, session, node, access, tuple(found))[()]


def _of_axis(item: Any, size: int) -> Any:
    if isinstance(item, slice):
        return item
    places = _as_places(item)
    if places.dtype == bool:
        _check_mask(places, (size,))
        return np.flatnonzero(places)
    if places.ndim > 1:
        raise _usage("each dimension takes places in one dimension here")
    return places if places.ndim else int(places)


def _with_axes(values: npt.NDArray[Any], items: list[Any], ndim: int) -> Any:
    """Return values, of which the first axes are those of the points, with their axes as numpy has them."""
    pointed = [at for at, item in enumerate(items) if _is_integer(item) or isinstance(item, np.ndarray)]
    together = pointed[-1] - pointed[0] == len(pointed) - 1
    others = [item for item in items if item is None or isinstance(item, slice)]
    front = pointed[0] if together else 0
    axes = [None if item is None else _WHOLE for item in others]
    before = sum(item is not None for item in others[:front])
    values = np.moveaxis(values, range(ndim), range(before, before + ndim))
    return values[(*axes[:front], *[_WHOLE] * ndim, *axes[front:])]


def _read(
    read: Callable[[Session, ArrayNode, Access, tuple[Any, ...]], npt.NDArray[Any]],
    session: Session,
    node: ArrayNode,
    access: Access,
    index: tuple[Any, ...],
) -> npt.NDArray[Any]:
    try:
        return read(session, node, access, index)
    except SelectionError:
        raise
    except IndexError as error:
        raise _usage(str(error)) from None


def _items(index: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return one item for each axis, and for each new one: an integer, a slice, places, or None."""
    known = [
        item if item is None or item is Ellipsis or isinstance(item, slice) else _as_places(item)
        for item in index
    ]
    width = sum(map(_width, known))
    if width > len(shape):
        raise _usage(f"too many indices: the array has {len(shape)} dimensions, the index {width}")
    # What takes several axes, or none, is not to be counted as one.
    dots = [at for at, item in enumerate(known) if item is Ellipsis] or [len(known)]
    if len(dots) > 1:
        raise _usage("an index can hold '...' only once")
    known[dots[0] : dots[0] + 1] = [_WHOLE] * (len(shape) - width)
    found: list[Any] = []
    axis = 0
    for item in known:
        if isinstance(item, np.ndarray) and item.dtype == bool:
            _check_mask(item, shape[axis : axis + item.ndim])
            found.extend(np.nonzero(item))
        elif isinstance(item, np.ndarray) and not item.ndim:
            Selection.from_index(int(item), shape[axis : axis + 1])  # Tells what does not fit.
            found.append(int(item))
        else:
            found.append(item)
        axis += _width(item)
    return found


def _width(item: Any) -> int:
    """Return how many axes of the array an item takes."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


def _as_places(item: Any) -> npt.NDArray[Any]:
    try:
        places = np.asarray(item)
    except (TypeError, ValueError) as error:
        raise _usage(f"this is not an index: {error}") from None
    if isinstance(item, list | tuple) and not places.size:
        places = places.astype(np.int64)
    if places.dtype.kind not in "iub":
        raise _usage(f"an index is made of integers or of true and false, not of {places.dtype}")
    if places.dtype == bool and not places.ndim:
        raise _usage("a single true or false is not an index")
    return places


def _check_mask(mask: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if mask.shape != shape:
        raise _usage(f"a mask of shape {mask.shape} does not fit dimensions of shape {shape}")


def _is_integer(item: Any) -> bool:
    return isinstance(item, int)


def _usage(message: str) -> SelectionError:
    return SelectionError(ErrorKind.USAGE, message)
