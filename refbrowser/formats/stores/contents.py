"""The metadata of a store, as it was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity
from refbrowser.formats.zarr.metadata_json import with_escapes
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Flavour
from refbrowser.references.text.json_text import has_too_many_values

#: Problems with one message that are told one by one; the rest is counted.
_TOLD = 50


@dataclass(slots=True)
class StoreContents:
    """What was found of a store.

    Attributes
    ----------
    folder
        The one leading folder that it lies in, with a ``/`` at its end; empty for none.
    metadata
        Metadata documents by key, parents first.
    unread
        Metadata keys that are there and could not be read.
    problems
        What was found to be wrong.
    is_consolidated
        Whether the root repeats all metadata; it stands alone in `metadata` all the same.
    has
        Tells whether something is stored under a key.
    """

    flavour: Flavour
    folder: str = ""
    metadata: dict[str, bytes] = field(default_factory=dict)
    unread: dict[str, RefbrowserError] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)
    is_consolidated: bool = False
    has: Callable[[str], bool] = lambda key: False
    _values: dict[str, dict[str, Any]] = field(default_factory=dict)
    _alike: dict[str, list[int]] = field(default_factory=dict)
    _size: int = 0
    _full: bool = False

    def add(self, key: str, answer: bytes | RefbrowserError, value: dict[str, Any] | None = None) -> bool:
        """Take note of a document, and its value if known; returns False once there is no room for more."""
        if self._full:
            return False
        if isinstance(answer, RefbrowserError):
            self.unread[key] = answer
            return True
        self._size += len(answer)
        if len(self.metadata) >= LIMITS.store_documents or self._size > LIMITS.metadata_elsewhere:
            self._full = True
            self.warn(f"the store has more metadata than is read: only {len(self.metadata)} documents", key)
            return False
        self.metadata[key] = with_escapes(answer)
        if value is not None:
            self._values[key] = value
        return True

    def value(self, key: str) -> dict[str, Any]:
        """Return the JSON object in a document; empty where it is none."""
        known = self._values.get(key)
        return parsed(self.metadata[key]) if known is None else known

    def warn(self, message: str, key: str | None = None, advice: str = "") -> None:
        """Note something that hides a part of the store."""
        alike = self._alike.setdefault(message, [])
        if len(alike) > _TOLD:
            last = self.problems[alike[-1]]
            self.problems[alike[-1]] = replace(last, count=last.count + 1)
            return
        alike.append(len(self.problems))
        place = Place(key=key)
        self.problems.append(
            Finding(
                severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place, advice=advice
            )
        )


def parsed(data: bytes | RefbrowserError | None) -> dict[str, Any]:
    """Return the JSON object in metadata; empty where it is none: who reads it in full tells why."""
    if not isinstance(data, bytes) or has_too_many_values(data):
        return {}
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
