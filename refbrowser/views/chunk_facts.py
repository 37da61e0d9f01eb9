"""All that is known of one chunk without reading it: key, reference, size, what edits did to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Missing, Reference, ReferenceKind, WholeFile
from refbrowser.views.chunk_changes import Change, changes
from refbrowser.views.chunk_map import MapSource


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One chunk.

    Attributes
    ----------
    kind
        Of its reference; `FAULTY` where that cannot be read, and `error` tells why.
    url, offset, length
        None where the reference has none; `length` of an inline chunk is that of its bytes.
    decoded
        Bytes of its elements in memory.
    shape
        Of the part of the chunk that lies in the array.
    change
        What edits did to its reference; `before` is the saved one where that differs.
    made_of
        Of a tile that is assembled: the names of what gives its elements, in their order, each once.
    """

    coords: tuple[int, ...]
    key: str
    kind: ReferenceKind
    url: str | None = None
    offset: int | None = None
    length: int | None = None
    decoded: int | None = None
    shape: tuple[int, ...] = ()
    change: Change = Change.SAME
    before: Reference | None = None
    error: RefbrowserError | None = None
    made_of: tuple[str, ...] = ()


def chunk_facts(source: MapSource, node: ArrayNode, coords: tuple[int, ...]) -> ChunkFacts:
    """Return what is known of a chunk. It may take longer than a frame: a rule may have to be searched."""
    assert node.grid is not None
    row = np.array([coords], np.int64).reshape(1, len(coords))
    columns = source.manifest.columns(row)
    url = offset = length = error = None
    try:
        reference = columns.reference(0)
    except RefbrowserError as fault:
        reference, error = Missing(), fault
    if isinstance(reference, ByteRange):
        url, offset, length = reference.url, reference.offset, reference.length
    elif isinstance(reference, WholeFile):
        url = reference.url
    elif isinstance(reference, Inline):
        length = len(reference.data)
    change, before = Change.SAME, None
    if source.saved is not None and isinstance(source.manifest, ExpansionManifest):
        change = Change(int(changes(source.manifest, source.saved, row, columns)[0]))
        if change is Change.CHANGED or change is Change.REMOVED:
            before = _reference_of(source.saved, row)
    itemsize = None if node.dtype is None else node.dtype.itemsize
    return ChunkFacts(
        coords,
        source.manifest.key(coords),
        ReferenceKind(int(columns.kind[0])),
        url,
        offset,
        length,
        None if itemsize is None else prod(node.grid.chunk_shape) * itemsize,
        node.grid.extent(coords),
        change,
        before,
        error,
        _names_of_pieces(node, coords) if columns.kind[0] == ReferenceKind.DERIVED else (),
    )


def _names_of_pieces(node: ArrayNode, coords: tuple[int, ...]) -> tuple[str, ...]:
    """Return what gives the elements of a tile."""
    assert node.grid is not None
    if node.source is None:
        return ()
    pieces = node.source.pieces(node.grid.whole_part(coords))
    return tuple(dict.fromkeys(piece.name for piece in pieces))


def _reference_of(manifest: ExpansionManifest, row: np.ndarray) -> Reference | None:
    try:
        return manifest.columns(row).reference(0)
    except RefbrowserError:
        return None
