"""What a dataset should hold, as plain values: regular times of variables and files, and rules of chunks.

In words: ``every month from 2015 to 2024-12``, ``every 6 hours from 2020-01 until now - 5 days of t2m,msl``,
``every day from 2015 in data/t2m_{time:%Y-%m-%d}.nc``; shorter ``time=2015-01:2024-12:month``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from refbrowser.errors import ErrorKind, RefbrowserError, quoted, usage_error
from refbrowser.limits import LIMITS
from refbrowser.model.calendars import DAY
from refbrowser.model.time_axis import AxisWords, TimeStep
from refbrowser.references.expectations.file_pattern import FilePattern

#: The dimension that is meant where none is named.
TIME = "time"
_DATE = r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d)?)?Z?)?)?)?"
_EVERY = re.compile(
    rf"(?:(?P<name>[^\s=]+) ?= ?)?every (?P<step>\S+(?: [A-Za-z]+)??)(?: from (?P<begin>{_DATE}))?"
    rf"(?: (?:to|until|till) (?P<end>{_DATE}|now))?(?: ?(?:-|late) ?(?P<late>\d+ ?[A-Za-z]+|P\w+))?",
    re.ASCII,
)
_SHORT = re.compile(rf"[^\s=]+ ?= ?(?:{_DATE})?:(?:{_DATE}|now)?:[^\s:]+(?: [A-Za-z]+)??", re.ASCII)
_REST = re.compile(r"(?: of (?P<variables>\S+))?(?: in (?P<files>\S.*))?")
_EXAMPLE = "for example every month from 2015 to 2024-12, or time=2015-01:2024-12:month"
#: A month, where something is late by months.
_LONGEST_MONTH = 31 * DAY


@dataclass(frozen=True, slots=True)
class ExpectedAxis:
    """Times that should be there.

    Attributes
    ----------
    words
        The axis: its name, and where it begins, ends and goes on; without an end it goes on until now.
    late
        How long after its end a period may be missing, as ``10d``; empty for not at all.
    variables
        Paths or names of the arrays that should have all of them; empty for all that have the dimension.
    files
        The pattern of the names of their files; empty where no files are expected.
    """

    words: AxisWords
    late: str = ""
    variables: tuple[str, ...] = ()
    files: str = ""

    @classmethod
    def parse(cls, text: str) -> ExpectedAxis:
        """Return what words say.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: they say nothing, or no times.
        """
        text = " ".join(text.split())
        every, short = _EVERY.match(text), _SHORT.match(text)
        found = every or short
        # The shortest step that leaves words that are understood: `2 weeks of t2m` is one of 2 weeks.
        for match in _matches(found, text):
            rest = _REST.fullmatch(text[match.end() :])
            if rest is None:
                continue
            axis = _of_every(match) if every else AxisWords.parse(_plain(match[0]))
            late = match["late"] or "" if every else ""
            variables = tuple(each for each in (rest["variables"] or "").split(",") if each)
            return cls(axis, late, variables, rest["files"] or "").checked()
        raise usage_error(f"{quoted(text)} does not say which times are expected", _EXAMPLE)

    @property
    def late_length(self) -> int:
        """How long after its end a period may be missing, in microseconds."""
        if not self.late:
            return 0
        step = TimeStep.parse(self.late)
        return step.length or step.months * _LONGEST_MONTH

    @property
    def pattern(self) -> FilePattern | None:
        """The names of the files; None where no files are expected."""
        return FilePattern.parse(self.files, self.words.name) if self.files else None

    def checked(self) -> ExpectedAxis:
        """Return it where all of it makes sense; raises as `parse` does."""
        _ = self.late_length, self.pattern
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it; what is not said is left out."""
        words = self.words
        said = {
            "name": words.name, "from": words.begin, "to": words.end, "step": words.step.text,
            "late": self.late, "variables": list(self.variables), "files": self.files,
        }  # fmt: skip
        return {name: value for name, value in said.items() if value}

    @property
    def text(self) -> str:
        """It in words, which `parse` understands."""
        words = self.words
        name = "" if words.name == TIME else f"{words.name}="
        parts = [f"{name}every {words.step.text}"]
        parts += [f"from {words.begin}"] if words.begin else []
        parts += [f"to {words.end}"] if words.end else []
        parts += [f"late {self.late}"] if self.late else []
        parts += [f"of {','.join(self.variables)}"] if self.variables else []
        parts += [f"in {self.files}"] if self.files else []
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What should be there.

    Attributes
    ----------
    axes
        Times that should be there.
    rules
        Chunks that should be there: a reference document, as JSON has it, of which keys alone count.
    """

    axes: tuple[ExpectedAxis, ...] = ()
    rules: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        return bool(self.axes) or self.rules is not None

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Expectation:
        """Return what some words say; raises as `ExpectedAxis.parse` does."""
        return cls(tuple(map(ExpectedAxis.parse, texts)))

    def with_late(self, late: str) -> Expectation:
        """Return it with another time that all periods may be late; raises as `ExpectedAxis.parse` does."""
        return replace(self, axes=tuple(replace(axis, late=late).checked() for axis in self.axes))

    def to_json(self) -> dict[str, Any]:
        """Return it as the member `expect` of a file has it."""
        said: dict[str, Any] = {"axes": [axis.to_json() for axis in self.axes]} if self.axes else {}
        return said if self.rules is None else {**said, "rules": self.rules}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Expectation:
        """Return what the member `expect` of a file says.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: it is of another form; `E_BUDGET`: it says too much.
        """
        axes, rules = said.get("axes", []), said.get("rules")
        unknown = next((name for name in said if name not in ("axes", "rules")), None)
        if unknown is not None:
            _refuse(f"the member {quoted(unknown)} of 'expect' is not known")
        if not isinstance(axes, list) or not (rules is None or isinstance(rules, dict)):
            _refuse("'axes' is not a list" if not isinstance(axes, list) else "'rules' is not an object")
        if len(axes) > LIMITS.expect_axes:
            message = f"it expects {len(axes)} axes, more than {LIMITS.expect_axes} (expect_axes)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        return cls(tuple(map(_axis_of, axes)), rules)


def _matches(found: re.Match[str] | None, text: str) -> Iterable[re.Match[str]]:
    """Yield a match and, as steps are of one word or two, that of all of the text before what follows."""
    if found is None:
        return
    yield found
    for mark in (" of ", " in ", ""):
        head = text.partition(mark)[0] if mark else text
        longer = found.re.fullmatch(head)
        if longer is not None:
            yield longer


def _of_every(match: re.Match[str]) -> AxisWords:
    end = "" if match["end"] == "now" else match["end"] or ""
    return AxisWords(match["name"] or TIME, match["begin"] or "", end, TimeStep.parse(match["step"]))


def _plain(text: str) -> str:
    """Return an axis as `AxisWords` has it: an end that is now is left out."""
    return text.replace(":now:", "::").replace(" =", "=").replace("= ", "=")


def _axis_of(said: Any) -> ExpectedAxis:
    if isinstance(said, str):
        return ExpectedAxis.parse(said)
    if not isinstance(said, dict):
        _refuse("an axis is neither an object nor text")
    texts = {name: said.get(name, "") for name in ("name", "from", "to", "step", "late", "files")}
    variables = said.get("variables", [])
    unknown = next((name for name in said if name not in texts and name != "variables"), None)
    if unknown is not None:
        _refuse(f"the member {quoted(unknown)} of an axis is not known")
    wrong = next((name for name, value in texts.items() if not isinstance(value, str)), None)
    if wrong is not None or not isinstance(variables, list) or not all(isinstance(v, str) for v in variables):
        _refuse(f"the member {quoted(wrong or 'variables')} of an axis is not text")
    try:
        words = AxisWords.parse(f"{texts['name'] or TIME}={texts['from']}:{texts['to']}:{texts['step']}")
        return ExpectedAxis(words, texts["late"], tuple(variables), texts["files"]).checked()
    except RefbrowserError as error:
        raise RefbrowserError(ErrorKind.SCHEMA, error.message, advice=error.advice) from None


def _refuse(message: str) -> NoReturn:
    raise RefbrowserError(ErrorKind.SCHEMA, message)
