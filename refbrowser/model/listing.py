"""What a listing of a store found: which chunks are there, and what is there that belongs to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import CHUNK_OUTSIDE_GRID, KEY_NO_CHUNK

Ints = npt.NDArray[np.int64]
#: Why a key below an array belongs to nothing.
OUTSIDE = "the chunk is outside the array's chunk grid"
NO_CHUNK = "the key is not a chunk of its array"
#: The kinds of findings that say so.
STRAY_KINDS = {OUTSIDE: CHUNK_OUTSIDE_GRID, NO_CHUNK: KEY_NO_CHUNK}


@dataclass(frozen=True, slots=True, eq=False)
class ListedChunks:
    """The chunks of one array that a store holds.

    Attributes
    ----------
    stored
        How many there are.
    bits
        One bit for each chunk of the grid in C order, the lowest first; None where the grid is too large.
    """

    grid_shape: tuple[int, ...]
    stored: int
    bits: npt.NDArray[np.uint8] | None = None

    @property
    def total(self) -> int:
        """Chunks of the grid."""
        return prod(self.grid_shape)

    @property
    def missing(self) -> int:
        """Chunks that are not stored."""
        return self.total - self.stored

    def has(self, coords: Ints) -> npt.NDArray[np.bool_]:
        """Return which of the chunks at `coords`, shape (n, ndim), are stored; where not known, all."""
        if not self.missing:
            return np.ones(len(coords), bool)
        if self.bits is None:
            return np.full(len(coords), self.stored > 0)
        flat = flat_index(coords, self.grid_shape)
        return (self.bits[flat >> 3] >> (flat & 7).astype(np.uint8)) & 1 == 1

    def rows(self, start: int, stop: int) -> Ints:
        """Return which of the chunks numbered `start` to `stop` in C order are stored."""
        if not self.missing:
            return np.arange(start, stop, dtype=np.int64)
        if self.bits is None:
            return np.zeros(0, np.int64)
        first = start >> 3
        bits = np.unpackbits(self.bits[first : (stop + 7) >> 3], bitorder="little")
        return start + np.flatnonzero(bits[start - 8 * first : stop - 8 * first])


@dataclass(frozen=True, slots=True, eq=False)
class StoreListing:
    """What was found by listing a store.

    Attributes
    ----------
    chunks
        By what stands before the keys of an array's chunks: ``temp/``.
    findings
        Stray keys, names that differ by case only, and what is wrong with the container.
    keys
        How many there are.
    """

    chunks: Mapping[str, ListedChunks] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    keys: int = 0


class StoreFacts:
    """What is known of a store beside its metadata; it is learned while the store is open.

    Attributes
    ----------
    listing
        None until the store was listed, and where it cannot be.
    """

    def __init__(self) -> None:
        self.listing: StoreListing | None = None


def flat_index(coords: Ints, grid_shape: tuple[int, ...]) -> Ints:
    """Return the number in C order of chunks at `coords`, shape (n, ndim)."""
    flat = np.zeros(len(coords), np.int64)
    for axis, length in enumerate(grid_shape):
        flat = flat * length + coords[:, axis]
    return flat
