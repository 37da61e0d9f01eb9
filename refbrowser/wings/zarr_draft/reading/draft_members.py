"""What is found in one metadata document, and the members that array and group metadata share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class Notes:
    """Reports about the document of one node.

    Attributes
    ----------
    key
        Of the document.
    path
        Of the node.
    """

    key: str
    path: str
    report: Callable[[Finding], None]

    def warn(self, message: str, member: str | None = None, advice: str = "") -> None:
        """Report a warning; `member` of the document is what it is about."""
        error = RefbrowserError(ErrorKind.META, message, advice=advice)
        self._tell(Severity.WARNING, self.placed(error, member))

    def fault(self, error: RefbrowserError) -> None:
        """Report a node that is broken; metadata that is elsewhere and not allowed yet is no fault."""
        if error.kind is not ErrorKind.BLOCKED:
            self._tell(Severity.FAULT, error)

    def unreadable(self, error: RefbrowserError) -> None:
        """Report that an array is shown and cannot be read."""
        told = RefbrowserError(
            error.kind, f"the array cannot be read: {error.message}", error.place, error.advice
        )
        self._tell(Severity.WARNING, told)

    def placed(self, error: RefbrowserError, member: str | None = None) -> RefbrowserError:
        """Return `error` with the place of this document, and of a member of it."""
        place = replace(error.place, key=error.place.key or self.key, path=error.place.path or self.path)
        if member is not None:
            place = replace(place, pointer=place.pointer or f"/{member}")
        return RefbrowserError(error.kind, error.message, place, error.advice)

    def _tell(self, severity: Severity, error: RefbrowserError) -> None:
        self.report(
            Finding(
                severity=severity,
                kind=error.kind,
                message=error.message,
                place=error.place,
                advice=error.advice,
            )
        )


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
    notes.warn(f"attributes is {quoted(value)}, not an object: none are used", "attributes")
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
