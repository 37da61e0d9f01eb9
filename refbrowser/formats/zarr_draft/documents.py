"""Single metadata documents of the v3 drafts: begun where there is none, and checked as they are edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refbrowser.errors import Finding, RefbrowserError, Severity
from refbrowser.formats.zarr_draft.arrays import array_node
from refbrowser.formats.zarr_draft.drafts import DRAFT_2019, draft_2020
from refbrowser.formats.zarr_draft.keys import NodeKind
from refbrowser.formats.zarr_draft.members import check_extensions, check_format
from refbrowser.formats.zarr_draft.notes import Notes
from refbrowser.formats.zarr_draft.writing import group_document
from refbrowser.model.nodes import Flavour

_LATER = draft_2020(None)


def new_group(flavour: Flavour) -> dict[str, Any]:
    """Return the document of a group that was only implied."""
    return group_document({}) if flavour is Flavour.DRAFT_2019 else {"extensions": [], "attributes": {}}


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
