"""Arrays made for the tests of the engine: any chunks, anywhere, without a document."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.reference import ByteRange, Missing, Reference, ReferenceColumns, columns_of
from refbrowser.model.values import Chunks


class DictManifest:
    """References of chunks in a dict; what is not in it is missing."""

    def __init__(self, grid: RegularChunkGrid, references: Mapping[tuple[int, ...], Reference]) -> None:
        self.grid_shape = grid.grid_shape
        self.references = dict(references)

    def key(self, coords: tuple[int, ...]) -> str:
        return "a/" + ChunkKeyEncoding().encode(coords)

    def columns(self, coords: np.ndarray) -> ReferenceColumns:
        return columns_of(self.references.get(tuple(row), Missing()) for row in coords.tolist())

    def kinds(self) -> np.ndarray:
        grid = np.ndindex(*self.grid_shape)
        return self.columns(np.array(list(grid))).kind.reshape(self.grid_shape)

    def stored(self) -> int:
        return len(self.references)


def array_node(
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: str = "<i4",
    references: Mapping[tuple[int, ...], Reference] | None = None,
    *,
    codecs: tuple[CodecSpec, ...] = (),
    format: str = "zarr-v2",
    order: str = "C",
    fill_value: Any = None,
) -> ArrayNode:
    grid = RegularChunkGrid(shape, chunks)
    return ArrayNode(
        path="/a",
        shape=shape,
        type=DataType.of(np.dtype(dtype), dtype),
        dimensions=(None,) * len(shape),
        values=Chunks(grid=grid, order=order, codecs=codecs, manifest=DictManifest(grid, references or {})),
        fill_value=fill_value,
        format=format,
    )


def stored(
    values: np.ndarray,
    chunks: tuple[int, ...],
    path: Path,
    encode: Callable[[np.ndarray], bytes],
    url: str | None = None,
) -> dict[tuple[int, ...], Reference]:
    """Write every chunk of `values`, padded at the edge, to one file; return the references."""
    grid = RegularChunkGrid(values.shape, chunks)
    references: dict[tuple[int, ...], Reference] = {}
    with path.open("wb") as stream:
        stream.write(b"header")
        for coords in itertools.product(*(range(count) for count in grid.grid_shape)):
            chunk = np.zeros(chunks, values.dtype)
            inside = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, chunks, strict=True))
            piece = values[inside]
            chunk[tuple(slice(0, length) for length in piece.shape)] = piece
            data = encode(chunk)
            references[coords] = ByteRange(url or path.name, stream.tell(), len(data))
            stream.write(data)
    return references
