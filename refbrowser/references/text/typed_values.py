"""Values of JSON as a person types them in one line, and laid out over several; where two texts differ."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.references.text.json_text import JsonError, parse
from refbrowser.words import counted_plain

#: A list or object of at most this many characters stands on one line.
LINE = 44
_JSON_BEGINS = ("[", "{", '"')
#: Line ends and blanks that Python does not count as printable; a field keeps them as they are.
_BLANKS = dict.fromkeys(map(ord, "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"))


def typed_text(value: Any) -> str:
    """Return what is typed for a value: text as it stands, where that cannot be taken for anything else."""
    if isinstance(value, str) and value.isprintable() and _reads_as(value, value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def typed_lines(text: str) -> str:
    """Return a typed line as it is read and typed over several lines.

    Text in quotes whose line breaks are escaped stands as it is, unless it would read as something else then.
    """
    if not text.startswith('"') or "\\n" not in text:
        return text
    value = typed_value(text)
    if not isinstance(value, str):
        return text
    lines = value.replace("\r\n", "\n")
    breaks_alike = value in (lines, lines.replace("\n", "\r\n"))
    is_plain = lines.translate(_BLANKS).isprintable()
    return value if breaks_alike and is_plain and _reads_as(value, value) else text


def typed_value(text: str) -> Any:
    """Return the value that a typed line stands for: what is JSON is that value, anything else is text.

    Raises
    ------
    RefbrowserError
        `E_JSON` with the column: it begins as a list, an object or text in quotes, and is none.
    """
    if not text.strip():
        return ""
    try:
        return parse(text.encode("utf-8", "surrogatepass")).to_python()
    except JsonError as error:
        if not text.lstrip().startswith(_JSON_BEGINS):
            return text
        raise json_fault(text, error, "Put text that begins like this in double quotes.") from None


def parsed(text: str) -> Any:
    """Return the value that a JSON text is.

    Raises
    ------
    RefbrowserError
        `E_JSON` or `E_BUDGET` with line, column and span of characters.
    """
    try:
        return parse(text.encode("utf-8", "surrogatepass")).to_python()
    except JsonError as error:
        raise json_fault(text, error, error.advice) from None


def json_fault(text: str, error: JsonError, advice: str) -> RefbrowserError:
    """Return what is wrong with a JSON text, with line and column from 1 and the span of characters."""
    at = len(text.encode("utf-8", "surrogatepass")[: error.position].decode("utf-8", "replace"))
    line, column = text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
    place = Place(line=line, column=column, span=(at, min(at + 1, max(at, len(text)))))
    return RefbrowserError(error.kind or ErrorKind.JSON, error.message, place, advice)


def kind_words(value: Any) -> str:
    """Return what kind of value it is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    count = len(value)
    if isinstance(value, dict):
        return f"object of {counted_plain(count, 'member')}"
    return f"list of {counted_plain(count, 'value')}"


def laid_out(value: Any) -> str:
    """Return a value as JSON: what is short on one line, else a line for each member."""
    return _laid_out(value, "", 0)


def _laid_out(value: Any, indent: str, before: int) -> str:
    """Return a value whose first line begins with `indent` and `before` more characters."""
    short = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, dict | list) or not value:
        return short
    fits = len(short) + len(indent) + before <= LINE
    if fits and not (isinstance(value, dict) and (not indent or _is_nested(value))):
        return short
    inner = indent + "  "
    if isinstance(value, dict):
        names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        items = [
            name + _laid_out(item, inner, len(name)) for name, item in zip(names, value.values(), strict=True)
        ]
        opening, closing = "{", "}"
    else:
        items = _in_lines([_laid_out(item, inner, 0) for item in value], inner)
        opening, closing = "[", "]"
    lines = ",\n".join(inner + item for item in items)
    return f"{opening}\n{lines}\n{indent}{closing}"


def _in_lines(items: list[str], indent: str) -> list[str]:
    """Put short items of a list beside each other."""
    lines: list[str] = []
    for item in items:
        joined = f"{lines[-1]}, {item}" if lines else ""
        if lines and "\n" not in joined and len(joined) + len(indent) <= LINE:
            lines[-1] = joined
        else:
            lines.append(item)
    return lines


def _is_nested(value: dict[str, Any]) -> bool:
    return any(isinstance(item, dict) and item for item in value.values())


def _reads_as(text: str, value: Any) -> bool:
    try:
        return bool(typed_value(text) == value) and isinstance(typed_value(text), str)
    except RefbrowserError:
        return False


#: Characters before the first difference that are shown with it.
LEAD = 8


def from_difference(one: str, other: str, lead: int = LEAD) -> tuple[str, str]:
    """Return two texts from `lead` characters before they differ; ``…`` stands for what is left out.

    A beginning that is hardly longer than that stays.
    """
    start = first_difference(one, other) - lead
    return (one, other) if start <= lead or one == other else (f"…{one[start:]}", f"…{other[start:]}")


def first_difference(one: str, other: str) -> int:
    """Return how many characters at the beginning of two texts are the same."""
    length = min(len(one), len(other))
    # Comparing slices costs the memory's speed, a loop over characters a hundred times that.
    return bisect_left(range(1, length + 1), True, key=lambda size: one[:size] != other[:size])


def typed_or_text(text: str) -> Any:
    """Return the value that a text spells, or the text itself where it spells none."""
    try:
        return typed_value(text)
    except RefbrowserError:
        return text
