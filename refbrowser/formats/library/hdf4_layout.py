"""Where the elements of arrays of HDF4 lie in their file: descriptors, and headers of special elements.

It imports nothing of ours: the process that reads HDF4 loads it by its path. Numbers are big-endian (HDF
Specification and Developer's Guide 4.3: data descriptors, special elements, tags of scientific data).
"""

from __future__ import annotations

import io
import os
import struct
from typing import NamedTuple

MAGIC = b"\x0e\x03\x13\x01"
#: Tags: nothing, compressed data, a chunk, linked blocks, a header of a table, a table, data of an array, its
#: type and its group.
_NULL, _COMPRESSED, _CHUNK, _LINKED, _HEADER, _TABLE, _DATA, _TYPE, _GROUP = (
    1, 40, 61, 20, 1962, 1963, 702, 106, 720,
)  # fmt: skip
#: Tags of pictures, which the library of arrays does not read.
_PICTURES = (306, 202, 302)
_SPECIAL = 0x4000
#: Stands for places and lengths that were not yet known when a descriptor was written.
_UNKNOWN = 0xFFFFFFFF
#: Kinds of special elements.
_BLOCKS, _ELSEWHERE, _PACKED, _CHUNKED = 1, 2, 3, 5
_DEFLATE = 4
_CODERS = {0: "none", 1: "RLE", 2: "NBIT", 3: "Huffman", 5: "szip", 7: "JPEG", 12: "IMCOMP"}
#: Bytes of what is read whole: a header, a table of chunks.
_HEAD, _LARGEST = 1 << 16, 64 << 20
_RANK = 64


class Layout(NamedTuple):
    """How the elements of an array are stored.

    Attributes
    ----------
    why
        Why no references can be made; empty where they can.
    chunks
        Sides of a chunk; None of an array that is one.
    level
        Of deflate; None where the bytes are the elements.
    stored
        The coordinates of each chunk, its offset and its length.
    is_elsewhere
        Whether the elements are in another file.
    """

    why: str
    chunks: tuple[int, ...] | None = None
    level: int | None = None
    stored: tuple[tuple[tuple[int, ...], int, int], ...] = ()
    is_elsewhere: bool = False


class Hdf4Layouts:
    """The descriptors of one file.

    Parameters
    ----------
    most
        Descriptors, and chunks of an array, at most.

    Raises
    ------
    ValueError
        It has none that can be read.
    """

    def __init__(self, path: str, most: int) -> None:
        self._file = io.FileIO(path)
        self.size = self._file.seek(0, io.SEEK_END)
        self._most = most
        #: Where each element is: offset, length, whether it is special.
        self._elements: dict[tuple[int, int], tuple[int, int, bool]] = {}
        self._read_descriptors()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def pictures(self) -> int:
        """How many pictures it has."""
        return sum(tag in _PICTURES for tag, _ in self._elements)

    @property
    def lacking(self) -> str:
        """How much of the file is not there; empty where all is."""
        ends = (offset + length for offset, length, _ in self._elements.values() if length < _UNKNOWN)
        end = max(ends, default=0)
        return "" if end <= self.size else f"the file was cut: {self.size} of its {end} bytes are there"

    def of(self, group: int, rank: int) -> Layout:
        """Return how an array is stored.

        Parameters
        ----------
        group
            Reference number of its group of tags.
        """
        try:
            return self._of(group, rank)
        except (ValueError, struct.error) as error:
            return Layout(f"how it is stored cannot be read: {error}")

    def is_little(self, group: int) -> bool:
        """Tell whether the numbers of an array are little-endian, as its type says."""
        for tag, ref in self._members(group):
            if tag == _TYPE:
                _, _, _, order = self._whole((_TYPE, ref))[:4]
                return order == 4
        return False

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return bytes of the file.

        Raises
        ------
        ValueError
            They are not there.
        """
        if not 0 <= offset <= offset + length <= self.size:
            raise ValueError(f"bytes {offset} to {offset + length} are beyond its end at {self.size}")
        self._file.seek(offset, os.SEEK_SET)
        data = b""
        while len(data) < length:
            more = self._file.read(length - len(data))
            if not more:
                raise ValueError("the file ends early")
            data += more
        return data

    # Descriptors

    def _read_descriptors(self) -> None:
        if self.bytes_at(0, 4) != MAGIC:
            raise ValueError("it does not begin as HDF4")
        at, seen, total = 4, set(), 0
        while at and at not in seen:
            seen.add(at)
            count, following = struct.unpack(">hI", self.bytes_at(at, 6))
            # Blocks may lie over each other: it is counted what is read, not what is found.
            total += count
            if count < 0 or total > self._most:
                raise ValueError(f"it has more than {self._most} descriptors")
            for entry in struct.iter_unpack(">HHII", self.bytes_at(at + 6, 12 * count)):
                tag, ref, offset, length = entry
                if tag not in (_NULL, 0):
                    key = tag & ~_SPECIAL if tag < 0x8000 else tag, ref
                    self._elements[key] = offset, length, bool(tag & _SPECIAL and tag < 0x8000)
            at = following

    def _element(self, key: tuple[int, int]) -> tuple[int, int, bool]:
        if key not in self._elements:
            raise ValueError(f"it has no element {key[0]}/{key[1]}")
        return self._elements[key]

    def _members(self, group: int) -> list[tuple[int, int]]:
        return [*struct.iter_unpack(">HH", self._whole((_GROUP, group)))]

    def _whole(self, key: tuple[int, int]) -> bytes:
        """Return an element that says something of others; one in linked blocks is put together."""
        offset, length, is_special = self._element(key)
        if not is_special:
            if length > _LARGEST:
                raise ValueError(f"an element has more than {_LARGEST} bytes")
            return self.bytes_at(offset, length)
        head = self._head(offset, length)
        if int.from_bytes(head[:2], "big") != _BLOCKS:
            raise ValueError("an element that says something of others is packed")
        return b"".join(self.bytes_at(*each) for each in self._blocks(head))

    def _head(self, offset: int, length: int) -> bytes:
        return self.bytes_at(offset, min(length, _HEAD))

    def _blocks(self, head: bytes) -> list[tuple[int, int]]:
        """Return the offsets and lengths of linked blocks."""
        left, _, count, ref = struct.unpack(">iiiH", head[2:16])
        if left > _LARGEST or not 0 < count <= _HEAD:
            raise ValueError(f"linked blocks of {left} bytes are more than are read")
        found: list[tuple[int, int]] = []
        seen: set[int] = set()
        while ref and ref not in seen and left > 0:
            seen.add(ref)
            offset, _, _ = self._element((_LINKED, ref))
            table = struct.unpack(f">{count + 1}H", self.bytes_at(offset, 2 * (count + 1)))
            ref = table[0]
            for block in table[1:]:
                if not block or left <= 0:
                    break
                at, size, _ = self._element((_LINKED, block))
                size = min(size, left)
                left -= size
                found.append((at, size))
                if len(found) > self._most:
                    raise ValueError("it has too many linked blocks")
        return found

    # Arrays

    def _of(self, group: int, rank: int) -> Layout:
        refs = [ref for tag, ref in self._members(group) if tag == _DATA]
        if not refs or (_DATA, refs[0]) not in self._elements:
            return Layout("none of its elements was ever written")
        offset, length, is_special = self._element((_DATA, refs[0]))
        if not is_special:
            return self._plain(offset, length)
        head = self._head(offset, length)
        kind = int.from_bytes(head[:2], "big")
        if kind == _PACKED:
            return self._packed(head)
        if kind == _CHUNKED:
            return self._chunked(head, rank)
        if kind == _BLOCKS:
            blocks = self._blocks(head)
            if len(blocks) == 1:
                return self._plain(*blocks[0])
            return Layout("it is stored in linked blocks, of which references make no array")
        if kind == _ELSEWHERE:
            return Layout("its elements are in another file, which is not opened", is_elsewhere=True)
        return Layout(f"it is a special element of kind {kind}")

    def _plain(self, offset: int, length: int) -> Layout:
        if offset + length > self.size:
            return Layout(f"it was cut: its bytes end at {offset + length}, the file at {self.size}")
        return Layout("", stored=(((), offset, length),))

    def _packed(self, head: bytes) -> Layout:
        found = self._stream(head)
        return found if isinstance(found, Layout) else Layout("", level=found[0], stored=(((), *found[1:]),))

    def _stream(self, head: bytes) -> Layout | tuple[int, int, int]:
        """Return the level, offset and length of a stream of deflate, or why it is none."""
        _, _, ref, _, coder = struct.unpack(">HiHHH", head[2:14])
        if coder != _DEFLATE:
            return Layout(f"its coder is {_CODERS.get(coder, coder)}, for which Zarr has no codec")
        level = int.from_bytes(head[14:16], "big")
        offset, length, is_special = self._element((_COMPRESSED, ref))
        if is_special:
            blocks = self._blocks(self._head(offset, length))
            if len(blocks) != 1:
                return Layout("its packed bytes are stored in linked blocks, which references cannot join")
            offset, length = blocks[0]
        if offset + length > self.size:
            return Layout(f"it was cut: its bytes end at {offset + length}, the file at {self.size}")
        return min(max(level, 0), 9), offset, length

    def _chunked(self, head: bytes, rank: int) -> Layout:
        _, version, _, _, _, _, table, ref, _, _, ndims = struct.unpack(">iBiiiiHHHHi", head[2:35])
        if version > 1 or ndims != rank or not 0 < ndims <= _RANK or table != _HEADER:
            return Layout(f"its table of chunks is of version {version} and {ndims} dimensions")
        sides = tuple(struct.unpack_from(">iii", head, 35 + 12 * axis)[2] for axis in range(ndims))
        if min(sides) < 1:
            return Layout("its chunks have no elements")
        count = struct.unpack_from(">i", self._whole((_HEADER, ref)), 2)[0]
        row = struct.Struct(f">{ndims}iHH")
        if not 0 <= count <= self._most:
            return Layout(f"it has {count} chunks")
        rows = self._whole((_TABLE, ref))[: count * row.size] if count else b""
        stored: list[tuple[tuple[int, ...], int, int]] = []
        levels: set[int | None] = set()
        for *coords, tag, chunk in row.iter_unpack(rows):
            if tag != _CHUNK:
                return Layout(f"an element of tag {tag} stands for a chunk")
            offset, length, is_special = self._element((_CHUNK, chunk))
            found: Layout | tuple[int | None, int, int] = (None, offset, length)
            if is_special:
                inner = self._head(offset, length)
                if int.from_bytes(inner[:2], "big") != _PACKED:
                    return Layout("its chunks are stored in linked blocks")
                found = self._stream(inner)
            elif (whole := self._plain(offset, length)).why:
                found = whole
            if isinstance(found, Layout):
                return found
            levels.add(found[0])
            stored.append((tuple(coords), found[1], found[2]))
        if len(levels) > 1 and None in levels:
            return Layout("some of its chunks are packed, and others are not")
        known = [level for level in levels if level is not None]
        return Layout("", sides, max(known, default=None), tuple(stored))
