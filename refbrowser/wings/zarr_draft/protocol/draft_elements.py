"""Elements of one array, retrieved and stored chunk by chunk (Store and retrieve element values)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.wings.zarr_draft.protocol.draft_stores import Store
from refbrowser.wings.zarr_draft.reading.draft_keys import ChunkSpelling


class DraftArray:
    """One array of a store; indexing retrieves its elements, assigning to an index stores them.

    Indices are numpy's basic ones: integers, slices with steps, ``...``. Chunks are handled one by one, and
    never more of the array is in memory than the selection and one chunk.

    Attributes
    ----------
    node
        Its metadata.
    """

    def __init__(self, store: Store, node: ArrayNode, spellings: Sequence[ChunkSpelling]) -> None:
        for error in (node.error, node.unreadable):
            if error is not None:
                raise error
        self.node = node
        self._store = store
        self._grid: RegularChunkGrid = node.grid.regular
        self._dtype: np.dtype[Any] = node.known_dtype
        self._spellings = tuple(spellings)
        self._pipeline = CodecPipeline.for_array(node)

    def __repr__(self) -> str:
        return f"<DraftArray {quoted(self.node.path)} {self.shape} {self.node.type.name}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each dimension."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self._dtype

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Shape of every chunk as it is stored, also at the edges."""
        return self._grid.chunk_shape

    @property
    def fill_value(self) -> Any:
        """What elements of absent chunks are; None where they are undefined."""
        return self.node.fill_value

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes as they were when the array was opened."""
        return self.node.attributes

    def __getitem__(self, index: Any) -> Any:
        return self.retrieve(index)

    def __setitem__(self, index: Any, values: Any) -> None:
        self.store(index, values)

    def retrieve(self, index: Any = ...) -> Any:
        """Return the elements that `array[index]` selects: an array, or a scalar.

        Elements of chunks that are absent are the fill value; zero where it is undefined.

        Raises
        ------
        IndexError
            The index does not fit.
        RefbrowserError
            `E_DECODE`: a chunk is damaged or has not the size of a chunk. `E_META`: its codec is not known.
        """
        selection = Selection.from_index(index, self.shape)
        result = filled(selection.shape, self._dtype, self.fill_value)
        box = selection.box(result)
        for part in self._grid.parts(selection):
            chunk = self.chunk(part.coords)
            if chunk is not None:
                target: tuple[Any, ...] = (*part.target, ...)
                box[target] = chunk[part.inside]
        return result[()]

    def store(self, index: Any, values: Any) -> None:
        """Store values at the elements that `array[index]` selects; they are cast and broadcast as by numpy.

        A chunk all of whose elements are selected is written without being read; of another one the rest is
        kept. What hangs over the edge of the array is the fill value, zero where it is undefined.

        Raises
        ------
        IndexError
            The index does not fit.
        ValueError
            The values do not broadcast to the selection.
        RefbrowserError
            A chunk that has to be kept in part cannot be read, or the store fails; chunks before it are
            written.
        """
        selection = Selection.from_index(index, self.shape)
        given = np.broadcast_to(np.asarray(values), selection.shape)
        box = selection.box(given)
        for part in self._grid.parts(selection):
            chunk = None if self._covers(part) else self.chunk(part.coords)
            if chunk is None or not chunk.flags.writeable:
                held = filled(self.chunk_shape, self._dtype, self.fill_value)
                held[...] = held if chunk is None else chunk
                chunk = held
            target: tuple[Any, ...] = (*part.target, ...)
            chunk[part.inside] = box[target]
            self._store.set(self._keys(part.coords)[0], self._pipeline.encode(chunk))

    def chunk(self, coords: tuple[int, ...]) -> npt.NDArray[Any] | None:
        """Return a chunk decoded, None where it is absent.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the grid has no such chunk; else as `retrieve`.
        """
        if coords not in self._grid:
            raise RefbrowserError(
                ErrorKind.USAGE, f"there is no chunk {list(coords)}", Place(path=self.node.path)
            )
        for key in self._keys(coords):
            data = self._store.get(key)
            if data is not None:
                return self._decoded(data, key)
        return None

    def chunk_keys(self) -> Iterator[str]:
        """Yield every key that a chunk of the grid can have, in C order of the chunks."""
        for coords in np.ndindex(self._grid.grid_shape):
            yield from self._keys(coords)

    def owns(self, key: str) -> bool:
        """Whether a key is written as one of a chunk of this array, in the grid or outside of it."""
        ndim = len(self.shape)
        return any(
            key.startswith(each.prefix) and each.encoding.decode(key[len(each.prefix) :], ndim) is not None
            for each in self._spellings
        )

    def _keys(self, coords: tuple[int, ...]) -> list[str]:
        """Return the keys under which a chunk may be, the one that is written first."""
        return [each.prefix + each.encoding.encode(coords) for each in self._spellings]

    def _decoded(self, data: bytes, key: str) -> npt.NDArray[Any]:
        try:
            return self._pipeline.decode(data)
        except RefbrowserError as error:
            place = replace(error.place, key=key, path=self.node.path)
            raise RefbrowserError(error.kind, error.message, place, error.advice) from None

    def _covers(self, part: ChunkPart) -> bool:
        """Whether a part is all that the array has of a chunk."""
        extent = self._grid.extent(part.coords)
        taken = (target.stop - target.start for target in part.target)
        return all(count == side for count, side in zip(taken, extent, strict=True))
