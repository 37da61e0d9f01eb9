"""What came of making a lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from refbrowser.errors import RefbrowserError
from refbrowser.io.locks.lock import Lock
from refbrowser.model.report import Report, first_of
from refbrowser.words import counted


@dataclass(slots=True)
class LockMade:
    """What came of looking at files.

    Attributes
    ----------
    lock
        What is known of those that could be looked at, and why others could not.
    failed
        Why files could not be looked at, by their URLs.
    requests
        What was asked for, tries counted.
    """

    lock: Lock
    failed: dict[str, RefbrowserError] = field(default_factory=dict)
    requests: int = 0

    @property
    def errors(self) -> list[RefbrowserError]:
        """Why files could not be looked at, in their order."""
        return [*self.failed.values()]


@dataclass(frozen=True, slots=True, repr=False)
class LockWritten(Report):
    """What was written.

    Attributes
    ----------
    path
        The lock.
    made
        What was looked at.
    lock
        What the lock says now; None where it was left as it was, or there is none.
    """

    path: str
    made: LockMade
    lock: Lock | None

    def lines(self) -> Iterator[str]:
        """Yield how many files are locked, and why others are not."""
        locked = 0 if self.lock is None else len(self.lock.entries)
        left = ", left as it was" if self.lock is None else ""
        yield f"{self.path}: {counted(locked, 'file')} locked{left}"
        yield from first_of(
            [f"not locked: {url}: {error.message}" for url, error in self.made.failed.items()]
        )
