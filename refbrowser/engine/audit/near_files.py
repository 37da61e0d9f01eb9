"""Files of the document's own folder whose names are like that of a file that is gone."""

from __future__ import annotations

import difflib
import os
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.findings.chunk_table import ChunkTable, Ints
from refbrowser.errors import RefbrowserError, quoted

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: Files that are listed, folders below each other, and files of a folder whose names are compared.
_FILES, _DEPTH, _COMPARED = 20_000, 6, 2_000
#: How alike names are to be, from 0 to 1: to be told, and to be tried.
_ALIKE, _TRIED = 0.8, 0.6
#: Files of one name, or of names alike, that one may be.
_MOST = 3
#: Files of which it is looked what names are like theirs: that takes some milliseconds for each.
_LOOKED_AT = 200


def may_hold(size: int, table: ChunkTable, rows: Ints) -> bool:
    """Tell whether a file of so many bytes may be the one that rows of a table lead into.

    That the last range begins where the file ends may have another cause: offsets shifted by a chunk.
    """
    offset, length = table.offset[rows], table.length[rows]
    ends = offset + np.maximum(length, 0)
    if not len(ends) or ends.max() <= size:
        return size >= 0
    last = int(ends.argmax())
    of_array = offset[table.owner[rows] == table.owner[rows[last]]]
    return bool(ends[last] - size == length[last] <= of_array.min())


class NearFiles:
    """The files in the folder of a local document and below, which it may read without being asked.

    Links are not followed. Of other documents there are none.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._base = "" if access.from_network else access.base or ""
        self._left = _LOOKED_AT

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        """Their names by folder, which is named from that of the document on, with ``/`` at its end."""
        found: dict[str, list[str]] = {}
        if not self._base:
            return found
        count = 0
        for folder, folders, names in os.walk(self._base):
            inner = os.path.relpath(folder, self._base)
            parts = [] if inner == os.curdir else inner.split(os.sep)
            if len(parts) >= _DEPTH:
                folders.clear()
            folders.sort()
            found["".join(f"{part}/" for part in parts)] = sorted(names)
            count += len(names)
            if count > _FILES:
                break
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Their paths from the folder on, with ``/`` between, by their names."""
        found: dict[str, list[str]] = {}
        for folder, names in self._by_folder.items():
            for name in names:
                found.setdefault(name, []).append(f"{folder}{name}")
        return found

    def named(self, url: str) -> str | None:
        """Return the one file that has the same name; None where there is none, or several are."""
        same = self._by_name.get(url.rpartition("/")[2], [])
        return same[0] if len(same) == 1 else None

    def size(self, path: str) -> int:
        """Return how large a file is, whose path is given from the folder on; -1 where that is not known."""
        try:
            return os.stat(os.path.join(self._base, path)).st_size
        except OSError:
            return -1

    def alike(self, url: str) -> str | None:
        """Return the file in the same folder whose name is most alike, where one is."""
        return next(iter(self._alike(url, 1, _ALIKE)), None)

    def _alike(self, path: str, most: int, alike: float) -> list[str]:
        folder, mark, name = path.rpartition("/")
        names = self._by_folder.get(folder + mark, [])
        if not names or self._left <= 0:
            return []
        self._left -= 1
        close = difflib.get_close_matches(name, names[:_COMPARED], most, alike)
        return [f"{folder}{mark}{each}" for each in close]

    def advice(self, url: str) -> str:
        """Return in words what file it may be."""
        same = self.named(url)
        if same is not None:
            return f"{quoted(same)} has the same name: point there if it is the right file"
        near = self.alike(url)
        return "" if near is None else f"there is {quoted(near)}: a template, rule or key may be misspelt"

    def below(self, url: str) -> str | None:
        """Return the path from the folder of the document on that a URL ends with; None where it has none."""
        if not self._base:
            return None
        try:
            path = os.path.relpath(self._access.locate(url).path, self._base).replace(os.sep, "/")
        except (RefbrowserError, ValueError):
            return None
        return path if url.endswith(path) and not path.startswith("../") else None

    def tried(self, path: str) -> list[str]:
        """Return the files that one may be, whose path is given from the folder on: the likeliest first."""
        name = path.rpartition("/")[2]
        same = difflib.get_close_matches(path, self._by_name.get(name, [])[:_COMPARED], _MOST, 0)
        return [*same, *self._alike(path, _MOST, _TRIED)]

    def is_alike(self, path: str, other: str) -> bool:
        """Tell whether a path is so much like another that it may be named as the one that was meant."""
        names = path.rpartition("/")[2], other.rpartition("/")[2]
        return difflib.SequenceMatcher(None, *names).ratio() >= _ALIKE
