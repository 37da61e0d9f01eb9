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

from refbrowser.references.document.groups import Rows
from refbrowser.references.document.scan_keys import ScannedKeys, scan_keys
from refbrowser.references.document.scan_layout import Layout
from refbrowser.references.document.scan_strings import Strings, find_strings
from refbrowser.references.document.table import WHOLE, odd_code
from refbrowser.references.document.table_builder import Block, TableBuilder, smallest
from refbrowser.references.document.values import BASE64_PREFIX, ValueKind, decode_base64, is_lenient
from refbrowser.references.document.words import Words, equal_to, heads, numbers, texts_as_words
from refbrowser.references.text.json_text import Incomplete, JsonError, JsonReader

Mask = npt.NDArray[np.bool_]

#: Bytes of one block: its columns stay in the processor's cache.
BLOCK = 512 * 1024
#: A block of which more than one entry in this many does not fit is not worth going on with.
_MISFITS = 8
#: Fewer entries than this are not worth the vector operations.
_LEAST = 32

#: Keys and URLs of more bytes are left to the exact reader.
_LONGEST = 2048

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
    rows.ok &= rows.key_stop - rows.key <= _LONGEST
    rows.ok &= ~rows.listed | (rows.value_stop - rows.value <= _LONGEST)
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
