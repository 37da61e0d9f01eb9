"""Whether an object is still the one that was first read (safety design, section 6)."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from refbrowser.errors import ChangedError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import IDENTITY_VARIES


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    """What tells one state of an object from another; None is not known.

    Attributes
    ----------
    total
        Size of the whole object in bytes.
    etag
        Entity tag without the mark of a weak one.
    modified
        Time of last change as the source spells it.
    changed
        The same of sources whose states are told by their tags alone: a `datetime`, or text.
    """

    total: int | None = None
    etag: str | None = None
    modified: str | None = None
    changed: Any = field(default=None, compare=False)

    def is_same(self, other: ObjectIdentity) -> bool:
        """Tell whether both may be the same state: the total and one of the two marks agree."""
        if None not in (self.total, other.total) and self.total != other.total:
            return False
        known = [
            mine == theirs
            for mine, theirs in ((self.etag, other.etag), (self.modified, other.modified))
            if mine is not None and theirs is not None
        ]
        return any(known) or not known


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """State of a local file: where it lies on the disk, its size and time of change.

    Attributes
    ----------
    changed_ns
        Time that the system itself keeps (``ctime``): who sets the other one back cannot set this.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> FileIdentity:
        """Return the identity in a stat result."""
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_dev, status.st_ino, status.st_size, *times)

    def as_object(self) -> ObjectIdentity:
        """Return it as an object's identity: size and times."""
        marks = (self.device, self.inode, self.modified_ns, self.changed_ns)
        return ObjectIdentity(self.size, None, ":".join(map(str, marks)))


#: Where there is no file: what is made there next is somebody's.
NO_FILE = FileIdentity(0, 0, -1, 0)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded of an object when references into it were made.

    Attributes
    ----------
    etags
        Its entity tags: none, one, or several where it was another object at times.
    modified
        Seconds since 1970: it was not changed after that. None where that is not known.
    """

    etags: frozenset[str] = frozenset()
    modified: int | None = None

    def __or__(self, other: Recorded) -> Recorded:
        """Return what both say: an object that differs from either is another one."""
        known = [each.modified for each in (self, other) if each.modified is not None]
        return Recorded(self.etags | other.etags, min(known, default=None))

    def check(self, url: str, seen: ObjectIdentity) -> None:
        """Raise `E_SOURCE` unless an object is the one that was recorded, as far as times of seconds tell.

        A source that tells nothing to hold against it is not taken for right.
        """
        for recorded in sorted(self.etags):
            known = _etags(seen)
            if recorded.removeprefix("W/").strip('"') in known:
                continue
            told = quoted(min(known)) if known else "the source reports none"
            raise _replaced(f"entity tag {quoted(recorded)} then, now {told}", url)
        if self.modified is None:
            return
        now = _seconds(seen)
        if now is None:
            raise _replaced("the source does not report a time of change", url)
        if now > self.modified:
            raise _replaced(f"it was changed {now - self.modified} s after that", url)


def _replaced(how: str, url: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.SOURCE,
        f"the object differs from the one that the references were made for ({how})",
        Place(url=url),
        "make the references again",
    )


def _etags(seen: ObjectIdentity) -> set[str]:
    """Return what an entity tag of an object may be; of a file, as object stores in folders make it."""
    if seen.etag is not None:
        return {seen.etag.removeprefix("W/").strip('"')}
    parts = _file_marks(seen.modified)
    if parts is None:
        return set()
    return {f"{int(parts[1]):x}-{int(parts[2]) // 1000:x}-{seen.total or 0:x}"}


def _file_marks(said: Any) -> list[str] | None:
    """Return what `FileIdentity.as_object` put together; None of anything else."""
    parts = str(said or "").split(":")
    return parts if len(parts) == 4 and all(part.isdigit() for part in parts) else None


def _seconds(seen: ObjectIdentity) -> int | None:
    """Return when an object was changed, in whole seconds since 1970; None where that is not told."""
    moment = moment_of(seen)
    return None if moment is None else moment.seconds


class Moment(NamedTuple):
    """A time: seconds since 1970, and as many digits of their fraction as are known."""

    seconds: int
    fraction: str = ""


def moment_of(seen: ObjectIdentity) -> Moment | None:
    """Return when an object was changed, as exactly as its source tells it; None where that is not told."""
    from email.utils import parsedate_to_datetime

    said = seen.changed if seen.changed is not None else seen.modified
    if isinstance(said, datetime):
        return Moment(int(said.timestamp()))
    parts = _file_marks(said)
    if parts is not None:
        return Moment(int(parts[2]) // 1_000_000_000, f"{int(parts[2]) % 1_000_000_000:09d}")
    try:
        return Moment(int(parsedate_to_datetime(str(said)).timestamp()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


class Watch(Protocol):
    """Something else that objects are held against when they answer."""

    def look(self, url: str, seen: ObjectIdentity) -> None:
        """Compare an object with what is known of it.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: it is not to be read as it is.
        """


class ObjectIdentities:
    """The first identity seen of each object since a document was opened; safe to use from any thread.

    Parameters
    ----------
    recorded
        What references say of objects, by URL.

    Attributes
    ----------
    watch
        What else they are held against, each time; None for nothing.
    """

    def __init__(self, recorded: Mapping[str, Recorded] | None = None) -> None:
        self.recorded = dict(recorded or {})
        self.watch: Watch | None = None
        self._lock = threading.Lock()
        self._first: dict[str, ObjectIdentity] = {}
        self._warned: dict[str, Finding] = {}
        self._changed: set[str] = set()

    def confirm(self, url: str, seen: ObjectIdentity) -> None:
        """Record the identity of `url`, or compare it with the recorded one.

        An entity tag that differs while total and time agree (mirrored servers) is noted in `warnings`.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the object has changed, or is not the one that was recorded.
        """
        recorded = self.recorded.get(url)
        if recorded is not None:
            recorded.check(url, seen)
        self._hold_against_first(url, seen)
        if self.watch is not None:
            self.watch.look(url, seen)

    def _hold_against_first(self, url: str, seen: ObjectIdentity) -> None:
        with self._lock:
            first = self._first.setdefault(url, seen)
            if first is seen or first == seen:
                return
            if not first.is_same(seen):
                self._changed.add(url)
                raise ChangedError(
                    ErrorKind.SOURCE,
                    f"the object changed while it was read ({_difference(first, seen)})",
                    Place(url=url),
                    "open the document again to read the new state",
                )
            if first.etag != seen.etag and None not in (first.etag, seen.etag):
                self._warned.setdefault(url, _etag_warning(url))
            self._first[url] = ObjectIdentity(
                first.total if first.total is not None else seen.total,
                first.etag or seen.etag,
                first.modified or seen.modified,
            )

    def known(self, url: str) -> ObjectIdentity | None:
        """Return the recorded identity of `url`, if any."""
        with self._lock:
            return self._first.get(url)

    @property
    def changed(self) -> frozenset[str]:
        """Objects that were found changed: what was read of them before is stale."""
        with self._lock:
            return frozenset(self._changed)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """One finding for each object whose entity tag varies."""
        with self._lock:
            return tuple(self._warned.values())


def _etag_warning(url: str) -> Finding:
    message = "the entity tag varies while size and time agree, as mirrored servers give"
    return IDENTITY_VARIES.finding(message, Place(url=url))


def _difference(first: ObjectIdentity, seen: ObjectIdentity) -> str:
    if first.total != seen.total:
        return f"{first.total} bytes before, {seen.total} now"
    if first.modified != seen.modified:
        return f"modified {quoted(first.modified)} before, {quoted(seen.modified)} now"
    return f"entity tag {quoted(first.etag)} before, {quoted(seen.etag)} now"


def identity_on_disk(path: str | os.PathLike[str]) -> FileIdentity | None:
    """Return the identity of the file at `path` (links followed), None where there is none."""
    try:
        return FileIdentity.of(os.stat(path))
    except OSError:
        return None
