"""Which group declares which type, under which name.

Types of equal structure are one type ("structural typing", an open issue of the seed). It is declared in the
innermost group around all its users and named after the first of them, unless it has a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from refbrowser.model.netcdf.names import FreeNames, Parts
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    DeclaredType,
    NetcdfType,
    VlenType,
)

#: Complex numbers are known to other software by these fields.
_COMPLEX: dict[DeclaredType, str] = {
    CompoundType("", (CompoundField("r", part), CompoundField("i", part))): name
    for part, name in ((AtomicType.FLOAT, "complex64"), (AtomicType.DOUBLE, "complex128"))
}


@dataclass(slots=True)
class _Use:
    """Around which users a type was found, and a name after the first."""

    group: Parts
    wish: str


class TypeTable:
    """Gathers the types that a dataset uses, then declares them."""

    def __init__(self) -> None:
        self._uses: dict[DeclaredType, _Use] = {}
        self._named: dict[DeclaredType, DeclaredType] = {}
        self._declared: dict[Parts, list[DeclaredType]] = {}

    def add(self, type: NetcdfType, group: Parts, user: str) -> None:
        """Note that `user`, a variable in `group`, has a type without a name."""
        if isinstance(type, AtomicType):
            return
        if isinstance(type, CompoundType):
            for field in type.fields:
                self.add(field.type, group, f"{user}_{field.name}")
        if isinstance(type, VlenType):
            self.add(type.elements, group, f"{user}_row")
        use = self._uses.get(type)
        if use is None:
            self._uses[type] = _Use(group, type.name or _COMPLEX.get(type, f"{user}_t"))
        else:
            use.group = _common(use.group, group)

    def declare(self, taken: Mapping[Parts, Iterable[str]]) -> None:
        """Give each structure its place and its name.

        Parameters
        ----------
        taken
            For each group the names that a type in it cannot have.
        """
        free: dict[Parts, FreeNames] = {}
        for structure, use in self._uses.items():
            names = free.setdefault(use.group, FreeNames(taken.get(use.group, ())))
            # What a type holds was noted before it.
            named = replace(self._with_names(structure), name=names.take(use.wish))
            self._named[structure] = named
            self._declared.setdefault(use.group, []).append(named)

    def named(self, type: NetcdfType) -> NetcdfType:
        """Return a type that was added as it is declared."""
        return type if isinstance(type, AtomicType) else self._named[type]

    def declared_in(self, group: Parts) -> tuple[DeclaredType, ...]:
        """Return the types that a group declares; one that another holds comes first."""
        return tuple(self._declared.get(group, ()))

    def _with_names(self, structure: DeclaredType) -> DeclaredType:
        if isinstance(structure, VlenType):
            return replace(structure, elements=self.named(structure.elements))
        if not isinstance(structure, CompoundType):
            return structure
        fields = (replace(field, type=self.named(field.type)) for field in structure.fields)
        return replace(structure, fields=tuple(fields))


def _common(first: Parts, second: Parts) -> Parts:
    """Return the innermost group around two groups."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]
