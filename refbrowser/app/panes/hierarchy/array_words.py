"""What an array is, in a few words, and as the name of an icon; no Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.panes.hierarchy.dimension_rows import coordinate_words
from refbrowser.app.panes.hierarchy.nested_words import is_awkward, nested_icon, nested_text, plain_text
from refbrowser.app.panes.hierarchy.parts import codec_names, is_buffer
from refbrowser.app.widgets.plain_text import one_line

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode

#: Characters of a type's name that are shown.
_NAME = 12


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as ``2×3×241``; nothing for a scalar."""
    return "×".join(str(size) for size in shape)


def extent_text(array: ArrayNode) -> str:
    """Return the shape of an array, with a ``*`` for a dimension of its own length in each row."""
    shape = shape_text(array.shape if array.nested is None else array.shape[:1])
    return "×".join(part for part in (shape, "*") if part) if array.row_dtype is not None else shape


def detail_text(array: ArrayNode) -> str:
    """Return extent and type beside an array's name: ``2×3 i2``, ``5 * ?int64``."""
    if array.nested is not None:
        return one_line(nested_text(array))
    if is_awkward(array) and array.dtype is not None:
        return one_line(plain_text(array))
    codecs = codec_names(array) if is_buffer(array) else ""
    return " ".join(part for part in (extent_text(array), type_text(array), codecs) if part)


def type_text(array: ArrayNode) -> str:
    """Return an array's type, short: ``i2``, ``f8``; the metadata's own name where it is not numpy's."""
    if array.nested is not None:
        return one_line(array.type_name)
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
    if is_buffer(array):
        return "buffer"
    nested = None if array.nested is None else nested_icon(array.nested.type)
    if nested is not None:
        return nested
    if array.dtype is not None and array.dtype.names is not None:
        return "sequence" if array.is_sequence else "structure"
    if array.row_dtype is not None:
        return "ragged"
    if array.dtype is not None and array.dtype.kind in "OSTU":
        return "text"
    dimensions = len(array.shape)
    return "scalar" if dimensions == 0 else "line" if dimensions == 1 else "array"
