"""An Icechunk repository as a document: the metadata of one snapshot, and where its chunks lie."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.sniffing import NotThisError
from refbrowser.formats.stores.reader import FolderReader, ListedReader, is_safe_key
from refbrowser.formats.zarr.metadata_json import with_escapes
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import Recorded
from refbrowser.io.origins import scheme_of
from refbrowser.model.nodes import Flavour
from refbrowser.model.reference import Reference
from refbrowser.model.values import ChunkManifest
from refbrowser.references.content.origins import Fact, PlainAnswers, UrlsLeft
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.repository import (
    IcechunkRepository,
    Snapshot,
    SnapshotNode,
    is_id,
)
from refbrowser.wings.icechunk.reading.snapshot_options import IcechunkOptions
from refbrowser.wings.icechunk.reading.snapshot_references import SnapshotManifest, SnapshotReferences

_NAME = "zarr.json"
#: Branches and tags that are named where another one is asked for.
_OFFERED = 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_text(microseconds: int) -> str:
    """Return when a snapshot was committed, in words."""
    try:
        return f"{_EPOCH + timedelta(microseconds=microseconds):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return "at no time"


@dataclass(frozen=True, slots=True)
class IcechunkOrigin(PlainAnswers):
    """The snapshot of a repository that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        URL of the repository, or its path with links resolved.
    chosen
        How it was chosen, in words: ``branch main``.
    references
        Of its arrays.
    """

    path: str
    repository: IcechunkRepository = field(compare=False, repr=False)
    snapshot: Snapshot = field(compare=False, repr=False)
    chosen: str
    references: SnapshotReferences = field(compare=False, repr=False)

    @property
    def format(self) -> str:
        """Icechunk."""
        return "icechunk"

    @property
    def flavour(self) -> Flavour:
        """Zarr v3."""
        return Flavour.ZARR_V3

    def holds(self, path: str) -> bool:
        """Return whether a local path is the repository, or lies in it."""
        root = os.path.realpath(self.path)
        return path == root or path.startswith(root + os.sep)

    def again(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the snapshot: branches go on."""
        return {"snapshot": self.snapshot.facts.id}

    def state(self, name: str) -> Mapping[str, Any]:
        """Return the options that open a branch, a tag or a snapshot.

        Raises
        ------
        RefbrowserError
            E_USAGE: there is none of that name.
        """
        repository = self.repository
        if name in repository.branches or name in repository.tags:
            return {"branch" if name in repository.branches else "tag": name}
        if is_id(name.upper()):
            return {"snapshot": name}
        message = f"there is no branch, tag or snapshot {quoted(name)}"
        known = ", ".join([*repository.branches, *repository.tags][:_OFFERED])
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=self.path), f"known: {known}")

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what reads the manifests of one array alone."""
        assert isinstance(whole, ExpansionManifest)
        if not self.references.has_keys_of(prefix, len(whole.grid_shape), whole.encoding):
            return whole
        return SnapshotManifest(
            whole.expansion, prefix, whole.grid_shape, whole.encoding, references=self.references
        )

    @property
    def left(self) -> int:
        """How many references are in manifests that were not read yet."""
        return self.references.left

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return where virtual chunks lie that have a name for it; all others are told as they are read."""
        containers = self.repository.containers.values()
        return [UrlsLeft(beginning, self.references.left) for beginning in containers]

    def left_reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk: the manifests of its array are read.

        Raises
        ------
        RefbrowserError
            They cannot be read.
        """
        return self.references.reference(key)

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return what is lost of arrays."""
        return self.references.noted(paths)

    def told(self) -> Sequence[Fact]:
        """Return which snapshot it is."""
        facts = self.snapshot.facts
        return (
            Fact("icechunk version", self.repository.version),
            Fact("opened", self.chosen),
            Fact("snapshot", facts.id),
            Fact("committed", time_text(facts.microseconds)),
            Fact("message", facts.message),
        )


def open_named_icechunk(opening: Opening) -> Opened:
    """Open a snapshot of the repository in a folder or below a URL.

    Raises
    ------
    RefbrowserError
        `NotThisError`: there is none; else it cannot be read.
    """
    path = opening.path
    # A chunk that is gone was deleted, not never written: those are in no manifest.
    access = replace(Access.for_store(path, opening.allow, opening.settings), store=None)
    if scheme_of(path) in (None, "file"):
        root = access.base

        def reader(largest: int | None = None) -> ListedReader:
            return FolderReader(root, opening.token, largest)

    else:
        from refbrowser.formats.stores.remote import UrlReader

        root = path.rstrip("/")

        def reader(largest: int | None = None) -> ListedReader:
            return UrlReader(path, access, opening.fetcher(), opening.token, largest)

    repository = IcechunkRepository.find(reader(), reader(ICECHUNK_LIMITS.icechunk_file))
    if repository is None:
        message = "there is no Icechunk repository here"
        raise NotThisError(ErrorKind.FORMAT, message, Place(document=path))
    options = opening.chosen(IcechunkOptions)
    name = repository.chosen(options.branch, options.tag, options.snapshot)
    chosen = (
        f"snapshot {name}"
        if options.snapshot is not None
        else f"tag {options.tag}"
        if options.tag is not None
        else f"branch {options.branch or 'main'}"
    )
    recorded = access.memory.identities.recorded

    def remember(said: Mapping[str, Recorded]) -> None:
        for url, each in said.items():
            try:
                at = access.locate(url).url
            except RefbrowserError:
                continue  # It can never be read.
            recorded[at] = recorded[at] | each if at in recorded else each

    made = _Made(root, repository, opening.token, opening.progress, remember)
    return Opened(made.document(name, chosen, path), access)


def document_at(origin: IcechunkOrigin, snapshot: str, token: CancelToken) -> ManifestDocument:
    """Return the document of another snapshot of a repository that is open.

    Raises
    ------
    RefbrowserError
        It is not there, or cannot be read.
    """
    made = _Made(
        origin.path, origin.repository, token, lambda done, total=None, **facts: None, lambda said: None
    )
    return made.document(snapshot, f"snapshot {snapshot}", origin.path)


@dataclass(frozen=True, slots=True)
class _Made:
    """Makes documents of snapshots.

    Attributes
    ----------
    root
        Of the repository.
    progress, remember
        As `SnapshotReferences` takes them.
    """

    root: str
    repository: IcechunkRepository
    token: CancelToken
    progress: Callable[..., None]
    remember: Callable[[Mapping[str, Recorded]], None]

    def document(self, name: str, chosen: str, of: str) -> ManifestDocument:
        """Return the document of a snapshot: its metadata, and references that are read later."""
        snapshot = self.repository.snapshot(name)
        builder, notes, shown = ManifestBuilder(self.root), list[Finding](), list[SnapshotNode]()
        for node in snapshot.nodes:
            key = f"{node.path}/{_NAME}".removeprefix("/")
            if is_safe_key(key):
                builder.add_metadata({key: with_escapes(node.metadata)})
                shown.append(node)
            else:
                message = "it has a name that cannot be a key; it is not shown"
                place = Place(path=f"/{node.path}")
                notes.append(
                    Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message, place=place)
                )
        references = SnapshotReferences(
            self.root, self.repository, snapshot, shown, self.token, self.progress, self.remember
        )
        origin = IcechunkOrigin(self.root, self.repository, snapshot, chosen, references)
        return builder.document(name=of, later=references.tables, origin=origin, notes=tuple(notes))
