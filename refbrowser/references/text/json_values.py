"""Values of JSON texts without their places: fast where nothing is odd, else by the exact reader."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from refbrowser.errors import ErrorKind
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, Node, NodeKind, parse


class _OddError(ValueError):
    """The exact reader must look at this."""


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > LIMITS.json_digits:
        raise _OddError
    return int(text)


def _constant(_name: str) -> NoReturn:
    raise _OddError


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def has_too_many_values(data: bytes) -> bool:
    """Whether JSON may hold more values than are kept: each but the first few stands behind a comma."""
    return len(data) > LIMITS.metadata_values < data.count(b",")


def read_value(data: bytes) -> tuple[Any, bool]:
    """Return the value that a JSON text is, and whether it is free of NaN and Infinity.

    Of duplicate members the last counts.

    Raises
    ------
    JsonError
        It is not JSON, something follows the value, or it has too many values.
    """
    if has_too_many_values(data):
        message = f"there are more than {LIMITS.metadata_values} values (metadata_values)"
        raise JsonError(0, message, kind=ErrorKind.BUDGET)
    try:
        value = _DECODER.decode(data.decode())
        if (
            data.count(b"{") + data.count(b"[") <= LIMITS.json_nesting
            or depth_of(value) <= LIMITS.json_nesting
        ):
            return value, True
    except (ValueError, RecursionError):
        pass
    node = parse(data)
    return node.to_python(), not _not_finite(node)


def depth_of(value: Any) -> int:
    """Return how deep lists and objects are nested, without recursion."""
    deepest = 0
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, depth)
            inner = item.values() if isinstance(item, dict) else item
            pending.extend((child, depth + 1) for child in inner if isinstance(child, dict | list))
    return deepest


def _not_finite(node: Node) -> bool:
    pending = [node]
    for inner in pending:
        if inner.kind is NodeKind.NOT_FINITE:
            return True
        pending.extend(member.value for member in inner.members)
        pending.extend(inner.items)
    return False
