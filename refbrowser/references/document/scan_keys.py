"""The keys of a block of entries as groups and codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.references.document.chunk_code import BITS, MOST_DIMENSIONS, pack, split_key
from refbrowser.references.document.groups import Rows
from refbrowser.references.document.scan_strings import Strings
from refbrowser.references.document.table import ODD
from refbrowser.references.document.table_builder import TableBuilder
from refbrowser.references.document.words import (
    PADDING,
    dotted_tails,
    heads,
    rows_of_words,
    short_numbers,
    texts_as_words,
)

Mask = npt.NDArray[np.bool_]

#: Coordinates longer than this as text are read one key at a time.
_LONGEST = 48
_DOT, _SLASH, _ZERO = ord("."), ord("/"), ord("0")
_BITS_OF = np.array([0] + [BITS // ndim for ndim in range(1, MOST_DIMENSIONS + 1)], np.uint64)


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
    before = rows_of_words(data, np.maximum(stop - _LONGEST, 0), _LONGEST // 8).view(np.uint8)
    for step in range(1, _LONGEST + 1):
        byte = before[rows, _LONGEST - step] if len(rows) < len(stop) else before[:, _LONGEST - step]
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
    length[stop < _LONGEST] = _LONGEST
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
    ends_well = (at_start | (array[tail - 1] == _SLASH)) & (length < _LONGEST)
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
    word = ~ends_well & single & (length < _LONGEST)
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
    fits = length < _LONGEST - 1
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
    bits = _BITS_OF[np.where(fits, ndim, 1)]
    body = np.zeros(len(rows), np.uint64)
    at, ends = tail.copy(), stop[rows]
    least, most = int(ndim.min()), min(int(ndim.max()), MOST_DIMENSIONS)
    for axis in range(most):
        which: Rows | slice = slice(None) if axis < least else np.flatnonzero(ndim > axis)
        found = short_numbers(strings.words, at[which])
        end = at[which] + found.digits
        good = (found.digits > 0) & (found.digits < 8) & ~found.padded
        good &= (found.value >> bits[which]) == 0
        if axis + 1 < least:
            good &= found.following == separator
        else:
            last = ndim[which] == axis + 1
            good &= np.where(last, end == ends[which], found.following == separator)
        fits[which] &= good
        body[which] = (body[which] << bits[which]) | found.value
        at[which] = end + 1
    keys.codes[rows] = (ndim.astype(np.uint64) << np.uint64(BITS)) | body
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
