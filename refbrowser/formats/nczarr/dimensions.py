"""Dimensions that groups declare, and how arrays refer to them (nczarr, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from refbrowser.errors import quoted
from refbrowser.limits import LIMITS
from refbrowser.model.netcdf.names import Parts, plain_path, resolve
from refbrowser.model.nodes import Dimension


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
        self._all: dict[Parts, Dimension] = {}
        for path, dimensions in groups.items():
            for dimension in dimensions.values():
                self._all[(*parts_of(path), dimension.name)] = dimension

    def __bool__(self) -> bool:
        return bool(self._all)

    def of(self, group: str) -> dict[str, Dimension]:
        """Return the dimensions of one group."""
        return self._groups.get(group, {})

    def add(self, group: str, dimension: Dimension) -> None:
        """Declare one more."""
        self._groups.setdefault(group, {})[dimension.name] = dimension
        self._all[(*parts_of(group), dimension.name)] = dimension

    def find(self, reference: str, group: str) -> tuple[str, Dimension] | None:
        """Return path and dimension of a reference that stands in a group, or None where there is none."""
        parts = resolve(reference, parts_of(group), self._all)
        return None if parts is None else (plain_path(parts), self._all[parts])


def parts_of(group: str) -> Parts:
    """Return the names that lead to a group."""
    return tuple(group.split("/")) if group else ()
