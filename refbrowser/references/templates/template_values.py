"""What operators do to the values of a template, with every size known before the work is done.

Values are str, int, float, bool, None, list, tuple and dict. Faults are raised as `RefbrowserError` without a
place: the closure that called knows where it stands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates.constant_lists import ConstantList
from refbrowser.references.templates.syntax import (
    NO_CHARACTER,
    check_integer,
    has_surrogates,
    template_error,
    text_size,
)

Number = (int, float)
_SEQUENCES = (list, tuple)
_NAMES = {
    "NoneType": "none",
    "str": "text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
}


class UndefinedValueError(RefbrowserError):
    """A name or an item is not there; the only error that the filter `default` takes away."""


def fault(message: str, advice: str = "") -> RefbrowserError:
    """Return an E_TEMPLATE that the caller raises."""
    return template_error(ErrorKind.TEMPLATE, message, None, advice)


def missing(message: str) -> RefbrowserError:
    """Return the error of a value that is not there: what jinja2 calls undefined."""
    return UndefinedValueError(ErrorKind.TEMPLATE, message)


def too_long(what: str = "a text") -> RefbrowserError:
    """Return the E_BUDGET of a text or list that would be too long."""
    message = f"{what} would be longer than {LIMITS.template_string} bytes"
    return template_error(ErrorKind.BUDGET, message)


def kind_of(value: object) -> str:
    """Return the kind of a value in words for a message."""
    name = type(value).__name__
    return _NAMES.get(name, f"a {name}")


def weight(value: object) -> int:
    """Return about how many bytes of text a value stands for, counting no further than the limit."""
    total = 0
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            total += text_size(item) + 2
        elif isinstance(item, ConstantList):
            total += item.size
        elif isinstance(item, _SEQUENCES):
            total += 2
            pending.extend(item)
        elif isinstance(item, dict):
            total += 2
            pending.extend(item)
            pending.extend(item.values())
        else:
            total += 8
        if total + len(pending) > 4 * LIMITS.template_string:
            break
    return total + len(pending)


def checked_text(text: str) -> str:
    """Return `text`, or raise E_BUDGET when it is longer than one expression may make.

    E_TEMPLATE where it holds half of a surrogate pair, which ``'%c'`` can make.
    """
    if len(text) > LIMITS.template_string or text_size(text) > LIMITS.template_string:
        raise too_long()
    if has_surrogates(text):
        raise fault(NO_CHARACTER)
    return text


def checked_container(value: Any) -> Any:
    """Return a list, tuple or dict, or raise E_BUDGET when it stands for too much."""
    if weight(value) > LIMITS.template_string:
        raise too_long("a list")
    return value


def to_text(value: object) -> str:
    """Return a value as a template prints it (`str`)."""
    if isinstance(value, str):
        return value
    if isinstance(value, (*_SEQUENCES, dict)):
        return checked_text(str(checked_container(value)))
    return str(value)


def add(left: Any, right: Any) -> Any:
    """Add numbers, join two texts or two lists."""
    if isinstance(left, Number) and isinstance(right, Number):
        return _number(operator.add, left, right)
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > LIMITS.template_string:
            raise too_long()
        return checked_text(left + right)
    if (isinstance(left, list) and isinstance(right, list)) or (
        isinstance(left, tuple) and isinstance(right, tuple)
    ):
        if weight(left) + weight(right) > LIMITS.template_string:
            raise too_long("a list")
        return operator.add(left, right)
    raise _mismatch("add", left, right)


def subtract(left: Any, right: Any) -> Any:
    """Subtract numbers."""
    return _arithmetic("subtract", operator.sub, left, right)


def multiply(left: Any, right: Any) -> Any:
    """Multiply numbers, or repeat a text or a list."""
    if isinstance(left, int) and isinstance(right, (str, *_SEQUENCES)):
        left, right = right, left
    if isinstance(left, (str, *_SEQUENCES)) and isinstance(right, int):
        size = text_size(left) if isinstance(left, str) else weight(left)
        # An empty text is 0 long however often it is repeated, but Python counts in 64 bits.
        if max(size, 1) * max(right, 0) > LIMITS.template_string:
            raise too_long("a text" if isinstance(left, str) else "a list")
        return left * max(right, 0)
    return _arithmetic("multiply", operator.mul, left, right)


def divide(left: Any, right: Any) -> Any:
    """Divide numbers; the result is a float, as in Python."""
    return _arithmetic("divide", operator.truediv, left, right)


def floor_divide(left: Any, right: Any) -> Any:
    """Divide numbers and round down."""
    return _arithmetic("divide", operator.floordiv, left, right)


def modulo(left: Any, right: Any) -> Any:
    """Take the remainder of numbers; `%` on a text is formatting (see `formatting.percent`)."""
    return _arithmetic("divide", operator.mod, left, right)


def power(left: Any, right: Any) -> Any:
    """Raise a number to a power; the bits of an integer result are bounded first."""
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        bits = (abs(left).bit_length() - 1) * right
        if bits > LIMITS.template_integer_bits:
            message = f"the integer has more than {LIMITS.template_integer_bits} bits"
            raise template_error(ErrorKind.BUDGET, message)
    result = _arithmetic("raise to a power", operator.pow, left, right)
    if isinstance(result, complex):
        raise fault("a negative number has no real power that is not whole")
    return result


def negate(value: Any) -> Any:
    """Return minus a number."""
    if not isinstance(value, Number):
        raise fault(f"minus needs a number, not {kind_of(value)}")
    return check_integer(-value) if isinstance(value, int) else -value


def keep_sign(value: Any) -> Any:
    """Return plus a number."""
    if not isinstance(value, Number):
        raise fault(f"plus needs a number, not {kind_of(value)}")
    return +value


def contains(item: Any, container: Any) -> bool:
    """Return whether `item` is in a text, list, tuple or dict."""
    if isinstance(container, str):
        if not isinstance(item, str):
            raise fault(f"only a text can be in a text, not {kind_of(item)}")
        return item in container
    if isinstance(container, dict):
        return _hashed(item) in container
    if isinstance(container, _SEQUENCES):
        return item in container
    raise fault(f"nothing can be in {kind_of(container)}")


def subscript(value: Any, key: Any) -> Any:
    """Return an item of a text, list or tuple by number, or of a dict by key."""
    if isinstance(value, dict):
        try:
            return value[_hashed(key)]
        except KeyError:
            raise missing("the subscript is not a key of the dict") from None
    if not isinstance(value, (str, *_SEQUENCES)):
        raise fault(f"{kind_of(value)} has no items")
    if not isinstance(key, int):
        raise fault(f"the subscript of {kind_of(value)} is an integer, not {kind_of(key)}")
    try:
        return value[key]
    except IndexError:
        raise missing(f"subscript {key} is out of range (there are {len(value)} items)") from None


def cut(value: Any, start: Any, stop: Any, step: Any) -> Any:
    """Return a slice of a text, list or tuple."""
    if not isinstance(value, (str, *_SEQUENCES)):
        raise fault(f"{kind_of(value)} cannot be sliced")
    for end in (start, stop, step):
        if not isinstance(end, (int, type(None))):
            raise fault(f"the ends and the step of a slice are integers, not {kind_of(end)}")
    if step == 0:
        raise fault("the step of a slice is 0")
    where = slice(start, stop, step)
    # Only lists of constants are longer than what an expression may make.
    if 2 * len(range(*where.indices(len(value)))) > LIMITS.template_string:
        raise too_long("a list")
    return value[where]


def _hashed(key: Any) -> Any:
    if not isinstance(key, (str, int, float, type(None))):
        raise fault(f"{kind_of(key)} cannot be a key")
    return key


def _ordered(name: str, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def run(left: Any, right: Any) -> bool:
        try:
            return bool(compare(left, right))
        except TypeError:
            raise _mismatch("compare", left, right) from None

    run.__name__ = name
    return run


#: jinja2's names of comparisons.
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": _ordered("lt", operator.lt),
    "lteq": _ordered("lteq", operator.le),
    "gt": _ordered("gt", operator.gt),
    "gteq": _ordered("gteq", operator.ge),
    "in": contains,
    "notin": lambda item, container: not contains(item, container),
}


def _arithmetic(verb: str, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, Number) and isinstance(right, Number):
        return _number(operation, left, right)
    raise _mismatch(verb, left, right)


def _number(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    try:
        result = operation(left, right)
    except ZeroDivisionError:
        raise fault("division by zero") from None
    except OverflowError:
        raise fault("the number is too large") from None
    return check_integer(result) if isinstance(result, int) else result


def _mismatch(verb: str, left: Any, right: Any) -> RefbrowserError:
    return fault(f"cannot {verb} {kind_of(left)} and {kind_of(right)}")
