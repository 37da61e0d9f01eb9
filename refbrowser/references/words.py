"""Text read eight bytes at a time by numpy: decimal numbers, comparisons, runs of equal text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Bytes that must follow a text that is read in words.
PADDING = 64
#: Longest number that `numbers` reads.
MOST_DIGITS = 16

_ZEROS = np.uint64(0x3030303030303030)
_NOT_DIGIT = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0x0101010101010101)
_POWERS = 10 ** np.arange(9, dtype=np.uint64)
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], np.uint64)


def words_of(data: bytes) -> Words:
    """Return a view of `data` whose item k is the eight bytes from k on, the first one lowest."""
    return np.ndarray((len(data) - 7,), np.dtype("<u8"), buffer=data, strides=(1,))


def _digits(word: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the number that each word begins with, and of how many digits (0 to 8) it is."""
    plain = word ^ _ZEROS
    other = ((plain + _NOT_DIGIT) | plain) & _HIGH
    first = other & (~other + np.uint64(1))
    below = (((first - np.uint64(1)) & _LOW) * _LOW) >> np.uint64(56)
    count = below.astype(np.int64) - 1
    count[other == 0] = 8
    value = plain << (np.uint64(64) - (count.astype(np.uint64) << np.uint64(3)))
    value[count == 0] = 0
    value = (value * np.uint64(2561)) >> np.uint64(8)
    value = ((value & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    value = ((value & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return value, count


def short_numbers(words: Words, at: Positions) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the decimal numbers at positions, and of how many digits each is; 8 may be cut short."""
    return _digits(words[at])


def numbers(words: Words, at: Positions) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the decimal numbers at positions, and of how many digits each is.

    A count of 0 is no number; one of `MOST_DIGITS` may be cut short.
    """
    value, count = _digits(words[at])
    long = np.flatnonzero(count == 8)
    if len(long):
        more, digits = _digits(words[at[long] + 8])
        value[long] = value[long] * _POWERS[digits] + more
        count[long] += digits
    return value.astype(np.int64), count


def equal_to(words: Words, at: Positions, text: bytes) -> npt.NDArray[np.bool_]:
    """Return at which positions `text` stands."""
    result = np.ones(len(at), bool)
    for start in range(0, len(text), 8):
        part = text[start : start + 8]
        wanted = np.uint64(int.from_bytes(part, "little"))
        result &= (words[at + start] & _MASKS[len(part)]) == wanted
    return result


def heads(words: Words, start: Positions, size: Positions) -> npt.NDArray[np.bool_]:
    """Return which texts differ from the one before; the first one does."""
    result = np.ones(len(start), bool)
    if len(start) < 2:
        return result
    differs = size[1:] != size[:-1]
    longest = int(size.max())
    for offset in range(0, longest, 8):
        rest = np.clip(size - offset, 0, 8)
        word = words[start + np.minimum(offset, size)] & _MASKS[rest]
        differs |= word[1:] != word[:-1]
    result[1:] = differs
    return result
