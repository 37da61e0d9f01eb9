"""What headers of objects of HDF5 say, word for word: what was told of the same words is not asked again.

It is loaded by `hdf5_reader` and imports nothing of ours. Files that are read one after another say most
things in the same words: units, types, filters. HDF5 takes ten calls to tell an attribute, and more for an
array. What words mean is told by HDF5 alone; they are only compared here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Messages that say what an array is (HDF5 file format, IV.A.2).
_FORM = (_SPACE, _TYPE, _OLD_FILL, _FILL, _LAYOUT, _FILTERS) = (0x01, 0x03, 0x04, 0x05, 0x08, 0x0B)
_EXTERNAL, _ATTRIBUTE = 0x07, 0x0C
#: A message, or a part of one, that lies elsewhere.
_SHARED, _SHARED_PART = 0x02, 0x03
#: Classes of types whose elements lie where they are: integers, floats, texts of a fixed length.
_PLAIN = (0, 1, 3)
_CONTIGUOUS, _CHUNKED = 1, 2
#: Words that are kept, and bytes of each.
_KEPT, _LONGEST = 4_000, 1024

#: Kind, flags and content.
Message = tuple[int, int, bytes]
_TOLD: dict[bytes, Any] = {}


class Headers:
    """The headers of one file.

    Parameters
    ----------
    file
        As h5py has it.
    messages
        Yields the messages of a header by its address; None where the bytes of the file are not at hand.
    """

    def __init__(self, file: Any, messages: Callable[[int], Iterator[Message]] | None) -> None:
        # Lengths and addresses of other sizes are other words; what is being written changes.
        is_usual = messages is not None and not file.swmr_mode
        is_usual = is_usual and file.id.get_create_plist().get_sizes() == (8, 8)
        self._messages = messages if is_usual else None
        self._descriptor = file.id.get_vfd_handle() if is_usual else -1
        self._state = self._state_now()
        self._new: dict[bytes, Any] = {}

    def messages(self, address: Any) -> list[Message]:
        """Return the messages of a header; none where they cannot be compared."""
        if self._messages is None or not isinstance(address, int):
            return []
        try:
            return list(self._messages(address))
        except (ValueError, LookupError, ArithmeticError):
            return []

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
    found: dict[bytes, bytes] = {}
    for kind, flags, body in messages:
        if kind != _ATTRIBUTE or flags & _SHARED or len(body) < 9:
            continue
        version = body[0]
        if version not in (1, 2, 3) or (version > 1 and body[1] & _SHARED_PART):
            continue
        size = int.from_bytes(body[2:4], "little")
        begin = 9 if version == 3 else 8
        type_at = begin + (-(-size // 8) * 8 if version == 1 else size)
        if type_at < len(body) and body[type_at] & 0x0F in _PLAIN:
            found[body[begin : begin + size].split(b"\0", 1)[0]] = b"a" + body
    return found


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
