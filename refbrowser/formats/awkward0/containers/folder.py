"""Blobs that are files below a folder (persistence notes, section 5, "Any mapping")."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity
from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.stores.reader import is_text
from refbrowser.io.cancel import CancelToken
from refbrowser.io.local import open_regular
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.model.reference import WholeFile


class FolderContainer:
    """The files of a folder and of the folders below it (`Container`); never one outside of it.

    Parameters
    ----------
    root
        Absolute, with links resolved.
    """

    kind = "folder"

    def __init__(self, root: str, token: CancelToken | None = None) -> None:
        self.url = root
        self._token = token or CancelToken()
        self._is_cut = False

    @property
    def findings(self) -> Sequence[Finding]:
        """What is wrong with it: it has too many files."""
        _ = self._blobs
        if not self._is_cut:
            return ()
        message = f"only the first {LIMITS.awkward_files} files of the folder are looked at (awkward_files)"
        place = Place(url=self.url)
        return (Finding(severity=Severity.WARNING, kind=ErrorKind.BUDGET, message=message, place=place),)

    @cached_property
    def _blobs(self) -> dict[str, Blob]:
        blobs: dict[str, Blob] = {}
        for name, path, size in self._files():
            if len(blobs) >= LIMITS.awkward_files:
                self._is_cut = True
                break
            blobs[name] = Blob(name, WholeFile(path), size, size, "file")
        return blobs

    def _files(self) -> Iterator[tuple[str, str, int]]:
        """Yield the name, real path and size of each file, those of a folder before those below it."""
        pending = [""]
        while pending:
            self._token.check()
            folder = pending.pop(0)
            folders: list[str] = []
            for entry in self._entries(folder):
                name = folder + entry.name
                if not is_text(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{name}/")
                    continue
                # Links to folders are not followed: what they lead to has a name of its own.
                path = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if is_below(path, self.url) and os.path.isfile(path):
                    yield name, path, os.path.getsize(path)
            if folder.count("/") < LIMITS.group_nesting:
                pending += folders

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.url, folder)) as entries:
                found: list[os.DirEntry[str]] = []
                for entry in entries:
                    if len(found) >= LIMITS.awkward_files:
                        self._is_cut = True
                        break
                    found.append(entry)
        except OSError:
            return []
        return sorted(found, key=lambda entry: entry.name)

    def names(self) -> Iterable[str]:
        """Return the names of all files, relative to the folder, with ``/`` between parts."""
        return self._blobs

    def find(self, name: str) -> Blob | None:
        """Return a file, or None where there is none of that name."""
        return self._blobs.get(name)

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return the bytes of small files; absent ones are left out."""
        found: dict[str, bytes | RefbrowserError] = {}
        for name in names:
            self._token.check()
            blob = self._blobs.get(name)
            if blob is None or not isinstance(blob.reference, WholeFile):
                continue
            try:
                found[name] = _content(blob.reference.url, most)
            except RefbrowserError as error:
                found[name] = error
        return found


def _content(path: str, most: int) -> bytes:
    with open_regular(path) as (descriptor, identity):
        if identity.size > most:
            message = f"a file of {identity.size} bytes is larger than {most}"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=path))
        pieces = []
        left = identity.size
        while left and (piece := os.read(descriptor, left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)
