"""Blobs that are members of a zip archive (persistence notes, section 5, "ZIP")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity
from refbrowser.formats.awkward0.container import Blob
from refbrowser.io.access import chained_url
from refbrowser.io.archives.entries import METHODS, STORED
from refbrowser.io.archives.reading import read_archive, read_members, rescue_archive
from refbrowser.model.reference import ByteRange, WholeFile

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.archives.directory import ZipDirectory
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetch import Fetcher


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
    Cancelled
        `token` was cancelled.
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
            f"{len(directory)} members were found without it",
            place=error.place,
            advice="What was written after the damage is lost; saving a reference document keeps the rest.",
        )
        findings = (damage, *lost, *directory.findings())
        return ZipContainer(directory, access, fetcher, token, findings, is_rescued=True)
