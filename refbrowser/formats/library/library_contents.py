"""What a library tells of a file: groups and arrays with all that is known of them, and no values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.library.process import LibraryFile, ask_once
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.limits import LIMITS


def shown_path(path: str) -> str:
    r"""Return a path as text: characters of a file's names that are no UTF-8 are shown as ``\xff``."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(eq=False)
class LibraryContents:
    """What a library tells of a file; each format has its own words.

    Attributes
    ----------
    findings
        What is wrong.
    """

    url: str
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def read(
        cls,
        file: LibraryFile,
        identity: FileIdentity | ObjectIdentity | None,
        token: CancelToken | None = None,
    ) -> Self:
        """Return what is in a file: metadata and where chunks are, no values.

        Parameters
        ----------
        identity
            Its state; what was read of a file in it before need not be read again.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        contents = cls(file.url)
        ask_once(file, "describe", cls.bounds(), contents.take, identity, token)
        return contents

    @staticmethod
    def bounds() -> Mapping[str, Any]:
        """Return how much is told at most."""
        return {
            "objects": LIMITS.library_objects,
            "attributes": LIMITS.library_attributes,
            "attribute": LIMITS.library_attribute,
        }

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer: here what is wrong."""
        self.warn(str(told.get("problem", "an answer that is not known")), told.get("path", ""))

    def warn(self, message: str, path: str, severity: Severity = Severity.WARNING) -> None:
        """Note what is wrong with an object; of the file where `path` is empty."""
        place = Place(url=self.url, path=shown_path(path) or None)
        self.findings.append(Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place))
