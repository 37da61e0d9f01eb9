"""The four fields of a gen rule: read, parsed and compiled; a row of them evaluated by closures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.evaluate import Compiled, Scope, compile_template
from refbrowser.references.templates.template import Template
from refbrowser.references.templates.templates import TemplateSet

FIELDS = ("key", "url", "offset", "length")

_INTEGER = re.compile(r"[ \t\n\r]*([-+]?[0-9]+)[ \t\n\r]*")


@dataclass(frozen=True, slots=True, eq=False)
class RuleField:
    """One jinja-str of a rule.

    Attributes
    ----------
    text
        As it stands in the document, or None where it is absent or not text.
    compiled
        Its closures, or None where it cannot be parsed.
    faults
        What is wrong whatever the row is.
    """

    name: str
    text: str | None
    template: Template | None
    compiled: Compiled | None
    faults: tuple[RefbrowserError, ...]

    def evaluate(self, values: Iterable[Any]) -> str | int:
        """Return the text, or for offset and length the integer, at the values of the dimensions.

        Raises
        ------
        RefbrowserError
            The field is faulty at these values.
        """
        if self.compiled is None:
            raise self.faults[0]
        compiled = self.compiled
        text = compiled.run([*values, LIMITS.template_steps_entry - compiled.steps])
        if self.name in ("key", "url"):
            return checked_name(self.name, text)
        return parse_integer(self.name, text)


def read_field(name: str, fields: Mapping[str, Any], scope: Scope) -> RuleField | None:
    """Read one field of a rule; None where it is absent and need not be there."""
    if name not in fields:
        if name in ("key", "url"):
            return RuleField(name, None, None, None, (_schema(f"the rule has no {name}"),))
        other = "length" if name == "offset" else "offset"
        if other in fields:
            fault = _schema(f"the rule has {other} without {name}, they are required together")
            return RuleField(name, None, None, None, (fault,))
        return None
    text = fields[name]
    if not isinstance(text, str):
        fault = _schema(f"{name} is not text: {quoted(text)}", 'write it as text: "1000"')
        return RuleField(name, None, None, None, (fault,))
    try:
        template = Template.parse(text)
        compiled = compile_template(template, scope)
    except RefbrowserError as error:
        return RuleField(name, text, None, None, (error,))
    return RuleField(name, text, template, compiled, compiled.problems)


def rule_scope(names: Iterable[str], templates: TemplateSet) -> Scope:
    """Return what names mean in a rule: its dimensions, and the document's templates.

    A name that is both is faulty where it is used.
    """
    slots = {name: slot for slot, name in enumerate(names) if name not in templates.texts}
    faults = {
        name: RefbrowserError(ErrorKind.TEMPLATE, "it is the name of a dimension too")
        for name in names
        if name in templates.texts
    }
    return Scope(slots, templates.scope.templates, {**templates.scope.faults, **faults})


def parse_integer(name: str, text: str) -> int:
    """Return the offset or length that a rendered text stands for: an integer not below 0.

    Raises
    ------
    RefbrowserError
        E_TEMPLATE where it is not, E_BUDGET where it has too many digits.
    """
    match = _INTEGER.fullmatch(text)
    if match is None:
        advice = "use // for whole division, or the filter int" if "." in text else ""
        raise RefbrowserError(
            ErrorKind.TEMPLATE, f"{name} does not render to an integer: {quoted(text)}", Place(), advice
        )
    digits = match[1]
    if len(digits) > LIMITS.json_digits:
        message = f"{name} has more than {LIMITS.json_digits} digits"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place())
    value = int(digits)
    if value < 0:
        raise below_zero(name, value)
    return value


def below_zero(name: str, value: int) -> RefbrowserError:
    """Return the error of an offset or length below 0."""
    return RefbrowserError(ErrorKind.TEMPLATE, f"{name} is below 0: {value}")


def checked_name(name: str, text: str) -> str:
    """Return a key or URL, or raise E_BUDGET where it is too long."""
    limit = LIMITS.key_length if name == "key" else LIMITS.url_length
    if len(text) > limit:
        message = f"the {name} is longer than {limit} characters"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place())
    return text


def placed(error: RefbrowserError, rule: int, name: str, row: int | None) -> RefbrowserError:
    """Return the error with rule, field, row and pointer."""
    pointer = f"/gen/{rule}/{name}"
    place = replace(error.place, rule=rule, field=name, row=row, pointer=pointer)
    return RefbrowserError(error.kind, error.message, place, error.advice)


def _schema(message: str, advice: str = "") -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, message, Place(), advice)
