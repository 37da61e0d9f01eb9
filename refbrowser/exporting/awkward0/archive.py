"""An archive being written: stored members one after another, whatever size they turn out to have."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from refbrowser.exporting.zip_file import (
    Member,
    central_header,
    data_start,
    directory_of,
    local_header,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.zip_kept import kept_members

#: Bytes that are copied at once.
PORTION = 4 * 1024 * 1024


class ArchiveWriter:
    """Writes an archive into an empty file (`Sink`); `finish` makes it one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: list[bytes] = []
        self._end = 0

    def keep(self, path: Path, gone: Collection[str], token: CancelToken) -> None:
        """Take over the members of another archive, all but some.

        Raises
        ------
        RefbrowserError
            Its directory is damaged.
        Cancelled
            `token` was cancelled.
        """
        with path.open("rb") as old:

            def read(start: int, stop: int) -> bytes:
                old.seek(start)
                return old.read(stop - start)

            for member in kept_members(read, os.fstat(old.fileno()).st_size, str(path)):
                if member.name in gone:
                    continue
                self._entries.append(member.entry_at(self._end))
                old.seek(member.start)
                left = member.stop - member.start
                while left:
                    token.check()
                    piece = old.read(min(PORTION, left))
                    if not piece:
                        raise OSError("the archive was cut short meanwhile")
                    left -= len(piece)
                    self._write(piece)

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Write a member whole.

        Raises
        ------
        OSError
            It cannot be written.
        """
        start = self._end
        # Whether its header has room for a large size must be known before the size is.
        member = Member(name, most, start, 0)
        member = member._replace(has_room=data_start(member) > data_start(member._replace(size=0)))
        room = data_start(member)
        self._write(bytes(room))
        checksum = 0
        try:
            for piece in pieces:
                checksum = zlib.crc32(piece, checksum)
                self._write(piece)
        except BaseException:
            # The next one takes its place.
            self._end = self._file.seek(start)
            raise
        member = member._replace(size=self._end - start - room, checksum=checksum)
        if data_start(member) != room:
            raise OSError(f"member {name!r} is larger than the {most} bytes that were announced")
        self._file.seek(start)
        self._file.write(local_header(member))
        self._file.seek(self._end)
        self._entries.append(central_header(member))

    def finish(self) -> None:
        """Write the directory."""
        for piece in directory_of(self._entries, len(self._entries), self._end):
            self._file.write(piece)
        self._file.truncate()
        self._file.flush()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._end += len(data)
