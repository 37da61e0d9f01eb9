"""Formatting of values by ``'%03d' % i`` and ``'{:03d}'.format(i)``, by our own reading of the directives.

Widths and precisions are bounded when the directives are read, and the size of the result is bounded before
it is made. `str.format` is never applied to a text of a document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from refbrowser.errors import ErrorKind, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.template_syntax import check_integer, template_error, text_size
from refbrowser.references.templates.template_values import checked_text, fault, kind_of, to_text, too_long

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
        raise fault("a single '}' stands in a format")
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
