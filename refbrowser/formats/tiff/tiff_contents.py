"""What the library tells of a file of TIFF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, Severity
from refbrowser.formats.library.process import LibraryFile
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: What is told of one image.
Told = Mapping[str, Any]


@dataclass(eq=False)
class TiffContents:
    """What the library tells of a file."""

    url: str
    head: Told = field(default_factory=dict)
    arrays: dict[str, Told] = field(default_factory=dict)
    chunks: dict[str, memoryview] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "array" in told:
            self.arrays[told["array"]] = told
            self.chunks[told["array"]] = data
        elif "head" in told:
            self.head = told["head"]
        else:
            self.warn(str(told.get("problem", "an answer that is not known")), "")

    def warn(self, message: str, path: str, severity: Severity = Severity.WARNING) -> None:
        """Note what is wrong with an array; of the file where `path` is empty."""
        place = Place(url=self.url, path=path or None)
        self.findings.append(Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place))


def read_contents(file: LibraryFile, token: CancelToken | None) -> TiffContents:
    """Return what is in a file: metadata and where tiles and strips are, no values.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    Cancelled
        `token` was cancelled.
    """
    contents = TiffContents(file.url)
    request = {
        "objects": LIMITS.library_objects,
        "attribute": LIMITS.library_attribute,
        "chunks": LIMITS.references,
    }
    file.ask("describe", request, contents.take, token)
    return contents
