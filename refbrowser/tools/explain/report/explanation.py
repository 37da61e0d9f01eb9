"""The value that an explanation is: a verdict, and the steps that lead to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.model.report import Report
from refbrowser.views.numbers import value_text

#: Foreign text is cut at this many characters.
SHOWN = 400


def plain(text: object, limit: int = SHOWN) -> str:
    """Return foreign text on one line, escaped and cut."""
    return quoted(text, limit)[1:-1]


def exact_text(value: Any) -> str:
    """Return a stored element with all its digits."""
    if isinstance(value, float | np.floating) and value != value:
        return "NaN"
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return str(value.item() if value.dtype.kind in "biu" else value)
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, bytes):
        return repr(value[:SHOWN])
    if isinstance(value, str):
        return quoted(value, SHOWN)
    return plain(value_text(value)).replace("\N{MINUS SIGN}", "-")


def json_text(value: Any) -> str:
    """Return a configuration as compact JSON, cut."""
    return plain(json.dumps(value, default=repr, ensure_ascii=False))


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return the members of a codec's configuration, ``level 1, shuffle 0``."""
    return ", ".join(f"{plain(name)} {json_text(value)}" for name, value in list(settings.items())[:12])


#: Bytes in a row of hex as text.
HEX_WIDTH = 16


class StepState(StrEnum):
    """How a step went."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


class VerdictKind(StrEnum):
    """What an explanation comes to."""

    #: There is a value, and it is shown.
    VALUE = "value"
    #: A key whose bytes can be read and decoded.
    READABLE = "readable"
    #: The chunk (or the inner chunk of a shard) is missing.
    MISSING = "missing"
    #: The stored value stands for no data, by the name of the attribute that says so.
    FILL = "fill"
    MISSING_VALUE = "missing_value"
    OUT_OF_RANGE = "out_of_range"
    NAN = "nan"
    NEVER_WRITTEN = "never_written"
    #: The reference may not be read yet.
    BLOCKED = "blocked"
    #: Its entry in the document is faulty.
    FAULTY = "faulty"
    #: Whether there is a reference was not decided.
    UNDECIDED = "undecided"
    #: The bytes could not be had.
    FAILED_READ = "failed_read"
    #: The bytes are there and cannot be decoded.
    FAILED_DECODE = "failed_decode"
    #: The metadata of the array cannot be used.
    UNREADABLE = "unreadable"
    #: What is read is not of the file that was locked.
    STALE = "stale"
    #: Nothing was asked for: only what is known beforehand is told.
    NOT_READ = "not_read"
    #: The key is metadata, belongs to no array, or is not there.
    METADATA = "metadata"
    STRAY = "stray"
    NO_KEY = "no_key"
    #: A finding that no key shows.
    FINDING = "problem"

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        return _WORDS[self]


_WORDS = {
    VerdictKind.VALUE: "Value",
    VerdictKind.READABLE: "Readable",
    VerdictKind.MISSING: "Missing chunk",
    VerdictKind.FILL: "Fill value",
    VerdictKind.MISSING_VALUE: "Missing value",
    VerdictKind.OUT_OF_RANGE: "Out of range",
    VerdictKind.NAN: "Not a number",
    VerdictKind.NEVER_WRITTEN: "Never written",
    VerdictKind.BLOCKED: "Needs permission",
    VerdictKind.FAULTY: "Faulty reference",
    VerdictKind.UNDECIDED: "Not known",
    VerdictKind.FAILED_READ: "Failed to read",
    VerdictKind.FAILED_DECODE: "Failed to decode",
    VerdictKind.UNREADABLE: "Unreadable array",
    VerdictKind.STALE: "Changed since the lock",
    VerdictKind.NOT_READ: "Not read yet",
    VerdictKind.METADATA: "Metadata",
    VerdictKind.STRAY: "Unused key",
    VerdictKind.NO_KEY: "No such key",
    VerdictKind.FINDING: "Problem",
}
#: Names of the lines that say most of a step, the best first.
_TELLING = (
    "Means",
    "Key",
    "Failed",
    "Answer",
    "Refers to",
    "URL",
    "Size",
    "Decodes",
    "Reads as",
    "Contents",
    "Problem",
)


class LinkKind(StrEnum):
    """Where a link of an explanation leads."""

    KEY = "key"
    RULE = "rule"
    TEMPLATE = "template"
    REFERENCE = "reference"
    ATTRIBUTES = "attributes"
    PERMISSIONS = "permissions"
    RETRY = "retry"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class Link:
    """Something that can be done about a step.

    Attributes
    ----------
    target
        Key, number of a rule, name of a template, path of an array, URL; None where the kind says all.
    """

    kind: LinkKind
    title: str
    target: str | int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a step: what it is about, and what is said of it."""

    text: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.text}" if self.name else self.text


@dataclass(frozen=True, slots=True)
class HexBlock:
    """Some bytes to look at.

    Attributes
    ----------
    offset
        Of the first one, in what `title` names.
    marked
        The bytes of the element, as positions in `data`; empty for none.
    """

    title: str
    data: bytes
    offset: int = 0
    marked: range = range(0)

    def rows(self, width: int = HEX_WIDTH) -> list[str]:
        """Return offset, hex (the marked bytes in brackets) and characters, `width` bytes a row."""
        return [self._row(start, width) for start in range(0, len(self.data), width)]

    def _row(self, start: int, width: int) -> str:
        part = self.data[start : start + width]
        hexes = "".join(
            self._before(start + at, is_first=not at) + f"{byte:02x}" for at, byte in enumerate(part)
        )
        end = "]" if start + len(part) - 1 in self.marked else " "
        characters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        return f"{self.offset + start:08x} {hexes}{end}{'   ' * (width - len(part))} {characters}"

    def _before(self, at: int, is_first: bool) -> str:
        """Return what stands before the byte at a position: brackets are opened and closed in each row."""
        if at in self.marked and (is_first or at - 1 not in self.marked):
            return "["
        return "]" if at - 1 in self.marked and at not in self.marked and not is_first else " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step from the question to the value.

    Attributes
    ----------
    name
        For programs: ``element``, ``key``, ``entry``, ``place``, ``answer``, ``bytes``, ``codec``...
    facts
        What the lines say, fit for JSON.
    """

    name: str
    title: str
    state: StepState = StepState.OK
    lines: Sequence[Line] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[Link] = ()
    hexes: Sequence[HexBlock] = ()

    @property
    def summary(self) -> str:
        """The line that says most of it, in a few words; empty where there is none."""
        named = {line.name: line.text for line in reversed(self.lines)}
        telling = next((named[name] for name in _TELLING if name in named), None)
        return (
            telling if telling is not None else ", ".join(f"{line.name} {line.text}" for line in self.lines)
        )

    def text_lines(self) -> list[str]:
        """Return title, lines and bytes as lines of text."""
        mark = {StepState.OK: " ", StepState.WARNING: "!", StepState.FAULT: "x"}[self.state]
        lines = [f"{mark} {self.title}"]
        lines += [f"    {line}" for line in self.lines]
        for block in self.hexes:
            lines += [f"    {block.title}", *(f"      {row}" for row in block.rows())]
        return lines


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(Report):
    """Why an element, or a key, shows as it does.

    Attributes
    ----------
    subject
        What was asked about.
    verdict
        The answer, one sentence without a full stop.
    links
        What can be done about it.
    document
        Of which dataset, as the user named it; empty in the window, where that is seen.
    array, index
        The element that was asked about; empty where it was a key, and in the window.
    """

    subject: str
    verdict: str
    kind: VerdictKind
    state: StepState
    steps: tuple[Step, ...] = ()
    links: tuple[Link, ...] = ()
    document: str = ""
    array: str = ""
    index: tuple[int, ...] = ()

    def step(self, name: str) -> Step | None:
        """Return the first step of a name."""
        return next((step for step in self.steps if step.name == name), None)

    def lines(self) -> Iterator[str]:
        """Yield what `text` says."""
        yield from self.text().splitlines()

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Return all of it as text: the verdict first."""
        blocks = [f"{self.verdict}.", self.subject]
        return "\n\n".join([*blocks, *("\n".join(step.text_lines()) for step in self.steps)])

    def to_json(self) -> dict[str, Any]:
        """Return all of it as a value fit for JSON."""
        return {
            "subject": self.subject,
            "verdict": self.verdict,
            "kind": str(self.kind),
            "state": str(self.state),
            "steps": [
                {
                    "name": step.name,
                    "title": step.title,
                    "state": str(step.state),
                    "lines": [str(line) for line in step.lines],
                    "facts": dict(step.facts),
                }
                for step in self.steps
            ],
        }
