"""Whether an object is still the one that was first read (safety design, section 6)."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted


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
    """

    total: int | None = None
    etag: str | None = None
    modified: str | None = None

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
    """State of a local file: where it lies on the disk, its size and time of change."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileIdentity:
        """Return the identity in a stat result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def as_object(self) -> ObjectIdentity:
        """Return it as an object's identity: size and time."""
        return ObjectIdentity(self.size, None, f"{self.device}:{self.inode}:{self.modified_ns}")


#: Where there is no file: what is made there next is somebody's.
NO_FILE = FileIdentity(0, 0, -1, 0)


class ObjectIdentities:
    """The first identity seen of each object since a document was opened; safe to use from any thread."""

    def __init__(self) -> None:
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
            `E_SOURCE`: the object has changed.
        """
        with self._lock:
            first = self._first.setdefault(url, seen)
            if first is seen or first == seen:
                return
            if not first.is_same(seen):
                self._changed.add(url)
                raise RefbrowserError(
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
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.SOURCE,
        message="the entity tag varies while size and time agree, as mirrored servers give",
        place=Place(url=url),
    )


def _difference(first: ObjectIdentity, seen: ObjectIdentity) -> str:
    if first.total != seen.total:
        return f"{first.total} bytes before, {seen.total} now"
    if first.modified != seen.modified:
        return f"modified {quoted(first.modified)} before, {quoted(seen.modified)} now"
    return f"entity tag {quoted(first.etag)} before, {quoted(seen.etag)} now"
