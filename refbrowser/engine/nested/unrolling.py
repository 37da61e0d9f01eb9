"""Types that go on in themselves, by the turns that are read of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from refbrowser.model.nested import NestedType, NestedValues, TypeKind, parts_of_kind

#: Turns of which the type is made.
TURNS = 6
#: Types in a type, at most: where each turn has several links there are fewer turns.
MOST_TYPES = 2_000


def unrolled_type(values: NestedValues) -> NestedType:
    """Return the type of rows; one that goes on in itself by as many turns as are read, and can be held."""
    type = values.type
    for _ in range(TURNS):
        names = {link.name for _, link in parts_of_kind(type, TypeKind.LINK)}
        longer = _turned(type, {name: values.linked(name) for name in names})
        if not names or _count(longer) > MOST_TYPES:
            break
        type = longer
    return type


def _turned(type: NestedType, types: Mapping[str, NestedType]) -> NestedType:
    """Return a type with what its links lead to in their place."""
    if type.kind is TypeKind.LINK:
        return types[type.name]
    items = tuple(_turned(item, types) for item in type.items)
    # Options of options are one.
    if type.kind is TypeKind.OPTION and items[0].kind is TypeKind.OPTION:
        return items[0]
    return replace(type, items=items)


def _count(type: NestedType) -> int:
    return 1 + sum(map(_count, type.items))
