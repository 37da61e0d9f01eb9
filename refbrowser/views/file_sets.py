"""Files that were opened together: one row of the tree, of which those are read that are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import count

from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

_numbers = count(1)
#: Paths that a tip names.
_NAMED = 3
#: What a path that is whole has not: most are, and there may be very many.
_UNSETTLED = re.compile(r"//|/\.\.?(/|\Z)|/\Z")


class FileSet:
    """Paths and URLs that were opened together, in their order.

    Attributes
    ----------
    number
        No two share one.
    folder
        The one that has all of them, or one above it; empty where there is none.
    title
        What it is called: how many files, and where.
    marks
        What was found in files that are not open, in words, by path: how an audit of all ended.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.number = next(_numbers)
        self.paths = tuple(dict.fromkeys(map(whole_path, paths)))
        self.marks: dict[str, str] = {}
        self._places = {path: place for place, path in enumerate(self.paths)}
        self.folder = _folder(self.paths)
        where = os.path.basename(self.folder)
        files = counted_spaced(len(self.paths), "file")
        self.title = one_line(f"{files} in {where}" if where else files)

    def place(self, path: str) -> int | None:
        """Return which of its files a path is; None for none."""
        return self._places.get(path)

    @property
    def tip(self) -> str:
        """Where the files are, and the first of them by name."""
        names = [os.path.basename(path.rstrip("/")) or path for path in self.paths[:_NAMED]]
        more = len(self.paths) - len(names)
        lines = [self.folder, *names, *([f"and {counted_spaced(more, 'more', 'more')}"] if more else [])]
        return "\n".join(one_line(line) for line in lines if line)


def whole_path(path: str) -> str:
    """Return a path as documents have it: whole, and a URL as it is."""
    if "://" in path or (path.startswith("/") and not _UNSETTLED.search(path)):
        return path
    return os.path.abspath(os.path.expanduser(path))


def _folder(paths: Sequence[str]) -> str:
    if any("://" in path for path in paths):
        return ""
    try:
        # What the first and the last in their order share, all share.
        return os.path.commonpath([os.path.dirname(min(paths)), os.path.dirname(max(paths))])
    except ValueError:
        # On several drives.
        return ""
