"""A store in a folder: one file for each key."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.zarr_draft.names import is_key
from refbrowser.formats.zarr_draft.stores.base import Listing, Store, check_key, check_size
from refbrowser.io.atomic import fill_atomically, is_leftover
from refbrowser.io.local import open_regular
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS


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
                ErrorKind.UNSAFE, "a link leads out of the store", Place(key=key, path=self.root)
            )
        return path

    def _failed(self, error: OSError, path: str) -> RefbrowserError:
        return RefbrowserError(ErrorKind.IO, error.strerror or str(error), Place(path=path))
