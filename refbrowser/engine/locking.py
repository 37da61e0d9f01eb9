"""Locks of documents: made of the files that they refer to, found beside them, compared, and renewed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import FILE_GONE, FILE_NOT_LOCKED, FILE_UNDECIDED, LOCK_INVALID, LOCK_UNREAD
from refbrowser.formats.option_fields import Kind, documented, option
from refbrowser.io.access.access import Access, AccessMemory, lock_path, storage_url, urls_named
from refbrowser.io.access.local_files import failed, open_regular, read_bytes
from refbrowser.io.access.segment import file_changed
from refbrowser.io.fetching.lock_format import parse_lock, read_lock, write_lock
from refbrowser.io.fetching.whole_digests import whole_digest
from refbrowser.io.identity import FileIdentity, ObjectIdentity, identity_on_disk
from refbrowser.io.locks.lock import (
    SAMPLE,
    Lock,
    LockEntry,
    Stale,
    compared,
    compared_digests,
    digest,
    entry_of,
    in_doubt,
    unconfirmed_finding,
)
from refbrowser.io.locks.lock_made import LockMade, LockWritten
from refbrowser.io.locks.lock_watch import LockWatch
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, WholeFile, columns_of
from refbrowser.references.rules.rule_urls import RuleUrls
from refbrowser.version import __version__

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Files that are looked at together.
BATCH = 4096
#: Bytes that are asked for of each file first: one of so many needs no second request.
BEGINNING = 2 * SAMPLE
#: Entries, and combinations of the dimensions of a rule, that are looked at together.
_PAGE = 65_536
#: Local files that a thread looks at in one go, and how many threads there are.
_FEW, _THREADS = 64, 8
#: What a program that has locked a file calls itself.
BY = f"refbrowser {__version__}"


# Which files


def files_of(document: Document, check: Callable[[], None] = lambda: None) -> list[str]:
    """Return the files that a document refers to, each once, sorted: of members of archives these.

    Rules are not expanded: only the dimensions that their URLs depend on are gone through.

    Parameters
    ----------
    check
        Called now and then; what it raises ends the search.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there are more than `lock_files`; `E_USAGE`: it is a store, whose chunks are files of
        their own.
    """
    if document.layouts:
        message = "a store cannot be locked: each of its chunks is a separate file"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=document.name), _OF_STORES)
    found: set[str] = set()

    def add(urls: Iterable[str]) -> None:
        check()
        found.update(storage_url(url) for url in urls if url.strip())
        if len(found) > LIMITS.lock_files:
            message = f"the document refers to more than {LIMITS.lock_files} files (lock_files)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=document.name))

    add(_urls_of_refs(document))
    for rule in document.rules:
        for urls in urls_of_rule(rule):
            add(urls)
    return sorted(found)


_OF_STORES = "lock a document of references to it"


def _urls_of_refs(document: Document) -> Iterator[str]:
    refs, urls = document.refs, document.urls.texts
    for number in np.unique(refs.table.url[refs.standing() & (refs.table.url >= 0)]).tolist():
        yield urls[number]
    edited = refs.edited_slots()
    for start in range(0, len(edited), _PAGE):
        columns = document.view.columns(edited[start : start + _PAGE])
        for number in np.unique(columns.url[columns.url >= 0]).tolist():
            yield columns.urls[number]


def urls_of_rule(rule: GenRule) -> Iterator[list[str]]:
    """Yield the URLs of a rule, some at a time; those that cannot be rendered are left out.

    There is one for each combination of the dimensions that they depend on, and all of these have the same
    number of rows; a URL that several give comes as often.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there may be more than `lock_files`.
    """
    urls = RuleUrls.of(rule)
    if urls is None or rule.fields["url"].faults:
        return
    if urls.are_more_than(LIMITS.lock_files):
        message = f"a gen rule makes up to {urls.count} URLs, more than can be locked"
        raise RefbrowserError(ErrorKind.BUDGET, f"{message} (lock_files)", Place(rule=rule.index))
    for start in range(0, urls.count, _PAGE):
        texts = urls.texts(start, min(start + _PAGE, urls.count))
        yield [each for each in texts if each is not None]


def prefixes_of(document: Document, files: frozenset[str]) -> dict[str, set[str]]:
    """Return which keys refer to some files: what stands before the coordinates of their chunks, with these.

    Keys that are no chunks are left out; of rules what their keys have before the last ``/``.
    """
    found: dict[str, set[str]] = {}
    refs, urls, table = document.refs, document.urls.texts, document.refs.table
    wanted = {number: storage_url(url) for number, url in enumerate(urls) if storage_url(url) in files}
    rows = np.flatnonzero(refs.standing() & np.isin(table.url, np.array([*wanted], table.url.dtype)))
    pairs = np.stack([table.group.of(rows).astype(np.int64), table.url[rows].astype(np.int64)])
    for group, number in np.unique(pairs, axis=1).T.tolist() if len(rows) else ():
        prefix = table.groups[group][0]
        if prefix:
            found.setdefault(prefix, set()).add(wanted[number])
    for slot in refs.edited_slots().tolist():
        columns = document.view.columns(np.array([slot], np.int64))
        if columns.url[0] >= 0 and storage_url(columns.urls[columns.url[0]]) in files:
            above = refs.key_of(slot).rpartition("/")[0]
            found.setdefault(f"{above}/", set()).add(storage_url(columns.urls[columns.url[0]]))
    for rule in document.rules:
        given = {storage_url(url) for each in urls_of_rule(rule) for url in each} & files
        for above in (rule.directories() or ()) if given else ():
            found.setdefault(f"{above}/", set()).update(given)
    return found


# Looking at files


@dataclass(slots=True)
class _Looked:
    """What was seen of one file: its state and digests, or why it could not be looked at."""

    identity: ObjectIdentity | None = None
    head: bytes = b""
    tail: bytes | None = None
    error: RefbrowserError | None = None


class _Look:
    """Looks at some files at once: the beginning of each by one request, the end of larger ones by another.

    What was learned before of the files counts for nothing: each look has a memory of its own.
    """

    def __init__(self, fetcher: Fetcher, access: Access, urls: Sequence[str], control: JobControl) -> None:
        self._fetcher = fetcher
        self._access = replace(access, memory=AccessMemory())
        self._control = control
        self.urls = urls
        self.found = [_Looked() for _ in urls]
        self.requests = 0

    def beginnings(self) -> None:
        """Look at the state and the first bytes of each file; of local ones, at the last bytes too."""
        empty: list[int] = []
        numbers = self._look_at_disk()

        def take(number: int, data: memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError) and data.kind is ErrorKind.RANGE:
                empty.append(number)
            else:
                self._take_beginning(number, data)

        self._fetch([WholeFile(self.urls[number]) for number in numbers], numbers, take, BEGINNING)
        # A server has no first bytes of a file of none.
        self._fetch([WholeFile(self.urls[number]) for number in empty], empty, self._take_beginning, None)

    def tails(self, numbers: Sequence[int]) -> None:
        """Look at the last bytes of some of the files, where the beginning did not hold them."""
        wanted = [number for number in numbers if self._lacks_tail(number)]
        ends = [self._total(number) for number in wanted]
        ranges = [
            ByteRange(self.urls[number], end - SAMPLE, SAMPLE)
            for number, end in zip(wanted, ends, strict=True)
        ]

        def take(number: int, data: memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                self.found[number].error = data
            else:
                self.found[number].tail = digest(data)

        self._fetch(ranges, wanted, take, None)

    def _look_at_disk(self) -> list[int]:
        """Look at local files, several at a time as disks of networks make wait; return the other ones."""
        local: list[tuple[int, str]] = []
        others: list[int] = []
        for number, url in enumerate(self.urls):
            try:
                place = self._access.resolve(url)
            except RefbrowserError as error:
                self.found[number].error = error
                continue
            if place.scheme == "file":
                local.append((number, place.path))
            else:
                others.append(number)

        def look(some: Sequence[tuple[int, str]]) -> None:
            for number, path in some:
                self._control.token.check()
                self.found[number] = _looked_at(path)

        if len(local) <= _FEW:
            look(local)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_THREADS) as pool:
                pages = [local[start : start + _FEW] for start in range(0, len(local), _FEW)]
                for _ in pool.map(look, pages):
                    self._control.check()
        return others

    def _fetch(
        self,
        references: Sequence[Reference],
        numbers: Sequence[int],
        take: Callable[[int, memoryview | RefbrowserError], None],
        beginning: int | None,
    ) -> None:
        if not references:
            return
        fetcher, access = self._fetcher, self._access
        counters = fetcher.fetch(
            fetcher.plan(columns_of(references), access),
            access,
            lambda row, data: take(numbers[row], data),
            cancel=self._control.token,
            size_limit=LIMITS.http_cut,
            beginning=beginning,
        )
        self.requests += counters.requests

    def _take_beginning(self, number: int, data: memoryview | RefbrowserError) -> None:
        looked = self.found[number]
        if isinstance(data, RefbrowserError):
            looked.error = data
            return
        known = self._access.memory.identities.known(self._access.locate(self.urls[number]).url)
        if known is None or known.total is None:
            message = "the server does not report the size of the file"
            looked.error = RefbrowserError(ErrorKind.SOURCE, message, Place(url=self.urls[number]))
            return
        looked.identity, looked.head = known, digest(data[:SAMPLE])
        if len(data) >= known.total:
            looked.tail = digest(data[-SAMPLE:])

    def _lacks_tail(self, number: int) -> bool:
        return self.found[number].error is None and self.found[number].tail is None

    def _total(self, number: int) -> int:
        identity = self.found[number].identity
        assert identity is not None
        assert identity.total is not None
        return identity.total


def _looks(urls: Sequence[str], access: Access, fetcher: Fetcher, control: JobControl) -> Iterator[_Look]:
    """Yield files some at a time, their beginnings looked at; tell how far that is with the next ones."""
    done = requests = 0
    for start in range(0, len(urls), BATCH):
        look = _Look(fetcher, access, urls[start : start + BATCH], control)
        look.beginnings()
        yield look
        done, requests = done + len(look.urls), requests + look.requests
        control.progress(done, len(urls), requests=requests)


def _looked_at(path: str) -> _Looked:
    """Look at a local file: its state, and both ends."""
    try:
        with open_regular(path) as (descriptor, identity):
            head, tail = _ends(descriptor, identity.size)
            if FileIdentity.of(os.fstat(descriptor)) != identity:
                return _Looked(error=file_changed(path))
    except RefbrowserError as error:
        return _Looked(error=error)
    except OSError as error:
        return _Looked(error=failed(error, path))
    return _Looked(identity.as_object(), digest(head), digest(tail))


def _ends(descriptor: int, size: int) -> tuple[bytes, bytes]:
    head = read_bytes(descriptor, min(SAMPLE, size), 0)
    return head, read_bytes(descriptor, SAMPLE, max(0, size - SAMPLE))


# Making


def make_lock(
    urls: Sequence[str],
    access: Access,
    fetcher: Fetcher,
    control: JobControl | None = None,
    whole: Collection[str] = (),
) -> LockMade:
    """Look at files as they are now; those that cannot be looked at are told, and not in the lock.

    Parameters
    ----------
    urls
        Files as the document spells them: `files_of`.
    whole
        Those of which all bytes are read, for a digest of them.
    """
    control = control or JobControl()
    entries: dict[str, LockEntry] = {}
    errors: dict[str, RefbrowserError] = {}
    requests = 0
    control.progress(0, len(urls))
    for look in _looks(urls, access, fetcher, control):
        look.tails(range(len(look.urls)))
        requests += look.requests
        for url, looked in zip(look.urls, look.found, strict=True):
            if looked.error is not None or looked.identity is None or looked.tail is None:
                errors[url] = looked.error or RefbrowserError(ErrorKind.SOURCE, _UNSEEN, Place(url=url))
            else:
                entries[url] = entry_of(looked.identity, looked.head, looked.tail)
    for number, url in enumerate(each for each in urls if each in whole and each in entries):
        control.progress(number, len(whole))
        try:
            made = whole_digest(url, entries[url].size, access, fetcher, control.token)
            entries[url] = replace(entries[url], whole=made)
        except RefbrowserError as error:
            errors[url] = error
            del entries[url]
    lock = Lock(entries, {url: error.message for url, error in errors.items()}, _now(), BY)
    return LockMade(lock, errors, requests)


def renewed(lock: Lock, made: Lock) -> Lock:
    """Return a lock with the new state of some files; of all others it says what it said."""
    entries = dict(lock.entries)
    for url, entry in made.entries.items():
        before = entries.get(url)
        others = None if before is None else before.others
        entries[url] = replace(entry, at=made.at, by=made.by, others=others)
    not_locked = {url: why for url, why in lock.not_locked.items() if url not in made.entries}
    return replace(lock, entries=entries, not_locked=not_locked)


@documented
@dataclass(frozen=True, slots=True)
class LockRequest:
    """What is to be written; `skip_bad` replaces a lock although files could not be looked at."""

    target: str = field(
        default="",
        metadata=option(
            "--output FILE",
            "write to FILE instead of DOC.lock.json",
            short="-o",
            about="The file; beside the document where it is empty.",
        ),
    )
    update: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--update URL",
            "take only the new state of this file (a path, or its URL in the document) into the lock "
            "(repeatable)",
            about="Files, as the document spells them, whose new state a lock that is there takes; none: all "
            "are locked.",
            kind=Kind.TEXTS,
            many=True,
        ),
    )
    whole: bool = field(
        default=False,
        metadata=option(
            "--whole",
            "read all of each file, for a digest that audit --level full --compare-lock compares",
            about="Whether all bytes of each file are read, for a digest of them.",
            kind=Kind.TICK,
            means=True,
        ),
    )
    skip_bad: bool = False


def write_lock_of(
    path: str,
    document: Document,
    access: Access,
    fetcher: Fetcher,
    request: LockRequest | None = None,
    control: JobControl | None = None,
) -> LockWritten:
    """Look at the files of a document, or at some of them, and write the lock, whole and in one step.

    A lock that is there stays as it is where files cannot be looked at, unless `LockRequest.skip_bad`: else a
    server that is down for an hour would cost what is known of its files.

    Raises
    ------
    RefbrowserError
        As `files_of` and `write_lock` do; there is no lock in which files could be accepted; `E_USAGE`: the
        document refers to none of that name, or the lock of a document at a URL has no place.
    """
    request, control = request or LockRequest(), control or JobControl()
    if not request.target and scheme_of(path) is not None:
        message = "the lock of a document at a URL cannot be written beside it"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=path), "give -o FILE")
    target = os.path.realpath(request.target) if request.target else lock_path(path)
    before = read_lock(target) if request.update else None
    urls = files_of(document, control.check)
    if request.update:
        urls = urls_named(request.update, urls, access, path)
    known = before[0].entries if before else {}
    # A lock that has digests of whole files keeps having them.
    whole = {url for url in urls if request.whole or (url in known and known[url].whole)}
    made = make_lock(urls, access, fetcher, control, whole)
    if before is not None:
        if not made.lock.entries:
            return LockWritten(target, made, None)
        lock = renewed(before[0], made.lock)
        write_lock(target, lock, expected=before[1], cancel=control.token)
        return LockWritten(target, made, lock)
    if made.errors and (not made.lock.entries or (identity_on_disk(target) and not request.skip_bad)):
        return LockWritten(target, made, None)
    write_lock(target, made.lock, cancel=control.token)
    return LockWritten(target, made, made.lock)


_UNSEEN = "the file was not checked"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Finding the lock of a document


def hold_against_lock(
    path: str, document: Document, access: Access, fetcher: Callable[[], Fetcher], token: CancelToken,
    *, allow: bool = False,
) -> None:  # fmt: skip
    """Look for the lock beside a document; what it refers to is held against it from now on.

    One that is no lock is a finding that `Access.memory` keeps; so is one that cannot be read.

    Parameters
    ----------
    allow
        Whether stale files are read all the same.
    """
    if document.store is not None:
        return
    place = lock_path(path)
    try:
        if scheme_of(path) is None:
            lock = read_lock(place)[0]
        else:
            from refbrowser.io.fetching.fetch import read_beside

            lock = parse_lock(read_beside(place, access, fetcher(), token, LIMITS.lock_size).data)
    except AbsentError:
        return
    except RefbrowserError as error:
        is_read = scheme_of(path) is None or error.kind is not ErrorKind.SOURCE
        what = LOCK_INVALID if is_read else LOCK_UNREAD
        fault = what.finding(
            f"the lock beside the document {_IS_INVALID if is_read else _IS_UNREAD}: {error.message}",
            Place(url=place),
            error=error.kind,
            advice=_OF_INVALID if is_read else "open the document again when the server answers",
        )
        access.memory.lock_fault = replace(fault, is_anywhere=True)
        return
    access.memory.hold_against(LockWatch(lock, file_sample, allow=allow))


_IS_INVALID, _IS_UNREAD = "is not used", "cannot be read, so no file is compared with it"
_OF_INVALID = "write it again (refbrowser lock DOC), or remove it"


def refusing_stale(dataset: Dataset) -> Dataset:
    """Return a dataset that reads no stale file, whatever this one does: what is written bears no marks."""
    access = dataset.access
    locked = access.memory.locked
    if locked is None or not locked.allow:
        return dataset
    memory = AccessMemory(access.memory.identities.recorded, locked.refusing())
    return dataset.with_access(replace(access, memory=memory))


def file_sample(path: str) -> tuple[bytes, bytes] | RefbrowserError:
    """Return the first and last bytes of a local file, or why they cannot be read."""
    try:
        with open_regular(path) as (descriptor, identity):
            return _ends(descriptor, identity.size)
    except RefbrowserError as error:
        return error
    except OSError as error:
        return failed(error, path)


def hold_against(access: Access, lock: Lock) -> None:
    """Hold what is open against another lock from now on: one that was just written for it."""
    memory = access.memory
    memory.lock_fault = None
    if memory.locked is None:
        memory.hold_against(LockWatch(lock, file_sample, allow=True))
    else:
        memory.locked.replace(lock)


# Comparing all


def lock_findings(
    urls: Sequence[str], lock: Lock, access: Access, fetcher: Fetcher, control: JobControl | None = None
) -> Iterator[Finding]:
    """Compare files with a lock, some at a time and concurrently; yield what is to be told of them.

    Codes: ``stale-file`` (what differs, by value), ``file-gone``, ``file-undecided`` (it could not be looked
    at: `kind` says why, `E_BLOCKED` where it may not be), ``file-not-locked``, ``file-unconfirmed`` (its ends
    agree, its time or ETag does not; the last two once, for all such files).

    Parameters
    ----------
    urls
        Files as the document spells them: `files_of`.
    """
    control = control or JobControl()
    doubts: list[Stale] = []
    for look in _looks([url for url in urls if url in lock.entries], access, fetcher, control):
        files = [*zip(look.urls, look.found, strict=True)]
        verdicts = [_by_marks(url, lock.entries[url], looked) for url, looked in files]
        look.tails([number for number, verdict in enumerate(verdicts) if verdict is False])
        for (url, looked), verdict in zip(files, verdicts, strict=True):
            finding = _finding(url, lock.entries[url], looked, verdict)
            if finding is not None:
                yield finding
            elif verdict is False and looked.identity is not None:
                doubts += filter(None, [in_doubt(url, lock.entries[url], looked.identity)])
    if doubts:
        yield unconfirmed_finding(doubts)
    yield from _not_locked(urls, lock)


def _by_marks(url: str, entry: LockEntry, looked: _Looked) -> Stale | bool:
    """Compare what the first request tells: its bytes as well, which came with it."""
    if looked.identity is None:
        return True
    verdict = compared(url, entry, looked.identity)
    if isinstance(verdict, bool) and entry.head is not None and looked.head != entry.head:
        return _of_digests(url, entry, looked) or verdict
    return verdict


def _of_digests(url: str, entry: LockEntry, looked: _Looked) -> Stale | None:
    assert looked.identity is not None
    return compared_digests(url, entry, looked.identity, looked.head, looked.tail)


def _finding(url: str, entry: LockEntry, looked: _Looked, verdict: Stale | bool) -> Finding | None:
    if isinstance(verdict, Stale):
        return verdict.finding(Severity.FAULT)
    if looked.error is not None:
        return not_compared(url, looked.error)
    if verdict is True or looked.identity is None:
        return None
    stale = _of_digests(url, entry, looked)
    return None if stale is None else stale.finding(Severity.FAULT)


def not_compared(url: str, error: RefbrowserError) -> Finding:
    """Return what is said of a file that could not be looked at."""
    what = FILE_GONE if isinstance(error, AbsentError) else FILE_UNDECIDED
    return what.finding(
        f"the file cannot be compared with the lock: {error.message}",
        replace(error.place, url=url, start=None, stop=None),
        severity=Severity.FAULT,
        error=error.kind,
        advice=error.advice,
    )


def _not_locked(urls: Sequence[str], lock: Lock) -> Iterator[Finding]:
    """Yield one finding for all files that the lock does not know, with the first of them."""
    unknown = [url for url in urls if url not in lock.entries]
    if not unknown:
        return
    why = lock.not_locked.get(unknown[0], "")
    message = f"{quoted(unknown[0])} is not in the lock" + (f" ({quoted(why)})" if why else "")
    place = Place(url=unknown[0])
    yield FILE_NOT_LOCKED.finding(message, place, advice="write the lock again", count=len(unknown))
