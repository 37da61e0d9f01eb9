"""Reading the bytes of the one chunk that is explained, and telling what was asked and answered.

For a member of an archive also where in the archive it lies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.found_members import find_member
from refbrowser.engine.reading.wanted_ranges import too_long, without_large
from refbrowser.engine.session import Session
from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Access, is_chained, split_chained
from refbrowser.io.access.task import Attempt
from refbrowser.io.archives.directory import ZipMember
from refbrowser.io.archives.entries import METHODS
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.reference import (
    ByteRange,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
    columns_of,
)
from refbrowser.tools.explain.report.explanation import Line, Link, LinkKind, Step, StepState, plain
from refbrowser.words import counted_plain


def member_step(reference: Reference, access: Access) -> Step | None:
    """Return where the bytes of a reference lie in an archive and how they become the stored ones.

    None where the reference names no member that can be read, or one of an archive that was not looked into.
    """
    if not isinstance(reference, WholeFile | ByteRange) or not is_chained(reference.url):
        return None
    try:
        archive = access.locate(split_chained(reference.url).archive).url
        directory = access.memory.archives.known(archive)
        if directory is None:
            return None
        member = find_member(reference.url, directory, access).member
    except RefbrowserError:
        # Why it cannot be read was told with the answer.
        return None
    return Step(
        name="member",
        title="The zip member",
        lines=[
            Line(plain(member.name), "Member"),
            Line(f"bytes {member.start} to {member.stop} of {plain(archive)}", "With its header"),
            Line(_how(member), "Kept"),
            Line(f"{member.crc:08x}, compared whenever the member is read whole", "CRC-32"),
        ],
        facts={
            "member": member.name,
            "archive": archive,
            "start": member.start,
            "stop": member.stop,
            "method": METHODS[member.method],
            "compressed_size": member.compressed,
            "size": member.size,
            "crc32": f"{member.crc:08x}",
        },
    )


def _how(member: ZipMember) -> str:
    if not member.is_packed:
        return f"as it is, {counted_plain(member.size, 'byte')}"
    how = METHODS[member.method]
    packed, size = counted_plain(member.compressed, "byte"), counted_plain(member.size, "byte")
    return f"packed with {how}: {packed} unpack to {size}"


#: Tries that are told, the first and the last ones; others are only counted.
MOST_TRIES = 8
_FIELD_NAMES = ("content-range", "content-length", "content-type", "last-modified", "etag", "server")


#: A chunk of up to so many bytes is read though it is too large to be one: what it begins like may tell why.
_SHOWN = 1024 * 1024


class Source:
    """Reads rows for an explanation, past the cache, and keeps what was asked and answered.

    Attributes
    ----------
    attempts
        The tries since the last `step`, in the order of their ends.
    error
        The last thing that could not be read since then.
    received
        Bytes since then.
    """

    def __init__(self, session: Session, access: Access, key: str, token: CancelToken) -> None:
        self._session = session
        self._access = access
        self._key = key
        self._token = token
        self.attempts: list[Attempt] = []
        self.error: RefbrowserError | None = None
        self.received = 0

    def fetch(
        self, columns: ReferenceColumns, size_limit: int = LIMITS.chunk_size
    ) -> list[bytes | RefbrowserError]:
        """Return the bytes of each row, or why they are not there; none longer than `size_limit` is read."""
        answers: list[bytes | RefbrowserError] = [b""] * len(columns)
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            answers[row] = columns.inline[row]
        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            answers[row] = columns.faults[row]

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                answers[row] = self.error = data
            else:
                answers[row] = bytes(data)
                self.received += len(data)

        fetch_rows(
            self._session.fetcher,
            columns,
            self._access,
            deliver,
            key=lambda _row: self._key,
            cancel=self._token,
            witness=lambda attempt: self.attempts.append(attempt),
            size_limit=size_limit,
        )
        return answers

    def read(self, reference: Reference, pipeline: CodecPipeline) -> bytes | RefbrowserError:
        """Return all bytes of a chunk, or why they could not be had: it may be larger than a chunk can be."""
        columns = columns_of([reference])
        most = max(pipeline.stored_most, _SHOWN)
        if columns.length[0] > most:
            columns = without_large(columns, pipeline)
        (answer,) = self.fetch(columns, most)
        return too_long(pipeline, answer) if isinstance(answer, RefbrowserError) else answer

    def read_windows(self, reference: Reference, windows: list[range]) -> list[bytes | RefbrowserError]:
        """Return some ranges of the bytes of a reference, by their positions in it."""
        columns = columns_of([reference] * len(windows))
        base = np.where(columns.kind == ReferenceKind.RANGE, columns.offset, 0)
        return self.fetch(
            replace(
                columns,
                kind=np.full(len(windows), ReferenceKind.RANGE, np.uint8),
                offset=base + np.array([window.start for window in windows], np.int64),
                length=np.array([len(window) for window in windows], np.int64),
            )
        )

    def total_of(self, url: str) -> int | None:
        """Return the size of an object that was read from."""
        known = self._access.memory.identities.known(self._access.locate(url).url)
        return None if known is None else known.total

    def member(self, reference: Reference) -> Step | None:
        """Return where in a zip archive the bytes of a reference lie; None where it names no member."""
        return member_step(reference, self._access)

    def step(self) -> Step | None:
        """Return what was asked and answered since the last call; None where nothing was asked for."""
        if not self.attempts and self.error is None:
            return None
        made = self._made_step()
        self.attempts, self.error, self.received = [], None, 0
        return made

    def _made_step(self) -> Step:
        lines: list[Line] = []
        told = _first_and_last(self.attempts)
        for number, attempt in enumerate(told):
            if len(told) < len(self.attempts) and number == len(told) // 2:
                lines.append(
                    Line(f"… {counted_plain(len(self.attempts) - len(told), 'more try', 'more tries')}")
                )
            lines += _attempt_lines(attempt)
        retried = any(attempt.error for attempt in self.attempts)
        if self.error is not None:
            lines.append(Line(self.error.message, "Failed"))
            lines += [Line(plain(self.error.advice), "What to do")] if self.error.advice else []
        remote = any("://" in attempt.url for attempt in self.attempts)
        state = StepState.FAULT if self.error is not None else StepState.WARNING if retried else StepState.OK
        return Step(
            name="answer",
            title="What the server answered" if remote else "What the disk answered",
            state=state,
            lines=lines,
            facts={
                "attempts": [_attempt_facts(attempt) for attempt in told],
                "tries": len(self.attempts),
                "received": self.received,
                "error": None if self.error is None else self.error.message,
            },
            links=[Link(LinkKind.RETRY, "Try again")] if self.error is not None else [],
        )


def _first_and_last(attempts: list[Attempt]) -> list[Attempt]:
    if len(attempts) <= MOST_TRIES:
        return attempts
    return attempts[: MOST_TRIES // 2] + attempts[-MOST_TRIES // 2 :]


def _attempt_lines(attempt: Attempt) -> list[Line]:
    lines = [Line(_asked(attempt), "Asked")]
    if attempt.answer:
        took = f" in {attempt.seconds * 1000:.0f} ms" if attempt.seconds else ""
        came = f": {counted_plain(attempt.received, 'byte')}{took}" if not attempt.error else ""
        lines.append(Line(f"{plain(attempt.answer)}{came}", "Answer"))
    fields = [
        f"{name}: {plain(attempt.fields[name], 120)}" for name in _FIELD_NAMES if name in attempt.fields
    ]
    if fields:
        lines.append(Line("; ".join(fields), "Headers"))
    if attempt.stop is not None and attempt.answer.startswith("HTTP/") and " 200 " in f"{attempt.answer} ":
        lines.append(
            Line("the server sent the whole file: it does not serve ranges, or not this one", "Note")
        )
    if "location" in attempt.fields:
        lines.append(Line(plain(attempt.fields["location"]), "Redirected to"))
    if attempt.error and attempt.wait is not None:
        lines.append(Line(f"{attempt.error}; tried again after {attempt.wait:.1f} s", "Failed"))
    return lines


def _asked(attempt: Attempt) -> str:
    is_remote = "://" in attempt.url
    verb = "GET " if is_remote else "read "
    if attempt.stop is None:
        return f"{verb}{plain(attempt.url)}, all of it"
    if attempt.url.startswith("http"):
        return f"{verb}{plain(attempt.url)} with Range: bytes={attempt.start}-{attempt.stop - 1}"
    size = counted_plain(attempt.stop - attempt.start, "byte")
    return f"{verb}{plain(attempt.url)}, {size} from {attempt.start}"


def _attempt_facts(attempt: Attempt) -> dict[str, Any]:
    return {
        "url": attempt.url,
        "start": attempt.start,
        "stop": attempt.stop,
        "answer": attempt.answer,
        "headers": dict(attempt.fields),
        "received": attempt.received,
        "error": attempt.error,
    }
