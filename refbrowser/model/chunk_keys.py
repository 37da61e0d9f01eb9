"""Chunk coordinates as text: the chunk key encodings of Zarr v2, v3 and its drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")
#: Keys of a row of chunks that are made together, at least, in the mean.
_FEW = 16


#: The key of the one chunk of a 0-d array.
_SCALARS = {"v2": "0", "draft": "c0", "default": "c"}


@dataclass(frozen=True, slots=True)
class ChunkKeyEncoding:
    """How the key of a chunk is written, relative to its array.

    Attributes
    ----------
    name
        ``v2`` (``0.3``; also that of the v3 draft of 2019), ``draft`` (``c0/3``, the drafts of 2020) or
        ``default``, that of Zarr v3 (``c/0/3``).
    separator
        ``.`` or ``/``; in drafts ``-`` and ``_`` too.
    scalar
        The key of the one chunk of a 0-d array; None for the usual one.
    """

    name: Literal["v2", "draft", "default"] = "v2"
    separator: Literal[".", "/", "-", "_"] = "."
    scalar: str | None = None

    def encode(self, coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at `coords`."""
        return self.spelled(list(map(str, coords)))

    def spelled(self, parts: Sequence[str]) -> str:
        """Return the key of a chunk whose coordinates are given as texts, which may be templates."""
        if not parts:
            return _SCALARS[self.name] if self.scalar is None else self.scalar
        return self._start + self.separator.join(parts)

    def decode(self, key: str, ndim: int | None = None) -> tuple[int, ...] | None:
        """Return the coordinates in `key`, or None where it is not exactly what `encode` would write.

        Parameters
        ----------
        key
            Relative to the array.
        ndim
            Number of dimensions where it is known; without it a key that is that of a 0-d array and of
            another counts as the other: ``0`` is (0,).
        """
        coords = self._numbers(key)
        if (ndim == 0 or (ndim is None and coords is None)) and key == self.encode(()):
            return ()
        if coords is None or (ndim is not None and len(coords) != ndim):
            return None
        return coords

    @property
    def _start(self) -> str:
        """What stands before the first coordinate."""
        if self.name == "v2":
            return ""
        return "c" if self.name == "draft" else f"c{self.separator}"

    def _numbers(self, key: str) -> tuple[int, ...] | None:
        if not key.startswith(self._start):
            return None
        parts = key[len(self._start) :].split(self.separator)
        if not all(map(_NUMBER.match, parts)):
            return None
        return tuple(map(int, parts))

    def encode_many(self, coords: npt.NDArray[np.int64], head: str = "", tail: str = "") -> list[str]:
        """Return the key of each row of `coords`, shape (n, ndim).

        Parameters
        ----------
        head, tail
            What stands before and behind each.
        """
        count, ndim = coords.shape
        if ndim == 0 or not count:
            return [head + self.encode(()) + tail] * count
        head += self._start
        while ndim > 1 and (coords[:, ndim - 1] == coords[0, ndim - 1]).all():
            ndim -= 1
            tail = f"{self.separator}{coords[0, ndim]}{tail}"
        leading, endings = coords[:, : ndim - 1], _with_tail(coords[:, ndim - 1], tail)
        # Chunks that follow one another differ mostly in one coordinate alone.
        stops = [*(np.flatnonzero((leading[1:] != leading[:-1]).any(axis=1)) + 1).tolist(), count]
        if len(stops) > count // _FEW:
            columns = [map(str, leading[:, axis].tolist()) for axis in range(ndim - 1)]
            join = self.separator.join
            return [head + join(row) for row in zip(*columns, endings, strict=True)]
        found: list[str] = []
        for start, stop in zip([0, *stops], stops, strict=False):
            begin = head + "".join(f"{at}{self.separator}" for at in leading[start].tolist())
            found += [begin + ending for ending in endings[start:stop]]
        return found


def _with_tail(numbers: npt.NDArray[np.int64], tail: str) -> list[str]:
    """Return numbers as texts with something behind each; each that is there more than once is made once."""
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= len(numbers):
        return [f"{number}{tail}" for number in numbers.tolist()]
    texts = [f"{number}{tail}" for number in range(least, most + 1)]
    return [texts[at] for at in (numbers - least).tolist()]
