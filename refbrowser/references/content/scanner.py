"""Reads entries of `refs` in blocks by vector operations; what does not fit is left to the exact reader.

The texts of a block are paired by their quotes, and every byte between two texts is compared with what the
first entries have there: a block in which all entries are spaced alike is proved to be JSON by that. An entry
that differs is read exactly where it stands, and the block goes on only if the next entry is where it was
thought to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.references.content.chunk_codes import (
    MOST_DIMENSIONS,
    Rows,
    pack,
    shares_of_first,
    split_key,
)
from refbrowser.references.content.reference_values import (
    BASE64_PREFIX,
    ValueKind,
    decode_base64,
    is_lenient,
)
from refbrowser.references.content.scan_texts import (
    PADDING,
    Layout,
    Strings,
    Words,
    dotted_tails,
    equal_to,
    find_strings,
    heads,
    numbers,
    rows_of_words,
    short_numbers,
    texts_as_words,
)
from refbrowser.references.content.table import ODD, WHOLE, Block, TableBuilder, odd_code, smallest
from refbrowser.references.text.json_text import Incomplete, JsonError, JsonReader

Mask = npt.NDArray[np.bool_]

#: Coordinates longer than this as text are read one key at a time.
_LONGEST_TAIL = 48
_DOT, _SLASH, _ZERO = ord("."), ord("/"), ord("0")


@dataclass
class ScannedKeys:
    """Keys of a block.

    Attributes
    ----------
    start
        Where each key begins, after its quote.
    tail
        Where its coordinates begin.
    separator
        What stands between them, as a byte.
    codes
        Packed coordinates; of odd keys nothing yet.
    odd
        Which keys are no chunk keys.
    """

    start: Rows
    tail: Rows
    separator: npt.NDArray[np.uint8]
    codes: npt.NDArray[np.uint64]
    odd: Mask

    def runs(
        self, start: int, stop: int, strings: Strings, builder: TableBuilder
    ) -> tuple[Rows, npt.NDArray[np.int32]]:
        """Return the first row and the group of each run of rows from `start` to `stop`."""
        part = slice(start, stop)
        begin, separator, odd = self.start[part], self.separator[part], self.odd[part]
        size = np.where(odd, 0, self.tail[part] - begin)
        different = heads(texts_as_words(strings.data, begin, size))
        different[1:] |= (separator[1:] != separator[:-1]) | (odd[1:] != odd[:-1])
        first = np.flatnonzero(different)
        groups = []
        for row in first.tolist():
            if odd[row]:
                groups.append(ODD)
            else:
                prefix = strings.data[begin[row] : begin[row] + size[row]].decode("ascii")
                groups.append(builder.group_number((prefix, chr(separator[row]))))
        return first, np.array(groups, np.int32)


def scan_keys(strings: Strings, start: Rows, stop: Rows, ok: Mask) -> ScannedKeys:
    """Read the keys from `start` to `stop`; of entries that are not `ok` nothing is asked."""
    array = strings.bytes
    keys = ScannedKeys(
        start, start.copy(), np.full(len(start), _SLASH, np.uint8), np.zeros(len(start), np.uint64), ~ok
    )
    digit = ok & (array[stop - 1] - np.uint8(_ZERO) < 10) & (stop > start)
    keys.odd |= ~digit
    slashed, doubtful = _read_dotted(strings, keys, np.flatnonzero(digit), stop)
    more = _read_slashed(strings, keys, slashed, stop)
    for row in (*doubtful.tolist(), *more.tolist()):
        _read_one(strings, keys, row, int(stop[row]))
    return keys


def _tails(data: bytes, stop: Rows, separator: int) -> tuple[Rows, Rows, npt.NDArray[np.int64]]:
    """Look back from each position over digits and separators.

    Returns how many there are, how far the first separator is (0: there is none), and how many separators.
    """
    length = np.zeros(len(stop), np.int64)
    first = np.zeros(len(stop), np.int64)
    separators = np.zeros(len(stop), np.int64)
    rows = np.arange(len(stop))
    # The bytes before each position; a key so near the beginning of the block is not read here.
    before = rows_of_words(data, np.maximum(stop - _LONGEST_TAIL, 0), _LONGEST_TAIL // 8).view(np.uint8)
    for step in range(1, _LONGEST_TAIL + 1):
        byte = (
            before[rows, _LONGEST_TAIL - step] if len(rows) < len(stop) else before[:, _LONGEST_TAIL - step]
        )
        is_separator = byte == separator
        inside = is_separator | (byte - np.uint8(_ZERO) < 10)
        if not inside.all():
            rows, is_separator = rows[inside], is_separator[inside]
            if not len(rows):
                break
        length[rows] = step
        found = rows[is_separator]
        first[found] = step
        separators[found] += 1
    length[stop < _LONGEST_TAIL] = _LONGEST_TAIL
    return length, first, separators


def _read_dotted(strings: Strings, keys: ScannedKeys, rows: Rows, stop: Rows) -> tuple[Rows, Rows]:
    """Read coordinates with dots, and single ones.

    Returns which rows may have coordinates with slashes, and which are for the exact reader.
    """
    array = strings.bytes
    length, dots = dotted_tails(strings.words, np.maximum(stop[rows], PADDING))
    length[stop[rows] < PADDING] = PADDING  # So near the beginning of the block there is nothing to look at.
    tail = stop[rows] - length
    at_start = tail == keys.start[rows]
    ends_well = (at_start | (array[tail - 1] == _SLASH)) & (length < _LONGEST_TAIL)
    single = dots == 0
    slashed = single & ends_well & ~at_start
    if slashed.any():
        slashed &= array[np.maximum(tail - 2, 0)] - np.uint8(_ZERO) < 10
    good = ends_well & ~slashed
    keys.separator[rows[good & ~single]] = _DOT
    if good.all():
        bad = _read_coords(strings, keys, rows, tail, dots + 1, stop, _DOT)
    else:
        bad = _read_coords(strings, keys, rows[good], tail[good], dots[good] + 1, stop, _DOT)
    # A number at the end of a word is no coordinate (a12); with dots in it only an exact look tells (a1.2).
    word = ~ends_well & single & (length < _LONGEST_TAIL)
    keys.odd[rows[word]] = True
    return rows[slashed], np.concatenate([bad, rows[~ends_well & ~word]])


def _read_slashed(strings: Strings, keys: ScannedKeys, rows: Rows, stop: Rows) -> Rows:
    """Read coordinates with slashes; return which rows are for the exact reader."""
    if not len(rows):
        return rows
    length, first, slashes = _tails(strings.data, stop[rows], _SLASH)
    # What stands before the first slash belongs to a word, unless the key begins with it.
    from_start = stop[rows] - length == keys.start[rows]
    length = np.where(from_start, length, first - 1)
    ndim = np.where(from_start, slashes + 1, slashes)
    fits = length < _LONGEST_TAIL - 1
    tail = stop[rows] - length
    bad = _read_coords(strings, keys, rows[fits], tail[fits], ndim[fits], stop, _SLASH)
    return np.concatenate([bad, rows[~fits]])


def _read_coords(
    strings: Strings, keys: ScannedKeys, rows: Rows, tail: Rows, ndim: Rows, stop: Rows, separator: int
) -> Rows:
    """Read `ndim` coordinates from `tail` on; return the rows that are not written as they would be."""
    if not len(rows):
        return rows
    fits = ndim <= MOST_DIMENSIONS
    packed = np.where(fits, ndim, 1)
    codes = np.zeros(len(rows), np.uint64)
    lowest = bits = codes[:0]  # The first coordinate tells them.
    at, ends = tail.copy(), stop[rows]
    least, most = int(ndim.min()), min(int(ndim.max()), MOST_DIMENSIONS)
    for axis in range(most):
        which: Rows | slice = slice(None) if axis < least else np.flatnonzero(ndim > axis)
        found = short_numbers(strings.words, at[which])
        end = at[which] + found.digits
        good = (found.digits > 0) & (found.digits < 8) & ~found.padded
        if axis == 0:
            lowest, bits, small = shares_of_first(packed, found.value)
        else:
            small = (found.value >> bits[which]) == 0
        good &= small
        if axis + 1 < least:
            good &= found.following == separator
        else:
            last = ndim[which] == axis + 1
            good &= np.where(last, end == ends[which], found.following == separator)
        fits[which] &= good
        codes[which] = (codes[which] << bits[which]) | found.value
        at[which] = end + 1
    keys.codes[rows] = codes | lowest
    keys.tail[rows] = tail
    return rows[~fits]


def _read_one(strings: Strings, keys: ScannedKeys, row: int, stop: int) -> None:
    """Read one key exactly."""
    start = int(keys.start[row])
    key = strings.data[start:stop].decode("ascii", "replace")
    parts = split_key(key)
    code = None if parts is None else pack(parts[1])
    keys.odd[row] = parts is None or code is None
    if parts is not None and code is not None:
        keys.codes[row] = code
        keys.tail[row] = start + len(parts[0][0])
        keys.separator[row] = ord(parts[0][1])


#: Bytes of one block: its columns stay in the processor's cache.
BLOCK = 512 * 1024
#: A block of which more than one entry in this many does not fit is not worth going on with.
_MISFITS = 8
#: Fewer entries than this are not worth the vector operations.
_LEAST = 32

#: Keys and URLs of more bytes are left to the exact reader.
_LONGEST_TEXT = 2048

_ENCODED = BASE64_PREFIX.encode()


@dataclass
class _Rows:
    """The entries of a block, while they are being checked.

    `ok` is which of them fit so far; `listed` which have a list as value.
    """

    key: Rows
    key_stop: Rows
    value: Rows
    value_stop: Rows
    next: Rows
    ok: Mask
    listed: Mask
    offset: Rows
    length: Rows
    control: int = 0


def scan(
    data: bytes, at: int, base: int, builder: TableBuilder, layout: Layout, avoid: tuple[str, ...]
) -> int:
    """Read entries from `at`, the beginning of a key; return how many bytes were taken.

    Parameters
    ----------
    data
        A window of the text.
    base
        Position of its first byte in the text.
    layout
        How the entries of this document are spaced; learned from them.
    avoid
        Keys that are left to the exact reader.
    """
    strings = find_strings(data[at : at + BLOCK])
    if strings is None or strings.rows < _LEAST or strings.quotes[0] != 0:
        return 0
    rows = _match(strings, layout)
    if rows is None:
        return 0
    keys = scan_keys(strings, rows.key + 1, rows.key_stop, rows.ok)
    _avoid(strings, keys, rows, avoid)
    return _Taking(data, at, base, builder, layout, strings, rows, keys).take()


def _match(strings: Strings, layout: Layout) -> _Rows | None:
    """Compare everything between the texts with the layout; None where the entries are spaced otherwise."""
    quotes = strings.quotes
    count = strings.rows
    last = 4 * count
    key, key_stop, value, value_stop = np.ascontiguousarray(quotes[:last].reshape(count, 4).T)
    rows = _Rows(
        key, key_stop, value, value_stop, np.append(key[1:], quotes[last]),
        np.ones(count, bool), np.zeros(count, bool), np.zeros(count, np.int64), np.zeros(count, np.int64),
    )  # fmt: skip
    words = strings.words
    if not layout.is_of(strings.data, rows.key_stop, rows.value, rows.value_stop, rows.next):
        layout.learn(strings.data, rows.key_stop, rows.value, rows.value_stop, rows.next)
    listed = layout.matches(words, rows.key_stop + 1, rows.value, "list")
    rest = np.flatnonzero(~listed)
    rows.listed = listed
    rows.control += (count - len(rest)) * layout.control("list")
    if len(rest):
        text = layout.matches(words, rows.key_stop[rest] + 1, rows.value[rest], "text")
        rows.ok[rest] = text
        rows.control += int(text.sum()) * layout.control("text")
        _match_text(rows, rest[text], words, layout)
    _match_lists(rows, np.flatnonzero(listed) if len(rest) else slice(None), words, layout)
    if not rows.ok.any():
        return None
    rows.ok &= ~strings.bad_rows(rows.listed)
    rows.ok &= rows.key_stop - rows.key <= _LONGEST_TEXT
    rows.ok &= ~rows.listed | (rows.value_stop - rows.value <= _LONGEST_TEXT)
    # What stands between texts is known; any control character more is within a text.
    if not rows.ok.all() or strings.control_bytes(int(rows.next[-1])) != rows.control:
        rows.ok &= ~strings.rows_with_control()
    return rows


def _match_text(rows: _Rows, which: Rows, words: Words, layout: Layout) -> None:
    fits = layout.matches(words, rows.value_stop[which] + 1, rows.next[which], "after text")
    rows.ok[which] = fits
    rows.control += int(fits.sum()) * layout.control("after text")
    rows.offset[which] = rows.value[which]
    rows.length[which] = rows.value_stop[which] - rows.value[which] + 1


def _match_lists(rows: _Rows, which: Rows | slice, words: Words, layout: Layout) -> None:
    """Read the numbers after the URLs."""
    before, between, after = layout.range
    stop = rows.value_stop[which] + 1
    if not len(stop):
        return
    following = rows.next[which]
    ok = equal_to(words, stop, before)
    first = stop + len(before)
    offset, digits, allowed = numbers(words, np.where(ok, first, 0))
    ok &= allowed
    second = first + digits + len(between)
    second[~ok] = len(between)
    ok &= equal_to(words, second - len(between), between)
    length, more, allowed = numbers(words, second)
    ok &= allowed
    end = second + more
    ok &= (end + len(after) == following) & equal_to(words, np.where(ok, end, 0), after)
    control = sum(layout.control_of(text) for text in (before, between, after))
    rows.control += int(ok.sum()) * control
    rest = np.flatnonzero(~ok)
    if len(rest):
        whole = layout.matches(words, stop[rest], following[rest], "after url")
        ok[rest] = whole
        rows.control += int(whole.sum()) * layout.control("after url")
        offset[rest] = 0
        length[rest] = WHOLE
    rows.offset[which] = offset
    rows.length[which] = length
    rows.ok[which] = ok


def _avoid(strings: Strings, keys: ScannedKeys, rows: _Rows, avoid: tuple[str, ...]) -> None:
    if not avoid:
        return
    names = {name.encode() for name in avoid}
    for row in np.flatnonzero(keys.odd).tolist():
        if strings.data[rows.key[row] + 1 : rows.key_stop[row]] in names:
            rows.ok[row] = False


class _Taking:
    """Gives the entries of one block to a builder."""

    def __init__(
        self,
        data: bytes,
        at: int,
        base: int,
        builder: TableBuilder,
        layout: Layout,
        strings: Strings,
        rows: _Rows,
        keys: ScannedKeys,
    ) -> None:
        self._reader = JsonReader(data, base, complete=False)
        self._at = at
        self._builder = builder
        self._layout = layout
        self._strings = strings
        self._rows = rows
        self._keys = keys
        self._exact: list[int] = []
        self._urls = self._find_urls()
        self._kinds = self._find_kinds()

    def _find_urls(self) -> npt.NDArray[np.int32]:
        """Return the number of the URL of each entry; entries that follow one another mostly share it."""
        rows = self._rows
        result = np.zeros(len(rows.ok), np.int32)
        which = np.flatnonzero(rows.listed & rows.ok)
        if not len(which):
            return result
        start = rows.value[which] + 1
        size = rows.value_stop[which] - start
        texts = texts_as_words(self._strings.data, start, size)
        first = np.flatnonzero(heads(texts))
        found = self._layout.known.find(texts[first])
        for at in np.flatnonzero(found < 0).tolist():
            row = first[at]
            found[at] = self._url_number(texts[row : row + 1], int(start[row]), int(size[row]))
        result[which] = np.repeat(found, np.diff(first, append=len(which)))
        return result

    def _url_number(self, text: Words, start: int, size: int) -> int:
        raw = self._strings.data[start : start + size]
        number = self._layout.urls.get(raw)
        if number is None:
            number = self._layout.urls[raw] = self._builder.url_number(raw.decode("ascii"))
        else:
            self._layout.known.add(text, number)  # It comes again: only then it is worth keeping.
        return number

    def _find_kinds(self) -> npt.NDArray[np.int32]:
        """Return the `url` column: numbers of URLs, and the kinds of inline values."""
        rows = self._rows
        column = np.where(rows.listed, self._urls, np.int32(ValueKind.TEXT))
        texts = np.flatnonzero(~rows.listed & rows.ok)
        if not len(texts):
            return column
        encoded = texts[equal_to(self._strings.words, rows.value[texts] + 1, _ENCODED)]
        column[encoded] = ValueKind.BASE64
        for row in encoded.tolist():
            if not self._is_base64(row):
                rows.ok[row] = False
        return column

    def _is_base64(self, row: int) -> bool:
        start = int(self._rows.value[row]) + 1 + len(_ENCODED)
        text = self._strings.data[start : int(self._rows.value_stop[row])]
        try:
            decode_base64(text.decode("ascii"))
        except ValueError:
            return False
        # What is odd about it is for the exact reader to tell.
        return not is_lenient(text.decode("ascii"))

    def take(self) -> int:
        """Give all entries up to the first that spoils what follows; return how many bytes were taken."""
        ok = self._rows.ok
        misfits = np.flatnonzero(~ok).tolist()
        start = 0
        for row in misfits:
            self._give(start, row)
            start = row
            if len(misfits) * _MISFITS > len(ok):
                break
            where = self._read_exactly(row)
            if where is None:
                break
            start = row + 1
            if where != self._original(int(self._rows.next[row])):
                return where
        else:
            self._give(start, len(ok))
            return self._original(int(self._rows.next[-1]))
        return self._original(int(self._rows.key[start]))

    def _original(self, position: int) -> int:
        """Return how far into the block, as it is in the text, a position of the scanned one is."""
        return int(self._strings.original(np.array([position]))[0])

    def _read_exactly(self, row: int) -> int | None:
        """Read one entry exactly; return how far into the block the next one begins, None where it cannot."""
        at = self._at + self._original(int(self._rows.key[row]))
        reader = self._reader
        try:
            member, stop = reader.read_member(at, 2)
            after, ended = reader.after_item(stop, b"}")
        except (Incomplete, JsonError):
            return None
        if ended or after >= len(reader.data):
            return None
        value = member.value
        self._builder.add_member(member, reader.data[value.start - reader.base : value.stop - reader.base])
        return after - self._at

    def _give(self, start: int, stop: int) -> None:
        if start == stop:
            return
        rows, keys, strings = self._rows, self._keys, self._strings
        part = slice(start, stop)
        shift = self._reader.base + self._at
        offset, length = rows.offset[part], rows.length[part]
        inline = np.flatnonzero(~rows.listed[part])
        if len(inline):
            begin = strings.original(offset[inline])
            end = strings.original(offset[inline] + length[inline] - 1) + 1
            offset[inline] = begin + shift
            length[inline] = end - begin
        codes = keys.codes[part]
        odd = np.flatnonzero(keys.odd[part])
        for at in odd.tolist():
            row = start + at
            codes[at] = odd_code(strings.data[rows.key[row] + 1 : rows.key_stop[row]])
        runs, groups = keys.runs(start, stop, strings, self._builder)
        self._builder.add_block(
            Block(
                (strings.original(rows.key[part]) + shift).astype(np.uint32),
                codes,
                self._kinds[part],
                smallest(offset),
                smallest(length),
                runs,
                groups,
            )
        )
