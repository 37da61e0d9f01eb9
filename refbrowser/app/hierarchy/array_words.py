"""What an array is, in a few words, and as the name of an icon; no Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.hierarchy.dimension_rows import coordinate_words
from refbrowser.app.plain_text import one_line

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode

#: Characters of a type's name that are shown.
_NAME = 12


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as ``2×3×241``; nothing for a scalar."""
    return "×".join(str(size) for size in shape)


def extent_text(array: ArrayNode) -> str:
    """Return the shape of an array, with a ``*`` for a dimension of its own length in each row."""
    shape = shape_text(array.shape)
    return "×".join(part for part in (shape, "*") if part) if array.row_dtype is not None else shape


def type_text(array: ArrayNode) -> str:
    """Return an array's type, short: ``i2``, ``f8``; the metadata's own name where it is not numpy's."""
    if array.is_sequence:
        return "sequence"
    if array.dtype is not None and array.dtype.names is not None:
        return "structure" if array.source is not None else "compound"
    if array.row_dtype is not None:
        return "structure" if array.row_dtype.names is not None else _short(array.row_dtype.str)
    if array.enumeration:
        return f"enum {_short(array.type_name)}"
    return _short(array.type_name)


def _short(name: str) -> str:
    name = one_line(name)
    return name.lstrip("<>|=") if len(name) <= _NAME else name[: _NAME - 1] + "…"


def icon_name(array: ArrayNode) -> str:
    """Return the name of the icon that tells what kind of array it is."""
    if coordinate_words(array):
        return "coordinate"
    if array.dtype is not None and array.dtype.names is not None:
        return "sequence" if array.is_sequence else "structure"
    if array.row_dtype is not None:
        return "ragged"
    if array.dtype is not None and array.dtype.kind in "OSTU":
        return "text"
    dimensions = len(array.shape)
    return "scalar" if dimensions == 0 else "line" if dimensions == 1 else "array"
