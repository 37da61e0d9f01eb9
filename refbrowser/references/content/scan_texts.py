"""The texts of a block of JSON by vector operations: where quotes are, how entries are spaced, what was met.

Text is read eight bytes at a time by numpy: decimal numbers, comparisons, runs of equal text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from refbrowser.references.content.chunk_codes import Rows

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: Bytes that must follow a text that is read in words.
PADDING = 64
#: Longest number that `numbers` reads.
MOST_DIGITS = 16

#: Words of one text that are read together; no more than `PADDING` bytes.
_AT_ONCE = 8

_ZEROS = np.uint64(0x3030303030303030)
_NOT_DIGIT = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0x0101010101010101)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_ALMOST = np.uint64(0x7F7F7F7F7F7F7F7F)
_POWERS = 10 ** np.arange(9, dtype=np.uint64)
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], np.uint64)


def words_of(data: bytes) -> Words:
    """Return a view of `data` whose item k is the eight bytes from k on, the first one lowest."""
    return np.ndarray((len(data) - 7,), np.dtype("<u8"), buffer=data, strides=(1,))


def rows_of_words(data: bytes, at: Positions, count: int) -> Words:
    """Return `count` words from each position on, shape (n, count): one copy for all of them."""
    size = 8 * count
    windows = np.ndarray((len(data) - size + 1,), np.dtype((np.void, size)), buffer=data, strides=(1,))
    return windows[at].view("<u8").reshape(len(at), count)


def _digits(word: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the number that each word begins with, and of how many digits (0 to 8) it is."""
    plain = word ^ _ZEROS
    other = ((plain + _NOT_DIGIT) | plain) & _HIGH
    # All bits below the first byte that is no digit, one for each byte: their sum is in the highest byte.
    below = (((other - np.uint64(1)) & ~other & _LOW) * _LOW) >> np.uint64(56)
    count = below.astype(np.int64) - (other != 0)
    value = plain << (np.uint64(64) - (count.astype(np.uint64) << np.uint64(3)))
    value = (value * np.uint64(2561)) >> np.uint64(8)
    value = ((value & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    value = ((value & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return value, count


def _digits_of_half(half: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Do the same for words of four bytes."""
    plain = half ^ np.uint32(0x30303030)
    other = ((plain + np.uint32(0x76767676)) | plain) & np.uint32(0x80808080)
    below = (((other - np.uint32(1)) & ~other & np.uint32(0x01010101)) * np.uint32(0x01010101)) >> np.uint32(
        24
    )
    count = below - (other != 0)
    value = plain << (np.uint32(32) - (count << np.uint32(3)))
    value = (value * np.uint32(2561)) >> np.uint32(8)
    value = ((value & np.uint32(0x00FF00FF)) * np.uint32(6553601)) >> np.uint32(16)
    return value, count


@dataclass(frozen=True, slots=True)
class ShortNumbers:
    """Decimal numbers of up to seven digits.

    Attributes
    ----------
    value, digits
        The numbers, and of how many digits each is; 8 digits may be cut short.
    padded
        Which begin with a zero and go on.
    following
        The byte after each.
    """

    value: Words
    digits: npt.NDArray[np.int64]
    padded: Mask
    following: Words


def short_numbers(words: Words, at: Positions) -> ShortNumbers:
    """Return the decimal numbers at positions."""
    word = words[at]
    half, count = _digits_of_half(word.astype(np.uint32))
    value, digits = half.astype(np.uint64), count.astype(np.uint64)
    long = np.flatnonzero(count == 4)
    if len(long):
        value[long], more = _digits(word[long])
        digits[long] = more.astype(np.uint64)
    padded = ((word & np.uint64(0xFF)) == np.uint64(0x30)) & (digits > 1)
    following = (word >> (digits << np.uint64(3))) & np.uint64(0xFF)
    return ShortNumbers(value, digits.astype(np.int64), padded, following)


def dotted_tails(words: Words, stop: Positions) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return how many digits and dots stand before each position, and how many of them are dots.

    At least `PADDING` bytes must stand before each; texts that are longer than that are cut.
    """
    length, dots = _tail_of_word(words[stop - 8])
    rest = np.flatnonzero(length == 8)
    for back in range(16, PADDING + 1, 8):
        if not len(rest):
            break
        more, more_dots = _tail_of_word(words[stop[rest] - back])
        length[rest] += more
        dots[rest] += more_dots
        rest = rest[more == 8]
    return length, dots


def _tail_of_word(word: Words) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    word = word.byteswap()
    plain = word ^ _ZEROS
    other = (plain + _NOT_DIGIT) | plain
    dot = ~(((word ^ _DOTS) + _ALMOST) | (word ^ _DOTS)) & _HIGH
    outside = other & _HIGH & ~dot
    inside = (outside - np.uint64(1)) & ~outside
    length = (((inside & _LOW) * _LOW) >> np.uint64(56)).astype(np.int64) - (outside != 0)
    dots = ((((dot & inside) >> np.uint64(7)) * _LOW) >> np.uint64(56)).astype(np.int64)
    return length, dots


def numbers(words: Words, at: Positions) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Mask]:
    """Return the decimal numbers at positions, of how many digits each is, and whether JSON allows it.

    A number of `MOST_DIGITS` may be cut short: it counts as not allowed.
    """
    word = words[at]
    value, count = _digits(word)
    long = np.flatnonzero(count == 8)
    if len(long):
        more, digits = _digits(words[at[long] + 8])
        value[long] = value[long] * _POWERS[digits] + more
        count[long] += digits
    padded = ((word & np.uint64(0xFF)) == np.uint64(0x30)) & (count > 1)
    return value.astype(np.int64), count, (count > 0) & (count < MOST_DIGITS) & ~padded


def equal_to(words: Words, at: Positions, text: bytes) -> Mask:
    """Return at which positions `text` stands."""
    result = np.ones(len(at), bool)
    for start in range(0, len(text), 8):
        part = text[start : start + 8]
        wanted = np.uint64(int.from_bytes(part, "little"))
        result &= (words[at + start] & _MASKS[len(part)]) == wanted
    return result


def texts_as_words(data: bytes, start: Positions, size: Positions) -> Words:
    """Return texts as words, shape (n, words of the longest), zero where a text has ended."""
    count = max(1, (int(size.max()) + 7) // 8) if len(size) else 1
    result = np.empty((len(start), count), np.uint64)
    for column in range(0, count, _AT_ONCE):
        more = min(_AT_ONCE, count - column)
        result[:, column : column + more] = rows_of_words(data, start + np.minimum(8 * column, size), more)
    for column in range(int(size.min()) // 8 if len(size) else 0, count):
        result[:, column] &= _MASKS[np.clip(size - 8 * column, 0, 8)]
    return result


def heads(texts: Words) -> Mask:
    """Return which texts (as words) differ from the one before; the first one does."""
    result = np.ones(len(texts), bool)
    if len(texts) > 1:
        differs = texts[1:, 0] != texts[:-1, 0]
        for column in range(1, texts.shape[1]):
            differs |= texts[1:, column] != texts[:-1, column]
        result[1:] = differs
    return result


#: Bits of the hash that choose a place.
_BITS = 16
#: Texts that are kept; a document that has more finds the rest one by one.
_MOST = 8192
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class KnownTexts:
    """Texts as words (see `texts_as_words`) to their numbers."""

    def __init__(self) -> None:
        self._places = np.full(1 << _BITS, -1, np.int32)
        self._texts = np.zeros((16, 1), np.uint64)
        self._widths = np.zeros(16, np.int64)
        self._numbers = np.zeros(16, np.int32)
        self._count = 0

    @staticmethod
    def _places_of(texts: Words) -> npt.NDArray[np.int64]:
        found = texts[:, 0] * _FACTOR
        for column in range(1, texts.shape[1]):
            # A word of zeros, after the end of a text, must leave the hash as it is.
            found ^= (texts[:, column] * _FACTOR) >> np.uint64(column % 8)
        found ^= found >> np.uint64(29)
        found *= _FACTOR
        return (found >> np.uint64(64 - _BITS)).astype(np.int64)

    def find(self, texts: Words) -> npt.NDArray[np.int32]:
        """Return the number of each text, -1 for those that are not known."""
        place = self._places[self._places_of(texts)]
        width = texts.shape[1]
        known = (place >= 0) & (self._widths[place] <= width)
        for column in range(min(width, self._texts.shape[1])):
            known &= self._texts[place, column] == texts[:, column]
        for column in range(self._texts.shape[1], width):
            known &= texts[:, column] == 0
        return np.where(known, self._numbers[place], np.int32(-1)).astype(np.int32)

    def add(self, text: Words, number: int) -> None:
        """Keep one text, shape (1, words), unless there are too many or its place is taken."""
        place = int(self._places_of(text)[0])
        if self._count == _MOST or self._places[place] >= 0:
            return
        width = len(np.trim_zeros(text[0], "b"))
        if self._count == len(self._texts) or width > self._texts.shape[1]:
            self._grow(width)
        self._texts[self._count, :width] = text[0, :width]
        self._widths[self._count] = width
        self._numbers[self._count] = number
        self._places[place] = self._count
        self._count += 1

    def _grow(self, width: int) -> None:
        rows, columns = self._texts.shape
        rows = 2 * rows if self._count == rows else rows
        texts = np.zeros((rows, max(columns, width)), np.uint64)
        texts[: self._count, :columns] = self._texts[: self._count]
        self._texts = texts
        self._widths = np.resize(self._widths, rows)
        self._numbers = np.resize(self._numbers, rows)


_QUOTE, _BACKSLASH, _SLASH = 34, 92, 47
_AFTER_BACKSLASH = np.zeros(256, bool)
_AFTER_BACKSLASH[list(b'"\\/bfnrt')] = True


@dataclass
class Strings:
    r"""A block and its quotes.

    Attributes
    ----------
    data
        The block with ``\/`` written as ``/``, and some bytes more that mean nothing.
    size
        Bytes of it that count.
    quotes
        Positions of the quotes, opening and closing in turn.
    removed
        Where, in `data`, a backslash was taken out.
    suspicious
        Positions in `data` that make a text one for the exact reader: bytes that are not ASCII, escapes that
        are not valid or give more than ASCII.
    escapes
        Positions of all other backslashes.
    """

    data: bytes
    size: int
    quotes: Rows
    removed: Rows
    suspicious: Rows
    escapes: Rows

    @property
    def rows(self) -> int:
        """Number of entries of two texts each after which another text begins."""
        return (len(self.quotes) - 1) // 4

    @cached_property
    def words(self) -> Words:
        """The block, eight bytes from each position on."""
        return words_of(self.data)

    @cached_property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The block as numbers."""
        return np.frombuffer(self.data, np.uint8)

    def original(self, positions: Rows) -> Rows:
        """Return where positions of `data` are in the block as it was."""
        if not len(self.removed):
            return positions
        return positions + self.removed.searchsorted(positions, side="right")

    def bad_rows(self, listed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which entries are for the exact reader; an escape matters in keys and in URLs."""
        bad = self._rows_with(self.suspicious)
        if len(self.escapes):
            text = self.quotes.searchsorted(self.escapes)
            row = np.minimum(text // 4, self.rows - 1)
            inside = (text // 4 < self.rows) & (text % 2 == 1)
            bad[row[inside & ((text % 4 == 1) | listed[row])]] = True
        return bad

    def _rows_with(self, positions: Rows) -> npt.NDArray[np.bool_]:
        """Return which entries have one of these positions within a text."""
        bad = np.zeros(self.rows, bool)
        if len(positions):
            text = self.quotes.searchsorted(positions)
            bad[text[(text // 4 < self.rows) & (text % 2 == 1)] // 4] = True
        return bad

    def rows_with_control(self) -> npt.NDArray[np.bool_]:
        """Return which entries have a control character within a text."""
        return self._rows_with(np.flatnonzero(self.bytes[: self.size] < 32))

    def control_bytes(self, stop: int) -> int:
        """Return how many control characters stand before a position."""
        return int(np.count_nonzero(self.bytes[:stop] < 32))


def find_strings(block: bytes) -> Strings | None:
    """Find the texts of a block that begins outside of any; None where its quotes do not pair."""
    none = np.zeros(0, np.int64)
    data, removed = block, none
    has_escapes = b"\\" in block  # One byte is sought ten times faster than two.
    if has_escapes and b"\\/" in block:
        data, removed = _without_escaped_slashes(block)
    size = len(data)
    data += bytes(PADDING)
    array = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(array == _QUOTE)
    suspicious = escapes = none
    if has_escapes and b"\\" in data:
        escapes, suspicious, escaped = _escapes(array)
        if len(escaped):
            quotes = quotes[~np.isin(quotes, escaped, assume_unique=True)]
    if not data.isascii():
        suspicious = np.sort(np.concatenate([suspicious, np.flatnonzero(array >= 0x80)]))
    return Strings(data, size, quotes, removed, suspicious, escapes) if len(quotes) > 4 else None


def text_quotes(data: bytes) -> Rows:
    """Return the quotes of texts, opening and closing in turn; `data` begins outside of any."""
    array = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(array == _QUOTE)
    escaped = _escapes(array)[2] if b"\\" in data else quotes[:0]
    return quotes[~np.isin(quotes, escaped, assume_unique=True)] if len(escaped) else quotes


def _without_escaped_slashes(block: bytes) -> tuple[bytes, Rows]:
    r"""Return the block with ``\/`` as ``/``, and where in the result a backslash was.

    An even run of backslashes before a slash loses one too; at least one of it stays, and with it the text is
    one for the exact reader or none whose content is looked at.
    """
    array = np.frombuffer(block, np.uint8)
    backslashes = np.flatnonzero(array[:-1] == _BACKSLASH)
    before = backslashes[array[backslashes + 1] == _SLASH]
    return block.replace(b"\\/", b"/"), before - np.arange(len(before))


def _escapes(array: npt.NDArray[np.uint8]) -> tuple[Rows, Rows, Rows]:
    """Return the backslashes, those of them that are suspicious, and the quotes that are escaped."""
    backslashes = np.flatnonzero(array == _BACKSLASH)
    breaks = np.flatnonzero(np.diff(backslashes) != 1) + 1
    starts = backslashes[np.concatenate([[0], breaks])]
    stops = backslashes[np.concatenate([breaks - 1, [len(backslashes) - 1]])] + 1
    after = stops[(stops - starts) % 2 == 1]  # What an odd run escapes.
    escaped = array[after]
    bad = after[~_AFTER_BACKSLASH[escaped]]
    bad = bad[~_is_plain_code(array, bad)]
    return backslashes, bad, after[escaped == _QUOTE]


def _is_plain_code(array: npt.NDArray[np.uint8], at: Rows) -> npt.NDArray[np.bool_]:
    """Return where an escape ``u0000`` to ``u007f`` stands."""
    last = len(array) - 1
    code = [array[np.minimum(at + step, last)] for step in range(5)]
    hexadecimal = ((code[4] >= 48) & (code[4] <= 57)) | (((code[4] | 32) >= 97) & ((code[4] | 32) <= 102))
    result: npt.NDArray[np.bool_] = (
        (code[0] == ord("u"))
        & (code[1] == 48)
        & (code[2] == 48)
        & (code[3] >= 48)
        & (code[3] <= 55)
        & hexadecimal
    )
    return result


Gap = Literal["list", "text", "after text", "after url"]

_SPACE = rb"[ \t\n\r]*"
_GAPS: dict[Gap, re.Pattern[bytes]] = {
    "list": re.compile(_SPACE + b":" + _SPACE + rb"\[" + _SPACE),
    "text": re.compile(_SPACE + b":" + _SPACE),
    "after text": re.compile(_SPACE + b"," + _SPACE),
    "after url": re.compile(_SPACE + rb"\]" + _SPACE + b"," + _SPACE),
}
_RANGE = re.compile(
    b"(" + _SPACE + b"," + _SPACE + b")[0-9]+(" + _SPACE + b"," + _SPACE + b")[0-9]+"
    b"(" + _SPACE + rb"\]" + _SPACE + b"," + _SPACE + b")"
)  # fmt: skip
#: Entries that are looked at to learn.
_SAMPLE = 16


@dataclass
class Layout:
    """What stands between the texts and numbers of entries; learned block by block.

    Attributes
    ----------
    gaps
        Text before a list's URL, before an inline value, and after each.
    range
        Text before, between and after offset and length.
    urls, known
        JSON text of URLs met so far to their number, and the same for many at a time.
    """

    gaps: dict[Gap, bytes] = field(default_factory=dict)
    range: tuple[bytes, bytes, bytes] = (b",", b",", b"],")
    urls: dict[bytes, int] = field(default_factory=dict)
    known: KnownTexts = field(default_factory=KnownTexts)

    def is_of(self, data: bytes, key_stop: Rows, value: Rows, value_stop: Rows, following: Rows) -> bool:
        """Return whether some entries of a block are spaced as this layout has it."""
        if "list" not in self.gaps:
            return False
        count = len(key_stop)
        for row in range(0, count, max(1, count // 4)):
            after = data[value_stop[row] + 1 : following[row]]
            if data[key_stop[row] + 1 : value[row]] != self.gaps["list"] or not _RANGE.fullmatch(after):
                return False
            if not (after.startswith(self.range[0]) and after.endswith(self.range[2])):
                return False
        return True

    def learn(self, data: bytes, key_stop: Rows, value: Rows, value_stop: Rows, following: Rows) -> None:
        """Learn from the first entries of a block, and from those between."""
        count = len(key_stop)
        sample = {*range(min(count, _SAMPLE)), *range(0, count, max(1, count // _SAMPLE))}
        found: dict[Gap, bytes] = {}
        ranges: tuple[bytes, ...] | None = None
        for row in sorted(sample):
            after = data[value_stop[row] + 1 : following[row]]
            self._note(found, data[key_stop[row] + 1 : value[row]], "list", "text")
            self._note(found, after, "after text", "after url")
            match = _RANGE.fullmatch(after) if ranges is None else None
            if match is not None:
                ranges = match.groups()
        self.gaps.update(found)
        if ranges is not None:
            self.range = (ranges[0], ranges[1], ranges[2])

    @staticmethod
    def _note(found: dict[Gap, bytes], text: bytes, *gaps: Gap) -> None:
        for gap in gaps:
            if gap not in found and _GAPS[gap].fullmatch(text):
                found[gap] = text

    def matches(self, words: Words, start: Rows, stop: Rows, gap: Gap) -> npt.NDArray[np.bool_]:
        """Return where what stands from `start` to `stop` is what this layout has there."""
        text = self.gaps.get(gap)
        if text is None:
            return np.zeros(len(start), bool)
        result: npt.NDArray[np.bool_] = (stop - start == len(text)) & equal_to(words, start, text)
        return result

    def control(self, gap: Gap) -> int:
        """Return how many control characters a gap holds."""
        return self.control_of(self.gaps.get(gap, b""))

    @staticmethod
    def control_of(text: bytes) -> int:
        """Return how many control characters a text holds."""
        return sum(byte < 32 for byte in text)
