"""The dimensions of a file of HDF5, as netCDF-4 sees them: scales, and those that nobody named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """A dimension that a scale stands for.

    Attributes
    ----------
    group
        Path of its group.
    number
        That netCDF-4 gave it; None where it gave none.
    """

    group: str
    name: str
    size: int
    unlimited: bool
    number: int | None

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
    said = next((value for name, value, *_ in told["attributes"] if name == "NAME"), None)
    return bool(told.get("is_scale")) and isinstance(said, str) and said.startswith(NO_VARIABLE)


def dimensions_of(groups: Iterable[str], arrays: Mapping[str, Mapping[str, Any]]) -> Dimensions:
    """Return the dimensions of a file.

    What no scale stands for gets a name as netCDF-4 gives it: ``phony_dim_3``, shared in a group by axes of
    the same size; groups below a group come before it.

    Parameters
    ----------
    groups
        Their paths, those above before those below.
    arrays
        What the library tells of each array that has a shape, by path as it is stored.
    """
    scales = _scales(arrays)
    numbered = {scale.number: scale for scale in scales.values() if scale.number is not None}
    found = Dimensions({group: {} for group in groups})
    for scale in sorted(scales.values(), key=lambda each: (each.number is None, each.number or 0)):
        said = Dimension(scale.name, scale.size, scale.unlimited)
        found.by_group.setdefault(scale.group, {})[scale.name] = said
    _lengthen(arrays, scales, found)
    members: dict[str, list[str]] = {}
    for path in arrays:
        members.setdefault(group_of(path), []).append(path)
    count = max([len(scales), *(number + 1 for number in numbered)])
    for group in _deepest_first(found.by_group):
        for path in members.get(group, ()):
            told = arrays[path]
            if is_pure_dimension(told):
                continue
            names = _names(told, scales, numbered)
            paths, used = [], {name.path for name in names if name is not None}
            for axis, named in enumerate(names):
                if named is not None:
                    paths.append(named.path)
                    continue
                most = told["most"][axis]
                name = _unnamed(found.by_group[group], told["shape"][axis], most is None, used, group)
                if name is None:
                    name = f"phony_dim_{count}"
                    count += 1
                    found.by_group[group][name] = Dimension(name, told["shape"][axis], most is None)
                paths.append(f"{group.rstrip('/')}/{name}")
                used.add(paths[-1])
            found.of_arrays[path] = tuple(paths)
    return found


def _scales(arrays: Mapping[str, Mapping[str, Any]]) -> dict[str, Scale]:
    """Return the scales by address."""
    found = {}
    for path, told in arrays.items():
        if not told.get("is_scale") or not told["shape"] or told["address"] in found:
            continue
        said = {name: value for name, value, *_ in told["attributes"]}
        number = said.get("_Netcdf4Dimid")
        name = path.rpartition("/")[2].removeprefix(NON_COORDINATE)
        found[told["address"]] = Scale(
            group_of(path),
            name,
            told["shape"][0],
            told["most"][0] is None,
            number if type(number) is int and 0 <= number < 1 << 31 else None,
        )
    return found


def _lengthen(
    arrays: Mapping[str, Mapping[str, Any]], scales: Mapping[str, Scale], found: Dimensions
) -> None:
    """Let unlimited dimensions be as long as the longest array along them."""
    for told in arrays.values():
        for axis, address in enumerate(told.get("scales", ())):
            scale = scales.get(address)
            if scale is None or not scale.unlimited or scale.size >= told["shape"][axis]:
                continue
            scale.size = told["shape"][axis]
            found.by_group[scale.group][scale.name] = Dimension(scale.name, scale.size, True)


def _names(
    told: Mapping[str, Any], scales: Mapping[str, Scale], numbered: Mapping[int, Scale]
) -> list[Scale | None]:
    """Return the scale of each axis of an array, None where it has none."""
    ndim = len(told["shape"])
    attached = told.get("scales")
    if attached is not None:
        return [None if each is None else scales.get(each) for each in attached]
    names: list[Scale | None] = [None] * ndim
    if told.get("is_scale") and ndim:
        names[0] = scales.get(told["address"])
    said = next((value for name, value, *_ in told["attributes"] if name == "_Netcdf4Coordinates"), None)
    listed = said if isinstance(said, list) else [said]
    if said is not None and len(listed) == ndim:
        names = [numbered.get(each) if type(each) is int else None for each in listed]
    return [
        each if each is not None and (each.unlimited or each.size == side) else None
        for each, side in zip(names, told["shape"], strict=True)
    ]


def _unnamed(
    declared: Mapping[str, Dimension], size: int, unlimited: bool, used: set[str], group: str
) -> str | None:
    """Return the first dimension of a group that fits; None where it is used already, or there is none."""
    for name, each in declared.items():
        if each.size == size and each.unlimited == unlimited:
            return None if f"{group.rstrip('/')}/{name}" in used else name
    return None


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
