"""Changes made in a session of the library: metadata, references and moves; no chunk of a bucket is read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.io.access.access import Access, Location
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)
from refbrowser.wings.icechunk.changing.change_set import ChangeSet, Coords, NodeChange, Prefix
from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree, TreeNode
from refbrowser.wings.icechunk.writing.containers import chunk_location
from refbrowser.wings.icechunk.writing.icechunk_target import next_second
from refbrowser.wings.icechunk.writing.repository_place import library

#: Chunks that are set at a time.
_TOGETHER = 50_000
#: Chunks that are read and copied at a time.
_READ = 64
_NATIVE = "/chunks/"


@dataclass(slots=True)
class Applied:
    """What was done in a session.

    Attributes
    ----------
    chunks
        References and chunks that were set or taken away.
    copied
        Chunks of the repository itself whose bytes were written anew.
    locations
        Where chunks lie that were set.
    """

    chunks: int = 0
    copied: int = 0
    locations: list[Location] = field(default_factory=list)


def locations_of(changes: ChangeSet, tree: SnapshotTree, access: Access) -> list[Location]:
    """Return where virtual chunks lie that are set, and where those move whose URLs begin otherwise."""
    urls = {
        value.url
        for each in changes.nodes
        for value in each.chunks.values()
        if isinstance(value, ByteRange | WholeFile)
    }
    urls = {url for url in urls if not _is_own(url, tree)}
    if changes.moves or changes.urls:
        for node in tree.nodes.values():
            for _, value in tree.references(node):
                if isinstance(value, ByteRange) and not _is_own(value.url, tree):
                    urls.add(with_prefixes(value.url, changes.urls))
    return [access.locate(url) for url in sorted(urls)]


def with_prefixes(url: str, prefixes: Iterable[Prefix]) -> str:
    """Return a URL with another beginning, where it has one of these; of files with a scheme or without."""
    for prefix in prefixes:
        old = prefix.old.removeprefix("file://")
        plain = url.removeprefix("file://")
        if plain.startswith(old):
            return prefix.new + plain[len(old) :]
    return url


def _key(path: str, at: Coords) -> str:
    """Return the key of a chunk: Icechunk has one spelling alone."""
    return "/".join((*filter(None, (path,)), "c", *map(str, at)))


def _is_own(url: str, tree: SnapshotTree) -> bool:
    """Tell whether a URL is that of a chunk of the repository."""
    return url.startswith(tree.origin.path + _NATIVE)


def apply_changes(
    session: Any,
    changes: ChangeSet,
    tree: SnapshotTree,
    dataset: Dataset,
    control: JobControl,
    *,
    copies: bool = False,
) -> Applied:
    """Make changes in a session of the snapshot that a tree is of.

    Parameters
    ----------
    dataset
        What the changes are of: as it is read, new references are.
    copies
        Chunks are copied into the repository, not referred to.

    Raises
    ------
    RefbrowserError
        A chunk cannot be referred to, or its manifest not be read.
    """
    return _Applying(session, tree, dataset, control, changes.urls, copies).apply(changes)


@dataclass(slots=True)
class _Applying:
    session: Any
    tree: SnapshotTree
    dataset: Dataset
    control: JobControl
    prefixes: Sequence[Prefix]
    copies: bool
    done: Applied = field(default_factory=Applied)

    @property
    def access(self) -> Access:
        """What may be read, and how."""
        return self.dataset.access

    def apply(self, changes: ChangeSet) -> Applied:
        moved: set[str] = set()
        for old, new in changes.moves:
            moved |= {node.stored.path for node in self.tree.below(old)}
            self._move(old, new)
        gone = {each.path for each in changes.nodes if each.after is None}
        for path in sorted(gone):
            if not any(path.startswith(f"{other}/") for other in gone):
                self._delete(path)
        for each in sorted(changes.nodes, key=lambda each: each.path.count("/") if each.path else -1):
            if each.after is not None:
                self._change(each)
        if self.prefixes:
            left = [node for node in self.tree.nodes.values() if node.stored.path not in moved]
            for node in left:
                if node.path not in gone:
                    self._move_references(node)
        return self.done

    def _set(self, key: str, data: bytes) -> None:
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync

        sync(self.session.store.set(key, default_buffer_prototype().buffer.from_bytes(data)))

    def _remove(self, key: str) -> None:
        from zarr.core.sync import sync

        sync(self.session.store.delete(key))

    def _delete(self, path: str) -> None:
        from zarr.core.sync import sync

        sync(self.session.store.delete_dir(path))

    def _change(self, change: NodeChange) -> None:
        if change.before != change.after:
            self._set(f"{change.path}/{NODE_V3}".removeprefix("/"), json.dumps(change.after).encode())
        if change.chunks:
            self._set_chunks(change.path, change.chunks)

    def _move(self, old: str, new: str) -> None:
        """Move a node and what is below: the library of version 1 has no other way than to make it anew."""
        nodes = sorted(self.tree.below(old), key=lambda node: node.path.count("/"))
        for node in nodes:
            path = new + node.path[len(old) :]
            self._set(f"{path}/{NODE_V3}", json.dumps(node.metadata).encode())
            chunks: dict[Coords, Reference | None] = {}
            for at, value in self.tree.references(node):
                chunks[at] = value
                if len(chunks) >= _TOGETHER:
                    self._set_chunks(path, chunks)
                    chunks = {}
            self._set_chunks(path, chunks)
        self._delete(old)
        self.tree = self.tree.moved(old, new)

    def _move_references(self, node: TreeNode) -> None:
        changed: dict[Coords, Reference | None] = {}
        for at, value in self.tree.references(node):
            if isinstance(value, ByteRange) and with_prefixes(value.url, self.prefixes) != value.url:
                changed[at] = value
        self._set_chunks(node.path, changed)

    def _set_chunks(self, path: str, chunks: Mapping[Coords, Reference | None]) -> None:
        self.control.check()
        virtual: dict[Coords, ByteRange | WholeFile] = {}
        copied: list[tuple[Coords, ByteRange | WholeFile]] = []
        for at, value in chunks.items():
            if value is None:
                self._remove(_key(path, at))
            elif isinstance(value, Inline):
                self._set(_key(path, at), value.data)
            elif isinstance(value, ByteRange | WholeFile):
                if self.copies or _is_own(value.url, self.tree):
                    copied.append((at, value))
                else:
                    virtual[at] = value
        for start in range(0, len(copied), _READ):
            self.control.check()
            self._copy(path, copied[start : start + _READ])
        if virtual:
            self._refer(path, virtual)
        self.done.chunks += len(chunks)
        self.control.progress(self.done.chunks, None)

    def _copy(self, path: str, chunks: Sequence[tuple[Coords, ByteRange | WholeFile]]) -> None:
        """Store the bytes of chunks, which are read together."""
        urls = {url: number for number, url in enumerate(dict.fromkeys(each.url for _, each in chunks))}
        values = [value for _, value in chunks]
        parts = [(each.offset, each.length) if isinstance(each, ByteRange) else (0, -1) for each in values]
        kinds = [
            ReferenceKind.RANGE if isinstance(each, ByteRange) else ReferenceKind.WHOLE for each in values
        ]
        columns = ReferenceColumns(
            np.array(kinds, np.uint8),
            np.array([urls[each.url] for each in values], np.int32),
            np.array([offset for offset, _ in parts], np.int64),
            np.array([length for _, length in parts], np.int64),
            tuple(urls),
        )
        dataset = self.dataset
        answers = dataset.session.fetch_all(columns, dataset.access, token=self.control.token, export=True)
        for (at, _), answer in zip(chunks, answers, strict=True):
            if isinstance(answer, RefbrowserError):
                raise answer
            self._set(_key(path, at), bytes(answer))
        self.done.copied += len(chunks)

    def _refer(self, path: str, chunks: Mapping[Coords, ByteRange | WholeFile]) -> None:
        icechunk = library()
        known: dict[str, tuple[str, str | datetime | None, int | None]] = {}
        specs = []
        for at, value in chunks.items():
            if value.url not in known:
                known[value.url] = self._source(value.url)
            location, checksum, size = known[value.url]
            offset, length = (value.offset, value.length) if isinstance(value, ByteRange) else (0, size)
            if length is None:
                message = "the size of the object is not known, and a repository needs it"
                raise RefbrowserError(ErrorKind.SOURCE, message, Place(url=value.url))
            tag = checksum if isinstance(checksum, str) else None
            changed = checksum if isinstance(checksum, datetime) else None
            specs.append(icechunk.VirtualChunkSpec([*at], location, offset, length, tag, changed))
        refused = self.session.store.set_virtual_refs(f"/{path}", specs, validate_containers=True)
        if refused:
            message = f"Icechunk refuses {len(refused)} references of {quoted(f'/{path}')}"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=f"/{path}"))

    def _source(self, url: str) -> tuple[str, str | datetime | None, int | None]:
        """Return where an object lies, what tells its states apart, and its size where that is known."""
        moved = with_prefixes(url, self.prefixes)
        place = self.access.locate(moved)
        self.done.locations.append(place)
        recorded = self.tree.dataset.access.memory.identities.recorded.get(self.access.locate(url).url)
        checksum: str | datetime | None = None
        size = None
        if recorded is not None and moved == url and len(recorded.etags) <= 1:
            checksum = min(recorded.etags, default=None)
            if checksum is None and recorded.modified is not None:
                checksum = datetime.fromtimestamp(recorded.modified, UTC)
        if place.scheme == "file" and (recorded is None or moved != url):
            checksum, size = _of_file(place)
        return self._named(chunk_location(place)), checksum, size

    def _named(self, location: str) -> str:
        """Return a location by the name of its container, where that has one: it may be moved later."""
        for name, beginning in self.tree.origin.repository.containers.items():
            if location.startswith(beginning):
                return f"vcc://{name}/{location[len(beginning) :]}"
        return location


def _of_file(place: Location) -> tuple[datetime | None, int | None]:
    """Return when a local file was changed, and its size; nothing of one that is not there."""
    try:
        found = os.stat(place.path)
    except OSError:
        return None, None
    return (next_second(found.st_mtime), found.st_size) if stat.S_ISREG(found.st_mode) else (None, None)
