"""Basic arrays as awkward has them: numbers, regular lists of them, structures, strings of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.layouts import Layout, NumpyLayout
from refbrowser.formats.awkward0.values.extents import Extent
from refbrowser.formats.awkward0.values.making import regular
from refbrowser.formats.awkward0.values.parts import Parts, Spot, place_of
from refbrowser.formats.awkward0.values.texts import byte_lists, fixed_texts

if TYPE_CHECKING:
    from awkward.contents import Content


async def basic(parts: Parts, layout: NumpyLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a basic array."""
    return shown(layout, await parts.elements(layout, extent), spot.fields)


def shown(layout: Layout, values: npt.NDArray[Any], fields: tuple[str, ...]) -> Content:
    """Return elements as a content, or the field of them that alone is wanted.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: there is no such field, or awkward has nothing of their type.
    """
    for name in fields:
        if values.dtype.names is None or name not in values.dtype.names:
            message = f"there is no field {quoted(name)}"
            raise RefbrowserError(ErrorKind.SCHEMA, message, place_of(layout))
        values = values[name]
    try:
        return numpy_content(values)
    except (TypeError, ValueError) as error:
        message = f"values of type {quoted(values.dtype)} cannot be shown: {quoted(error)}"
        raise RefbrowserError(ErrorKind.SCHEMA, message, place_of(layout)) from None


def numpy_content(values: npt.NDArray[Any]) -> Content:
    """Return any numpy array, objects aside, as a content; the first axis is that of its rows.

    Raises
    ------
    TypeError, ValueError
        awkward has nothing of that type.
    """
    from awkward.contents import NumpyArray, RecordArray

    dtype = values.dtype
    if dtype.hasobject:
        raise TypeError("objects are not read from files")
    if dtype.kind == "b":
        # Damaged bytes, and those of other writers, are neither 0 nor 1.
        values = values.view(np.uint8) != 0
    if dtype.names is not None:
        below = [numpy_content(values[name]) for name in dtype.names]
        return RecordArray(below, list(dtype.names), length=len(values))
    if dtype.kind in "SUV":
        flat = np.ascontiguousarray(values).reshape(-1)
        made = _fixed_bytes(flat) if dtype.kind == "V" else fixed_texts(flat)
        return regular(made, values.shape[1:], len(values))
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        values, dtype = values.view(dtype.str[0] + "i8"), np.dtype(np.int64)
    native = values.astype(dtype.newbyteorder("="), copy=False)
    content = NumpyArray(native)
    return content.to_RegularArray() if native.ndim > 1 else content


def _fixed_bytes(values: npt.NDArray[Any]) -> Content:
    size = values.dtype.itemsize
    counts = np.full(len(values), size, np.int64)
    return byte_lists(
        np.frombuffer(values.tobytes(), np.uint8), np.cumsum(counts) - counts, counts, is_text=False
    )
