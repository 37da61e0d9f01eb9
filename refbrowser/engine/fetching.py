"""Fetching rows so that each fails for its own reason only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.engine.columns import taken
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.io.segment import short_object
from refbrowser.io.task import Counters, Deliver
from refbrowser.model.reference import ReferenceColumns, ReferenceKind


def fetch_rows(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    access: Access,
    deliver: Deliver,
    *,
    key: Callable[[int], str] | None = None,
    **options: Any,
) -> Counters:
    """Plan and read all rows of `columns`; returns when each was delivered.

    Rows are read together where that is faster. Where such a request reaches past the end of its object, the
    rows that do not are read again without the others.

    Parameters
    ----------
    deliver, key
        As of `Fetcher.fetch`, as are the options; some calls may come from this thread.

    Raises
    ------
    Cancelled
        The fetch was cancelled.
    """
    late: list[tuple[int, RefbrowserError]] = []

    def sort(row: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError) and data.kind is ErrorKind.RANGE:
            late.append((row, data))
        else:
            deliver(row, data)

    counters = fetcher.fetch(fetcher.plan(columns, access), access, sort, key=key, **options)
    if late:
        counters.add(_learn_totals(fetcher, columns, [row for row, _ in late], access, options))
    inside = []
    for row, error in late:
        total = _total(columns, row, access)
        stop = int(columns.offset[row]) + int(columns.length[row])
        if total is None or columns.kind[row] != ReferenceKind.RANGE:
            deliver(row, error)
        elif stop <= total:
            inside.append(row)
        else:
            deliver(row, _own(error, total, int(columns.offset[row]), stop))
    if inside:
        destination, timed = options.pop("destination", None), options.pop("timed", None)
        counters.add(
            fetcher.fetch(
                fetcher.plan(taken(columns, np.array(inside, np.int64)), access),
                access,
                lambda position, data: deliver(inside[position], data),
                key=None if key is None else lambda position: key(inside[position]),
                destination=None if destination is None else lambda position: destination(inside[position]),
                timed=None
                if timed is None
                else lambda rows, took: timed([inside[row] for row in rows], took),
                **options,
            )
        )
    return counters


def _learn_totals(
    fetcher: Fetcher, columns: ReferenceColumns, rows: list[int], access: Access, options: dict[str, Any]
) -> Counters:
    """Read a byte of each object whose size no answer has told."""
    first = {int(columns.url[row]): row for row in rows if _total(columns, row, access) is None}
    if not first:
        return Counters()
    one = taken(columns, np.array(list(first.values()), np.int64))
    count = len(first)
    bytes_ = replace(
        one,
        kind=np.full(count, ReferenceKind.RANGE, np.uint8),
        offset=np.zeros(count, np.int64),
        length=np.ones(count, np.int64),
    )
    rest = {name: value for name, value in options.items() if name not in ("destination", "timed")}
    return fetcher.fetch(fetcher.plan(bytes_, access), access, lambda row, data: None, **rest)


def _total(columns: ReferenceColumns, row: int, access: Access) -> int | None:
    """Return the size of the object that a row is part of, where a request has told it."""
    known = access.memory.identities.known(access.locate(columns.urls[columns.url[row]]).url)
    return None if known is None else known.total


def _own(error: RefbrowserError, total: int, start: int, stop: int) -> RefbrowserError:
    """Return the error of a row that reaches past the end, with its own range."""
    mine = short_object(error.place.url or "", total, start, stop)
    return RefbrowserError(
        mine.kind, mine.message, replace(error.place, start=start, stop=stop), error.advice
    )
