"""The safety report of a file: functions that it names, pickles, and what lies outside of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.functions import (
    AllowList,
    Expression,
    ExpressionKind,
    SchemaDocument,
    Standing,
    Verdict,
    canonical_name,
    judge,
)
from refbrowser.wings.awkward0.layouts.pickles import globals_of, plain_value
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array

_VIRTUAL = "VirtualArray"
#: Arguments of a virtual array that its generator is given.
_GIVEN = ("args", "kwargs")


@dataclass(frozen=True, slots=True)
class SafetySpot:
    """Where something is named.

    Attributes
    ----------
    array
        Path of the array.
    number
        Of the expression in its schema.
    """

    array: str
    number: int
    pointer: str


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """A function that the file names, once for each spelling; `spot` is the first of `count`."""

    verdict: Verdict
    spot: SafetySpot
    count: int = 1


@dataclass(frozen=True, slots=True)
class PickleUse:
    """A ``python`` expression.

    Attributes
    ----------
    value
        What it holds, where that is plain.
    names
        What it names of modules: ``posix.system``.
    error
        Why it is refused; None where it holds plain values only.
    """

    spot: SafetySpot
    value: Any = None
    names: tuple[str, ...] = ()
    error: RefbrowserError | None = None


@dataclass(frozen=True, slots=True)
class TargetUse:
    """Text among the arguments of a function that is not run: a file, a URL, or a command.

    Attributes
    ----------
    function
        What would have been given it.
    """

    text: str
    function: str
    spot: SafetySpot
    count: int = 1


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """What a file names; nothing of it was run, imported or opened.

    Attributes
    ----------
    left_out
        Uses that are not listed, because there are too many.
    """

    functions: tuple[FunctionUse, ...] = ()
    pickles: tuple[PickleUse, ...] = ()
    targets: tuple[TargetUse, ...] = ()
    left_out: int = 0

    @property
    def refused(self) -> int:
        """How many functions and pickles were refused."""
        functions = sum(use.verdict.standing is Standing.REFUSED for use in self.functions)
        return functions + sum(use.error is not None for use in self.pickles)


def report(
    arrays: Iterable[Awkward0Array],
    allowed: AllowList | None = None,
    check: Callable[[], object] = lambda: None,
) -> SafetyReport:
    """Return what the schemas of a file name.

    Parameters
    ----------
    allowed
        What the user allowed.
    check
        Called between arrays; raises where nobody waits any more.
    """
    gathering = _Gathering(allowed or AllowList())
    for array in arrays:
        check()
        if array.schema is not None:
            gathering.add(array.path, array.schema)
    return SafetyReport(
        tuple(gathering.functions.values()),
        tuple(gathering.pickles),
        tuple(gathering.targets.values()),
        gathering.left_out,
    )


@dataclass(slots=True)
class _Gathering:
    allowed: AllowList
    functions: dict[str, FunctionUse] = field(default_factory=dict)
    pickles: list[PickleUse] = field(default_factory=list)
    targets: dict[tuple[str, str], TargetUse] = field(default_factory=dict)
    left_out: int = 0

    def add(self, path: str, schema: SchemaDocument) -> None:
        """Add what a schema names."""
        for each in schema.expressions:
            spot = SafetySpot(path, each.number, each.pointer)
            if each.kind in (ExpressionKind.CALL, ExpressionKind.FUNCTION):
                self._add_function(each, spot)
                self._add_targets(schema, each, spot)
            elif each.kind is ExpressionKind.PYTHON:
                self._add_pickle(each.value, spot)

    def _has_room(self, count: int) -> bool:
        if count < AWKWARD_LIMITS.awkward_findings:
            return True
        self.left_out += 1
        return False

    def _add_function(self, expression: Expression, spot: SafetySpot) -> None:
        verdict = judge(expression.value, self.allowed)
        known = self.functions.get(verdict.name)
        if known is not None:
            self.functions[verdict.name] = replace(known, count=known.count + 1)
        elif self._has_room(len(self.functions)):
            self.functions[verdict.name] = FunctionUse(verdict, spot)

    def _add_pickle(self, text: str, spot: SafetySpot) -> None:
        if not self._has_room(len(self.pickles)):
            return
        try:
            self.pickles.append(PickleUse(spot, plain_value(text)))
        except RefbrowserError as error:
            self.pickles.append(PickleUse(spot, names=globals_of(text), error=error))

    def _add_targets(self, schema: SchemaDocument, call: Expression, spot: SafetySpot) -> None:
        if call.kind is not ExpressionKind.CALL:
            return
        function, given = self._refused(schema, call)
        for text in _texts_below(schema, given):
            key = text[: LIMITS.url_length], function
            known = self.targets.get(key)
            if known is not None:
                self.targets[key] = replace(known, count=known.count + 1)
            elif self._has_room(len(self.targets)):
                self.targets[key] = TargetUse(*key, spot)

    def _refused(self, schema: SchemaDocument, call: Expression) -> tuple[str, list[int]]:
        """Return the function that a call does not run, and the expressions that it would be given."""
        arguments = [*call.children, *(number for _, number in call.named)]
        verdict = judge(call.value, self.allowed)
        if verdict.standing is Standing.REFUSED:
            return verdict.name, arguments
        if canonical_name(call.value) != _VIRTUAL:
            return "", []
        named = dict(call.named)
        generator = call.children[0] if call.children else named.get("generator")
        if generator is None or schema.expressions[generator].kind is not ExpressionKind.FUNCTION:
            return "", []
        inner = judge(schema.expressions[generator].value, self.allowed)
        if inner.standing is not Standing.REFUSED:
            return "", []
        return inner.name, [*call.children[1:3], *(named[name] for name in _GIVEN if name in named)]


def _texts_below(schema: SchemaDocument, numbers: Iterable[int]) -> Iterator[str]:
    """Yield the texts that stand in expressions, and those below them, as plain values."""
    pending = list(numbers)[::-1]
    while pending:
        each = schema.expressions[pending.pop()]
        if each.kind is ExpressionKind.CALL:
            # Its own arguments are told of where it stands.
            continue
        if each.kind is ExpressionKind.JSON:
            yield from _texts_in(each.value)
        pending.extend(reversed([*each.children, *(number for _, number in each.named)]))


def _texts_in(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            pending.extend(reversed(item))
