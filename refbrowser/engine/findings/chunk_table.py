"""The references of the chunks of all arrays of a document as columns, and chunks that findings are about."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.building import encoded_room
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import CODECS, plain_name
from refbrowser.engine.findings.key_findings import chunk_codes
from refbrowser.errors import RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.model.listing import flat_index
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, with_used_urls
from refbrowser.references.content.chunk_codes import BITS, group_of_chunks, unpack_many
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]

#: Chunks of one document that are looked at one by one.
MOST_CHUNKS = 4_000_000
#: No range has more bytes.
_MOST = (1 << 63) - 1
#: Chunks that are looked up together, and those that an array has at most which is looked up with others.
_BLOCK, _FEW = 131_072, 4_096
_NOTHING: Ints = np.zeros(0, np.int64)


def coords_of(numbers: Ints, grid_shape: tuple[int, ...]) -> Ints:
    """Return the coordinates of chunks, shape (n, ndim), of their numbers in C order of a grid."""
    coords = np.empty((len(numbers), len(grid_shape)), np.int64)
    for axis in range(len(grid_shape) - 1, -1, -1):
        if axis:
            numbers, coords[:, axis] = np.divmod(numbers, grid_shape[axis])
        else:
            coords[:, 0] = numbers
    return coords


class ChunkMarks:
    """Chunks that findings are about, by array and code: what is drawn on chunk grids."""

    def __init__(self) -> None:
        self._of_arrays: dict[str, dict[str, list[Ints]]] = {}

    def add(self, path: str, code: str, coords: Ints) -> None:
        """Add chunks of an array, `coords` of shape (n, ndim)."""
        self._of_arrays.setdefault(path, {}).setdefault(code, []).append(coords)

    def of(self, path: str) -> dict[str, Ints]:
        """Return the chunks of an array by code, shape (n, ndim) each."""
        found = self._of_arrays.get(path, {})
        return {code: np.concatenate(parts) for code, parts in found.items()}

    @property
    def paths(self) -> tuple[str, ...]:
        """The arrays that have any."""
        return tuple(self._of_arrays)

    def copy(self) -> ChunkMarks:
        """Return the marks as they are now; the columns themselves are shared."""
        made = ChunkMarks()
        for path, of_codes in self._of_arrays.items():
            made._of_arrays[path] = {code: list(parts) for code, parts in of_codes.items()}
        return made


@dataclass(frozen=True, slots=True, eq=False)
class ChunkOwner:
    """An array whose chunks are looked at.

    Attributes
    ----------
    exact, most, least
        Bytes that each of its chunks has where it is stored, as far as its codecs tell: exactly, or at most
        and at least. `exact` is None, `least` 1 where they do not.
    missing, inline
        Chunks without a reference, and those whose bytes stand in the document, as numbers in C order of the
        grid.
    """

    node: ArrayNode
    manifest: ExpansionManifest
    exact: int | None
    most: int
    least: int
    missing: Ints
    inline: Ints

    @property
    def total(self) -> int:
        """Chunks of its grid."""
        return prod(self.manifest.grid_shape)

    def coords(self, numbers: Ints) -> Ints:
        """Return the coordinates of chunks, shape (n, ndim), of their numbers in C order."""
        return coords_of(numbers, self.manifest.grid_shape)

    def key(self, number: int) -> str:
        """Return the key of a chunk."""
        coords = self.coords(np.array([number], np.int64))[0]
        return self.manifest.key(tuple(coords.tolist()))


@dataclass(slots=True, eq=False)
class ChunkTable:
    """The chunks that are ranges of files, or whole files, a row each; no object for any of them.

    Attributes
    ----------
    owner
        Position in `owners`, int32.
    number
        Of the chunk, in C order of its grid.
    url
        Position in `urls`, int32.
    offset, length
        Bytes; the length of a whole file is -1.
    large
        Arrays whose chunks are too many to be looked at one by one.
    is_whole
        Whether all other arrays were looked at before the time was over.
    """

    owners: list[ChunkOwner] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    large: list[ChunkOwner] = field(default_factory=list)
    is_whole: bool = True
    owner: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    number: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    url: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    offset: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    length: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(
        cls, document: Document, hierarchy: Hierarchy, left: SearchTime, paths: Container[str] | None = None
    ) -> ChunkTable:
        """Look up the chunks of all arrays, up to `MOST_CHUNKS`; of larger ones those that stand in refs.

        Parameters
        ----------
        paths
            Of the arrays that are wanted; None for all.
        """
        return _Building(document, left).table(hierarchy, paths)


class _Building:
    """A table while arrays are added to it."""

    def __init__(self, document: Document, left: SearchTime) -> None:
        self._document, self._left = document, left
        self._table = ChunkTable()
        self._numbers: dict[str, int] = {}
        self._codes = chunk_codes(document)
        #: URLs that all arrays share, and their numbers: they are looked up once.
        self._shared: tuple[tuple[str, ...], npt.NDArray[np.int32]] | None = None
        #: By column what each block of chunks gives.
        self._columns: tuple[list[npt.NDArray[Any]], ...] = ([], [], [], [], [])
        #: Small arrays that are looked up together: each with the slots of its chunks.
        self._waiting: list[tuple[ArrayNode, ExpansionManifest, Ints]] = []
        self._held = 0

    def table(self, hierarchy: Hierarchy, paths: Container[str] | None) -> ChunkTable:
        table, room = self._table, MOST_CHUNKS
        for node, manifest in _arrays(hierarchy):
            if paths is not None and node.path not in paths:
                continue
            if self._left.is_over:
                table.is_whole = False
                break
            total = prod(manifest.grid_shape)
            is_large = total > room
            room -= 0 if is_large else total
            slots = self._slots(manifest, total)
            if slots is not None:
                self._waiting.append((node, manifest, slots))
                self._held += total
                if self._held >= _BLOCK:
                    self._add_waiting()
                continue
            self._add_waiting()
            blocks = self._written(manifest) if is_large else _numbers(total)
            owner = self._added(node, manifest, blocks, is_whole=not is_large)
            if is_large:
                table.large.append(owner)
        self._add_waiting()
        table.owner, table.number = self._column(0, np.int32), self._column(1, np.int64)
        table.url, table.offset = self._column(2, np.int32), self._column(3, np.int64)
        table.length = self._column(4, np.int64)
        return table

    def _slots(self, manifest: ExpansionManifest, total: int) -> Ints | None:
        """Return the slots of the chunks of a small array that stands in refs alone."""
        if total > _FEW or manifest.expansion.document is not self._document:
            return None
        coords = coords_of(np.arange(total, dtype=np.int64), manifest.grid_shape)
        return manifest.expansion.stored_slots(manifest.prefix, coords, manifest.encoding)

    def _add_waiting(self) -> None:
        """Add the small arrays that wait: for each of them alone it would take far more calls."""
        waiting, self._waiting, self._held = self._waiting, [], 0
        if not waiting:
            return
        table, sizes = self._table, [len(slots) for _, _, slots in waiting]
        starts = np.cumsum([0, *sizes])
        order = np.repeat(np.arange(len(waiting)), sizes)
        numbers = np.arange(starts[-1]) - starts[order]
        columns = self._document.view.columns(np.concatenate([slots for _, _, slots in waiting]))
        kinds, ends = columns.kind, starts.tolist()
        rows = np.flatnonzero((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE))
        self._append(columns, rows, (len(table.owners) + order)[rows], numbers)
        counts = [
            np.bincount(order[kinds == kind], minlength=len(waiting)).tolist()
            for kind in (ReferenceKind.RANGE, ReferenceKind.MISSING, ReferenceKind.INLINE)
        ]
        for at, (node, manifest, _) in enumerate(waiting):
            gone = within = _NOTHING
            ranges, missing, inline = counts[0][at], counts[1][at], counts[2][at]
            if missing or inline:
                own = slice(ends[at], ends[at + 1])
                gone = numbers[own][kinds[own] == ReferenceKind.MISSING] if table.is_whole else gone
                within = numbers[own][kinds[own] == ReferenceKind.INLINE]
            stored = stored_sizes(node) if ranges else (None, _MOST, 1)
            table.owners.append(ChunkOwner(node, manifest, *stored, gone, within))

    def _written(self, manifest: ExpansionManifest) -> Iterator[Ints]:
        """Yield the numbers of the chunks of an array that stand in refs, rising in parts."""
        grid = manifest.grid_shape
        found = group_of_chunks(manifest.prefix, len(grid), manifest.encoding)
        codes = None if found is None or prod(grid) >= 1 << 62 else self._codes.get(found[0])
        if found is None or codes is None:
            return
        leading = len(found[1])
        for start in range(0, len(codes), _BLOCK):
            some = codes[start : start + _BLOCK]
            some = some[some >> np.uint64(BITS) == leading + len(grid)]
            coords = np.stack(unpack_many(some, leading + len(grid))[leading:], axis=1)
            inside = (coords < np.array(grid, np.int64)).all(axis=1)
            yield flat_index(coords[inside], grid)

    def _added(
        self, node: ArrayNode, manifest: ExpansionManifest, blocks: Iterable[Ints], *, is_whole: bool
    ) -> ChunkOwner:
        """Add the chunks of an array."""
        table, position = self._table, len(self._table.owners)
        has_ranges = not is_whole
        missing: list[Ints] = []
        inline: list[Ints] = []
        for numbers in blocks:
            if self._left.is_over:
                table.is_whole = False
                break
            columns = manifest.columns(coords_of(numbers, manifest.grid_shape))
            is_whole_file = columns.kind == ReferenceKind.WHOLE
            rows = np.flatnonzero((columns.kind == ReferenceKind.RANGE) | is_whole_file)
            missing.append(numbers[columns.kind == ReferenceKind.MISSING])
            inline.append(numbers[columns.kind == ReferenceKind.INLINE])
            if len(rows):
                has_ranges = has_ranges or not is_whole_file[rows].all()
                self._append(columns, rows, np.full(len(rows), position, np.int32), numbers)
        gone = np.concatenate(missing) if missing and is_whole and table.is_whole else _NOTHING
        # To build the codecs of an array takes longer than all else that is done for a small one.
        sizes = stored_sizes(node) if has_ranges else (None, _MOST, 1)
        owner = ChunkOwner(node, manifest, *sizes, gone, np.concatenate(inline) if inline else gone)
        table.owners.append(owner)
        return owner

    def _append(
        self, columns: ReferenceColumns, rows: Ints, owner: npt.NDArray[np.integer[Any]], numbers: Ints
    ) -> None:
        """Add chunks that lie in files: some rows of columns, the array of each, the numbers of all rows."""
        url = self._url_numbers(columns.urls)
        if url is None:
            columns = with_used_urls(columns)
            url = self._numbered(columns.urls)
        found: tuple[npt.NDArray[Any], ...] = (
            owner.astype(np.int32, copy=False),
            numbers[rows],
            url[columns.url[rows]],
            columns.offset[rows],
            columns.length[rows],
        )
        for column, values in zip(self._columns, found, strict=True):
            column.append(values)

    def _column(self, at: int, kind: type[Any]) -> npt.NDArray[Any]:
        """Return a column as a whole; its blocks are given up, so that no more than one is held twice."""
        blocks = self._columns[at]
        joined = np.concatenate(blocks) if blocks else np.zeros(0, kind)
        blocks.clear()
        return joined

    def _url_numbers(self, urls: tuple[str, ...]) -> npt.NDArray[np.int32] | None:
        """Return the numbers of the URLs of the document; None where these are others."""
        if self._shared is None:
            self._shared = urls, self._numbered(urls)
        return self._shared[1] if self._shared[0] is urls else None

    def _numbered(self, urls: tuple[str, ...]) -> npt.NDArray[np.int32]:
        known, table = self._numbers, self._table
        numbers = np.fromiter((known.setdefault(url, len(known)) for url in urls), np.int32, len(urls))
        table.urls += list(known)[len(table.urls) :]
        return numbers


def _numbers(total: int) -> Iterator[Ints]:
    """Yield the numbers of all chunks, in parts."""
    for start in range(0, total, _BLOCK):
        yield np.arange(start, min(start + _BLOCK, total), dtype=np.int64)


def _arrays(hierarchy: Hierarchy) -> Iterator[tuple[ArrayNode, ExpansionManifest]]:
    """Yield the arrays whose chunks have one reference each, and are of one spelling."""
    for node in hierarchy.walk():
        if isinstance(node, ArrayNode) and node.has_manifest and node.values.encoded is not None:
            manifests = list(single_manifests(node.manifest))
            if len(manifests) == 1:
                yield node, manifests[0]


def stored_sizes(node: ArrayNode) -> tuple[int | None, int, int]:
    """Return the bytes of a stored chunk of an array: exactly (None: not known), at most and at least.

    Of unequal chunks it is not known exactly, and at most what the largest one takes.
    """
    most = _MOST
    try:
        pipeline = CodecPipeline.for_array(node)
    except RefbrowserError:
        return None, most, 1
    if pipeline.objects is not None or pipeline.sharding is not None:
        return None, pipeline.stored_most if pipeline.sharding is not None else most, 1
    if not node.grid.is_regular:
        return None, pipeline.stored_most, 1
    if not pipeline.stages:
        return pipeline.decoded_size, pipeline.decoded_size, pipeline.decoded_size
    last = pipeline.stages[-1]
    room = encoded_room(pipeline.stages, last.room)
    if room.exact is not None:
        return room.exact, room.exact, room.exact
    row = CODECS.get(plain_name(last.name))
    growth, frame = (0, 1) if row is None else row.least
    decoded = last.room.exact or 0
    least = max(frame, -(-decoded // growth) if growth else 0) if decoded else 1
    return None, room.most, least
