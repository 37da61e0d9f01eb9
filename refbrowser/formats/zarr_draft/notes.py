"""What is found in one metadata document: warnings and faults with key, node and JSON pointer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity


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
