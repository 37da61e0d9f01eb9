"""Chunk coordinates as text: the chunk key encodings of Zarr v2 and v3."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")


@dataclass(frozen=True, slots=True)
class ChunkKeyEncoding:
    """How the key of a chunk is written, relative to its array.

    Attributes
    ----------
    name
        ``v2`` (``0.3``) or ``default``, that of Zarr v3 (``c/0/3``).
    separator
        ``.`` or ``/``.
    """

    name: Literal["v2", "default"] = "v2"
    separator: Literal[".", "/"] = "."

    def encode(self, coords: tuple[int, ...]) -> str:
        """Return the key of the chunk at `coords`."""
        text = self.separator.join(map(str, coords))
        if self.name == "v2":
            return text or "0"
        return f"c{self.separator}{text}" if coords else "c"

    def decode(self, key: str, ndim: int | None = None) -> tuple[int, ...] | None:
        """Return the coordinates in `key`, or None where it is not exactly what `encode` would write.

        Parameters
        ----------
        key
            Relative to the array.
        ndim
            Number of dimensions where it is known; the key ``0`` is (0,) without it.
        """
        coords = self._numbers(key)
        if coords == (0,) and ndim == 0 and self.name == "v2":
            return ()
        if coords is None or (ndim is not None and len(coords) != ndim):
            return None
        return coords

    def _numbers(self, key: str) -> tuple[int, ...] | None:
        if self.name == "default":
            if key == "c":
                return ()
            if not key.startswith(f"c{self.separator}"):
                return None
            key = key[2:]
        parts = key.split(self.separator)
        if not all(map(_NUMBER.match, parts)):
            return None
        return tuple(map(int, parts))

    def encode_many(self, coords: npt.NDArray[np.int64]) -> list[str]:
        """Return the key of each row of `coords`, shape (n, ndim)."""
        count, ndim = coords.shape
        if ndim == 0:
            return [self.encode(())] * count
        columns = [map(str, coords[:, axis].tolist()) for axis in range(ndim)]
        join = self.separator.join
        if self.name == "v2":
            return [join(row) for row in zip(*columns, strict=True)]
        start = f"c{self.separator}"
        return [start + join(row) for row in zip(*columns, strict=True)]
