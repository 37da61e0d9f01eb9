"""Names of an export to NCZarr that netCDF takes, and its dimensions in the sizes of what is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from refbrowser.exporting.layout import PlainName
from refbrowser.exporting.paths import escaped_part
from refbrowser.model.netcdf.names import FreeNames, name_refused
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode

#: Bytes of a name, with room for what may be added to it.
_NAME_SIZE = 180


def node_name(name: str) -> str:
    """Return a name of a group or variable that netCDF and file systems take, the same where it is one."""
    return _accepted(escaped_part(unicodedata.normalize("NFC", name)).replace("/", ""))


class NodeNames:
    """The paths of nodes in the target; two that netCDF would take for one get names of their own.

    The same path of the source always gives the same.
    """

    def __init__(self, plain_name: PlainName) -> None:
        self._plain_name = plain_name
        self._paths = {"/": "/"}
        self._free: dict[str, FreeNames] = {}

    def path(self, source: str) -> str:
        """Return the path for a path of the source."""
        if source not in self._paths:
            above, _, name = source.rpartition("/")
            parent = self.path(above or "/")
            free = self._free.setdefault(parent, FreeNames())
            self._paths[source] = _joined(parent, free.take(node_name(self._plain_name(name))))
        return self._paths[source]

    def field_path(self, source: str, fields: Sequence[str]) -> str:
        """Return a new path for a field of an array, beside the array's own: ``/g/array_field``."""
        above, _, name = source.rpartition("/")
        parent = self.path(above or "/")
        free = self._free.setdefault(parent, FreeNames())
        return _joined(parent, free.take(node_name("_".join((self._plain_name(name), *fields)))))


def dimension_name(name: str) -> str:
    """Return a name of a dimension that netCDF takes, the same where it is one."""
    plain = unicodedata.normalize("NFC", name)
    return _accepted(escaped_part(plain).replace("/", "")) if name_refused(plain) else plain


def _accepted(name: str) -> str:
    name = name.encode("utf-8", "replace")[:_NAME_SIZE].decode("utf-8", "ignore")
    return f"_{name}" if name_refused(name) else name


def target_dimensions(
    groups: Sequence[GroupNode], arrays: Iterable[ArrayNode], paths: Mapping[str, str]
) -> tuple[dict[str, dict[str, Dimension]], list[ArrayNode]]:
    """Return the dimensions of each group of the target, and the arrays referring to them.

    A dimension of which only a part is written has the size of that part, if all arrays take as much of it.

    Parameters
    ----------
    groups
        Of the source.
    arrays
        With the names and paths of dimensions of the source.
    paths
        Of groups in the target, by those in the source.
    """
    arrays = list(arrays)
    written = _written_sizes(arrays)
    declared: dict[str, dict[str, Dimension]] = {}
    places: dict[str, tuple[str, Dimension]] = {}
    for group in groups:
        free = FreeNames()
        own = declared.setdefault(paths[group.path], {})
        for dimension in group.dimensions.values():
            name = free.take(dimension_name(dimension.name))
            source = _joined(group.path, dimension.name)
            size = _size(dimension, written.get(source, set()))
            own[name] = Dimension(name, size, dimension.unlimited)
            places[source] = _joined(paths[group.path], name), own[name]
    return declared, [_referring(array, places) for array in arrays]


def _written_sizes(arrays: Iterable[ArrayNode]) -> dict[str, set[int]]:
    sizes: dict[str, set[int]] = {}
    for array in arrays:
        for path, size in zip(array.dimension_paths, array.shape, strict=False):
            if path is not None:
                sizes.setdefault(path, set()).add(size)
    return sizes


def _size(dimension: Dimension, written: set[int]) -> int:
    return next(iter(written)) if len(written) == 1 else dimension.size


def _referring(array: ArrayNode, places: Mapping[str, tuple[str, Dimension]]) -> ArrayNode:
    """Return an array with the names and paths that its dimensions have in the target."""
    names: list[str | None] = []
    paths: list[str | None] = []
    for axis, size in enumerate(array.shape):
        name = array.dimensions[axis] if axis < len(array.dimensions) else None
        source = array.dimension_paths[axis] if axis < len(array.dimension_paths) else None
        path, dimension = places.get(source or "", (None, None))
        fits = dimension is None or dimension.size == size
        named = dimension_name(name) if name else None
        names.append(named if fits or named is None else f"{named}_{size}")
        paths.append(path if fits else None)
    return replace(array, dimensions=tuple(names), dimension_paths=tuple(paths))


def _joined(group: str, name: str) -> str:
    return f"{group.rstrip('/')}/{name}"
