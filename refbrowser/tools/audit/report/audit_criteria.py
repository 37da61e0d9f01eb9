"""What an audit fails for: faults, what else is said, and what is tolerated, all or up to a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from refbrowser.engine.audit.audit_result import WARNING, AuditResult, FindingGroup
from refbrowser.engine.audit.reader_notes import note_codes
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.findings.kinds import KINDS

#: What `tolerate` takes: texts ``CODE`` and ``CODE=N``, or numbers by code, None for any.
Tolerated = Iterable[str] | Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Criteria:
    """What an audit fails for.

    Attributes
    ----------
    fail_on
        Codes that count as faults, and `WARNING` for every warning.
    tolerated
        How many places of a code it does not fail for; None for any number.
    """

    fail_on: tuple[str, ...] = ()
    tolerated: Mapping[str, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, fail_on: Iterable[str] = (), tolerate: Tolerated = ()) -> Criteria:
        """Return criteria as they are said.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there are no findings of a code, or it is no number.
        """
        fail_on = (fail_on,) if isinstance(fail_on, str) else tuple(fail_on)
        texts = (tolerate,) if isinstance(tolerate, str) else tolerate
        told = dict(texts) if isinstance(texts, Mapping) else dict(map(_tolerated, texts))
        for code in (*fail_on, *told):
            if code != WARNING and code not in KINDS and code not in note_codes():
                raise RefbrowserError(
                    ErrorKind.USAGE, f"there are no findings of the code {quoted(code)}",
                    advice="refbrowser audit --json prints those of its findings; the manual lists them all",
                )  # fmt: skip
        return cls(fail_on, told)

    def failing(self, result: AuditResult) -> list[FindingGroup]:
        """Return the groups that it fails for."""
        counts = result.counts()
        return [group for group in result.groups if self.fails(group, counts, result.warnings)]

    def fails(self, group: FindingGroup, counts: Mapping[str, int], warnings: int) -> bool:
        """Tell whether it fails for a group, given how many places there are of each code, and warnings."""
        if self._tolerates(group.code, counts[group.code]):
            return False
        if group.is_fault or group.code in self.fail_on:
            return True
        return WARNING in self.fail_on and not self._tolerates(WARNING, warnings)

    def failing_notes(self, result: AuditResult) -> list[str]:
        """Return the codes of notes about other software that it fails for."""
        found = dict.fromkeys(note.code for note in result.notes)
        return [code for code in found if code in self.fail_on and code not in self.tolerated]

    def exit_code(self, result: AuditResult) -> int:
        """Return the exit code of the command line: 2 where it fails, 3 where permissions are missing."""
        if self.failing(result) or self.failing_notes(result):
            return 2
        return 3 if result.blocked else 0

    def _tolerates(self, code: str, count: int) -> bool:
        most = self.tolerated.get(code, 0)
        return most is None or count <= most


def _tolerated(text: str) -> tuple[str, int | None]:
    code, equals, number = text.partition("=")
    if equals and not (number.isascii() and number.isdecimal()):
        message = f"{quoted(text)} is not of the form CODE or CODE=N"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="for example missing-chunks=10")
    return code, int(number) if equals else None
