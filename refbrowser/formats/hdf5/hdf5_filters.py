"""Filters of HDF5 as codecs, and the proof that these give what the library gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.values import CodecSpec

if TYPE_CHECKING:
    from refbrowser.formats.library.process import LibraryFile
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.nodes import ArrayNode

#: Filters that are what they are by the specification of HDF5: deflate, shuffle, Fletcher's checksum.
STANDARD = (1, 2, 3)
_DEFLATE, _SHUFFLE, _FLETCHER32 = STANDARD
_BZIP2, _BLOSC, _ZSTD = 307, 32001, 32015
#: Names of filters for which Zarr has no codec that reads these bytes.
_OTHERS = {
    4: "szip",
    5: "nbit",
    6: "scaleoffset",
    32000: "lzf",
    32004: "lz4 in the framing of HDF5",
    32008: "bitshuffle",
    32013: "zfp",
    32026: "blosc2",
}
_BLOSC_NAMES = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of an array, in encoding order."""

    number: int
    values: tuple[int, ...]
    name: str

    @classmethod
    def all_of(cls, told: Sequence[Sequence[Any]]) -> tuple[Filter, ...]:
        """Return the filters that the library tells."""
        return tuple(cls(number, tuple(values), name) for number, _, values, name in told)

    @property
    def title(self) -> str:
        """What it is called."""
        return _OTHERS.get(self.number, "") or self.name or f"number {self.number}"

    def codec(self, size: int) -> CodecSpec | None:
        """Return the codec that reads what it writes; None where there is none. `size` is of an element."""
        values = self.values
        if self.number == _DEFLATE:
            return CodecSpec("zlib", {"level": min(values[0], 9) if values else 1})
        if self.number == _SHUFFLE:
            return CodecSpec("shuffle", {"elementsize": values[0] if values else size})
        if self.number == _FLETCHER32:
            return CodecSpec("fletcher32")
        if self.number == _BZIP2:
            return CodecSpec("bz2", {"level": min(max(values[0], 1), 9) if values else 9})
        if self.number == _ZSTD:
            # Levels below 0 come as unsigned numbers.
            level = int(np.uint32(values[0]).astype(np.int32)) if values else 3
            return CodecSpec("zstd", {"level": level})
        if self.number == _BLOSC and len(values) > 6 and values[6] < len(_BLOSC_NAMES):
            return CodecSpec(
                "blosc",
                {"cname": _BLOSC_NAMES[values[6]], "clevel": values[4], "shuffle": values[5], "blocksize": 0},
            )
        return None


def codecs_of(filters: Sequence[Filter], size: int) -> tuple[CodecSpec, ...] | str:
    """Return the codecs that read what filters write, or why there are none."""
    found = [each.codec(size) for each in filters]
    for each, codec in zip(filters, found, strict=True):
        if codec is None:
            return f"Zarr has no codec for its filter {quoted(each.title)}"
    return tuple(codec for codec in found if codec is not None)


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
        ends = np.cumsum([0, 8 * ndim * count, 8 * count, 8 * count, 4 * count]).tolist()
        parts = [data[start:stop] for start, stop in pairwise(ends)]
        coords, offsets, sizes = (np.frombuffer(each, np.int64) for each in parts[:3])
        return cls(coords.reshape(-1, ndim), offsets, sizes, np.frombuffer(parts[3], np.uint32))

    def __len__(self) -> int:
        return len(self.offsets)

    def unfiltered_edge(self, shape: tuple[int, ...], sides: tuple[int, ...], size: int) -> int | None:
        """Return a chunk at the edge that may have been left as it is, as HDF5 can be told to do."""
        over = ((self.coords + 1) * np.array(sides, np.int64) > np.array(shape, np.int64)).any(axis=1)
        found = np.flatnonzero(over & (self.sizes == prod(sides) * size))
        return int(found[0]) if len(found) else None


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
    """

    node: ArrayNode
    path: str
    stored: Stored
    number: int
    inner: tuple[int, ...] = ()


def refuted(file: LibraryFile, candidate: Candidate, token: CancelToken | None = None) -> str:
    """Return why the codecs of an array do not give what the library gives of a chunk; empty where they do.

    Raises
    ------
    Cancelled
        `token` was cancelled.
    """
    from refbrowser.codecs.pipeline import CodecPipeline

    node = candidate.node
    ndim = len(node.shape) - len(candidate.inner)
    coords = tuple(candidate.stored.coords[candidate.number].tolist())
    whole = (*coords, *(0 for _ in candidate.inner))
    if prod(node.grid.chunk_shape) * node.known_dtype.itemsize > LIMITS.chunk_question:
        return ""
    origin, extent = node.grid.origin(whole), node.grid.extent(whole)
    parts: list[memoryview] = []

    def take(answer: Mapping[str, Any], data: memoryview) -> None:
        parts.append(data)

    request = {"path": candidate.path, "start": origin[:ndim], "count": extent[:ndim]}
    try:
        file.ask("chunk", request, take, token)
    except RefbrowserError as error:
        return f"the library cannot read its chunk {'.'.join(map(str, coords))}: {error.message}"
    try:
        decoded = CodecPipeline.for_array(node).decode(parts[0])
    except RefbrowserError as error:
        return f"its filters could not be followed: {error.message}"
    mine = np.ascontiguousarray(decoded[tuple(map(slice, extent))])
    same = mine.reshape(-1).view(np.uint8).data == parts[1]
    return "" if same else f"its filters do not give what {file.called} itself gives"


def pipeline_key(filters: Sequence[Filter], dtype: np.dtype[Any]) -> str:
    """Return what arrays share whose codecs are proved by one chunk of any of them."""
    return json.dumps([[each.number, each.values] for each in filters] + [dtype.itemsize])
