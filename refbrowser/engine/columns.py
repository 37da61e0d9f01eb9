"""References as columns: made from single ones, and rows taken from others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place, RefbrowserError
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Missing,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)


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


def without(columns: ReferenceColumns, rows: npt.NDArray[np.int64]) -> ReferenceColumns:
    """Return the references with those at `rows` missing; the others keep their row."""
    kind = columns.kind.copy()
    kind[rows] = ReferenceKind.MISSING
    return replace(columns, kind=kind)


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
    found = Place(key=key, path=path)
    if columns.url[row] >= 0:
        found = replace(found, url=columns.urls[columns.url[row]])
        if columns.length[row] >= 0 and columns.kind[row] == ReferenceKind.RANGE:
            start = int(columns.offset[row])
            found = replace(found, start=start, stop=start + int(columns.length[row]))
    place = replace(
        place,
        key=place.key or found.key,
        path=place.path or found.path,
        url=place.url or found.url,
        start=found.start if place.start is None else place.start,
        stop=found.stop if place.start is None else place.stop,
    )
    return RefbrowserError(error.kind, error.message, place, error.advice)
