"""The dimensions of a group, from the names that its arrays give theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.model.nodes import ArrayNode, Dimension


def dimensions_needed(
    arrays: Mapping[str, ArrayNode], above: Mapping[str, Dimension], report: Callable[[Finding], None]
) -> dict[str, Dimension]:
    """Return the dimensions that the arrays of a group need and no group above has.

    Parameters
    ----------
    arrays
        Of the group.
    above
        The dimensions of the groups above it.
    report
        Is given a warning for each array that has another size for a dimension.
    """
    found: dict[str, Dimension] = {}
    for node in arrays.values():
        for name, size in zip(node.dimensions, node.shape, strict=False):
            if name is None or (name in above and above[name].size == size and name not in found):
                continue
            dimension = found.setdefault(name, Dimension(name, size))
            if dimension.size != size:
                message = (
                    f"dimension {quoted(name)} of array {quoted(node.path)} has {size} elements, "
                    f"in another array of the group {dimension.size}"
                )
                place = Place(path=node.path)
                report(Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place))
    return found


def with_paths(
    arrays: Mapping[str, ArrayNode], seen: Mapping[str, Dimension], paths: Mapping[str, str]
) -> dict[str, ArrayNode]:
    """Return the arrays of a group with the full name of each dimension that a group declares.

    Parameters
    ----------
    arrays
        Of the group.
    seen
        The dimensions of the group and of those above it: the nearest of each name.
    paths
        Their full names, ``/ocean/x``.
    """
    found = {}
    for key, node in arrays.items():
        full = tuple(
            paths[name] if name is not None and name in seen and seen[name].size == size else None
            for name, size in zip(node.dimensions, node.shape, strict=False)
        )
        found[key] = node if full == node.dimension_paths else replace(node, dimension_paths=full)
    return found
