"""An Icechunk repository: what its files say of branches, tags, snapshots, nodes, and what changed.

Specification of Icechunk, versions 1 and 2: files below the root, each a header and a FlatBuffer. Version 1
has small files for branches and tags (``refs/branch.main/ref.json``), version 2 one file for all that changes
(``repo``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.stores.reader import ListedReader, StoreReader
from refbrowser.limits import LIMITS
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.chunk_containers import containers_of_flexbuffer, containers_of_yaml
from refbrowser.wings.icechunk.reading.flatbuffers import Buffer, Positions, Table, Tables, damaged

MAGIC = "ICE🧊CHUNK".encode()
#: Bytes before the FlatBuffer: magic, name of the writer, version, type of the file, how it is compressed.
_HEADER = len(MAGIC) + 24 + 3
_SNAPSHOT, _MANIFEST, _TRANSACTION, _REPOSITORY = 1, 2, 4, 6
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Bytes of identifiers: of files, and of groups and arrays.
ID, NODE_ID = 12, 8
#: Bytes of what a snapshot of version 1 tells of a manifest: identifier, size, number of references.
_FILE_INFO = 32
#: What the data of a node is where it is that of an array.
_ARRAY = 1
#: Bytes that are decompressed at a time: a few say very many.
_FED = 4096
#: What files in folders are called.
_CALLED = {"snapshots": "snapshot", "transactions": "transaction"}
#: Manifests that are read together at most.
_TOGETHER = 64
REPO, CONFIG = "repo", "config.yaml"
MAIN = "main"


def id_text(data: bytes) -> str:
    """Return an identifier as names of files have it: Crockford's base 32, 20 characters."""
    bits = int.from_bytes(data, "big") << (-len(data) * 8) % 5
    count = -(-len(data) * 8 // 5)
    return "".join(_ALPHABET[bits >> 5 * place & 31] for place in range(count - 1, -1, -1))


def id_texts(rows: npt.NDArray[np.uint8]) -> list[str]:
    """Return identifiers of 12 bytes, shape (n, 12), as `id_text` has them."""
    if not len(rows):
        return []
    bits = np.pad(np.unpackbits(rows, axis=1), ((0, 0), (0, 4))).reshape(len(rows), 20, 5)
    digits = bits @ np.array([16, 8, 4, 2, 1], np.uint8)
    letters = np.frombuffer(_ALPHABET.encode(), np.uint8)[digits]
    found: list[str] = letters.view("S20").reshape(-1).astype(str).tolist()
    return found


def is_id(text: object) -> bool:
    """Whether a text is an identifier of a snapshot."""
    return isinstance(text, str) and len(text) == 20 and set(text) <= set(_ALPHABET)


def _content(data: bytes, kind: int) -> Buffer:
    """Return what a file holds.

    Raises
    ------
    RefbrowserError
        E_FORMAT: it is no file of that kind, or damaged; E_BUDGET: it is too large.
    """
    if not data.startswith(MAGIC) or len(data) < _HEADER:
        raise damaged("it does not begin like an Icechunk file" if data else "it is empty")
    version, found, compression = data[_HEADER - 3 : _HEADER]
    if version not in (1, 2):
        raise RefbrowserError(ErrorKind.FORMAT, f"version {version} of Icechunk is not known")
    if found != kind or compression not in (0, 1):
        raise damaged("its header disagrees")
    if not compression:
        return Buffer(data[_HEADER:], len(data))
    return Buffer(_decompressed(memoryview(data)[_HEADER:]), len(data))


def _decompressed(data: memoryview) -> bytes:
    from refbrowser.zstd import ZstdDecompressor, ZstdError

    stream = ZstdDecompressor()
    # Not parts that are joined: all of it would be held twice.
    found = BytesIO()
    most = min(
        ICECHUNK_LIMITS.icechunk_file,
        max(ICECHUNK_LIMITS.icechunk_growth_from, len(data) * ICECHUNK_LIMITS.icechunk_growth),
    )
    try:
        for start in range(0, len(data), _FED):
            found.write(stream.decompress(data[start : start + _FED]))
            if found.tell() > most:
                message = f"its {len(data)} bytes are decompressed to more than {most} (icechunk_growth)"
                if most == ICECHUNK_LIMITS.icechunk_file:
                    message = f"the file holds more than {most} bytes (icechunk_file)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            if stream.eof:
                return found.getvalue()
    except ZstdError:
        raise damaged("it cannot be decompressed") from None
    raise damaged("it was cut")


@dataclass(frozen=True, slots=True)
class SnapshotFacts:
    """What is told of a snapshot.

    Attributes
    ----------
    id
        As its file is called.
    parent
        The snapshot before it; None of the first one.
    microseconds
        Since 1970, UTC: when it was committed.
    """

    id: str
    parent: str | None
    microseconds: int
    message: str


@dataclass(frozen=True, slots=True)
class ManifestExtent:
    """A manifest, and which chunks of an array it tells.

    Attributes
    ----------
    manifest
        Its identifier.
    ranges
        First chunk and the one behind the last along each dimension, shape (ndim, 2).
    """

    manifest: str
    ranges: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SnapshotNode:
    """A group or array of a snapshot.

    Attributes
    ----------
    id
        8 bytes; the node keeps it as long as it is there.
    path
        Without ``/`` at its ends.
    metadata
        The bytes of its ``zarr.json``.
    extents
        Of an array.
    """

    id: bytes
    path: str
    metadata: bytes
    extents: tuple[ManifestExtent, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """What a snapshot tells of a manifest: bytes of its file, and its references."""

    size: int
    references: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot: what is told of it, and its nodes.

    Attributes
    ----------
    manifests
        What is told of manifests, by their identifiers.
    size
        Bytes of its file.
    """

    facts: SnapshotFacts
    nodes: Sequence[SnapshotNode]
    manifests: Mapping[str, ManifestFacts] = field(default_factory=dict)
    size: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What a snapshot changed, by node identifiers; of chunks how many of each array."""

    new: tuple[bytes, ...]
    deleted: tuple[bytes, ...]
    updated: tuple[bytes, ...]
    chunks: Mapping[bytes, int]
    moved: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class IcechunkRepository:
    """A repository, read from a store.

    Attributes
    ----------
    reader
        What its files are read through.
    large
        What snapshots are read through, and manifests that are larger than other metadata may be, one by one;
        and what is listed.
    version
        1 or 2.
    branches, tags
        Identifiers of snapshots by name; those of version 1 that are not listed (by HTTP) are absent.
    containers
        Beginnings of URLs by the names of virtual chunk containers.
    known
        Of version 2: all its snapshots, by identifier.
    table
        Of version 2: the file of all that changes.
    """

    reader: StoreReader
    large: ListedReader
    version: int
    branches: dict[str, str]
    tags: dict[str, str]
    containers: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, SnapshotFacts] = field(default_factory=dict)
    table: Table | None = None

    @classmethod
    def find(cls, reader: StoreReader, large: ListedReader) -> IcechunkRepository | None:
        """Return the repository that a store is; None where it is none.

        The parameters are its attributes.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        main = f"refs/branch.{MAIN}/ref.json"
        answers = reader.read([REPO, main, CONFIG])
        said = answers.get(REPO)
        if isinstance(said, bytes) and said.startswith(MAGIC):
            return cls._of_table(reader, large, _told(REPO, said, _REPOSITORY).root)
        if main not in answers:
            return None
        config = answers.get(CONFIG)
        containers = containers_of_yaml(config) if isinstance(config, bytes) else {}
        found = cls(reader, large, 1, {}, {}, containers)
        known = _snapshot_named(answers[main])
        if known is not None:
            found.branches[MAIN] = known
        names = reader.names("refs/")
        folders = () if names is None else names.folders
        for kind, target in (("branch", found.branches), ("tag", found.tags)):
            listed = [each.partition(".")[2] for each in folders if each.startswith(f"{kind}.")]
            others = [each for each in listed if each not in target]
            target.update(found._refs(kind, others[: ICECHUNK_LIMITS.icechunk_snapshots]))
        return found

    @classmethod
    def _of_table(cls, reader: StoreReader, large: ListedReader, root: Table) -> IcechunkRepository:
        tables = root.tables(4)
        if len(tables) > LIMITS.references:
            raise damaged("it has too many snapshots")
        ids = [id_text(tables[row].struct(0, ID) or bytes(ID)) for row in range(len(tables))]
        known = {}
        for row, name in enumerate(ids):
            table = tables[row]
            parent = table.number(1, 4, signed=True)
            facts = SnapshotFacts(
                name,
                ids[parent] if 0 <= parent < len(ids) else None,
                table.number(2, 8),
                table.text(3) or "",
            )
            known[name] = facts
        refs: list[dict[str, str]] = []
        for index in (2, 1):
            named = root.tables(index)
            each = [(named[row].text(0) or "", named[row].number(1, 4)) for row in range(len(named))]
            refs.append({name: ids[at] for name, at in each if at < len(ids)})
        containers = containers_of_flexbuffer(root.content(9) or b"")
        return cls(reader, large, 2, refs[0], refs[1], containers, known, root)

    # Branches, tags, snapshots

    def _refs(self, kind: str, names: Sequence[str]) -> dict[str, str]:
        """Return the snapshots that branches or tags of version 1 name, without those that cannot be read."""
        keys = {f"refs/{kind}.{name}/ref.json": name for name in names}
        gone = [f"{key}.deleted" for key in keys] if kind == "tag" else []
        answers = self.reader.read([*keys, *gone])
        found = {}
        for key, name in keys.items():
            snapshot = _snapshot_named(answers.get(key))
            if snapshot is not None and f"{key}.deleted" not in answers:
                found[name] = snapshot
        return found

    def chosen(self, branch: str | None, tag: str | None, snapshot: str | None) -> str:
        """Return the identifier of the snapshot that is meant; that of the branch ``main`` where none is.

        Raises
        ------
        RefbrowserError
            E_USAGE: more than one is said, or there is none of that name.
        """
        if sum(each is not None for each in (branch, tag, snapshot)) > 1:
            raise RefbrowserError(ErrorKind.USAGE, "open one of a branch, a tag or a snapshot, not several")
        if snapshot is not None:
            found = snapshot.upper()
            if not is_id(found) or (self.known and found not in self.known):
                raise self._unknown("snapshot", snapshot, self.known)
            return found
        kind, name = ("tag", tag) if tag is not None else ("branch", MAIN if branch is None else branch)
        known = self.tags if kind == "tag" else self.branches
        if name not in known and self.version == 1 and "/" not in str(name):
            known.update(self._refs(kind, [str(name)]))
        if name not in known:
            raise self._unknown(kind, str(name), known)
        return known[str(name)]

    def _unknown(self, kind: str, name: str, known: Mapping[str, object]) -> RefbrowserError:
        advice = f"known: {', '.join(quoted(each)[1:-1] for each in list(known)[:20])}" if known else ""
        return RefbrowserError(ErrorKind.USAGE, f"there is no {kind} {quoted(name)}", advice=advice)

    def facts(self, name: str) -> SnapshotFacts:
        """Return what is told of a snapshot."""
        known = self.known.get(name)
        return self.snapshot(name, nodes=False).facts if known is None else known

    def history(self, name: str) -> Iterator[SnapshotFacts]:
        """Yield a snapshot and those before it, as far as they are there and not too many.

        Raises
        ------
        RefbrowserError
            One cannot be read; one that is gone ends the history.
        """
        seen: set[str] = set()
        at: str | None = name
        while at is not None and at not in seen and len(seen) < ICECHUNK_LIMITS.icechunk_snapshots:
            seen.add(at)
            facts = self.facts(at)
            yield facts
            at = facts.parent

    def snapshot(self, name: str, *, nodes: bool = True) -> Snapshot:
        """Return a snapshot.

        Raises
        ------
        RefbrowserError
            It is not there, or cannot be read.
        """
        key = f"snapshots/{name}"
        root = self._read(key, _SNAPSHOT, "it expired, or was deleted").root
        parent = root.struct(1, ID)
        facts = self.known.get(name) or SnapshotFacts(
            name, None if parent is None else id_text(parent), root.number(3, 8), root.text(4) or ""
        )
        try:
            if not nodes:
                return Snapshot(facts, ())
            return Snapshot(facts, tuple(_nodes(root)), _manifests(root), root.buffer.stored)
        except RefbrowserError as error:
            raise error.at(Place(key=key)) from None

    def manifests(
        self, names: Sequence[str], told: Mapping[str, ManifestFacts]
    ) -> Iterator[tuple[str, Table | RefbrowserError]]:
        """Yield manifests, or why they cannot be read; some are read together.

        Parameters
        ----------
        told
            What the snapshot tells of them.
        """
        for some in _together(names, told):
            keys = [f"manifests/{name}" for name in some]
            is_large = len(some) == 1 and some[0] in told and told[some[0]].size > LIMITS.inline_value
            answers = dict((self.large if is_large else self.reader).read(keys))
            for name, key in zip(some, keys, strict=True):
                answer = answers.pop(key, None)
                if answer is None:
                    message = "the manifest does not exist"
                    answer = RefbrowserError(ErrorKind.IO, message, Place(key=key))
                try:
                    if isinstance(answer, RefbrowserError):
                        raise answer
                    yield name, _told(key, answer, _MANIFEST).root
                except RefbrowserError as error:
                    yield name, error

    def changes(self, name: str) -> Changes:
        """Return what a snapshot changed.

        Raises
        ------
        RefbrowserError
            That is not there, or cannot be read.
        """
        root = self._read(f"transactions/{name}", _TRANSACTION, "there is no record of what changed").root
        new, deleted, updated = (
            tuple(node for index in pair for node in root.structs(index, NODE_ID))
            for pair in ((1, 2), (3, 4), (5, 6))
        )
        arrays = root.tables(7)
        chunks = {}
        for row in range(len(arrays)):
            count = arrays[row].vector(1, 4)
            chunks[arrays[row].struct(0, NODE_ID) or b""] = 0 if count is None else count[1]
        moves = root.tables(8)
        moved = tuple((moves[row].text(0) or "", moves[row].text(1) or "") for row in range(len(moves)))
        return Changes(new, deleted, updated, chunks, moved)

    def overwritten(self, key: str) -> Table:
        """Return a file of what changes that was replaced.

        Raises
        ------
        RefbrowserError
            It is not there, or cannot be read.
        """
        return self._read(key, _REPOSITORY, "it was deleted").root

    def _read(self, key: str, kind: int, why: str) -> Buffer:
        answer = self.large.read([key]).get(key)
        if answer is None:
            what = _CALLED.get(key.partition("/")[0], "file")
            message = f"the {what} does not exist: {why}"
            raise RefbrowserError(ErrorKind.IO, message, Place(key=key))
        if isinstance(answer, RefbrowserError):
            raise answer
        return _told(key, answer, kind)


def _together(names: Sequence[str], told: Mapping[str, ManifestFacts]) -> Iterator[list[str]]:
    """Yield manifests that are read together: not very many, and not very many bytes."""
    some: list[str] = []
    size = 0
    for name in names:
        own = told[name].size if name in told else 0
        if some and (len(some) == _TOGETHER or size + own > LIMITS.inline_value):
            yield some
            some, size = [], 0
        some.append(name)
        size += own
    if some:
        yield some


def _snapshot_named(data: bytes | RefbrowserError | None) -> str | None:
    """Return the snapshot that the file of a branch or tag names; None where it cannot be read."""
    if not isinstance(data, bytes) or len(data) > _FED:
        return None
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    found = said.get("snapshot") if isinstance(said, dict) else None
    return found if is_id(found) else None


def _told(key: str, data: bytes, kind: int) -> Buffer:
    try:
        return _content(data, kind)
    except RefbrowserError as error:
        raise error.at(Place(key=key)) from None


def _manifests(root: Table) -> dict[str, ManifestFacts]:
    """Return what a snapshot tells of manifests: version 1 in structs, version 2 in tables."""
    data = np.frombuffer(b"".join(root.structs(6, _FILE_INFO)), np.uint8).reshape(-1, _FILE_INFO)
    names = id_texts(data[:, :ID])
    sizes = data[:, 16:24].copy().view("<u8").reshape(-1).tolist()
    counts = data[:, 24:28].copy().view("<u4").reshape(-1).tolist()
    tables = root.tables(7)
    names += id_texts(root.buffer.rows(tables.places(0), ID))
    sizes += tables.numbers(1, "<u8").tolist()
    counts += tables.numbers(2, "<u4").tolist()
    return dict(zip(names, map(ManifestFacts, sizes, counts), strict=True))


def _nodes(root: Table) -> Iterator[SnapshotNode]:
    tables, data = root.tables(2), root.buffer.data
    if len(tables) > LIMITS.store_documents:
        message = f"the snapshot has more than {LIMITS.store_documents} groups and arrays (store_documents)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    starts, sizes = tables.vectors(2, 1)
    if int(sizes.sum()) > LIMITS.metadata_elsewhere:
        message = f"the metadata has more than {LIMITS.metadata_elsewhere} bytes (metadata_elsewhere)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    paths, lengths = tables.vectors(1, 1)
    if int(lengths.sum()) > len(data):
        raise damaged("its strings overlap")
    ids = root.buffer.rows(tables.places(0), NODE_ID)
    columns = (column.tolist() for column in (paths, lengths, starts, sizes))
    for row, extents, path, length, start, size in zip(ids, _extents(tables), *columns, strict=True):
        name = data[path : path + length].decode("utf-8", "replace").strip("/")
        yield SnapshotNode(row.tobytes(), name, data[start : start + size], extents)


def _extents(nodes: Tables) -> Iterator[tuple[ManifestExtent, ...]]:
    """Yield the manifests of each node, of all together as columns: there may be very many."""
    buffer = nodes.buffer
    places = np.where(nodes.numbers(3, "<u1") == _ARRAY, nodes.places(4), 0)
    arrays = np.flatnonzero(places)
    at = places[arrays]
    told = Tables(buffer, at + buffer.values("<u4", at).astype(np.int64))
    starts, counts = told.vectors(2, 4)
    at = _elements(starts, counts, 4)
    refs = Tables(buffer, at + buffer.values("<u4", at).astype(np.int64))
    names = id_texts(buffer.rows(refs.places(0), ID))
    starts, ranks = refs.vectors(1, 8)
    if len(ranks) and int(ranks.max()) > LIMITS.rank:
        raise damaged("a manifest has too many dimensions")
    at = _elements(starts, ranks, 8)
    ranges = buffer.values("<u4", np.stack([at, at + 4], axis=1)).astype(np.int64)
    cuts = [0, *np.cumsum(ranks).tolist()]
    parts = (ranges[start:stop] for start, stop in pairwise(cuts))
    extents = list(map(ManifestExtent, names, parts))
    stops = np.zeros(len(nodes), np.int64)
    stops[arrays] = counts
    first = 0
    for stop in np.cumsum(stops).tolist():
        yield tuple(extents[first:stop])
        first = stop


def _elements(starts: Positions, counts: Positions, size: int) -> Positions:
    """Return where the elements of vectors stand, one after the other.

    Raises
    ------
    RefbrowserError
        E_FORMAT: they are more than arrays of a store can have manifests.
    """
    total = int(counts.sum())
    if total > LIMITS.store_documents * LIMITS.rank:
        raise damaged("its arrays refer to too many manifests")
    before = np.cumsum(counts) - counts
    return np.repeat(starts - size * before, counts) + size * np.arange(total, dtype=np.int64)
