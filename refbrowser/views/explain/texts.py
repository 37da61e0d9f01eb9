"""How explanations write values, bytes and foreign text: exact, on one line, as plain characters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.views.numbers import value_text

#: Foreign text is cut at this many characters.
SHOWN = 400


def plain(text: object, limit: int = SHOWN) -> str:
    """Return foreign text on one line, escaped and cut."""
    return quoted(text, limit)[1:-1]


def exact_text(value: Any) -> str:
    """Return a stored element with all its digits."""
    if isinstance(value, float | np.floating) and value != value:
        return "NaN"
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return str(value.item() if value.dtype.kind in "biu" else value)
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, bytes):
        return repr(value[:SHOWN])
    if isinstance(value, str):
        return quoted(value, SHOWN)
    return plain(value_text(value)).replace("\N{MINUS SIGN}", "-")


def bytes_text(count: int) -> str:
    """Return a number of bytes as text."""
    return "1 byte" if count == 1 else f"{count} bytes"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def json_text(value: Any) -> str:
    """Return a configuration as compact JSON, cut."""
    return plain(json.dumps(value, default=repr, ensure_ascii=False))


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return the members of a codec's configuration, ``level 1, shuffle 0``."""
    return ", ".join(f"{plain(name)} {json_text(value)}" for name, value in list(settings.items())[:12])
