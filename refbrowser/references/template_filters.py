"""The filters that templates may use: those of jinja2 whose result has a size known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.formatting import percent
from refbrowser.references.template_syntax import check_integer, template_error
from refbrowser.references.template_values import Number, checked_text, fault, kind_of, to_text, too_long

_MISSING = object()


@dataclass(frozen=True, slots=True)
class TemplateFilter:
    """One filter: what it does, its parameters with defaults (in order), and a line for completion."""

    run: Callable[..., Any]
    parameters: tuple[tuple[str, Any], ...] = ()
    title: str = ""

    def bind(self, name: str, positional: list[Any], keywords: dict[str, Any]) -> list[Any]:
        """Return one argument per parameter.

        `positional` and `keywords` may hold anything (values, or closures that give them); parameters without
        an argument get their default as it stands in the table.
        """
        if len(positional) > len(self.parameters):
            raise fault(f"filter {quoted(name)} takes at most {len(self.parameters)} arguments")
        given = dict(zip((parameter for parameter, _ in self.parameters), positional, strict=False))
        for key, value in keywords.items():
            if key in given or key not in dict(self.parameters):
                raise fault(f"filter {quoted(name)} has no argument {quoted(key)}, or it is given twice")
            given[key] = value
        bound = [given.get(parameter, default) for parameter, default in self.parameters]
        if any(value is _MISSING for value in bound):
            raise fault(f"filter {quoted(name)} needs more arguments")
        return bound


def _abs(value: Any) -> Any:
    if not isinstance(value, Number):
        raise fault(f"filter 'abs' needs a number, not {kind_of(value)}")
    return abs(value)


def _int(value: Any, default: Any, base: Any) -> Any:
    if isinstance(value, str) and len(value) > LIMITS.template_padding:
        message = f"filter 'int' takes texts of at most {LIMITS.template_padding} characters"
        raise template_error(ErrorKind.BUDGET, message)
    try:
        result = int(value, base) if isinstance(value, str) else int(value)
    except (TypeError, ValueError):
        try:
            result = int(float(value))
        except (TypeError, ValueError, OverflowError):
            return default
    except OverflowError:
        raise fault("infinity is not an integer") from None
    return check_integer(result)


def _float(value: Any, default: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return default
    except OverflowError:
        raise fault("the number is too large") from None


def _length(value: Any) -> int:
    if not isinstance(value, (str, list, tuple, dict)):
        raise fault(f"filter 'length' needs a text or a list, not {kind_of(value)}")
    return len(value)


def _upper(value: Any) -> str:
    return checked_text(to_text(value).upper())


def _lower(value: Any) -> str:
    return checked_text(to_text(value).lower())


def _replace(value: Any, old: Any, new: Any, count: Any) -> str:
    text, old, new = to_text(value), to_text(old), to_text(new)
    if not isinstance(count, (int, type(None))):
        raise fault(f"the count of filter 'replace' is an integer, not {kind_of(count)}")
    count = -1 if count is None else count
    found = text.count(old)
    times = found if count < 0 else min(found, count)
    if len(text) + times * (len(new) - len(old)) > LIMITS.template_string:
        raise too_long()
    return checked_text(text.replace(old, new, count))


def _join(value: Any, separator: Any) -> str:
    if not isinstance(value, (str, list, tuple, dict)):
        raise fault(f"filter 'join' needs a list, not {kind_of(value)}")
    parts = [to_text(item) for item in value]
    separator = to_text(separator)
    if sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0) > LIMITS.template_string:
        raise too_long()
    return checked_text(separator.join(parts))


def _round(value: Any, precision: Any, method: Any) -> Any:
    if not isinstance(value, Number) or type(precision) is not int:
        raise fault("filter 'round' needs a number, and an integer precision")
    if abs(precision) > LIMITS.template_precision:
        message = f"a precision of {precision} is more than {LIMITS.template_precision} digits"
        raise template_error(ErrorKind.BUDGET, message)
    if method not in ("common", "ceil", "floor"):
        raise fault("the method of filter 'round' is 'common', 'ceil' or 'floor'")
    try:
        if method == "common":
            return round(value, precision)
        turn = math.ceil if method == "ceil" else math.floor
        return turn(value * 10**precision) / 10**precision
    except (OverflowError, ValueError, ZeroDivisionError):
        raise fault("the number cannot be rounded") from None


def format_filter(value: Any, positional: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Return ``value|format(...)``: as ``%`` with all arguments in a tuple or a mapping."""
    if positional and keywords:
        raise fault("filter 'format' takes positional or keyword arguments, not both")
    return percent(to_text(value), keywords or positional)


#: Filters by name. `format` and `default` have their own nodes in the evaluator.
FILTERS: dict[str, TemplateFilter] = {
    "abs": TemplateFilter(_abs, (), "absolute value"),
    "int": TemplateFilter(_int, (("default", 0), ("base", 10)), "as an integer"),
    "float": TemplateFilter(_float, (("default", 0.0),), "as a number"),
    "string": TemplateFilter(to_text, (), "as text"),
    "length": TemplateFilter(_length, (), "number of items or characters"),
    "upper": TemplateFilter(_upper, (), "in capitals"),
    "lower": TemplateFilter(_lower, (), "in small letters"),
    "replace": TemplateFilter(
        _replace, (("old", _MISSING), ("new", _MISSING), ("count", None)), "one text in place of another"
    ),
    "join": TemplateFilter(_join, (("d", ""),), "items with a text between"),
    "round": TemplateFilter(_round, (("precision", 0), ("method", "common")), "rounded"),
    "default": TemplateFilter(
        lambda value, other, boolean: other if boolean and not value else value,
        (("default_value", ""), ("boolean", False)),
        "another value where the name is not defined",
    ),
    "format": TemplateFilter(format_filter, (), "values put into '%03d'"),
}
