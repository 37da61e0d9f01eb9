"""The dimensions of a file of HDF5, as netCDF-4 sees them: scales, and those that nobody named."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.model.nodes import Dimension

#: How the name of a scale that is no variable begins in netCDF-4.
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
#: Stands before the name of a variable that has the name of a dimension and is not its coordinate.
NON_COORDINATE = "_nc4_non_coord_"
#: Attributes that netCDF-4 and dimension scales keep for themselves.
INTERNAL = frozenset(
    {
        "CLASS",
        "NAME",
        "DIMENSION_LIST",
        "REFERENCE_LIST",
        "_Netcdf4Dimid",
        "_Netcdf4Coordinates",
        "_nc3_strict",
        "_NCProperties",
        "_NCCOPY",
    }
)


def shown_name(path: str) -> str:
    """Return a path under which netCDF shows a variable."""
    above, _, name = path.rpartition("/")
    return f"{above}/{name.removeprefix(NON_COORDINATE)}"


def group_of(path: str) -> str:
    """Return the path of the group that something is in."""
    return path.rpartition("/")[0] or "/"


@dataclass(slots=True)
class Scale:
    """A dimension that a scale stands for; each name of one is a dimension of its own.

    Attributes
    ----------
    group
        Path of its group.
    address
        Of the scale in the file.
    number
        That netCDF-4 gave it, or has for it: it counts them in the order of the file.
    """

    group: str
    name: str
    address: str
    size: int
    unlimited: bool
    number: int

    @property
    def path(self) -> str:
        """Its full name."""
        return f"{self.group.rstrip('/')}/{self.name}"


@dataclass(slots=True)
class Dimensions:
    """All dimensions of a file.

    Attributes
    ----------
    by_group
        Dimensions that groups declare, by path.
    of_arrays
        For each array the full names of its dimensions.
    """

    by_group: dict[str, dict[str, Dimension]] = field(default_factory=dict)
    of_arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)


def is_pure_dimension(told: Mapping[str, Any]) -> bool:
    """Tell whether what the library tells of an array is a dimension without a variable."""
    said = _said(told, "NAME")
    return bool(told.get("is_scale")) and isinstance(said, str) and said.startswith(NO_VARIABLE)


def dimensions_of(
    groups: Iterable[str],
    arrays: Mapping[str, Mapping[str, Any]],
    types: Mapping[str, Mapping[str, Any]] | None = None,
) -> Dimensions:
    """Return the dimensions of a file.

    What no scale stands for gets a name as netCDF-4 gives it (`create_phony_dims` of netCDF-C): an axis takes
    the first dimension of its group that has its size and is not one of the array already, else a new one,
    ``phony_dim_3``. Groups below a group come before it. Arrays of types that netCDF does not know come
    last, so that they change no name.

    Parameters
    ----------
    groups
        Their paths, those above before those below.
    arrays
        What the library tells of each array that has a shape, by path as it is stored.
    types
        Those that have names of their own, by path.
    """
    scales = _Scales(arrays)
    found = Dimensions({group: {} for group in groups})
    for scale in sorted(scales.all, key=lambda each: each.number):
        said = Dimension(scale.name, scale.size, scale.unlimited)
        found.by_group.setdefault(scale.group, {})[scale.name] = said
    _lengthen(arrays, scales, found)
    members: dict[str, list[str]] = {}
    for path in arrays:
        members.setdefault(group_of(path), []).append(path)
    known = known_arrays(arrays, types or {})
    count = scales.count
    order = [path for group in _deepest_first(found.by_group) for path in members.get(group, ())]
    for path in sorted(order, key=lambda each: each not in known):
        told = arrays[path]
        if is_pure_dimension(told):
            continue
        declared, place = found.by_group[group_of(path)], group_of(path).rstrip("/")
        paths: list[str] = []
        for axis, own in enumerate(scales.of(path)):
            if own is not None:
                paths.append(own.path)
                continue
            size, unlimited = told["shape"][axis], told["most"][axis] is None
            name = next(
                (
                    name
                    for name, each in declared.items()
                    if (each.size, each.unlimited) == (size, unlimited) and f"{place}/{name}" not in paths
                ),
                None,
            )
            if name is None:
                name = f"phony_dim_{count}"
                count += 1
                declared[name] = Dimension(name, size, unlimited)
            paths.append(f"{place}/{name}")
        found.of_arrays[path] = tuple(paths)
    return found


class _Scales:
    """The scales of a file, and which of them the axes of its arrays have."""

    def __init__(self, arrays: Mapping[str, Mapping[str, Any]]) -> None:
        self._arrays = arrays
        self.all: list[Scale] = []
        #: How many numbers netCDF-4 has given.
        self.count = 0
        for path, told in arrays.items():
            if told.get("is_scale") and told["shape"]:
                self.all.append(self._scale(path, told))
        self._by_path = {scale.path: scale for scale in self.all}
        # Of several with one number netCDF finds the last one.
        self._by_number = {scale.number: scale for scale in self.all}
        self._by_address: dict[str, list[Scale]] = {}
        for scale in self.all:
            self._by_address.setdefault(scale.address, []).append(scale)

    def _scale(self, path: str, told: Mapping[str, Any]) -> Scale:
        number = _said(told, "_Netcdf4Dimid")
        if type(number) is not int or not 0 <= number < 1 << 31:
            number = self.count
        self.count = max(self.count, number + 1)
        name = path.rpartition("/")[2]
        return Scale(group_of(path), name, told["address"], told["shape"][0], told["most"][0] is None, number)

    def at(self, address: str | None, group: str) -> Scale | None:
        """Return the scale at an address, under the name that is nearest above a group."""
        found = self._by_address.get(address or "", ())
        above = group.rstrip("/")
        while True:
            for scale in found:
                if scale.group.rstrip("/") == above:
                    return scale
            if not above:
                return found[0] if found else None
            above = above.rpartition("/")[0]

    def of(self, path: str) -> list[Scale | None]:
        """Return the scale of each axis of an array, None where it has none."""
        told = self._arrays[path]
        ndim, attached = len(told["shape"]), told.get("scales")
        names: list[Scale | None] = [None] * ndim
        said = _said(told, "_Netcdf4Coordinates")
        listed = said if isinstance(said, list) else [said]
        if said is not None and len(listed) == ndim:
            names = [self._by_number.get(each) if type(each) is int else None for each in listed]
        elif attached is not None:
            names = [self.at(each, group_of(path)) for each in attached]
        elif told.get("is_scale") and ndim:
            names[0] = self._by_path.get(path)
        # A number is what netCDF knows a dimension by.
        names = [None if each is None else self._by_number[each.number] for each in names]
        return [
            each if each is not None and (each.unlimited or each.size == side) else None
            for each, side in zip(names, told["shape"], strict=True)
        ]


def _said(told: Mapping[str, Any], name: str) -> Any:
    """Return the value of an attribute; None where there is none."""
    return next((value for each, value, *_ in told["attributes"] if each == name), None)


def _lengthen(arrays: Mapping[str, Mapping[str, Any]], scales: _Scales, found: Dimensions) -> None:
    """Let unlimited dimensions be as long as the longest array along them."""
    for path, told in arrays.items():
        for axis, address in enumerate(told.get("scales", ())):
            scale = scales.at(address, group_of(path))
            if scale is None or not scale.unlimited or scale.size >= told["shape"][axis]:
                continue
            scale.size = told["shape"][axis]
            found.by_group[scale.group][scale.name] = Dimension(scale.name, scale.size, True)


# What netCDF-4 knows


def known_arrays(arrays: Mapping[str, Mapping[str, Any]], types: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the paths of the arrays whose types netCDF-4 knows.

    As netCDF-C reads them (`get_type_info2`, `read_type`): types of one number or text, enumerations, opaque
    ones, rows of known types, and structures of them. A type within another one must have been seen before.
    """
    seen = {_native(each) for each in types.values()}
    found = set()
    for path, told in arrays.items():
        tree = told["type"]
        if _is_atomic(tree) or _native(tree) in seen or _is_readable(tree, seen):
            found.add(path)
        if tree["kind"] != "reference":
            # It is noted before it is looked into: an array that is like one that was left out is taken.
            seen.add(_native(tree))
    return found


def _native(tree: Mapping[str, Any]) -> str:
    """Return a type as a value, whatever the order of its bytes and where its members lie."""
    kind = tree["kind"]
    if kind == "plain":
        return json.dumps([tree["dtype"].lstrip("<>|="), tree.get("class", ""), tree.get("names", "")])
    if kind == "structure":
        return json.dumps([[name, _native(of)] for name, _, of in tree["fields"]])
    return json.dumps([kind, tree.get("shape", ""), _native(tree["of"]) if "of" in tree else ""])


def _is_atomic(tree: Mapping[str, Any]) -> bool:
    """Tell whether a type is a number or a text."""
    if tree["kind"] == "string" or tree.get("class") == "text":
        return True
    is_number = tree["kind"] == "plain" and "class" not in tree and "names" not in tree
    return is_number and tree["dtype"].lstrip("<>|=")[0] in "iuf"


def _is_member(tree: Mapping[str, Any], seen: Collection[str]) -> bool:
    """Tell whether a type within another one is known."""
    return (_is_atomic(tree) and tree.get("dtype", "")[1:] not in ("f2", "f16")) or _native(tree) in seen


def _is_readable(tree: Mapping[str, Any], seen: Collection[str]) -> bool:
    kind = tree["kind"]
    if kind == "structure":
        return all(_is_member(of["of"] if of["kind"] == "array" else of, seen) for _, _, of in tree["fields"])
    if kind == "rows":
        return _is_member(tree["of"], seen)
    # Enumerations, complex numbers as structures, and what is opaque.
    return kind == "plain" and tree.get("class") not in ("bits", "complex")


def _deepest_first(groups: Iterable[str]) -> list[str]:
    """Return groups with those below each before it, in their order."""
    below: dict[str, list[str]] = {}
    for path in groups:
        if path != "/":
            below.setdefault(group_of(path), []).append(path)
    order: list[str] = []
    pending = [("/", False)]
    while pending:
        path, is_done = pending.pop()
        if is_done:
            order.append(path)
            continue
        pending.append((path, True))
        pending += [(each, False) for each in reversed(below.get(path, []))]
    return order
