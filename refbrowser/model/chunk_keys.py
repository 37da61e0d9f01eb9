"""Chunk coordinates as text: the chunk key encodings of Zarr v2, v3 and its drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")


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

    def encode_many(self, coords: npt.NDArray[np.int64]) -> list[str]:
        """Return the key of each row of `coords`, shape (n, ndim)."""
        count, ndim = coords.shape
        if ndim == 0:
            return [self.encode(())] * count
        columns = [map(str, coords[:, axis].tolist()) for axis in range(ndim)]
        start, join = self._start, self.separator.join
        return [start + join(row) for row in zip(*columns, strict=True)]
