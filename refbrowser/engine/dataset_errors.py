"""Errors of a dataset as programs use it: what is not there, and what was closed."""

from __future__ import annotations

from collections.abc import Sequence

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding, damage_text


class NoSuchNodeError(RefbrowserError, KeyError):
    """There is no group or array of that path; where damage may have cost it, that is told."""

    def __init__(
        self,
        path: str,
        document: str,
        damage: Sequence[Finding] = (),
        advice: str = "",
        what: str = "group or array",
    ) -> None:
        words = [f"there is no {what} {quoted(path)}", *(damage_text(each) for each in damage[:1])]
        RefbrowserError.__init__(self, ErrorKind.USAGE, "; ".join(words), Place(document=document), advice)

    def __str__(self) -> str:
        # What IPython and logs show is this alone.
        return f"{RefbrowserError.__str__(self)}{'; ' if self.advice else ''}{self.advice}"


class ClosedError(RefbrowserError, ValueError):
    """The dataset was closed: nothing is read of it any more."""

    __str__ = RefbrowserError.__str__
