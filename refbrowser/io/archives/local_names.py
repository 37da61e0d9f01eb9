"""Names in the local headers of an archive, held against those of its directory.

An archive has each name twice (APPNOTE.TXT, 4.3.7 and 4.3.12). Where that of the directory is damaged, what
was stored under the other seems not to be there: of a store that would be a chunk of fill values.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

from refbrowser.io.archives.entries import LOCAL_HEADER, Entries, Fault, ReadBytes, name_fault
from refbrowser.io.cancel import CancelToken

_MARK = b"PK\x03\x04"
_NAME_SIZE = struct.Struct("<H")
_AT_NAME_SIZE = 26
#: Whose offsets lead nowhere.
_UNPLACED = (Fault.SIZES, Fault.OUTSIDE)


def compared_names(
    parts: Sequence[Entries], read: ReadBytes, cancel: CancelToken | None = None
) -> list[Entries]:
    """Return entries, with those marked whose local header has another name, also under that name.

    Which name is right is not known: neither can be read, and neither is missing.

    Parameters
    ----------
    read
        As of `read_directory`; may give less at the end of the archive.
    """
    return [compared for part in parts for compared in _compared(part, read, cancel)]


def _compared(part: Entries, read: ReadBytes, cancel: CancelToken | None) -> list[Entries]:
    others: dict[int, bytes] = {}
    for row, name in enumerate(_stored_names(part)):
        if cancel is not None:
            cancel.check()
        if part.fault[row] not in _UNPLACED:
            local = _local_name(part.offset.item(row), len(name), read)
            if local is not None and local != name:
                others[row] = local
    if not others:
        return [part]
    rows = np.array(list(others))
    part.fault[rows] = Fault.OTHER_NAME
    keys = {row: name for row, name in others.items() if name_fault(name) == Fault.NONE}
    again, sizes = np.array(list(keys), np.int64), np.array([*map(len, keys.values())], np.int64)
    return [
        part,
        Entries(
            names=b"".join(keys.values()),
            name_sizes=sizes,
            raw_names={},
            method=part.method[again],
            crc=part.crc[again],
            compressed=part.compressed[again],
            size=part.size[again],
            offset=part.offset[again],
            fault=part.fault[again],
        ),
    ]


def _stored_names(part: Entries) -> Iterator[bytes]:
    start = 0
    for row, size in enumerate(part.name_sizes.tolist()):
        yield part.raw_names.get(row, part.names[start : start + size])
        start += size


def _local_name(offset: int, size: int, read: ReadBytes) -> bytes | None:
    """Return the name in a local header, which should have so many bytes; None where no header is there."""
    head = read(offset, offset + LOCAL_HEADER + size)
    if len(head) < LOCAL_HEADER or head[:4] != _MARK:
        return None
    (found,) = _NAME_SIZE.unpack_from(head, _AT_NAME_SIZE)
    if found > size:
        head += read(offset + len(head), offset + LOCAL_HEADER + found)
    name = head[LOCAL_HEADER : LOCAL_HEADER + found]
    return name if len(name) == found else None
