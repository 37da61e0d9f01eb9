"""One manifest of an Icechunk repository: references are found in it by the coordinates of their chunks.

A manifest holds its arrays by identifier, and the references of each in the order of coordinates
(specification of Icechunk, "Manifests"): a few are found among very many without decoding these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.wings.icechunk.reading.chunk_references import INDEX, Coords, RefBlock
from refbrowser.wings.icechunk.reading.flatbuffers import Table, Tables, damaged
from refbrowser.wings.icechunk.reading.repository import ID, NODE_ID, id_text

#: References that are decoded together.
_BLOCK = 1 << 18
#: So many times as many references as are wanted are decoded; among more they are searched for one by one.
_DENSE = 64


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRefs:
    """The references of one array in a manifest.

    Attributes
    ----------
    manifest
        Its root.
    start
        Where the vector of them begins.
    ndim
        Of the array.
    """

    manifest: Table
    start: int
    count: int
    ndim: int

    def rows(self, numbers: npt.NDArray[np.int64]) -> Tables:
        """Return some of them, by their places in the vector."""
        buffer = self.manifest.buffer
        at = self.start + 4 * numbers
        return Tables(buffer, at + buffer.values("<u4", at).astype(np.int64))

    def coords(self, refs: Tables) -> Coords:
        """Return the coordinates of the chunks of references, shape (n, ndim).

        Raises
        ------
        RefbrowserError
            E_FORMAT: they are damaged.
        """
        starts, counts = refs.vectors(INDEX, 4)
        if (counts != self.ndim).any():
            raise damaged("a chunk has coordinates of another number of dimensions")
        at = starts[:, None] + 4 * np.arange(self.ndim, dtype=np.int64)
        return refs.buffer.values("<u4", at).astype(np.int64).reshape(len(refs), self.ndim)

    def blocks(self, ranges: Coords, start: int = 0, stop: int | None = None) -> Iterator[RefBlock]:
        """Yield the references that lie in a box of the grid, as they follow one another.

        Parameters
        ----------
        ranges
            First chunk and the one behind the last along each dimension, shape (ndim, 2).
        start, stop
            Only those of these places in the vector.
        """
        stop = self.count if stop is None else stop
        for first in range(start, stop, _BLOCK):
            refs = self.rows(np.arange(first, min(first + _BLOCK, stop), dtype=np.int64))
            coords = self.coords(refs)
            inside = ((coords >= ranges[:, 0]) & (coords < ranges[:, 1])).all(axis=1)
            if not inside.all():
                refs, coords = refs.chosen(np.flatnonzero(inside)), coords[inside]
            yield RefBlock(refs, coords, self.manifest)

    def found(self, wanted: Coords, ranges: Coords) -> Iterator[tuple[npt.NDArray[np.int64], Tables]]:
        """Yield the references of chunks: which of those that are wanted, and what they are.

        Parameters
        ----------
        wanted
            Coordinates, shape (n, ndim), within the box.
        ranges
            The box, as `blocks` takes it.

        Raises
        ------
        RefbrowserError
            E_FORMAT: they are damaged.
        """
        order = np.lexsort(wanted.T[::-1]) if self.ndim else np.arange(len(wanted))
        wanted = wanted[order]
        first, last = self._searched(wanted[[0, -1]]).tolist()
        if last - first > _DENSE * len(wanted) + _BLOCK:
            places = self._searched(wanted)
            some = np.flatnonzero(places < self.count)
            refs = self.rows(places[some])
            is_there = (self.coords(refs) == wanted[some]).all(axis=1)
            yield order[some[is_there]], refs.chosen(np.flatnonzero(is_there))
            return
        sides = ranges[:, 1] - ranges[:, 0]
        strides = np.concatenate([np.cumprod(sides[:0:-1])[::-1], [1]])[: self.ndim].astype(np.int64)
        codes = (wanted - ranges[:, 0]) @ strides
        for block in self.blocks(ranges, first, min(last + 1, self.count)):
            own = (block.coords - ranges[:, 0]) @ strides
            if (own[1:] < own[:-1]).any():
                raise damaged("its references are not in order")
            places = np.searchsorted(own, codes)
            is_there = places < len(own)
            is_there[is_there] = own[places[is_there]] == codes[is_there]
            yield order[is_there], block.refs.chosen(places[is_there])

    def _searched(self, wanted: Coords) -> npt.NDArray[np.int64]:
        """Return the place of the first reference that does not lie before each chunk, shape (n,)."""
        low = np.zeros(len(wanted), np.int64)
        high = np.full(len(wanted), self.count, np.int64)
        while (open_ := np.flatnonzero(low < high)).size:
            middle = (low[open_] + high[open_]) // 2
            is_before = _is_before(self.coords(self.rows(middle)), wanted[open_])
            low[open_] = np.where(is_before, middle + 1, low[open_])
            high[open_] = np.where(is_before, high[open_], middle)
        return low


def _is_before(coords: Coords, others: Coords) -> npt.NDArray[np.bool_]:
    """Return which chunks lie before others, row by row, as the last dimension runs fastest."""
    is_before = np.zeros(len(coords), bool)
    for axis in range(coords.shape[1] - 1, -1, -1):
        one, other = coords[:, axis], others[:, axis]
        is_before = (one < other) | ((one == other) & is_before)
    return is_before


@dataclass(frozen=True, slots=True, eq=False)
class ManifestFile:
    """One manifest, decompressed.

    Attributes
    ----------
    root
        Its table.
    arrays
        Where the references of arrays begin, and how many they are, by the identifiers of arrays.
    """

    root: Table
    arrays: Mapping[bytes, tuple[int, int]]

    @classmethod
    def of(cls, root: Table, name: str, count: int | None) -> ManifestFile:
        """Return the manifest.

        Parameters
        ----------
        name
            Its identifier.
        count
            Of its references, as the snapshot has it; its file has no checksum.

        Raises
        ------
        RefbrowserError
            E_FORMAT: it is damaged, or another one.
        """
        own = root.struct(0, ID)
        if own is None or id_text(own) != name:
            raise damaged("it is a different manifest")
        tables = root.tables(1)
        if len(tables) > LIMITS.store_documents:
            raise damaged("it describes too many arrays")
        starts, counts = tables.vectors(1, 4)
        has = int(counts.sum())
        if count is not None and has != count:
            raise damaged(f"it has {has} references, and the snapshot records {count}")
        ids = root.buffer.rows(tables.places(0), NODE_ID)
        nodes = [row.tobytes() for row in ids]
        if len(set(nodes)) < len(nodes):
            raise damaged("it describes an array twice")
        return cls(root, dict(zip(nodes, zip(starts.tolist(), counts.tolist(), strict=True), strict=True)))

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.root.buffer.data)

    def refs(self, node: bytes, ndim: int) -> ArrayRefs:
        """Return the references of an array.

        Raises
        ------
        RefbrowserError
            E_FORMAT: it has none of this array.
        """
        if node not in self.arrays:
            raise damaged("it does not describe the array")
        return ArrayRefs(self.root, *self.arrays[node], ndim)
