"""Comparing files of a document with its lock: what it takes, and those of which all bytes are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.locking import BEGINNING, make_lock, not_compared
from refbrowser.errors import Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import FILE_ENDS_ONLY
from refbrowser.io.fetching.whole_digests import BLOCK
from refbrowser.io.locks.lock import SAMPLE, Lock, compared_whole

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher

#: Files that are read before what they tell is told.
_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class LockCost:
    """What comparing the files of a document with its lock takes at most, before anything is read.

    Attributes
    ----------
    files
        Files that are looked at.
    requests, most_requests
        One for each file, and with one more for each of which only its last bytes tell; what reads all bytes
        of a file is counted in both.
    bytes
        That are asked for, at most.
    """

    files: int
    requests: int
    most_requests: int
    bytes: int


def lock_cost(urls: Sequence[str], lock: Lock, whole: Collection[str] = ()) -> LockCost:
    """Return what comparing some files with a lock takes; those that it does not know cost nothing.

    Parameters
    ----------
    whole
        Those of which all bytes are read.
    """
    sizes = [lock.entries[url].size for url in urls if url in lock.entries]
    further = sum(size > BEGINNING for size in sizes)
    read = [lock.entries[url].size for url in whole]
    requests = len(sizes) + sum(-(-size // BLOCK) for size in read)
    asked = sum(min(size, BEGINNING) for size in sizes) + SAMPLE * further + sum(read)
    return LockCost(len(sizes), requests, requests + further, asked)


def with_whole(urls: Sequence[str], lock: Lock) -> list[str]:
    """Return the files of which a lock has a digest of all bytes."""
    return [url for url in urls if url in lock.entries and lock.entries[url].whole is not None]


def whole_findings(
    urls: Sequence[str], lock: Lock, access: Access, fetcher: Fetcher, control: JobControl
) -> Iterator[Finding]:
    """Read all bytes of files and compare them with their digests in a lock; yield what differs.

    Codes: as `lock_findings`, and ``file-ends-only``: the lock has no digest of all bytes of these files, so
    only their ends are compared.
    """
    whole = with_whole(urls, lock)
    for start in range(0, len(whole), _TOGETHER):
        some = whole[start : start + _TOGETHER]
        made = make_lock(some, access, fetcher, JobControl(control.token), some)
        for url, error in made.failed.items():
            yield not_compared(url, error)
        for url, now in made.lock.entries.items():
            stale = compared_whole(url, lock.entries[url], now)
            if stale is not None:
                yield stale.finding(Severity.FAULT)
        control.progress(start + len(some), len(whole))
    others = sorted({*urls} & {*lock.entries} - {*whole})
    if others:
        yield FILE_ENDS_ONLY.finding(
            f"{len(others)} files have no digest of all bytes in the lock: their ends were compared",
            Place(url=others[0]),
            advice="write the lock with refbrowser lock DOC --whole",
            count=len(others),
        )
