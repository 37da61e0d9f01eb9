"""Where the chunks of an array of HDF5 are, read from the index in the file itself, many entries at a time.

It is loaded by `hdf5_reader` and imports nothing of ours. HDF5 tells one chunk at a time, which takes a
microsecond each; files of netCDF-4 and most others keep the chunks of an array in a B-tree of version 1 (HDF5
file format, III.A.1), which is simple. What is not known here, or not as HDF5 says, is left to HDF5.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from h5py import h5g, h5s

#: Arrays of fewer chunks are left to HDF5.
LEAST = 2_000
#: Parts of the header of an array, and bytes of each, that are looked into.
_PARTS, _LARGEST = 64, 1 << 20
_LAYOUT, _CONTINUED = 0x08, 0x10
#: What HDF5 says of a chunk that an array has not.
_NOT_THERE = ("not allocated", "isn't defined", "beyond dataset size")
#: Levels of a tree.
_LEVELS = 32

#: Returns bytes of the file, fewer at its end.
Read = Callable[[int, int], bytes]


class UnknownIndexError(ValueError):
    """The index of the chunks is of another kind, or not what it should be."""


def chunk_entries(read: Read, base: int, header: int, ndim: int) -> Any:
    """Return the chunks of an array: a structure with `size`, `mask`, `place` (ndim + 1 offsets) and `child`.

    Parameters
    ----------
    base
        Where the file begins behind a user block; addresses count from here.
    header
        Address of the array's object header.

    Raises
    ------
    UnknownIndexError
        It has no such index, or a damaged one.
    """
    try:
        root = _tree_of(read, base, header, ndim)
        return _leaves(read, base, root, ndim)
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise UnknownIndexError(str(error)) from None


def _tree_of(read: Read, base: int, header: int, ndim: int) -> int:
    """Return the address of the B-tree of an array, by the messages of its object header."""
    for kind, _, body in messages(read, base, header):
        if kind == _LAYOUT:
            return _tree_in(body, ndim)
    raise UnknownIndexError("a header without a layout")


def messages(read: Read, base: int, header: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the messages of an object header (IV.A.1): kind, flags and content.

    Raises
    ------
    UnknownIndexError
        It is of another kind, or too large.
    struct.error, IndexError
        It is damaged.
    """
    head = read(base + header, 64)
    if head[:4] == b"OHDR" and head[4] == 2:
        flags = head[5]
        at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        size = int.from_bytes(head[at : at + width], "little")
        begin, fixed = at + width, 6 if flags & 0x04 else 4
        parts = [(header + begin, size)]
        is_new = True
    elif head[0] == 1:
        parts, fixed, is_new = [(header + 16, struct.unpack_from("<I", head, 8)[0])], 8, False
    else:
        raise UnknownIndexError("an unknown header")
    for number, (address, size) in enumerate(parts):
        if number >= _PARTS or size > _LARGEST:
            raise UnknownIndexError("a header that is too large")
        data, at = read(base + address, size), 0
        while at + fixed <= len(data):
            if is_new:
                kind, length, flags = data[at], data[at + 1] | data[at + 2] << 8, data[at + 3]
            else:
                kind, length, flags = struct.unpack_from("<HHB", data, at)
            body = at + fixed
            if kind == _CONTINUED:
                offset, count = struct.unpack_from("<QQ", data, body)
                # The parts of new headers have a signature before, and a checksum behind.
                parts.append((offset + 4, count - 8) if is_new else (offset, count))
            at = body + length
            yield kind, flags, data[body:at]


def _tree_in(message: bytes, ndim: int) -> int:
    """Return the address of the B-tree that a data layout message names (IV.A.2.i)."""
    if message[:2] != b"\3\2" or message[2] != ndim + 1:
        raise UnknownIndexError("an unsupported layout")
    return int(struct.unpack_from("<Q", message, 3)[0])


def _leaves(read: Read, base: int, root: int, ndim: int) -> Any:
    entry = np.dtype([("size", "<u4"), ("mask", "<u4"), ("place", "<u8", (ndim + 1,)), ("child", "<u8")])
    # What nodes usually have: 64 children.
    usual = 24 + 65 * entry.itemsize
    level, nodes = None, [root]
    seen = 0
    for _ in range(_LEVELS):
        found = []
        for address in nodes:
            data = read(base + address, usual)
            if data[:5] != b"TREE\1" or (level is not None and data[5] != level - 1):
                raise UnknownIndexError("an invalid node")
            count = data[6] | data[7] << 8
            if 24 + count * entry.itemsize > len(data):
                data = read(base + address, 24 + count * entry.itemsize)
            found.append(np.frombuffer(data, entry, count, 24))
        entries = np.concatenate(found)
        level = data[5]
        if not level:
            return entries
        seen += len(entries)
        nodes = entries["child"].tolist()
        if len(set(nodes)) != len(nodes) or seen > 1 << 24:
            raise UnknownIndexError("an invalid tree")
    raise UnknownIndexError("a tree that is too deep")


def reading(file: Any) -> Read | None:
    """Return what reads bytes of a file of this machine; None of others."""
    if file.driver != "sec2" or not hasattr(os, "pread"):
        return None
    descriptor = file.id.get_vfd_handle()
    return lambda offset, length: os.pread(descriptor, length, offset)


def address_of(found: Any) -> int:
    """Return where the header of an object is in the file, behind a user block.

    `h5o.get_info` tells it too, but counts what the indexes of the object take: one that leads back into
    itself has no end.
    """
    low, high = h5g.get_objinfo(found, b".").objno
    return int(low) | int(high) << 32


def columns_of(dataset: Any, sides: list[int], count: int, read: Read | None, base: int) -> list[Any]:
    """Return coordinates, offsets, sizes and filter masks of the chunks that are stored, in C order."""
    ndim = len(sides)
    entries: Any = None
    if read is not None and count >= LEAST:
        with contextlib.suppress(UnknownIndexError):
            entries = chunk_entries(read, base, address_of(dataset), ndim)
    if entries is not None and len(entries) == count and _is_so(dataset, entries[count // 2], ndim, base):
        columns = [entries["place"][:, :ndim], entries["child"] + base, entries["size"], entries["mask"]]
    else:
        columns = _placed(dataset, sides, _listed(dataset, ndim))
    coords = np.asarray(columns[0], np.int64) // np.array(sides, np.int64)
    offsets, sizes = (np.asarray(each, np.int64) for each in columns[1:3])
    found: list[Any] = [coords, offsets, sizes, np.asarray(columns[3], np.uint32)]
    if len(coords) > 1:
        differs = np.not_equal(coords[1:], coords[:-1])
        first = np.arange(len(differs)), np.argmax(differs, axis=1)
        # A B-tree is in this order already.
        if not np.greater(coords[1:], coords[:-1])[first].all():
            order = np.lexsort(coords.T[::-1])
            found = [each[order] for each in found]
    return [np.ascontiguousarray(each) for each in found]


def _is_so(dataset: Any, entry: Any, ndim: int, base: int) -> bool:
    """Tell whether HDF5 says the same of a chunk as its index."""
    told = dataset.get_chunk_info_by_coord(tuple(entry["place"][:ndim].tolist()))
    mine = int(entry["child"]) + base, int(entry["size"]), int(entry["mask"])
    return bool((told.byte_offset, told.size, told.filter_mask) == mine)


def _placed(dataset: Any, sides: list[int], columns: list[Any]) -> list[Any]:
    """Return a list of chunks with their offsets in the array put right.

    In an extensible array whose unlimited dimension is not the first one, HDF5 stores chunks as if it were
    (`H5VM_swizzle_coords`), but lists them as if they were not (`H5D__earray_idx_iterate_cb`, HDF5 2.0).
    """
    most = dataset.get_space().get_simple_extent_dims(True)
    unlimited = [axis for axis, side in enumerate(most) if side == h5s.UNLIMITED]
    places = columns[0]
    if len(unlimited) != 1 or not unlimited[0] or not len(places):
        return columns
    axis = unlimited[0]
    counts = [-(-side // chunk) for side, chunk in zip(most, sides, strict=True)]
    others = [number for number in range(len(sides)) if number != axis]
    behind = counts[axis + 1 :]
    numbers = places[:, axis] // sides[axis]
    for number, count in enumerate(behind, axis + 1):
        numbers = numbers * count + places[:, number] // sides[number]
    # Where the list is right, there is a chunk where it has the last one; else there is none.
    last = int(np.argmax(numbers))
    try:
        dataset.read_direct_chunk(tuple(places[last].tolist()))
    except (OSError, ValueError, RuntimeError) as error:
        if not any(words in str(error) for words in _NOT_THERE):
            # It is there, but cannot be read: the file was cut, for one.
            return columns
        right = np.zeros_like(places)
        for number in reversed(others):
            right[:, number] = numbers % counts[number] * sides[number]
            numbers = numbers // counts[number]
        right[:, axis] = numbers * sides[axis]
        return [right, *columns[1:]]
    return columns


def _listed(dataset: Any, ndim: int) -> list[Any]:
    """Return offsets of chunks in the array, and in the file, sizes and masks, as HDF5 tells them."""
    columns: list[Any] = []
    rows: list[Any] = []

    def flush() -> None:
        places, masks, offsets, sizes = zip(*rows, strict=True) if rows else ((),) * 4
        coords = np.fromiter(chain.from_iterable(places), np.int64, len(rows) * ndim)
        numbers = (np.array(offsets, np.int64), np.array(sizes, np.int64), np.array(masks, np.uint32))
        columns.append((coords.reshape(-1, ndim), *numbers))
        rows.clear()

    def take(row: Any) -> None:
        rows.append(row)
        if len(rows) >= 65_536:
            flush()

    dataset.chunk_iter(take)
    flush()
    if len(columns) == 1:
        return list(columns[0])
    return [np.concatenate(each) for each in zip(*columns, strict=True)]
