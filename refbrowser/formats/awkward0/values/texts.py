"""Texts: lists of bytes in an encoding, and numpy's strings of one size; what is no text becomes U+FFFD."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.awkward0.layouts import ListLayout
from refbrowser.formats.awkward0.text_codecs import codec_name
from refbrowser.formats.awkward0.values.extents import Positions
from refbrowser.formats.awkward0.values.making import list_content
from refbrowser.formats.awkward0.values.parts import wrong

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
        return byte_lists(data, starts, counts, is_text=False)
    # Looking up a name that is not on the list of encodings would import a module of it.
    found = codecs.lookup(codec_name(layout.encoding))
    if found.name in _UTF8 and _is_utf8(data, starts, counts):
        return byte_lists(data, starts, counts, is_text=True)
    return _recoded(data, starts, counts, found)


def _bytes_of(layout: ListLayout, content: Content) -> _BYTES:
    from awkward.contents import EmptyArray, NumpyArray

    if isinstance(content, EmptyArray):
        return np.zeros(0, np.uint8)
    if not isinstance(content, NumpyArray) or content.data.dtype.itemsize != 1 or content.data.ndim != 1:
        raise wrong(layout, "the elements of texts are not bytes")
    return np.ascontiguousarray(content.data).view(np.uint8)


def byte_lists(data: _BYTES, starts: Positions, counts: Positions, *, is_text: bool) -> Content:
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
    return byte_lists(np.frombuffer(b"".join(found), np.uint8), starts, counts, is_text=is_text)


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
        return byte_lists(np.zeros(0, np.uint8), counts, counts, is_text=False)
    filled = rows != 0
    counts = np.where(filled.any(axis=1), size - np.argmax(filled[:, ::-1], axis=1), 0).astype(np.int64)
    starts = np.arange(len(values), dtype=np.int64) * size
    return byte_lists(rows.reshape(-1), starts, counts, is_text=False)


def _code_points(values: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    wide = values.dtype.itemsize // 4
    if not wide:
        return np.zeros((len(values), 0), np.uint32)
    points = np.ascontiguousarray(values).view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
    return points.reshape(len(values), wide)


def _text_of(points: npt.NDArray[np.uint32]) -> bytes:
    good = np.where(points > 0x10FFFF, 0xFFFD, points).astype("<u4")
    return good.tobytes().decode("utf-32-le", "replace").rstrip("\0").encode("utf-8", "replace")
