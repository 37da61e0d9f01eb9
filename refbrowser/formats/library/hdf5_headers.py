"""What headers of objects of HDF5 say, word for word: what was told of the same words is not asked again.

It is loaded by `hdf5_reader` and imports nothing of ours. Files that are read one after another say most
things in the same words: units, types, filters. HDF5 takes ten calls to tell an attribute, and more for an
array. What words mean is told by HDF5 alone; they are only compared here.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Messages that say what an array is (HDF5 file format, IV.A.2).
_FORM = (_SPACE, _TYPE, _OLD_FILL, _FILL, _LAYOUT, _FILTERS) = (0x01, 0x03, 0x04, 0x05, 0x08, 0x0B)
_EXTERNAL, _ATTRIBUTE = 0x07, 0x0C
#: A message, or a part of one, that lies elsewhere.
_SHARED, _SHARED_PART = 0x02, 0x03
#: Classes of types whose elements lie where they are: integers, floats, texts of a fixed length.
_PLAIN = (0, 1, 3)
_DAMAGED = (ValueError, LookupError, ArithmeticError, struct.error)
_CONTIGUOUS, _CHUNKED = 1, 2
#: Words that are kept, and bytes of each.
_KEPT, _LONGEST = 4_000, 1024
#: The attribute that lists the scales of each dimension, and its type: rows of references to objects.
_LIST, _LIST_TYPE = b"DIMENSION_LIST", bytes.fromhex("19000000100000001700000008000000")
#: Bytes of a heap that are read at once, and at all; references of a row that are looked at.
_HEAP, _LARGEST, _ROW = 4096, 1 << 20, 1_000

#: Kind, flags and content.
Message = tuple[int, int, bytes]
_TOLD: dict[bytes, Any] = {}


class Headers:
    """The headers of one file.

    Parameters
    ----------
    file
        As h5py has it.
    read
        Returns bytes of the file; None where they are not at hand.
    messages
        Yields the messages of the header at an address.
    """

    def __init__(
        self,
        file: Any,
        read: Callable[[int, int], bytes] | None,
        messages: Callable[[Any, int, int], Iterator[Message]],
    ) -> None:
        # Lengths and addresses of other sizes are other words; what is being written changes.
        made = file.id.get_create_plist()
        is_usual = read is not None and not file.swmr_mode and made.get_sizes() == (8, 8)
        self._read = read if is_usual else None
        self._base = made.get_userblock()
        self._messages = messages
        self._descriptor = file.id.get_vfd_handle() if is_usual else -1
        self._state = self._state_now()
        self._new: dict[bytes, Any] = {}
        self._heaps: dict[int, dict[int, bytes]] = {}

    def messages(self, address: Any) -> list[Message]:
        """Return the messages of a header; none where they cannot be compared."""
        if self._read is None or not isinstance(address, int):
            return []
        try:
            return list(self._messages(self._read, self._base, address))
        except _DAMAGED:
            return []

    def scales(self, messages: Iterable[Message], ndim: int) -> list[str | None] | None:
        """Return the address of the last scale of each dimension, None of one that has none.

        HDF5 opens each scale to tell it. None where that is left to HDF5.
        """
        listing = (each for each in messages if _LIST in each[2])
        for body, (name, kind, at) in _attributes(listing):
            if name != _LIST:
                continue
            if kind != _LIST_TYPE or len(body) != at + 16 * ndim:
                return None
            try:
                return [self._last(*struct.unpack_from("<IQI", body, at + 16 * axis)) for axis in range(ndim)]
            except _DAMAGED:
                return None
        return None

    def _last(self, count: int, heap: int, number: int) -> str | None:
        """Return the last reference of a row that lies in a heap."""
        if not count:
            return None
        if heap not in self._heaps:
            self._heaps[heap] = self._objects(heap)
        if count > _ROW:
            raise ValueError("a row that is too long")
        return str(struct.unpack_from("<Q", self._heaps[heap][number], 8 * (count - 1))[0])

    def _objects(self, address: int) -> dict[int, bytes]:
        """Return the objects of a global heap by their numbers (III.E)."""
        assert self._read is not None
        data = self._read(self._base + address, _HEAP)
        signature, version, size = struct.unpack_from("<4sB3xQ", data)
        if (signature, version) != (b"GCOL", 1) or size > _LARGEST:
            raise ValueError("an unknown heap")
        if size > len(data):
            data = self._read(self._base + address, size)
        found, at = {}, 16
        while at + 16 <= min(size, len(data)):
            number, length = struct.unpack_from("<H6xQ", data, at)
            if not number:
                break
            found[number] = data[at + 16 : at + 16 + length]
            at += 16 + -(-length // 8) * 8
        return found

    def known(self, words: bytes | None) -> Any:
        """Return what was told of the same words; None where nothing was."""
        return None if words is None else _TOLD.get(words) or self._new.get(words)

    def note(self, words: bytes | None, told: Any) -> None:
        """Note what was told of words."""
        if words is not None and len(words) <= _LONGEST:
            self._new[words] = told

    def keep(self) -> None:
        """Keep what was told for files that follow, unless the file was changed meanwhile."""
        if self._state != self._state_now():
            return
        if len(_TOLD) > _KEPT:
            _TOLD.clear()
        _TOLD.update(self._new)

    def _state_now(self) -> Any:
        if self._descriptor < 0:
            return None
        found = os.fstat(self._descriptor)
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size


def words_of_attributes(messages: Iterable[Message]) -> dict[bytes, bytes]:
    """Return by name the words of attributes whose values stand in them."""
    return {
        name: b"a" + body
        for body, (name, kind, _) in _attributes(messages)
        if kind and kind[0] & 0x0F in _PLAIN
    }


def _attributes(messages: Iterable[Message]) -> Iterator[tuple[bytes, tuple[bytes, bytes, int]]]:
    """Yield attributes no part of which lies elsewhere, with their parts."""
    for kind, flags, body in messages:
        if kind != _ATTRIBUTE or flags & _SHARED or len(body) < 9:
            continue
        if body[0] == 1 or (body[0] in (2, 3) and not body[1] & _SHARED_PART):
            yield body, _parts(body)


def _parts(attribute: bytes) -> tuple[bytes, bytes, int]:
    """Return the name and the type of an attribute, and where its value begins (IV.A.2.m)."""
    version = attribute[0]
    name, kind, space = struct.unpack_from("<3H", attribute, 2)
    begin = 9 if version == 3 else 8
    ends = [-(-size // 8) * 8 if version == 1 else size for size in (name, kind, space)]
    at = begin + ends[0]
    words = attribute[begin : begin + name].split(b"\0", 1)[0]
    return words, attribute[at : at + kind], at + ends[1] + ends[2]


def words_of_form(messages: Iterable[Message]) -> bytes | None:
    """Return the words that say what an array is, but not where; None where they do not say all."""
    words, kinds = [b"f"], set()
    for kind, flags, body in messages:
        if kind == _EXTERNAL:
            return None
        if kind not in _FORM:
            continue
        if flags & _SHARED or not body or (kind == _TYPE and body[0] & 0x0F not in _PLAIN):
            return None
        said = _without_place(body) if kind == _LAYOUT else body
        if said is None:
            return None
        words.append(b"%d:%d:%b" % (kind, len(said), said))
        kinds.add(kind)
    return b"".join(words) if {_SPACE, _TYPE, _LAYOUT} <= kinds else None


def _without_place(layout: bytes) -> bytes | None:
    """Return a layout without the address in it; None of one that is not known, or has values in it."""
    version, kind = layout[:2] if len(layout) > 10 else (0, 0)
    if kind == _CONTIGUOUS and version in (3, 4):
        return layout[:2] + layout[10:]
    if kind == _CHUNKED and version == 3:
        return layout[:3] + layout[11:]
    # The address is the last.
    return layout[:-8] if kind == _CHUNKED and version == 4 else None
