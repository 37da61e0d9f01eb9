"""What astropy tells of the header-data units of a file of FITS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, Severity
from refbrowser.formats.library.process import LibraryFile
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

Told = Mapping[str, Any]


@dataclass(slots=True)
class Units:
    """What the library tells of a file.

    Attributes
    ----------
    told
        Header-data units, in the order of the file.
    findings
        What is wrong.
    """

    url: str
    told: list[Told] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "unit" in told:
            self.told.append(told)
        else:
            self.warn(str(told.get("problem", "an answer that is not known")), "")

    def warn(self, message: str, path: str, severity: Severity = Severity.WARNING) -> None:
        """Note what is wrong with an array; of the file where `path` is empty."""
        place = Place(url=self.url, path=path or None)
        self.findings.append(Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place))


def read_units(file: LibraryFile, token: CancelToken | None) -> Units:
    """Return what is in a file: headers, and where data is.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    Cancelled
        `token` was cancelled.
    """
    units = Units(file.url)
    request = {
        "objects": LIMITS.library_objects,
        "attributes": LIMITS.library_attributes,
        "attribute": LIMITS.library_attribute,
    }
    file.ask("describe", request, units.take, token)
    return units


def attributes_of(told: Told) -> dict[str, Any]:
    """Return the fields of a node that tell its cards."""
    return {
        "attributes": dict(told.get("cards", ())),
        "internal_attributes": dict(told.get("structure", ())),
    }
