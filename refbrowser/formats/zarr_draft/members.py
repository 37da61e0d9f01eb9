"""The members that array and group metadata share (draft of 2019, Metadata)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.zarr_draft.notes import Notes

#: What `zarr_format` is in documents that we write.
ZARR_FORMAT = "http://purl.org/zarr/spec/protocol/core/3.0"
_FORMAT = re.compile(r"https?://purl\.org/zarr/spec/protocol/core/([0-9]{1,9})(?:\.[0-9]{1,9})*\Z")
_MAJOR = "3"
_ABSENT = object()


def check_format(value: Any) -> None:
    """Raise E_META where `zarr_format` is not the URI of a version 3 of the core protocol."""
    match = _FORMAT.match(value) if isinstance(value, str) else None
    if match is None:
        raise RefbrowserError(
            ErrorKind.META, f"zarr_format is {quoted(value)}, not the URI of the core protocol"
        )
    if match[1].lstrip("0") != _MAJOR:
        raise RefbrowserError(
            ErrorKind.META, f"the core protocol of {quoted(value)} is not of version 3, and is not read"
        )


def attributes_of(document: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    """Return the attributes; where there are none, or they are no object, that is reported."""
    value = member(document, "attributes", {}, notes)
    if isinstance(value, dict):
        return value
    notes.warn(f"attributes is {quoted(value)}, not an object: none are taken", "attributes")
    return {}


def member(document: Mapping[str, Any], name: str, default: Any, notes: Notes) -> Any:
    """Return a member that must be there; `default` stands for one that is not, and that is reported."""
    value = document.get(name, _ABSENT)
    if value is not _ABSENT:
        return value
    notes.warn(f"member {quoted(name)} is absent; {quoted(default)} is taken")
    return default


def check_extensions(value: Any, notes: Notes) -> None:
    """Note extensions that may be ignored; no extension is known here.

    Raises
    ------
    RefbrowserError
        `E_META`: an extension must be understood, or the list is not one.
    """
    if not isinstance(value, list):
        raise RefbrowserError(ErrorKind.META, f"extensions is {quoted(value)}, not a list")
    for item in value:
        name = item.get("extension") if isinstance(item, dict) else item
        if isinstance(item, dict) and item.get("must_understand") is False:
            notes.warn(f"extension {quoted(name)} is not known, and is ignored", "extensions")
            continue
        raise RefbrowserError(
            ErrorKind.META,
            f"extension {quoted(name)} must be understood, and is not known",
            advice="only software that knows the extension can read it",
        )
