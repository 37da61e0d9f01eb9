"""What the library tells of a file of TIFF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, Severity
from refbrowser.formats.library.process import LibraryFile, ask_once
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity, ObjectIdentity
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


def read_contents(
    file: LibraryFile, identity: FileIdentity | ObjectIdentity | None, token: CancelToken | None
) -> TiffContents:
    """Return what is in a file: metadata and where tiles and strips are, no values.

    Parameters
    ----------
    identity
        Its state; what was read of a file in it before need not be read again.

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
        # What can be read changes with it.
        "codecs": find_spec("imagecodecs") is not None,
    }
    ask_once(file, "describe", request, contents.take, identity, token)
    return contents
