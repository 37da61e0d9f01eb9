"""Files of the document's own folder whose names are like that of a file that is gone."""

from __future__ import annotations

import difflib
import os
from functools import cached_property
from typing import TYPE_CHECKING

from refbrowser.errors import quoted

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: Files that are listed, folders below each other, and files of a folder whose names are compared.
_FILES, _DEPTH, _COMPARED = 20_000, 6, 2_000
#: How alike names are to be, from 0 to 1.
_ALIKE = 0.8


class NearFiles:
    """The files in the folder of a local document and below, which it may read without being asked.

    Links are not followed. Of other documents there are none.
    """

    def __init__(self, access: Access) -> None:
        self._base = "" if access.from_network else access.base or ""

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Their paths from the folder on, with ``/`` between, by their names."""
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
            for name in sorted(names):
                found.setdefault(name, []).append("/".join((*parts, name)))
                count += 1
            if count > _FILES:
                break
        return found

    def named(self, url: str) -> str | None:
        """Return the one file that has the same name; None where there is none, or several are."""
        same = self._by_name.get(url.rpartition("/")[2], [])
        return same[0] if len(same) == 1 else None

    def alike(self, url: str) -> str | None:
        """Return the file in the same folder whose name is most alike, where one is."""
        folder, _, name = url.rpartition("/")
        head = f"{folder}/" if folder else ""
        names = [each for each, paths in self._by_name.items() if f"{head}{each}" in paths]
        close = difflib.get_close_matches(name, names[:_COMPARED], 1, _ALIKE)
        return f"{head}{close[0]}" if close else None

    def advice(self, url: str) -> str:
        """Return in words what file it may be."""
        same = self.named(url)
        if same is not None:
            return f"{quoted(same)} has the same name: lead there if that is the file"
        near = self.alike(url)
        return "" if near is None else f"there is {quoted(near)}: a template, rule or key may be misspelt"
