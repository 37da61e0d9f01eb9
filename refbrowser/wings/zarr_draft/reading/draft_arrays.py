"""Array metadata of the v3 drafts to the model, and the references of chunks (draft of 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.zarr.documents import ManifestMaker
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.formats.zarr.shapes import parse_dimension_names, parse_shape, wrong
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import ChunkManifest, Chunks, NoValues
from refbrowser.references.content.expansion import merged
from refbrowser.wings.zarr_draft.reading.codecs import is_known
from refbrowser.wings.zarr_draft.reading.draft_keys import ChunkSpelling
from refbrowser.wings.zarr_draft.reading.draft_members import (
    Notes,
    attributes_of,
    check_extensions,
    check_format,
)
from refbrowser.wings.zarr_draft.reading.drafts import FILTERS, Draft, has_filters


@dataclass(frozen=True, slots=True)
class FirstFoundManifest:
    """The manifests of all spellings: for each chunk, the first that has a reference counts."""

    manifests: tuple[ChunkManifest, ...]

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return self.manifests[0].grid_shape

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full key of the chunk at `coords`: one that is there, else the usual one."""
        row = np.array([coords], np.int64).reshape(1, len(coords))
        for manifest in self.manifests:
            if manifest.columns(row).kind[0] != ReferenceKind.MISSING:
                return manifest.key(coords)
        return self.manifests[0].key(coords)

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        columns = self.manifests[0].columns(coords)
        for manifest in self.manifests[1:]:
            gone = np.flatnonzero(columns.kind == ReferenceKind.MISSING)
            if not len(gone):
                break
            other = manifest.columns(coords[gone])
            if (other.kind != ReferenceKind.MISSING).any():
                columns = merged(columns, gone, other)
        return columns

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        kinds = self.manifests[0].kinds()
        for manifest in self.manifests[1:]:
            if (kinds != ReferenceKind.MISSING).all():
                break
            kinds = np.where(kinds == ReferenceKind.MISSING, manifest.kinds(), kinds)
        return kinds

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        counts = [manifest.stored() for manifest in self.manifests]
        found = [count for count in counts if count]
        if len(found) <= 1 and None not in counts:
            return sum(found)
        return None if None in counts else int(np.count_nonzero(self.kinds() != ReferenceKind.MISSING))


def manifest_of(
    spellings: Sequence[ChunkSpelling], grid: RegularChunkGrid, manifests: ManifestMaker
) -> ChunkManifest:
    """Return the manifest of an array with these spellings of its chunk keys."""
    made = tuple(manifests(each.prefix, grid, each.encoding) for each in spellings)
    return made[0] if len(made) == 1 else FirstFoundManifest(made)


#: Whose rules the codecs follow, in `ArrayNode.format`.
FORMAT = "zarr-v3-draft"


def array_node(
    document: Mapping[str, Any],
    path: str,
    draft: Draft,
    notes: Notes,
    manifests: ManifestMaker,
    more: Sequence[ChunkSpelling] = (),
) -> ArrayNode:
    """Return the array that a metadata document describes.

    A document of another protocol, or without a shape, gives an array with `error`; anything else that is
    not known or wrong gives one with `unreadable`. Both are reported.

    Parameters
    ----------
    more
        Other ways in which its chunk keys may be written.
    """
    common: dict[str, Any] = _common(document, path, notes)
    member = "zarr_format"
    try:
        _check_format(document, draft)
        member = "shape"
        shape = parse_shape(document.get(member))
    except RefbrowserError as error:
        placed = notes.placed(error, member)
        notes.fault(placed)
        return ArrayNode(**common, error=placed)
    node = ArrayNode(**common, shape=shape, dimensions=_dimensions(document, len(shape), notes))
    reader = _ArrayReader(document, draft, notes)
    return reader.completed(node, manifests, more)


def broken_array(path: str, error: RefbrowserError, notes: Notes) -> ArrayNode:
    """Return an array whose document cannot be read."""
    placed = notes.placed(error)
    notes.fault(placed)
    return ArrayNode(path=path, metadata_keys=(notes.key,), format=FORMAT, error=placed)


def _common(document: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    attributes = attributes_of(document, notes)
    internal: dict[str, Any] = {}
    if "shape" in document and has_filters(attributes) and "chunk_codecs" not in document:
        internal = {FILTERS: attributes[FILTERS]}
        attributes = {name: value for name, value in attributes.items() if name != FILTERS}
    return {
        "path": path,
        "attributes": attributes,
        "internal_attributes": internal,
        "metadata_keys": (notes.key,),
        "format": FORMAT,
    }


def _check_format(document: Mapping[str, Any], draft: Draft) -> None:
    """Raise E_META where the document says that it is of another protocol."""
    if "zarr_format" in document and (draft.has_format or isinstance(document["zarr_format"], str)):
        check_format(document["zarr_format"])


def _dimensions(document: Mapping[str, Any], ndim: int, notes: Notes) -> tuple[str | None, ...]:
    names, member = document.get("dimension_names"), "dimension_names"
    attributes = document.get("attributes")
    if names is None and isinstance(attributes, dict):
        names, member = attributes.get(DIMENSIONS_ATTRIBUTE), f"attributes/{DIMENSIONS_ATTRIBUTE}"
    try:
        return parse_dimension_names(names, ndim)
    except RefbrowserError as error:
        notes.warn(error.message, member)
        return (None,) * ndim


class _ArrayReader:
    """Reads the members of one document, each on its own: what is wrong with one does not hide another."""

    def __init__(self, document: Mapping[str, Any], draft: Draft, notes: Notes) -> None:
        self.document = document
        self.draft = draft
        self.notes = notes
        self.error: RefbrowserError | None = None

    def completed(
        self, node: ArrayNode, manifests: ManifestMaker, more: Sequence[ChunkSpelling]
    ) -> ArrayNode:
        """Return `node` with all that can be read, and `unreadable` where something cannot."""
        document, draft = self.document, self.draft
        fields: dict[str, Any] = {
            "type": DataType(None, _written_name(document.get("data_type"))),
            "fill_marks": False,
        }
        if draft.has_format and "zarr_format" not in document:
            self._read("zarr_format", lambda: check_format(None))
        kind = self._read("data_type", lambda: draft.data_type(document, self.notes))
        if kind is not None:
            fields |= {"type": DataType.of(kind.dtype, kind.name), "fill_value": self._fill_value(kind)}
        order = self._read("chunk_memory_layout", lambda: draft.order(document)) or "C"
        codecs = self._read("chunk_codecs", lambda: draft.codecs(document, self.notes)) or ()
        fields["values"] = NoValues(codecs=codecs, order=order)
        grid = self._read("chunk_grid", lambda: _grid(node.shape, document.get("chunk_grid")))
        extensions = draft.member(document, "extensions", [], self.notes)
        self._read("extensions", lambda: check_extensions(extensions, self.notes))
        if grid is not None:
            values = fields["values"] = Chunks(grid=grid, codecs=codecs, order=order)
            separator = document["chunk_grid"].get("separator")
            found = self._read("chunk_grid", lambda: draft.spellings(node.path, separator, grid.ndim))
            if found:
                manifest = manifest_of([*found, *more], grid, manifests)
                prefix, keys = found[0].prefix, found[0].encoding
                fields["values"] = replace(values, manifest=manifest, keys=keys, prefix=prefix)
        return self._checked(replace(node, **fields))

    def _fill_value(self, kind: Any) -> Any:
        try:
            return self.draft.fill_value(self.document, kind, self.notes)
        except RefbrowserError as error:
            self.notes.warn(f"{error.message}; missing elements are undefined", "fill_value")
            return None

    def _read(self, member: str, read: Callable[[], Any]) -> Any:
        """Return what `read` gives; None where it fails, which is reported."""
        try:
            return read()
        except RefbrowserError as error:
            self._failed(self.notes.placed(error, member))
            return None

    def _failed(self, error: RefbrowserError) -> None:
        self.notes.unreadable(error)
        self.error = self.error or error

    def _checked(self, node: ArrayNode) -> ArrayNode:
        """Return the node with `unreadable` where its chunks cannot be decoded; note unknown codecs."""
        if self.error is None:
            try:
                CodecPipeline.for_array(node)
            except RefbrowserError as error:
                self._failed(self.notes.placed(error, "chunk_codecs"))
        if self.error is not None:
            return replace(node, unreadable=self.error)
        for spec in node.codecs:
            if ":" in spec.name and not is_known(spec):
                message = f"codec {quoted(spec.name)} is not known: chunks that are stored cannot be read"
                self.notes.warn(message, "chunk_codecs")
        return node


def _written_name(value: Any) -> str:
    name = value.get("type") if isinstance(value, dict) else value
    return name if isinstance(name, str) else str(name)


def _grid(shape: tuple[int, ...], value: Any) -> RegularChunkGrid:
    if not isinstance(value, dict):
        raise wrong("chunk_grid", value, "an object")
    if value.get("type") != "regular" or "extension" in value:
        raise RefbrowserError(ErrorKind.META, f"the chunk grid {quoted(value.get('type'))} is not known")
    sides = value.get("chunk_shape")
    if not isinstance(sides, list) or len(sides) != len(shape) or not all(map(_is_side, sides)):
        raise wrong("chunk_shape", sides, f"a list of {len(shape)} integers of at least 1")
    return RegularChunkGrid(shape, tuple(sides))


def _is_side(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LIMITS.elements
