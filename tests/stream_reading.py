"""Streams as files, and their values as plain Python ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import stream_encoder as enc

import refbrowser

#: The types of numbers, as numpy spells them.
NUMBERS = {
    enc.BYTE: "i1",
    enc.SHORT: "i2",
    enc.INT: "i4",
    enc.LONG: "i8",
    enc.FLOAT: "f4",
    enc.DOUBLE: "f8",
    enc.UBYTE: "u1",
    enc.USHORT: "u2",
    enc.UINT: "u4",
    enc.ULONG: "u8",
}


def plain(values: Any) -> Any:
    """Return values as nested lists, structures as dicts, rows of their own length as lists."""
    if isinstance(values, np.ndarray):
        if values.dtype.names is not None:
            if values.ndim:
                return [plain(each) for each in values]
            return {name: plain(values[name]) for name in values.dtype.names}
        return plain(values.tolist())
    if isinstance(values, np.void):
        return {name: plain(values[name]) for name in values.dtype.names}
    if isinstance(values, list | tuple):
        return [plain(each) for each in values]
    return values.item() if isinstance(values, np.generic) else values


def opened(folder: Any, stream: bytes, name: str = "a.ncs") -> refbrowser.Dataset:
    """Return the dataset of a stream, written to a file in `folder`."""
    path = folder / name
    path.write_bytes(stream)
    return refbrowser.open(str(path))


def close(found: Any, wanted: Any) -> bool:
    """Tell whether values are equal, floating ones to the digits of the smaller type."""
    if isinstance(wanted, list):
        same = isinstance(found, list) and len(found) == len(wanted)
        return same and all(map(close, found, wanted))
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(close(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, float):
        return bool(found == wanted or abs(found - wanted) <= 1e-7 * abs(wanted))
    return bool(found == wanted)
