"""Chunks at the ends of files that are not filled: no grid has such, so they are written again, shorter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.properties import ArrayProperties, ScannedSource
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.formats.zarr.hierarchy import build_hierarchy
from refbrowser.io.cancel import CancelToken
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import NO_MANIFEST

Coords = tuple[int, ...]
#: Of each file by its number, the bytes of chunks by their place in the grid of the file.
Rewritten = Mapping[int, Mapping[Coords, bytes]]


@dataclass(frozen=True, slots=True)
class RewrittenArray:
    """An array of the result some of whose chunks are shorter than in the files.

    Attributes
    ----------
    grid
        Its chunks.
    begins
        The first chunk of each of its files in the result.
    metadata
        Its ``zarr.json``.
    """

    array: ArrayOfFiles
    grid: ChunkGrid
    begins: Sequence[Coords]
    metadata: bytes


def rewritten(
    arrays: Sequence[RewrittenArray],
    files: Sequence[ScannedSource],
    opening: Callable[[str], OpenRequest],
    token: CancelToken,
) -> Mapping[str, Rewritten]:
    """Return the chunks of arrays, by path, that are encoded anew; each file is opened once.

    Raises
    ------
    RefbrowserError
        A file cannot be read; `E_META`: an array of it cannot be encoded.
    """
    found: dict[str, dict[int, dict[Coords, bytes]]] = {each.array.path: {} for each in arrays}
    nodes = {each.array.path: _node(each.metadata) for each in arrays}
    for number, file in enumerate(files):
        there = [each for each in arrays if number in each.array.files]
        wanted = {each.array.path: list(_unfilled(each, number, file)) for each in there}
        if not any(wanted.values()):
            continue
        token.check()
        with open_dataset(opening(file.source)) as dataset:
            for each in there:
                path, told = each.array.path, _told(each, number)
                found[path][number] = {
                    coords: _encoded(nodes[path], shape, dataset, told, coords, file.begins)
                    for coords, shape in wanted[path]
                }
    return found


def _told(each: RewrittenArray, number: int) -> ArrayProperties:
    return each.array.told[each.array.files.index(number)]


def _node(metadata: bytes) -> ArrayNode:
    node = build_hierarchy(_Metadata(metadata), lambda prefix, grid, keys: NO_MANIFEST, "zarr-v3").root
    assert isinstance(node, ArrayNode)
    return node


@dataclass(frozen=True, slots=True)
class _Metadata:
    """The metadata of one array at the root, as a source of a hierarchy."""

    text: bytes

    def metadata_keys(self) -> Sequence[str]:
        return [NODE_V3]

    def value(self, key: str) -> bytes:
        return self.text


def _unfilled(each: RewrittenArray, number: int, file: ScannedSource) -> Iterator[tuple[Coords, Coords]]:
    """Yield the chunks of a file that are longer than those of the result, with the shape of these."""
    at = each.array.files.index(number)
    grid, begin = each.array.told[at].grid, each.begins[at]
    new = len(begin) - grid.ndim
    last = [count - 1 for count in grid.grid_shape]
    sides = zip(grid.dimensions, each.grid.dimensions[new:], begin[new:], last, strict=True)
    ends = [
        axis
        for axis, (mine, yours, start, end) in enumerate(sides)
        if mine.side(end) != yours.side(start + end)
    ]
    there = file.chunks.positions.get(each.array.numbers[at])
    stored = None if there is None else set(there.tolist())
    seen: set[Coords] = set()
    for axis in ends:
        ranges = [range(count) for count in grid.grid_shape]
        ranges[axis] = range(last[axis], last[axis] + 1)
        for coords in product(*ranges):
            flat = int(np.ravel_multi_index(coords, grid.grid_shape))
            if coords not in seen and (stored is None or flat in stored):
                seen.add(coords)
                moved = tuple(start + own for start, own in zip(begin[new:], coords, strict=True))
                yield coords, each.grid.stored_shape((*begin[:new], *moved))


def _encoded(
    node: ArrayNode,
    shape: Coords,
    dataset: Dataset,
    told: ArrayProperties,
    coords: Coords,
    begins: Mapping[str, int],
) -> bytes:
    """Return the elements of a chunk of a file, or of a part of it, as a chunk of another shape."""
    source = dataset.hierarchy.find(told.path)
    if not isinstance(source, ArrayNode) or source.dtype != node.dtype:
        message = "chunks that are not filled at the end of a file cannot be written again"
        raise RefbrowserError(ErrorKind.META, message, Place(path=told.path, document=dataset.path))
    first = (begins.get(name, 0) for name in told.dimensions)
    starts = (begin + at for begin, at in zip(first, told.grid.origin(coords), strict=True))
    ends = zip(starts, told.grid.extent(coords), strict=True)
    box = Selection(tuple(range(start, start + side) for start, side in ends))
    values: npt.NDArray[Any] = dataset.session.read(source, dataset.access, box)
    chunk = np.full(shape, node.fill_element)
    part = values.reshape((1,) * (len(shape) - values.ndim) + values.shape)
    chunk[tuple(map(slice, part.shape))] = part
    return CodecPipeline.for_array(node, shape).encode(chunk)
