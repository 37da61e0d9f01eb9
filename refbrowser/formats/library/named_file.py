"""Files that are named to be opened and that a library reads: how they are found, and what is behind them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opening
from refbrowser.formats.library.library_source import LibrarySource
from refbrowser.formats.library.process import LibraryFile, library_file
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.access.access import Access
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.loading import to_install
from refbrowser.model.nodes import ArrayNode, Hierarchy, Node
from refbrowser.model.values import Pieces, SourceManifest
from refbrowser.references.content.origins import Fact, PlainAnswers


@dataclass(frozen=True, slots=True)
class Library:
    """A library, and the files that it reads.

    Attributes
    ----------
    kind
        Of its files, by their first bytes.
    script
        What knows it: a file that has a ``Reader`` (`refbrowser.codecs.workers.worker`).
    called
        What it reads, in a word.
    files
        The same, where all that it reads is named.
    package
        Of Python.
    extra
        Of ours, that brings the package.
    """

    kind: FileKind
    script: Path
    called: str
    files: str
    package: str
    extra: str

    def check(self, place: Place) -> None:
        """Raise `E_USAGE` where the library is not installed."""
        if find_spec(self.package) is None:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{self.files} files are opened with {self.package}, which is not installed",
                place,
                to_install(f"refbrowser[{self.extra}]"),
            )


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that was named, and is of the kind that a library reads.

    Attributes
    ----------
    url
        Its URL, or its path with links resolved.
    identity
        Its state; None where nothing tells it.
    size
        In bytes.
    """

    url: str
    file: LibraryFile
    access: Access
    identity: FileIdentity | ObjectIdentity | None
    size: int


def open_named_file(opening: Opening, library: Library) -> NamedFile:
    """Return the file at a path or URL; of one elsewhere its first bytes are read.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none that the library reads; `E_USAGE`: the library is not installed; else it
        cannot be read.
    """
    local, place = opening.seen.local, Place(document=opening.path)
    # Before anything is read of it: what changes meanwhile is told.
    state = opening.identity()
    source = None
    if local is not None:
        url, kind = os.path.realpath(local), opening.seen.kind
        access = Access.for_document(opening.path, opening.allow, opening.settings)
    else:
        source = opening.remote()
        url, kind, access = opening.path, file_kind(bytes(source.read(0, HEAD))), source.access
    if kind is not library.kind:
        raise NotThisError(ErrorKind.FORMAT, f"this is not {library.called}: {kind}", place)
    library.check(place)
    file = library_file(library.script, library.called, url, source, state)
    if source is None:
        return NamedFile(url, file, access, state, os.path.getsize(url))
    return NamedFile(url, file, access, source.identity, source.size)


@dataclass(frozen=True, eq=False, kw_only=True)
class LibraryOrigin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    format
        The name of its format.
    file
        What reads values that no byte range gives.
    findings
        Which arrays cannot be referenced, and why.
    facts
        What is told of it.
    sources
        What has arrays that are chunks here read by the library, by path.
    values
        Those of small coordinates that were told with the description, by path.
    """

    path: str
    format: str
    file: LibraryFile
    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: Mapping[str, LibrarySource] = field(default_factory=dict)
    values: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy with what is to be known of its arrays."""
        return replace(hierarchy, findings=(*hierarchy.findings, *self.findings))

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array that the library reads; None where it does not, or has another shape there."""
        source = self.sources.get(node.path)
        if source is None or source.grid.shape != node.shape:
            return None
        manifest = SourceManifest(source, node.path, source.grid)
        return replace(node, values=Pieces(grid=source.grid, manifest=manifest, source=source))

    def known_values(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the values of small coordinates that were told with the description."""
        return self.values

    def told(self) -> Sequence[Fact]:
        """Return what is told of it."""
        return self.facts
