"""A finding, and what kind of finding it is: a row of the table in `refbrowser.findings.kinds`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, Severity, quoted


class Remedy(StrEnum):
    """What one click does about a finding."""

    EDIT = "edit"
    PREFIX = "prefix"
    PERMISSIONS = "permissions"
    ACCEPT = "accept"
    MEND = "mend"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """One kind of finding.

    Attributes
    ----------
    code
        Its stable name: what ``--fail-on`` takes.
    level
        The first level of an audit that finds it: ``set``, ``stat`` or ``sample``.
    severity, error
        How bad it is, and the kind of error of those who read what it is about, where a finding itself says
        nothing else.
    title
        What it is, in a few words.
    meaning
        What it means for a reader.
    advice
        What can be done about it, in sentences and in the words of the window; empty where that depends.
    remedy
        What one click does about it where a finding has no edit that repairs it.
    """

    code: str
    level: str
    severity: Severity
    error: ErrorKind
    title: str
    meaning: str
    advice: str = ""
    remedy: Remedy | None = None

    def finding(
        self,
        message: str,
        place: Place = NOWHERE,
        *,
        severity: Severity | None = None,
        error: ErrorKind | None = None,
        advice: str = "",
        count: int = 1,
        fix: FindingFix | None = None,
        rows: tuple[tuple[int, int], ...] = (),
        checked: int | None = None,
    ) -> Finding:
        """Return a finding of this kind."""
        return Finding(
            severity=severity or self.severity, kind=error or self.error, message=message, place=place,
            advice=advice, count=count, fix=fix, rows=rows, checked=checked, what=self,
        )  # fmt: skip


class FindingFix(Protocol):
    """What repairs a finding: an edit of `refbrowser.references`, whose documents lie above this layer."""

    @property
    def title(self) -> str:
        """What the history calls it."""
        ...

    def apply(self, document: Any) -> Any:
        """Return the repaired document."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding:
    """One thing that was found in a document or dataset, with the fix where there is one.

    `count` is how many places share the finding when only the first is given. `is_loss`: values may be lost
    by it, so that it is told where they are read, though it may be a warning; `is_anywhere`: of any array,
    wherever it is. `rows`: (rule, first row) of each gen rule that it is about, where `place` does not tell.
    `checked`: None where all was decided, else how many rows were looked at (0 where that is not known).
    `what`: what kind of finding it is, as the manual of `refbrowser audit` lists them; None where the `kind`
    of error says all.
    """

    severity: Severity
    kind: ErrorKind
    message: str
    place: Place = NOWHERE
    advice: str = ""
    count: int = 1
    fix: FindingFix | None = None
    is_loss: bool = False
    is_anywhere: bool = False
    rows: tuple[tuple[int, int], ...] = ()
    checked: int | None = None
    what: FindingKind | None = None

    @property
    def code(self) -> str:
        """The code of what it is; empty where its kind of error says all."""
        return "" if self.what is None else self.what.code

    def __repr__(self) -> str:
        times = f" [{self.count} times]" if self.count > 1 else ""
        where = f" ({self.place})" if str(self.place) else ""
        return f"<{self.severity} {self.kind}: {quoted(self.message, 400)[1:-1]}{times}{where}>"

    def at(self, place: Place) -> Finding:
        """Return this finding with another place."""
        return replace(self, place=place)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it: in what ``check``, ``info``, ``move`` and ``merge`` print."""
        place = self.place
        shape: dict[str, Any] = {
            "kind": str(self.kind),
            "message": self.message,
            "pointer": place.pointer,
            "line": place.line if place.is_in_document else None,
            "column": place.column if place.is_in_document else None,
        }
        if place.rule is not None:
            shape |= {"rule": place.rule, "field": place.field, "row": place.row}
        if place.pointer is None:
            # Of a store: it stands at no place of a document.
            names = {"key": place.key, "path": place.path, "url": place.url}
            shape |= {name: value for name, value in names.items() if value is not None}
        if place.start is not None:
            # Of a message of a stream, a member of an archive: its bytes in the file.
            shape |= {"start": place.start, "stop": place.stop}
        if self.count > 1:
            shape["count"] = self.count
        return shape

    def error(self) -> RefbrowserError:
        """Return the finding as the error that a reader of the entry gets."""
        return RefbrowserError(self.kind, self.message, self.place, self.advice)


def damage_text(damage: Finding) -> str:
    """Return the words in which damage is told beside values: ``the source is damaged: ...``."""
    return f"the source is damaged: {damage.message}"
