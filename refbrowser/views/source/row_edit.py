"""Rows of a text as they are edited, and the bytes that what is typed stands for: all others stay."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.references.edits.text_patch import TextPatch
    from refbrowser.views.source.text_rows import TextRows

#: Bytes that are edited together at most, and characters of one line of them.
EDITED, LONGEST = 1 << 17, 20_000
#: Lines times lines that are compared one by one.
_COMPARED = 4_000_000
_INDENT, _DEEPEST = "  ", 60
_STRING_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*+"?)|\s+')
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class EditedLine:
    """One line as it is edited.

    Attributes
    ----------
    text
        What is typed over.
    body, tail
        The bytes that it stands for, and the space behind them.
    offsets
        For each character of the text, and its end, its byte in the body; None where some stand for others.
    """

    text: str
    body: bytes
    tail: bytes
    offsets: Sequence[int] | None

    @property
    def size(self) -> int:
        """How many bytes it stands for, with the space behind it."""
        return len(self.body) + len(self.tail)

    def typed(self, text: str) -> bytes:
        """Return the bytes of what is typed over it: those at both ends stay where the text is the same."""
        offsets = self.offsets
        if offsets is None:
            return text.encode("utf-8", "surrogatepass")
        room = min(len(text), len(self.text))
        first = next((at for at in range(room) if text[at] != self.text[at]), room)
        room -= first
        behind = next((at for at in range(room) if text[-1 - at] != self.text[-1 - at]), room)
        middle = text[first : len(text) - behind].encode("utf-8", "surrogatepass")
        return self.body[: offsets[first]] + middle + self.body[offsets[len(self.text) - behind] :]


@dataclass(frozen=True)
class EditedRows:
    """Rows of a text that are edited together.

    Attributes
    ----------
    start, stop
        Their bytes.
    is_laid_out
        Whether they are rows of a layout, not the lines themselves.
    """

    start: int
    stop: int
    lines: tuple[EditedLine, ...]
    is_laid_out: bool

    @property
    def text(self) -> str:
        """What is typed over at first."""
        return "\n".join(line.text for line in self.lines)

    @property
    def data(self) -> bytes:
        """The bytes of the rows."""
        return b"".join(line.body + line.tail for line in self.lines)

    def position(self, character: int) -> int:
        """Return at which byte of the text the line of a character of the field begins."""
        number = self.text.count("\n", 0, character)
        return self.start + sum(line.size for line in self.lines[:number])

    def character(self, position: int) -> int:
        """Return the character of the field that a byte of the text belongs to."""
        at, character = self.start, 0
        for line in self.lines:
            if position < at + line.size:
                offsets = line.offsets or ()
                return character + max(0, bisect_right(offsets, position - at) - 1)
            at += line.size
            character += len(line.text) + 1
        return max(0, character - 1)

    def patch(self, typed: str, title: str) -> TextPatch:
        """Return the edit that what is typed stands for: lines that are as they were give their bytes."""
        # Not before: drafts are known without NumPy.
        from refbrowser.references.edits.text_patch import smallest_patch

        return smallest_patch(self.data, self._bytes(typed.split("\n")), title, self.start)

    def _bytes(self, typed: Sequence[str]) -> bytes:
        made: list[bytes] = []
        for body, tail in self._lines(typed):
            made += (body, tail if tail or self.is_laid_out else b"\n")
        if made:
            made[-1] = self.lines[-1].tail
        return b"".join(made)

    def _lines(self, typed: Sequence[str]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the bytes of each line that is typed, and the space behind it."""
        old = [line.text for line in self.lines]
        for first, last, begin, end in _changes(old, typed):
            is_same = typed[begin:end] == old[first:last]
            for number, text in enumerate(typed[begin:end]):
                place = min(first + number, max(last - 1, first - 1, 0))
                line = self.lines[place]
                if is_same:
                    yield line.body, line.tail
                elif first + number < last:
                    yield line.typed(text), line.tail
                elif text.strip() or not self.is_laid_out:
                    text = text.strip() if self.is_laid_out else text
                    yield text.encode("utf-8", "surrogatepass"), line.tail


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield which lines became which, in order, those that are the same too."""
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    behind = 0
    while behind < min(len(old), len(new)) - first and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    last, end = len(old) - behind, len(new) - behind
    yield 0, first, 0, first
    if (last - first) * (end - first) <= _COMPARED:
        matcher = SequenceMatcher(None, old[first:last], new[first:end], autojunk=False)
        for _kind, one, other, begin, stop in matcher.get_opcodes():
            yield first + one, first + other, first + begin, first + stop
    else:
        yield first, last, first, end
    yield last, len(old), end, len(new)


class NotEditableError(Exception):
    """Rows cannot be edited as text; the message says why."""


def edited_rows(rows: TextRows, first: int, last: int, *, is_laid_out: bool) -> EditedRows:
    """Return the rows from `first` to `last`, that included, as they are edited.

    Raises
    ------
    NotEditableError
        They are too long, or no UTF-8.
    """
    # A line may go on for as many rows as there are.
    most = rows.span(first).start - EDITED, rows.span(last).stop + EDITED
    while first and rows.span(first).goes_on and rows.span(first).start >= most[0]:
        first -= 1
    while last + 1 < rows.count and rows.span(last + 1).goes_on and rows.span(last).stop <= most[1]:
        last += 1
    start, stop = rows.span(first).start, rows.span(last).stop
    if stop - start > EDITED:
        raise NotEditableError("This is too long to be edited as text: choose a smaller part of it.")
    depth = min((rows.span(row).depth for row in range(first, last + 1)), default=0)
    lines = []
    row = first
    while row <= last:
        span = rows.span(row)
        end = row + 1
        while end <= last and rows.span(end).goes_on:
            end += 1
        data = rows.text.read(span.start, rows.span(end - 1).stop)
        lines.append(_laid_out_line(data, span.depth - depth) if is_laid_out else _plain_line(data))
        row = end
    if lines and lines[-1].tail and not is_laid_out:
        lines.append(EditedLine("", b"", b"", (0,)))
    if max((len(line.text) for line in lines), default=0) > LONGEST:
        raise NotEditableError("A line of this is too long to be edited as text.")
    return EditedRows(start, stop, tuple(lines), is_laid_out)


def _plain_line(data: bytes) -> EditedLine:
    body = data.rstrip(b"\r\n")
    text = _decoded(body)
    return _as_typed(text, body, data[len(body) :], _offsets(text))


def _laid_out_line(data: bytes, depth: int) -> EditedLine:
    """Return a row of a layout: indented, with one space for each run of them outside of strings."""
    body = data.rstrip(_SPACE)
    whole = _decoded(body)
    places = _offsets(whole)
    lead = len(whole) - len(whole.lstrip())
    indent = _INDENT * min(depth, _DEEPEST)
    shown, offsets = [indent], [places[lead]] * len(indent)
    at = lead
    for found in _STRING_OR_SPACE.finditer(whole, lead):
        if found[1] is None:
            shown.append(whole[at : found.start()] + " ")
            offsets += [*places[at : found.start()], places[found.start()]]
            at = found.end()
    shown.append(whole[at:])
    offsets += places[at:]
    return _as_typed("".join(shown), body, data[len(body) :], offsets)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotEditableError("This holds bytes that are no UTF-8.") from None


def _offsets(text: str) -> Sequence[int]:
    """Return the byte of each character, and of the end."""
    if text.isascii():
        return range(len(text) + 1)
    return [*accumulate((len(character.encode("utf-8")) for character in text), initial=0)]


def _as_typed(text: str, body: bytes, tail: bytes, offsets: Sequence[int]) -> EditedLine:
    if all(map(_can_stand, text)):
        return EditedLine(text, body, tail, offsets)
    typed = "".join(character if _can_stand(character) else _escaped(character) for character in text)
    return EditedLine(typed, body, tail, None)


def _can_stand(character: str) -> bool:
    return character.isprintable() or character in "\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"


def _escaped(character: str) -> str:
    """Return a character that cannot be seen, or turns the order of text, as JSON spells it in ASCII."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def rows_around(rows: TextRows, position: int, most: int = EDITED) -> tuple[int, int]:
    """Return the first and last row of what is edited at a byte.

    That is the whole text where it is small; else the list or object that begins in the row of the byte, or
    else this row.
    """
    if rows.text.size <= most and rows.is_complete:
        return 0, rows.count - 1
    row = rows.row_at(position)
    if rows.opens(row):
        end = rows.end_of(row)
        if rows.span(end).stop - rows.span(row).start <= most:
            return row, end
    return row, row
