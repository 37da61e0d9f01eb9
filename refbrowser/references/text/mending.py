"""Makes JSON of a text that is almost JSON, where what is meant is certain; all else of it stays as it is.

What people and programs write: commas before closing brackets, too many or too few commas, comments, strings
in single quotes, words of Python, tabs in strings, and the end of a file that was cut off. Nothing is
guessed: where a text could mean two things, or would still be no JSON, there is no mending.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import BYTE_ORDER_MARK
from refbrowser.words import counted_plain


class MendKind(StrEnum):
    """What is mended; the value is one of them in words."""

    SPARE = "comma too many"
    MISSING = "missing comma"
    COMMENT = "comment"
    QUOTES = "text in single quotes"
    WORD = "word of Python"
    CONTROL = "control character in text"
    CUT = "end that was cut off"


#: In words: what is done about so many of a kind.
_DONE = {
    MendKind.SPARE: ("remove", "comma too many", "commas too many"),
    MendKind.MISSING: ("add", "missing comma", "missing commas"),
    MendKind.COMMENT: ("remove", "comment", "comments"),
    MendKind.QUOTES: ("put", "text in double quotes", "texts in double quotes"),
    MendKind.WORD: ("spell", "word of Python as JSON does", "words of Python as JSON does"),
    MendKind.CONTROL: ("escape", "control character", "control characters"),
}
#: Tokens between two looks at whether the work is still wanted, and entries that are passed over at once.
_PAUSED = 4096


@dataclass(frozen=True, slots=True)
class Mended:
    """A text that was mended.

    Attributes
    ----------
    data
        All of it.
    counts
        How much of each kind was mended.
    left_out
        Bytes at the end that are left out, as what they begin is not there.
    """

    data: bytes
    counts: dict[MendKind, int]
    left_out: int = 0

    @property
    def words(self) -> str:
        """What was done, as a sentence without a full stop."""
        done = []
        for kind, (verb, one, many) in _DONE.items():
            if count := self.counts.get(kind, 0):
                done.append(f"{verb} {counted_plain(count, one, many)}")
        if MendKind.CUT in self.counts:
            left = f", without the last {counted_plain(self.left_out, 'byte')}" if self.left_out else ""
            done.append(f"close what is open at the end{left}")
        words = ", ".join(done)
        return words[:1].upper() + words[1:]


class _NoMendingError(Exception):
    """What is meant is not certain."""


_TOKENS = re.compile(
    rb"""(?P<space>[ \t\r\n]++)
    |(?P<string>"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+")
    |(?P<control>"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+")
    |(?P<quotes>'[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+')
    |(?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)
    |(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.]))
    |(?P<word>-?[A-Za-z]++(?!\w))
    |(?P<mark>[{}\[\]:,])
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = rb'"[^"\\\x00-\x1f]*+"'
#: Entries of the two common shapes that follow each other, with a key behind them.
_ENTRIES = re.compile(
    rb"(?:\s*+" + _PLAIN + rb"\s*+:\s*+(?:\[\s*+" + _PLAIN + rb"\s*+,\s*+[0-9]++\s*+,\s*+[0-9]++\s*+\]|"
    + _PLAIN + rb')\s*+,(?=\s*+")){1,4096}'
)  # fmt: skip
_WORDS = {b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"}
_PYTHON = {b"True": b"true", b"False": b"false", b"None": b"null", b"nan": b"NaN", b"inf": b"Infinity"}
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|(.))|(\")|([\x00-\x1f])", re.DOTALL)
_CLOSING = {ord("{"): b"}", ord("["): b"]"}

#: What may come next: a key, a colon, a value, what follows a value, an item, or nothing.
_FIRST_KEY, _KEY, _COLON, _VALUE, _AFTER, _FIRST_ITEM, _ITEM, _END = range(8)


class _Mender:
    """Goes through a text once, and notes what is to be other bytes."""

    def __init__(self, data: bytes, pause: Callable[[], None]) -> None:
        self._data, self._pause = data, pause
        self._splices: list[tuple[int, int, bytes]] = []
        self._counts: Counter[MendKind] = Counter()
        self._open: list[int] = []
        self._next = _VALUE
        #: Where the last value, bracket or comma ended, and the last comma.
        self._behind = 0
        self._comma = -1
        #: Of each open bracket: where its last whole member or item ended, and the one before that.
        self._whole: list[tuple[int, int]] = []

    def mend(self) -> Mended | None:
        """Return the mended text; None where nothing is to be mended."""
        data = self._data
        at = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
        number = 0
        while at < len(data):
            number += 1
            if number % _PAUSED == 0:
                self._pause()
            if self._next in (_FIRST_KEY, _KEY) and (entries := _ENTRIES.match(data, at)) is not None:
                self._pause()
                at = entries.end()
                self._comma, self._next, self._behind = at - 1, _KEY, at
                self._whole[-1] = (at - 1, at - 1)
                continue
            token = _TOKENS.match(data, at)
            if token is None:
                at = self._cut_within(at)
                break
            self._take(token.lastgroup or "", token.group(), at, token.end())
            at = token.end()
        left_out = 0
        if self._open:
            left_out = self._close()
        elif self._next != _END:
            raise _NoMendingError
        if not self._splices:
            return None
        return Mended(self._spliced(), dict(self._counts), left_out)

    def _spliced(self) -> bytes:
        parts: list[bytes] = []
        at = 0
        for start, stop, new in sorted(self._splices, key=lambda splice: splice[:2]):
            parts += (self._data[at:start], new)
            at = max(at, stop)
        parts.append(self._data[at:])
        return b"".join(parts)

    def _note(self, kind: MendKind, start: int, stop: int, new: bytes) -> None:
        self._counts[kind] += 1
        self._splices.append((start, stop, new))

    def _take(self, group: str, token: bytes, start: int, stop: int) -> None:
        if group == "space":
            return
        if group == "comment":
            # A comment between two words must not join them.
            self._note(MendKind.COMMENT, start, stop, b"")
            return
        if group == "mark":
            self._take_mark(token[0], start, stop)
            return
        if group in ("quotes", "control"):
            kind = MendKind.QUOTES if group == "quotes" else MendKind.CONTROL
            self._note(kind, start, stop, b'"' + _ESCAPE.sub(_escaped, token[1:-1]) + b'"')
        elif group == "word" and token in _PYTHON:
            self._note(MendKind.WORD, start, stop, _PYTHON[token])
        elif group == "word" and token not in _WORDS:
            raise _NoMendingError
        self._take_value(start, stop, is_text=group in ("string", "quotes", "control"))

    def _take_value(self, start: int, stop: int, *, is_text: bool) -> None:
        """Take a key or a value that is no list or object."""
        self._add_comma(is_text=is_text)
        if self._next in (_FIRST_KEY, _KEY):
            if not is_text:
                raise _NoMendingError
            self._next = _COLON
        elif self._next in (_VALUE, _FIRST_ITEM, _ITEM):
            self._ended(stop)
        else:
            raise _NoMendingError
        self._behind = stop

    def _add_comma(self, *, is_text: bool) -> None:
        """Add the comma that is missing where a value has ended and another one, or a key, follows."""
        if self._next != _AFTER or not self._open:
            return
        is_object = self._open[-1] == ord("{")
        if is_object and not is_text:
            raise _NoMendingError
        self._note(MendKind.MISSING, self._behind, self._behind, b",")
        self._next = _KEY if is_object else _ITEM

    def _ended(self, stop: int) -> None:
        """Note that a value ends."""
        self._behind = stop
        self._next = _AFTER if self._open else _END
        if self._whole:
            self._whole[-1] = (stop, self._whole[-1][0])

    def _take_mark(self, mark: int, start: int, stop: int) -> None:
        if mark in b"{[":
            self._add_comma(is_text=False)
            if self._next not in (_VALUE, _FIRST_ITEM, _ITEM) or len(self._open) >= LIMITS.json_nesting:
                raise _NoMendingError
            self._open.append(mark)
            self._whole.append((stop, stop))
            self._next = _FIRST_KEY if mark == ord("{") else _FIRST_ITEM
            self._behind = stop
        elif mark in b"}]":
            self._take_closing(mark, stop)
        elif mark == ord(":"):
            if self._next != _COLON:
                raise _NoMendingError
            self._next, self._behind = _VALUE, stop
        elif self._next == _AFTER:
            self._next = _KEY if self._open[-1] == ord("{") else _ITEM
            self._comma, self._behind = start, stop
        elif self._next in (_KEY, _ITEM, _FIRST_KEY, _FIRST_ITEM):
            self._note(MendKind.SPARE, start, stop, b"")
        else:
            raise _NoMendingError

    def _take_closing(self, mark: int, stop: int) -> None:
        if not self._open or _CLOSING[self._open[-1]][0] != mark:
            raise _NoMendingError
        if self._next in (_KEY, _ITEM):
            self._note(MendKind.SPARE, self._comma, self._comma + 1, b"")
        elif self._next not in (_AFTER, _FIRST_KEY, _FIRST_ITEM):
            raise _NoMendingError
        self._open.pop()
        self._whole.pop()
        self._ended(stop)

    # A text that was cut off

    def _cut_within(self, at: int) -> int:
        """Return the end of the text where it was cut within a string, a number or a comment."""
        rest = self._data[at:]
        is_string = rest[:1] in (b'"', b"'") and rest.count(b"\n") == 0
        if not self._open or not is_string or len(rest) > LIMITS.inline_value:
            raise _NoMendingError
        self._next = _VALUE
        return len(self._data)

    def _close(self) -> int:
        """Close what is open, without the member that is not whole; return how many bytes are left out."""
        size = len(self._data)
        while self._open and self._open[-1] != ord("{"):
            # Of a list nobody knows whether its last item is whole: the member that it belongs to is not.
            self._open.pop()
            self._whole.pop()
            self._next = _VALUE
        if not self._open:
            raise _NoMendingError
        # A number at the very end may go on; a string or a closing bracket does not.
        last, before = self._whole[-1]
        is_whole = self._next != _AFTER or self._data[last - 1] in b"\"'}]"
        kept = last if is_whole else before
        closing = b"".join(_CLOSING[mark] for mark in reversed(self._open))
        self._counts[MendKind.CUT] += 1
        self._splices = [splice for splice in self._splices if splice[1] <= kept]
        self._splices.append((kept, size, closing))
        left_out = self._data[kept:].strip(b" \t\r\n,")
        return len(left_out)


def _escaped(found: re.Match[bytes]) -> bytes:
    """Return what is escaped in a string as JSON escapes it."""
    code, escaped, quote, control = found.groups()
    if code is not None:
        return b"\\u00" + code
    if quote is not None:
        return b'\\"'
    if control is not None:
        return b"\\u%04x" % control[0]
    return b"'" if escaped == b"'" else b"\\" + escaped


def mended(data: bytes, pause: Callable[[], None] = lambda: None) -> Mended | None:
    """Return a text as JSON, where it is certain what was meant; None where it is not, or it is JSON.

    Whoever takes it parses it: what is wrong beside what can be mended is found then.

    Parameters
    ----------
    pause
        Called often; may raise to end the work.
    """
    try:
        return _Mender(data, pause).mend()
    except _NoMendingError:
        return None
