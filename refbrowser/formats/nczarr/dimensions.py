"""Dimensions that groups declare, and how arrays refer to them (nczarr, section 2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from refbrowser.errors import quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Dimension

#: A slash that no backslash stands before; two backslashes are one of their own.
_PARTS = re.compile(r"(?:[^/\\]|\\.|\\\Z)*", re.DOTALL)
_ESCAPED = re.compile(r"\\([/\\ ])")


def parse_dimensions(value: Any, warn: Callable[[str], None]) -> dict[str, Dimension]:
    """Return the dimensions that a group declares; what is none of them is told and left out.

    Parameters
    ----------
    value
        Member ``dimensions`` (of old writers ``dims``): sizes by name, or objects with ``size`` and
        ``unlimited``.
    warn
        Is given the text of each warning.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        warn(f"the dimensions of the group are {quoted(value)}, not an object")
        return {}
    found = {}
    for name, entry in value.items():
        size, unlimited = entry, False
        if isinstance(entry, dict):
            size, unlimited = entry.get("size"), entry.get("unlimited", 0) in (1, True)
        if type(size) is int and 0 <= size <= LIMITS.elements:
            found[name] = Dimension(name, size, unlimited)
        else:
            warn(f"the size of dimension {quoted(name)} is {quoted(size)}, not an integer of at least 0")
    return found


class Declared:
    """The dimensions of all groups, by the path of the group (empty for the root)."""

    def __init__(self, groups: Mapping[str, Mapping[str, Dimension]]) -> None:
        self._groups = {path: dict(dimensions) for path, dimensions in groups.items()}

    def __bool__(self) -> bool:
        return any(self._groups.values())

    def of(self, group: str) -> dict[str, Dimension]:
        """Return the dimensions of one group."""
        return self._groups.get(group, {})

    def add(self, group: str, dimension: Dimension) -> None:
        """Declare one more."""
        self._groups.setdefault(group, {})[dimension.name] = dimension

    def find(self, reference: str) -> tuple[str, Dimension] | None:
        """Return path and dimension of a fully qualified name, or None where there is none.

        The text as it stands comes first, as netcdf-c writes no escapes; then with escapes undone.
        """
        for group, name in _readings(reference):
            if name in self.of(group):
                return _path(group, name), self._groups[group][name]
        return None

    def visible(self, group: str, name: str) -> tuple[str, Dimension] | None:
        """Return path and dimension of a bare name, as seen from a group: its own, then those above."""
        while True:
            if name in self.of(group):
                return _path(group, name), self._groups[group][name]
            if not group:
                return None
            group = group.rpartition("/")[0]


def last_part(reference: str) -> str:
    """Return the name of the dimension that a fully qualified name ends in."""
    return list(_readings(reference))[-1][1]


def _readings(reference: str) -> Iterator[tuple[str, str]]:
    """Yield group and name in each reading of a reference: plain, with a slash escaped, all undone."""
    text = reference.removeprefix("/")
    group, _, name = text.rpartition("/")
    yield group, name
    parts = _split(text)
    yield "/".join(parts[:-1]), parts[-1]
    parts = [_ESCAPED.sub(r"\1", part) for part in parts]
    yield "/".join(parts[:-1]), parts[-1]


def _split(text: str) -> list[str]:
    """Return the parts between slashes that are not escaped."""
    parts, at = [], 0
    while True:
        match = _PARTS.match(text, at)
        assert match is not None
        parts.append(match.group())
        at = match.end() + 1
        if at > len(text):
            return parts


def _path(group: str, name: str) -> str:
    return f"/{group}/{name}" if group else f"/{name}"
