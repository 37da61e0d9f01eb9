"""Attributes as names and short texts, whatever they hold: looked at only as far as they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from refbrowser.model.json_values import json_ready

#: Attributes that are shown of one node, characters of a value, elements of a list, and lists within lists.
ATTRIBUTES, _TEXT, _ELEMENTS, _DEEP = 40, 300, 12, 3


def attribute_rows(attributes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names with values in words; of many the first, and how many more there are."""
    for name in islice(attributes, ATTRIBUTES):
        yield str(name), value_words(attributes[name])
    more = len(attributes) - ATTRIBUTES
    if more > 0:
        yield "…", f"and {more:,} more"


def value_words(value: Any, depth: int = _DEEP) -> str:
    """Return a value as text: a text as it is, all else as JSON has it, cut where it is long."""
    return _cut(value if isinstance(value, str) else _words(value, depth))


def _words(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return f'"{_cut(value)}"'
    if isinstance(value, bytes | bytearray):
        return f"0x{_cut(value[:_TEXT].hex())}"
    if isinstance(value, Mapping | list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return _list_words(value, depth)
    return "null" if value is None else str(json_ready(value))


def _list_words(values: Any, depth: int) -> str:
    is_mapping, count = isinstance(values, Mapping), len(values)
    opening, closing = "{}" if is_mapping else "[]"
    if not depth and count:
        return f"{opening}…{closing}"
    items = islice(values.items(), _ELEMENTS) if is_mapping else values[:_ELEMENTS]
    if is_mapping:
        words = [f"{_cut(str(name))}: {_words(item, depth - 1)}" for name, item in items]
    else:
        words = [_words(item, depth - 1) for item in items]
    more = [f"… {count:,} in all"] if count > _ELEMENTS else []
    return f"{opening}{', '.join([*words, *more])}{closing}"


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
