"""Holding what a source says of a file against a lock: what settles it, and what only bytes tell."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, Severity
from refbrowser.io.identity import FileIdentity, Moment, ObjectIdentity
from refbrowser.io.locks.lock import (
    LockEntry,
    Mark,
    Stale,
    compared,
    compared_digests,
    digest,
    entry_of,
    parse_time,
    text_of,
)

HEAD, TAIL = digest(b"head"), digest(b"tail")
THEN = "Wed, 01 Jan 2025 00:00:00 GMT"
LATER = "Wed, 01 Jan 2025 00:00:01 GMT"


def locked(**changes: object) -> LockEntry:
    entry = {"size": 10, "etag": '"a"', "modified": "2025-01-01T00:00:00Z", "head": HEAD, "tail": TAIL}
    return LockEntry(**{**entry, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "seen", "found"),
    [
        # An ETag that agrees settles it, whatever the time.
        (locked(), ObjectIdentity(10, '"a"', LATER), True),
        (locked(etag="a"), ObjectIdentity(10, '"a"'), True),
        (locked(), ObjectIdentity(10, 'W/"a"'), True),
        # So does a time, where one side has no ETag.
        (locked(etag=None), ObjectIdentity(10, '"a"', THEN), True),
        (locked(), ObjectIdentity(10, None, THEN), True),
        # Mirrors: another ETag at the same time.
        (locked(), ObjectIdentity(10, '"b"', THEN), False),
        (locked(etag=None), ObjectIdentity(10, None, LATER), False),
        # A server that tells neither.
        (locked(), ObjectIdentity(10), False),
        (locked(etag=None, modified=None), ObjectIdentity(10, '"a"', THEN), False),
        # A size that is not told is no difference, and settles nothing.
        (locked(), ObjectIdentity(None, None, LATER), False),
        (locked(), ObjectIdentity(None, '"a"'), True),
        # Whoever wrote the lock looked at no bytes.
        (locked(head=None), ObjectIdentity(10), True),
    ],
)
def test_what_marks_settle(entry: LockEntry, seen: ObjectIdentity, found: bool) -> None:
    assert compared("u", entry, seen) is found


@pytest.mark.parametrize(
    ("entry", "seen", "mark", "difference"),
    [
        (locked(), ObjectIdentity(11, '"a"', THEN), Mark.SIZE, "10 bytes then, 11 now"),
        (locked(head=None), ObjectIdentity(10, '"b"', LATER), Mark.ETAG, "ETag 'a' then, 'b' now"),
        (
            locked(etag=None, tail=None),
            ObjectIdentity(10, None, LATER),
            Mark.TIME,
            "time of change '2025-01-01T00:00:00Z' then, '2025-01-01T00:00:01Z' now",
        ),
    ],
)
def test_what_differs_is_told_by_value(
    entry: LockEntry, seen: ObjectIdentity, mark: Mark, difference: str
) -> None:
    stale = compared("u", entry, seen)
    assert isinstance(stale, Stale)
    assert (stale.mark, stale.difference, stale.url) == (mark, difference, "u")
    assert difference in stale.error().message
    assert stale.error().kind is ErrorKind.SOURCE
    assert stale.finding().code == "stale-file"
    assert stale.finding(Severity.FAULT).severity is Severity.FAULT


def test_the_first_bytes_are_told_before_the_last() -> None:
    seen = ObjectIdentity(10)
    assert compared_digests("u", locked(), seen, HEAD, TAIL) is None
    # The last ones were not looked at.
    assert compared_digests("u", locked(), seen, HEAD, None) is None
    both = compared_digests("u", locked(), seen, TAIL, HEAD)
    last = compared_digests("u", locked(), seen, HEAD, HEAD)
    assert both is not None
    assert last is not None
    assert (both.mark, last.mark) == (Mark.HEAD, Mark.TAIL)
    assert HEAD.hex()[:12] in both.message
    assert TAIL.hex()[:12] in both.message


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-01-01T00:00:00Z", Moment(1735689600)),
        ("2025-01-01t01:00:00.5+01:00", Moment(1735689600, "5")),
        ("2025-01-01 00:00:00.123456789z", Moment(1735689600, "123456789")),
    ],
)
def test_times_as_rfc_3339_has_them(text: str, moment: Moment) -> None:
    assert parse_time(text) == moment


@pytest.mark.parametrize(
    "text", ["", THEN, "2025-01-01", "2025-13-01T00:00:00Z", "2025-01-01T00:00:00", "٢025-01-01T00:00:00Z"]
)
def test_other_times_are_none(text: str) -> None:
    assert parse_time(text) is None


@given(st.integers(0, 253402300799), st.text("0123456789", max_size=9))
def test_a_time_is_read_as_it_was_written(seconds: int, fraction: str) -> None:
    text = text_of(Moment(seconds, fraction))
    assert text is not None
    assert parse_time(text) == Moment(seconds, fraction.rstrip("0"))
    assert text_of(Moment(10**15)) is None


def test_times_agree_as_far_as_both_have_digits() -> None:
    """A file server tells whole seconds of what a disk knows to the nanosecond."""
    entry = locked(etag=None, modified="2025-01-01T00:00:00.123456789Z")
    assert compared("u", entry, ObjectIdentity(10, None, THEN)) is True
    of_disk, earlier = (
        FileIdentity(1, 2, 10, 1735689600 * 10**9 + fraction).as_object()
        for fraction in (123456789, 123456788)
    )
    assert compared("u", entry, of_disk) is True
    assert compared("u", entry, earlier) is False
    assert compared("u", locked(etag=None), of_disk) is True


def test_what_is_locked_of_an_object() -> None:
    of_store = ObjectIdentity(5, '"e"', changed=datetime(2025, 1, 1, tzinfo=UTC))
    assert entry_of(of_store, HEAD, TAIL) == LockEntry(5, '"e"', "2025-01-01T00:00:00Z", HEAD, TAIL)
    assert entry_of(ObjectIdentity(5, None, "no time"), HEAD, TAIL) == LockEntry(5, None, None, HEAD, TAIL)
