"""Declared properties of arrays, and where an array deviates from them; anybody may have written them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from glob import escape
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.cf import Packing

#: What is declared of a dimension or chunk that may have any length.
ANY = "any"
#: Attributes that are declared by their own names beside the others.
_OWN = ("units", "calendar")
#: What precedes the names of codecs of version 2 in version 3, and the codec that is only a byte order.
_PREFIX, _ORDER = "numcodecs.", "bytes"
#: Properties that are many.
_MANY = ("chunks", "codecs", "dimensions", "units", "values")
#: Letters of a value in words.
_SHOWN = 60

#: Lowest and highest value; None for no bound.
Bounds: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """What is known of an array without reading values.

    Attributes
    ----------
    dtype
        As numpy spells it, ``<i2``, or as text where it is none of numpy's.
    chunks
        The shape of the largest; None of an axis whose chunks are unequal.
    codecs
        Name and settings of each in encoding order, byte orders not among them.
    fill, attributes
        As JSON has them.
    """

    path: str
    dtype: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    chunks: tuple[int | None, ...]
    codecs: tuple[Mapping[str, Any], ...]
    fill: Any
    attributes: Mapping[str, Any]


class Deviation(NamedTuple):
    """A property that is not as declared: its name, what is declared, and what is there, in words."""

    name: str
    declared: str
    found: str

    @property
    def words(self) -> str:
        """What is declared and what is there."""
        return f"{self.name} {self.verb} {self.found}, declared {self.declared}"

    @property
    def verb(self) -> str:
        """What follows its name."""
        return "are" if self.name in _MANY else "is"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredArray:
    """What is declared of an array, or of those whose paths or names are like a pattern.

    Attributes
    ----------
    name
        A path, a name, or a pattern of either.
    optional
        Whether it need not be there.
    shape, chunks
        None for any length of an axis.
    codecs
        Name, and settings that it must have.
    attributes
        None for any value; in a text ``*`` stands for anything.
    bounds
        Lowest and highest value, unpacked; None for no bound.
    """

    name: str
    optional: bool = False
    dtype: str | None = None
    dimensions: tuple[str, ...] | None = None
    shape: tuple[int | None, ...] | None = None
    chunks: tuple[int | None, ...] | None = None
    codecs: tuple[Mapping[str, Any], ...] | None = None
    fill: Any = None
    has_fill: bool = False
    attributes: Mapping[str, Any] = field(default_factory=dict)
    bounds: Bounds | None = None

    @property
    def is_pattern(self) -> bool:
        """Whether its name may be like those of several arrays."""
        return any(sign in self.name for sign in "*?[")

    @property
    def is_one(self) -> bool:
        """Whether it is about one array, which is to be there."""
        return not self.optional and not self.is_pattern

    def is_about(self, path: str) -> bool:
        """Tell whether its name is like that of the array at a path."""
        return any(fnmatchcase(name, self.name) for name in _names_of(path))

    def deviations(self, facts: ArrayFacts) -> Iterator[Deviation]:
        """Yield the properties of an array that are otherwise."""
        if self.dtype is not None and not _is_type(self.dtype, facts.dtype):
            yield Deviation("dtype", self.dtype, facts.dtype)
        if self.dimensions is not None and self.dimensions != facts.dimensions:
            yield Deviation("dimensions", _listed(self.dimensions), _listed(facts.dimensions))
        for name, declared, found in (
            ("shape", self.shape, facts.shape),
            ("chunks", self.chunks, facts.chunks),
        ):
            if declared is not None and not _are_sides(declared, found):
                yield Deviation(name, _sides(declared), _sides(found))
        if self.codecs is not None and not _are_codecs(self.codecs, facts.codecs):
            yield Deviation("codecs", _codec_words(self.codecs), _codec_words(facts.codecs))
        if self.has_fill and not _is_value(self.fill, facts.fill):
            yield Deviation("fill", _shown(self.fill), _shown(facts.fill))
        for name, value in self.attributes.items():
            if name not in facts.attributes:
                yield Deviation(name, "there" if value is None else _shown(value), "missing")
            elif value is not None and not _is_value(value, facts.attributes[name]):
                yield Deviation(name, _shown(value), _shown(facts.attributes[name]))

    def without(self, names: set[str]) -> DeclaredArray:
        """Return what is declared where an array lacks some of the dimensions."""
        if self.dimensions is None or not names & set(self.dimensions):
            return self
        kept = [axis for axis, name in enumerate(self.dimensions) if name not in names]

        def some(sides: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
            is_whole = sides is not None and len(sides) == len(self.dimensions or ())
            return tuple(sides[axis] for axis in kept) if is_whole and sides is not None else None

        dimensions = tuple(self.dimensions[axis] for axis in kept)
        return replace(self, dimensions=dimensions, shape=some(self.shape), chunks=some(self.chunks))


@dataclass(frozen=True)
class Declarations:
    """What is declared of the arrays of a dataset; of nothing where it is empty."""

    arrays: tuple[DeclaredArray, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.arrays)

    def deviations(self, facts: ArrayFacts) -> list[Deviation]:
        """Return where an array is otherwise than declared, each property once."""
        found: dict[str, Deviation] = {}
        for each in self._about(facts.path):
            for deviation in each.deviations(facts):
                found.setdefault(deviation.name, deviation)
        return list(found.values())

    def without(self, dimensions: Iterable[str]) -> Declarations:
        """Return what is declared of arrays that lack some dimensions, which are made of many of them."""
        names = set(dimensions)
        return Declarations(tuple(each.without(names) for each in self.arrays)) if names else self

    def missing(self, paths: Iterable[str]) -> list[str]:
        """Return the arrays that should be there and are not among the paths of a dataset."""
        there = {name for path in paths for name in _names_of(path)}
        return [each.name for each in self.arrays if each.is_one and each.name not in there]

    def bounded(self, path: str) -> DeclaredArray | None:
        """Return what declares bounds of the values of an array; None where nothing does."""
        return next((each for each in self._about(path) if each.bounds is not None), None)

    def _about(self, path: str) -> list[DeclaredArray]:
        """Return what is about an array, in order; of thousands only patterns are tried one by one."""
        by_name, patterns = self._places
        found = {at for name in _names_of(path) if (at := by_name.get(name)) is not None}
        found |= {at for at in patterns if self.arrays[at].is_about(path)}
        return [self.arrays[at] for at in sorted(found)]

    @cached_property
    def _places(self) -> tuple[dict[str, int], list[int]]:
        """Where each name stands, and which are patterns."""
        by_name = {each.name: at for at, each in enumerate(self.arrays)}
        return by_name, [at for at, each in enumerate(self.arrays) if each.is_pattern]


def _names_of(path: str) -> tuple[str, str]:
    """Return what an array may be called: its path and its name."""
    return path, path.rpartition("/")[2]


def outside_bounds(bounds: Bounds, values: npt.NDArray[Any], packing: Packing) -> Deviation | None:
    """Return how values, unpacked, deviate from bounds, or None; stored ones that mean none are left out."""
    low, high = bounds
    # What is outside of the valid range is looked at too.
    physical = replace(packing, valid_min=None, valid_max=None).decode(values)
    valid = physical[~np.isnan(physical)]
    if not valid.size:
        return None
    lowest, highest = float(valid.min()), float(valid.max())
    if (low is None or lowest >= low) and (high is None or highest <= high):
        return None
    return Deviation("values", f"{_bound(low)} to {_bound(high)}", f"{lowest:g} to {highest:g}")


# Read from JSON


def parse_declarations(said: Mapping[str, Any]) -> Declarations:
    """Return what the member ``declares`` of a file says: ``{"arrays": {"/t2m": {"dtype": "i2", ...}}}``.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: a member is not known or not of its form; `E_BUDGET`: there are too many arrays.
    """
    arrays = said.get("arrays", {})
    unknown = said.keys() - {"arrays"}
    if unknown or not isinstance(arrays, Mapping):
        raise _schema("declares", f"has {quoted(min(unknown))}" if unknown else "has no object of arrays")
    if len(arrays) > LIMITS.declared_arrays:
        message = f"{len(arrays)} arrays are declared, more than {LIMITS.declared_arrays} (declared_arrays)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    return Declarations(tuple(_parsed(name, value) for name, value in arrays.items()))


def _parsed(name: str, said: Any) -> DeclaredArray:
    if not isinstance(said, Mapping):
        raise _schema(name, "is not an object")
    unknown = said.keys() - {*_MEMBERS, *_OWN}
    if unknown:
        raise _schema(name, f"has {quoted(min(unknown))}; known are {', '.join((*_MEMBERS, *_OWN))}")
    told: dict[str, Any] = {}
    for member, value in said.items():
        if member in _MEMBERS:
            try:
                told |= _MEMBERS[member](value)
            except (TypeError, ValueError):
                raise _schema(name, f"has {quoted(member)} of another form: {quoted(value)}") from None
    own = {each: said[each] for each in _OWN if each in said}
    return DeclaredArray(name=name, **{**told, "attributes": {**told.get("attributes", {}), **own}})


def _schema(name: str, message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} {message}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))


def _lengths(value: Any) -> tuple[int | None, ...]:
    if not isinstance(value, list):
        raise TypeError
    if any(side is not None and (type(side) is not int or side < 0) for side in value):
        raise ValueError
    return tuple(value)


def _codecs(value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list):
        raise TypeError
    found = [{"name": each} if isinstance(each, str) else each for each in value]
    if not all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in found):
        raise ValueError
    return tuple(plain_codec(each["name"], _settings(each)) for each in found)


def _settings(codec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in codec.items() if name != "name"}


def _range(value: Any) -> Bounds:
    low, high = value
    if any(type(each) not in (int, float, type(None)) for each in value) or not isinstance(value, list):
        raise TypeError
    if low is not None and high is not None and low > high:
        raise ValueError
    return low, high


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


#: Members of what is declared of an array, and what each gives of a `DeclaredArray`.
_MEMBERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "optional": lambda value: {"optional": _truth(value)},
    "dtype": lambda value: {"dtype": _text(value)},
    "dimensions": lambda value: {"dimensions": _texts(value)},
    "shape": lambda value: {"shape": _lengths(value)},
    "chunks": lambda value: {"chunks": _lengths(value)},
    "codecs": lambda value: {"codecs": _codecs(value)},
    "fill": lambda value: {"fill": value, "has_fill": True},
    "attributes": lambda value: {"attributes": _object(value)},
    "range": lambda value: {"bounds": _range(value)},
}


def plain_codec(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a codec by the name that it has in both versions of Zarr, with its settings."""
    return {"name": name.removeprefix(_PREFIX), **settings}


def is_codec(name: str) -> bool:
    """Tell whether a codec does more than say the order of bytes."""
    return name != _ORDER


# Learned of what is there


def learned(arrays: Iterable[ArrayFacts], growing: Iterable[str]) -> dict[str, Any]:
    """Return what arrays that are there declare, as JSON: what may differ in added files is left open.

    Parameters
    ----------
    growing
        Dimensions that get longer.
    """
    along = set(growing)
    return {"arrays": {each.path: _learned(each, along) for each in arrays}}


#: Attributes that say what stored numbers mean.
_MEANING = ("units", "calendar", "standard_name", "scale_factor", "add_offset", "_FillValue", "missing_value")


def _learned(facts: ArrayFacts, growing: set[str]) -> dict[str, Any]:
    kept = {name: facts.attributes[name] for name in _MEANING if name in facts.attributes}
    units = kept.get("units")
    if isinstance(units, str) and " since " in units:
        # Each file may count from its own date.
        kept["units"] = f"{escape(units.partition(' since ')[0])} since *"
    said: dict[str, Any] = {
        "dtype": facts.dtype.lstrip("<>|="),
        "dimensions": list(facts.dimensions),
        "shape": [
            None if name in growing else side
            for name, side in zip(facts.dimensions, facts.shape, strict=True)
        ],
    }
    if facts.dimensions != (facts.path.rpartition("/")[2],):
        # The values of coordinates stand in documents, stored otherwise than in files.
        said["chunks"] = [
            None if name in growing and side == whole else side
            for name, side, whole in zip(facts.dimensions, facts.chunks, facts.shape, strict=True)
        ]
        said["codecs"] = [each["name"] for each in facts.codecs]
        said["fill"] = facts.fill
    said |= {name: kept.pop(name) for name in _OWN if name in kept}
    return said | ({"attributes": kept} if kept else {})


# Comparing


def _is_type(declared: str, found: str) -> bool:
    try:
        wanted, there = np.dtype(declared), np.dtype(found)
    except (TypeError, ValueError, SyntaxError):
        return declared == found
    if declared[:1] in "<>":
        return wanted == there
    return wanted.newbyteorder("=") == there.newbyteorder("=")


def _are_sides(declared: tuple[int | None, ...], found: tuple[int | None, ...]) -> bool:
    return len(declared) == len(found) and all(
        one is None or one == other for one, other in zip(declared, found, strict=True)
    )


def _are_codecs(declared: tuple[Mapping[str, Any], ...], found: tuple[Mapping[str, Any], ...]) -> bool:
    return len(declared) == len(found) and all(
        each.items() <= other.items() for each, other in zip(declared, found, strict=True)
    )


def _is_value(declared: Any, found: Any) -> bool:
    """Tell whether a value is the declared one: numbers by value, texts by pattern, one of a list like it."""
    if isinstance(found, list) and len(found) == 1 and not isinstance(declared, list):
        found = found[0]
    if isinstance(declared, str) and isinstance(found, str):
        return declared == found or ("*" in declared and fnmatchcase(found, declared))
    if isinstance(declared, float) and isinstance(found, float) and math.isnan(declared):
        return math.isnan(found)
    if isinstance(declared, bool) or isinstance(found, bool):
        return declared is found
    return bool(declared == found)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _sides(sides: tuple[int | None, ...]) -> str:
    return " × ".join(ANY if side is None else str(side) for side in sides) or "none"


def _codec_words(codecs: tuple[Mapping[str, Any], ...]) -> str:
    words = []
    for each in codecs:
        inner = ", ".join(f"{name} {value}" for name, value in _settings(each).items())
        words.append(f"{each['name']} ({inner})" if inner else str(each["name"]))
    return " + ".join(words) or "none"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _bound(value: float | None) -> str:
    return "…" if value is None else f"{value:g}"
