"""Where the chunks of each array of a store are: the beginning of their keys, the grid, the spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, cast

from refbrowser.errors import RefbrowserError
from refbrowser.formats.hierarchies import hierarchy_of_flavour
from refbrowser.formats.stores.metadata_walk import StoreContents
from refbrowser.formats.zarr import v2, v3
from refbrowser.formats.zarr.shapes import parse_grid, parse_shape
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import Flavour
from refbrowser.model.values import ChunkManifest
from refbrowser.references.rules.layouts import ChunkLayout

#: Chunks of each spelling of an array that are looked for.
_LOOKED_FOR = 16
_ARRAY_V2, _NODE_V3 = ".zarray", "zarr.json"


def chunk_layouts(contents: StoreContents) -> Iterator[ChunkLayout]:
    """Yield the layout of each array whose metadata tells one."""
    if contents.flavour in (Flavour.DRAFT_2019, Flavour.DRAFT_2020):
        yield from _of_hierarchy(contents)
        return
    name = _NODE_V3 if contents.flavour is Flavour.ZARR_V3 else _ARRAY_V2
    read = _layout_v3 if contents.flavour is Flavour.ZARR_V3 else _layout_v2
    for key in contents.metadata:
        prefix, _, last = key.rpartition("/")
        if last != name:
            continue
        try:
            layout = read(f"{prefix}/" if prefix else "", contents.value(key))
        except RefbrowserError:
            continue  # The reader of the hierarchy tells what is wrong.
        if layout is not None:
            yield layout


def _layout_v2(prefix: str, document: dict[str, Any]) -> ChunkLayout:
    grid = parse_grid(parse_shape(document.get("shape")), document.get("chunks"))
    encoding = v2.parse_chunk_keys(document.get("dimension_separator", "."))
    return ChunkLayout(prefix, grid.grid_shape, encoding)


def _layout_v3(prefix: str, document: dict[str, Any]) -> ChunkLayout | None:
    if document.get("node_type") != "array":
        return None
    grid = v3.parse_chunk_grid(parse_shape(document.get("shape")), document.get("chunk_grid"))
    return ChunkLayout(prefix, grid.grid_shape, v3.parse_chunk_keys(document.get("chunk_key_encoding")))


def _of_hierarchy(contents: StoreContents) -> Iterator[ChunkLayout]:
    """Yield the layouts that an adapter asks manifests for: it alone knows where chunks are."""
    spellings: dict[int, list[ChunkLayout]] = {}
    grids: list[RegularChunkGrid] = []

    def note(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> ChunkManifest:
        grids.append(grid)
        spellings.setdefault(id(grid), []).append(ChunkLayout(prefix, grid.grid_shape, encoding))
        return cast(ChunkManifest, None)  # It is noted in the node, which nobody looks at.

    hierarchy_of_flavour(contents.flavour, _Documents(contents.metadata), note, contents.flavour.store_format)
    for layouts in spellings.values():
        yield _used(layouts, contents.has)


def _used(layouts: Sequence[ChunkLayout], has: Callable[[str], bool]) -> ChunkLayout:
    """Return the spelling of chunk keys that a store uses for an array; the usual one where none is seen.

    Only some chunks are looked for: those that are there are often the first.
    """
    for layout in layouts if len(layouts) > 1 else ():
        sides = (range(min(length, _LOOKED_FOR)) for length in layout.grid_shape)
        some = islice(product(*sides), _LOOKED_FOR)
        if any(has(layout.prefix + layout.encoding.encode(coords)) for coords in some):
            return layout
    return layouts[0]


@dataclass(frozen=True, slots=True)
class _Documents:
    """The metadata of a store as the source of a hierarchy."""

    documents: Mapping[str, bytes]

    def metadata_keys(self) -> Iterator[str]:
        return iter(self.documents)

    def value(self, key: str) -> bytes:
        return self.documents[key]
