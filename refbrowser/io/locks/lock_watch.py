"""Holding files against the lock of a document as they answer, and remembering which ones are stale."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from refbrowser.errors import RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.locks.lock import (
    Lock,
    LockEntry,
    Stale,
    compared,
    compared_digests,
    digest,
    in_doubt,
    unconfirmed_finding,
    undecided,
)

#: Called with the path of a local file: returns its first and last bytes, or why they cannot be read.
SampleOf = Callable[[str], "tuple[bytes, bytes] | RefbrowserError"]
#: Seconds after which a thread that waits for another's comparison looks whether it is still wanted.
_LOOK = 0.1


class LockWatch:
    """Knows which of the files that were touched are not those of the lock; safe to use from any thread.

    A file is decided once, by its first answer: what changes later is told as a change while it is read.
    Where only bytes tell, those of local files are looked at at once; others are pending until somebody has
    read them and calls `decide`.

    Parameters
    ----------
    lock
        What is known of files.
    sample
        Reads the ends of local files.
    allow
        Whether stale files are read all the same; what shows their values marks them.

    Attributes
    ----------
    turns
        Rises whenever `stale` is something else.
    turned
        Called then, from whatever thread found it out.
    """

    def __init__(self, lock: Lock, sample: SampleOf, *, allow: bool = False) -> None:
        self.allow = allow
        self._sample = sample
        self.turns = 0
        self.turned: Callable[[], None] = lambda: None
        self._lock = lock
        self._guard = threading.Lock()
        self._comparing = threading.Lock()
        #: Canonical URLs of files that the document named, as it spells them.
        self._spelled: dict[str, tuple[str, ...]] = {}
        #: Files that are those of the lock, and whether only their ends told.
        self._same: dict[str, bool] = {}
        self._stale: dict[str, Stale] = {}
        self._pending: dict[str, ObjectIdentity] = {}
        #: What speaks against files whose ends are those of the lock.
        self._doubts: dict[str, Stale] = {}

    def __reduce__(self) -> tuple[Callable[..., LockWatch], tuple[Lock, SampleOf, bool]]:
        # What one process found out another one finds for itself.
        return _watch, (self._lock, self._sample, self.allow)

    def _turn(self) -> None:
        self.turns += 1
        self.turned()

    def refusing(self) -> LockWatch:
        """Return one for the same lock that lets no stale file be read."""
        return LockWatch(self._lock, self._sample)

    @property
    def lock(self) -> Lock:
        """What is known of files."""
        return self._lock

    def entry(self, spelled: str) -> LockEntry | None:
        """Return what the lock says of a file, by its URL as the document spells it."""
        return self._lock.entries.get(spelled)

    def met(self, spelled: str, url: str) -> None:
        """Note where a URL leads; `look` is told the canonical one."""
        known = self._spelled.get(url, ())
        if spelled not in known and spelled in self._lock.entries:
            with self._guard:
                self._spelled[url] = (*self._spelled.get(url, ()), spelled)
                if url in self._stale:
                    self._turn()

    def look(self, url: str, seen: ObjectIdentity) -> None:
        """Hold an answer against the lock.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the file is stale, and stale files are not read.
        """
        spelled = self._spelled.get(url)
        if spelled is None or url in self._same:
            return
        with self._guard:
            stale = self._stale.get(url)
            if stale is None and url not in self._pending:
                stale = self._first_look(url, spelled, seen)
        if stale is not None and not self.allow:
            raise stale.error()

    def _first_look(self, url: str, spelled: tuple[str, ...], seen: ObjectIdentity) -> Stale | None:
        found = [compared(each, self._lock.entries[each], seen) for each in spelled]
        for stale in found:
            if isinstance(stale, Stale):
                return self._found_stale(url, stale)
        if all(found):
            self._same[url] = False
            return None
        if os.path.isabs(url):
            return self._decide(url, seen, self._sample(url))
        self._pending[url] = seen
        return None

    # What only bytes tell

    @property
    def is_alert(self) -> bool:
        """Whether rows that have come may be of files that are stale, or may be so."""
        return bool(self._pending) or (bool(self._stale) and not self.allow)

    @property
    def has_pending(self) -> bool:
        """Whether files wait for their bytes to be compared."""
        return bool(self._pending)

    @contextmanager
    def comparing(self, cancel: CancelToken | None) -> Iterator[dict[str, LockEntry]]:
        """Give the files whose first and last bytes are to be read, with what the lock says; for one thread.

        Others wait here until it has called `decide`, and get what is left. The URL is one that the document
        spells.
        """
        while not self._comparing.acquire(timeout=_LOOK):
            if cancel is not None and cancel.cancelled:
                raise Cancelled
        try:
            with self._guard:
                waiting = {url: self._lock.entries[self._spelled[url][0]] for url in self._pending}
            yield waiting
        finally:
            self._comparing.release()

    def spelling(self, url: str) -> str:
        """Return how the document spells a canonical URL of `comparing`."""
        return self._spelled[url][0]

    def decide(self, url: str, sample: tuple[bytes, bytes] | RefbrowserError) -> None:
        """Take the first and last bytes of a file that was pending, or why they could not be read."""
        with self._guard:
            seen = self._pending.pop(url, None)
            if seen is not None:
                self._decide(url, seen, sample)

    def _decide(
        self, url: str, seen: ObjectIdentity, sample: tuple[bytes, bytes] | RefbrowserError
    ) -> Stale | None:
        for each in self._spelled[url]:
            entry = self._lock.entries[each]
            if isinstance(sample, RefbrowserError):
                stale: Stale | None = undecided(each, entry, seen, sample)
            else:
                stale = compared_digests(each, entry, seen, *map(digest, sample))
            if stale is not None:
                return self._found_stale(url, stale)
            doubt = in_doubt(each, entry, seen)
            if doubt is not None:
                self._doubts[url] = doubt
        self._same[url] = True
        return None

    def _found_stale(self, url: str, stale: Stale) -> Stale:
        self._stale[url] = stale
        self._turn()
        return stale

    # What was found

    @property
    def stale(self) -> Mapping[str, Stale]:
        """The stale files that were touched so far, by canonical URL, in the order of being found."""
        with self._guard:
            return dict(self._stale)

    @property
    def stale_urls(self) -> frozenset[str]:
        """Those files as the document spells them."""
        with self._guard:
            return frozenset(each for url in self._stale for each in self._spelled[url])

    def stale_at(self, url: str) -> Stale | None:
        """Return how a file is stale, by its canonical URL; None where it is not, or was not touched."""
        return self._stale.get(url)

    def is_same(self, url: str) -> bool:
        """Whether a file was found to be the one of the lock, by its canonical URL."""
        return url in self._same

    def is_same_by_bytes(self, url: str) -> bool:
        """Whether only its first and last bytes told so: its ETag or time is another one, or not known."""
        return self._same.get(url, False)

    def doubt_at(self, url: str) -> Stale | None:
        """Return what speaks against a file whose ends are those of the lock, by its canonical URL."""
        return self._doubts.get(url)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A warning for each stale file, where such are read all the same, and one for all in doubt."""
        with self._guard:
            doubts = [*self._doubts.values()]
        stale = tuple(stale.finding() for stale in self.stale.values()) if self.allow else ()
        return (*stale, unconfirmed_finding(doubts)) if doubts else stale

    def replace(self, lock: Lock) -> None:
        """Hold files against another lock from now on: those that were touched are decided anew.

        What is known of each file decides at once wherever that is enough; others when they answer next.
        """
        with self._guard:
            before = self._stale
            self._lock = lock
            self._spelled.clear()
            self._same.clear()
            self._doubts.clear()
            self._stale = {}
            self._pending.clear()
            for url, stale in before.items():
                entry = lock.entries.get(stale.url)
                if entry is not None:
                    self._spelled[url] = (stale.url,)
                if entry is not None and entry == stale.entry:
                    self._stale[url] = stale
            self._turn()


def _watch(lock: Lock, sample: SampleOf, allow: bool) -> LockWatch:
    return LockWatch(lock, sample, allow=allow)
