"""What one opened document may read, members of archives too (safety design, section 5)."""

from __future__ import annotations

import ntpath
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.access import windows_paths
from refbrowser.io.archives.known_archives import Confirm, ZipArchives
from refbrowser.io.identity import ObjectIdentities, Recorded
from refbrowser.io.origins import (
    DEFAULT_PORTS,
    OBJECT_STORES,
    ConnectionSettings,
    Origin,
    is_below,
    is_private_name,
    local_path,
    scheme_of,
    split_url,
)
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.locks.lock_watch import LockWatch

ZIP = "zip://"
#: Stands between a member and its archive.
LINK = "::"


class Chained(NamedTuple):
    """A member of an archive, and the URL of that."""

    member: str
    archive: str


def is_chained(url: str) -> bool:
    """Return whether a URL names a member of a zip archive."""
    return url.startswith(ZIP)


def chained_url(member: str, archive: str) -> str:
    """Return the URL of a member."""
    return f"{ZIP}{member}{LINK}{archive}"


def storage_url(url: str) -> str:
    """Return the URL of the object that is read for a URL: of a member, its archive."""
    return url.partition(LINK)[2] if is_chained(url) else url


def split_chained(url: str) -> Chained:
    """Take the URL of a member apart; the archive's own URL is not looked at.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: it names no archive, or an archive within an archive; `E_BUDGET`: the name is too long.
    """
    member, link, archive = url.removeprefix(ZIP).partition(LINK)
    if not member or not link or not archive:
        message = "the URL of a zip member is zip://MEMBER::ARCHIVE"
        raise RefbrowserError(ErrorKind.PROTOCOL, message, Place(url=url))
    if is_chained(archive):
        raise RefbrowserError(ErrorKind.PROTOCOL, "archives within archives are not read", Place(url=url))
    if len(member) > LIMITS.key_length:
        message = f"the name of a zip member has {len(member)} characters, more than {LIMITS.key_length}"
        raise RefbrowserError(ErrorKind.BUDGET, f"{message} (key_length)", Place(url=url[:200]))
    return Chained(member, archive)


#: What is put behind the name of a document for that of its lock.
_LOCK = ".lock.json"


def lock_path(document: str) -> str:
    """Return the path or URL of the lock of a document."""
    return path_beside(document, _LOCK)


def path_beside(document: str, suffix: str) -> str:
    """Return the path or URL of a file that lies beside a document, with a suffix behind its name."""
    if "://" in document:
        name, mark, query = document.partition("?")
        return f"{name.rstrip('/')}{suffix}{mark}{query}"
    return document.rstrip(os.sep) + suffix


_NEVER = ("/proc", "/sys", "/dev")
#: Below one of those, and a disk like others, in memory.
_MEMORY = "/dev/shm"
_AS_USUAL = ConnectionSettings()


def is_never_read(path: str) -> bool:
    """Tell whether a path, absolute and with links resolved, is a device or what the kernel tells."""
    return any(is_below(path, folder) for folder in _NEVER) and not is_below(path, _MEMORY)


class Location(NamedTuple):
    """A checked place where bytes lie.

    Attributes
    ----------
    url
        Absolute and canonical: what messages show and objects are known by.
    origin
        What a permission is asked for; the folder, for a file.
    path
        File path with links resolved, http request target, or object key; empty for a member of an archive.
    member
        Name of the member of a zip archive; empty elsewhere.
    """

    url: str
    origin: Origin
    path: str
    member: str = ""

    @property
    def scheme(self) -> str:
        """One of ``file http https s3 gs abfs``."""
        return self.origin.scheme


@dataclass(frozen=True, slots=True)
class Want:
    """One line of the permission sheet.

    Attributes
    ----------
    origin
        None where it depends on a dimension of a rule: `pattern` is shown then; and where it is `package`.
    kind
        ``host``, ``bucket``, ``folder`` or ``private`` (a host that needs its own confirmation); ``package``.
    count
        Number of references (Python int); of a package, of arrays.
    size
        Bytes in all, None where that is not known.
    package
        An installed package, whose codecs are to decode chunks.
    """

    origin: Origin | None
    kind: str
    count: int
    size: int | None
    allowed: bool
    pattern: str = ""
    package: str = ""

    @property
    def is_pattern(self) -> bool:
        """Whether no permission can be asked for beforehand."""
        return self.origin is None and not self.package


@dataclass(frozen=True, slots=True)
class Source:
    """References that share a URL, or the static beginning of the URL of a rule (`is_pattern`)."""

    url: str
    count: int = 1
    size: int | None = None
    is_pattern: bool = False


class News:
    """Tells those who follow what reads turned up: failed chunks, damaged members, stale files."""

    def __init__(self) -> None:
        self._followers: tuple[Callable[[], None], ...] = ()

    def follow(self, follower: Callable[[], None]) -> None:
        """Call a function whenever there is news, from whatever thread found it out."""
        self._followers = (*self._followers, follower)

    def leave(self, follower: Callable[[], None]) -> None:
        """Call it no more."""
        self._followers = tuple(each for each in self._followers if each != follower)

    def tell(self) -> None:
        """Call them all."""
        for follower in self._followers:
            follower()


class AccessMemory:
    """What was learned since the document was opened; shared by all its `Access` values, thread-safe."""

    def __init__(
        self, recorded: Mapping[str, Recorded] | None = None, locked: LockWatch | None = None
    ) -> None:
        self.identities = ObjectIdentities(recorded)
        self.news = News()
        #: What files are held against as they are touched; None where there is no lock.
        self.locked: LockWatch | None = None
        #: What is wrong with the lock beside the document.
        self.lock_fault: Finding | None = None
        if locked is not None:
            self.hold_against(locked)
        self.archives = ZipArchives(self.news.tell)
        #: Where archives lie, by the folder of the document and their URL: they have very many members.
        self.archive_places: dict[tuple[str, str], Location] = {}
        self._lock = threading.Lock()
        self._met: dict[Origin, bool] = {}
        self._warned: dict[Finding, None] = {}
        #: Folders as they are spelled, to what is asked for them, and what stands before names in them.
        self._folders: dict[str, tuple[Origin, str]] = {}

    def __reduce__(self) -> tuple[type[AccessMemory], tuple[Mapping[str, Recorded], LockWatch | None]]:
        # What one process learned says nothing to another one.
        return AccessMemory, (self.identities.recorded, self.locked)

    def hold_against(self, locked: LockWatch) -> None:
        """Compare files with a lock from now on, as they answer."""
        self.locked = self.identities.watch = locked
        locked.turned = self.news.tell

    def local(self, path: str) -> Location:
        """Return where a path leads, with links resolved; those of a folder are looked at once.

        Raises
        ------
        RefbrowserError
            `E_UNSAFE`: to devices or the kernel's files.
        """
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir):
            return _local_at(os.path.realpath(path))
        place = self._folders.get(folder)
        if place is None:
            real = os.path.realpath(folder)
            _check_folder(real)
            place = self._folders[folder] = Origin("file", folder=real), os.path.join(real, "")
        origin, before = place
        joined = before + name
        if os.path.islink(joined) or joined in _NEVER:
            return _local_at(os.path.realpath(joined))
        return Location(joined, origin, joined)

    def meet(self, origin: Origin, private: bool) -> None:
        """Remember an origin that no reference names (a redirect), or that proved to be private."""
        with self._lock:
            self._met[origin] = self._met.get(origin, False) or private

    def warn(self, finding: Finding) -> None:
        """Remember what is to be warned of in bytes that were read, once."""
        with self._lock:
            if len(self._warned) < LIMITS.warnings_kept:
                self._warned.setdefault(finding)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What was to be warned of so far in what was read."""
        with self._lock:
            fault = () if self.lock_fault is None else (self.lock_fault,)
            stale = () if self.locked is None else self.locked.findings
            return (*fault, *self.identities.warnings, *stale, *self._warned)

    @property
    def met(self) -> dict[Origin, bool]:
        """Origins that `meet` was called with, and whether they are private."""
        with self._lock:
            return dict(self._met)


@dataclass(frozen=True, slots=True)
class Access:
    """What one opened document may read; a value, `allow` gives the next one.

    Attributes
    ----------
    base
        Folder of the document (absolute, links resolved) or the URL that it came from; empty of one that lies
        nowhere.
    from_network
        The document came over the network: it may not name local files.
    allowed
        Origins that the user allowed.
    private
        Those of them that are allowed even when their address is private.
    settings
        Connection settings that the user gave, per origin.
    store
        The URL that everything in the opened store begins with; None where it is no store.
    confirm
        When members of archives are confirmed of which a part is read.
    lenders
        Codecs, or packages with all theirs, that may decode though they are not of the table.
    """

    base: str
    from_network: bool
    allowed: frozenset[Origin] = frozenset()
    private: frozenset[Origin] = frozenset()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    memory: AccessMemory = field(default_factory=AccessMemory, compare=False)
    store: str | None = None
    confirm: Confirm = Confirm.BOUNDED
    lenders: frozenset[str] = frozenset()

    @classmethod
    def for_document(
        cls,
        source: str | os.PathLike[str],
        allow: Iterable[Origin] = (),
        settings: Mapping[Origin, ConnectionSettings] | None = None,
    ) -> Access:
        """Return the access of a document that the user named: its own origin, and what is in `allow`.

        Raises
        ------
        RefbrowserError
            The source is refused by `split_url`.
        """
        named = os.fspath(source)
        exact = frozenset(allow)
        path = local_path(named)
        if path is not None:
            folder = os.path.dirname(os.path.realpath(path))
            return cls(folder, False, exact, exact, settings or {})
        exact |= {split_url(named).origin}
        return cls(named, True, exact, exact, settings or {})

    @classmethod
    def for_nothing(
        cls, allow: Iterable[Origin] = (), settings: Mapping[Origin, ConnectionSettings] | None = None
    ) -> Access:
        """Return the access of a document that lies nowhere: to what is in `allow`."""
        exact = frozenset(allow)
        return cls("", False, exact, exact, settings or {})

    @classmethod
    def for_store(
        cls,
        root: str,
        allow: Iterable[Origin] = (),
        settings: Mapping[Origin, ConnectionSettings] | None = None,
    ) -> Access:
        """Return the access of a store (a folder or a URL) that the user named: to what lies below its root.

        Raises
        ------
        RefbrowserError
            The root is refused by `split_url`.
        """
        exact = frozenset(allow)
        path = local_path(root)
        if path is not None:
            folder = os.path.realpath(path)
            below = folder.rstrip(os.sep) + os.sep
            return cls(folder, False, exact, exact, settings or {}, store=below)
        access = cls.for_document(root, exact, settings)
        return replace(access, store=access.locate(root).url.rstrip("/") + "/")

    @classmethod
    def for_archive(
        cls,
        source: str | os.PathLike[str],
        allow: Iterable[Origin] = (),
        settings: Mapping[Origin, ConnectionSettings] | None = None,
    ) -> Access:
        """Return the access of a store in a zip archive that the user named.

        Raises
        ------
        RefbrowserError
            The source is refused by `split_url`.
        """
        access = cls.for_document(source, allow, settings)
        named = os.fspath(source)
        archive = access.locate(os.path.realpath(named) if scheme_of(named) is None else named)
        return replace(access, store=chained_url("", archive.url))

    def is_missing(self, error: RefbrowserError | None) -> bool:
        """Tell whether an error says that the opened store does not have one of its own objects."""
        if self.store is None or not isinstance(error, AbsentError):
            return False
        url = error.place.url or ""
        if is_chained(url):
            # Members of the archive, whatever their name.
            url = chained_url("", split_chained(url).archive)
        return url.startswith(self.store)

    @property
    def is_lost(self) -> bool:
        """Whether the folder of the opened store is gone, as a disk that was unplugged.

        Nothing is known of its chunks then: a file that is not there is no missing one.
        """
        return self.store is not None and os.path.isabs(self.store) and not os.path.isdir(self.store)

    def allow(self, origins: Iterable[Origin], private: bool = False) -> Access:
        """Return this access with more origins; with `private`, also where their address is private."""
        new = frozenset(origins)
        confirmed = self.private | new if private else self.private
        return replace(self, allowed=self.allowed | new, private=confirmed)

    def lending(self, names: Iterable[str]) -> Access:
        """Return this access with more codecs, or packages, that may decode."""
        return replace(self, lenders=self.lenders | frozenset(names))

    def confirming(self, confirm: Confirm) -> Access:
        """Return this access for reads that confirm members of archives at another time."""
        return replace(self, confirm=confirm)

    def at_once(self) -> Access:
        """Return this access for views: they show parts of members before those are confirmed."""
        return self.confirming(Confirm.LATER)

    @property
    def scope(self) -> tuple[AccessMemory, bool]:
        """What bytes are kept under: of one document, those that may not be confirmed by themselves."""
        return self.memory, self.confirm is Confirm.LATER

    def connection(self, origin: Origin) -> ConnectionSettings:
        """Return the user's settings for an origin, or the defaults."""
        return self.settings.get(origin) or _AS_USUAL

    def are_stale(self, columns: ReferenceColumns) -> npt.NDArray[np.bool_]:
        """Return which references lead to files that are not those of the lock, of those touched so far."""
        stale = frozenset() if self.memory.locked is None else self.memory.locked.stale_urls
        if not stale:
            return np.zeros(len(columns), bool)
        # The last one is for references to no file.
        return np.array([*(storage_url(url) in stale for url in columns.urls), False])[columns.url]

    def locate(self, url: str) -> Location:
        """Return where a reference's URL points, without asking whether it may be read.

        Raises
        ------
        RefbrowserError
            `E_PROTOCOL` or `E_UNSAFE`: the URL can never be read from this document.
        """
        if is_chained(url):
            member, archive = split_chained(url)
            inner = self.memory.archive_places.get((self.base, archive))
            if inner is None:
                inner = self.memory.archive_places[self.base, archive] = self.locate(archive)
            # Without a path nobody takes the bytes of the archive for those of its member.
            return Location(chained_url(member, inner.url), inner.origin, "", member)
        location = self._located(url)
        if self.memory.locked is not None:
            self.memory.locked.met(url, location.url)
        return location

    def _located(self, url: str) -> Location:
        if self.from_network and scheme_of(url) is None:
            url = self._joined(url)
        parts = split_url(url)
        if parts.scheme == "file":
            if self.from_network:
                message = "a document from the network may not refer to local files"
                raise RefbrowserError(ErrorKind.UNSAFE, message, Place(url=url))
            return self._local(parts.path, url)
        origin = parts.origin
        separator = "" if parts.scheme in DEFAULT_PORTS else "/"
        return Location(f"{origin}{separator}{parts.path}", origin, parts.path)

    def is_path(self, url: str) -> bool:
        """Tell whether a reference's URL is the path of a file; where that leads is not looked at."""
        return not self.from_network and scheme_of(url) is None

    def resolve(self, url: str) -> Location:
        """Return where a reference's URL points, if it may be read.

        Raises
        ------
        RefbrowserError
            `E_PROTOCOL`, `E_UNSAFE`, or `E_BLOCKED` where a permission is missing.
        """
        location = self.locate(url)
        self.check(location)
        return location

    def check(self, location: Location) -> None:
        """Raise `E_BLOCKED` unless `location` may be read."""
        if not self.permits(location):
            raise blocked(location)

    def permits(self, location: Location) -> bool:
        """Tell whether a permission covers `location`; a private host needs one of its own."""
        origin = location.origin
        if origin.scheme == "file":
            if self._is_own(origin.folder):
                return True
            return any(granted.covers(origin) for granted in self.allowed)
        if origin not in self.allowed:
            return False
        return origin in self.private or not is_private_origin(origin)

    def _is_own(self, folder: str) -> bool:
        """Tell whether a local folder is that of the document, or lies below."""
        return bool(self.base) and not self.from_network and is_below(folder, self.base)

    def permits_private(self, origin: Origin) -> bool:
        """Tell whether `origin` may be read although its address is private."""
        return origin in self.private

    def wanted(self, sources: Iterable[Source]) -> list[Want]:
        """Return one line for each origin that the document wants, in order of first appearance.

        Files in the document's own folder are left out, and so are URLs that can never be read.
        """
        counts: dict[tuple[Origin | None, str], list[int | None]] = {}
        for source in sources:
            origin, pattern = self._origin(source)
            if origin is None and not pattern:
                continue
            if origin is not None and origin.scheme == "file" and self._is_own(origin.folder):
                continue
            entry = counts.setdefault((origin, pattern), [0, 0])
            entry[0] = (entry[0] or 0) + source.count
            entry[1] = None if entry[1] is None or source.size is None else entry[1] + source.size
        for origin in self.memory.met:
            counts.setdefault((origin, ""), [0, None])
        return [
            self._want(origin, pattern, count or 0, size)
            for (origin, pattern), (count, size) in counts.items()
        ]

    def _want(self, origin: Origin | None, pattern: str, count: int, size: int | None) -> Want:
        if origin is None:
            return Want(None, "host", count, size, False, pattern)
        private = is_private_origin(origin) or self.memory.met.get(origin, False)
        permitted = self.permits(Location("", origin, "")) and (not private or origin in self.private)
        if origin.scheme == "file":
            kind = "folder"
        elif origin.scheme in OBJECT_STORES:
            kind = "bucket"
        else:
            kind = "private" if private else "host"
        return Want(origin, kind, count, size, permitted)

    def _origin(self, source: Source) -> tuple[Origin | None, str]:
        text = source.url
        if source.is_pattern and scheme_of(text) is not None and text.count("/") < 3:
            return None, text
        try:
            return self.locate(text + "x" if source.is_pattern else text).origin, ""
        except RefbrowserError:
            return None, ""

    def _joined(self, url: str) -> str:
        if url.startswith(("/", "\\")) or url[1:3] in (":\\", ":/"):
            message = "a document from the network may not refer to local files"
            raise RefbrowserError(ErrorKind.UNSAFE, message, Place(url=url))
        parts = split_url(self.base)
        try:
            if parts.scheme in DEFAULT_PORTS:
                return urljoin(self.base, url)
            # urljoin joins only the schemes that it knows.
            joined = urljoin(f"http://bucket/{parts.path}", url).removeprefix("http://bucket/")
        except ValueError:
            # It takes white space away, and then meets brackets that are no address.
            raise RefbrowserError(ErrorKind.UNSAFE, "the URL is malformed", Place(url=url)) from None
        return f"{parts.origin}/{joined}"

    def _local(self, path: str, url: str) -> Location:
        if not self.base and not os.path.isabs(path):
            message = "the name is relative, and the references are not in a folder"
            raise RefbrowserError(ErrorKind.REF, message, Place(url=url))
        if windows_paths.HERE:
            if fault := windows_paths.fault_of(path):
                raise RefbrowserError(ErrorKind.UNSAFE, fault, Place(url=url))
            if windows_paths.is_elsewhere(path, self.base):
                # Where its links lead, that machine alone knows; it is not asked before it may be.
                place = windows_paths.unresolved(path)
                return Location(place, Origin("file", folder=ntpath.dirname(place)), place)
        try:
            return self.memory.local(os.path.join(self.base, path))
        except RefbrowserError as error:
            raise error.at(Place(url=url)) from None


def _local_at(real: str) -> Location:
    _check_folder(real)
    return Location(real, Origin("file", folder=os.path.dirname(real)), real)


def _check_folder(real: str) -> None:
    """Raise E_UNSAFE for what lies among devices or the kernel's files."""
    if os.name == "posix" and is_never_read(real):
        raise RefbrowserError(ErrorKind.UNSAFE, "device and kernel files are never read")


def blocked(location: Location) -> RefbrowserError:
    """Return the error for a location that needs a permission."""
    return RefbrowserError(
        ErrorKind.BLOCKED,
        f"reading from {location.origin} needs permission",
        Place(url=location.url),
        location.origin.how_to_allow,
    )


def sources_in(columns: ReferenceColumns) -> list[Source]:
    """Return the references in `columns` counted per URL, with their sizes where all are ranges."""
    has_url = columns.url >= 0
    ids = columns.url[has_url]
    most = len(columns.urls)
    counts = np.bincount(ids, minlength=most)
    whole = np.bincount(ids[columns.kind[has_url] == ReferenceKind.WHOLE], minlength=most)
    ranges = columns.kind == ReferenceKind.RANGE
    sizes = np.bincount(columns.url[ranges], weights=columns.length[ranges].astype(float), minlength=most)
    return [
        Source(columns.urls[number], int(counts[number]), None if whole[number] else int(sizes[number]))
        for number in np.flatnonzero(counts).tolist()
    ]


def is_private_origin(origin: Origin) -> bool:
    """Tell whether an origin's host names a private address, without asking a resolver."""
    return origin.scheme in DEFAULT_PORTS and is_private_name(origin.host)


def urls_named(names: Sequence[str], urls: Sequence[str], access: Access, path: str) -> list[str]:
    """Return the URLs of a document that some names mean: as it spells them, or any path to the same file.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one means none of them.
    """
    known = set(urls)
    found = {name for name in names if name in known}
    others = [name for name in names if name not in known]
    by_place: dict[str, list[str]] = {}
    for url in urls if others else ():
        with suppress(RefbrowserError):
            by_place.setdefault(_place_of(access.locate(url)), []).append(url)
    for name in others:
        places = [] if scheme_of(name) is not None else [os.path.realpath(os.path.expanduser(name))]
        with suppress(RefbrowserError):
            places.append(_place_of(access.locate(name)))
        meant = next((by_place[place] for place in places if place in by_place), None)
        if meant is None:
            message = f"the document does not refer to {quoted(name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(document=path), _ADVICE)
        found.update(meant)
    return sorted(found)


def _place_of(location: Location) -> str:
    """Return where something is: of a local file its path with links resolved."""
    return os.path.realpath(location.path) if location.scheme == "file" else location.url


_ADVICE = "refbrowser move DOC lists the places of the files"
