"""What HDF-EOS2 says of grids and swaths: objects in objects, in the attribute ``StructMetadata.0``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

#: Objects in objects, and how many there are.
_DEPTH, _OBJECTS = 16, 20_000
_PART = re.compile(r"StructMetadata\.(\d{1,3})\Z")
_LINE = re.compile(r"\s*(\w+)\s*=\s*(.*?)\s*\Z")
_ENTRY = re.compile(r'"([^"]*)"|([^\s,()"]+)')
#: Points of an axis that is computed.
_MOST = 1 << 20
#: Projections whose corners are degrees, packed as DDDMMMSSS.SS; of others they are metres.
_GEOGRAPHIC = "GCTP_GEO"
#: The place in a cell that coordinates are of where nothing else is said.
_CENTER = "HDFE_CENTER"
#: What is told of a grid.
_TOLD = ("Projection", "ProjParams", "SphereCode", "ZoneCode")
_PLACES = {
    "x": {"units": "degrees_east", "standard_name": "longitude"},
    "y": {"units": "degrees_north", "standard_name": "latitude"},
}


@dataclass(slots=True)
class OdlObject:
    """A group or object of the text: what it says, and what is in it."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    objects: list[OdlObject] = field(default_factory=list)

    def walk(self) -> Iterator[OdlObject]:
        """Yield it, and all that is in it."""
        yield self
        for each in self.objects:
            yield from each.walk()


@dataclass(frozen=True, slots=True)
class Axis:
    """The coordinates of a dimension of a grid, at the centres of its cells."""

    name: str
    values: npt.NDArray[np.float64]
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EosPart:
    """A grid or a swath.

    Attributes
    ----------
    name
        That of its group.
    attributes
        What it says of itself: projection, how dimensions of a swath belong together.
    axes
        Of a grid whose corners are known.
    """

    name: str
    attributes: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()


def structure_text(attributes: Mapping[str, Any]) -> str:
    """Return the text, which attributes of a file hold in parts; empty where there is none."""
    found = {}
    for name, value in attributes.items():
        part = _PART.match(name)
        if part is not None and isinstance(value, str):
            found[int(part[1])] = value
    return "".join(found[number] for number in sorted(found))


def eos_parts(text: str) -> list[EosPart]:
    """Return the grids and swaths that a text describes.

    Raises
    ------
    ValueError
        It is not of the form that such a text has.
    """
    root = _parsed(text)
    parts = []
    for each in root.walk():
        if isinstance(each.values.get("GridName"), str):
            parts.append(_grid(each))
        elif isinstance(each.values.get("SwathName"), str):
            parts.append(_mapped(each))
    return parts


def _parsed(text: str) -> OdlObject:
    root = OdlObject("")
    open_objects = [root]
    count = 0
    for line in text.replace("\0", "").splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        key, said = found.groups()
        if key in ("GROUP", "OBJECT"):
            count += 1
            if len(open_objects) > _DEPTH or count > _OBJECTS:
                raise ValueError("it has too many objects")
            made = OdlObject(said)
            open_objects[-1].objects.append(made)
            open_objects.append(made)
        elif key in ("END_GROUP", "END_OBJECT"):
            if len(open_objects) == 1 or open_objects[-1].name != said:
                raise ValueError(f"{key} of {said} ends nothing")
            open_objects.pop()
        else:
            open_objects[-1].values[key] = _value(said)
    if len(open_objects) > 1:
        raise ValueError(f"{open_objects[-1].name} has no end")
    return root


def _value(text: str) -> Any:
    """Return a text, a number, or a list of these."""
    entries = [_entry(quoted, plain) for quoted, plain in _ENTRY.findall(text)]
    return entries if text.startswith("(") else entries[0] if entries else ""


def _entry(quoted: str, plain: str) -> Any:
    if not plain:
        return quoted
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return plain


def _grid(said: OdlObject) -> EosPart:
    values = said.values
    told: dict[str, Any] = {name: values[name] for name in _TOLD if name in values}
    upper, lower = (_point(values.get(name)) for name in ("UpperLeftPointMtrs", "LowerRightMtrs"))
    if values.get("PixelRegistration", _CENTER) != _CENTER or upper is None or lower is None:
        return EosPart(values["GridName"], told)
    axes = []
    for at, letter in enumerate("xy"):
        name, first, last = f"{letter.upper()}Dim", upper[at], lower[at]
        count = values.get(name)
        if not isinstance(count, int) or not 0 < count <= _MOST:
            continue
        attributes = {"units": "m", "standard_name": f"projection_{letter}_coordinate"}
        if values.get("Projection") == _GEOGRAPHIC:
            first, last = _degrees(first), _degrees(last)
            attributes = dict(_PLACES[letter])
        step = (last - first) / count
        places = np.arange(count, dtype=np.float64) + 0.5
        axes.append(Axis(name, np.asarray(first + step * places, np.float64), attributes))
    return EosPart(values["GridName"], told, tuple(axes))


def _point(corner: Any) -> tuple[float, float] | None:
    """Return the two numbers of a corner; None where it is none."""
    if not isinstance(corner, list) or len(corner) != 2:
        return None
    x, y = corner
    return (float(x), float(y)) if isinstance(x, int | float) and isinstance(y, int | float) else None


def _degrees(packed: float) -> float:
    """Return degrees of a number whose digits are those of degrees, minutes and seconds: DDDMMMSSS.SS."""
    sign, left = (-1 if packed < 0 else 1), abs(packed)
    degrees, left = divmod(left, 1_000_000)
    minutes, seconds = divmod(left, 1_000)
    return float(sign * (degrees + minutes / 60 + seconds / 3600))


def _mapped(said: OdlObject) -> EosPart:
    maps = []
    for each in said.walk():
        values = each.values
        if {"GeoDimension", "DataDimension", "Offset", "Increment"} <= values.keys():
            maps.append(
                f"{values['GeoDimension']} is {values['DataDimension']} "
                f"from {values['Offset']} in steps of {values['Increment']}"
            )
    told: dict[str, Any] = {"DimensionMap": maps} if maps else {}
    return EosPart(said.values["SwathName"], told)
