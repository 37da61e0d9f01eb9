"""The keys of a store, listed folder by folder: a local folder, a zip archive, an object store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.stores.reader import StoreReader
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.io.archives.directory import ZipDirectory

#: Names that are given together, at most.
PAGE = 16_384

#: A folder (``""``, ``a/b/``) and names right below it.
Listed = tuple[str, list[str]]


def list_folder(
    root: str, token: CancelToken, closed: Callable[[str], None] = lambda folder: None
) -> Iterator[Listed]:
    """Yield the files below a folder.

    Parameters
    ----------
    closed
        Told each folder that is not looked into: what is in it is not known. Links to folders are not
        followed, and some may not be read.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    waiting = [""]
    while waiting:
        token.check()
        folder = waiting.pop()
        try:
            entries = os.scandir(os.path.join(root, folder))
        except OSError:
            closed(folder)
            continue
        with entries:
            files: list[str] = []
            for entry in entries:
                if entry.is_symlink() and _leads_to_folder(entry):
                    closed(f"{folder}{entry.name}/")
                    continue
                if _is_folder(entry):
                    waiting.append(f"{folder}{entry.name}/")
                    continue
                files.append(entry.name)
                if len(files) == PAGE:
                    token.check()
                    yield folder, files
                    files = []
            if files:
                yield folder, files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def list_archive(directory: ZipDirectory, folder: str, token: CancelToken) -> Iterator[Listed]:
    """Yield the members of an archive that are below a leading folder (``""``, ``store/``)."""
    names = (name[len(folder) :] for name in directory.names() if name.startswith(folder))
    for parent, group in groupby(names, key=lambda name: name[: name.rfind("/") + 1]):
        while page := [name[len(parent) :] for name in islice(group, PAGE)]:
            token.check()
            yield parent, page


def list_reader(reader: StoreReader, token: CancelToken) -> Iterator[Listed]:
    """Yield what a reader can list: the objects of an object store.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there are too many to list them all, so that nothing is known to be missing.
    """
    waiting, left = [""], LIMITS.audit_folders
    while waiting:
        token.check()
        left -= 1
        folder = waiting.pop()
        names = reader.names(folder)
        if names is None or names.cut or not left:
            message = "the store has more names than are listed"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(key=folder or None))
        waiting += [f"{folder}{name}/" for name in names.folders]
        for start in range(0, len(names.files), PAGE):
            yield folder, list(names.files[start : start + PAGE])
