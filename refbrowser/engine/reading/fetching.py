"""Fetching rows so that each fails for its own reason only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.found_members import is_far, member_rows, with_members
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access, chained_url
from refbrowser.io.access.segment import short_object
from refbrowser.io.access.task import Counters, Deliver
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, ReferenceColumns, ReferenceKind, columns_of, taken, without


def fetch_rows(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    access: Access,
    deliver: Deliver,
    *,
    key: Callable[[int], str] | None = None,
    size_limit: int = LIMITS.chunk_size,
    **options: Any,
) -> Counters:
    """Plan and read all rows of `columns`; returns when each was delivered.

    Rows are read together where that is faster. Where such a request reaches past the end of its object, the
    rows that do not are read again without the others. Members of zip archives are read as ranges of those,
    and delivered confirmed and inflated. Rows longer than `size_limit` are not read: what a
    reference says of a length is no better than the file that says it.

    Parameters
    ----------
    deliver, key
        As of `Fetcher.fetch`, as are the options; some calls may come from this thread.
    size_limit
        Bytes of the longest row or whole object that is read.
    """
    options["size_limit"] = size_limit
    columns = with_members(columns, access)
    members = member_rows(columns)
    if not len(members):
        return _fetch_plain(fetcher, columns, access, deliver, key, options)

    from refbrowser.engine.reading.members import fetch_members  # Few documents refer to archives.

    def fetch(ranges: ReferenceColumns, deliver: Deliver, options: dict[str, Any]) -> Counters:
        return _fetch_plain(fetcher, ranges, access, deliver, None, options)

    counters = fetch_members(fetcher, columns, members, access, _named(deliver, key), fetch, options)
    rest = without(columns, members)
    if ((rest.kind == ReferenceKind.RANGE) | (rest.kind == ReferenceKind.WHOLE)).any():
        counters.add(_fetch_plain(fetcher, rest, access, deliver, key, options))
    return counters


def confirm_later(
    fetcher: Fetcher, access: Access, cancel: CancelToken, *, far: bool = False, **options: Any
) -> list[RefbrowserError]:
    """Confirm the members of archives of which parts were given before that; returns why some are not.

    Parameters
    ----------
    far
        Whether also large members of servers are read.
    options
        Of `Fetcher.fetch`.
    """
    members = access.memory.archives.unconfirmed.items()
    parts = [
        ByteRange(chained_url(member.name, archive), 0, 1)
        for (archive, _), member in members
        if far or not is_far(archive, member)
    ]
    failed: list[RefbrowserError] = []

    def deliver(_: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError):
            failed.append(data)

    always = access.confirming(Confirm.ALWAYS)
    fetch_rows(fetcher, columns_of(parts), always, deliver, cancel=cancel, **options)
    return failed


def _fetch_plain(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    access: Access,
    deliver: Deliver,
    key: Callable[[int], str] | None,
    options: dict[str, Any],
) -> Counters:
    """Read rows of which none is a member of an archive."""
    size_limit = options["size_limit"]
    large = np.flatnonzero((columns.kind == ReferenceKind.RANGE) & (columns.length > size_limit))
    if len(large):
        counters = _refuse(fetcher, columns, large, access, deliver, key, options)
        columns = without(columns, large)
        counters.add(_fetch_rows(fetcher, columns, access, deliver, key, options))
        return counters
    return _fetch_rows(fetcher, columns, access, deliver, key, options)


def _named(deliver: Deliver, key: Callable[[int], str] | None) -> Deliver:
    """Return `deliver` with errors that name the key of their row."""
    if key is None:
        return deliver

    def name(row: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError):
            data = data.at(replace(data.place, key=key(row)))
        deliver(row, data)

    return name


def _fetch_rows(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    access: Access,
    deliver: Deliver,
    key: Callable[[int], str] | None,
    options: dict[str, Any],
) -> Counters:
    late: list[tuple[int, RefbrowserError]] = []

    def sort(row: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError) and data.kind is ErrorKind.RANGE:
            late.append((row, data))
        else:
            deliver(row, data)

    counters = fetcher.fetch(fetcher.plan(columns, access), access, sort, key=key, **options)
    if late:
        counters.add(_learn_totals(fetcher, columns, [row for row, _ in late], access, options)[0])
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
        options.pop("ranges", None)
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


def _refuse(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    rows: npt.NDArray[np.int64],
    access: Access,
    deliver: Deliver,
    key: Callable[[int], str] | None,
    options: dict[str, Any],
) -> Counters:
    """Deliver why rows are not read that are too long: their object ends before, or they break the limit."""
    counters, failures = _learn_totals(fetcher, columns, rows.tolist(), access, options)
    for row in rows.tolist():
        start, length = int(columns.offset[row]), int(columns.length[row])
        url = columns.urls[columns.url[row]]
        place = Place(url=url, start=start, stop=start + length, key=None if key is None else key(row))
        failure = failures.get(int(columns.url[row]))
        total = None if failure is not None else _total(columns, row, access)
        if failure is not None:
            deliver(row, RefbrowserError(failure.kind, failure.message, place, failure.advice))
        elif total is not None and start + length > total:
            short = short_object(url, total, start, start + length)
            deliver(row, RefbrowserError(short.kind, short.message, place))
        else:
            limit = options["size_limit"]
            message = f"a range of {length} bytes is longer than the {limit} that are read in one piece"
            deliver(row, RefbrowserError(ErrorKind.BUDGET, message, place))
    return counters


def _learn_totals(
    fetcher: Fetcher, columns: ReferenceColumns, rows: list[int], access: Access, options: dict[str, Any]
) -> tuple[Counters, dict[int, RefbrowserError]]:
    """Read a byte of each object whose size no answer has told; return which URLs gave none, and why."""
    first = {int(columns.url[row]): row for row in rows if _total(columns, row, access) is None}
    failures: dict[int, RefbrowserError] = {}
    if not first:
        return Counters(), failures
    one = taken(columns, np.array(list(first.values()), np.int64))
    count = len(first)
    bytes_ = replace(
        one,
        kind=np.full(count, ReferenceKind.RANGE, np.uint8),
        offset=np.zeros(count, np.int64),
        length=np.ones(count, np.int64),
    )
    rest = {name: value for name, value in options.items() if name not in ("destination", "ranges", "timed")}

    def note(row: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError) and data.kind is not ErrorKind.RANGE:
            failures[int(one.url[row])] = data

    return fetcher.fetch(fetcher.plan(bytes_, access), access, note, **rest), failures


def _total(columns: ReferenceColumns, row: int, access: Access) -> int | None:
    """Return the size of the object that a row is part of, where a request has told it."""
    try:
        location = access.locate(columns.urls[columns.url[row]])
    except RefbrowserError:
        return None
    known = access.memory.identities.known(location.url)
    return None if known is None else known.total


def _own(error: RefbrowserError, total: int, start: int, stop: int) -> RefbrowserError:
    """Return the error of a row that reaches past the end, with its own range."""
    mine = short_object(error.place.url or "", total, start, stop)
    return RefbrowserError(
        mine.kind, mine.message, replace(error.place, start=start, stop=stop), error.advice
    )
