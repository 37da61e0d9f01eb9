"""Many texts as one buffer and offsets (as Arrow has them), made from integer columns, no str per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refbrowser.references.rules.dimensions import Int64

Bytes = npt.NDArray[np.uint8]

#: Digits that one step writes.
_BLOCK = 4
_BASE = 10**_BLOCK
_ZERO = ord("0")
_MINUS = ord("-")
#: Line feed, else NUL.
_SEPARATORS = (10, 0)
#: Rows that are made at once: few enough to stay in the cache of the processor.
_MOST_ROWS = 1 << 14
#: A column is cut where it changes when its fragments have this many rows on average.
_LONG_RUN = 256


@dataclass(frozen=True, slots=True)
class Digits:
    """One fragment of each text: a column in decimal, padded with zeros to `width` (sign included)."""

    column: Int64
    width: int = 0


@dataclass(frozen=True, slots=True)
class _Run:
    """Texts of some rows, each with its separator: all equal, or in a buffer with their lengths."""

    size: int
    data: Bytes
    lengths: int | Int64
    is_constant: bool


@dataclass(frozen=True)
class TextColumn:
    """Texts in UTF-8, each followed by one separator byte that no text holds.

    Attributes
    ----------
    runs
        The texts in fragments, in order.
    separator
        The byte after each text.
    """

    runs: tuple[_Run, ...]
    separator: int

    def __len__(self) -> int:
        return sum(run.size for run in self.runs)

    @cached_property
    def data(self) -> Bytes:
        """All texts one after the other."""
        if not self.runs:
            return np.zeros(0, dtype=np.uint8)
        return np.concatenate(
            [np.tile(run.data, run.size) if run.is_constant else run.data for run in self.runs]
        )

    @cached_property
    def offsets(self) -> Int64:
        """Where each text begins, shape (n + 1,); text k is ``data[offsets[k] : offsets[k + 1] - 1]``."""
        lengths = [np.broadcast_to(np.int64(run.lengths), (run.size,)) for run in self.runs]
        return np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum()

    @cached_property
    def texts(self) -> list[str]:
        """All texts as Python strings."""
        found: list[str] = []
        for run in self.runs:
            texts = run.data.tobytes().decode("utf-8", "surrogatepass").split(chr(self.separator))
            texts.pop()
            found += texts * run.size if run.is_constant else texts
        return found


def build(fragments: Sequence[str | Digits], size: int) -> TextColumn:
    """Return `size` texts, each the fragments in order: a constant text, or digits of its row of a column."""
    separator = _SEPARATORS[
        any(chr(_SEPARATORS[0]) in fragment for fragment in fragments if isinstance(fragment, str))
    ]
    cuts = _cuts([fragment for fragment in fragments if isinstance(fragment, Digits)], size)
    runs = []
    for start, stop in pairwise(cuts):
        parts = [
            fragment if isinstance(fragment, str) else Digits(fragment.column[start:stop], fragment.width)
            for fragment in fragments
        ]
        runs.append(_run([*parts, chr(separator)], stop - start))
    return TextColumn(tuple(runs), separator)


def separable(text: str) -> bool:
    """Whether a constant text can stand in a column: some byte must be left to separate the texts."""
    return chr(_SEPARATORS[1]) not in text


def _cuts(columns: Sequence[Digits], size: int) -> list[int]:
    """Return where to cut rows into runs: where a column changes, or its number of digits, if seldom."""
    cuts = {*range(0, size, _MOST_ROWS), size}
    if size > _LONG_RUN:
        for digits in columns:
            changes = _changes(digits.column)
            if len(changes) > size // _LONG_RUN:
                changes = _changes(_lengths(digits.column))
            if len(changes) <= size // _LONG_RUN:
                cuts.update(changes.tolist())
    return sorted(cuts)


def _changes(column: Int64) -> Int64:
    return np.flatnonzero(column[1:] != column[:-1]) + 1


def _lengths(column: Int64) -> Int64:
    """Return the digits of each integer, one more where it has a sign."""
    low, high = int(column.min()), int(column.max())
    magnitude = np.abs(column) if low < 0 else column
    shortest = 1 if low <= 0 else len(str(low))
    lengths = np.full(len(column), shortest, dtype=np.int64)
    for digits in range(shortest, len(str(max(high, -low)))):
        lengths += magnitude >= 10**digits
    if low < 0:
        lengths += column < 0
    return lengths


def _run(fragments: Sequence[str | Digits], size: int) -> _Run:
    parts = _merged(fragments)
    if len(parts) == 1 and isinstance(parts[0], bytes):
        return _Run(size, np.frombuffer(parts[0], dtype=np.uint8), len(parts[0]), True)
    row = b"".join(part if isinstance(part, bytes) else bytes(part.width) for part in parts)
    matrix = np.frombuffer(row * size, dtype=np.uint8).reshape(size, len(row)).copy()
    spares: list[tuple[int, int, Int64]] = []
    position = 0
    for part in parts:
        if isinstance(part, bytes):
            position += len(part)
            continue
        part.write(matrix, position)
        if part.spare is not None:
            spares.append((position, part.width, part.spare))
        position += part.width
    if not spares:
        return _Run(size, matrix.reshape(-1), len(row), False)
    mask = np.ones(matrix.shape, dtype=bool)
    lengths = np.full(size, len(row), dtype=np.int64)
    for position, width, spare in spares:
        np.greater_equal(np.arange(width), spare[:, None], out=mask[:, position : position + width])
        lengths -= spare
    return _Run(size, matrix[mask], lengths, False)


def _merged(fragments: Sequence[str | Digits]) -> list[bytes | _Number]:
    """Join constant neighbours; digits of a column that does not change are constant."""
    parts: list[bytes | _Number] = []
    for fragment in fragments:
        if isinstance(fragment, Digits):
            first = int(fragment.column[0])
            if fragment.column[-1] != first or not (fragment.column == first).all():
                parts.append(_Number(fragment))
                continue
            text = f"{first:0{fragment.width}d}" if fragment.width else str(first)
        else:
            text = fragment
        data = text.encode("utf-8", "surrogatepass")
        if parts and isinstance(parts[-1], bytes):
            parts[-1] += data
        else:
            parts.append(data)
    return parts


class _Number:
    """A column of integers as digits, right-aligned in the width of the longest.

    Attributes
    ----------
    width
        Characters of the longest.
    spare
        Characters that each has less than that, or None where all are as long.
    """

    def __init__(self, digits: Digits) -> None:
        column = digits.column
        lengths = np.maximum(_lengths(column), digits.width)
        self.width = int(lengths.max())
        spare = self.width - lengths
        self.spare = spare if spare.any() else None
        self._negative = np.flatnonzero(column < 0)
        magnitude = np.abs(column) if len(self._negative) else column
        self._starts = spare[self._negative]
        # Division of 32 bits takes half the time.
        self._magnitude = magnitude.astype(np.uint32) if int(magnitude.max()) < 2**32 else magnitude

    def write(self, matrix: Bytes, position: int) -> None:
        """Write the digits into columns of a matrix; what stands before the shorter ones is to be masked."""
        size, row = matrix.shape
        rest = self._magnitude
        stop = position + self.width
        while stop - position >= _BLOCK:
            stop -= _BLOCK
            quotient = rest // rest.dtype.type(_BASE)
            words = _words().take(rest - quotient * rest.dtype.type(_BASE))
            # One word for each row, wherever it stands: rows are not aligned to words.
            np.ndarray((size,), np.uint32, matrix, stop, (row,))[:] = words
            rest = quotient
        if stop > position:
            digits = _words().take(rest).view(np.uint8).reshape(size, _BLOCK)
            matrix[:, position:stop] = digits[:, _BLOCK - (stop - position) :]
        matrix[self._negative, position + self._starts] = _MINUS


@cache
def _words() -> npt.NDArray[np.uint32]:
    """Return the digits of the numbers up to 9999, four bytes as one word each."""
    numbers = np.arange(_BASE)
    digits = [numbers // 10**power % 10 + _ZERO for power in range(_BLOCK - 1, -1, -1)]
    return np.ascontiguousarray(np.stack(digits, axis=1).astype(np.uint8)).view(np.uint32).reshape(-1)
