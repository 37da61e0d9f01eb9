"""What a store is read through: objects by key, and names below a folder; a local folder is one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS

#: Bytes of each key, or why it could not be had; keys that the store does not have are left out.
Answers = Mapping[str, "bytes | RefbrowserError"]


@dataclass(frozen=True, slots=True)
class Names:
    """What stands right below a folder of a store.

    Attributes
    ----------
    folders
        Sorted.
    files
        Sorted.
    cut
        Whether there are more, which were not listed.
    """

    folders: Sequence[str] = ()
    files: Sequence[str] = field(default=())
    cut: bool = False


class StoreReader(Protocol):
    """A store as discovery sees it; keys are relative to its root and hold no ``..``."""

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys, read together where that is faster."""
        ...

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder (``""``: the root, ``a/b/``), or None."""
        ...

    def has(self, key: str) -> bool:
        """Tell whether something is stored under a key; False where only reading it would tell."""
        ...


class ListedReader(StoreReader, Protocol):
    """A store whose objects can be listed with their sizes."""

    def objects(self, folder: str) -> Iterator[tuple[str, int]] | None:
        """Yield the names of the objects below a folder, and their bytes; None where nobody lists them."""
        ...


def is_safe_key(key: str) -> bool:
    """Return whether a key may be joined to the root of a store: it is text, and cannot lead out of it."""
    if "\\" in key or "\0" in key or not is_text(key):
        return False
    return all(part not in ("", ".", "..") for part in key.split("/"))


def is_text(name: str) -> bool:
    """Return whether a key or path can be written down: names on disk may be bytes that are no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class BelowFolder:
    """A store as it is below one of its folders.

    Parameters
    ----------
    folder
        With a ``/`` at its end.
    """

    store: StoreReader
    folder: str

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys."""
        answers = self.store.read([self.folder + key for key in keys])
        return {key[len(self.folder) :]: answer for key, answer in answers.items()}

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder."""
        return self.store.names(self.folder + folder)

    def has(self, key: str) -> bool:
        """Tell whether something is stored under a key."""
        return self.store.has(self.folder + key)


#: Links to folders that are followed: a few that lead to each other make names without end.
_LINKS = 65_536


class FolderReader:
    """Reads below a folder and never outside of it, whatever links say.

    Parameters
    ----------
    root
        Absolute, with links resolved.
    largest
        Bytes of what is read at most; the usual limit when None.
    """

    def __init__(self, root: str, token: CancelToken | None = None, largest: int | None = None) -> None:
        self.root = root
        self._largest = LIMITS.inline_value if largest is None else largest
        self._token = token or CancelToken()
        self._left = LIMITS.store_names
        self._links_left = _LINKS
        self._folders: dict[str, str] = {}

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys."""
        found: dict[str, bytes | RefbrowserError] = {}
        for number, key in enumerate(keys):
            if number % 64 == 0:
                self._token.check()
            try:
                data = self._read(key) if is_safe_key(key) else None
            except RefbrowserError as error:
                found[key] = error
                continue
            if data is not None:
                found[key] = data
        return found

    def _read(self, key: str) -> bytes | None:
        folder, _, name = key.rpartition("/")
        path = os.path.join(self._folder(folder), name)
        try:
            return _content(path, self._largest)
        except AbsentError:
            return None
        except RefbrowserError:
            if not os.path.islink(path):
                raise
            return _content(self._inside(path), self._largest)

    def _folder(self, folder: str) -> str:
        """Return the path of a folder; its links are looked at once."""
        if folder not in self._folders:
            self._folders[folder] = self._inside(os.path.join(self.root, folder)) if folder else self.root
        return self._folders[folder]

    def _inside(self, path: str) -> str:
        real = os.path.realpath(path)
        if not is_below(real, self.root):
            message = "a link points outside the store"
            raise RefbrowserError(ErrorKind.UNSAFE, message, Place(url=path))
        return real

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder; those of folders that links lead out to are left out."""
        folders: list[str] = []
        files: list[str] = []
        try:
            above = self._folders_above(folder.rstrip("/"))
            with os.scandir(above[-1]) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left < 0:
                        break
                    if self._left % 1024 == 0:
                        self._token.check()
                    (folders if self._is_folder(entry, above) else files).append(entry.name)
        except (OSError, RefbrowserError):
            return Names()
        return Names(sorted(folders), sorted(files), cut=self._left < 0 or self._links_left < 0)

    def objects(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the files right below a folder, and their bytes, as far as names are listed."""
        listed = self.names(folder)
        for name in listed.files if listed is not None else ():
            with suppress(OSError):
                yield name, os.stat(os.path.join(self._folder(folder.rstrip("/")), name)).st_size

    def has(self, key: str) -> bool:
        """Tell whether there is a file for a key."""
        path = os.path.join(self.root, key)
        return is_safe_key(key) and os.path.isfile(path) and is_below(os.path.realpath(path), self.root)

    def _folders_above(self, folder: str) -> list[str]:
        """Return the paths of the folders that lead to a folder, that one last."""
        parts = folder.split("/") if folder else []
        return [self._folder("/".join(parts[:count])) for count in range(len(parts) + 1)]

    def _is_folder(self, entry: os.DirEntry[str], above: Sequence[str]) -> bool:
        """Whether an entry is a folder to go into: no link that leads out of the store, or round in it."""
        try:
            if not entry.is_dir():
                return False
            if not entry.is_symlink():
                return True
            self._links_left -= 1
            real = os.path.realpath(entry.path)
            leads_round = any(is_below(path, real) for path in above)
            return self._links_left >= 0 and is_below(real, self.root) and not leads_round
        except OSError:
            return False


def _content(path: str, largest: int) -> bytes:
    with open_regular(path) as (descriptor, identity):
        if identity.size > largest:
            message = f"metadata of {identity.size} bytes is larger than {largest}"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=path))
        data = os.read(descriptor, identity.size)
        while len(data) < identity.size and (more := os.read(descriptor, identity.size - len(data))):
            data += more
        return data
