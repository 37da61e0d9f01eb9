"""The JSON of Zarr metadata: strict, but for what real writers leave in it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import depth_of, has_too_many_values

#: How the warning about NaN and infinities ends.
NOT_FINITE = " is not JSON; it is read as the number"

_BYTE_ORDER_MARK = "\ufeff"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
#: Texts without control characters, and all that stands between them.
_PLAIN = re.compile(
    rb'(?:[^"]++|"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+")*+',
    re.DOTALL,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")


def parse_object(data: bytes, key: str, report: Callable[[Finding], None]) -> dict[str, Any]:
    """Return the JSON object in the value of a metadata key.

    Parameters
    ----------
    data
        The value.
    key
        Its key, for messages.
    report
        Is given the warnings: NaN and Infinity, duplicate members, a byte order mark, control characters.

    Raises
    ------
    RefbrowserError
        `ENCODING`: not UTF-8. `JSON`: not JSON, with line and column. `BUDGET`: nested too deep, with too
        many values, or with an integer of too many digits. `META`: not an object.
    """
    if has_too_many_values(data):
        message = f"the metadata has more than {LIMITS.metadata_values} values (metadata_values)"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(key=key))
    plain = with_escapes(data)
    if plain != data:
        report(warning("texts have control characters, which JSON requires to be escaped", key))
    text = _text(plain, key, report)
    constants: list[str] = []
    duplicates: list[str] = []

    def constant(word: str) -> float:
        constants.append(word)
        return float(word)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            duplicates.extend(name for name, count in counts.items() if count > 1)
        return result

    try:
        value = json.loads(text, parse_constant=constant, object_pairs_hook=members, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = Place(key=key, line=error.lineno, column=error.colno)
        raise RefbrowserError(ErrorKind.JSON, f"not JSON: {error.msg}", place) from None
    except _TooManyDigitsError:
        message = f"an integer has more than {LIMITS.json_digits} digits"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(key=key)) from None
    except RecursionError:
        raise _too_deep(key) from None
    if text.count("[") + text.count("{") > LIMITS.json_nesting < depth_of(value):
        raise _too_deep(key)
    if not isinstance(value, dict):
        raise RefbrowserError(ErrorKind.META, "the metadata is not a JSON object", Place(key=key))
    _report_oddities(constants, duplicates, key, report)
    return value


def with_escapes(data: bytes) -> bytes:
    """Return JSON with escapes for the control characters in texts, which netcdf-c writes as they are."""
    if _PLAIN.fullmatch(data):
        return data
    return _STRING.sub(lambda text: _CONTROL.sub(_escaped, text[0]), data)


def _escaped(character: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % character[0][0]


def _report_oddities(
    constants: list[str], duplicates: list[str], key: str, report: Callable[[Finding], None]
) -> None:
    for word in dict.fromkeys(constants):
        report(warning(f"{word}{NOT_FINITE}", key))
    for name in dict.fromkeys(duplicates):
        report(warning(f"member {quoted(name)} occurs more than once; the last one wins", key))


def warning(message: str, key: str, advice: str = "") -> Finding:
    """Return a warning about the metadata under `key`."""
    return Finding(
        severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=Place(key=key), advice=advice
    )


def same_json(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal; NaN equals NaN, and the order of members does not count."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _text(data: bytes, key: str, report: Callable[[Finding], None]) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 at byte {error.start}"
        raise RefbrowserError(ErrorKind.ENCODING, message, Place(key=key)) from None
    if text.startswith(_BYTE_ORDER_MARK):
        report(warning("the metadata begins with a byte order mark", key))
    return text.removeprefix(_BYTE_ORDER_MARK)


class _TooManyDigitsError(Exception):
    """An integer is longer than is kept."""


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > LIMITS.json_digits:
        raise _TooManyDigitsError
    return int(text)


def _too_deep(key: str) -> RefbrowserError:
    message = f"the metadata is nested more than {LIMITS.json_nesting} levels deep"
    return RefbrowserError(ErrorKind.BUDGET, message, Place(key=key))
