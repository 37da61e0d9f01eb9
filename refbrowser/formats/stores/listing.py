"""The keys of a store, listed folder by folder: a local folder, a zip archive, an object store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby, islice

from refbrowser.formats.stores.reader import StoreReader
from refbrowser.io.cancel import CancelToken
from refbrowser.io.zip_directory import ZipDirectory
from refbrowser.limits import LIMITS

#: Names that are given together, at most.
PAGE = 16_384

#: A folder (``""``, ``a/b/``) and names right below it.
Listed = tuple[str, list[str]]


def list_folder(root: str, token: CancelToken) -> Iterator[Listed]:
    """Yield the files below a folder; links to folders are not followed.

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
            continue  # it went, or may not be read: what is in it is not there for a reader either
        with entries:
            files: list[str] = []
            for entry in entries:
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


def list_archive(directory: ZipDirectory, folder: str, token: CancelToken) -> Iterator[Listed]:
    """Yield the members of an archive that are below a leading folder (``""``, ``store/``)."""
    names = (name[len(folder) :] for name in directory.names() if name.startswith(folder))
    for parent, group in groupby(names, key=lambda name: name[: name.rfind("/") + 1]):
        while page := [name[len(parent) :] for name in islice(group, PAGE)]:
            token.check()
            yield parent, page


def list_reader(reader: StoreReader, token: CancelToken) -> Iterator[Listed]:
    """Yield what a reader can list: the objects of an object store."""
    waiting, left = [""], LIMITS.audit_folders
    while waiting and left:
        token.check()
        left -= 1
        folder = waiting.pop()
        names = reader.names(folder)
        if names is None:
            return
        waiting += [f"{folder}{name}/" for name in names.folders]
        for start in range(0, len(names.files), PAGE):
            yield folder, list(names.files[start : start + PAGE])
