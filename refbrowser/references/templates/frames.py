"""Frames of template closures, and the small closures that all others are made of.

A frame is a list: the values of the names in order of their slots and, last, the evaluation steps that are
left. What texts and lists cost is taken from it as they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates import template_values as values
from refbrowser.references.templates.template_syntax import Span, template_error

Frame = list[Any]
Closure = Callable[[Frame], Any]

#: What Python's own operators raise; those that are expected have better messages where they arise.
_REFUSALS = (ArithmeticError, LookupError, TypeError, ValueError)
#: Characters of a text that count as one step.
STEP_SIZE = 64


class UndefinedNameError(values.UndefinedValueError):
    """A name has no value."""


def spend(frame: Frame, size: int) -> None:
    """Take the steps for a text of `size` characters from the frame."""
    frame[-1] -= size // STEP_SIZE
    if frame[-1] < 0:
        raise too_many_steps(None)


def too_many_steps(span: Span | None) -> RefbrowserError:
    """Return the E_BUDGET of an entry that takes too long."""
    message = f"one entry takes more than {LIMITS.template_steps_entry} evaluation steps"
    return template_error(ErrorKind.BUDGET, message, span)


def at(error: RefbrowserError, span: Span) -> RefbrowserError:
    """Return the error with a span where it has none yet."""
    if error.place.span is not None:
        return error
    place = replace(error.place, span=span)
    return type(error)(error.kind, error.message, place, error.advice)


def raiser(error: RefbrowserError) -> Closure:
    """Return a closure that raises the error."""

    def fail(frame: Frame) -> Any:
        # A fresh error each time: an exception that is raised again would collect tracebacks.
        raise type(error)(error.kind, error.message, error.place, error.advice)

    return fail


def constant(value: Any) -> Closure:
    """Return a closure that gives a value."""
    return lambda frame: value


def joined(parts: list[str | Closure]) -> Callable[[Frame], str]:
    """Return a closure that gives texts and what closures give, one after the other."""
    if not parts:
        return lambda frame: ""
    closures = [constant(part) if isinstance(part, str) else part for part in parts]
    if len(closures) == 1:
        return closures[0]
    return lambda frame: "".join([closure(frame) for closure in closures])


def guarded(run: Callable[..., Any], span: Span, *arguments: Any) -> Any:
    """Call `run`; an error gets the span where it has none."""
    try:
        return run(*arguments)
    except RefbrowserError as error:
        raise at(error, span) from None
    except _REFUSALS as error:
        raise at(values.fault(f"not possible: {quoted(error)[1:-1]}"), span) from None


def charged(frame: Frame, result: Any, *given: Any) -> Any:
    """Take the steps that a text which was made, and what it was made of, are worth."""
    size = (len(result) if result.__class__ is str else 0) + _size(given)
    if size > STEP_SIZE:
        spend(frame, size)
    return result


def _size(given: tuple[Any, ...]) -> int:
    size = 0
    for value in given:
        if value.__class__ is str:
            size += len(value)
        elif value.__class__ is not int:
            size += values.weight(value)
    return size


def sized(frame: Frame, made: Any, span: Span) -> Any:
    """Return a list, tuple or dict that was made, or raise E_BUDGET; takes its steps."""
    size = values.weight(made)
    if size > LIMITS.template_string:
        raise at(values.too_long("a list"), span)
    spend(frame, size)
    return made


def apply(frame: Frame, run: Callable[[Any, Any], Any], left: Any, right: Any, span: Span) -> Any:
    """Return ``run(left, right)`` and take the steps that its texts are worth."""
    size = _size((left, right))
    if size > STEP_SIZE:
        spend(frame, size)
    return charged(frame, guarded(run, span, left, right))


def binary(run: Callable[[Any, Any], Any], left: Closure, right: Closure, span: Span) -> Closure:
    """Return the closure of an operator with two operands."""
    return lambda frame: apply(frame, run, left(frame), right(frame), span)


def unary(run: Callable[[Any], Any], operand: Closure, span: Span) -> Closure:
    """Return the closure of an operator with one operand."""
    return lambda frame: guarded(run, span, operand(frame))
