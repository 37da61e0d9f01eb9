"""The chunk references of a snapshot, of each array read as somebody looks at its chunks.

A snapshot names the manifests of each array, and which of its chunks each tells; opening reads none of them.
Some chunks of an array cost the manifests that tell of these; who looks at the document as a whole (its keys,
an export of all) reads those that are left, together.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from refbrowser.model.reference import Missing, Reference, ReferenceColumns, ReferenceKind
from refbrowser.references.content.value_table import ValueTable
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.text.json_text import has_too_many_values
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.chunk_references import (
    ChunkReferences,
    Coords,
    FoundReferences,
    RefDecoder,
    RefKinds,
    too_many,
)
from refbrowser.wings.icechunk.reading.manifest_file import ArrayRefs, ManifestFile
from refbrowser.wings.icechunk.reading.repository import IcechunkRepository, Snapshot, SnapshotNode

#: Manifests among which those of some chunks are looked for one by one.
_FEW = 16
#: Manifests that are read to tell beforehand what some arrays have lost: one round of requests.
_NOTED = 64


@dataclass(slots=True, eq=False)
class ChunkBox:
    """The chunks of an array that one manifest tells, as a box of the grid.

    Attributes
    ----------
    manifest
        Its identifier.
    ranges
        First chunk and the one behind the last along each dimension, shape (ndim, 2).
    error
        Why they are lost; None while nobody knows that they are.
    """

    manifest: str
    ranges: Coords
    error: RefbrowserError | None = None

    @property
    def count(self) -> int:
        """How many they are."""
        return prod(max(stop - start, 0) for start, stop in self.ranges.tolist())

    def holds(self, coords: Coords) -> npt.NDArray[np.bool_]:
        """Return which of the chunks at `coords`, shape (n, ndim), they are."""
        inside = (coords >= self.ranges[:, 0]) & (coords < self.ranges[:, 1])
        return np.asarray(inside.all(axis=1), bool)


class _Array:
    """What is known of the chunks of an array.

    Attributes
    ----------
    is_checked
        Whether all its manifests were decoded once, so that what is lost is known.
    """

    def __init__(self, node: SnapshotNode) -> None:
        self.node = node
        self.is_checked = False

    @property
    def prefix(self) -> str:
        """What stands before keys of its chunks."""
        return f"{self.node.path}/".removeprefix("/")

    @cached_property
    def _grid(self) -> _Grid | None:
        return _grid(self.node)

    @property
    def is_known(self) -> bool:
        """Whether its metadata tells a grid; else the reader of its metadata tells what is wrong."""
        return self._grid is not None

    @property
    def grid(self) -> tuple[int, ...]:
        """How many chunks it has along each dimension."""
        return () if self._grid is None else self._grid[0]

    @property
    def encoding(self) -> ChunkKeyEncoding:
        """How the keys of its chunks are spelled."""
        return ChunkKeyEncoding("default", "/") if self._grid is None else self._grid[1]

    @cached_property
    def boxes(self) -> list[ChunkBox]:
        """Its chunks, by the manifests that tell of them; none beyond the grid."""
        whole = np.array([(0, side) for side in self.grid], np.int64).reshape(-1, 2)
        boxes = []
        for extent in self.node.extents if self.is_known else ():
            if extent.ranges.shape == whole.shape:
                boxes.append(ChunkBox(extent.manifest, np.minimum(extent.ranges, whole[:, 1:])))
            else:
                box = ChunkBox(extent.manifest, whole)
                message = "its chunks have another number of dimensions than the array"
                self.lose(box, RefbrowserError(ErrorKind.FORMAT, message))
                boxes.append(box)
        return boxes

    @cached_property
    def _bounds(self) -> Coords:
        """The boxes, shape (n, ndim, 2)."""
        return np.stack([box.ranges for box in self.boxes]) if self.boxes else np.zeros((0, 0, 2), np.int64)

    @property
    def is_within(self) -> bool:
        """Whether its manifests tell of no chunks beyond the grid, as its snapshot has it."""
        return self.is_known and all(
            len(extent.ranges) == len(self.grid) and (extent.ranges[:, 1] <= self.grid).all()
            for extent in self.node.extents
        )

    @property
    def lost(self) -> Iterator[tuple[ChunkBox, RefbrowserError]]:
        """Chunks that cannot be told, as boxes of the grid, and why."""
        return ((box, box.error) for box in self.boxes if box.error is not None)

    def lose(self, box: ChunkBox, error: RefbrowserError) -> None:
        """Take note of chunks that are lost."""
        place = Place(path=f"/{self.node.path}", key=f"manifests/{box.manifest}")
        message = f"manifest {box.manifest} of the array cannot be read: {error.message}"
        # It is not asked for again: whoever opens the repository later may find it.
        advice = error.advice or ("" if error.kind is ErrorKind.FORMAT else "open the repository again")
        box.error = RefbrowserError(error.kind, message, place, advice)

    def touched(self, coords: Coords) -> Iterator[tuple[ChunkBox, npt.NDArray[np.int64]]]:
        """Yield the boxes that some of the chunks at `coords` lie in, and which of these.

        Parameters
        ----------
        coords
            Shape (n, ndim). The chunks are halved until few boxes meet them: not each box is held against
            each chunk.
        """
        waiting = [np.arange(len(coords))]
        while waiting:
            rows = waiting.pop()
            some = coords[rows]
            low, high = some.min(axis=0), some.max(axis=0)
            met = np.flatnonzero(
                ((self._bounds[:, :, 0] <= high) & (self._bounds[:, :, 1] > low)).all(axis=1)
            )
            if len(met) > _FEW and (low < high).any():
                axis = int(np.argmax(high - low))
                is_low = some[:, axis] <= (low[axis] + high[axis]) // 2
                waiting += [rows[~is_low], rows[is_low]]
                continue
            for number in met.tolist():
                box = self.boxes[number]
                inside = rows[box.holds(some)]
                if len(inside):
                    yield box, inside


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
        #: Manifests that were read, those used last at the end; and why others cannot be.
        self._kept: OrderedDict[str, ManifestFile] = OrderedDict()
        self._unreadable: dict[str, RefbrowserError] = {}
        #: Whether the document has them all: manifests are held no more.
        self._is_whole = False
        self._count = 0
        for node in nodes:
            self._count += 1
            array = _Array(node)
            self._arrays[array.prefix] = array

    # Chunks

    def has_keys_of(self, prefix: str, ndim: int, encoding: ChunkKeyEncoding) -> bool:
        """Return whether chunks of an array, which may be edited, have the keys that the snapshot gives."""
        array = self._arrays.get(prefix)
        return array is not None and len(array.grid) == ndim and array.encoding == encoding

    def columns(self, prefix: str, coords: Coords) -> ReferenceColumns | None:
        """Return the references of chunks of an array, of which no other manifests are read.

        Parameters
        ----------
        prefix
            Of its keys.
        coords
            Within its grid, shape (n, ndim).

        Returns
        -------
        :
            None where the document has them at hand.
        """
        with self._lock:
            array = self._arrays.get(prefix)
            if array is None or self._is_whole:
                return None
            found = FoundReferences(len(coords))
            wanted: dict[str, list[tuple[ChunkBox, npt.NDArray[np.int64]]]] = {}
            for box, rows in array.touched(coords) if array.boxes and len(coords) else ():
                wanted.setdefault(box.manifest, []).append((box, rows))
            decoder = self._decoder()
            for name, manifest in self._manifests(wanted):
                for box, rows in wanted[name]:
                    _find(array, box, manifest, coords, rows, decoder, found)
            self._remember(decoder.recorded)
            return found.columns()

    def kinds(self, prefix: str, grid: tuple[int, ...]) -> npt.NDArray[np.uint8] | None:
        """Return the `ReferenceKind` of every chunk of an array; None where the document has them at hand.

        Parameters
        ----------
        grid
            Its shape now: an edit may have made it another than the snapshot has.
        """
        with self._lock:
            array = self._arrays.get(prefix)
            if array is None or self._is_whole:
                return None
            # One axis more: those of arrays without any are indexed alike.
            kinds = np.full((*array.grid, 1), ReferenceKind.MISSING, np.uint8)

            def put(_array: _Array, refs: ArrayRefs, box: ChunkBox) -> None:
                for block in refs.blocks(box.ranges):
                    is_inline = RefKinds.of(block.refs).is_inline
                    found = np.where(is_inline, ReferenceKind.INLINE, ReferenceKind.RANGE)
                    kinds[(*block.coords.T, np.zeros(len(found), np.int64))] = found

            self._walk([array], put)
            for box, _ in array.lost:
                kinds[tuple(slice(start, stop) for start, stop in box.ranges.tolist())] = ReferenceKind.FAULTY
            if grid == array.grid:
                return kinds[..., 0]
            fitted = np.full(grid, ReferenceKind.MISSING, np.uint8)
            both = tuple(slice(min(sides)) for sides in zip(grid, array.grid, strict=True))
            fitted[both] = kinds[..., 0][both]
            return fitted

    def lost(self, prefix: str) -> list[tuple[ChunkBox, RefbrowserError]]:
        """Return what is known to be lost of an array."""
        with self._lock:
            array = self._arrays.get(prefix)
            return [] if array is None else [*array.lost]

    def stored(self, prefix: str, grid: tuple[int, ...]) -> int | None:
        """Return how many chunks of an array have a reference; None where that is not known.

        It is not where an edit gave the array another grid.

        The snapshot says it; only where it does not, and few references are left, manifests are read.
        """
        with self._lock:
            array = self._arrays.get(prefix)
            if array is None or array.grid != grid:
                return None
            told = self._told(array)
            if told is not None or self._left > LIMITS.references_described:
                return None if any(array.lost) else told
            count = 0

            def add(_array: _Array, refs: ArrayRefs, box: ChunkBox) -> None:
                nonlocal count
                count += sum(len(block.coords) for block in refs.blocks(box.ranges))

            self._walk([array], add)
            return None if any(array.lost) else count

    def _told(self, array: _Array) -> int | None:
        """Return how many references the snapshot says that an array has; None where that is not exact.

        A manifest of several arrays, or of chunks beyond the grid, is counted as a whole.
        """
        names = {extent.manifest for extent in array.node.extents}
        told = self._snapshot.manifests
        if not names <= told.keys() or any(self._shared[name] > 1 for name in names) or not array.is_within:
            return None
        count = sum(told[name].references for name in names)
        return count if count <= sum(box.count for box in array.boxes) else None

    @cached_property
    def _shared(self) -> Counter[str]:
        """How many arrays have each manifest."""
        return Counter(
            name
            for array in self._arrays.values()
            for name in {extent.manifest for extent in array.node.extents}
        )

    def reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk; None where there is none.

        Raises
        ------
        RefbrowserError
            The manifest that tells of it cannot be read.
        """
        slashes = [number + 1 for number, letter in enumerate(key) if letter == "/"]
        for start in (*reversed(slashes), 0):
            array = self._arrays.get(key[:start])
            coords = None if array is None else array.encoding.decode(key[start:], len(array.grid))
            if array is None or coords is None:
                continue
            if any(map(int.__ge__, coords, array.grid)):
                return None
            found = self.columns(array.prefix, np.array([coords], np.int64).reshape(1, -1))
            told = None if found is None else found.reference(0)
            return None if isinstance(told, Missing) else told
        return None

    # All of them

    def tables(self) -> list[ValueTable]:
        """Return the references of all arrays, for the document to hold them from then on.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there are too many.
        """
        with self._lock:
            decoder = self._decoder()
            gathered: dict[str, ChunkReferences] = {}

            def gather(array: _Array, refs: ArrayRefs, box: ChunkBox) -> None:
                if array.prefix not in gathered:
                    gathered[array.prefix] = ChunkReferences(ManifestBuilder(self._place), decoder)
                for block in refs.blocks(box.ranges):
                    gathered[array.prefix].add(array.prefix, array.encoding, block)

            self._walk([*self._arrays.values()], gather)
            lost = self._lost_table(decoder)
            found = [gathered[prefix].builder.table() for prefix in self._arrays if prefix in gathered]
            if sum(map(len, found)) + len(lost) + self._count > LIMITS.references:
                raise too_many()
            self._remember(decoder.recorded)
            self._kept.clear()
            self._is_whole = True
            return [*found, lost]

    def _lost_table(self, decoder: RefDecoder) -> ValueTable:
        """Return references that nobody can read, for the chunks that are lost.

        In a document they would be taken for chunks that were never written, by other software too.
        """
        lost = [(array, box) for array in self._arrays.values() for box, _ in array.lost]
        count = sum(box.count for _, box in lost)
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
        gathered = ChunkReferences(ManifestBuilder(self._place), decoder)
        for array, box in lost:
            gathered.add_lost(array.prefix, array.encoding, box.manifest, box.ranges)
        return gathered.builder.table()

    @property
    def left(self) -> int:
        """How many references the document has not read, as the snapshot counts them."""
        with self._lock:
            return self._left

    @property
    def _left(self) -> int:
        return 0 if self._is_whole else self._total

    @cached_property
    def _total(self) -> int:
        told = self._snapshot.manifests
        return sum(told[name].references for name in self._shared if name in told)

    def noted(self, paths: Collection[str] | None) -> list[Finding]:
        """Return what is lost of some arrays, or of all, whose manifests are read where they were not.

        Of very many references only what was found so far is told: this is asked to describe a dataset. So
        it is of arrays with many manifests: whoever reads a chunk that is lost is told then.
        """
        with self._lock:
            wanted = [
                array
                for array in self._arrays.values()
                if paths is None or any(_concerns(f"/{array.node.path}", path) for path in paths)
            ]
            told = self._snapshot.manifests
            names = {extent.manifest for array in wanted for extent in array.node.extents}
            left = sum(told[name].references for name in names if name in told)
            is_much = left > LIMITS.references_described or (paths is not None and len(names) > _NOTED)
            if not self._is_whole and not is_much:
                decoder = self._decoder()

                def check(_array: _Array, refs: ArrayRefs, box: ChunkBox) -> None:
                    for block in refs.blocks(box.ranges):
                        decoder.decoded(block.refs, block.manifest)

                unchecked = [array for array in wanted if not array.is_checked]
                self._walk(unchecked, check)
                self._remember(decoder.recorded)
                for array in unchecked:
                    array.is_checked = True
            return [
                Finding(
                    severity=Severity.FAULT,
                    kind=ErrorKind.FORMAT,
                    message=error.message,
                    place=Place(path=f"/{array.node.path}"),
                )
                for array in wanted
                for _, error in array.lost
            ]

    # Manifests

    def _decoder(self) -> RefDecoder:
        return RefDecoder(self._place, self._repository.containers)

    def _walk(self, arrays: Sequence[_Array], visit: Callable[[_Array, ArrayRefs, ChunkBox], None]) -> None:
        """Visit the references of arrays, of each manifest together; what cannot be read is lost."""
        wanted: dict[str, list[tuple[_Array, ChunkBox]]] = {}
        for array in arrays:
            for box in array.boxes:
                if box.error is None:
                    wanted.setdefault(box.manifest, []).append((array, box))
        for number, (name, manifest) in enumerate(self._manifests(wanted)):
            self._progress(number, len(wanted), note="manifests")
            for array, box in wanted[name]:
                try:
                    if isinstance(manifest, RefbrowserError):
                        raise manifest
                    visit(array, manifest.refs(array.node.id, len(array.grid)), box)
                except RefbrowserError as error:
                    if error.kind is ErrorKind.BUDGET and not isinstance(manifest, RefbrowserError):
                        raise
                    array.lose(box, error)

    def _manifests(self, names: Collection[str]) -> Iterator[tuple[str, ManifestFile | RefbrowserError]]:
        """Yield manifests, or why they cannot be read; those that are not kept are read, some together."""
        new = [name for name in names if name not in self._kept and name not in self._unreadable]
        for name in set(names).difference(new):
            if name in self._kept:
                self._kept.move_to_end(name)
            yield name, self._kept[name] if name in self._kept else self._unreadable[name]
        for name, root in self._repository.manifests(new, self._snapshot.manifests):
            self._token.check()
            try:
                if isinstance(root, RefbrowserError):
                    raise root
                told = self._snapshot.manifests.get(name)
                manifest = ManifestFile.of(root, name, None if told is None else told.references)
            except RefbrowserError as error:
                self._unreadable[name] = error
                yield name, error
                continue
            self._kept[name] = manifest
            yield name, manifest
            while len(self._kept) > 1 and self._size > ICECHUNK_LIMITS.icechunk_kept:
                self._kept.popitem(last=False)

    @property
    def _size(self) -> int:
        return sum(manifest.size for manifest in self._kept.values())


def _find(
    array: _Array,
    box: ChunkBox,
    manifest: ManifestFile | RefbrowserError,
    coords: Coords,
    rows: npt.NDArray[np.int64],
    decoder: RefDecoder,
    found: FoundReferences,
) -> None:
    """Add what a manifest tells of chunks, those at the rows of `coords` that lie in its box."""
    if box.error is None:
        try:
            if isinstance(manifest, RefbrowserError):
                raise manifest
            own = manifest.refs(array.node.id, len(array.grid))
            parts = [
                (rows[at], decoder.decoded(refs, manifest.root))
                for at, refs in own.found(coords[rows], box.ranges)
            ]
            for at, decoded in parts:
                found.add(at, decoded)
        except RefbrowserError as error:
            array.lose(box, error)
    if box.error is not None:
        found.add_lost(rows, box.error)


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
        own = self.references.columns(self.prefix, coords)
        if own is not None:
            return own
        columns = ExpansionManifest.columns(self, coords)
        for box, error in self.references.lost(self.prefix):
            rows = np.flatnonzero(box.holds(coords))
            kind, url = columns.kind.copy(), columns.url.copy()
            kind[rows], url[rows] = ReferenceKind.FAULTY, -1
            faults = {**columns.faults, **dict.fromkeys(rows.tolist(), error)}
            columns = replace(columns, kind=kind, url=url, faults=faults)
        return columns

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        own = self.references.kinds(self.prefix, self.grid_shape)
        if own is not None:
            return own
        kinds = ExpansionManifest.kinds(self)
        for box, _ in self.references.lost(self.prefix):
            kinds[tuple(slice(start, stop) for start, stop in box.ranges.tolist())] = ReferenceKind.FAULTY
        return kinds

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where some are lost, or nobody knows it."""
        return self.references.stored(self.prefix, self.grid_shape)


_Grid = tuple[tuple[int, ...], ChunkKeyEncoding]


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
