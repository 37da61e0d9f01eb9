"""Overviews, as in a TIFF file: smaller pictures of the same name in groups `overview_1`, `overview_2`..."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice, takewhile

from refbrowser.limits import LIMITS
from refbrowser.model.multiscales.described_group import DescribedGroup, is_image
from refbrowser.model.multiscales.multiscale import Axis, Level, Multiscale, finest_first
from refbrowser.model.nodes import ArrayNode, GroupNode


def overview_multiscales(group: DescribedGroup) -> Iterator[Multiscale]:
    """Yield the pictures of a group that are smaller in the groups of overviews below it."""
    node = group.node
    if not isinstance(node, GroupNode):
        return
    numbers = islice(count(1), LIMITS.multiscale_levels)
    names = takewhile(lambda name: name in node.groups, (f"overview_{number}" for number in numbers))
    above = [node.groups[name] for name in names]
    for name, array in node.arrays.items() if above else ():
        levels = [Level(name, array, (None,) * len(array.shape))]
        levels += [
            Level(each.name, smaller, (None,) * len(smaller.shape))
            for each in above
            if (smaller := each.arrays.get(name)) is not None and _is_overview(smaller, array)
        ]
        if is_image(array) and len(levels) > 1:
            axes = tuple(Axis(each or "") for each in array.dimensions)
            yield Multiscale(name, node.path, "overviews", axes, finest_first(levels))


def _is_overview(smaller: ArrayNode, array: ArrayNode) -> bool:
    return is_image(smaller) and smaller.dimensions == array.dimensions
