"""Text read eight bytes at a time by numpy: decimal numbers, comparisons, runs of equal text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
