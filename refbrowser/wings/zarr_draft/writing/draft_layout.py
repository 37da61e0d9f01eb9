"""The v3 core protocol draft of May 2019 as a target."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from refbrowser.codecs.table import CODECS
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.layout import ArrayLayout, PlainName, asked_for, laid_out
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import Loss
from refbrowser.formats.store_rules import EARLY_DRAFT
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec, Flavour, GroupNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import NO_MANIFEST
from refbrowser.wings.zarr_draft.reading.codecs import draft_options
from refbrowser.wings.zarr_draft.reading.draft_arrays import FORMAT, array_node
from refbrowser.wings.zarr_draft.reading.draft_documents import array_document, document_bytes, group_document
from refbrowser.wings.zarr_draft.reading.draft_keys import DATA, SCHEME_2019, NodeKind, is_name
from refbrowser.wings.zarr_draft.reading.draft_members import Notes
from refbrowser.wings.zarr_draft.reading.drafts import DRAFT_2019

#: Names are cut here: with the end of a metadata key they still fit into a file system.
LONGEST = 230
_GZIP = CodecSpec("gzip", {"level": 1})
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


class DraftLayout:
    """Stores of the draft of 2019, in the letter of its text where that is clear."""

    flavour: ClassVar[Flavour] = EARLY_DRAFT

    def __init__(self, options: StoreOptions, plain_name: PlainName = str) -> None:
        self.options = options
        self._names = DraftNames(plain_name)

    def layout(self, node: ArrayNode, selection: Selection | None) -> ArrayLayout:
        """Return how an array is laid out."""
        selection, wanted, losses = asked_for(node, selection, self.options)
        planned, lost = _planned(wanted)
        if self.options.shards is not None:
            lost.append("the v3 draft of 2019 has no shards: chunks are stored one by one")
        if any(wanted.dimensions) and not all(wanted.dimensions):
            lost.append("dimension names are kept only if every dimension has one")
        attributes, told = _strict(self._attributes(wanted))
        planned = replace(planned, path=self._names.path(node.path), attributes=attributes)
        target = _as_read(planned)
        return laid_out(node, selection, wanted, target, [*losses, *lost, *told], folder=f"{DATA}/")

    def layouts(self, node: ArrayNode, selection: Selection | None) -> list[ArrayLayout]:
        """Return how an array is laid out: as one array."""
        return [self.layout(node, selection)]

    def settled(self, groups: Sequence[GroupNode], layouts: Sequence[ArrayLayout]) -> list[ArrayLayout]:
        """Return the layouts: none hangs on the others."""
        return list(layouts)

    def group_path(self, group: GroupNode) -> str:
        """Return the path of a group in the target."""
        return self._names.path(group.path)

    def attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        """Return the attributes that reading a node of the target gives."""
        return _strict(self._attributes(node))[0]

    def losses(self, groups: Iterable[GroupNode]) -> Iterator[Loss]:
        """Yield what the draft cannot hold of groups."""
        for group in groups:
            path = self.group_path(group)
            if path != group.path:
                yield Loss(group.path, f"the name is written as {quoted(path)}")
            for told in _strict(group.attributes)[1]:
                yield Loss(group.path, told)

    def metadata(self, groups: Iterable[GroupNode], layouts: Iterable[ArrayLayout]) -> dict[str, bytes]:
        """Return every metadata key of the store, groups first."""
        arrays = {layout.target.path: layout.target for layout in layouts}
        if "/" in arrays and len(arrays) > 1:
            raise RefbrowserError(
                ErrorKind.META, "a store cannot hold an array at its root beside others", Place(path="/")
            )
        found = {}
        for group in groups:
            path = self.group_path(group)
            if path not in arrays and "/" not in arrays:
                key = SCHEME_2019.metadata_key(path, NodeKind.GROUP)
                found[key] = document_bytes(group_document(self.attributes(group)))
        for path, target in arrays.items():
            key = SCHEME_2019.metadata_key(path, NodeKind.ARRAY)
            found[key] = document_bytes(array_document(target))
        return found

    def _attributes(self, node: ArrayNode | GroupNode) -> dict[str, Any]:
        attributes = dict(node.attributes)
        if isinstance(node, ArrayNode) and len(node.dimensions) == len(node.shape) and all(node.dimensions):
            attributes[DIMENSIONS_ATTRIBUTE] = list(node.dimensions)
        return attributes


class DraftNames:
    """The paths of nodes in the target: names of the draft, unique among siblings when case is ignored.

    The same path of the source always gives the same; which of two siblings keeps its name is decided by who
    comes first.
    """

    def __init__(self, plain_name: PlainName) -> None:
        self._plain_name = plain_name
        self._paths: dict[str, str] = {"/": "/"}
        self._taken: set[str] = set()

    def path(self, source: str) -> str:
        """Return the path for a path of the source."""
        if source not in self._paths:
            above, _, name = source.rpartition("/")
            parent = self.path(above or "/").rstrip("/")
            self._paths[source] = f"{parent}/{self._free(parent, legal_name(self._plain_name(name)))}"
        return self._paths[source]

    def _free(self, parent: str, name: str) -> str:
        found, number = name, 1
        while f"{parent}/{found}".lower() in self._taken:
            number += 1
            found = f"{name}-{number}"
        self._taken.add(f"{parent}/{found}".lower())
        return found


def legal_name(name: str) -> str:
    """Return a name of the draft for any name: other characters become ``_u`` and their number in hex."""
    text = _UNFIT.sub(lambda match: f"_u{ord(match[0]):x}_", name)
    if text.strip(".") == "":
        text = text.replace(".", "_u2e_")
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 9]}-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"
    return text if is_name(text) else "_"


def _planned(wanted: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return the array with types and codecs of the draft, and what is lost."""
    codecs = codecs_v2(wanted)
    items = [*codecs.filters, *([codecs.compressor] if codecs.compressor is not None else [])]
    specs, told = _draft_codecs(items, wanted.known_dtype)
    lost = [*codecs.lost, *told]
    dtype = wanted.known_dtype
    if dtype.kind == "u" and dtype.itemsize > 1 and dtype.str[0] == ">":
        dtype = dtype.newbyteorder("<")
        lost.append("the draft has no big-endian unsigned integers: they are little-endian")
    own = wanted.format == FORMAT and wanted.chunk_keys.name == "v2"
    values = replace(
        wanted.chunks,
        grid=RegularChunkGrid(wanted.shape, codecs.chunks),
        order=codecs.order,
        codecs=specs,
        keys=ChunkKeyEncoding("v2", wanted.chunk_keys.separator if own else "."),
    )
    type = replace(wanted.type, dtype=dtype)
    planned = replace(wanted, type=type, values=values, format=FORMAT)
    return planned, lost


def _draft_codecs(
    items: Sequence[Mapping[str, Any]], dtype: np.dtype[Any]
) -> tuple[tuple[CodecSpec, ...], list[str]]:
    """Return codecs that the draft knows; the others are left out, or gzip stands for them."""
    found, lost = [], []
    for item in items:
        if _is_known(item):
            found.append(CodecSpec(item["id"], _settings(item, dtype)))
        else:
            lost.append(f"the draft has no codec {quoted(item['id'])}: chunks are encoded again")
    if lost and not found:
        found.append(_GZIP)
    return tuple(found), lost


def _is_known(item: Mapping[str, Any]) -> bool:
    """Whether the draft has a codec that decodes the same bytes."""
    if draft_options(item["id"]) is None:
        return False
    needed = (each for each in CODECS[item["id"]].settings if each.decides)
    return all(item.get(each.name, each.absent) == each.absent for each in needed)


def _settings(item: Mapping[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    row = CODECS[item["id"]]
    told = ((name, item[name]) for name in row.draft or () if item.get(name) is not None)
    return {name: row.setting(name).stated(value, dtype.itemsize) for name, value in told}


def _as_read(planned: ArrayNode) -> ArrayNode:
    """Return the array as our reader understands the document that is written.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft cannot hold it.
    """

    def no_manifest(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> Any:
        return NO_MANIFEST

    notes = Notes(planned.path, planned.path, lambda finding: None)
    node = array_node(array_document(planned), planned.path, DRAFT_2019, notes, no_manifest)
    error = node.error or node.unreadable
    if error is not None:
        raise RefbrowserError(error.kind, error.message, Place(path=planned.path), error.advice)
    return replace(node, values=replace(node.chunks, manifest=NO_MANIFEST))


def _strict(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return attributes as strict JSON, and what had to change for it."""
    lost = [
        f"attribute {quoted(name)}: NaN and infinities are written as text"
        for name, value in attributes.items()
        if not _is_finite(value)
    ]
    return {name: _finite(value) for name, value in attributes.items()}, lost


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
