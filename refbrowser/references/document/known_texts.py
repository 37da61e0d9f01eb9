"""Texts that were met before, found again by vector operations and compared in full."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refbrowser.references.document.words import Words

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
