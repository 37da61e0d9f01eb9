"""A store in one zip file, with the keys as names of its members."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import IO, BinaryIO

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr_draft.stores.base import Store, check_key, check_size
from refbrowser.io.atomic import fill_atomically
from refbrowser.io.identity import FileIdentity

#: Changes of more bytes wait in a temporary file, not in memory.
_IN_MEMORY = 16 * 1024 * 1024
_PIECE = 1024 * 1024
#: What the library raises on archives that are damaged or of a kind that it does not read.
_FAULTS = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError)


class ZipStore(Store):
    """Keys as members of a zip file.

    Changes wait until `flush` or `close`, which writes a new archive beside the old one and renames it: the
    file is the old one or the new one, whole, at every moment. What was read meanwhile sees the changes.
    Use it in a ``with`` statement; after an exception in it the file is left as it was.

    Parameters
    ----------
    path
        The file; it is made by the first `flush` where there is none.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: the file is no zip archive. `E_IO`: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(path)
        self._lock = threading.RLock()
        self._archive: zipfile.ZipFile | None = None
        self._identity: FileIdentity | None = None
        self._members: dict[str, zipfile.ZipInfo] = {}
        #: Where changes are in the spool; None for keys that are deleted.
        self._changes: dict[str, tuple[int, int] | None] = {}
        self._spool: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by close
        if os.path.exists(self.path):
            self._open()

    def __repr__(self) -> str:
        return f"ZipStore({self.path!r})"

    def __enter__(self) -> ZipStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.flush()
        finally:
            self._release()

    def close(self) -> None:
        """Write what was changed, and close the file."""
        try:
            self.flush()
        finally:
            self._release()

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: it is too large. `E_SOURCE`: the archive is damaged there.
        """
        with self._lock:
            if key in self._changes:
                return self._changed(key)
            member = self._members.get(key)
            if member is None:
                return None
            check_size(member.file_size, key, self.path)
            assert self._archive is not None
            try:
                return self._archive.read(member)
            except _FAULTS as error:
                raise self._failed(ErrorKind.SOURCE, error, key) from error

    def set(self, key: str, value: bytes) -> None:
        """Store a value; the file is written by `flush`."""
        check_key(key)
        with self._lock:
            start = self._spool.seek(0, os.SEEK_END)
            self._spool.write(value)
            self._changes.pop(key, None)
            self._changes[key] = (start, len(value))

    def delete(self, key: str) -> None:
        """Delete a key; nothing happens where it is absent."""
        with self._lock:
            if key in self._members:
                self._changes[key] = None
            else:
                self._changes.pop(key, None)

    def list(self) -> frozenset[str]:
        """Return all keys."""
        with self._lock:
            return frozenset(self._keys())

    def flush(self) -> None:
        """Write what was changed to the file.

        Raises
        ------
        ChangedOnDiskError
            Another program has changed the file; the changes still wait.
        RefbrowserError
            `E_IO`: it cannot be written. `E_SOURCE`: a member that is kept is damaged.
        """
        with self._lock:
            if not self._changes:
                return
            try:
                fill_atomically(self.path, self._write, expected=self._identity)
            except BaseException:
                if self._archive is None and os.path.exists(self.path):
                    self._open()
                raise
            self._changes.clear()
            self._spool.seek(0)
            self._spool.truncate()
            self._open()

    def _keys(self) -> Iterator[str]:
        yield from (key for key in self._members if self._changes.get(key, ()) is not None)
        yield from (key for key in self._changes if key not in self._members)

    def _changed(self, key: str) -> bytes | None:
        place = self._changes[key]
        if place is None:
            return None
        self._spool.seek(place[0])
        return self._spool.read(place[1])

    def _write(self, file: BinaryIO) -> None:
        """Write the archive with the changes."""
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            for key, member in self._members.items():
                if key not in self._changes:
                    self._copy(member, target)
            for key, place in self._changes.items():
                if place is not None:
                    info = zipfile.ZipInfo(key)
                    info.external_attr = 0o644 << 16
                    target.writestr(info, self._changed(key) or b"")
        self._close_archive()

    def _copy(self, member: zipfile.ZipInfo, target: zipfile.ZipFile) -> None:
        assert self._archive is not None
        info = zipfile.ZipInfo(member.filename, member.date_time)
        info.compress_type, info.external_attr = member.compress_type, member.external_attr
        info.file_size = member.file_size
        try:
            with self._archive.open(member) as source, target.open(info, "w") as copy:
                shutil.copyfileobj(source, copy, _PIECE)
        except _FAULTS as error:
            raise self._failed(ErrorKind.SOURCE, error, member.filename) from error

    def _open(self) -> None:
        self._close_archive()
        try:
            self._archive = zipfile.ZipFile(self.path)
            self._identity = FileIdentity.of(os.stat(self.path))
        except zipfile.BadZipFile as error:
            raise self._failed(ErrorKind.FORMAT, error) from error
        except OSError as error:
            raise self._failed(ErrorKind.IO, error) from error
        # Of members of one name the last one counts; folders have no value.
        self._members = {
            member.filename: member
            for member in self._archive.infolist()
            if not member.is_dir() or member.file_size
        }

    def _close_archive(self) -> None:
        if self._archive is not None:
            self._archive.close()
            self._archive = None

    def _release(self) -> None:
        with self._lock:
            self._changes.clear()
            self._spool.close()
            self._close_archive()
            self._members = {}

    def _failed(self, kind: ErrorKind, error: BaseException, key: str | None = None) -> RefbrowserError:
        message = f"the zip file cannot be read: {quoted(error)}"
        return RefbrowserError(kind, message, Place(key=key, path=self.path))
