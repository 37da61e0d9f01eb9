r"""How names, texts and numbers are spelled in CDL, and what cannot be spelled.

The spelling is that of ``ncdump``; what cannot be spelled follows from what ``ncgen`` reads: ``?`` in a name
comes back as another character, and it takes no letters from U+05C0 to U+07FF in names and no word of its own
language. ``%`` in a name has a backslash, without which ``ncgen`` refuses what ``ncdump`` writes.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import quoted
from refbrowser.model.netcdf.names import FreeNames, Parts, join, name_fault, name_refused
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundType,
    DeclaredType,
    DimensionReference,
    EnumType,
    NetcdfDataset,
    NetcdfGroup,
)

_KEYWORDS = """
_ char byte short int ubyte ushort uint int64 uint64 float double string real long integer ulong uinteger
compound struct structure enum opaque unlimited UNLIMITED netcdf NETCDF netCDF NaN nan NaNf nanf
Infinity Infinityf Inff DoubleInf FloatInf NIL nil Nil
_FillValue _Format _Storage _ChunkSizes _Fletcher32 _DeflateLevel _Shuffle _Endianness _NoFill
_NCProperties _IsNetcdf4 _SuperblockVersion _Filter _Codecs
_QuantizeBitgroomNumberOfSignificantDIgits _QuantizeGranularBitRoundNumberOfSignificantDigits
_QuantizeBitRoundNumberOfSignificantDigits
"""
#: What ``ncgen`` takes for a word of the language wherever it stands.
KEYWORDS = frozenset(_KEYWORDS.split())
#: What ``ncgen`` takes for the head of a section when a colon follows.
SECTIONS = frozenset({"types", "dimensions", "variables", "data", "group"})

_ESCAPED_IN_NAMES = re.compile(r"[ !\"#$%&'()*,:;<=>?\[\]\\^`{|}~]|\A[0-9]")
#: What acts on a terminal, turns the direction of writing or ends a line; and half characters.
_ACTING = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROLS = re.compile(f"[{_ACTING}]")
_NOT_IN_NAMES = re.compile(rf"[?/\u05c0-\u07ff{_ACTING}]")

_ESCAPED_IN_TEXT = re.compile(rf"[\\'\"{_ACTING}]")
_TEXT_ESCAPES = {
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    "'": r"\'",
    '"': r"\"",
}

_SUFFIXES = {
    AtomicType.BYTE: "b",
    AtomicType.UBYTE: "UB",
    AtomicType.SHORT: "s",
    AtomicType.USHORT: "US",
    AtomicType.INT: "",
    AtomicType.UINT: "U",
    AtomicType.INT64: "LL",
    AtomicType.UINT64: "ULL",
}


def escaped_name(name: str) -> str:
    """Return a name with its escapes."""
    return _CONTROLS.sub(
        lambda match: f"\\%{ord(match[0]):02x}", _ESCAPED_IN_NAMES.sub(lambda match: "\\" + match[0], name)
    )


def unwritable(name: str) -> str | None:
    """Return why a name cannot be written so that it is read back, or None."""
    why = name_fault(name) or name_refused(name)
    if why is None and name in KEYWORDS:
        why = f"the name {quoted(name)} is a reserved word of CDL"
    if why is None and _NOT_IN_NAMES.search(name):
        character = _NOT_IN_NAMES.search(name)
        assert character is not None
        why = f"the name {quoted(name)} holds {quoted(character[0])}, which ncgen does not read"
    return why


def writable_name(name: str) -> str:
    """Return the nearest name that can be written."""
    if unwritable(name) is None:
        return name
    nearest = _NOT_IN_NAMES.sub("_", name).rstrip(" ")
    if len(nearest.encode()) > 200:
        nearest = nearest.encode()[:200].decode(errors="ignore")
    if nearest in KEYWORDS:
        nearest = f"{nearest}_"
    first = nearest[:1]
    if first < "\x7f" and not (first.isalnum() or first == "_"):
        nearest = f"_{nearest}"
    return nearest if unwritable(nearest) is None else "unnamed"


def text_constant(text: str) -> str:
    """Return a text between quotation marks, with its escapes."""
    return f'"{_ESCAPED_IN_TEXT.sub(_text_escape, text)}"'


def constants(type: AtomicType, values: Sequence[Any]) -> str:
    """Return the values of an attribute, each with the suffix of its type.

    Floating numbers have the digits of ``ncdump`` where these give back the value, else as many as it takes.
    """
    if not values:
        return '""'
    if type in (AtomicType.CHAR, AtomicType.STRING):
        return ", ".join(map(text_constant, values))
    if type is AtomicType.FLOAT:
        return ", ".join(f"{_float(value, 7, 9, _as_float)}f" for value in values)
    if type is AtomicType.DOUBLE:
        return ", ".join(_float(value, 15, 17, float) for value in values)
    suffix = _SUFFIXES[type]
    return ", ".join(f"{value}{suffix}" for value in values)


def opaque_constant(value: bytes) -> str:
    """Return bytes in hex, as ``0X01020304``."""
    return f"0X{value.hex().upper()}"


def comment(text: str) -> str:
    """Return text as a comment that ends with its line."""
    return "// " + _CONTROLS.sub(" ", text)


def _text_escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _TEXT_ESCAPES:
        return _TEXT_ESCAPES[character]
    if "\udc80" <= character <= "\udcff":
        # A byte that is not UTF-8, as Python keeps it.
        return f"\\{ord(character) - 0xDC00:03o}"
    if "\ud800" <= character <= "\udfff":
        return "\N{REPLACEMENT CHARACTER}"
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def _float(value: float, least: int, most: int, stored: Any) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = ""
    for digits in range(least, most + 1):
        text = f"{value:#.{digits}g}"
        if stored(float(text)) == stored(value):
            break
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa.rstrip('0')}{exponent}{power}"


def _as_float(value: float) -> float:
    """Return a number as a float of 4 bytes holds it."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


@dataclass(frozen=True, slots=True)
class GroupSpelling:
    """The names of what a group declares, in the order of its declarations."""

    types: tuple[str, ...]
    dimensions: tuple[str, ...]
    variables: tuple[str, ...]
    groups: tuple[str, ...]


class CdlSpelling:
    """The names of all parts of a dataset."""

    def __init__(self, dataset: NetcdfDataset) -> None:
        #: In the order in which groups are written.
        self._groups: dict[Parts, GroupSpelling] = {}
        self._position: dict[Parts, int] = {}
        #: The spelled path of each dimension by its FQN.
        self._dimensions: dict[str, Parts] = {}
        self._spelled_dimensions: set[Parts] = set()
        self._spelled_types: set[Parts] = set()
        self._types: dict[tuple[Parts, DeclaredType], Parts] = {}
        pending: list[tuple[Parts, Parts, NetcdfGroup]] = [((), (), dataset.root)]
        while pending:
            parts, spelled, group = pending.pop()
            names = _spelled(group)
            self._position[spelled] = len(self._groups)
            self._groups[spelled] = names
            for dimension, name in zip(group.dimensions, names.dimensions, strict=True):
                self._dimensions.setdefault(join((*parts, dimension.name)), (*spelled, name))
                self._spelled_dimensions.add((*spelled, name))
            for declared, name in zip(group.types, names.types, strict=True):
                self._types[spelled, declared] = (*spelled, name)
                self._spelled_types.add((*spelled, name))
            for below, name in zip(reversed(group.groups), reversed(names.groups), strict=True):
                pending.append(((*parts, below.name), (*spelled, name), below))

    def of_group(self, spelled: Parts) -> GroupSpelling:
        """Return the names of what a group declares, by the spelled path of the group."""
        return self._groups[spelled]

    def dimension(self, reference: DimensionReference, group: Parts) -> str | None:
        """Return how a variable in `group` refers to a dimension.

        None where there is no such dimension, or where a later group declares it: ``ncgen`` looks at none.
        """
        target = self._dimensions.get(reference.path)
        if target is None or self._position[target[:-1]] > self._position[group]:
            return None
        return _reference(target, group, self._spelled_dimensions)

    def type(self, type: DeclaredType, group: Parts) -> str | None:
        """Return how a type is referred to in `group`; None where no group around it declares the type."""
        for depth in range(len(group), -1, -1):
            target = self._types.get((group[:depth], type))
            if target is not None:
                return _reference(target, group, self._spelled_types)
        return None


def spelled_fields(type: CompoundType) -> tuple[str, ...]:
    """Return the names of the fields of a compound type."""
    free = FreeNames()
    return tuple(free.take(_wish(field.name)) for field in type.fields)


def spelled_values(type: EnumType) -> dict[int, str]:
    """Return the names of the values of an enumeration."""
    free = FreeNames()
    return {value: free.take(_wish(name)) for value, name in type.names}


def _spelled(group: NetcdfGroup) -> GroupSpelling:
    variables, dimensions = FreeNames(), FreeNames()
    of_variables = tuple(variables.take(_wish(variable.name)) for variable in group.variables)
    of_dimensions = tuple(dimensions.take(_wish(dimension.name)) for dimension in group.dimensions)
    others = FreeNames((*of_variables, *of_dimensions))
    return GroupSpelling(
        variables=of_variables,
        dimensions=of_dimensions,
        types=tuple(others.take(_wish(each.name)) for each in group.types),
        groups=tuple(others.take(_wish(below.name)) for below in group.groups),
    )


def _wish(name: str) -> str:
    return writable_name(unicodedata.normalize("NFC", name))


def _reference(target: Parts, group: Parts, declared: set[Parts]) -> str:
    """Return the bare name where looking outwards from `group` finds the target first, else its path."""
    name = target[-1]
    for depth in range(len(group), -1, -1):
        found = (*group[:depth], name)
        if found in declared:
            if found == target:
                return escaped_name(name)
            break
    return "/" + "/".join(map(escaped_name, target))
