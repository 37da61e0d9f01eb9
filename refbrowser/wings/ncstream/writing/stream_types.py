"""Types of any dataset as those that a stream has; dates and durations as numbers with units (CF, 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.cf import named_flags
from refbrowser.model.data_type import enum_name_of, names_of, rows_of
from refbrowser.model.dtypes import members_of
from refbrowser.model.exact_numbers import narrowed
from refbrowser.model.netcdf.names import FreeNames
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDimension,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.writing.encoding import in_wire_order

#: The words of CF for the units of numpy that have a fixed length.
_UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "ps": "picoseconds",
    "fs": "femtoseconds",
    "as": "attoseconds",
}
#: Units that are counted in days.
_DATES = ("W", "M", "Y")
#: What numpy holds where there is no time.
_NOT_A_TIME = -(2**63)


@dataclass(frozen=True, slots=True)
class TimeNumbers:
    """How times of one numpy type are written as numbers of eight bytes.

    Attributes
    ----------
    attributes
        That tell what the numbers mean.
    told
        What is not as in the source, in words.
    """

    wanted: np.dtype[Any]
    attributes: tuple[StreamAttribute, ...]
    told: tuple[str, ...]

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return times as numbers."""
        return values.astype(self.wanted).astype("i8")


def time_numbers(dtype: np.dtype[Any]) -> TimeNumbers:
    """Return how times of a numpy type (`datetime64` or `timedelta64`) are written."""
    letter = dtype.kind
    unit, _ = np.datetime_data(dtype)
    # Months and years have no fixed length: dates of them are days, numbers of them stay.
    if unit == "W" or (unit in _DATES and letter == "M"):
        unit = "D"
    named = _UNITS.get(unit)
    if named is None:
        wanted = np.dtype(f"{letter}8" if unit == "generic" else f"{letter}8[{unit}]")
        told = f"{dtype.name} is written as plain numbers: CF has no unit for it"
        return TimeNumbers(wanted, (), (told,))
    wanted = np.dtype(f"{letter}8[{unit}]")
    missing = StreamAttribute("_FillValue", StreamType.LONG, (_NOT_A_TIME,))
    if letter == "m":
        told = f"{dtype.name} is written as long with units {named!r}"
        return TimeNumbers(wanted, (_text("units", named), missing), (told,))
    units = f"{named} since 1970-01-01"
    attributes = (_text("units", units), _text("calendar", "proleptic_gregorian"), missing)
    return TimeNumbers(wanted, attributes, (f"{dtype.name} is written as long with units {units!r}",))


def _text(name: str, value: str) -> StreamAttribute:
    return StreamAttribute(name, StreamType.STRING, (value,))


Values = npt.NDArray[Any]
#: Changes an array of elements; axes that an element has of its own come last.
Convert = Callable[[Values], Values]

_INTEGERS = {
    "i1": StreamType.BYTE,
    "i2": StreamType.SHORT,
    "i4": StreamType.INT,
    "i8": StreamType.LONG,
    "u1": StreamType.UBYTE,
    "u2": StreamType.USHORT,
    "u4": StreamType.UINT,
    "u8": StreamType.ULONG,
}
_ENUMS = {"u1": StreamType.ENUM1, "u2": StreamType.ENUM2, "u4": StreamType.ENUM4}
_OBJECTS = np.dtype(object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What one element becomes.

    Attributes
    ----------
    dtype
        Of the changed values.
    shape
        Axes that it has of its own.
    convert
        Changes values; None where they stay.
    is_ragged
        It is a row with a length of its own, `type` being that of the elements of the row.
    members
        Of a structure.
    attributes
        That its meaning needs: units of times, names of values.
    enumeration, enum_name
        Names of values, and what they are called together.
    member_enums
        Those of members, by name.
    told
        What is not as in the source, in words.
    beside
        Members of a structure that have no form in its rows: variables of their own.
    """

    type: StreamType
    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()
    convert: Convert | None = None
    is_ragged: bool = False
    members: tuple[StreamVariable, ...] = ()
    attributes: tuple[StreamAttribute, ...] = ()
    enumeration: Mapping[int, str] = field(default_factory=dict)
    enum_name: str = ""
    member_enums: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()

    def converted(self, values: Values) -> Values:
        """Return elements as they are encoded."""
        return values if self.convert is None else self.convert(values)


@dataclass(frozen=True, slots=True)
class Beside:
    """A member of a structure that is written as a variable of its own.

    Attributes
    ----------
    names
        From the outermost member.
    shape
        Axes that it has within the structure, those of structures around it first.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    element: Element

    def taken(self, values: Values) -> Values:
        """Return the member of each structure, as it is encoded."""
        for name in self.names:
            values = values[name]
        return self.element.converted(values)


def element_of(dtype: np.dtype[Any]) -> Element:
    """Return what elements of a numpy type become; texts of fixed size are characters, one byte each.

    Raises
    ------
    RefbrowserError
        `META`: a stream has no form for them.
    """
    if names := names_of(dtype):
        return enum_element(dtype, names, enum_name_of(dtype))
    if dtype.kind in "mM":
        times = time_numbers(dtype)
        return Element(
            type=StreamType.LONG,
            dtype=np.dtype("i8"),
            convert=times,
            attributes=times.attributes,
            told=times.told,
        )
    if dtype.kind == "V" and dtype.names is not None:
        return structure_element(dtype)
    found = _plain(dtype)
    if found is None:
        message = f"a stream cannot hold elements of type {quoted(dtype)}"
        raise RefbrowserError(ErrorKind.META, message)
    return found


def _plain(dtype: np.dtype[Any]) -> Element | None:
    """Return what elements become that are neither times nor structures of the source."""
    letter, size = dtype.kind, dtype.itemsize
    if letter in "iu":
        return Element(type=_INTEGERS[f"{letter}{size}"], dtype=dtype)
    if letter == "b":
        return _cast(StreamType.BYTE, "i1", "bool is written as byte: 0 and 1")
    if letter == "f":
        return _float(dtype)
    if letter == "c":
        part = np.dtype("f4" if size == 8 else "f8")
        pair = np.dtype([("r", part), ("i", part)])
        told = ("complex numbers are written as structures of r and i",)
        inner = structure_element(pair)
        return Element(
            type=StreamType.STRUCTURE, dtype=pair, convert=_Pairs(pair), members=inner.members, told=told
        )
    if letter == "U" or (letter == "O" and rows_of(dtype) in (str, None)):
        return Element(type=StreamType.STRING, dtype=_OBJECTS if letter == "O" else dtype)
    if letter == "O":
        return ragged_element(rows_of(dtype))
    if letter == "S" and size:
        own = (size,) if size > 1 else ()
        return Element(
            type=StreamType.CHAR, dtype=np.dtype("S1"), shape=own, convert=_Split("S1", own) if own else None
        )
    if letter == "V" and size:
        told = ("opaque bytes of a fixed number are written as unsigned bytes",)
        split = _Split("u1", (size,))
        return Element(type=StreamType.UBYTE, dtype=np.dtype("u1"), shape=(size,), convert=split, told=told)
    return None


def _float(dtype: np.dtype[Any]) -> Element:
    if dtype.itemsize == 2:
        return _cast(StreamType.FLOAT, "f4", "float16 is written as float")
    if dtype.itemsize > 8:
        return _cast(StreamType.DOUBLE, "f8", "long double is written as double, which is less exact")
    return Element(type=StreamType.FLOAT if dtype.itemsize == 4 else StreamType.DOUBLE, dtype=dtype)


def _cast(type: StreamType, name: str, told: str) -> Element:
    return Element(type=type, dtype=np.dtype(name), convert=_Cast(name), told=(told,))


def enum_element(dtype: np.dtype[Any], names: Mapping[int, str], name: str) -> Element:
    """Return what integers with names become: an enumeration, or integers with CF flags.

    Enumerations of streams are unsigned and have at most four bytes.
    """
    type = _ENUMS.get(f"{dtype.kind}{dtype.itemsize}")
    if type is not None and all(code >= 0 for code in names):
        return Element(type=type, dtype=dtype, enumeration=dict(names), enum_name=name)
    plain = _INTEGERS[f"{dtype.kind}{dtype.itemsize}"]
    said = named_flags(names)
    flags = (
        StreamAttribute("flag_values", plain, tuple(said["flag_values"])),
        StreamAttribute("flag_meanings", StreamType.STRING, (said["flag_meanings"],)),
    )
    told = "streams have no such enumerations: integers with flag_values and flag_meanings are written"
    return Element(type=plain, dtype=dtype, attributes=flags, told=(told,))


def ragged_element(rows: Any) -> Element:
    """Return what rows with a length of their own become; `rows` is bytes, or the type of their elements.

    Raises
    ------
    RefbrowserError
        `META`: rows of such elements have no form in a stream.
    """
    if rows is bytes:
        return Element(type=StreamType.UBYTE, dtype=_OBJECTS, convert=_Rows(_bytes_row), is_ragged=True)
    inner = element_of(rows)
    if inner.type.dtype is None or inner.shape:
        raise RefbrowserError(ErrorKind.META, f"a stream cannot hold rows of type {quoted(rows)}")
    convert = None if inner.convert is None else _Rows(inner.convert)
    return Element(
        type=inner.type,
        dtype=_OBJECTS,
        convert=convert,
        is_ragged=True,
        attributes=inner.attributes,
        enumeration=inner.enumeration,
        enum_name=inner.enum_name,
        told=inner.told,
    )


def structure_element(dtype: np.dtype[Any]) -> Element:
    """Return what structures become.

    Raises
    ------
    RefbrowserError
        `META`: no field has a form in a stream.
    """
    given = members_of(dtype)
    made: dict[str, tuple[Element, tuple[int, ...]]] = {}
    sources: dict[str, str] = {}
    free = FreeNames(name for name, _ in given if "/" not in name)
    beside: list[Beside] = []
    told: list[str] = []
    enums: dict[str, Mapping[int, str]] = {}
    for name, member in given:
        base, shape = member.base, member.shape
        try:
            inner = element_of(base)
        except RefbrowserError as error:
            told.append(f"the field {quoted(name)} is left out: {error.message}")
            continue
        told += (f"field {quoted(name)}: {text}" for text in inner.told)
        if inner.is_ragged:
            beside.append(Beside((name,), shape, inner))
            continue
        if inner.enumeration:
            inner = replace(inner, enum_name=inner.enum_name or f"{name}_t")
            enums[inner.enum_name] = inner.enumeration
        enums |= inner.member_enums
        own = name
        if "/" in name:
            own = free.take(name.replace("/", "%2F"))
            told.append(
                f"the field {quoted(name)} is written as {quoted(own)}: a name cannot contain a slash"
            )
        made[own], sources[own] = (inner, shape), name
        beside += (Beside((name, *each.names), (*shape, *each.shape), each.element) for each in inner.beside)
    members = in_wire_order([_member(name, *found) for name, found in made.items()])
    if not members and not beside:
        raise RefbrowserError(ErrorKind.META, "no field of the structure can be written to a stream")
    if [member.name for member in members] != list(made):
        told.append("fields that are structures come after the others")
    plain = all(inner.convert is None and sources[name] == name for name, (inner, _) in made.items())
    wanted = np.dtype([(name, inner.dtype, (*shape, *inner.shape)) for name, (inner, shape) in made.items()])
    return Element(
        type=StreamType.STRUCTURE,
        dtype=wanted,
        convert=None
        if plain
        else _Fields(wanted, {name: (sources[name], inner) for name, (inner, _) in made.items()}),
        members=members,
        member_enums=enums,
        told=tuple(told),
        beside=tuple(beside),
    )


def _member(name: str, element: Element, shape: tuple[int, ...]) -> StreamVariable:
    attributes = {attribute.name: attribute for attribute in element.attributes}
    return StreamVariable(
        name=name,
        type=element.type,
        dimensions=private((*shape, *element.shape)),
        attributes=attributes,
        members=element.members,
        enum_name=element.enum_name,
    )


def private(shape: tuple[int, ...]) -> tuple[StreamDimension, ...]:
    """Return dimensions without a name that nothing shares."""
    return tuple(StreamDimension("", side, is_private=True) for side in shape)


@dataclass(frozen=True, slots=True)
class _Cast:
    """Changes numbers to another type, in which there is room for them."""

    name: str

    def __call__(self, values: Values) -> Values:
        return narrowed(values, np.dtype(self.name)).astype(self.name, copy=False)


@dataclass(frozen=True, slots=True)
class _Split:
    """Changes elements of some bytes to single ones, along an axis of their own."""

    name: str
    shape: tuple[int, ...]

    def __call__(self, values: Values) -> Values:
        apart = np.ascontiguousarray(values).reshape(-1).view(self.name)
        return apart.reshape((*values.shape, *self.shape))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Changes complex numbers to structures."""

    dtype: np.dtype[Any]

    def __call__(self, values: Values) -> Values:
        pairs = np.empty(values.shape, self.dtype)
        pairs["r"], pairs["i"] = values.real, values.imag
        return pairs


@dataclass(frozen=True, slots=True)
class _Rows:
    """Changes the elements of each row."""

    inner: Convert

    def __call__(self, values: Values) -> Values:
        changed = np.empty(values.size, object)
        for number, row in enumerate(values.reshape(-1)):
            changed[number] = self.inner(row)
        return changed.reshape(values.shape)


def _bytes_row(row: Any) -> Values:
    return np.frombuffer(bytes(row), np.uint8)


@dataclass(frozen=True, slots=True)
class _Fields:
    """Changes the fields of structures."""

    dtype: np.dtype[Any]
    #: The names that fields have in the source, and what they become, by their names in the stream.
    fields: Mapping[str, tuple[str, Element]]

    def __call__(self, values: Values) -> Values:
        changed = np.empty(values.shape, self.dtype)
        for name, (source, element) in self.fields.items():
            changed[name] = element.converted(values[source])
        return changed
