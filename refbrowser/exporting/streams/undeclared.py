"""Dimensions that stand in the shapes of variables only, as in headers of old servers."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from refbrowser.formats.ncstream.definition import StreamDimension, StreamGroup, StreamVariable


def with_declared(group: StreamGroup, above: Set[str] = frozenset()) -> StreamGroup:
    """Return a group that has every shared dimension of its variables itself, or above it.

    One whose name already means another length becomes private.

    Parameters
    ----------
    above
        Names of the dimensions of the groups that it is in.
    """
    dimensions = dict(group.dimensions)
    variables = {name: _variable(each, dimensions, above) for name, each in group.variables.items()}
    seen = above | dimensions.keys()
    groups = {name: with_declared(each, seen) for name, each in group.groups.items()}
    return replace(group, dimensions=dimensions, variables=variables, groups=groups)


def _variable(
    variable: StreamVariable, dimensions: dict[str, StreamDimension], above: Set[str]
) -> StreamVariable:
    shape = []
    for each in variable.dimensions:
        if each.name and not (each.is_private or each.is_vlen or each.name in above):
            known = dimensions.setdefault(each.name, each)
            shape.append(each if known.length == each.length else replace(each, is_private=True))
        else:
            shape.append(each)
    return replace(variable, dimensions=tuple(shape))
