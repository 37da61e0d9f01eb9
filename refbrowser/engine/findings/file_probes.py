"""Whether files lie at other places: a few of those that would move are looked at there first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.locking import make_lock
from refbrowser.engine.sources import EDITED_SEEN, ROWS_SEEN
from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.io.access.access import Location, storage_url

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.io.identity import ObjectIdentity
    from refbrowser.io.locks.lock import LockEntry
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Files that are looked at.
TESTED = 12


class Verdict(StrEnum):
    """What was found at a new place."""

    SAME = "same"
    #: A file that is large enough, of which nothing tells whether it is the same.
    THERE = "there"
    DIFFERS = "differs"
    ABSENT = "not there"
    BLOCKED = "not allowed"
    FAILED = "cannot be read"

    @property
    def is_good(self) -> bool:
        """Whether it says nothing against the move."""
        return self in (Verdict.SAME, Verdict.THERE)


@dataclass(frozen=True, slots=True)
class Probe:
    """A file that moves.

    Attributes
    ----------
    before, after
        Its URL; of members of an archive that of the archive.
    needed
        Bytes that references need of it, counted from its begin; 0 where they take the whole.
    """

    before: str
    after: str
    needed: int = 0


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found of one file.

    Attributes
    ----------
    words
        By what it is the same or differs, with values; or why it cannot be read.
    location
        Where it would be read; None where that can never be.
    """

    probe: Probe
    verdict: Verdict
    words: str
    location: Location | None = None


class Moving(Protocol):
    """An edit that gives URLs another place."""

    def moved(self, url: str) -> str:
        """Return what a URL is then; one that is not moved is the same."""


def probes_of(document: Document, edit: Moving, most: int = TESTED) -> list[Probe]:
    """Return some of the files that an edit moves, the first and the last among them, others spread evenly.

    Of gen rules the URLs of some rows are looked at.
    """
    needed: dict[tuple[str, str], int] = {}
    for url, end in _needs(document, most):
        after = edit.moved(url)
        if after != url:
            key = storage_url(url), storage_url(after)
            needed[key] = max(needed.get(key, 0), 0 if storage_url(url) != url else end)
    probes = [Probe(before, after, end) for (before, after), end in needed.items()]
    if len(probes) <= most:
        return probes
    return [probes[at] for at in np.linspace(0, len(probes) - 1, most).round().astype(int).tolist()]


def _needs(document: Document, most: int) -> Iterator[tuple[str, int]]:
    """Yield URLs, and the end of the last byte that references need there; a URL may come more than once."""
    refs, urls = document.refs, document.urls.texts
    table = refs.table
    kept = refs.standing() & (table.url >= 0)
    ids, lengths = table.url[kept], table.length[kept].astype(np.int64)
    ends = np.zeros(len(urls), np.int64)
    np.maximum.at(ends, ids, np.where(lengths < 0, 0, table.offset[kept].astype(np.int64) + lengths))
    for number in np.unique(ids).tolist():
        yield urls[number], int(ends[number])
    edited = document.view.columns(refs.edited_slots()[:EDITED_SEEN])
    for number in np.flatnonzero(edited.url >= 0).tolist():
        length = int(edited.length[number])
        yield edited.urls[edited.url[number]], int(edited.offset[number]) + length if length > 0 else 0
    for rule in document.rules:
        yield from _needs_of_rule(rule, most)
    for each in document.layouts:
        if not each.place.endswith("/"):
            yield each.place, 0


def _needs_of_rule(rule: GenRule, most: int) -> Iterator[tuple[str, int]]:
    """Yield what the first and last rows of a rule need; where URLs are many, rows that are spread evenly."""
    count = rule.count
    pages = {(0, min(ROWS_SEEN, count)), (max(0, count - ROWS_SEEN), count)}
    if count and len({*rule.rows(0, min(ROWS_SEEN, count)).urls}) > most:
        spread = ((count - 1) * number // (most - 1) for number in range(most))
        pages = {(at, at + 1) for at in spread}
    for start, stop in sorted(pages) if count else ():
        rows = rule.rows(start, stop)
        for number, url in enumerate(rows.urls):
            if url is not None:
                offset = 0 if rows.offsets is None else rows.offsets[number] or 0
                length = 0 if rows.lengths is None else rows.lengths[number] or 0
                yield url, offset + length if length else 0


def probe(
    probes: Sequence[Probe], access: Access, fetcher: Fetcher, control: JobControl | None = None
) -> list[Probed]:
    """Look at the new places: whether each is there, is large enough, and has what is known of the old one.

    At most two requests go to each place, and only where that is allowed. What is known of the old place is
    what the lock of the document says, else what it says itself where it answered before.
    """
    control = control or JobControl()
    known = _Known(probes, access, fetcher, control)
    made = make_lock([each.after for each in probes], access, fetcher, control)
    errors = dict(zip(made.lock.not_locked, made.errors, strict=True))
    found = []
    for each in probes:
        entry, error = made.lock.entries.get(each.after), errors.get(each.after)
        if entry is not None:
            verdict, words = known.compared(each, entry)
        elif isinstance(error, AbsentError):
            verdict, words = Verdict.ABSENT, error.message
        elif error is not None and error.kind is ErrorKind.BLOCKED:
            verdict, words = Verdict.BLOCKED, error.message
        else:
            verdict, words = Verdict.FAILED, "it was not checked" if error is None else error.message
        found.append(Probed(each, verdict, words, _location(access, each.after)))
    return found


def _location(access: Access, url: str) -> Location | None:
    try:
        return access.locate(url)
    except RefbrowserError:
        return None


class _Known:
    """What is known of the old places."""

    def __init__(
        self, probes: Sequence[Probe], access: Access, fetcher: Fetcher, control: JobControl
    ) -> None:
        locked = access.memory.locked
        self._locked: dict[str, LockEntry] = {}
        self._seen: dict[str, ObjectIdentity] = {}
        asked = []
        for url in dict.fromkeys(each.before for each in probes):
            entry = None if locked is None else locked.entry(url)
            location = _location(access, url)
            if entry is not None:
                self._locked[url] = entry
            elif location is not None:
                seen = access.memory.identities.known(location.url)
                if seen is not None:
                    self._seen[url] = seen
                # A place that never answered is likely the one that is gone: nobody waits for it.
                if seen is not None or location.scheme == "file":
                    asked.append(url)
        self._there = make_lock(asked, access, fetcher, control).lock.entries if asked else {}

    def compared(self, probe: Probe, now: LockEntry) -> tuple[Verdict, str]:
        """Return whether a file is the one that is known, and by what."""
        if now.size < probe.needed:
            return Verdict.DIFFERS, f"{now.size} bytes; references need {probe.needed}"
        then, where = self._locked.get(probe.before), "the lock"
        if then is None:
            then, where = self._there.get(probe.before), "the old place"
        if then is not None:
            return _compared(then, now, where)
        seen = self._seen.get(probe.before)
        if seen is not None and seen.total is not None:
            if seen.total != now.size:
                return Verdict.DIFFERS, f"{now.size} bytes; {seen.total} were read before"
            return Verdict.THERE, f"{now.size} bytes, as were read before"
        return Verdict.THERE, f"{now.size} bytes; nothing is known about the old place"


def _compared(then: LockEntry, now: LockEntry, where: str) -> tuple[Verdict, str]:
    """Hold a file against what is known of it; ETags of copies differ, so that only equal ones tell."""
    if then.size != now.size:
        return Verdict.DIFFERS, f"{now.size} bytes; {then.size} in {where}"
    if then.head is not None and then.tail is not None:
        for name, one, other in (("first", then.head, now.head), ("last", then.tail, now.tail)):
            if one != other:
                there, known = ("?" if each is None else f"{each.hex()[:12]}…" for each in (other, one))
                return Verdict.DIFFERS, f"other {name} bytes: SHA-256 {there}, {known} in {where}"
        return Verdict.SAME, f"{now.size} bytes, and the first and last ones, as in {where}"
    if then.etag is not None and then.etag == now.etag:
        return Verdict.SAME, f"{now.size} bytes and the ETag, as in {where}"
    return Verdict.THERE, f"{now.size} bytes, as in {where}"
