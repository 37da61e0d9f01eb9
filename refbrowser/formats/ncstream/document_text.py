"""A stream as a document: the metadata of its variables, and where their messages are."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.formats.ncstream.definition import StreamAttribute, StreamDefinition, StreamGroup, StreamType
from refbrowser.formats.ncstream.elements import fill_of, is_ragged
from refbrowser.formats.ncstream.stream_layouts import StreamLayout, StreamLayouts
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.references.document.content import DerivedOrigin
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.references.document.value_table import json_of

#: What zlib streams of a level that nobody knows are read with.
_ZLIB = {"id": "zlib", "level": 1}
_GROUP = b'{"zarr_format":2}'


def document_of_layouts(
    layouts: StreamLayouts, origin: DerivedOrigin, faults: Iterable[Finding], *, name: str
) -> ManifestDocument:
    """Return the document of a stream.

    Parameters
    ----------
    origin
        What the stream tells beside.
    faults
        What is wrong with it; what the document leaves out of it is added to them.
    name
        For messages.
    """
    manifest = ManifestBuilder(layouts.index.url)
    findings: list[Finding] = []
    for path, group in groups_of(layouts.definition):
        if not _can_be_key(path, findings):
            continue
        prefix = key_prefix(path)
        metadata = {f"{prefix}.zgroup": _GROUP}
        if group.attributes:
            metadata[f"{prefix}.zattrs"] = json_of(attribute_values(group.attributes))
        manifest.add_metadata(metadata)
    shown = {path: each for path, each in layouts.by_path.items() if _can_be_key(path, findings)}
    for path, layout in shown.items():
        array, attributes = json_of(_array(layout)), json_of(_attributes(layout))
        manifest.add_metadata({f"{key_prefix(path)}.zarray": array, f"{key_prefix(path)}.zattrs": attributes})
    # Values that stand in headers come before the ranges of messages.
    for path, layout in shown.items():
        if layout.inline:
            key = ".".join("0" * max(len(layout.shape), 1))
            manifest.add_bytes(key_prefix(path) + key, layout.inline)
    for path, layout in shown.items():
        if layout.inline is None and layout.is_regular:
            _add_ranges(manifest, key_prefix(path), layout, layouts)
    return manifest.document(name=name, derived=origin, notes=(*faults, *findings))


def _add_ranges(manifest: ManifestBuilder, prefix: str, layout: StreamLayout, layouts: StreamLayouts) -> None:
    table, numbers = layouts.index.table, layout.sections.numbers
    coords = layout.sections.starts // np.asarray(layout.grid.chunk_shape, np.int64)
    if not coords.shape[1]:
        coords = np.zeros((len(coords), 1), np.int64)
    manifest.add_ranges(prefix, coords, table.payload_offset[numbers], table.payload_length[numbers])


def groups_of(definition: StreamDefinition) -> Iterator[tuple[str, StreamGroup]]:
    """Yield every group with its absolute path, parents first."""
    pending = [("/", definition.root)]
    while pending:
        path, group = pending.pop(0)
        yield path, group
        pending.extend((f"{path.rstrip('/')}/{name}", below) for name, below in group.groups.items())


def key_prefix(path: str) -> str:
    """Return what the keys of a node begin with."""
    return f"{path.strip('/')}/".removeprefix("/")


def attribute_values(attributes: Mapping[str, StreamAttribute]) -> dict[str, Any]:
    """Return attributes as the metadata of Zarr holds them."""
    return {name: attribute_value(attribute) for name, attribute in attributes.items()}


def attribute_value(attribute: StreamAttribute) -> Any:
    """Return the value of an attribute in JSON: NaN and infinities are texts there."""
    values = [_plain(value) for value in attribute.values]
    if len(values) == 1:
        return values[0]
    is_text = attribute.type in (StreamType.STRING, StreamType.CHAR)
    return "" if is_text and not values else values


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _can_be_key(path: str, findings: list[Finding]) -> bool:
    """Tell whether the keys of Zarr can have a path; warn where they cannot."""
    parts = path.strip("/").split("/")
    named = path == "/" or not any(part in ("", ".", "..") or part in METADATA_NAMES for part in parts)
    if named and len(path) <= LIMITS.key_length and len(parts) <= LIMITS.group_nesting:
        return True
    message = f"{quoted(path)} has a name that no key can hold; it is not shown"
    findings.append(
        Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message, place=Place(path=path))
    )
    return False


def _attributes(layout: StreamLayout) -> dict[str, Any]:
    names = [each.name or None for each in layout.variable.dimensions if not each.is_vlen]
    shown = names if len(names) == len(layout.shape) else [None] * len(layout.shape)
    return {**attribute_values(layout.variable.attributes), DIMENSIONS_ATTRIBUTE: shown}


def _array(layout: StreamLayout) -> dict[str, Any]:
    """Return the metadata of an array; of a type that Zarr v2 cannot spell, as objects."""
    metadata: dict[str, Any] = {
        "zarr_format": 2,
        "shape": list(layout.shape),
        "chunks": list(layout.grid.chunk_shape),
        "compressor": _ZLIB if layout.is_deflated else None,
        "order": "C",
    }
    if layout.error is not None:
        return metadata | {"dtype": "|u1", "filters": None, "fill_value": None}
    if layout.variable.type.dtype is None or is_ragged(layout.variable):
        return metadata | {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": ""}
    return metadata | {"dtype": layout.dtype.str, "filters": None, "fill_value": _fill(layout)}


def _fill(layout: StreamLayout) -> Any:
    value = fill_of(layout.variable)
    if isinstance(value, bytes):
        return base64.b64encode(value.ljust(1, b"\0")).decode("ascii")
    return _plain(value.item())
