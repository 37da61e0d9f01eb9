"""The lines of a document around a place in it: what a person would look for in a text editor."""

from __future__ import annotations

import os

from refbrowser.errors import Place, RefbrowserError
from refbrowser.formats.compression import find_compression
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.origins import local_path
from refbrowser.views.words import one_line

#: Lines before and behind that of the place, and characters of a line on either side of it.
_AROUND, _REACH = 2, 28
#: A place further into a file than this, in bytes, is not looked for.
_MOST = 1 << 27


def source_excerpt(path: str, place: Place) -> str:
    """Return the numbered lines around a place, with a mark under it; empty where there are none to show.

    Nothing is raised: the place is told in words, too.

    Parameters
    ----------
    path
        Of the document. Of one that is packed or remote nothing is read.
    place
        With line and column.
    """
    file = local_path(path)
    if file is None or place.line is None or place.column is None or not place.is_in_document:
        return ""
    try:
        lines = _lines(file, place.line)
    except (OSError, RefbrowserError):
        return ""
    column = place.column - 1
    start = max(0, column - _REACH)
    width = len(str(place.line + _AROUND))
    shown = []
    for number, line in lines.items():
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        cut = text[start : start + 2 * _REACH]
        before, behind = "…" if start and text else " ", "…" if len(text) > start + 2 * _REACH else ""
        shown.append(f"{number:>{width}} {before}{one_line(cut)}{behind}")
        if number == place.line:
            shown.append(f"{'':>{width}}  {'':>{column - start}}▲")
    return "\n".join(shown)


def _lines(file: str, line: int) -> dict[int, bytes]:
    """Return a line and those around it, by number; none where it is far into the file, or that is packed."""
    found: dict[int, bytes] = {}
    left = _MOST
    with (
        open_regular(os.path.realpath(file)) as (descriptor, _),
        open(descriptor, "rb", closefd=False) as source,
    ):
        if find_compression(source.read(4)) is not None:
            return {}
        source.seek(0)
        for number in range(1, line + _AROUND + 1):
            read = source.readline(left)
            left -= len(read)
            if left <= 0:
                return {}
            if not read:
                break
            if number >= line - _AROUND:
                found[number] = read
    return found if line in found else {}
