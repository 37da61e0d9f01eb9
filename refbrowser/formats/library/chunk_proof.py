"""Chunks of an array that a library tells, and the proof that codecs give of them what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.formats.library.process import LibraryFile
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.nodes import ArrayNode


@dataclass(frozen=True, eq=False)
class Stored:
    """The chunks of an array that are stored, as columns.

    Attributes
    ----------
    coords
        Of each in the grid, shape (n, ndim).
    offsets, sizes
        In the file, in bytes.
    masks
        Filters that were left out, as bits.
    """

    coords: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, data: memoryview, ndim: int) -> Stored:
        """Return what the library tells."""
        count = len(data) // (8 * ndim + 20)
        numbers = np.frombuffer(data, np.int64, (ndim + 2) * count)
        masks = np.frombuffer(data, np.uint32, count, numbers.nbytes)
        coords = numbers[: ndim * count].reshape(-1, ndim)
        return cls(coords, numbers[ndim * count : (ndim + 1) * count], numbers[(ndim + 1) * count :], masks)

    def only(self, some: npt.NDArray[np.bool_]) -> Stored:
        """Return some of the chunks."""
        return Stored(self.coords[some], self.offsets[some], self.sizes[some], self.masks[some])

    def __len__(self) -> int:
        return len(self.offsets)

    @cached_property
    def mask(self) -> int:
        """The filters that most chunks were stored without, as bits."""
        if not self.masks.any():
            return 0
        masks, counts = np.unique(self.masks, return_counts=True)
        return int(masks[np.argmax(counts)])

    def unfiltered_edges(
        self, shape: tuple[int, ...], sides: tuple[int, ...], size: int
    ) -> npt.NDArray[np.bool_]:
        """Tell which chunks at the edge may have been left as they are, as HDF5 can be told to do."""
        over = ((self.coords + 1) * np.array(sides, np.int64) > np.array(shape, np.int64)).any(axis=1)
        found: npt.NDArray[np.bool_] = over & (self.sizes == prod(sides) * size)
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """An array whose codecs are to be proved by one of its chunks.

    Attributes
    ----------
    path
        As the file has it.
    number
        Of the chunk in `stored`.
    inner
        Sides that arrays in the elements have.
    shape
        Of the array in the file, which `node` may be longer than; empty where it is not.
    """

    node: ArrayNode
    path: str
    stored: Stored
    number: int
    inner: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()


def _read(
    file: LibraryFile, candidate: Candidate, token: CancelToken | None
) -> tuple[memoryview, npt.NDArray[Any]]:
    """Return the stored bytes of a chunk, and those of its elements that lie in the array, a byte each."""
    node = candidate.node
    ndim = len(node.shape) - len(candidate.inner)
    coords = tuple(candidate.stored.coords[candidate.number].tolist())
    whole = (*coords, *(0 for _ in candidate.inner))
    origin, extent = node.grid.origin(whole), node.grid.extent(whole)
    shape = (*candidate.shape, *node.shape[len(candidate.shape) :])
    extent = tuple(min(side, most - at) for side, most, at in zip(extent, shape, origin, strict=True))
    parts: list[memoryview] = []

    def take(answer: Mapping[str, Any], data: memoryview) -> None:
        parts.append(data)

    request = {"path": candidate.path, "start": origin[:ndim], "count": extent[:ndim]}
    try:
        file.ask("chunk", request, take, token)
    except RefbrowserError as error:
        message = f"the library cannot read its chunk {'.'.join(map(str, coords))}: {error.message}"
        raise RefbrowserError(error.kind, message, error.place) from None
    size = node.known_dtype.itemsize
    return parts[0], np.frombuffer(parts[1], np.uint8).reshape(*extent, size)


def refuted(file: LibraryFile, candidate: Candidate, token: CancelToken | None = None) -> str:
    """Return why codecs of an array do not give what the library gives of a chunk; empty where they do."""
    from refbrowser.codecs.pipeline import CodecPipeline

    node = candidate.node
    if prod(node.grid.regular.chunk_shape) * node.known_dtype.itemsize > LIMITS.chunk_question:
        return ""
    try:
        stored, theirs = _read(file, candidate, token)
    except RefbrowserError as error:
        return error.message
    try:
        decoded = CodecPipeline.for_array(node).decode(stored)
    except RefbrowserError as error:
        return f"its filters could not be followed: {error.message}"
    mine = np.ascontiguousarray(decoded[tuple(map(slice, theirs.shape[:-1]))])
    same = np.array_equal(mine.reshape(-1).view(np.uint8), theirs.reshape(-1))
    return "" if same else f"its filters give other values than {file.called} itself"


def encoded_anew(file: LibraryFile, candidate: Candidate, token: CancelToken | None = None) -> bytes:
    """Return a chunk as the codecs of its array encode what the library reads of it.

    Raises
    ------
    RefbrowserError
        The library cannot read it.
    """
    from refbrowser.codecs.pipeline import CodecPipeline

    node = candidate.node
    _, theirs = _read(file, candidate, token)
    room = np.zeros((*node.grid.regular.chunk_shape, theirs.shape[-1]), np.uint8)
    room[tuple(map(slice, theirs.shape))] = theirs
    values = room.reshape(-1).view(node.known_dtype).reshape(node.grid.regular.chunk_shape)
    return bytes(CodecPipeline.for_array(node).encode(values))
