"""The chunk references of a snapshot, of each array read when somebody first looks at it.

A snapshot names the manifests of each array; opening reads none of them. One array costs its own manifests;
who looks at the document as a whole (its keys, edits, an export) reads those that are left, together.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.formats.zarr import v3
from refbrowser.formats.zarr.shapes import parse_shape
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import Recorded
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import Reference, ReferenceColumns, ReferenceKind
from refbrowser.references.content.expansion import Expansion
from refbrowser.references.content.value_table import ValueTable
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.rules.layouts import NotDecided
from refbrowser.references.text.json_text import has_too_many_values
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.chunk_references import ChunkReferences, too_many
from refbrowser.wings.icechunk.reading.flatbuffers import Table, damaged
from refbrowser.wings.icechunk.reading.repository import (
    ID,
    NODE_ID,
    IcechunkRepository,
    ManifestExtent,
    Snapshot,
    SnapshotNode,
    id_text,
)


@dataclass(frozen=True, slots=True)
class LostChunks:
    """Chunks whose manifest cannot be read.

    Attributes
    ----------
    manifest
        Its identifier.
    ranges
        First chunk and the one behind the last along each dimension, shape (ndim, 2).
    """

    manifest: str
    ranges: npt.NDArray[np.int64]
    error: RefbrowserError

    @property
    def count(self) -> int:
        """How many they are."""
        return prod(max(stop - start, 0) for start, stop in self.ranges.tolist())

    def holds(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of the chunks at `coords`, shape (n, ndim), they are."""
        inside = (coords >= self.ranges[:, 0]) & (coords < self.ranges[:, 1])
        return np.asarray(inside.all(axis=1), bool)


@dataclass(slots=True, eq=False)
class _Array:
    """What is known of the chunks of an array.

    Attributes
    ----------
    grid, encoding
        How many chunks it has along each dimension, and how their keys are spelled.
    expansion
        Its references alone; None before they were read.
    lost
        Chunks of which nothing is known, as boxes of the grid.
    """

    node: SnapshotNode
    grid: tuple[int, ...]
    encoding: ChunkKeyEncoding
    expansion: Expansion | None = None
    lost: list[LostChunks] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """What stands before keys of its chunks."""
        return f"{self.node.path}/".removeprefix("/")

    def add(
        self, gathered: ChunkReferences, told: Sequence[Table] | RefbrowserError, extent: ManifestExtent
    ) -> None:
        """Add what a manifest tells of it, or that this is lost."""
        try:
            if isinstance(told, RefbrowserError):
                raise told
            if len(extent.ranges) != len(self.grid):
                message = "its chunks have another number of dimensions than the array"
                raise RefbrowserError(ErrorKind.FORMAT, message)
            for table in told:
                gathered.add(self.prefix, self.encoding, table, extent)
        except RefbrowserError as error:
            self._lose(extent, error)

    def _lose(self, extent: ManifestExtent, error: RefbrowserError) -> None:
        """Take note of chunks that are lost."""
        whole = np.array([(0, side) for side in self.grid], np.int64).reshape(-1, 2)
        fits = extent.ranges.shape == whole.shape
        ranges = np.minimum(extent.ranges, whole[:, 1:]) if fits else whole
        place = Place(path=f"/{self.node.path}", key=f"manifests/{extent.manifest}")
        message = f"manifest {extent.manifest} of the array cannot be read: {error.message}"
        # It is not asked for again: whoever opens the repository later may find it.
        advice = error.advice or ("" if error.kind is ErrorKind.FORMAT else "open the repository again")
        lost = RefbrowserError(error.kind, message, place, advice)
        self.lost.append(LostChunks(extent.manifest, ranges, lost))


class SnapshotReferences:
    """The references of the arrays of a snapshot; safe to use from any thread.

    Parameters
    ----------
    place
        The root of the repository.
    nodes
        Of the snapshot, those that are shown.
    progress
        Called with how many manifests were read, of how many.
    remember
        Takes note of what is said of the objects that virtual chunks lie in, by URL.
    """

    def __init__(
        self,
        place: str,
        repository: IcechunkRepository,
        snapshot: Snapshot,
        nodes: Iterable[SnapshotNode],
        token: CancelToken,
        progress: Callable[..., None],
        remember: Callable[[Mapping[str, Recorded]], None],
    ) -> None:
        self._place, self._repository, self._snapshot = place, repository, snapshot
        self._token, self._progress, self._remember = token, progress, remember
        self._lock = threading.Lock()
        self._arrays: dict[str, _Array] = {}
        #: Whether the document has them all: those of single arrays are held no more.
        self._is_whole = False
        self._empty = self._alone(ManifestBuilder(place))
        self._without: set[str] = set()
        self._count = 0
        for node in nodes:
            self._count += 1
            grid = _grid(node) if node.extents else None
            prefix = f"{node.path}/".removeprefix("/")
            if not node.extents:
                self._without.add(prefix)
            elif grid is not None:  # Else the reader of its metadata tells what is wrong.
                self._arrays[prefix] = _Array(node, *grid)

    def of(self, prefix: str) -> tuple[Expansion | None, Sequence[LostChunks]]:
        """Return the references of an array alone, which are read where they were not, and what is lost.

        Parameters
        ----------
        prefix
            Of its keys.

        Returns
        -------
        :
            None instead of the references where the document has them at hand.
        """
        with self._lock:
            array = self._arrays.get(prefix)
            if array is None:
                return self._empty if prefix in self._without else None, ()
            if not self._is_whole and array.expansion is None:
                self._read([array])
            return array.expansion, array.lost

    def reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk; None where there is none.

        Raises
        ------
        RefbrowserError
            The manifest that tells of it cannot be read.
        """
        for prefix, array in self._arrays.items():
            coords = array.encoding.decode(key.removeprefix(prefix), len(array.grid))
            if not key.startswith(prefix) or coords is None:
                continue
            own, lost = self.of(prefix)
            for each in lost:
                if each.holds(np.array([coords], np.int64).reshape(1, -1)).any():
                    raise each.error
            found = None if own is None else own.reference(key)
            return None if isinstance(found, NotDecided) else found
        return None

    def tables(self) -> list[ValueTable]:
        """Return the references of all arrays, for the document to hold them from then on.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there are too many.
        """
        with self._lock:
            self._read([array for array in self._arrays.values() if array.expansion is None])
            lost = self._lost_table()
            own = [array.expansion for array in self._arrays.values() if array.expansion is not None]
            found = [each.document.refs.table for each in own]
            if sum(map(len, found)) + len(lost) + self._count > LIMITS.references:
                raise too_many()
            for array in self._arrays.values():
                array.expansion = None
            self._is_whole = True
            return [*(table for table in found if isinstance(table, ValueTable)), lost]

    def _lost_table(self) -> ValueTable:
        """Return references that nobody can read, for the chunks that are lost.

        In a document they would be taken for chunks that were never written, by other software too.
        """
        count = sum(each.count for array in self._arrays.values() for each in array.lost)
        if count > ICECHUNK_LIMITS.icechunk_lost:
            message = (
                f"the manifests of {count} chunks cannot be read, more than {ICECHUNK_LIMITS.icechunk_lost}"
            )
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"{message} (icechunk_lost), which cannot be listed one by one",
                Place(document=self._place),
                "Read the other arrays on their own, or open an intact snapshot.",
            )
        gathered = ChunkReferences(ManifestBuilder(self._place), self._repository.containers)
        for array in self._arrays.values():
            for each in array.lost:
                gathered.add_lost(array.prefix, array.encoding, ManifestExtent(each.manifest, each.ranges))
        return gathered.builder.table()

    @property
    def left(self) -> int:
        """How many references were not read yet, as the snapshot counts them."""
        with self._lock:
            return self._left()

    def _left(self) -> int:
        if self._is_whole:
            return 0
        unread = (array for array in self._arrays.values() if array.expansion is None)
        names = {extent.manifest for array in unread for extent in array.node.extents}
        return sum(self._snapshot.counts.get(name, 0) for name in names)

    def counted(self, prefix: str) -> int | None:
        """Return how many references the snapshot says that an array has; None where it says nothing of it.

        A manifest of several arrays is counted as a whole.
        """
        names = {extent.manifest for extent in self._arrays[prefix].node.extents}
        shared = (
            extent.manifest in names
            for other, array in self._arrays.items()
            if other != prefix
            for extent in array.node.extents
        )
        counts = self._snapshot.counts
        return sum(counts[name] for name in names) if names <= counts.keys() and not any(shared) else None

    def leaves(self, prefix: str) -> bool:
        """Return whether the references of an array are left until somebody looks at a chunk."""
        with self._lock:
            array = self._arrays.get(prefix)
            is_read = array is None or self._is_whole or array.expansion is not None
            return not is_read and self._left() > LIMITS.references_described

    def noted(self, paths: Collection[str] | None) -> list[Finding]:
        """Return what is lost of some arrays, or of all, whose manifests are read where they were not.

        Those of all are only read where they have few references: this is asked to describe a dataset.
        """
        with self._lock:
            is_left = paths is None and self._left() > LIMITS.references_described
            wanted = [
                array
                for array in self._arrays.values()
                if paths is None or any(_concerns(f"/{array.node.path}", path) for path in paths)
            ]
            if not self._is_whole and not is_left:
                self._read([array for array in wanted if array.expansion is None])
            return [
                Finding(
                    severity=Severity.FAULT,
                    kind=ErrorKind.FORMAT,
                    message=lost.error.message,
                    place=Place(path=f"/{array.node.path}"),
                )
                for array in wanted
                for lost in array.lost
            ]

    def _read(self, arrays: Sequence[_Array]) -> None:
        """Read the manifests of arrays, each once."""
        wanted: dict[str, dict[bytes, list[tuple[_Array, ManifestExtent]]]] = {}
        gathered: dict[str, ChunkReferences] = {}
        for array in arrays:
            gathered[array.prefix] = ChunkReferences(
                ManifestBuilder(self._place), self._repository.containers
            )
            # Of a reading that was cancelled.
            array.lost = []
            for extent in array.node.extents:
                wanted.setdefault(extent.manifest, {}).setdefault(array.node.id, []).append((array, extent))
        for number, (name, manifest) in enumerate(self._repository.manifests(list(wanted))):
            self._token.check()
            self._progress(number, len(wanted), note="manifests")
            tables = _arrays_of(manifest, name, self._snapshot.counts.get(name))
            for at, pairs in wanted[name].items():
                told = tables if isinstance(tables, RefbrowserError) else tables.get(at, _NOT_TOLD)
                for array, extent in pairs:
                    array.add(gathered[array.prefix], told, extent)
        for array in arrays:
            self._remember(gathered[array.prefix].recorded)
            array.expansion = self._alone(gathered[array.prefix].builder)

    def _alone(self, builder: ManifestBuilder) -> Expansion:
        return builder.document(name=self._place).expansion


def _concerns(about: str, path: str) -> bool:
    """Return whether what is said of one path may concern another: one of them leads to the other."""
    about, path = f"{about.rstrip('/')}/", f"{path.rstrip('/')}/"
    return about.startswith(path) or path.startswith(about)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotManifest(ExpansionManifest):
    """The references of one array of a snapshot, as it was opened: only its own manifests are read for it."""

    references: SnapshotReferences

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        own, lost = self.references.of(self.prefix)
        columns = (own or self.expansion).chunk_columns(self.prefix, coords, self.encoding)
        for each in lost:
            rows = np.flatnonzero(each.holds(coords))
            kind, url = columns.kind.copy(), columns.url.copy()
            kind[rows], url[rows] = ReferenceKind.FAULTY, -1
            faults = {**columns.faults, **dict.fromkeys(rows.tolist(), each.error)}
            columns = replace(columns, kind=kind, url=url, faults=faults)
        return columns

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        own, lost = self.references.of(self.prefix)
        kinds = (own or self.expansion).chunk_kinds(self.prefix, self.grid_shape, self.encoding)
        for each in lost:
            kinds[tuple(slice(start, stop) for start, stop in each.ranges.tolist())] = ReferenceKind.FAULTY
        return kinds

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where some are lost.

        Where very many were not read yet, the snapshot says it.
        """
        if self.references.leaves(self.prefix):
            return self.references.counted(self.prefix)
        own, lost = self.references.of(self.prefix)
        if lost:
            return None
        return (own or self.expansion).stored_chunks(self.prefix, self.grid_shape, self.encoding)


_Grid = tuple[tuple[int, ...], ChunkKeyEncoding]
#: A snapshot names the manifests of an array that tell of it.
_NOT_TOLD = damaged("it does not describe the array")


def _arrays_of(
    manifest: Table | RefbrowserError, name: str, count: int | None
) -> dict[bytes, list[Table]] | RefbrowserError:
    """Return what a manifest tells of arrays, by their identifiers; or why it cannot be read.

    Parameters
    ----------
    count
        Of its references, as the snapshot has it; its file has no checksum.
    """
    if isinstance(manifest, RefbrowserError):
        return manifest
    found: dict[bytes, list[Table]] = {}
    try:
        own = manifest.struct(0, ID)
        if own is None or id_text(own) != name:
            raise damaged("it is a different manifest")
        tables = manifest.tables(1)
        if len(tables) > LIMITS.store_documents:
            raise damaged("it describes too many arrays")
        for row in range(len(tables)):
            found.setdefault(tables[row].struct(0, NODE_ID) or b"", []).append(tables[row])
        has = sum((table.vector(1, 4) or (0, 0))[1] for each in found.values() for table in each)
        if count is not None and has != count:
            raise damaged(f"it has {has} references, and the snapshot records {count}")
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
