"""Stored bytes of local files, read by the thread that copies them, with one call for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.io.access import Access, Location
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity
from refbrowser.io.local import open_regular
from refbrowser.model.reference import ReferenceColumns, ReferenceKind


def read_local(
    columns: ReferenceColumns,
    access: Access,
    take: Callable[[int, bytes], None],
    token: CancelToken,
    size_limit: int,
) -> list[int]:
    """Read the rows of `columns` that are in local files, and return those that were.

    What is longer than `size_limit` is not read. What cannot be read just so is left for the fetcher, which
    knows the words for every fault.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    done: list[int] = []
    for location, rows in _files(columns, access):
        token.check()
        for row, data in _rows(location, rows, columns, access, size_limit):
            take(row, data)
            done.append(row)
    return done


def _rows(
    location: Location, rows: list[int], columns: ReferenceColumns, access: Access, size_limit: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of the rows of one file that can be read."""
    with ExitStack() as stack:
        try:
            descriptor, identity = stack.enter_context(open_regular(location.path))
            access.memory.identities.confirm(location.url, identity.as_object())
        except RefbrowserError:
            return
        for row in rows:
            try:
                data = _read(descriptor, identity, columns, row, size_limit)
                same = FileIdentity.of(os.fstat(descriptor)) == identity
            except OSError:
                continue
            if data is not None and same:
                yield row, data


def _read(
    descriptor: int, identity: FileIdentity, columns: ReferenceColumns, row: int, size_limit: int
) -> bytes | None:
    """Return the bytes of a row, None where it is not all there."""
    whole = columns.kind[row] == ReferenceKind.WHOLE
    start = 0 if whole else int(columns.offset[row])
    size = identity.size if whole else int(columns.length[row])
    if start < 0 or not 0 <= size <= size_limit or start + size > identity.size:
        return None
    data = os.pread(descriptor, size, start)
    return data if len(data) == size else None


def _files(columns: ReferenceColumns, access: Access) -> Iterator[tuple[Location, list[int]]]:
    """Yield each local file that may be read, with the rows that are in it."""
    kinds = (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
    remote = np.flatnonzero(kinds)
    order = remote[np.argsort(columns.url[remote], kind="stable")]
    cuts = np.flatnonzero(np.diff(columns.url[order])) + 1
    for rows in np.split(order, cuts) if len(order) else ():
        try:
            location = access.resolve(columns.urls[columns.url[rows[0]]])
        except RefbrowserError:
            continue
        # Where in its archive a zip member lies only the fetcher finds out.
        if location.origin.scheme == "file" and not location.member:
            yield location, rows.tolist()
