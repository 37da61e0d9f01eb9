"""The keys of a block of entries as groups and codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.references.chunk_code import BITS, MOST_DIMENSIONS, pack, split_key
from refbrowser.references.groups import Rows
from refbrowser.references.scan_strings import Strings
from refbrowser.references.table import ODD
from refbrowser.references.table_builder import TableBuilder
from refbrowser.references.words import heads

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
        different = heads(strings.words, begin, size)
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
    doubtful = _read_dotted(array, keys, np.flatnonzero(digit), start, stop)
    slashed = doubtful[0]
    rest = [doubtful[1], _read_slashed(array, keys, slashed, start, stop)]
    for row in np.concatenate(rest).tolist():
        _read_one(strings, keys, row, int(stop[row]))
    return keys


def _tails(array: npt.NDArray[np.uint8], stop: Rows, separator: int) -> tuple[Rows, Rows]:
    """Return how many digits and separators stand before each position, and how far the first separator is.

    Of a tail without separators the second is 0.
    """
    length = np.zeros(len(stop), np.int64)
    first = np.zeros(len(stop), np.int64)
    alive = np.arange(len(stop))
    at = stop - 1
    for step in range(1, _LONGEST + 1):
        byte = array[at]
        is_separator = byte == separator
        inside = is_separator | (byte - np.uint8(_ZERO) < 10)
        if not inside.all():
            alive, at, is_separator = alive[inside], at[inside], is_separator[inside]
            if not len(alive):
                break
        length[alive] = step
        first[alive[is_separator]] = step
        at = at - 1
    return length, first


def _read_dotted(
    array: npt.NDArray[np.uint8], keys: ScannedKeys, rows: Rows, start: Rows, stop: Rows
) -> tuple[Rows, Rows]:
    """Read coordinates with dots, and single ones; return which rows may be separated by slashes, or doubtful."""
    length, dots = _tails(array, stop[rows], _DOT)
    tail = stop[rows] - length
    before = array[tail - 1]
    at_start = tail == start[rows]
    ends_well = (at_start | (before == _SLASH)) & (length < _LONGEST)
    single = dots == 0
    folder_is_number = ~at_start & (array[np.maximum(tail - 2, 0)] - np.uint8(_ZERO) < 10)
    slashed = single & ends_well & folder_is_number
    good = ends_well & ~slashed
    keys.separator[rows[good & ~single]] = _DOT
    bad = _read_coords(array, keys, rows[good], tail[good], length[good], _DOT)
    # A tail that begins within a word is no coordinate: a1.2; with a dot in it only an exact look tells.
    keys.odd[rows[~ends_well & single & (length < _LONGEST)]] = True
    unclear = rows[~ends_well & ~(single & (length < _LONGEST))]
    return rows[slashed], np.concatenate([bad, unclear])


def _read_slashed(
    array: npt.NDArray[np.uint8], keys: ScannedKeys, rows: Rows, start: Rows, stop: Rows
) -> Rows:
    """Read coordinates with slashes; return which rows are doubtful."""
    if not len(rows):
        return rows
    length, first = _tails(array, stop[rows], _SLASH)
    # What stands before the first slash belongs to a word, unless the key begins with it.
    length = np.where(stop[rows] - length == start[rows], length, first - 1)
    fits = length < _LONGEST - 1
    bad = _read_coords(array, keys, rows[fits], (stop[rows] - length)[fits], length[fits], _SLASH)
    return np.concatenate([bad, rows[~fits]])


def _read_coords(
    array: npt.NDArray[np.uint8], keys: ScannedKeys, rows: Rows, tail: Rows, length: Rows, separator: int
) -> Rows:
    """Read the coordinates from `tail` on; return the rows whose text is not what they would be written as."""
    if not len(rows):
        return rows
    ndim = np.ones(len(rows), np.int64)
    longest = int(length.max())
    bytes_ = [array[tail + step] for step in range(longest)]
    for step, byte in enumerate(bytes_):
        ndim += (byte == separator) & (step < length)
    fits = ndim <= MOST_DIMENSIONS
    bits = _BITS_OF[np.where(fits, ndim, 1)]
    code = np.minimum(ndim, MOST_DIMENSIONS).astype(np.uint64)
    body = np.zeros(len(rows), np.uint64)
    current = np.zeros(len(rows), np.uint64)
    digits = np.zeros(len(rows), np.int8)
    leading = np.zeros(len(rows), bool)
    for step, byte in enumerate(bytes_):
        inside = step < length
        ends = inside & (byte == separator)
        number = inside & ~ends
        fits &= ~(number & leading) & ~(ends & (digits == 0))
        leading = np.where(ends, False, leading | (number & (digits == 0) & (byte == _ZERO)))
        body = np.where(ends, (body << bits) | current, body)
        fits &= ~(ends & ((current >> bits) != 0))
        current = np.where(number, current * np.uint64(10) + (byte - np.uint8(_ZERO)), current)
        current[ends] = 0
        digits = np.where(ends, 0, digits + number).astype(np.int8)
        fits &= digits <= 18
    fits &= (digits > 0) & ((current >> bits) == 0)
    keys.codes[rows] = (code << np.uint64(BITS)) | (body << bits) | current
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
