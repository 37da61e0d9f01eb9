"""Rows fail for their own reason only, and no length that a file makes up is believed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.resources import Resources
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, WholeFile, columns_of

MADE_UP = 10**15


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").write_bytes(bytes(range(100)))
    (tmp_path / "huge").touch()
    # Of holes only: such a file takes no room on the disk.
    os.truncate(tmp_path / "huge", 2**42)
    return tmp_path


def fetched(
    session: Resources, access: Access, references: list[Reference], **options: Any
) -> list[bytes | RefbrowserError]:
    found: dict[int, Any] = {}
    fetch_rows(
        session.fetcher,
        columns_of(references),
        access,
        lambda row, data: found.__setitem__(row, data if isinstance(data, RefbrowserError) else bytes(data)),
        key=lambda row: f"key {row}",
        **options,
    )
    return [found[row] for row in range(len(references))]


def kind(answer: bytes | RefbrowserError) -> ErrorKind:
    assert isinstance(answer, RefbrowserError)
    return answer.kind


def test_made_up_lengths_harm_no_other_row(folder: Path, session: Session, access: Access) -> None:
    asked: list[Reference] = [
        ByteRange("data", 0, MADE_UP),
        ByteRange("data", 10, 5),
        ByteRange("huge", 5, 2**41),
        ByteRange("huge", 6, 4),
        ByteRange("nowhere", 0, MADE_UP),
        ByteRange("/elsewhere/data", 0, MADE_UP),
        ByteRange("strange://data", 0, MADE_UP),
    ]
    found = fetched(session, access, asked)
    assert kind(found[0]) is ErrorKind.RANGE
    assert found[1] == bytes(range(10, 15))
    assert kind(found[2]) is ErrorKind.BUDGET
    assert found[3] == b"\0" * 4
    assert [kind(answer) for answer in found[4:]] == [ErrorKind.IO, ErrorKind.BLOCKED, ErrorKind.PROTOCOL]
    place = found[2].place  # type: ignore[union-attr]
    assert (place.key, place.url, place.start, place.stop) == ("key 2", "huge", 5, 5 + 2**41)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_longest_row(folder: Path, session: Session, access: Access, more: int) -> None:
    answer = fetched(session, access, [ByteRange("data", 7, 50 + more)], size_limit=50)[0]
    if more > 0:
        assert kind(answer) is ErrorKind.BUDGET
    else:
        assert answer == bytes(range(7, 57 + more))


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_all_rows_together(folder: Path, session: Session, access: Access, more: int) -> None:
    columns = columns_of([ByteRange("data", 0, 60), WholeFile("data"), ByteRange("data", 3, 40 + more)])
    answers = session.fetch_all(columns, access, total_limit=200)
    refused = [answer for answer in answers if isinstance(answer, RefbrowserError)]
    assert [error.kind for error in refused] == [ErrorKind.BUDGET] * max(more, 0)


def test_rows_that_overlap_make_no_endless_buffer(folder: Path, session: Session, access: Access) -> None:
    # Each begins inside the one before; together they span far more than any machine's memory.
    step = LIMITS.chunk_size - 1
    rows: list[Reference] = [ByteRange("huge", number * step, LIMITS.chunk_size) for number in range(2000)]
    plan = session.fetcher.plan(columns_of(rows), access)
    assert (plan.segment_stop - plan.segment_start).max() <= 2 * LIMITS.chunk_size
    assert sorted(plan.rows.tolist()) == list(range(2000))


def test_overlapping_rows_of_several_buffers_are_whole(
    folder: Path, session: Session, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from refbrowser.io import plan

    monkeypatch.setattr(plan, "LIMITS", replace(LIMITS, chunk_size=20))
    asked: list[Reference] = [ByteRange("data", start, 20) for start in range(0, 80, 7)]
    assert fetched(session, access, asked) == [bytes(range(start, start + 20)) for start in range(0, 80, 7)]
