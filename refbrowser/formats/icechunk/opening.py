"""An Icechunk repository as a document: the metadata of one snapshot, and where its chunks lie."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.icechunk.chunk_references import ChunkReferences
from refbrowser.formats.icechunk.flatbuffers import Table, damaged
from refbrowser.formats.icechunk.repository import (
    NODE_ID,
    IcechunkRepository,
    ManifestExtent,
    Snapshot,
    SnapshotNode,
)
from refbrowser.formats.options import IcechunkOptions
from refbrowser.formats.sniffing import NotThisError
from refbrowser.formats.stores.reader import FolderReader, StoreReader, is_safe_key
from refbrowser.formats.zarr import v3
from refbrowser.formats.zarr.metadata_json import with_escapes
from refbrowser.formats.zarr.shapes import parse_shape
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.nodes import Flavour
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.references.document.origins import Fact, PlainAnswers
from refbrowser.references.text.json_text import has_too_many_values

_NAME = "zarr.json"
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
    """

    path: str
    repository: IcechunkRepository = field(compare=False, repr=False)
    snapshot: Snapshot = field(compare=False, repr=False)
    chosen: str

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
    Cancelled
        The opening was cancelled.
    """
    path = opening.path
    # A chunk that is gone was deleted, not never written: those are in no manifest.
    access = replace(Access.for_store(path, opening.allow, opening.settings), store=None)
    reader: StoreReader
    if scheme_of(path) in (None, "file"):
        reader, root = FolderReader(access.base, opening.token), access.base
    else:
        from refbrowser.formats.stores.remote import UrlReader

        reader, root = UrlReader(path, access, opening.fetcher(), opening.token), path.rstrip("/")
    repository = IcechunkRepository.find(reader)
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
    made = _Made(root, repository, opening.token, opening.progress)
    document = made.document(name, chosen, path)
    recorded = access.memory.identities.recorded
    for url, said in made.references.recorded.items():
        try:
            recorded[access.locate(url).url] = said
        except RefbrowserError:
            continue  # It can never be read.
    return Opened(document, access)


def document_at(origin: IcechunkOrigin, snapshot: str, token: CancelToken) -> ManifestDocument:
    """Return the document of another snapshot of a repository that is open.

    Raises
    ------
    RefbrowserError
        It is not there, or cannot be read.
    Cancelled
        `token` was cancelled.
    """
    made = _Made(origin.path, origin.repository, token, lambda done, total=None, **facts: None)
    return made.document(snapshot, f"snapshot {snapshot}", origin.path)


class _Made:
    """What is made of a snapshot."""

    def __init__(
        self,
        root: str,
        repository: IcechunkRepository,
        token: CancelToken,
        progress: Callable[..., None],
    ) -> None:
        self.builder, self.repository = ManifestBuilder(root), repository
        self._token, self._progress = token, progress
        self.references = ChunkReferences(self.builder, repository.containers)
        self.notes: list[Finding] = []

    def document(self, snapshot: str, chosen: str, name: str) -> ManifestDocument:
        """Return the document of a snapshot; it is called once."""
        repository = self.repository
        origin = IcechunkOrigin(self.builder.place, repository, repository.snapshot(snapshot), chosen)
        self._add_all(origin.snapshot)
        return self.builder.document(name=name, origin=origin, notes=tuple(self.notes))

    def _add_all(self, snapshot: Snapshot) -> None:
        """Add metadata, and all references."""
        wanted: dict[str, dict[bytes, list[tuple[SnapshotNode, ManifestExtent]]]] = {}
        for node in snapshot.nodes:
            key = f"{node.path}/{_NAME}".removeprefix("/")
            if not is_safe_key(key):
                self._warn(node, "it has a name that no key can hold; it is not shown")
                continue
            self.builder.add_metadata({key: with_escapes(node.metadata)})
            for extent in node.extents:
                wanted.setdefault(extent.manifest, {}).setdefault(node.id, []).append((node, extent))
        grids = {id(node): _grid(node) for node in snapshot.nodes if node.extents}
        for number, (name, manifest) in enumerate(self.repository.manifests(list(wanted))):
            self._token.check()
            self._progress(number, len(wanted), note="manifests")
            tables = _arrays_of(manifest)
            for at, pairs in wanted[name].items():
                told = tables if isinstance(tables, RefbrowserError) else tables.get(at, ())
                for node, extent in pairs:
                    grid = grids[id(node)]
                    if grid is not None:  # Else the reader of its metadata tells what is wrong.
                        self._add(node, grid, told, extent)

    def _add(
        self,
        node: SnapshotNode,
        grid: _Grid,
        told: Sequence[Table] | RefbrowserError,
        extent: ManifestExtent,
    ) -> None:
        """Add what a manifest tells of an array, or that it is lost."""
        shape, encoding = grid
        prefix = f"{node.path}/".removeprefix("/")
        try:
            if isinstance(told, RefbrowserError):
                raise told
            if len(extent.ranges) != len(shape):
                message = "its chunks have another number of dimensions than the array"
                raise RefbrowserError(ErrorKind.FORMAT, message)
            for table in told:
                self.references.add(prefix, encoding, table, extent)
        except RefbrowserError as error:
            if error.kind is ErrorKind.BUDGET:
                raise
            message = f"manifest {extent.manifest} of the array cannot be read: {error.message}"
            self._warn(node, message, Severity.FAULT)
            if len(extent.ranges) == len(shape):
                self.references.add_lost(prefix, encoding, shape, extent)

    def _warn(self, node: SnapshotNode, message: str, severity: Severity = Severity.WARNING) -> None:
        place = Place(path=f"/{node.path}")
        self.notes.append(Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place))


_Grid = tuple[tuple[int, ...], ChunkKeyEncoding]


def _arrays_of(manifest: Table | RefbrowserError) -> dict[bytes, list[Table]] | RefbrowserError:
    """Return what a manifest tells of arrays, by their identifiers; or why it cannot be read."""
    if isinstance(manifest, RefbrowserError):
        return manifest
    found: dict[bytes, list[Table]] = {}
    try:
        tables = manifest.tables(1)
        if len(tables) > LIMITS.store_documents:
            raise damaged("it tells of too many arrays")
        for row in range(len(tables)):
            found.setdefault(tables[row].struct(0, NODE_ID) or b"", []).append(tables[row])
    except RefbrowserError as error:
        return error
    return found


def _grid(node: SnapshotNode) -> _Grid | None:
    """Return how many chunks an array has along each dimension, and how their keys are spelled."""
    try:
        if has_too_many_values(node.metadata):
            return None
        said: Mapping[str, Any] = json.loads(node.metadata)
        shape = v3.parse_chunk_grid(parse_shape(said["shape"]), said["chunk_grid"]).grid_shape
        return shape, v3.parse_chunk_keys(said["chunk_key_encoding"])
    except (ValueError, RecursionError, KeyError, TypeError, RefbrowserError):
        return None
