"""Stores of the v3 draft of 2019: in memory, in a folder, in a zip file (Store interface)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO, BinaryIO

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.files.atomic import fill_atomically
from refbrowser.io.files.hidden_siblings import is_leftover
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.wings.zarr_draft.reading.draft_keys import is_key


@dataclass(frozen=True, slots=True)
class Listing:
    """What `Store.listdir` finds: keys, and prefixes that end in ``/``."""

    keys: frozenset[str]
    prefixes: frozenset[str]


class ListingError(RefbrowserError):
    """The store supports none of the list operations: what is in it must be known by other means."""

    def __init__(self) -> None:
        super().__init__(
            ErrorKind.USAGE, "the store cannot list its keys", advice="name the path of each node"
        )


class Store(ABC):
    """A mapping from keys to bytes.

    `get`, `set` and `delete` must be there. Of `list`, `listpre` and `listdir` each has what stands for it:
    `listdir` the keys of `listpre`, `listpre` those of `list`; a store without `list` cannot list.

    All operations may be called from any thread. They raise `RefbrowserError` where the storage fails.
    """

    @abstractmethod
    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent."""

    @abstractmethod
    def set(self, key: str, value: bytes) -> None:
        """Store a value; a key that is there is replaced.

        Raises
        ------
        RefbrowserError
            `E_UNSAFE`: the text is no key: other characters, or parts that are empty or only dots.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a key; nothing happens where it is absent."""

    def list(self) -> frozenset[str]:
        """Return all keys.

        Raises
        ------
        ListingError
            The store cannot list.
        """
        raise ListingError

    def listpre(self, prefix: str) -> frozenset[str]:
        """Return all keys that begin with `prefix`: of ``a/b a/c/d e/f`` with ``a/`` the first two."""
        return frozenset(key for key in self.list() if key.startswith(prefix))

    def listdir(self, prefix: str) -> Listing:
        """Return what stands right below a prefix.

        Of ``a/b a/c a/d/e a/f/g`` with ``a/`` the keys ``a/b`` and ``a/c`` and the prefixes ``a/d/`` and
        ``a/f/``.
        """
        return split_listing(self.listpre(prefix), prefix)


def split_listing(keys: Iterable[str], prefix: str) -> Listing:
    """Return keys that begin with `prefix` as those right below it and the prefixes of the others."""
    here, further = set(), set()
    for key in keys:
        name, slash, _ = key[len(prefix) :].partition("/")
        if slash:
            further.add(f"{prefix}{name}/")
        else:
            here.add(key)
    return Listing(frozenset(here), frozenset(further))


def check_key(key: str) -> None:
    """Raise E_UNSAFE where `key` is no key: it is never joined to a path then."""
    if len(key) > LIMITS.key_length or not is_key(key):
        raise RefbrowserError(
            ErrorKind.UNSAFE,
            f"{quoted(key)} is not a key",
            advice="keys hold a-z A-Z 0-9 / . - _ and no part that is empty or only dots",
        )


def check_size(size: int, key: str, where: str) -> None:
    """Raise E_BUDGET where a value is larger than what is read whole."""
    if size > LIMITS.chunk_size:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"the value has {size} bytes; only {LIMITS.chunk_size} are read whole",
            Place(key=key, url=where),
        )


class MemoryStore(Store):
    """Keys and values in a dictionary.

    Parameters
    ----------
    values
        What it holds at first; copied.
    """

    def __init__(self, values: Mapping[str, bytes] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent."""
        return self._values.get(key)

    def set(self, key: str, value: bytes) -> None:
        """Store a value."""
        check_key(key)
        self._values[key] = bytes(value)

    def delete(self, key: str) -> None:
        """Delete a key; nothing happens where it is absent."""
        self._values.pop(key, None)

    def list(self) -> frozenset[str]:
        """Return all keys."""
        return frozenset(self._values)


class FolderStore(Store):
    """Keys as paths below a folder, which is made when the first value is stored.

    A value is written under another name and renamed, so that a reader finds the old or the new one, whole.
    Nothing outside of the folder is read or written: not through keys, not through links. Folders that
    become empty are removed, as a folder implies a group.

    Parameters
    ----------
    root
        The folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.realpath(root)

    def __repr__(self) -> str:
        return f"FolderStore({self.root!r})"

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent.

        Raises
        ------
        RefbrowserError
            `E_UNSAFE`: a link leads out of the folder. `E_BUDGET`: the value is too large. `E_IO`: it cannot
            be read.
        """
        if not is_key(key):
            return None
        path = self._path(key)
        if not os.path.lexists(path) or os.path.isdir(path):
            return None
        with open_regular(path) as (descriptor, identity):
            check_size(identity.size, key, path)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(LIMITS.chunk_size)

    def set(self, key: str, value: bytes) -> None:
        """Store a value; raises `E_UNSAFE` for what is no key or leads out, `E_IO` where it cannot be."""
        check_key(key)
        path = self._path(key)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise self._failed(error, path) from error
        if os.path.isdir(path):
            raise RefbrowserError(ErrorKind.IO, "there is a folder of this name", Place(path=path))
        fill_atomically(path, lambda file: file.write(value))

    def delete(self, key: str) -> None:
        """Delete a key, and the folders that it leaves empty; nothing happens where it is absent."""
        if not is_key(key):
            return
        path = self._path(key)
        if not os.path.lexists(path) or os.path.isdir(path):
            return
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._failed(error, path) from error
        folder = os.path.dirname(path)
        # The first that is not empty ends it.
        with contextlib.suppress(OSError):
            while folder != self.root:
                os.rmdir(folder)
                folder = os.path.dirname(folder)

    def list(self) -> frozenset[str]:
        """Return all keys."""
        return self.listpre("")

    def listpre(self, prefix: str) -> frozenset[str]:
        """Return all keys that begin with `prefix`."""
        folder = prefix.rpartition("/")[0]
        keys: set[str] = set()
        for key in self._below(f"{folder}/" if folder else ""):
            if key.startswith(prefix):
                keys.add(key)
                if len(keys) > LIMITS.references:
                    raise RefbrowserError(
                        ErrorKind.BUDGET,
                        f"the folder holds more than {LIMITS.references} keys",
                        Place(path=self.root),
                    )
        return frozenset(keys)

    def listdir(self, prefix: str) -> Listing:
        """Return the keys and prefixes right below `prefix`; a folder without any key is none."""
        folder, slash, start = prefix.rpartition("/")
        keys, prefixes = set(), set()
        for name, is_folder in self._entries(folder):
            found = f"{folder}{slash}{name}"
            if not name.startswith(start):
                continue
            if not is_folder:
                keys.add(found)
            elif next(self._below(f"{found}/"), None) is not None:
                prefixes.add(f"{found}/")
        return Listing(frozenset(keys), frozenset(prefixes))

    def _below(self, prefix: str) -> Iterator[str]:
        """Yield the keys below a folder, which `prefix` names with a slash at its end."""
        pending = [prefix]
        while pending:
            folder = pending.pop()
            if folder.count("/") > LIMITS.group_nesting + LIMITS.rank:
                continue
            for name, is_folder in self._entries(folder.removesuffix("/")):
                if is_folder:
                    pending.append(f"{folder}{name}/")
                else:
                    yield f"{folder}{name}"

    def _entries(self, folder: str) -> Iterator[tuple[str, bool]]:
        """Yield name, and whether it is a folder, of what may be keys; links are not followed to folders."""
        if folder and not is_key(folder):
            return
        path = self._path(folder) if folder else self.root
        try:
            with os.scandir(path) as entries:
                found = [
                    (entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in entries
                    if is_key(entry.name) and not is_leftover(entry.name)
                ]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._failed(error, path) from error
        yield from sorted(found)

    def _path(self, key: str) -> str:
        """Return where a key is; its links are resolved, and must not lead out."""
        path = os.path.realpath(os.path.join(self.root, *key.split("/")))
        if not is_below(path, self.root) or path == self.root:
            raise RefbrowserError(
                ErrorKind.UNSAFE, "a link points outside the store", Place(key=key, path=self.root)
            )
        return path

    def _failed(self, error: OSError, path: str) -> RefbrowserError:
        return RefbrowserError(ErrorKind.IO, error.strerror or str(error), Place(path=path))


#: Changes of more bytes wait in a temporary file, not in memory.
_IN_MEMORY = 16 * 1024 * 1024
_PORTION = 1024 * 1024
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
                shutil.copyfileobj(source, copy, _PORTION)
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
