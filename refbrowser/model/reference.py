"""What a chunk's bytes are: one reference, or many as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError


@dataclass(frozen=True, slots=True)
class Inline:
    """Bytes that stand in the document itself."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ByteRange:
    """`length` bytes from byte `offset` of the object at `url`."""

    url: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class WholeFile:
    """The whole object at `url`, of a size that is not known beforehand."""

    url: str


@dataclass(frozen=True, slots=True)
class Missing:
    """No reference: a chunk reads as the fill value."""


Reference = Inline | ByteRange | WholeFile | Missing


class ReferenceKind(IntEnum):
    """The `kind` column of `ReferenceColumns`."""

    MISSING = 0
    INLINE = 1
    RANGE = 2
    WHOLE = 3
    FAULTY = 4
    #: Made from any number of stretches of bytes by the `ArraySource` of the array.
    DERIVED = 5


@dataclass(frozen=True, slots=True)
class ReferenceColumns:
    """References of `n` chunks as columns; no Python object per reference.

    Attributes
    ----------
    kind
        `ReferenceKind` of each row, uint8, shape (n,).
    url
        Position in `urls`, int32, shape (n,); -1 where the row has no URL.
    offset, length
        Bytes, int64, shape (n,); the length of an inline row is that of its decoded bytes where it is known,
        else -1; of a whole file -1.
    urls
        The distinct URLs, as the document spells them after rendering (not resolved).
    inline
        Row to bytes for `INLINE` rows (may be a lazy mapping).
    faults
        Row to error for `FAULTY` rows: the entry is there and cannot be read.
    """

    kind: npt.NDArray[np.uint8]
    url: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    urls: tuple[str, ...]
    inline: Mapping[int, bytes] = field(default_factory=dict)
    faults: Mapping[int, RefbrowserError] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kind)

    def reference(self, row: int) -> Reference:
        """Return row `row` as one reference.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        kind = self.kind[row]
        if kind == ReferenceKind.RANGE:
            return ByteRange(self.urls[self.url[row]], int(self.offset[row]), int(self.length[row]))
        if kind == ReferenceKind.INLINE:
            return Inline(self.inline[row])
        if kind == ReferenceKind.WHOLE:
            return WholeFile(self.urls[self.url[row]])
        if kind == ReferenceKind.FAULTY:
            raise self.faults[row]
        return Missing()
