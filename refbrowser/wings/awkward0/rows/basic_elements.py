"""Elements of basic arrays: numbers, texts, what lies anywhere among bytes, what lies in chunks."""

from __future__ import annotations

import codecs
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.layouts import (
    ByteIndexedLayout,
    ByteListLayout,
    ChunkedLayout,
    Layout,
    ListIndex,
    ListLayout,
    NumpyLayout,
)
from refbrowser.wings.awkward0.layouts.text_codecs import codec_name
from refbrowser.wings.awkward0.layouts.types import type_of
from refbrowser.wings.awkward0.rows.awkward_contents import as_numbers, concatenated, list_content, regular
from refbrowser.wings.awkward0.rows.layout_reading import (
    Extent,
    Parts,
    Positions,
    Spot,
    all_of,
    beyond,
    place_of,
    wrong,
)
from refbrowser.wings.awkward0.rows.positions import chunk_sizes, length, summed

if TYPE_CHECKING:
    from awkward.contents import Content


_UTF8 = ("utf-8", "ascii")
_BYTES = npt.NDArray[np.uint8]


def texts(layout: ListLayout, starts: Positions, counts: Positions, content: Content) -> Content:
    """Return rows of a string array, whose bytes are in `content`.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: the encoding is not known, or the elements are not bytes.
    """
    data = _bytes_of(layout, content)
    if layout.encoding is None:
        return lists_of_bytes(data, starts, counts, is_text=False)
    # Looking up a name that is not on the list of encodings would import a module of it.
    found = codecs.lookup(codec_name(layout.encoding))
    if found.name in _UTF8 and _is_utf8(data, starts, counts):
        return lists_of_bytes(data, starts, counts, is_text=True)
    return _recoded(data, starts, counts, found)


def _bytes_of(layout: ListLayout, content: Content) -> _BYTES:
    from awkward.contents import EmptyArray, NumpyArray

    if isinstance(content, EmptyArray):
        return np.zeros(0, np.uint8)
    if not isinstance(content, NumpyArray) or content.data.dtype.itemsize != 1 or content.data.ndim != 1:
        raise wrong(layout, "the elements of texts are not bytes")
    return np.ascontiguousarray(content.data).view(np.uint8)


def lists_of_bytes(data: _BYTES, starts: Positions, counts: Positions, *, is_text: bool) -> Content:
    """Return strings, or byte strings, as awkward has them."""
    from awkward.contents import NumpyArray

    of_list, of_byte = ("string", "char") if is_text else ("bytestring", "byte")
    inner = NumpyArray(data, parameters={"__array__": of_byte})
    return list_content(starts, counts, inner, parameters={"__array__": of_list})


def _is_utf8(data: _BYTES, starts: Positions, counts: Positions) -> bool:
    """Return whether every text is UTF-8; whole characters only are cut from what is UTF-8 as a whole."""
    if not data.size or int(data.max()) < 0x80:
        return True
    try:
        codecs.utf_8_decode(data.data, "strict", True)
    except UnicodeDecodeError:
        return False
    filled = counts > 0
    edges = np.concatenate([starts[filled], (starts + counts)[filled]])
    edges = edges[edges < data.size]
    return not bool(((data[edges] & 0xC0) == 0x80).any())


def _recoded(data: _BYTES, starts: Positions, counts: Positions, codec: codecs.CodecInfo) -> Content:
    whole = data.tobytes()
    found = []
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        text = codec.decode(whole[start : start + count], "replace")[0]
        found.append(text.encode("utf-8", "replace"))
    return joined(found, is_text=True)


def joined(found: list[bytes], *, is_text: bool) -> Content:
    """Return bytes one after the other as strings or byte strings."""
    counts = np.array([len(each) for each in found], np.int64)
    starts = np.cumsum(counts) - counts
    return lists_of_bytes(np.frombuffer(b"".join(found), np.uint8), starts, counts, is_text=is_text)


def fixed_texts(values: npt.NDArray[Any]) -> Content:
    """Return numpy's byte strings or texts of one size; as numpy does, without the zeros at their end."""
    if values.dtype.kind == "U":
        # Code points that no text can have are damaged data, not a reason to stop.
        found = [_text_of(row) for row in _code_points(values)]
        return joined(found, is_text=True)
    size = values.dtype.itemsize
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), size) if size else None
    if rows is None:
        counts = np.zeros(len(values), np.int64)
        return lists_of_bytes(np.zeros(0, np.uint8), counts, counts, is_text=False)
    filled = rows != 0
    counts = np.where(filled.any(axis=1), size - np.argmax(filled[:, ::-1], axis=1), 0).astype(np.int64)
    starts = np.arange(len(values), dtype=np.int64) * size
    return lists_of_bytes(rows.reshape(-1), starts, counts, is_text=False)


def _code_points(values: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    wide = values.dtype.itemsize // 4
    if not wide:
        return np.zeros((len(values), 0), np.uint32)
    points = np.ascontiguousarray(values).view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
    return points.reshape(len(values), wide)


def _text_of(points: npt.NDArray[np.uint32]) -> bytes:
    good = np.where(points > 0x10FFFF, 0xFFFD, points).astype("<u4")
    return good.tobytes().decode("utf-32-le", "replace").rstrip("\0").encode("utf-8", "replace")


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
    return lists_of_bytes(
        np.frombuffer(values.tobytes(), np.uint8), np.cumsum(counts) - counts, counts, is_text=False
    )


async def byte_lists(parts: Parts, layout: ByteListLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of lists whose positions count bytes."""
    index = layout.index
    if layout.how is ListIndex.COUNTS:
        starts, stops = await summed(parts, index[0], extent)
    else:
        starts, stops = await all_of(parts.integers(index[0], extent), parts.integers(index[1], extent))
    if len(stops) < len(starts) or (len(starts) and (int(starts.min()) < 0 or (stops < starts).any())):
        raise wrong(layout, "a list begins before 0, or ends before it begins")
    size = layout.dtype.itemsize
    counts = (stops - starts) // size
    if float(counts.sum(dtype=np.float64)) * size > AWKWARD_LIMITS.awkward_rows:
        message = f"these lists hold more than {AWKWARD_LIMITS.awkward_rows} bytes"
        raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout), "read fewer rows at a time")
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
    values = await _elements(parts, layout.content, np.repeat(starts, counts) + within * size, layout.dtype)
    return list_content(ends - counts, counts, shown(layout, values, spot.fields))


async def byte_indexed(parts: Parts, layout: ByteIndexedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of elements at positions that count bytes."""
    starts = await parts.integers(layout.index, extent)
    return shown(layout, await _elements(parts, layout.content, starts, layout.dtype), spot.fields)


async def _elements(
    parts: Parts, content: NumpyLayout, starts: Positions, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return the elements that begin at bytes of a content."""
    if not len(starts):
        return np.zeros((0, *dtype.shape), dtype.base)
    if int(starts.min()) < 0:
        raise wrong(content, "a byte before the first one is requested")
    if int(starts.max()) > content.buffer.count - dtype.itemsize:
        raise beyond(content, int(starts.max()) + dtype.itemsize, content.buffer.count)
    covered = Extent.covering(starts, starts + dtype.itemsize)
    data = np.ascontiguousarray(await parts.elements(content, covered)).view(np.uint8)
    rows = data[covered.locate(starts)[:, None] + np.arange(dtype.itemsize)]
    return np.ascontiguousarray(rows).view(dtype.base).reshape(len(starts), *dtype.shape)


async def chunked(parts: Parts, layout: ChunkedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a chunked array; of chunks of several types, a union of those that are touched."""
    sizes = await chunk_sizes(parts, layout)
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    if extent.reach > ends[-1]:
        raise beyond(layout, extent.reach, ends[-1])
    wanted = []
    for start, stop in extent.runs:
        for at, (first, last) in enumerate(pairwise(ends)):
            low, high = max(start, first), min(stop, last)
            if low < high:
                wanted.append((at, low - first, high - first))
    if not wanted:
        wanted = [(0, 0, 0)] if layout.chunks else []
    steps = [_chunk(parts, layout, at, Extent.of(low, high), spot) for at, low, high in wanted]
    kind = type_of(layout)
    found = [as_numbers(each, kind) for each in await all_of(*steps)]
    return concatenated(found) if found else _of_no_chunk(layout)


async def _chunk(parts: Parts, layout: ChunkedLayout, at: int, extent: Extent, spot: Spot) -> Content:
    chunk = layout.chunks[at]
    if extent.size and extent.reach > await length(parts, chunk):
        raise wrong(layout, f"chunk {at} is shorter than its size")
    return await parts.content(chunk, extent, spot.below())


def _of_no_chunk(layout: ChunkedLayout) -> Content:
    from awkward.contents import EmptyArray

    if layout.dtype is not None and layout.dtype.dtype is not None:
        return numpy_content(np.zeros(0, layout.dtype.dtype))
    return EmptyArray()
