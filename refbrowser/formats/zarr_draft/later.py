"""Metadata of the v3 drafts from June 2019 to 2022 to a hierarchy: keys below ``meta/root/``."""

from __future__ import annotations

from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.zarr.metadata_json import parse_object
from refbrowser.formats.zarr.source import ManifestMaker, MetadataSource
from refbrowser.formats.zarr_draft.drafts import draft_2020
from refbrowser.formats.zarr_draft.keys import ENTRY
from refbrowser.formats.zarr_draft.members import check_extensions, check_format
from refbrowser.formats.zarr_draft.names import has_key_characters
from refbrowser.formats.zarr_draft.notes import Notes
from refbrowser.formats.zarr_draft.tree import TreeBuilder
from refbrowser.model.nodes import Hierarchy

#: The encoding of metadata that is known, JSON, with and without a version of the protocol.
_ENCODINGS = "purl.org/zarr/spec/protocol/core/3.0"


def build_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that the metadata of a store of a later draft describes.

    The entry document, ``zarr.json``, may be absent. Parameters and errors are those of
    `refbrowser.formats.zarr_draft.hierarchy.build_hierarchy`.
    """
    findings: list[Any] = []
    notes = Notes(ENTRY, "/", findings.append)
    suffix, refused = None, None
    if ENTRY in set(source.metadata_keys()):
        try:
            entry = parse_object(source.value(ENTRY), ENTRY, findings.append)
            suffix = _suffix(entry, notes)
            check_format(entry.get("zarr_format"))
            check_extensions(entry.get("extensions", []), notes)
        except RefbrowserError as error:
            refused = notes.placed(error)
    builder = TreeBuilder(source, manifests, draft_2020(suffix))
    builder.findings += findings
    builder.refused = refused
    builder.gather(entry=ENTRY)
    return builder.hierarchy(format)


def _suffix(entry: dict[str, Any], notes: Notes) -> str | None:
    """Return what metadata keys end in; None where the entry document does not say."""
    encoding = entry.get("metadata_encoding")
    if encoding is not None and not (isinstance(encoding, str) and encoding.endswith(_ENCODINGS)):
        notes.warn(
            f"the metadata encoding {quoted(encoding)} is not known: read as JSON", "metadata_encoding"
        )
    suffix = entry.get("metadata_key_suffix")
    if suffix is None:
        return None
    if not isinstance(suffix, str) or "/" in suffix or not has_key_characters(f"a{suffix}"):
        raise RefbrowserError(ErrorKind.META, f"metadata_key_suffix is {quoted(suffix)}, no end of keys")
    return suffix
