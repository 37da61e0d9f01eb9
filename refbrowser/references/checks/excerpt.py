"""The text of a document around a line and column, bounded, for a person to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.references.document.content import DocumentContent

#: Lines before and after, and bytes of one line before and after the column, that are given.
LINES, WIDTH = 20, 1_500


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a document.

    Attributes
    ----------
    lines
        Number and text of each; `…` stands where a line is cut.
    row, column
        Which of the lines was asked for, and the character in its text, both counted from 0.
    """

    lines: tuple[tuple[int, str], ...]
    row: int
    column: int


def excerpt(
    document: DocumentContent, line: int, column: int, pause: Callable[[], None] = lambda: None
) -> Excerpt:
    """Return the lines around a place; line and column count from 1, columns in characters.

    Parameters
    ----------
    pause
        Called for each piece of the text; may raise to end the work.
    """
    first, last = max(1, line - LINES), line + LINES
    # Bytes to characters: a column is at most four bytes each.
    most = 4 * (column + WIDTH)
    kept: dict[int, bytearray] = {}
    number = 1
    for chunk in document.to_chunks():
        pause()
        ends = chunk.count(b"\n")
        if number + ends < first:
            number += ends
            continue
        parts = bytes(chunk).split(b"\n")
        for at, part in enumerate(parts):
            if first <= number <= last:
                room = kept.setdefault(number, bytearray())
                room += part[: max(0, (most if number == line else WIDTH + 1) - len(room))]
            number += at < len(parts) - 1
        if number > last:
            break
    return _cut(kept, line, column)


def _cut(kept: dict[int, bytearray], line: int, column: int) -> Excerpt:
    lines: list[tuple[int, str]] = []
    row = place = 0
    for number, data in sorted(kept.items()):
        text = bytes(data).decode("utf-8", "replace").rstrip("\r")
        if number == line:
            start = max(0, column - 1 - WIDTH)
            row, place = len(lines), column - 1 - start + (1 if start else 0)
            text = ("…" if start else "") + text[start:]
        else:
            text = text if len(data) <= WIDTH else text[: WIDTH - 1] + "…"
        lines.append((number, text))
    return Excerpt(tuple(lines), row, place)
