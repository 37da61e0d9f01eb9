"""What reads, the lock and audits told of files: whether they are there, are the same, and may be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.findings.kinds import (
    FILE_UNCONFIRMED,
    FILE_UNDECIDED,
    IDENTITY_CHANGED,
    LENGTH_UNDECODABLE,
    RANGE_PAST_END,
    STALE_FILE,
    URL_CREDENTIALS,
    URL_DEAD,
    URL_MOVED,
    URL_NO_RANGES,
)
from refbrowser.io.access.access import storage_url
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access, Source


class Health(StrEnum):
    """What is known of a file, the worst first."""

    DEAD = "gone"
    FAILED = "failed"
    #: The server wants to know who asks.
    REFUSED = "refused"
    #: References end past its end, or it is not as long as a chunk that is a whole file.
    SIZE = "wrong size"
    #: Not the file of the document's lock.
    STALE = "not as locked"
    #: Another one than when it was read first.
    CHANGED = "changed"
    #: Its ends are those of the lock, its time or ETag is not.
    UNCONFIRMED = "not confirmed"
    #: Its server sends us on to another URL.
    MOVED = "moved"
    #: Its server gives it as a whole only.
    WHOLE = "no ranges"
    BLOCKED = "needs permission"
    UNKNOWN = "not looked at"
    OK = "ok"


#: What an audit says of a file; what is not here says that it cannot be read.
_AUDITED = {
    URL_DEAD: Health.DEAD,
    URL_CREDENTIALS: Health.REFUSED,
    RANGE_PAST_END: Health.SIZE,
    LENGTH_UNDECODABLE: Health.SIZE,
    STALE_FILE: Health.STALE,
    FILE_UNDECIDED: Health.STALE,
    FILE_UNCONFIRMED: Health.UNCONFIRMED,
    IDENTITY_CHANGED: Health.CHANGED,
    URL_MOVED: Health.MOVED,
    URL_NO_RANGES: Health.WHOLE,
}
_CODES = {kind.code: health for kind, health in _AUDITED.items()}
_RANK = {health: rank for rank, health in enumerate(Health)}


def health_judge(
    access: Access, failures: Iterable[RefbrowserError], asked: Mapping[str, str] | None = None
) -> Callable[[Source], Health]:
    """Return what tells the health of the files of a document; it reads nothing.

    Parameters
    ----------
    failures
        Why reads failed, with the URLs (`engine.findings.collected_findings.failures_of`).
    asked
        What an audit was told of files: by URL, as the document spells it, the code of what is worst.
    """
    told = {} if asked is None else asked
    failed = {storage_url(error.place.url) for error in failures if error.place.url}
    memory = access.memory
    changed = memory.identities.changed

    def judge(source: Source) -> Health:
        found, code = read(source), None if source.is_pattern else told.get(source.url)
        if code is None:
            return found
        audited = _CODES.get(code, Health.FAILED) if code else Health.OK
        # Nobody says which is newer: the worse one counts.
        return audited if found is Health.UNKNOWN else min(found, audited, key=_RANK.__getitem__)

    def read(source: Source) -> Health:
        url = storage_url(source.url)
        try:
            # Of the beginning of URLs that a rule makes, any name tells where they lead.
            location = access.locate(f"{url}x" if source.is_pattern else url)
        except RefbrowserError:
            return Health.UNKNOWN if source.is_pattern else Health.FAILED
        if url in failed or location.url in failed:
            return Health.FAILED
        if memory.locked is not None and memory.locked.stale_at(location.url) is not None:
            return Health.STALE
        if location.url in changed:
            return Health.CHANGED
        if memory.locked is not None and memory.locked.doubt_at(location.url) is not None:
            return Health.UNCONFIRMED
        if not access.permits(location):
            return Health.BLOCKED
        known = memory.identities.known(location.url) is not None
        known = known or (memory.locked is not None and memory.locked.is_same(location.url))
        return Health.OK if known and not source.is_pattern else Health.UNKNOWN

    return judge


def worst(counts: Mapping[Health, int]) -> Health:
    """Return the health that a place is marked by."""
    found = next((each for each in Health if counts.get(each)), Health.UNKNOWN)
    # Where some are right and nothing is known of the others, nothing speaks against it.
    return Health.OK if found is Health.UNKNOWN and counts.get(Health.OK) else found


def health_words(counts: Mapping[Health, int]) -> str:
    """Return in few words how the files of a place are: ``2 failed, 1 changed of 10``; ``3 of 10 ok``."""
    total = sum(counts.values())
    kinds = [each for each in Health if counts.get(each)]
    if len(kinds) < 2:
        kind = kinds[0] if kinds else Health.UNKNOWN
        return f"all {kind}" if total > 1 and kind in (Health.OK, Health.FAILED) else str(kind)
    told: list[Health] = [each for each in kinds if each not in (Health.UNKNOWN, Health.OK)]
    told = told or [Health.OK]
    return f"{', '.join(f'{count_text(counts[each])} {each}' for each in told)} of {count_text(total)}"
