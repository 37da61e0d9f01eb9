"""Files of HDF4 that pyhdf writes, and chunked arrays, which it reads and cannot write."""

from __future__ import annotations

import struct
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SD = pytest.importorskip("pyhdf.SD")
HDF = pytest.importorskip("pyhdf.HDF")
# What gives groups to files of that.
pytest.importorskip("pyhdf.V")
pytest.importorskip("pyhdf.VS")
SDC, HC = SD.SDC, HDF.HC
TYPES = {"u1": SDC.UINT8, "i1": SDC.INT8, "i2": SDC.INT16, "u2": SDC.UINT16, "i4": SDC.INT32}
TYPES |= {"u4": SDC.UINT32, "f4": SDC.FLOAT32, "f8": SDC.FLOAT64}

_SPECIAL, _HEADER, _TABLE, _CHUNK, _COMPRESSED, _DATA = 0x4000, 1962, 1963, 61, 40, 702


def write_arrays(path: Path, **arrays: Any) -> Path:
    """Write arrays that are stored one after the other, as pyhdf does it."""
    file = SD.SD(str(path), SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    for name, values in arrays.items():
        made = file.create(name, TYPES[np.asarray(values).dtype.str[1:]], list(np.shape(values)))
        made[:] = values
        made.endaccess()
    file.end()
    return path


def make_chunked(
    path: Path, values: Any, sides: tuple[int, ...], level: int | None, *, plain_ones: int = 0, shift: int = 0
) -> None:
    """Have the only array of a file, which has these values, stored in chunks: deflated, or as they are.

    Its descriptor is changed to that of a special element, and what that needs stands behind the end.

    Parameters
    ----------
    plain_ones
        So many are left as they are.
    shift
        Is added to the first coordinate of each: they are elsewhere then.
    """
    data = bytearray(path.read_bytes())
    at = descriptor(data, _DATA)
    added: list[tuple[int, int, bytes]] = []
    ref = 30_000
    rows = b""
    big = np.asarray(values).astype(np.asarray(values).dtype.newbyteorder(">"))
    for coords in product(*(range(-(-size // side)) for size, side in zip(big.shape, sides, strict=True))):
        chunk = np.zeros(sides, big.dtype)
        part = big[tuple(slice(i * side, (i + 1) * side) for i, side in zip(coords, sides, strict=True))]
        chunk[tuple(map(slice, part.shape))] = part
        plain = chunk.tobytes()
        if level is None or len(rows) < plain_ones * (4 * big.ndim + 4):
            added.append((_CHUNK, ref, plain))
        else:
            added.append((_COMPRESSED, ref, zlib.compress(plain, level)))
            head = struct.pack(">HHiHHHH", 3, 0, len(plain), ref, 0, 4, level)
            added.append((_CHUNK | _SPECIAL, ref, head))
        rows += struct.pack(f">{len(coords)}iHH", coords[0] + shift, *coords[1:], _CHUNK, ref)
        ref += 1
    size, ndim = big.dtype.itemsize, big.ndim
    table = _table_header(ndim, len(rows) // (4 * ndim + 4))
    added += [(_HEADER, ref, table), (_TABLE, ref, rows)]
    flag, elements = 0 if level is None else 3, int(np.prod(sides))
    inner = struct.pack(">Biiii", 0, flag, big.size, elements, size)
    inner += struct.pack(">HHHHi", _HEADER, ref, 1, 0, ndim)
    for length, side in zip(big.shape, sides, strict=True):
        inner += struct.pack(">iii", 0, length, side)
    inner += struct.pack(">i", size) + bytes(size)
    head = struct.pack(">Hi", 5, len(inner)) + inner
    if level is not None:
        # The coder of all chunks: its model, its kind, its level.
        head += struct.pack(">HiHHH", 3, 6, 0, 4, level)
    (own,) = struct.unpack_from(">H", data, at + 2)
    data[at : at + 12] = struct.pack(">HHII", _DATA | _SPECIAL, own, len(data), len(head))
    data += head
    places = []
    for tag, number, body in added:
        places.append((tag, number, len(data), len(body)))
        data += body
    _add_descriptors(data, places)
    path.write_bytes(data)


def _table_header(ndim: int, count: int) -> bytes:
    names = [b"origin", b"chk_tag", b"chk_ref"]
    head = struct.pack(">HiHH", 0, count, 4 * ndim + 4, 3)
    head += struct.pack(">3H", 24, 23, 23) + struct.pack(">3H", 4 * ndim, 2, 2)
    head += struct.pack(">3H", 0, 4 * ndim, 4 * ndim + 2) + struct.pack(">3H", ndim, 1, 1)
    for name in names:
        head += struct.pack(">H", len(name)) + name
    for name in (b"_HDF_CHK_TBL_a", b"_HDF_CHK_TBL_0"):
        head += struct.pack(">H", len(name)) + name
    return head + struct.pack(">HHHH", 0, 0, 3, 0) + b"\0"


def descriptor(data: bytearray, wanted: int) -> int:
    """Return where the descriptor of an element stands."""
    at = 4
    while True:
        count, following = struct.unpack_from(">hI", data, at)
        for number in range(count):
            place = at + 6 + 12 * number
            if struct.unpack_from(">H", data, place)[0] == wanted:
                return place
        at = following


def _add_descriptors(data: bytearray, places: list[tuple[int, int, int, int]]) -> None:
    """Add a block of descriptors at the end."""
    at = 4
    while (following := struct.unpack_from(">hI", data, at)[1]) != 0:
        at = following
    struct.pack_into(">I", data, at + 2, len(data))
    data += struct.pack(">hI", len(places), 0)
    for each in places:
        data += struct.pack(">HHII", *each)
