"""Many texts as one buffer and offsets (as Arrow has them), made from integer columns, no str per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.references.dimensions import Int64

Bytes = npt.NDArray[np.uint8]

_BLOCK = 4
#: Line feed, else NUL.
_SEPARATORS = (10, 0)
_ZERO = ord("0")
_MINUS = ord("-")


@dataclass(frozen=True, slots=True)
class Digits:
    """One piece of each text: an integer column in decimal, padded with zeros to `width` (sign included)."""

    column: Int64
    width: int = 0


@dataclass(frozen=True)
class TextColumn:
    """Texts as UTF-8 in one buffer.

    Attributes
    ----------
    data
        All texts one after the other, uint8, with one separator byte after each.
    offsets
        Where each text begins, int64, shape (n + 1,); text k is ``data[offsets[k] : offsets[k + 1] - 1]``.
    separator
        The byte after each text; no text holds it.
    """

    data: Bytes
    offsets: Int64
    separator: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def texts(self) -> list[str]:
        """All texts as Python strings."""
        found = self.data.tobytes().decode("utf-8", "surrogatepass").split(chr(self.separator))
        found.pop()
        return found


def build(pieces: Sequence[str | Digits], size: int) -> TextColumn:
    """Return `size` texts, each the pieces in order: a constant text, or digits of its row of a column."""
    separator = _separator([piece for piece in pieces if isinstance(piece, str)])
    parts = _merged(pieces, chr(separator))
    widths = [len(part) if isinstance(part, bytes) else part.width for part in parts]
    total = sum(widths)
    matrix: Bytes = np.empty((size, total), dtype=np.uint8)
    varying: list[tuple[int, _Number]] = []
    position = 0
    for part, width in zip(parts, widths, strict=True):
        target = matrix[:, position : position + width]
        if isinstance(part, bytes):
            target[:] = np.frombuffer(part, dtype=np.uint8)
        else:
            part.write(target)
            if part.lengths is not None:
                varying.append((position, part))
        position += width
    if not varying:
        return TextColumn(matrix.reshape(-1), np.arange(size + 1, dtype=np.int64) * total, separator)
    mask = np.ones((size, total), dtype=bool)
    lengths = np.full(size, total, dtype=np.int64)
    for position, number in varying:
        assert number.lengths is not None
        spare = number.width - number.lengths
        np.greater_equal(
            np.arange(number.width), spare[:, None], out=mask[:, position : position + number.width]
        )
        lengths -= spare
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return TextColumn(matrix[mask], offsets, separator)


class _Number:
    """A column of integers as digits, right-aligned in the width of the longest."""

    def __init__(self, column: Int64, width: int) -> None:
        low, high = int(column.min()), int(column.max())
        self._column = column
        self._magnitude = np.abs(column) if low < 0 else column
        self._padding = width
        self._negative = column < 0 if low < 0 else None
        self.width = max(width, len(str(high)), len(str(low)))
        shortest = 1 if low < 0 < high or low == 0 else min(len(str(low)), len(str(high)))
        #: Characters of each text, or None where all have the whole width.
        self.lengths = (
            None if self._negative is None and max(shortest, width) == self.width else self._lengths()
        )

    def _lengths(self) -> Int64:
        powers = np.array([10**power for power in range(1, 19)], dtype=np.int64)
        lengths = np.searchsorted(powers[: self.width], self._magnitude, side="right") + 1
        if self._negative is not None:
            lengths += self._negative
        return np.maximum(lengths, self._padding)

    def write(self, target: Bytes) -> None:
        """Write the digits into a matrix of shape (n, width); what is not text is for the caller to mask."""
        rest = self._magnitude
        stop = self.width
        while stop > 0:
            start = max(0, stop - _BLOCK)
            if start > 0 or stop > _BLOCK:
                rest, low = np.divmod(rest, 10**_BLOCK)
            else:
                low = rest
            digits = _table()[low]
            target[:, start:stop] = digits[:, _BLOCK - (stop - start) :]
            stop = start
        if self._negative is not None:
            assert self.lengths is not None
            rows = np.flatnonzero(self._negative)
            target[rows, self.width - self.lengths[rows]] = _MINUS


@cache
def _table() -> Bytes:
    numbers = np.arange(10**_BLOCK)
    return np.stack(
        [numbers // 10**power % 10 + _ZERO for power in range(_BLOCK - 1, -1, -1)], axis=1
    ).astype(np.uint8)


def _merged(pieces: Sequence[str | Digits], separator: str) -> list[bytes | _Number]:
    """Join constant neighbours; digits of a column that does not change are constant."""
    parts: list[bytes | _Number] = []
    for piece in (*pieces, separator):
        if isinstance(piece, Digits):
            first = int(piece.column[0]) if len(piece.column) else 0
            if len(piece.column) and not (piece.column == first).all():
                parts.append(_Number(piece.column, piece.width))
                continue
            text = f"{first:0{piece.width}d}" if piece.width else str(first)
        else:
            text = piece
        data = text.encode("utf-8", "surrogatepass")
        if parts and isinstance(parts[-1], bytes):
            parts[-1] += data
        else:
            parts.append(data)
    return parts


def separable(text: str) -> bool:
    """Whether a constant text can stand in a column: some byte must be left to separate the texts."""
    return not any(chr(byte) in text for byte in _SEPARATORS[1:])


def _separator(texts: list[str]) -> int:
    """Return an ASCII byte that is in none of the texts and no digit."""
    return _SEPARATORS[0] if not any(chr(_SEPARATORS[0]) in text for text in texts) else _SEPARATORS[1]
