"""Other arrays on the grid of the one that is shown, and which of them are components of one vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import NUMBER_KINDS
from refbrowser.views.plot.reading import groups_above
from refbrowser.views.plot.slicing import SliceState, dimension_names

#: Arrays that are looked at, and those that are offered.
_LOOKED_AT, _OFFERED = 5_000, 500
#: Names are looked through so far.
_NAME_LENGTH = 200


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


def _below(group: GroupNode) -> Iterator[GroupNode]:
    waiting = [group]
    while waiting:
        yield (now := waiting.pop(0))
        waiting += now.groups.values()


def title_of(node: ArrayNode) -> str:
    """Return what an array is called in a list."""
    long = attribute_text(node.attributes, "long_name")
    return f"{node.name}   {long}" if long and long != node.name else node.name


# Components


@dataclass(frozen=True, slots=True)
class Components:
    """Two arrays that are the components of one vector.

    Attributes
    ----------
    across, upwards
        Paths of the component along x or eastwards, and of that along y or northwards.
    on_earth
        They point east and north, not along the axes of the grid.
    """

    across: str
    upwards: str
    on_earth: bool = False


#: Parts of standard names that tell of the first component, and what is in the same place of the other.
_STANDARD = (
    (re.compile(r"(?<![a-z])eastward(?![a-z])"), "northward", True),
    (re.compile(r"(?<![a-z])x(?![a-z])"), "y", False),
)
#: The same of names of arrays: a letter by itself, or at an end, alone or before a number, `wind`, `vel`...
_NAMED = tuple(
    (re.compile(pattern, re.IGNORECASE), {"u": "v", "U": "V", "x": "y", "X": "Y"})
    for pattern in (
        r"^(u)(?=$|[-_\d.]|as$|a$|o$|grd|gos|wnd|wind|vel|ice|flx|comp)",
        r"(?<=[-_])(u)(?=$|[-_\d])",
        r"(?<=[-_a-z])(x)$",
        r"^(x)(?=[-_]|wind|vel)",
        r"(?<=[-_])(x)(?=[-_])",
    )
)


def components_among(arrays: Sequence[ArrayNode]) -> list[Components]:
    """Return which arrays are components of one vector, by their standard names, else by their names."""
    found: dict[tuple[str, str], Components] = {}
    by_standard: dict[tuple[str, tuple[str | None, ...]], ArrayNode] = {}
    by_name: dict[tuple[str, str], ArrayNode] = {}
    for array in arrays:
        standard = attribute_text(array.attributes, "standard_name")[:_NAME_LENGTH]
        by_standard.setdefault((standard, array.dimensions), array)
        by_name.setdefault((array.path.rpartition("/")[0], array.name), array)
    for array in arrays:
        standard = attribute_text(array.attributes, "standard_name")[:_NAME_LENGTH]
        for pattern, other, on_earth in _STANDARD:
            if pattern.search(standard):
                key = pattern.sub(other, standard, count=1), array.dimensions
                _take(found, array, by_standard.get(key), on_earth=on_earth)
    for array in arrays:
        for pattern, letters in _NAMED:
            match = pattern.search(array.name[:_NAME_LENGTH])
            if match is not None:
                other_name = f"{array.name[: match.start(1)]}{letters[match[1]]}{array.name[match.end(1) :]}"
                _take(found, array, by_name.get((array.path.rpartition("/")[0], other_name)))
    return list(found.values())


def _take(
    found: dict[tuple[str, str], Components],
    one: ArrayNode,
    other: ArrayNode | None,
    *,
    on_earth: bool = False,
) -> None:
    if other is None or other is one or other.shape != one.shape:
        return
    if attribute_text(other.attributes, "units") != attribute_text(one.attributes, "units"):
        return
    if not any(one.path in key or other.path in key for key in found):
        # Called u and v alone, they may be along the axes: of a map these are east and north.
        found[one.path, other.path] = Components(one.path, other.path, on_earth)
