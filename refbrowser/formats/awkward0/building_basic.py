"""Builds basic arrays out of blobs (persistence notes, section 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.building_call import Call, wrong
from refbrowser.formats.awkward0.building_meanings import Bytes
from refbrowser.formats.awkward0.functions import DECOMPRESSORS
from refbrowser.formats.awkward0.json_types import json_type
from refbrowser.formats.awkward0.layouts import BrokenLayout, NumpyLayout
from refbrowser.formats.awkward0.pickles import plain_value
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer


def _bytes(call: Call, parameter: str) -> Bytes:
    meaning = call.meaning(parameter)
    if isinstance(meaning, BrokenLayout):
        raise meaning.error
    if not isinstance(meaning, Bytes):
        raise wrong(f"{parameter!r} of {call.name} is not a blob")
    return meaning


def decompressed(call: Call) -> Bytes:
    """Build a decompressor's call: the codec is named, nothing is decoded."""
    data = _bytes(call, "data")
    if len(data.codecs) >= LIMITS.filters:
        message = f"a blob is compressed more than {LIMITS.filters} times (filters)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    return Bytes(data.blob, (*data.codecs, DECOMPRESSORS[call.name]))


def from_buffer(call: Call) -> NumpyLayout:
    """Build ``frombuffer(buffer, dtype=float64, count=-1, offset=0)``."""
    data, dtype = _bytes(call, "buffer"), _dtype(call, "dtype", np.dtype(np.float64))
    count, offset = call.integer("count", -1), call.integer("offset", 0)
    if count < -1 or offset < 0:
        raise wrong(f"a basic array has {count} elements from byte {offset}")
    if count > LIMITS.elements:
        raise RefbrowserError(ErrorKind.BUDGET, f"a basic array has {quoted(count)} elements (elements)")
    if count == -1:
        count = _rest(call, data, dtype, offset)
    wanted = offset + count * dtype.itemsize
    if not data.codecs and wanted > data.blob.size:
        message = f"{quoted(data.blob.name)} has {data.blob.size} bytes, and {wanted} are asked for"
        raise RefbrowserError(ErrorKind.DECODE, message)
    buffer = Buffer(
        reference=data.blob.reference,
        dtype=dtype,
        count=count,
        codecs=data.codecs,
        offset=offset,
        stored=data.blob.stored,
        name=data.blob.name,
        place=call.meanings.place_of(call.expression.number),
    )
    return NumpyLayout(**call.common, buffer=buffer, blob=data.blob)


def _dtype(call: Call, parameter: str, default: np.dtype[Any]) -> np.dtype[Any]:
    meaning = call.meaning(parameter) if call.has(parameter) else default
    if not isinstance(meaning, np.dtype):
        raise wrong(f"{parameter!r} of {call.name} is not a type")
    return meaning


def _rest(call: Call, data: Bytes, dtype: np.dtype[Any], offset: int) -> int:
    if not dtype.itemsize:
        raise wrong(f"how many elements of no bytes {quoted(data.blob.name)} has is not said")
    size = call.meanings.decoded_size(data) if data.codecs else data.blob.size
    count, left = divmod(max(size - offset, 0), dtype.itemsize)
    if left:
        message = f"the {size} bytes of {quoted(data.blob.name)} are no whole number of elements"
        raise RefbrowserError(ErrorKind.DECODE, message)
    return count


def type_from_json(call: Call) -> Any:
    """Build ``json2type``."""
    return json_type(call.plain("obj", None))


def from_pickle(call: Call) -> Any:
    """Build ``topython``, which only a user's list opens: plain values, never unpickled."""
    text = call.plain("string", None)
    if not isinstance(text, str):
        raise wrong("a pickle is text")
    return plain_value(text)
