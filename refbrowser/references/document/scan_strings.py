"""The texts of a block of JSON: where their quotes are, and which of them need exact reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.references.document.groups import Rows
from refbrowser.references.document.words import PADDING, Words, words_of

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
