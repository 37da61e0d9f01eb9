"""A part of an object store as what an export writes into: objects get their names at once, metadata last.

There is no folder beside the target which could be given its name. While a store is written a mark lies in
it, written only where none was: it tells other programs that somebody writes here. Chunks come first;
metadata, that of the root last, when all of them are there and compared: an unfinished store is not taken for
one. The journal lies in a folder of this computer, its copy beside the mark: another computer can go on.

What replaces a dataset is made below a folder in it, mark and all. When its chunks are there and compared,
the old one's root metadata goes, the chunks are copied within the store, and metadata comes last: what fails
before that leaves the old dataset whole, and what fails meanwhile leaves none that could be taken for one.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from refbrowser.engine.workers.peers import worker_name
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.folder import (
    DATASET_MARKS,
    Making,
    check_space,
    partial_of,
    remove_forgotten,
)
from refbrowser.exporting.journal import NAME, JournalCopies, Written, checked_lines, fingerprint_of
from refbrowser.exporting.objects import PORTION
from refbrowser.formats.zarr.documents import ARRAY_V2, CONSOLIDATED_V2, METADATA_NAMES, NODE_V3
from refbrowser.io.buckets.bucket import Bucket, ExistsError
from refbrowser.io.buckets.bucket_calls import ObjectFacts
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.own_names import remove
from refbrowser.io.origins import ConnectionSettings, Origin, split_url
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: Lies in a target while it is written.
MARK = ".refbrowser-export.json"
#: Its copy beside the journal: they belong together.
_OWN_MARK = "mark.json"
#: Where in a dataset lies what is to replace it.
STAGE = ".refbrowser-new/"
#: How the marks of runs begin that other processes write for.
RUN = ".refbrowser-run-"
#: How the parts of the copy of the journal begin.
JOURNAL = ".refbrowser-journal-"
#: Such a mark is looked for so often, in seconds.
_LOOK = 1.0
#: Bytes of a mark.
_MARK_SIZE = 4096
#: Names of chunks below the folder of their array: of v2, of v3, and of v3 with the keys of v2.
_CHUNK = re.compile(r"(?:.*/)?(?:c|(?:c[./])?\d+(?:[./]\d+)*)")
#: Where the v3 draft has all but its entry point.
_DRAFT = ("meta/root", "data/root")
#: What the parquet form has, at the ends of keys.
_TABLE = re.compile(r"/refs\.\d+\.parq\Z")
#: Names of strange objects that are told.
_NAMED = 5
#: Objects of which so many are copied before the next ones are thought of.
_AT_A_TIME = 10_000


class BucketPlace(Making):
    """What lies below a key of a bucket, being made. Writing is safe from any thread and any process.

    `write` and `stored` need no `open`: that, the journal and the end are of the one who exports.

    Parameters
    ----------
    target
        URL of the store.
    settings
        Of the connection to its bucket.

    Raises
    ------
    RefbrowserError
        The URL is refused; `E_USAGE`: it is that of a whole bucket.
    """

    goes_on = True
    at_once = 16
    #: Keys that differ in case are different objects.
    ignores_case = False

    def __init__(self, target: str, settings: ConnectionSettings) -> None:
        origin, key = _split(target, "name a folder in it")
        super().__init__(f"{origin}/{key}", partial_of(target))
        self.bucket = Bucket(origin, settings, self.token)
        self._key = key
        self._prefix = f"{key}/"
        #: Where it is made, below the target.
        self._at = ""
        #: What is made there, by key.
        self._staged: set[str] = set()
        self._force = False
        #: What was there at the beginning, by key; None where nobody looked yet.
        self._before: dict[str, ObjectFacts] | None = None
        #: Whether an export of somebody ended here early.
        self._was_begun = False
        #: Keys of the root's metadata, as long as the target is not finished.
        self._root: list[str] = []
        #: Who copies the journal, and how the keys of the parts begin.
        self._copies: JournalCopies | None = None
        self._journal = JOURNAL
        #: The run of another process that this one works for, and when its mark was seen last.
        self._run, self._seen = "", 0.0

    @classmethod
    def of(cls, target: str, access: Access) -> BucketPlace:
        """Return the place with the connection that the user has chosen for its bucket."""
        return cls(target, access.connection(split_url(target).origin))

    # What is there

    def _listed(self, at: str = "") -> dict[str, ObjectFacts]:
        """Return what lies below the target, or a folder in it, by key."""
        prefix = self._prefix + at
        cut = len(prefix)
        return {facts.key[cut:]: facts for facts in self.bucket.objects(prefix) if facts.key[cut:]}

    @property
    def found(self) -> dict[str, ObjectFacts]:
        """What lay below the target at the beginning, by key."""
        if self._before is None:
            self._before = self._listed()
        return self._before

    @property
    def exists(self) -> bool:
        """Whether there is something that no unfinished export has written."""
        return MARK not in self.found and not all(key.startswith(STAGE) for key in self.found)

    @property
    def is_begun(self) -> bool:
        """Whether an export of it ended early."""
        return MARK in self.found or STAGE + MARK in self.found

    @property
    def beside(self) -> Path:
        """Where files lie that are needed while a complete target is read."""
        self.partial.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self.partial.parent

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target is there and must not be replaced, with `force` or without."""
        place = Place(url=self.target)
        with suppress(FileNotFoundError):
            _head(self.bucket, self._key)
            message = "the target exists already: an object, where a folder is to be made"
            raise TargetExistsError(ErrorKind.IO, message, place, "choose another name")
        if not self.exists:
            return
        if not force:
            raise TargetExistsError(
                ErrorKind.IO, "the target exists already", place, "give --force to replace it"
            )
        if not self.is_begun and not any(mark in self.found for mark in DATASET_MARKS):
            message = "the target is a folder without a dataset, and is not replaced"
            raise RefbrowserError(ErrorKind.IO, message, place)

    def check_space(self, size: int) -> None:
        """Raise `E_IO` where what is needed beside the target does not fit the disk of this computer."""
        check_space(self.beside, size)

    # Beginning

    def fill(self, work: Callable[[Any], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the target, and end it; raises what `Making.fill` does."""
        self._force = force
        super().fill(work, resume=resume, force=force)

    def prepare(self, *, resume: bool) -> None:
        """Mark the target as being written, or find that it is our own."""
        own = self.partial / _OWN_MARK
        known = own.read_bytes() if own.is_file() else None
        self._at = STAGE if self.exists else ""
        self._was_begun = self._at + MARK in self.found
        journal = b""
        if self._was_begun:
            mark = self._read_mark()
            if mark != known:
                known = None
                if not self._force:
                    raise self._of_others(mark)
                journal = self._copied() if resume else b""
        else:
            known = None
        remove_forgotten(self.beside)
        super().prepare(resume=resume and known is not None)
        if journal:
            (self.partial / NAME).write_bytes(journal)
        if known is None:
            self._put_mark(own)
        else:
            own.write_bytes(known)
        if self._was_begun:
            self.bucket.give_up(self._prefix)
        self._delete(key for key in self.found if key.startswith(self._at + RUN))
        self._copy_journal()
        if self._at:
            # Who may not copy, or not delete, is told now.
            probe = self._prefix + self._at + RUN + "probe"
            self.bucket.copy(self._prefix + self._at + MARK, probe, len(own.read_bytes()))
            self.bucket.delete([probe])
        else:
            # From here on it is no dataset, until it is a whole one.
            self._delete(self._known_by())

    def _copy_journal(self) -> None:
        """Keep a copy of the journal in the target, in place of an earlier one."""
        self._journal = self._at + JOURNAL
        old = {int(key[-6:]): key for key in self.found if re.fullmatch(f"{self._journal}[0-9]{{6}}", key)}
        # It is kept also when the export is cancelled, and not waited for as long as chunks are.
        bucket = Bucket(self.bucket.origin, self.bucket.settings, export=False)

        def put(number: int, lines: bytes) -> None:
            bucket.put(f"{self._prefix}{self._journal}{number:06}", [lines], len(lines))

        self._copies = JournalCopies(self.partial, put, max(old, default=0) + 1, bucket.token)
        self._copies.start()
        self._delete(old.values())

    def _known_by(self) -> list[str]:
        """Return the keys of the metadata by which a dataset is known that was here."""
        return [key for key in self.found if "/" not in key and _is_metadata(key)]

    def _read_mark(self) -> bytes:
        facts = self.found[self._at + MARK]
        return self.bucket.read(facts.key, 0, min(facts.size, _MARK_SIZE))

    def _copied(self) -> bytes:
        """Return the journal of another computer."""
        parts = sorted(key for key in self.found if key.startswith(self._at + JOURNAL))
        size = sum(self.found[key].size for key in parts)
        if size > LIMITS.json_size:
            message = f"the journal in the target has {size} bytes, more than {LIMITS.json_size} (json_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=self.target), "leave --resume out")
        found = (self.bucket.read(self.found[key].key, 0, self.found[key].size) for key in parts)
        return checked_lines(b"".join(found))

    def _put_mark(self, own: Path) -> None:
        facts = {
            "refbrowser_export": 1,
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
            "computer": platform.node(),
            "process": os.getpid(),
            "id": secrets.token_hex(8),
        }
        mark = json.dumps(facts).encode()
        # First here: whose process is killed in between finds its own mark.
        own.write_bytes(mark)
        try:
            self.bucket.put(self._prefix + self._at + MARK, [mark], len(mark), new=not self._was_begun)
        except ExistsError:
            raise self._of_others(b"") from None

    def _of_others(self, mark: bytes) -> RefbrowserError:
        try:
            facts = json.loads(mark)
            who = f" (begun {quoted(facts['begun'])} on {quoted(facts['computer'])})"
        except (ValueError, LookupError, TypeError):
            who = ""
        return RefbrowserError(
            ErrorKind.IO,
            f"another export is writing this target, or was interrupted{who}",
            Place(url=self.target),
            "wait for it; if it has ended, --force --resume continues its work, and --force "
            "alone starts over",
        )

    def begin(self, entries: Iterable[Written]) -> None:
        """Go on with what an earlier run has written: that was listed."""

    def holds(self, entry: Written) -> bool:
        """Tell whether an object that an earlier run has written is still there."""
        return _is_same(self.found.get(self._at + entry.key), entry)

    # Writing

    def described(self, metadata: Mapping[str, bytes]) -> dict[str, Any]:
        """Write nothing: metadata comes after the chunks."""
        self.bucket.token = self.token
        return {}

    def write(self, key: str, portions: Iterable[Buffer], size: int) -> list[Any]:
        """Write one object whole; returns its size, its tag, and whether the store has compared its bytes.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: it cannot be written.
        """
        put = self.bucket.put(self._prefix + self._at + key, portions, size)
        return [size, put.tag, put.is_confirmed]

    def stored(self, key: str, place: Any) -> StoredObject:
        """Return an object as it is in the store, by its key and what `write` gave."""
        return StoredObject(self.bucket, self._prefix + self._at + key, place[0])

    def confirmed(self, entries: Sequence[Written]) -> frozenset[str]:
        """Return the keys of objects whose bytes the store had compared, and that are listed as written."""
        found = self._listed(self._at)
        return frozenset(
            entry.key for entry in entries if entry.place[2] and _is_same(found.get(entry.key), entry)
        )

    # Beside other processes

    @contextmanager
    def hosting(self, run: str) -> Iterator[None]:
        """Let other processes write to it meanwhile: they look whether there is a mark of the run.

        Parameters
        ----------
        run
            A name that no other run has.
        """
        fingerprint = (fingerprint_of(self.partial) or "").encode()
        mark = self._at + RUN + run
        self.bucket.put(self._prefix + mark, [fingerprint], len(fingerprint))
        try:
            yield
        finally:
            self._wanted()
            self._delete([mark])

    def join(self, run: str, fingerprint: str) -> None:
        """Write to what another process opened.

        Raises
        ------
        RefbrowserError
            `E_IO`: this process does not see what the other one opened.
        """
        self._run, found = run, ""
        for at in (STAGE, ""):
            with suppress(FileNotFoundError):
                facts = _head(self.bucket, self._prefix + at + RUN + run)
                found = self.bucket.read(facts.key, 0, facts.size).decode("utf-8", "replace")
                self._at = at
                break
        if found != fingerprint:
            raise RefbrowserError(
                ErrorKind.IO,
                f"worker {worker_name()} cannot write the target: it does not see that it is being written",
                Place(url=self.target),
                "let the connection settings of its bucket point to the same store everywhere",
            )
        self._seen = time.monotonic()

    @property
    def is_joined(self) -> bool:
        """Whether the process that opened it still wants what this one writes."""
        if time.monotonic() - self._seen > _LOOK and self._run:
            self._run = self._run if self._is_there(self._at + RUN + self._run) else ""
            self._seen = time.monotonic()
        return bool(self._run)

    def _wanted(self) -> None:
        """Let what is to be taken away be taken away, also when all was cancelled."""
        if self.bucket.token.cancelled:
            self.bucket.token = CancelToken()

    # The end

    def concluded(self, metadata: Mapping[str, bytes], entries: Sequence[Written]) -> dict[str, Any]:
        """Write the metadata when all else is there, that of the root last; remove what a dataset had before.

        Raises
        ------
        RefbrowserError
            `E_IO`: there is what should not be there, or something is not there.
        """
        chunks = {entry.key for entry in entries}
        self._staged = {key for key in self.found if key.startswith(STAGE)}
        if self._at:
            self._replace(entries)
        replaced = self._replaced({*chunks, *metadata})
        self._delete(replaced)
        root = [key for key in metadata if "/" not in key]
        below = [key for key in metadata if "/" in key]
        with ThreadPoolExecutor(self.at_once) as pool:
            written = pool.map(lambda key: self.write(key, [metadata[key]], len(metadata[key])), below)
            places = dict(zip(below, written, strict=True))
        sizes = {entry.key: entry.size for entry in entries}
        sizes |= {key: place[0] for key, place in places.items()}
        self._check_whole(sizes, kept=self.found.keys() - set(replaced))
        # Where consolidated metadata is, readers look at nothing else.
        for key in sorted(root, key=lambda key: (key == CONSOLIDATED_V2, key)):
            data = metadata[key]
            try:
                put = self.bucket.put(self._prefix + key, [data], len(data), new=True)
            except ExistsError:
                raise self._of_others(b"") from None
            except BaseException:
                # The store may have heard of it all the same.
                self._root.append(key)
                raise
            self._root.append(key)
            places[key] = [len(data), put.tag, put.is_confirmed]
        return places

    def _replace(self, entries: Sequence[Written]) -> None:
        """Give chunks the names that they have in the dataset; the old one is none from here on.

        Raises
        ------
        RefbrowserError
            `E_IO`: one is not as it was.
        """
        staged, self._at = self._listed(STAGE), ""
        self._staged.update(STAGE + key for key in staged)
        self._staged.update(STAGE + entry.key for entry in entries)
        self._delete(self._known_by())

        def give(entry: Written) -> str:
            facts = self.bucket.copy(self._prefix + STAGE + entry.key, self._prefix + entry.key, entry.size)
            known = staged[entry.key].md5 if entry.key in staged else ""
            # Where the store had no MD5 of what was sent, what looks like one may be anything.
            is_other = entry.place[2] and known and facts.md5 and known != facts.md5
            return entry.key if is_other else ""

        different: list[str] = []
        with ThreadPoolExecutor(self.at_once) as pool:
            for start in range(0, len(entries), _AT_A_TIME):
                different += filter(None, pool.map(give, entries[start : start + _AT_A_TIME]))
        if different:
            raise self._wrong(f"{len(different)} objects differ from what was copied", different)

    def _replaced(self, wanted: Collection[str]) -> list[str]:
        """Return the keys of what a dataset, or an unfinished one, had here; nothing else is deleted."""
        arrays = {
            key.rpartition("/")[0] for key in self.found if key.rpartition("/")[2] in (ARRAY_V2, NODE_V3)
        }

        def belongs(key: str) -> bool:
            if key == MARK or key.startswith(STAGE):
                return False
            if _is_metadata(key) or (NODE_V3 in self.found and key.startswith(_DRAFT)):
                return True
            if _CHUNK.fullmatch(key) is None:
                return False
            folders = ["", *(key[:at] for at, letter in enumerate(key) if letter == "/")]
            # An export that ended early has written what lies where no array is.
            was_written = STAGE + key in self.found or (self._was_begun and MARK in self.found)
            return was_written or any(folder in arrays for folder in folders)

        return [key for key in self.found if key not in wanted and belongs(key)]

    def _check_whole(self, wanted: Mapping[str, int], kept: Collection[str]) -> None:
        """List the target, and compare keys and sizes: what lies there besides was there before."""
        found = self._listed()
        # What a list does not show, or still shows, is asked for by itself.
        doubtful = [key for key, size in wanted.items() if key not in found or found[key].size != size]
        missing = [key for key in doubtful if not self._is_there(key, wanted[key])]
        if missing:
            raise self._wrong(f"{len(missing)} written objects are missing", missing)
        strange = [key for key in found if _is_part(key) and not key.startswith((MARK, STAGE))]
        strange = [key for key in strange if key not in wanted and key not in kept and self._is_there(key)]
        if strange:
            raise self._wrong(f"{len(strange)} objects were written by another program", strange)

    def _is_there(self, key: str, size: int | None = None) -> bool:
        try:
            facts = _head(self.bucket, self._prefix + key)
        except FileNotFoundError:
            return False
        return size in (None, facts.size)

    def _wrong(self, what: str, keys: list[str]) -> RefbrowserError:
        named = ", ".join(map(quoted, keys[:_NAMED])) + (", …" if len(keys) > _NAMED else "")
        return RefbrowserError(
            ErrorKind.IO,
            f"verification failed: {what}: {named}",
            Place(url=self.target, key=keys[0]),
            "--resume continues once no other program writes there",
        )

    def _delete(self, keys: Iterable[str]) -> None:
        self.bucket.delete(self._prefix + key for key in keys)

    def finish(self, *, force: bool) -> None:
        """Take the mark away: the store is whole."""
        if self._copies is not None:
            self._copies.stop()
            self._delete(f"{self._journal}{number:06}" for number in range(1, self._copies.number))
            self._copies = None
        self._delete(self._staged - {STAGE + MARK})
        self._delete([MARK, STAGE + MARK] if self._staged else [MARK])
        self._root = []
        remove(self.partial)

    def leave(self) -> None:
        """Let another export write this target; what is not finished is no dataset."""
        if self._root:
            self._wanted()
            with suppress(RefbrowserError):
                self._delete(self._root)
            self._root = []
        if self._copies is not None:
            self._copies.end()
            self._copies = None
        self._before = None
        super().leave()

    def complete(self) -> CompleteBucket:
        """Return the finished target for reading."""
        return CompleteBucket(self.bucket, self._prefix)


class StoredObject:
    """An object that can be read in parts."""

    def __init__(self, bucket: Bucket, key: str, size: int) -> None:
        self._bucket, self._at = bucket, key
        self.size = size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the object; fewer where it ends."""
        return self._bucket.read(self._at, offset, min(offset + size, self.size))


class CompleteBucket:
    """A store in a bucket that an export has written."""

    def __init__(self, bucket: Bucket, prefix: str) -> None:
        self._bucket, self._prefix = bucket, prefix

    def stored(self, key: str) -> StoredObject:
        """Return an object.

        Raises
        ------
        OSError
            It is not there.
        """
        facts = _head(self._bucket, self._prefix + key)
        return StoredObject(self._bucket, facts.key, facts.size)


class BucketDocument:
    """A reference document in a bucket: made in a folder of this computer, and sent when it is verified.

    Parameters
    ----------
    target
        URL of the document: one object, or a folder of tables.
    settings
        Of the connection to its bucket.

    Raises
    ------
    RefbrowserError
        The URL is refused; `E_USAGE`: it is that of a whole bucket.
    """

    def __init__(self, target: str, settings: ConnectionSettings) -> None:
        origin, self._key = _split(target)
        self.target = f"{origin}/{self._key}"
        self.token = CancelToken()
        self.bucket = Bucket(origin, settings, self.token)
        #: Where it is made.
        self.path = ""
        #: What is there, by key within the bucket: an object, or a folder of tables.
        self._before: set[str] = set()

    @classmethod
    def of(cls, target: str, access: Access) -> BucketDocument:
        """Return the place with the connection that the user has chosen for its bucket."""
        return cls(target, access.connection(split_url(target).origin))

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target is there and must not be replaced, with `force` or without."""
        place = Place(url=self.target)
        self._before = {facts.key for facts in self.bucket.objects(f"{self._key}/")}
        folder = set(self._before)
        with suppress(FileNotFoundError):
            self._before.add(_head(self.bucket, self._key).key)
        if not self._before:
            return
        if not force:
            raise TargetExistsError(
                ErrorKind.IO, "the target exists already", place, "give --force to replace it"
            )
        if folder and not {f"{self._key}/{name}" for name in (CONSOLIDATED_V2, MARK)} & folder:
            message = "the target is a folder without a reference document, and is not replaced"
            raise RefbrowserError(ErrorKind.IO, message, place)

    def check_space(self, size: int) -> None:
        """Documents are small beside what they refer to."""

    def fill(self, work: Callable[[Any], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the document, and send it; what it is known by comes last.

        Raises
        ------
        RefbrowserError
            It cannot be sent, or is not there as it was sent. What `work` raises.
        """
        with TemporaryDirectory(prefix="refbrowser-") as folder:
            made = Path(folder) / (self._key.rpartition("/")[2] or "document")
            self.path = str(made)
            work(self)
            self.bucket.token = self.token
            if made.is_file():
                self._send(self._key, made, new=not self._before)
                return
            tables = {f"{self._key}/{path.relative_to(made).as_posix()}": path for path in _files(made)}
            known_by, mark = f"{self._key}/{CONSOLIDATED_V2}", f"{self._key}/{MARK}"
            # First: where nothing can be written, what was there stays.
            self.bucket.put(mark, [], 0)
            self.bucket.delete({known_by} & self._before)
            for key, path in tables.items():
                if key != known_by:
                    self._send(key, path)
            self.bucket.delete(key for key in self._before - set(tables) if _TABLE.search(key))
            self._send(known_by, tables[known_by], new=True)
            self.bucket.delete([mark])

    def _send(self, key: str, path: Path, *, new: bool = False) -> None:
        size = path.stat().st_size
        put = self.bucket.put(key, _portions(path), size, new=new)
        if put.is_confirmed:
            return
        # The store does not say what it has: it is read again.
        for offset, portion in zip(range(0, size, PORTION), _portions(path), strict=True):
            if self.bucket.read(key, offset, offset + len(portion)) != portion:
                raise RefbrowserError(
                    ErrorKind.IO,
                    "verification failed: the object differs from what was written",
                    Place(url=self.bucket.url(key)),
                )


def _split(target: str, advice: str = "") -> tuple[Origin, str]:
    """Return the bucket of a target, and its key there.

    Raises
    ------
    RefbrowserError
        The URL is refused; `E_USAGE`: it is that of a whole bucket.
    """
    parts = split_url(target)
    key = parts.path.strip("/")
    if not key:
        raise RefbrowserError(ErrorKind.USAGE, "the target is a whole bucket", Place(url=target), advice)
    return parts.origin, key


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _portions(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while portion := stream.read(PORTION):
            yield portion


def _head(bucket: Bucket, key: str) -> ObjectFacts:
    try:
        return bucket.head(key)
    except AbsentError:
        raise FileNotFoundError(key) from None


def _is_same(facts: ObjectFacts | None, entry: Written) -> bool:
    return facts is not None and facts.size == entry.size and facts.tag == entry.place[1]


def _is_metadata(key: str) -> bool:
    return key.rpartition("/")[2] in METADATA_NAMES


def _is_part(key: str) -> bool:
    """Tell whether a key is one that a store may have."""
    return _is_metadata(key) or _CHUNK.fullmatch(key) is not None
