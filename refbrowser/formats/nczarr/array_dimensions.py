"""Dimensions that groups declare, and which an array has: by references, names or sizes (section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import quoted
from refbrowser.formats.nczarr.members import NczarrMembers
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.netcdf.dimensions import ANONYMOUS
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


@dataclass(frozen=True, slots=True)
class Axes:
    """Sizes and dimensions of an array, in the order of its axes; `ArrayNode` says what paths are."""

    shape: tuple[int, ...] = ()
    names: tuple[str | None, ...] = ()
    paths: tuple[str | None, ...] = ()


def netcdf_shape(document: Mapping[str, Any], members: NczarrMembers) -> tuple[int, ...] | None:
    """Return the shape in a ``.zarray`` as netCDF sees it, or None where it is none: the array is broken.

    A scalar, which NCZarr stores with shape and chunks ``[1]``, has shape ().
    """
    shape = document.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        return None
    scalar = shape == [1] and document.get("chunks") == [1] and _is_scalar(members)
    return () if scalar else tuple(shape)


def _is_scalar(members: NczarrMembers) -> bool:
    part = members.array
    if part is None:
        return False
    if part.member("scalar") in (1, True) or part.member("storage") == "scalar":
        return True
    return bool(part.member("dimension_references", "dimrefs") == [])


class AxesFinder:
    """Finds the dimensions of the arrays of one dataset; declares those that only arrays tell of.

    Parameters
    ----------
    declared
        What groups declare.
    """

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        #: Plain Zarr: no group declares anything, and each has the dimensions of its own arrays.
        self._pure = not declared

    def axes(
        self, path: str, shape: tuple[int, ...], members: NczarrMembers, warn: Callable[[str], None]
    ) -> Axes:
        """Return the axes of an array.

        Parameters
        ----------
        path
            Of the array, empty for the root.
        shape
            As netCDF sees it.
        members
            What NCZarr says of it.
        warn
            Is given the text of each warning.
        """
        if not shape:
            return Axes()
        group = path.rpartition("/")[0]
        references = members.array and members.array.member("dimension_references", "dimrefs")
        names = members.internal.get(DIMENSIONS_ATTRIBUTE)
        if isinstance(references, list) and len(references) == len(shape):
            found = [
                self._referred(group, reference, size, warn)
                for reference, size in zip(references, shape, strict=True)
            ]
        else:
            if references is not None:
                warn(f"the references to dimensions are {quoted(references)}, not a list of {len(shape)}")
            found = self._named(group, names, shape, warn)
        sizes, found_names, paths = zip(*found, strict=True) if found else ((), (), ())
        return Axes(sizes, found_names, paths)

    def _referred(
        self, group: str, reference: Any, size: int, warn: Callable[[str], None]
    ) -> tuple[int, str | None, str | None]:
        """Return size, name and path of the axis with one reference: an FQN, or a bare size."""
        if type(reference) is int or (isinstance(reference, str) and reference.isdecimal()):
            if int(reference) != size:
                warn(f"an anonymous dimension has size {reference}, the shape {size}")
            return size, None, None
        if not isinstance(reference, str):
            warn(f"the reference to a dimension is {quoted(reference)}, not a text")
            return size, None, None
        found = self._declared.find(reference, group)
        if found is None:
            warn(f"dimension {quoted(reference)} is not declared in any group")
            return size, reference.rpartition("/")[2] or None, None
        path, dimension = found
        if size == dimension.size or (dimension.unlimited and size < dimension.size):
            return dimension.size, dimension.name, path
        what = "is unlimited and" if dimension.unlimited else "is declared and"
        warn(f"dimension {quoted(path)} {what} has {dimension.size} elements, the shape {size}")
        return size, dimension.name, None

    def _named(
        self, group: str, names: Any, shape: tuple[int, ...], warn: Callable[[str], None]
    ) -> list[tuple[int, str | None, str | None]]:
        """Return the axes of an array without references, by netCDF's rules for plain Zarr."""
        usable = isinstance(names, list) and len(names) == len(shape)
        if names is not None and not usable:
            warn(f"{DIMENSIONS_ATTRIBUTE} is {quoted(names)}, not a list of {len(shape)} names")
        if not usable:
            return [self._anonymous(size) for size in shape]
        return [self._by_name(group, name, size, warn) for name, size in zip(names, shape, strict=True)]

    def _by_name(
        self, group: str, name: Any, size: int, warn: Callable[[str], None]
    ) -> tuple[int, str | None, str | None]:
        if not isinstance(name, str) or not name:
            return self._anonymous(size)
        own = self._declared.of(group).get(name)
        path = plain_path((*parts_of(group), name))
        found = (path, own) if own is not None else None
        if found is None and not self._pure:
            found = self._declared.find(name, group)
        if found is not None and found[1].size == size:
            return size, name, found[0]
        if own is not None:
            warn(f"dimension {quoted(path)} has {own.size} elements, the shape {size}")
            return size, name, None
        self._declared.add(group, Dimension(name, size))
        return size, name, path

    def _anonymous(self, size: int) -> tuple[int, str | None, str | None]:
        """Return the axis with the root's dimension for a size that no name stands for."""
        name = f"{ANONYMOUS}{size}"
        known = self._declared.of("").get(name)
        if known is not None and known.size != size:
            return size, None, None
        if known is None:
            self._declared.add("", Dimension(name, size))
        return size, name, f"/{name}"
