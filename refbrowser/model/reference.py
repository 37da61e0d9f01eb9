"""What a chunk's bytes are: one reference, or many as columns; columns made of single ones and of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    #: Made from any number of ranges of bytes by the `ArraySource` of the array.
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


def taken(columns: ReferenceColumns, rows: npt.NDArray[np.int64]) -> ReferenceColumns:
    """Return the references at `rows` (a row may be taken more than once), in that order."""
    inline, faults = {}, {}
    kinds = columns.kind[rows]
    for place in np.flatnonzero(kinds == ReferenceKind.INLINE).tolist():
        inline[place] = columns.inline[int(rows[place])]
    for place in np.flatnonzero(kinds == ReferenceKind.FAULTY).tolist():
        faults[place] = columns.faults[int(rows[place])]
    return ReferenceColumns(
        kinds, columns.url[rows], columns.offset[rows], columns.length[rows], columns.urls, inline, faults
    )


def joined(parts: Sequence[ReferenceColumns]) -> ReferenceColumns:
    """Return references that name the same URLs, one after the other."""
    if len(parts) == 1:
        return parts[0]
    inline: dict[int, bytes] = {}
    faults: dict[int, RefbrowserError] = {}
    start = 0
    for part in parts:
        inline |= {
            start + row: part.inline[row]
            for row in np.flatnonzero(part.kind == ReferenceKind.INLINE).tolist()
        }
        faults |= {
            start + row: part.faults[row]
            for row in np.flatnonzero(part.kind == ReferenceKind.FAULTY).tolist()
        }
        start += len(part)
    columns = [(part.kind, part.url, part.offset, part.length) for part in parts]
    kind, url, offset, length = (np.concatenate(column) for column in zip(*columns, strict=True))
    return ReferenceColumns(kind, url, offset, length, parts[0].urls, inline, faults)


def without(columns: ReferenceColumns, rows: npt.NDArray[np.int64]) -> ReferenceColumns:
    """Return the references with those at `rows` missing; the others keep their row."""
    kind = columns.kind.copy()
    kind[rows] = ReferenceKind.MISSING
    return replace(columns, kind=kind)


def with_used_urls(columns: ReferenceColumns) -> ReferenceColumns:
    """Return the references with the URLs of their rows only: a document has far more."""
    if len(columns.urls) == len(columns) == 1 and columns.url[0] == 0:
        return columns
    used = np.zeros(len(columns.urls), bool)
    used[columns.url[columns.url >= 0]] = True
    if used.all():
        return columns
    numbers = np.cumsum(used, dtype=np.int32) - 1
    url = np.where(columns.url >= 0, numbers[columns.url], columns.url).astype(np.int32)
    urls = tuple(columns.urls[number] for number in np.flatnonzero(used).tolist())
    return replace(columns, url=url, urls=urls)


def columns_of(references: Iterable[Reference]) -> ReferenceColumns:
    """Return references as columns."""
    urls: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    inline: dict[int, bytes] = {}
    for row, reference in enumerate(references):
        if isinstance(reference, Inline):
            inline[row] = reference.data
            rows.append((ReferenceKind.INLINE, -1, -1, len(reference.data)))
        elif isinstance(reference, ByteRange):
            number = urls.setdefault(reference.url, len(urls))
            rows.append((ReferenceKind.RANGE, number, reference.offset, reference.length))
        elif isinstance(reference, WholeFile):
            rows.append((ReferenceKind.WHOLE, urls.setdefault(reference.url, len(urls)), 0, -1))
        else:
            assert isinstance(reference, Missing)
            rows.append((ReferenceKind.MISSING, -1, -1, -1))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return ReferenceColumns(
        table[:, 0].astype(np.uint8),
        table[:, 1].astype(np.int32),
        table[:, 2].copy(),
        table[:, 3].copy(),
        tuple(urls),
        inline,
    )


def placed(
    error: RefbrowserError, columns: ReferenceColumns, row: int, key: str, path: str
) -> RefbrowserError:
    """Return the error of a row with the chunk's key, path, URL and range, where it does not say them."""
    place = error.place
    url, start, stop = place.url, place.start, place.stop
    if columns.url[row] >= 0:
        url = url or columns.urls[columns.url[row]]
        if start is None and columns.length[row] >= 0 and columns.kind[row] == ReferenceKind.RANGE:
            start = int(columns.offset[row])
            stop = start + int(columns.length[row])
    place = replace(place, key=place.key or key, path=place.path or path, url=url, start=start, stop=stop)
    return RefbrowserError(error.kind, error.message, place, error.advice)
