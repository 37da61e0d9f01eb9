"""What a lock says of files, and holding a file against it: size, ETag, time, first and last bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, StaleError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import FILE_UNCONFIRMED, FILE_UNDECIDED, STALE_FILE
from refbrowser.io.identity import Moment, ObjectIdentity, moment_of

#: Bytes at the begin and at the end of a file that its digests are of.
SAMPLE = 1024
#: Hexadecimal digits of a digest that messages show.
_SHOWN = 12
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)


class Mark(StrEnum):
    """By what a file differs from its lock."""

    SIZE = "size"
    ETAG = "ETag"
    TIME = "time of change"
    HEAD = "first bytes"
    TAIL = "last bytes"
    WHOLE = "bytes"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class LockEntry:
    """What is known of one file.

    Attributes
    ----------
    size
        In bytes.
    etag
        Entity tag as the server gives it, without ``W/``; None where it gives none.
    modified
        Time of last change, RFC 3339, as exactly as the source tells it; None where it does not.
    head, tail
        SHA-256 (32 bytes) of the first and of the last `SAMPLE` bytes, of all where there are fewer; None
        where they were not looked at.
    at, by
        When it was looked at, RFC 3339, and by what program; empty where the lock as a whole tells.
    others
        Members of the entry that are not known here, kept when it is written again.
    whole
        SHA-256 of all of the file; None where that was not asked for.
    """

    size: int
    etag: str | None = None
    modified: str | None = None
    head: bytes | None = None
    tail: bytes | None = None
    at: str = ""
    by: str = ""
    others: Mapping[str, Any] | None = None
    whole: bytes | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """What is known of the files that a document refers to.

    Attributes
    ----------
    entries
        By URL, as the document spells it once templates are rendered.
    not_locked
        Files that could not be looked at, by URL, with why.
    at, by
        When the files were looked at, RFC 3339, and by what program.
    others
        Members that are not known here.
    """

    entries: Mapping[str, LockEntry]
    not_locked: Mapping[str, str] = field(default_factory=dict)
    at: str = ""
    by: str = ""
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not the one of its lock.

    Attributes
    ----------
    url
        As the document spells it.
    mark
        What differs first, in the order of `Mark`.
    then, now
        The values that differ.
    entry
        What the lock says.
    seen
        What the source says now.
    """

    url: str
    mark: Mark
    then: str
    now: str
    entry: LockEntry
    seen: ObjectIdentity

    @property
    def difference(self) -> str:
        """What differs, by value: ``1200 bytes then, 1300 now``."""
        if self.mark is Mark.SIZE:
            return f"{self.then} bytes then, {self.now} now"
        if self.mark is Mark.UNKNOWN:
            return self.now
        return f"{self.mark} {self.then} then, {self.now} now"

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        if self.mark is Mark.UNKNOWN:
            return f"whether the file matches the lock is not known: {self.now}"
        return f"the file is not the one that was locked: {self.difference}"

    def error(self) -> RefbrowserError:
        """Return what a read that needs its bytes fails with."""
        return StaleError(ErrorKind.SOURCE, self.message, Place(url=self.url), _ADVICE)

    def finding(self, severity: Severity = Severity.WARNING) -> Finding:
        """Return it as a finding."""
        kind = FILE_UNDECIDED if self.mark is Mark.UNKNOWN else STALE_FILE
        return kind.finding(self.message, Place(url=self.url), severity=severity)


_ADVICE = "make the references again, or accept the file as it is now (refbrowser lock DOC --update URL)"


def text_of(moment: Moment) -> str | None:
    """Return a time as RFC 3339 has it; None where it has no words for it."""
    try:
        when = datetime.fromtimestamp(moment.seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    fraction = moment.fraction.rstrip("0")
    return when.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def parse_time(text: str) -> Moment | None:
    """Return a time that is written as RFC 3339 has it; None for anything else."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, hour, fraction, zone = match.groups()
    try:
        when = datetime.fromisoformat(f"{day}T{hour}{'+00:00' if zone in 'Zz' else zone}")
        return Moment(int(when.timestamp()), fraction or "")
    except (ValueError, OverflowError):
        return None


def digest(data: bytes | memoryview) -> bytes:
    """Return the SHA-256 of some bytes."""
    import hashlib  # Who reads asks for none as long as marks settle it.

    return hashlib.sha256(data).digest()


def entry_of(seen: ObjectIdentity, head: bytes, tail: bytes) -> LockEntry:
    """Return what is to be locked of an object of known size, with its digests."""
    assert seen.total is not None
    moment = moment_of(seen)
    modified = None if moment is None else text_of(moment)
    return LockEntry(seen.total, seen.etag and seen.etag.removeprefix("W/"), modified, head, tail)


def compared(url: str, entry: LockEntry, seen: ObjectIdentity) -> Stale | bool:
    """Hold what a source says of an object against a lock.

    An ETag that agrees settles it, and so does a time where ETags are not known; where they do not, the size
    alone says little: files are copied, servers moved, and what is behind may be the same.

    Returns
    -------
    Stale or bool
        How it differs; True where it is the same, False where only its bytes tell.
    """
    if seen.total is not None and seen.total != entry.size:
        return Stale(url, Mark.SIZE, str(entry.size), str(seen.total), entry, seen)
    now, then = seen.etag and _tag(seen.etag), entry.etag and _tag(entry.etag)
    if now and then and now == then:
        return True
    same_time = _same_time(entry, seen)
    if same_time and not (now and then):
        return True
    if entry.head is not None and entry.tail is not None:
        return False
    # Whoever wrote the lock did not look at the bytes.
    if now and then:
        return Stale(url, Mark.ETAG, quoted(then), quoted(now), entry, seen)
    if same_time is None:
        return True
    return Stale(url, Mark.TIME, quoted(entry.modified), quoted(_time_now(seen)), entry, seen)


def in_doubt(url: str, entry: LockEntry, seen: ObjectIdentity) -> Stale | None:
    """Return what speaks against an object whose ends are those of the lock: its time, or else its ETag.

    The middle of a file may be another one. A time that agrees speaks for it, whatever server gives it; where
    neither mark is known nothing speaks against it.
    """
    same_time = _same_time(entry, seen)
    if same_time:
        return None
    if same_time is None:
        now, then = seen.etag, entry.etag
        if not now or not then or _tag(now) == _tag(then):
            return None
        return Stale(url, Mark.ETAG, quoted(_tag(then)), quoted(_tag(now)), entry, seen)
    return Stale(url, Mark.TIME, quoted(entry.modified), quoted(_time_now(seen)), entry, seen)


def unconfirmed_finding(doubts: Sequence[Stale]) -> Finding:
    """Return what is told of files that nothing but their sizes and ends say to be those of the lock."""
    first = doubts[0]
    message = f"the file is not confirmed: its size and ends match the lock, but {first.difference}"
    if len(doubts) > 1:
        message += f"; {len(doubts) - 1} more files are not confirmed either"
    return FILE_UNCONFIRMED.finding(message, Place(url=first.url), advice=_IN_DOUBT, count=len(doubts))


_IN_DOUBT = "where the file was only copied, accept it as it is now (refbrowser lock DOC --update URL)"


def compared_digests(
    url: str, entry: LockEntry, seen: ObjectIdentity, head: bytes, tail: bytes | None
) -> Stale | None:
    """Hold the digests of the first and last bytes of an object against a lock; None where they agree.

    `tail` None: only the first ones were looked at.
    """
    return _differing(url, entry, seen, ((Mark.HEAD, entry.head, head), (Mark.TAIL, entry.tail, tail)))


def compared_whole(url: str, entry: LockEntry, now: LockEntry) -> Stale | None:
    """Hold a file of which all bytes were read against a lock that has their digest; None where it agrees."""
    seen = ObjectIdentity(now.size, now.etag)
    if now.size != entry.size:
        return Stale(url, Mark.SIZE, str(entry.size), str(now.size), entry, seen)
    return _differing(url, entry, seen, ((Mark.WHOLE, entry.whole, now.whole),))


def _differing(
    url: str, entry: LockEntry, seen: ObjectIdentity, pairs: Sequence[tuple[Mark, bytes | None, bytes | None]]
) -> Stale | None:
    for mark, then, now in pairs:
        if then is not None and now is not None and then != now:
            shown = [f"SHA-256 {each.hex()[:_SHOWN]}…" for each in (then, now)]
            return Stale(url, mark, shown[0], shown[1], entry, seen)
    return None


def undecided(url: str, entry: LockEntry, seen: ObjectIdentity, error: RefbrowserError) -> Stale:
    """Return that the bytes which would tell could not be read."""
    return Stale(url, Mark.UNKNOWN, "", error.message, entry, seen)


def _tag(text: str) -> str:
    return text.removeprefix("W/").strip('"')


def _same_time(entry: LockEntry, seen: ObjectIdentity) -> bool | None:
    """Tell whether times agree as far as both have digits; None where one is not known."""
    now = moment_of(seen)
    then = None if entry.modified is None else parse_time(entry.modified)
    if now is None or then is None:
        return None
    digits = min(len(now.fraction), len(then.fraction))
    return now.seconds == then.seconds and now.fraction[:digits] == then.fraction[:digits]


def _time_now(seen: ObjectIdentity) -> str | None:
    moment = moment_of(seen)
    return None if moment is None else text_of(moment)
