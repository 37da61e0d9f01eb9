"""The filters that templates may use, those whose result has a size known beforehand; and formatting.

Directives of ``'%03d' % i`` and ``'{:03d}'.format(i)`` are read here: widths and precisions are bounded then,
and the size of the result before it is made. `str.format` is never applied to a text of a document.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from refbrowser.errors import ErrorKind, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.constant_lists import ConstantList
from refbrowser.references.templates.syntax import check_integer, template_error, text_size
from refbrowser.references.templates.template_values import (
    Number,
    checked_container,
    checked_text,
    fault,
    kind_of,
    missing,
    to_text,
    too_long,
)

_DIRECTIVE = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d{1,9})?(?:\.(?P<precision>\d{0,9}))?"
    r"(?P<type>[diouxXeEfFgGcrsa%])"
)
_FIELD = re.compile(
    r"(?P<index>\d{0,9})(?::(?:(?P<fill>[^{}])?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<zero>0)?"
    r"(?P<width>\d{0,9})(?:\.(?P<precision>\d{1,9}))?(?P<type>[bcdoxXeEfFgGs%]?))?"
)
#: More than any number needs besides its width and precision: 1.8e308 in full, or 128 bits in base 2.
_NUMBER_SIZE = 400
#: Longer formats are read each time: what is kept of them would be large.
_SHORT = 1024


@dataclass(frozen=True, slots=True)
class Directive:
    """One ``%`` directive: the text before it, the mapping key, flags, width, precision and type letter."""

    before: str
    key: str | None
    flags: str
    width: int
    precision: int | None
    letter: str


@dataclass(frozen=True, slots=True)
class PercentFormat:
    """A ``%`` format read and bounded; `after` is the text behind the last directive."""

    directives: tuple[Directive, ...]
    after: str


def parse_percent(text: str) -> PercentFormat:
    """Read the directives of a ``%`` format; those of short formats are kept.

    Raises
    ------
    RefbrowserError
        E_TEMPLATE for a directive that is not plain, E_BUDGET for a width or precision above the limit.
    """
    return _percent_short(text) if len(text) <= _SHORT else _parse_percent(text)


def _parse_percent(text: str) -> PercentFormat:
    directives = []
    position = 0
    while (found := text.find("%", position)) >= 0:
        match = _DIRECTIVE.match(text, found)
        if match is None:
            raise fault(f"not a plain format directive: {quoted(text[found : found + 12])}")
        before = text[position:found]
        position = match.end()
        width = bounded_width(match["width"])
        precision = _bounded_precision(match["precision"])
        directives.append(Directive(before, match["key"], match["flags"], width, precision, match["type"]))
    return PercentFormat(tuple(directives), text[position:])


_percent_short = lru_cache(maxsize=256)(_parse_percent)


def percent(text: str, arguments: Any) -> str:
    """Return ``text % arguments`` for a tuple, a mapping or one value."""
    form = parse_percent(text)
    values = list(arguments) if isinstance(arguments, tuple) else [arguments]
    size = len(text) * 4
    position = 0
    for directive in form.directives:
        if directive.letter == "%":
            size += 1
            continue
        if directive.key is not None:
            value = _named(arguments, directive.key)
        else:
            value = values[position] if position < len(values) else None
            position += 1
        size += max(directive.width, _text_size(value, directive))
        # Looked at each time: one argument may stand for many directives.
        if size > 4 * LIMITS.template_string:
            raise too_long()
    try:
        return checked_text(text % arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise fault(f"cannot format: {quoted(error)[1:-1]}") from None
    except KeyError:
        raise fault("cannot format: a key is not given") from None


def _named(arguments: Any, key: str) -> Any:
    if not isinstance(arguments, dict):
        raise fault("the format needs keyword arguments")
    if key not in arguments:
        raise fault(f"the format needs the argument {quoted(key)}")
    return arguments[key]


def _text_size(value: Any, directive: Directive) -> int:
    if directive.letter in "sra" and isinstance(value, (str, list, tuple, dict)):
        return text_size(to_text(value)) * (1 if directive.letter == "s" else 10)
    return _NUMBER_SIZE


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a brace format: text before it, the position of its argument, and its format."""

    before: str
    index: int
    spec: str
    width: int


def parse_braces(text: str) -> tuple[tuple[Field, ...], str]:
    """Read the fields of a ``'{:03d}'.format(...)`` text, and the text after the last; short ones are kept.

    Raises
    ------
    RefbrowserError
        E_UNSAFE for attributes and subscripts, E_TEMPLATE for what is not index, width, fill, sign, precision
        and type, E_BUDGET for a width or precision above the limit.
    """
    return _braces_short(text) if len(text) <= _SHORT else _parse_braces(text)


def _parse_braces(text: str) -> tuple[tuple[Field, ...], str]:
    fields: list[Field] = []
    literal: list[str] = []
    position = automatic = 0
    numbering: bool | None = None
    while position < len(text):
        character = text[position]
        if character not in "{}":
            stop = min((at for at in (text.find(c, position) for c in "{}") if at >= 0), default=len(text))
            literal.append(text[position:stop])
            position = stop
        elif text[position : position + 2] == character * 2:
            literal.append(character)
            position += 2
        else:
            match = _brace_field(text, position)
            by_number = bool(match["index"])
            if numbering is not None and numbering != by_number:
                raise fault("fields with and without numbers are mixed in one format")
            numbering = by_number
            index = int(match["index"]) if by_number else automatic
            automatic += not by_number
            spec = match.group().partition(":")[2]
            width = bounded_width(match["width"])
            _bounded_precision(match["precision"])
            fields.append(Field("".join(literal), index, spec, width))
            literal.clear()
            position = match.end() + 1
    return tuple(fields), "".join(literal)


_braces_short = lru_cache(maxsize=256)(_parse_braces)


def _brace_field(text: str, position: int) -> re.Match[str]:
    if text[position] == "}":
        raise fault("a format has a single '}'")
    match = _FIELD.match(text, position + 1)
    if match is not None and text[match.end() : match.end() + 1] == "}":
        return match
    name = re.match(r"[^{}:!]*", text[position + 1 :])
    if name is not None and re.search(r"[.\[]", name.group()):
        raise template_error(ErrorKind.UNSAFE, "a format may not look up attributes or items")
    raise fault(
        f"not a plain format field: {quoted(text[position : position + 16])}",
        "known are index, fill, sign, width, precision and type: {:03d}",
    )


def braces(text: str, arguments: tuple[Any, ...]) -> str:
    """Return what ``text.format(*arguments)`` gives, for the fields that `parse_braces` knows."""
    fields, after = parse_braces(text)
    parts = []
    for field in fields:
        if field.index >= len(arguments):
            raise fault(f"the format needs at least {field.index + 1} arguments")
        parts.append(field.before)
        parts.append(format_value(arguments[field.index], field.spec))
    parts.append(after)
    if sum(map(len, parts)) > LIMITS.template_string:
        raise too_long()
    return checked_text("".join(parts))


def format_value(value: Any, spec: str) -> str:
    """Return one value in a format that was read by `parse_braces`."""
    if not spec:
        return to_text(value)
    if not isinstance(value, (str, int, float)):
        raise fault(f"cannot format {kind_of(value)}")
    if isinstance(value, int):
        check_integer(value)
    try:
        return format(value, spec)
    except (ValueError, OverflowError, TypeError) as error:
        raise fault(f"cannot format: {quoted(error)[1:-1]}") from None


def bounded_width(digits: str | None) -> int:
    """Return a width, or raise E_BUDGET when it is above the limit."""
    width = int(digits or 0)
    if width > LIMITS.template_padding:
        message = f"a width of {width} is more than {LIMITS.template_padding} characters"
        raise template_error(ErrorKind.BUDGET, message)
    return width


def _bounded_precision(digits: str | None) -> int | None:
    if digits is None:
        return None
    precision = int(digits or 0)
    if precision > LIMITS.template_precision:
        message = f"a precision of {precision} is more than {LIMITS.template_precision} digits"
        raise template_error(ErrorKind.BUDGET, message)
    return precision


_MISSING = object()


@dataclass(frozen=True, slots=True)
class TemplateFilter:
    """One filter: what it does, its parameters with defaults (in order), and a line for completion.

    Attributes
    ----------
    reads_all
        Whether it looks at every item of a list of constants; else the list costs nothing.
    """

    run: Callable[..., Any]
    parameters: tuple[tuple[str, Any], ...] = ()
    title: str = ""
    reads_all: bool = True

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


def _sum(value: Any, attribute: Any, start: Any) -> Any:
    items = _items("sum", value, attribute)
    if isinstance(items, ConstantList) and items.is_integers and type(start) is int:
        return check_integer(start + items.sum_of(None, None))
    if not isinstance(start, Number) or not all(isinstance(item, Number) for item in items):
        raise fault("filter 'sum' adds numbers")
    try:
        found = sum(items, start)
    except OverflowError:
        raise fault("the number is too large") from None
    return check_integer(found) if isinstance(found, int) else found


def _items(name: str, value: Any, attribute: Any = None) -> Any:
    if attribute is not None:
        raise template_error(ErrorKind.UNSAFE, f"filter {quoted(name)} looks up no attributes")
    if not isinstance(value, (str, list, tuple, dict)):
        raise fault(f"filter {quoted(name)} needs a list, not {kind_of(value)}")
    return value


def _least(value: Any, case_sensitive: Any, attribute: Any) -> Any:
    items = _items("min", value, attribute)
    if not items:
        raise missing("filter 'min' needs an item, the list is empty")
    return min(items, key=_key(case_sensitive))


def _greatest(value: Any, case_sensitive: Any, attribute: Any) -> Any:
    items = _items("max", value, attribute)
    if not items:
        raise missing("filter 'max' needs an item, the list is empty")
    return max(items, key=_key(case_sensitive))


def _key(case_sensitive: Any) -> Callable[[Any], Any]:
    """Return what items are compared by."""
    if case_sensitive:
        return lambda item: item
    return lambda item: item.lower() if isinstance(item, str) else item


def _first(value: Any) -> Any:
    items = _items("first", value)
    if not items:
        raise missing("there is no first item, the list is empty")
    return next(iter(items))


def _last(value: Any) -> Any:
    items = _items("last", value)
    if not items:
        raise missing("there is no last item, the list is empty")
    return next(reversed(items))


def _sort(value: Any, reverse: Any, case_sensitive: Any, attribute: Any) -> list[Any]:
    items, key = checked_container(_items("sort", value, attribute)), _key(case_sensitive)
    # In lists, as jinja2 does it: none is equal to none then, and needs no order.
    return sorted(items, key=lambda item: [key(item)], reverse=bool(reverse))


def _unique(value: Any, case_sensitive: Any, attribute: Any) -> list[Any]:
    key = _key(case_sensitive)
    found: dict[Any, Any] = {}
    for item in checked_container(_items("unique", value, attribute)):
        found.setdefault(key(item), item)
    return list(found.values())


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
    "length": TemplateFilter(_length, (), "number of items or characters", reads_all=False),
    "upper": TemplateFilter(_upper, (), "in capitals"),
    "lower": TemplateFilter(_lower, (), "in small letters"),
    "replace": TemplateFilter(
        _replace, (("old", _MISSING), ("new", _MISSING), ("count", None)), "one text replaced by another"
    ),
    "join": TemplateFilter(_join, (("d", ""),), "items joined by a text"),
    "round": TemplateFilter(_round, (("precision", 0), ("method", "common")), "rounded"),
    "default": TemplateFilter(
        lambda value, other, boolean: other if boolean and not value else value,
        (("default_value", ""), ("boolean", False)),
        "a default where the name is not defined",
    ),
    "format": TemplateFilter(format_filter, (), "values put into '%03d'"),
    "sum": TemplateFilter(
        _sum, (("attribute", None), ("start", 0)), "numbers of a list added up", reads_all=False
    ),
    "min": TemplateFilter(_least, (("case_sensitive", False), ("attribute", None)), "least item of a list"),
    "max": TemplateFilter(
        _greatest, (("case_sensitive", False), ("attribute", None)), "greatest item of a list"
    ),
    "first": TemplateFilter(_first, (), "first item of a list", reads_all=False),
    "last": TemplateFilter(_last, (), "last item of a list", reads_all=False),
    "sort": TemplateFilter(
        _sort, (("reverse", False), ("case_sensitive", False), ("attribute", None)), "items in order"
    ),
    "unique": TemplateFilter(
        _unique, (("case_sensitive", False), ("attribute", None)), "each item once, for another filter"
    ),
}
#: In jinja2 `unique` gives no list but its items one after the other: only these filters take them.
TAKE_ITEMS = frozenset({"sum", "min", "max", "first", "sort", "unique", "join"})
