"""Ranges of files that a repository takes in: it holds their bytes, as if they stood in the document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.reference import ReferenceColumns, ReferenceKind


@dataclass(frozen=True, slots=True)
class HeldRanges(Mapping[int, bytes]):
    """The bytes of rows, read when they are asked for.

    Attributes
    ----------
    columns
        What lies where.
    rows
        Those that are ranges of files of this computer which are taken in.
    """

    columns: ReferenceColumns
    rows: frozenset[int]

    def __getitem__(self, row: int) -> bytes:
        if row not in self.rows:
            return self.columns.inline[row]
        path = self.columns.urls[int(self.columns.url[row])]
        begin, size = int(self.columns.offset[row]), int(self.columns.length[row])
        try:
            with open(path, "rb") as file:
                file.seek(begin)
                data = file.read(size)
        except OSError as error:
            raise RefbrowserError(ErrorKind.IO, "own chunks cannot be read", Place(path=path)) from error
        if len(data) != size:
            raise RefbrowserError(ErrorKind.IO, "own chunks are cut off", Place(path=path))
        return data

    def __iter__(self) -> Iterator[int]:
        yield from self.rows
        yield from self.columns.inline

    def __len__(self) -> int:
        return len(self.rows) + len(self.columns.inline)


def held_columns(columns: ReferenceColumns, taken_in: Collection[str]) -> ReferenceColumns:
    """Return references with those to some files as if their bytes stood in the document."""
    numbers = [number for number, url in enumerate(columns.urls) if url in taken_in]
    if not numbers:
        return columns
    held = np.isin(columns.url, numbers)
    return replace(
        columns,
        kind=np.where(held, ReferenceKind.INLINE, columns.kind).astype(np.uint8),
        url=np.where(held, -1, columns.url).astype(np.int32),
        inline=HeldRanges(columns, frozenset(np.flatnonzero(held).tolist())),
    )
