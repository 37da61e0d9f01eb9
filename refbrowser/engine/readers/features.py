"""What an array, and the document that holds it, need of whoever reads them, as features.

A feature is a text, ``facet:value``: ``codec-v3:zstd``, ``grid:rectilinear``, ``document:templates``. They
come from metadata and references alone; no chunk is read.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.model.data_type import DataType, RowType, SequenceType, rows_of
from refbrowser.model.flavour import Flavour
from refbrowser.model.values import CodecSpec
from refbrowser.references.edits.many_edits import relative_urls

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.references.document.document import Document

Features = frozenset[str]

#: Facets of which a reader has to know every value: one that no rule names leaves the verdict open. What the
#: others tell counts only where a rule names it.
NEEDED = frozenset({"form", "metadata", "codec-v2", "codec-v3", "type", "grid"})

#: A use of a template that fsspec renders by itself: a name between braces, without blanks or calls.
_SIMPLE = re.compile(r"\{\{[A-Za-z_]\w*\}\}")
_OPENS = re.compile(r"\{\{|\{%")
#: GDAL keeps lengths in 32 bits.
_LONG = (1 << 32) - 1
#: Names of types of Zarr v3 whose elements are objects.
_OBJECTS = {"string": "string", "bytes": "bytes", "variable_length_bytes": "bytes"}
_FIXED = {"U": "fixed-text", "S": "fixed-bytes", "M": "datetime64", "m": "timedelta64"}
_ATTRIBUTE = "_FillValue"
#: Bytes of a fill value as xarray spells it in Zarr v3.
_DOUBLE = 8


def document_features(document: Document) -> dict[str, int]:
    """Return the features of a document that somebody wrote, with how many references each is about.

    Documents that were made, of stores and files, have none.
    """
    if document.rules_are_made or document.is_made:
        return {}
    return {f"document:{name}": count for name, count in _counted(document) if count}


def _counted(document: Document) -> Iterator[tuple[str, int]]:
    if document.rules:
        yield "gen", 1
        yield "rules", sum(rule.count for rule in document.rules)
    if document.version == 1 and document.templates.texts:
        yield "templates", 1
        urls = document.refs.table.urls
        uses = np.bincount(document.refs.table.url[document.refs.table.url >= 0], minlength=len(urls))
        templated = [number for number, url in enumerate(urls) if _OPENS.search(url)]
        yield "templated-urls", int(uses[templated].sum())
        odd = [number for number in templated if _OPENS.search(_SIMPLE.sub("", urls[number]))]
        yield "template-calls", int(uses[odd].sum())
    table = document.refs.table
    yield "relative-urls", int(_has_relative(document))
    yield "long-ranges", int(np.count_nonzero((table.url >= 0) & (table.length > _LONG)))
    if document.version != 1 and document.refs.find_slot(".zgroup") is None:
        yield "no-root-group", 1


def _has_relative(document: Document) -> bool:
    """Return whether a URL names a file relative to the document."""
    try:
        return next(relative_urls(document), None) is not None
    except RefbrowserError:
        return True  # Some rows of a rule do, others do not.


class FeatureFinder:
    """Finds the features of the arrays of a dataset; what many arrays have alike is looked at once."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._codecs: dict[tuple[str, int], tuple[tuple[CodecSpec, ...], Features]] = {}
        self._types: dict[tuple[str, str], Features] = {}

    def features(self, node: ArrayNode) -> Features:
        """Return the features of an array, those of its document among them."""
        found = self._document | self._type_features(node)
        if self._has_keys:
            found |= self._codec_features(node) | frozenset(self._own(node))
        return found

    @cached_property
    def _document(self) -> Features:
        """What all arrays have alike."""
        document = self._dataset.document
        found = {f"form:{self._form}", *document_features(document)}
        if document.packed is not None:
            found.add(f"document:{document.packed.kind}")
        for fact in document.told():
            if fact.name.lower().endswith("version"):
                found.add(f"{fact.name.lower().replace(' ', '-')}:{fact.value}")
        store = document.store
        if store is not None and store.is_consolidated:
            found.add("store:consolidated")
        if store is not None and store.container == "zip":
            found.add("zip:folder" if store.folder else "zip:top")
        return frozenset(found)

    @cached_property
    def _has_keys(self) -> bool:
        """Whether others read Zarr: metadata and chunks by key, not a file that they have to know."""
        is_v3 = self._dataset.hierarchy.flavour == Flavour.ZARR_V3
        return is_v3 or self._dataset.document.has_keys

    @property
    def _form(self) -> str:
        store = self._dataset.document.store
        if store is None:
            return self._dataset.format
        return "zip-store" if store.container == "zip" else "store"

    def _codec_features(self, node: ArrayNode) -> Features:
        # Arrays that are described alike share the codecs; these are kept, so that none takes their place.
        known = self._codecs.get((node.format, id(node.codecs)))
        if known is None:
            facet = "codec-v3" if node.format == Flavour.ZARR_V3 else "codec-v2"
            names = frozenset(f"{facet}:{name}" for name in _codec_names(node.codecs))
            found = names | frozenset(filter(None, map(_setting, node.codecs)))
            known = self._codecs[node.format, id(node.codecs)] = (node.codecs, found)
        return known[1]

    def _type_features(self, node: ArrayNode) -> Features:
        key = (node.type.name, str(node.dtype))
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = frozenset(_type_features(node.type))
        return found

    def _own(self, node: ArrayNode) -> Iterator[str]:
        yield f"metadata:{self._metadata(node)}"
        if node.path == "/":
            yield "place:root"
        elif node.path.count("/") > 1:
            yield "place:nested"
        yield from _layout(node)
        yield from _fill(node)
        if not any(node.dimensions):
            if node.shape:
                yield "dimensions:unnamed"
        elif len(set(node.dimensions)) < len(node.dimensions):
            yield "dimensions:repeated"

    def _metadata(self, node: ArrayNode) -> str:
        flavour = self._dataset.hierarchy.flavour
        return str(flavour) if flavour == Flavour.NCZARR else node.format


def _setting(spec: CodecSpec) -> str:
    """Return what a codec is set to that not all have who have the codec; empty where nothing is."""
    said = spec.configuration
    if spec.name == "delta" and said.get("astype") not in (None, said.get("dtype")):
        return "delta:narrower"
    return "lzma:filters" if spec.name == "lzma" and said.get("filters") else ""


def _codec_names(codecs: Iterable[CodecSpec]) -> Iterator[str]:
    """Yield the names of codecs, and of those within shards; a codec of blosc with the compressor in it."""
    for spec in codecs:
        yield spec.name
        for member in ("codecs", "index_codecs"):
            inner = spec.configuration.get(member)
            if isinstance(inner, list):
                yield from _codec_names(_specs(inner))


def _specs(items: Iterable[Any]) -> Iterator[CodecSpec]:
    for item in items:
        if isinstance(item, str):
            yield CodecSpec(item)
        elif isinstance(item, Mapping) and isinstance(item.get("name"), str):
            configuration = item.get("configuration")
            yield CodecSpec(item["name"], configuration if isinstance(configuration, Mapping) else {})


def _type_features(type: DataType) -> Iterator[str]:
    name = _type_name(type)
    yield f"type:{name}"
    dtype = type.dtype
    if dtype is None:
        return
    leaves = [dtype] if dtype.fields is None else [each[0] for each in dtype.fields.values()]
    if any(leaf.base.byteorder == ">" for leaf in leaves):
        yield "byte-order:big"
        if dtype.fields is not None:
            yield "byte-order:big-members"


def _type_name(type: DataType) -> str:
    """Return the name of a type: that of numpy for numbers, else what elements are."""
    dtype = type.dtype
    if dtype is None:
        return type.name or "unknown"
    metadata: Mapping[Any, Any] = dtype.metadata or {}
    if "stored" in metadata:
        return str(metadata["stored"])
    if isinstance(type, SequenceType):
        return "sequence"
    if dtype.names is not None:
        return "structure"
    if dtype.hasobject:
        rows = rows_of(dtype)
        if isinstance(type, RowType) or isinstance(rows, np.dtype):
            return "rows"
        known = {str: "string", bytes: "bytes"}.get(rows) if rows is not None else _OBJECTS.get(type.name)
        return known or "object"
    if dtype.kind == "V":
        return "raw"
    return _FIXED.get(dtype.kind, dtype.name)


def _layout(node: ArrayNode) -> Iterator[str]:
    if not node.shape:
        yield "shape:scalar"
    elif 0 in node.shape:
        yield "shape:empty"
    if not node.has_grid:
        yield "grid:none"
        return
    yield "grid:regular" if node.grid.is_regular else "grid:rectilinear"
    if node.order == "F":
        yield "order:F"
    keys = node.chunk_keys
    yield f"keys:{keys.name}{keys.separator}"


def _fill(node: ArrayNode) -> Iterator[str]:
    if node.fill_value is None:
        yield "fill:null"
    elif isinstance(node.fill_value, np.floating | float) and math.isnan(node.fill_value):
        yield "fill:nan"
    else:
        yield "fill:value"
    if _ATTRIBUTE in node.attributes and node.dtype is not None and node.dtype.kind in "fiu":
        yield f"{_ATTRIBUTE}:{_spelling(node.attributes[_ATTRIBUTE])}"


def _spelling(value: Any) -> str:
    """Return how the fill value of an attribute is spelled."""
    if not isinstance(value, str):
        return "number"
    try:
        return "base64" if len(base64.b64decode(value, validate=True)) == _DOUBLE else "text"
    except ValueError:
        return "text"


def needed(features: Iterable[str]) -> list[str]:
    """Return the features of facets of which a reader has to know every value, sorted."""
    return sorted(each for each in features if each.partition(":")[0] in NEEDED)
