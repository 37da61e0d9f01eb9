"""Chunk keys as numbers: the text before the coordinates, and the coordinates packed into 64 bits.

Only a key that is exactly what its coordinates would be written as is split (``a/0.12``, ``a/c/0/12``; no
leading zeros, no signs); any other is kept as it is. So no key ever changes by going through its coordinates.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_keys import ChunkKeyEncoding

_INTEGER = r"(?:0|[1-9][0-9]{0,17})"
#: Dimensions that fit the four bits on top.
MOST_DIMENSIONS = 15
_DOTTED = re.compile(rf"((?:.*/)?)({_INTEGER}(?:\.{_INTEGER})+)\Z", re.DOTALL)
# One more than can be packed tells that it cannot; without a bound, a long key is tried in ever so many ways.
_SLASHED = re.compile(rf"((?:.*?/)??)({_INTEGER}(?:/{_INTEGER}){{0,{MOST_DIMENSIONS}}})\Z", re.DOTALL)

#: Bits that the coordinates share.
BITS = 60

#: Where the keys of a group of chunks begin, and what stands between the coordinates.
Group = tuple[str, str]


def split_key(key: str) -> tuple[Group, tuple[int, ...]] | None:
    """Return the group and the coordinates of a canonical chunk key, or None."""
    match = _DOTTED.match(key)
    if match is not None:
        return (match[1], "."), tuple(map(int, match[2].split(".")))
    match = _SLASHED.match(key)
    if match is not None:
        return (match[1], "/"), tuple(map(int, match[2].split("/")))
    return None


def pack(coords: tuple[int, ...]) -> int | None:
    """Return the code of coordinates, or None where they do not fit."""
    ndim = len(coords)
    if not 1 <= ndim <= MOST_DIMENSIONS:
        return None
    bits = BITS // ndim
    code = ndim
    # The number of dimensions stands in the top four bits whatever share of the 60 bits each one has.
    body = 0
    for coord in coords:
        if coord >> bits:
            return None
        body = (body << bits) | coord
    return (code << BITS) | body


def unpack(code: int) -> tuple[int, ...]:
    """Return the coordinates of a code."""
    ndim = code >> BITS
    bits = BITS // ndim
    mask = (1 << bits) - 1
    return tuple((code >> (bits * axis)) & mask for axis in range(ndim - 1, -1, -1))


def join_key(group: Group, code: int) -> str:
    """Return the key of a code in a group."""
    prefix, separator = group
    return prefix + separator.join(map(str, unpack(code)))


def pack_many(coords: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the codes of coordinates of shape (n, ndim), and which of them fit."""
    count, ndim = coords.shape
    bits = BITS // ndim
    codes = np.full(count, ndim, np.uint64)
    codes <<= np.uint64(BITS)
    fit = np.ones(count, bool)
    for axis in range(ndim):
        column = coords[:, axis]
        fit &= (column >= 0) & (column < (1 << bits))
        codes |= column.astype(np.uint64) << np.uint64(bits * (ndim - 1 - axis))
    return codes, fit


def grid_codes(leading: tuple[int, ...], grid_shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the codes of all chunks of a grid in C order, with the same coordinates in front of each."""
    ndim = len(leading) + len(grid_shape)
    bits = BITS // ndim
    head = pack(leading + (0,) * len(grid_shape))
    codes = np.array([head or 0], np.uint64)
    for axis, length in enumerate(grid_shape):
        shift = np.uint64(bits * (len(grid_shape) - 1 - axis))
        codes = np.add.outer(codes, np.arange(length, dtype=np.uint64) << shift).ravel()
    return codes


def unpack_many(codes: npt.NDArray[np.uint64], ndim: int) -> list[npt.NDArray[np.int64]]:
    """Return the coordinates of codes of `ndim` dimensions, a column per dimension."""
    bits = BITS // ndim
    mask = np.uint64((1 << bits) - 1)
    return [((codes >> np.uint64(bits * axis)) & mask).astype(np.int64) for axis in range(ndim - 1, -1, -1)]


def join_keys(group: Group, codes: npt.NDArray[np.uint64], ndim: int) -> list[str]:
    """Return the keys of many codes of `ndim` coordinates in a group."""
    prefix, separator = group
    columns = [map(str, column.tolist()) for column in unpack_many(codes, ndim)]
    return [prefix + separator.join(coords) for coords in zip(*columns, strict=True)]


def group_of_chunks(
    prefix: str, ndim: int, encoding: ChunkKeyEncoding
) -> tuple[Group, tuple[int, ...]] | None:
    """Return the group in which the chunks of an array are, and the coordinates that its path adds in front.

    An array ``2000/3`` whose chunks are separated by ``/`` has the keys ``2000/3/0``: their coordinates begin
    with 2000 and 3. None where the keys of the array are no canonical chunk keys.

    Parameters
    ----------
    prefix
        What stands before the chunk's own key: ``temp/``; empty for a root array.
    """
    if ndim == 0:
        return None
    found = split_key(prefix + encoding.encode((0,) * ndim))
    # In ``c0/3`` the first coordinate is part of a name: what is split off would not be all of them.
    if found is None or not ndim <= len(found[1]) <= MOST_DIMENSIONS:
        return None
    group, coords = found
    return group, coords[: len(coords) - ndim]
