"""Other arrays on the grid of the one that is shown."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import NUMBER_KINDS
from refbrowser.views.plot.reading import groups_above
from refbrowser.views.plot.slicing import SliceState, dimension_names

#: Arrays that are looked at, and those that are offered.
_LOOKED_AT, _OFFERED = 5_000, 500


def slice_on(node: ArrayNode, state: SliceState) -> SliceState | None:
    """Return the slice of another array that lies under one that is shown; None where there is none.

    Its dimensions are those of the array that is shown, or some of them, by name and size: both axes, and
    others at the same index.
    """
    if node.error is not None or node.dtype is None or not node.has_grid or len(state.axes) != 2:
        return None
    if node.dtype.kind not in NUMBER_KINDS:
        return None
    names, sizes = dimension_names(node), dict(zip(state.names, state.shape, strict=True))
    if len(set(names)) != len(names) or len(sizes) != len(state.names):
        return None
    if any(sizes.get(name) != size for name, size in zip(names, node.shape, strict=True)):
        return None
    if not {state.names[axis] for axis in state.axes} <= set(names):
        return None
    row, column = (names.index(state.names[axis]) for axis in state.axes)
    indices = dict(zip(state.names, state.indices, strict=True))
    return SliceState(node.shape, names, column, row, tuple(indices[name] for name in names))


def arrays_on(hierarchy: Hierarchy, node: ArrayNode, state: SliceState) -> list[ArrayNode]:
    """Return other arrays that lie on the grid of the one that is shown, those nearby first."""
    found: dict[str, ArrayNode] = {}
    groups = groups_above(hierarchy, node.path)
    if not groups:
        return []
    looked = 0
    for group in (*groups, *_below(groups[-1])):
        for array in group.arrays.values():
            looked += 1
            if looked > _LOOKED_AT or len(found) >= _OFFERED:
                return list(found.values())
            is_other = array.path != node.path and array.path not in found
            if is_other and slice_on(array, state) is not None:
                found[array.path] = array
    return list(found.values())


class GridArrays:
    """Keeps what was found of one array, whose slices follow each other."""

    def __init__(self) -> None:
        self._hierarchy: Hierarchy | None = None
        self._node: ArrayNode | None = None
        self._axes: tuple[int, ...] = ()
        self._found: tuple[ArrayNode, ...] = ()

    def of(self, hierarchy: Hierarchy, node: ArrayNode, state: SliceState) -> tuple[ArrayNode, ...]:
        """Return other arrays on the grid of an array, as `arrays_on` does."""
        if self._hierarchy is not hierarchy or self._node is not node or self._axes != state.axes:
            self._hierarchy, self._node, self._axes = hierarchy, node, state.axes
            self._found = tuple(arrays_on(hierarchy, node, state))
        return self._found


def _below(group: GroupNode) -> Iterator[GroupNode]:
    waiting = [group]
    while waiting:
        yield (now := waiting.pop(0))
        waiting += now.groups.values()


def title_of(node: ArrayNode) -> str:
    """Return what an array is called in a list."""
    long = attribute_text(node.attributes, "long_name")
    return f"{node.name}   {long}" if long and long != node.name else node.name
