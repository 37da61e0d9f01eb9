"""The dimensions of a dataset, and which of them each array means.

An array of NCZarr names its dimensions in full; elsewhere a name means the dimension of that name and size
in the array's group or a group around it, and one that no group has is declared in the array's own group.
What has no name shares an anonymous dimension of the root, one for each size, as netcdf-c has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.errors import quoted
from refbrowser.model.netcdf.names import FreeNames, Parts, join, plain_path, resolve
from refbrowser.model.netcdf.types import DimensionReference, NetcdfDimension, Note
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode

#: What netcdf-c calls a dimension without a name, followed by its size.
ANONYMOUS = "_Anonymous_Dim_"


class DimensionTable:
    """All dimensions: those that groups declare, and those that arrays turn out to need."""

    def __init__(self) -> None:
        self._declared: dict[Parts, NetcdfDimension] = {}
        self._groups: dict[Parts, dict[str, NetcdfDimension]] = {}
        #: The dimension that stands for a size where its name is another's, by the path and the size wanted.
        self._derived: dict[tuple[Parts, int], Parts] = {}
        self._anonymous: dict[int, Parts] = {}
        self._free: dict[Parts, FreeNames] = {}

    def declare(self, group: Parts, node: GroupNode) -> None:
        """Add what a group declares; every group comes before the arrays are asked for."""
        for dimension in node.dimensions.values():
            if dimension.name:
                self._add(group, dimension)

    def declared_in(self, group: Parts) -> tuple[NetcdfDimension, ...]:
        """Return the dimensions of a group, those that it declares first."""
        return tuple(self._groups.get(group, {}).values())

    def references(self, group: Parts, node: ArrayNode) -> tuple[tuple[DimensionReference, ...], list[Note]]:
        """Return which dimensions an array in `group` has, and what is to be told about them."""
        notes: list[Note] = []
        found = []
        for axis, size in enumerate(node.shape):
            path = node.dimension_paths[axis] if axis < len(node.dimension_paths) else None
            name = node.dimensions[axis] if axis < len(node.dimensions) else None
            parts = self._of_path(group, path, size, notes) if path else None
            if parts is None:
                parts = self._of_name(group, name, size, notes) if name else self._of_size(size)
            found.append(DimensionReference(join(parts), size))
        return tuple(found), notes

    def _of_path(self, group: Parts, path: str, size: int, notes: list[Note]) -> Parts | None:
        parts = resolve(path, group, self._declared)
        if parts is None:
            notes.append(Note(f"there is no dimension {quoted(path)}, which the array refers to"))
            return None
        return parts if self._fits(parts, size) else self._other(parts, size, notes)

    def _of_name(self, group: Parts, name: str, size: int, notes: list[Note]) -> Parts:
        own = (*group, name)
        if own in self._declared:
            return own if self._fits(own, size) else self._other(own, size, notes)
        above = next((parts for parts in _around(group, name) if parts in self._declared), None)
        if above is not None and self._fits(above, size):
            return above
        return self._add(group, Dimension(name, size))

    def _of_size(self, size: int) -> Parts:
        if size not in self._anonymous:
            name = self._names(()).take(f"{ANONYMOUS}{size}")
            self._anonymous[size] = self._add((), Dimension(name, size), anonymous=True)
        return self._anonymous[size]

    def _other(self, parts: Parts, size: int, notes: list[Note]) -> Parts:
        """Return the dimension beside another of that name but another size."""
        key = (parts, size)
        if key not in self._derived:
            name = self._names(parts[:-1]).take(f"{parts[-1]}_{size}")
            self._derived[key] = self._add(parts[:-1], Dimension(name, size))
        derived = self._derived[key]
        message = (
            f"dimension {quoted(plain_path(parts))} has {self._declared[parts].size} elements, here {size}: "
            f"it is shown as {quoted(derived[-1])}"
        )
        notes.append(Note(message))
        return derived

    def _fits(self, parts: Parts, size: int) -> bool:
        dimension = self._declared[parts]
        # An array may be shorter along an unlimited dimension: the rest reads as fill values.
        return dimension.size == size or (dimension.unlimited and size < dimension.size)

    def _names(self, group: Parts) -> FreeNames:
        if group not in self._free:
            self._free[group] = FreeNames(self._groups.get(group, {}))
        return self._free[group]

    def _add(self, group: Parts, dimension: Dimension, *, anonymous: bool = False) -> Parts:
        parts = (*group, dimension.name)
        made = NetcdfDimension(dimension.name, dimension.size, dimension.unlimited, anonymous)
        self._declared[parts] = made
        self._groups.setdefault(group, {})[dimension.name] = made
        if group in self._free:
            self._free[group].add(dimension.name)
        return parts


def _around(group: Parts, name: str) -> Iterator[Parts]:
    """Yield where a name may be declared in the groups around a group, the innermost first."""
    return ((*group[:depth], name) for depth in range(len(group) - 1, -1, -1))
