"""Single metadata documents of the v3 drafts: written, begun, and checked as they are edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.nodes import ArrayNode
from refbrowser.wings.zarr_draft.reading.codecs import BASE, codecs_json, draft_options
from refbrowser.wings.zarr_draft.reading.data_types import CORE, data_type_of, fill_value_json
from refbrowser.wings.zarr_draft.reading.draft_arrays import array_node
from refbrowser.wings.zarr_draft.reading.draft_keys import NodeKind
from refbrowser.wings.zarr_draft.reading.draft_members import (
    ZARR_FORMAT,
    Notes,
    check_extensions,
    check_format,
)
from refbrowser.wings.zarr_draft.reading.drafts import DRAFT_2019, draft_2020

#: The only codec that is written where nothing else is said.
GZIP: Mapping[str, Any] = {"codec": f"{BASE}gzip", "level": 1}


def group_document(attributes: Mapping[str, Any], extensions: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the metadata of a group."""
    return {"zarr_format": ZARR_FORMAT, "extensions": list(extensions), "attributes": dict(attributes)}


def array_document(node: ArrayNode) -> dict[str, Any]:
    """Return the metadata of an array as the model has it.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no such type or codec.
    """
    grid: dict[str, Any] = {"type": "regular", "chunk_shape": list(node.grid.regular.chunk_shape)}
    if node.chunk_keys.separator != ".":
        grid["separator"] = node.chunk_keys.separator
    return {
        "zarr_format": ZARR_FORMAT,
        "shape": list(node.shape),
        "data_type": data_type_of(node.known_dtype),
        "chunk_grid": grid,
        "chunk_memory_layout": node.order,
        "chunk_codecs": codecs_json(node.codecs),
        "fill_value": fill_value_json(node.fill_value, node.known_dtype),
        "extensions": [],
        "attributes": dict(node.attributes),
    }


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as its key holds it: strict JSON.

    Raises
    ------
    RefbrowserError
        `E_META`: something in it is not JSON, a NaN among it.
    """
    try:
        return json.dumps(document, indent=4, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RefbrowserError(
            ErrorKind.META,
            f"the metadata cannot be written as JSON: {quoted(error)}",
            advice="numbers are finite in JSON; write NaN and infinities as text",
        ) from None


def written_type(value: Any) -> Any:
    """Return `data_type` for what a program names: a name of the draft, an extension, or a numpy type.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no such type.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str) and value in CORE:
        return value
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise RefbrowserError(ErrorKind.META, f"{quoted(value)} is not a type") from None
    return data_type_of(dtype)


def written_codec(value: Any) -> dict[str, Any]:
    """Return a codec as the metadata writes it, from its object or the name of a known one."""
    if isinstance(value, str) and draft_options(value) is not None:
        return {"codec": BASE + value}
    return dict(value)


_LATER = draft_2020(None)


def document_fault(key: str, document: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a document under its key, in words; empty where nothing is.

    None where the key is that of no node. A document without a `zarr_format` counts as one of a later draft
    where its key can be one of these.
    """
    later = _LATER.scheme.parse(key)
    found = DRAFT_2019.scheme.parse(key)
    draft = _LATER if later is not None and "zarr_format" not in document else DRAFT_2019
    node = later if draft is _LATER else found
    if node is None:
        return None
    findings: list[Finding] = []
    notes = Notes(key, node.path, findings.append)
    if node.kind is NodeKind.GROUP:
        return _group_fault(document, has_format=draft.has_format, notes=notes)
    array_node(document, node.path, draft, notes, lambda *spelling: None)  # type: ignore[arg-type]
    faults = [finding for finding in findings if finding.severity is Severity.FAULT]
    return (faults or findings)[0].message if findings else ""


def _group_fault(document: Mapping[str, Any], *, has_format: bool, notes: Notes) -> str:
    try:
        if has_format:
            check_format(document.get("zarr_format"))
        check_extensions(document.get("extensions", []), notes)
    except RefbrowserError as error:
        return error.message
    return "" if isinstance(document.get("attributes", {}), dict) else "attributes is not an object"


@dataclass(frozen=True, slots=True)
class DraftDocuments:
    """The documents of groups and arrays of one age of the draft, as they are edited.

    Attributes
    ----------
    root, below
        What the keys of the root group, and of all other nodes, begin with.
    begun
        What a group has that was only implied.
    """

    root: str
    below: str
    begun: Mapping[str, Any]

    def group_key(self, path: str) -> str:
        """Return the key of the document of a group, whatever its name."""
        return f"{self.root if path == '/' else self.below + path}.group.json"

    def new_group(self) -> dict[str, Any]:
        """Return the document of a group that was only implied."""
        return {**self.begun, "extensions": [], "attributes": {}}

    def fault(self, key: str, json: Mapping[str, Any]) -> str | None:
        """Return what is wrong with a document under its key, of whatever age it is."""
        return document_fault(key, json)


DRAFT_2019_DOCUMENTS = DraftDocuments("root", "meta", {"zarr_format": ZARR_FORMAT})
DRAFT_2020_DOCUMENTS = DraftDocuments("meta/root", "meta/root", {})
