"""The types that a target has for nested rows, made from those of the source: what it lacks is told.

Each type of a target is *canonical*: lists are offsets, options are an index in front of what is there,
unions hold options or none. So every block of rows, whatever layout it was read as, has the same form.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.nested import ITEMS, NestedType, TypeKind, TypePath, parts_of_kind, steps_of

#: Fields of a complex number where the target has none.
COMPLEX_FIELDS = ("real", "imag")
_UNITS = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a target has types for.

    Attributes
    ----------
    units
        Of datetimes and durations, None for any; ``D`` of datetimes aside, which is a date.
    missing_times
        A time that is none (``NaT``) is a missing value.
    empty_records
        Records without fields.
    empty_lists
        Lists of a fixed size of 0.
    floats
        Sizes of floating-point numbers, in bytes.
    like_possibilities
        Unions of types that awkward makes one of, where it reads them: numbers would be rounded.
    """

    unions: bool = True
    complexes: bool = True
    units: tuple[str, ...] | None = None
    missing_times: bool = False
    empty_records: bool = True
    empty_lists: bool = True
    floats: tuple[int, ...] = (2, 4, 8, 16)
    like_possibilities: bool = True


@dataclass(frozen=True, slots=True)
class TargetType:
    """A type of a target.

    Attributes
    ----------
    source
        What it is made from. Where that is of another kind: an option of times that may be none, or around
        what cannot be read; a record of the parts of a complex number, or of the possibilities of a union.
    kind
        ``NUMBER``, ``LIST``, ``RECORD``, ``OPTION``, ``UNION``, ``STRING``, ``BYTES`` or ``EMPTY``.
    dtype, size, items, fields
        As in `NestedType`; the byte order is native.
    """

    source: NestedType
    kind: TypeKind
    dtype: np.dtype[Any] | None = None
    size: int | None = None
    items: tuple[TargetType, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """The type of its numbers; asking what is none is an error."""
        if self.dtype is None:
            raise RefbrowserError(ErrorKind.META, f"the elements are not numbers: {self.kind}")
        return self.dtype

    @property
    def record_name(self) -> str:
        """The name of a record that has one."""
        return self.source.name if self.source.kind is TypeKind.RECORD else ""

    @property
    def settled(self) -> TargetType:
        """The same type, of rows that are of it already."""
        source = NestedType(
            self.kind,
            dtype=self.dtype,
            size=self.size,
            fields=self.fields,
            name=self.record_name,
            is_tuple=self.is_tuple,
        )
        return replace(self, source=source, items=tuple(item.settled for item in self.items))

    @property
    def is_tuple(self) -> bool:
        """Whether a record is a tuple."""
        return self.source.kind is TypeKind.RECORD and self.source.is_tuple


@dataclass(frozen=True, slots=True)
class TypeNote:
    """Something that the target has another type for, or none."""

    path: TypePath
    what: str

    def __str__(self) -> str:
        where = path_text(self.path)
        return f"{where}: {self.what}" if where else self.what


def path_text(path: TypePath) -> str:
    """Return where in a row something is, for people."""
    return "/".join(step for step in path if step != ITEMS)


def target_type(
    source: NestedType, abilities: Abilities, widened: Set[TypePath] = frozenset()
) -> tuple[TargetType, list[TypeNote]]:
    """Return the type of a target, and what it has not as the source has it.

    Parameters
    ----------
    widened
        Where values are missing although the type of the source says that none are: they could not be read.
    """
    made = _Maker(abilities, widened)
    return made.type(source, ()), made.notes


def check_readable(source: NestedType, *, skip_bad: bool) -> None:
    """Make sure that rows of a type can be read; parts of them may be left out with `skip_bad`.

    Raises
    ------
    RefbrowserError
        `DECODE`: something cannot be read.
    """
    for path, type in parts_of_kind(source, TypeKind.OPAQUE):
        if path and skip_bad:
            continue
        where = path_text(path)
        inside = quoted(where) if where else "the content of its lists"
        what = f"{inside} cannot be read" if path else "cannot be read"
        advice = "--skip-bad writes it as missing" if path else ""
        raise RefbrowserError(ErrorKind.DECODE, f"{what}: {type.name}", advice=advice)


class _Maker:
    """Makes types of the target, and notes what they lack."""

    def __init__(self, abilities: Abilities, widened: Set[TypePath]) -> None:
        self.abilities = abilities
        self.widened = widened
        self.notes: list[TypeNote] = []

    def type(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for one of the source."""
        made = _MAKERS[source.kind](self, source, path)
        return optional(made, source) if path in self.widened else made

    def tell(self, path: TypePath, what: str) -> None:
        """Note a loss."""
        note = TypeNote(path, what)
        if note not in self.notes:
            self.notes.append(note)

    def items(self, source: NestedType, path: TypePath) -> tuple[TargetType, ...]:
        """Return the types for those right below."""
        steps = steps_of(source)
        return tuple(self.type(item, (*path, *step)) for item, step in zip(source.items, steps, strict=True))

    def number(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for numbers and times."""
        dtype = source.known_dtype.newbyteorder("=")
        if dtype.kind == "c" and not self.abilities.complexes:
            return self._complex(source, dtype, path)
        if dtype.kind in "mM":
            return self._time(source, dtype, path)
        if dtype.kind == "f":
            dtype = self._float(dtype, path)
        return TargetType(source, TypeKind.NUMBER, dtype)

    def _float(self, dtype: np.dtype[Any], path: TypePath) -> np.dtype[Any]:
        sizes = self.abilities.floats
        if dtype.itemsize in sizes:
            return dtype
        size = min((each for each in sizes if each > dtype.itemsize), default=max(sizes))
        self.tell(path, f"{dtype} is written as float{size * 8}")
        return np.dtype(f"f{size}")

    def _complex(self, source: NestedType, dtype: np.dtype[Any], path: TypePath) -> TargetType:
        self.tell(path, f"complex numbers are written as records of {' and '.join(COMPLEX_FIELDS)}")
        real = np.empty(0, dtype).real.dtype
        part = TargetType(NestedType(TypeKind.NUMBER, dtype=real), TypeKind.NUMBER, self._float(real, path))
        return TargetType(source, TypeKind.RECORD, items=(part, part), fields=COMPLEX_FIELDS)

    def _time(self, source: NestedType, dtype: np.dtype[Any], path: TypePath) -> TargetType:
        fitting = _fitting_time(dtype, self.abilities.units)
        if fitting != dtype:
            self.tell(path, f"{dtype} is written as {fitting}")
        number = TargetType(source, TypeKind.NUMBER, fitting)
        if not self.abilities.missing_times:
            return number
        self.tell(path, f"no {'time' if dtype.kind == 'M' else 'duration'} (NaT) is written as missing")
        return optional(number, source)

    def list(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for lists."""
        size = source.size
        if size == 0 and not self.abilities.empty_lists:
            self.tell(path, "lists of the fixed size 0 are written as lists of any length")
            size = None
        return TargetType(source, TypeKind.LIST, size=size, items=self.items(source, path))

    def record(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for records."""
        if not source.fields and not self.abilities.empty_records:
            self.tell(path, "records without fields are written as missing")
            return unknown(source)
        return TargetType(source, TypeKind.RECORD, items=self.items(source, path), fields=source.fields)

    def option(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for options: unions hold theirs in each possibility, as awkward has them."""
        inner = self.type(source.items[0], path)
        if inner.kind is TypeKind.UNION:
            return replace(inner, items=tuple(optional(item, item.source) for item in inner.items))
        return optional(inner, source)

    def union(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for unions."""
        items = self.items(source, path)
        if not items:
            return TargetType(source, TypeKind.EMPTY)
        if not self._has_union(source):
            names = _possibility_names(items)
            self.tell(path, f"a union is written as a record with one field set: {', '.join(names)}")
            fields = tuple(optional(item, item.source) for item in items)
            return TargetType(source, TypeKind.RECORD, items=fields, fields=names)
        if any(item.kind is TypeKind.OPTION for item in items):
            items = tuple(optional(item, item.source) for item in items)
        return TargetType(source, TypeKind.UNION, items=items)

    def _has_union(self, source: NestedType) -> bool:
        if not self.abilities.unions or self.abilities.like_possibilities:
            return self.abilities.unions
        return not any(is_made_one(one, other) for one, other in combinations(source.items, 2))

    def plain(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for texts, bytes and what has no elements."""
        return TargetType(source, source.kind)

    def gone(self, source: NestedType, path: TypePath) -> TargetType:
        """Return the type for what is not there: cannot be read, or not followed."""
        if source.kind is TypeKind.LINK:
            self.tell(path, "the type is recursive: deeper levels are written as missing")
        else:
            self.tell(path, f"cannot be read and is written as missing: {source.name}")
        return unknown(source)


_MAKERS: dict[TypeKind, Any] = {
    TypeKind.NUMBER: _Maker.number,
    TypeKind.LIST: _Maker.list,
    TypeKind.RECORD: _Maker.record,
    TypeKind.OPTION: _Maker.option,
    TypeKind.UNION: _Maker.union,
    TypeKind.STRING: _Maker.plain,
    TypeKind.BYTES: _Maker.plain,
    TypeKind.EMPTY: _Maker.plain,
    TypeKind.LINK: _Maker.gone,
    TypeKind.OPAQUE: _Maker.gone,
}


def optional(type: TargetType, source: NestedType) -> TargetType:
    """Return an option of a type; itself where it is one."""
    if type.kind is TypeKind.OPTION:
        return type
    if type.kind is TypeKind.UNION:
        return replace(type, items=tuple(optional(item, item.source) for item in type.items))
    return TargetType(source, TypeKind.OPTION, items=(type,))


def is_made_one(one: NestedType, other: NestedType) -> bool:
    """Tell whether awkward makes one type of two where it simplifies a union."""
    one, other = _inside(one), _inside(other)
    if TypeKind.EMPTY in (one.kind, other.kind):
        return True
    if one.kind is not other.kind:
        return False
    if one.kind is TypeKind.NUMBER:
        first, second = one.known_dtype, other.known_dtype
        return {first.kind, second.kind} <= set("iufc") or first == second
    if one.kind is TypeKind.LIST:
        return is_made_one(one.items[0], other.items[0])
    if one.kind is TypeKind.RECORD:
        theirs = dict(zip(other.fields, other.items, strict=True))
        return set(one.fields) == set(theirs) and all(
            is_made_one(item, theirs[name]) for name, item in zip(one.fields, one.items, strict=True)
        )
    return True


def _inside(type: NestedType) -> NestedType:
    return type.items[0] if type.kind is TypeKind.OPTION else type


def unknown(source: NestedType) -> TargetType:
    """Return the type of what is always missing."""
    return TargetType(source, TypeKind.OPTION, items=(TargetType(source, TypeKind.EMPTY),))


def _fitting_time(dtype: np.dtype[Any], units: tuple[str, ...] | None) -> np.dtype[Any]:
    """Return a type of times in a unit that the target has, fine enough for one of any unit."""
    unit, count = np.datetime_data(dtype)
    if units is None or (count == 1 and (unit in units or (unit == "D" and dtype.kind == "M"))):
        return dtype
    if unit in ("Y", "M", "W", "D") and dtype.kind == "M":
        return np.dtype("M8[D]")
    finest = unit if unit in units else next((each for each in units if _is_finer(each, unit)), units[-1])
    return np.dtype(f"{dtype.kind}8[{finest}]")


def _is_finer(unit: str, other: str) -> bool:
    order = ("Y", "M", "W", "D", "h", "m", *_UNITS, "ps", "fs", "as", "generic")
    return order.index(unit) >= order.index(other)


def _possibility_names(items: tuple[TargetType, ...]) -> tuple[str, ...]:
    """Return names for the possibilities of a union: their types, numbered where these are the same."""
    names: list[str] = []
    for item in items:
        inner = item.items[0] if item.kind is TypeKind.OPTION else item
        name = str(inner.dtype) if inner.dtype is not None else inner.record_name or str(inner.kind)
        names.append(name if name not in names else f"{name}#{len(names)}")
    return tuple(names)
