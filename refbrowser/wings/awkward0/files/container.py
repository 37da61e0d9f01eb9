"""What files of Awkward 0 are: a folder of blobs, a zip archive; or what stands in HDF5 (`hdf5`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.stores.reader import is_text
from refbrowser.io.access.access import chained_url
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.archives.entries import METHODS, PACKED, STORED
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.archive_reading import read_archive, read_members, rescue_archive
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.archives.directory import ZipDirectory
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher


@dataclass(frozen=True, slots=True)
class Blob:
    """Named bytes of a container.

    Attributes
    ----------
    name
        Whole name in the container (``one-1.raw``, ``group/1``).
    reference
        Where its bytes are, already free of the container's compression where `is_packed` is False.
    size
        Bytes, unpacked; as the container announces them.
    stored
        Bytes as they are stored.
    method
        How the container stores them: ``stored``, ``deflate``, ``bz2``, ``lzma``, ``hdf5``, ``file``.
    error
        Why it cannot be read.
    """

    name: str
    reference: Reference
    size: int
    stored: int
    method: str = "stored"
    error: RefbrowserError | None = None

    @property
    def is_packed(self) -> bool:
        """Whether its bytes must be unpacked as a whole."""
        return self.method in PACKED


class Container(Protocol):
    """The blobs of one file or folder; its names were read, its bytes were not."""

    @property
    def url(self) -> str:
        """URL or absolute path."""
        ...

    @property
    def kind(self) -> str:
        """``zip``, ``hdf5`` or ``folder``."""
        ...

    @property
    def findings(self) -> Sequence[Finding]:
        """What is wrong with it: a damaged directory, names twice."""
        ...

    def names(self) -> Iterable[str]:
        """Return the names of all blobs, in the order of the container."""
        ...

    def find(self, name: str) -> Blob | None:
        """Return a blob, or None where there is none of that name."""
        ...

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return whole small blobs (schemas), at most `most` bytes each; absent ones are left out."""
        ...


class FolderContainer:
    """The files of a folder and of the folders below it (`Container`); never one outside of it.

    Parameters
    ----------
    root
        Absolute, with links resolved.
    """

    kind = "folder"

    def __init__(self, root: str, token: CancelToken | None = None) -> None:
        self.url = root
        self._token = token or CancelToken()
        self._is_cut = False

    @property
    def findings(self) -> Sequence[Finding]:
        """What is wrong with it: it has too many files."""
        _ = self._blobs
        if not self._is_cut:
            return ()
        message = (
            f"only the first {AWKWARD_LIMITS.awkward_files} files of the folder are checked (awkward_files)"
        )
        place = Place(url=self.url)
        return (Finding(severity=Severity.WARNING, kind=ErrorKind.BUDGET, message=message, place=place),)

    @cached_property
    def _blobs(self) -> dict[str, Blob]:
        blobs: dict[str, Blob] = {}
        for name, path, size in self._files():
            if len(blobs) >= AWKWARD_LIMITS.awkward_files:
                self._is_cut = True
                break
            blobs[name] = Blob(name, WholeFile(path), size, size, "file")
        return blobs

    def _files(self) -> Iterator[tuple[str, str, int]]:
        """Yield the name, real path and size of each file, those of a folder before those below it."""
        pending = [""]
        while pending:
            self._token.check()
            folder = pending.pop(0)
            folders: list[str] = []
            for entry in self._entries(folder):
                name = folder + entry.name
                if not is_text(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{name}/")
                    continue
                # Links to folders are not followed: what they lead to has a name of its own.
                path = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if is_below(path, self.url) and os.path.isfile(path):
                    yield name, path, os.path.getsize(path)
            if folder.count("/") < LIMITS.group_nesting:
                pending += folders

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.url, folder)) as entries:
                found: list[os.DirEntry[str]] = []
                for entry in entries:
                    if len(found) >= AWKWARD_LIMITS.awkward_files:
                        self._is_cut = True
                        break
                    found.append(entry)
        except OSError:
            return []
        return sorted(found, key=lambda entry: entry.name)

    def names(self) -> Iterable[str]:
        """Return the names of all files, relative to the folder, with ``/`` between parts."""
        return self._blobs

    def find(self, name: str) -> Blob | None:
        """Return a file, or None where there is none of that name."""
        return self._blobs.get(name)

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return the bytes of small files; absent ones are left out."""
        found: dict[str, bytes | RefbrowserError] = {}
        for name in names:
            self._token.check()
            blob = self._blobs.get(name)
            if blob is None or not isinstance(blob.reference, WholeFile):
                continue
            try:
                found[name] = _content(blob.reference.url, most)
            except RefbrowserError as error:
                found[name] = error
        return found


def _content(path: str, most: int) -> bytes:
    with open_regular(path) as (descriptor, identity):
        if identity.size > most:
            message = f"a file of {identity.size} bytes is larger than {most}"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=path))
        pieces = []
        left = identity.size
        while left and (piece := os.read(descriptor, left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


@dataclass(frozen=True, eq=False)
class ZipContainer:
    """The members of an archive (`Container`).

    Those that are stored as they are in an archive without a sound directory are ranges of it: no other
    software would find them by their names.

    Attributes
    ----------
    directory
        Of the archive.
    access, fetcher, token
        What schemas are read with.
    findings
        What is wrong with the archive.
    is_rescued
        Whether its directory was made from the headers of its members.
    """

    directory: ZipDirectory
    access: Access
    fetcher: Fetcher
    token: CancelToken | None = None
    findings: Sequence[Finding] = ()
    is_rescued: bool = False
    kind: str = "zip"

    @property
    def url(self) -> str:
        """URL or absolute path of the archive."""
        return self.directory.url

    def names(self) -> Iterable[str]:
        """Return the names of the members that can be named, in the order of the directory."""
        return self.directory.names()

    def find(self, name: str) -> Blob | None:
        """Return a member, or None where there is none of that name."""
        row = self.directory.find(name)
        if row is None:
            return None
        return Blob(
            name,
            self._reference(name, row),
            self.directory.size_of(row),
            self.directory.packed_size_of(row),
            METHODS.get(self.directory.method_of(row), "unknown"),
            self.directory.error(row),
        )

    def _reference(self, name: str, row: int) -> WholeFile | ByteRange:
        url = self.directory.url
        start = self.access.memory.archives.data_start(url, row) if self.is_rescued else None
        if start is None or self.directory.method_of(row) != STORED:
            return WholeFile(chained_url(name, url))
        return ByteRange(url, start, self.directory.size_of(row))

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return whole members, few ranges for all of them; absent ones are left out."""
        return read_members(self.directory, names, self.access, self.fetcher, self.token, most)


def open_zip(path: str, access: Access, fetcher: Fetcher, token: CancelToken) -> ZipContainer:
    """Open an archive; with a directory that is damaged or not there, as far as its members are found.

    Parameters
    ----------
    path
        Absolute, or a URL.

    Raises
    ------
    RefbrowserError
        It cannot be read, or nothing of an archive is left.
    """
    url = access.resolve(path).url
    try:
        directory = read_archive(url, access, fetcher, token)
        return ZipContainer(directory, access, fetcher, token, tuple(directory.findings()))
    except RefbrowserError as error:
        if error.kind is not ErrorKind.FORMAT:
            raise
        lost = rescue_archive(url, access, fetcher, token)
        directory = read_archive(url, access, fetcher, token)
        if not len(directory):
            raise
        damage = Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=f"the directory of the archive cannot be read ({error.message}); "
            f"{counted_plain(len(directory), 'member was', 'members were')} found without it",
            place=error.place,
            advice="What was written after the damage is lost; saving a reference document keeps the rest.",
        )
        findings = (damage, *lost, *directory.findings())
        return ZipContainer(directory, access, fetcher, token, findings, is_rescued=True)
