"""Element types as Zarr metadata spells them, to numpy types."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Structures inside structures.
_DEPTH = 16

_UNITS = "Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as"
_SIMPLE = re.compile(
    r"(?P<order>[<>|]?)(?:(?P<number>b1|i[1248]|u[1248]|f2|f4|f8|f16|c8|c16|c32)"
    r"|(?P<sized>[SUV])(?P<size>[0-9]{1,9})"
    rf"|(?P<time>[mM])8(?:\[(?P<unit>(?:[1-9][0-9]{{0,8}})?(?:{_UNITS}|generic))\])?"
    r"|(?P<object>O8?))\Z"
)
_NUMBERS = {
    "bool": "?",
    **{f"{kind}{bits}": f"{kind[0]}{bits // 8}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits // 8}" for bits in (16, 32, 64)},
    **{f"complex{bits}": f"c{bits // 8}" for bits in (64, 128)},
}
_OBJECTS = {"string", "bytes", "variable_length_bytes"}
_RAW_BITS = re.compile(r"r([1-9][0-9]{0,8})\Z")


def parse_v2(value: Any) -> np.dtype[Any]:
    """Return the type that `dtype` of a ``.zarray`` names.

    Parameters
    ----------
    value
        Text as in numpy's array interface (``<i4``, ``|S10``, ``<M8[ns]``, ``|O``), or a list of fields
        ``[name, type]`` or ``[name, type, shape]``, nested.

    Raises
    ------
    RefbrowserError
        `META`: not a type, or an element larger than the limit.
    """
    return _checked(_parsed_v2(value, 0), value)


def parse_v3(value: Any) -> np.dtype[Any]:
    """Return the type that `data_type` of a ``zarr.json`` names, in little-endian byte order.

    Parameters
    ----------
    value
        A name (``int16``, ``string``, ``r24``), or an object with `name` and `configuration`. Besides the
        core types those of zarr-python 3 are known.

    Raises
    ------
    RefbrowserError
        `META`: not a known type, or an element larger than the limit.
    """
    return _checked(_parsed_v3(value, 0), value)


def with_byte_order(dtype: np.dtype[Any], order: Literal["little", "big"]) -> np.dtype[Any]:
    """Return `dtype` with all its parts in the byte order given."""
    return dtype.newbyteorder("<" if order == "little" else ">")


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the numpy string with byte order; of a structure the list of its fields."""
    return dtype.str if dtype.fields is None and dtype.subdtype is None else str(dtype)


def closed_up(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type with the members of its structures one behind the other, without room between them."""
    if dtype.subdtype is not None:
        return np.dtype((closed_up(dtype.base), dtype.shape))
    members = members_of(dtype)
    return np.dtype([(name, closed_up(each)) for name, each in members]) if members else dtype


def members_of(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    """Return name and type of each member of a structure, in order; nothing of other types."""
    return [] if dtype.fields is None else [(name, dtype.fields[name][0]) for name in dtype.names or ()]


def _parsed_v2(value: Any, depth: int) -> np.dtype[Any]:
    if isinstance(value, str):
        return _simple(value)
    if isinstance(value, list) and value:
        if depth >= _DEPTH:
            raise _wrong(value, f"structures are nested more than {_DEPTH} levels deep")
        return _structure([_field_v2(item, depth) for item in value], value)
    raise _wrong(value)


def _field_v2(item: Any, depth: int) -> tuple[Any, ...]:
    if not isinstance(item, list) or len(item) not in (2, 3) or not isinstance(item[0], str):
        raise _wrong(item, "a field is a list of a name, a type and at most a shape")
    dtype = _parsed_v2(item[1], depth + 1)
    if dtype.hasobject:
        raise _wrong(item, "a structure cannot contain objects")
    return (item[0], dtype, _field_shape(item[2])) if len(item) == 3 else (item[0], dtype)


def _field_shape(value: Any) -> tuple[int, ...]:
    sides = value if isinstance(value, list) else [value]
    if len(sides) > LIMITS.rank or not all(
        type(side) is int and 0 < side <= LIMITS.element_size for side in sides
    ):
        raise _wrong(value, "a field's shape is a list of positive integers")
    return tuple(sides)


def _simple(text: str) -> np.dtype[Any]:
    match = _SIMPLE.match(text)
    if match is None:
        raise _wrong(text)
    if match["object"]:
        return np.dtype(object)
    # Metadata without a byte order is what old writers on little-endian machines left out.
    order = "<" if match["order"] in ("", "|") else match["order"]
    if match["number"]:
        try:
            return np.dtype(order + match["number"])
        except TypeError:
            raise _wrong(text, "this machine has no such type") from None
    if match["sized"]:
        per_item = 4 if match["sized"] == "U" else 1
        if int(match["size"]) * per_item > LIMITS.element_size:
            raise _too_large(text)
        return np.dtype(f"{order}{match['sized']}{match['size']}")
    unit = f"[{match['unit']}]" if match["unit"] and match["unit"] != "generic" else ""
    return np.dtype(f"{order}{match['time']}8{unit}")


def _parsed_v3(value: Any, depth: int) -> np.dtype[Any]:
    name, configuration = _named(value)
    if name in _NUMBERS:
        return np.dtype(_NUMBERS[name]).newbyteorder("<")
    if name in _OBJECTS:
        return np.dtype(object)
    raw = _RAW_BITS.match(name)
    if raw and int(raw[1]) % 8 == 0:
        return _simple(f"|V{int(raw[1]) // 8}")
    if name in ("fixed_length_utf32", "null_terminated_bytes", "raw_bytes"):
        return _fixed_length(name, configuration, value)
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        return _time(name, configuration, value)
    if name in ("structured", "struct"):
        return _structure_v3(configuration, value, depth)
    raise _wrong(value, "the data type is not known")


def _named(value: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        configuration = value.get("configuration", {})
        if isinstance(configuration, dict):
            return value["name"], configuration
    raise _wrong(value)


def _fixed_length(name: str, configuration: dict[str, Any], value: Any) -> np.dtype[Any]:
    size = configuration.get("length_bytes")
    if type(size) is not int or size < 0:
        raise _wrong(value, "length_bytes is not an integer of at least 0")
    if size > LIMITS.element_size:
        raise _too_large(value)
    if name == "fixed_length_utf32":
        if size % 4:
            raise _wrong(value, "length_bytes is not a multiple of 4")
        return np.dtype(f"<U{size // 4}")
    return np.dtype(f"|{'S' if name == 'null_terminated_bytes' else 'V'}{size}")


def _time(name: str, configuration: dict[str, Any], value: Any) -> np.dtype[Any]:
    unit, factor = configuration.get("unit", "generic"), configuration.get("scale_factor", 1)
    if not isinstance(unit, str) or type(factor) is not int or factor < 1:
        raise _wrong(value, "a time needs a unit and a positive scale factor")
    letter = "M" if name == "numpy.datetime64" else "m"
    return _simple(f"<{letter}8[{factor if factor > 1 and unit != 'generic' else ''}{unit}]")


def _structure_v3(configuration: dict[str, Any], value: Any, depth: int) -> np.dtype[Any]:
    items = configuration.get("fields")
    if not isinstance(items, list) or not items or depth >= _DEPTH:
        raise _wrong(value, "a structure needs a list of fields")
    fields: list[tuple[Any, ...]] = []
    for item in items:
        if isinstance(item, dict):
            item = [item.get("name"), item.get("data_type")]
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
            raise _wrong(item, "a field has a name and a type")
        dtype = _parsed_v3(item[1], depth + 1)
        if dtype.hasobject:
            raise _wrong(item, "a structure cannot contain objects")
        fields.append((item[0], dtype))
    return _structure(fields, value)


def _structure(fields: list[tuple[Any, ...]], value: Any) -> np.dtype[Any]:
    try:
        return np.dtype(fields)
    except (TypeError, ValueError) as error:
        raise _wrong(value, str(error)) from None


def _checked(dtype: np.dtype[Any], value: Any) -> np.dtype[Any]:
    if dtype.itemsize > LIMITS.element_size:
        raise _too_large(value)
    return dtype


def _wrong(value: Any, why: str = "") -> RefbrowserError:
    text = f"{quoted(value)} is not a type"
    return RefbrowserError(ErrorKind.META, f"{text}: {why}" if why else text)


def _too_large(value: Any) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.BUDGET, f"an element of type {quoted(value)} is larger than {LIMITS.element_size} bytes"
    )
