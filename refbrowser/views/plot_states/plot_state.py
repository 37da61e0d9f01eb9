"""All that one plot shows, as a value that JSON holds: array, part, colours, levels, what is in sight.

Anybody may have written the JSON: each member has one reader, which refuses what no plot could be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Characters of a name: of a colour map, a switch, a projection.
_NAME = 200
#: Characters of an expression.
_EXPRESSION = 65_536
#: Names in one member, such as overlays; documents that an expression names.
_NAMES = 64
#: Members that are not known here, which are kept.
_OTHERS = 64
_Reader = Callable[[Any], Any]


def _state_field(read: _Reader, default: Any = MISSING, json: str = "") -> Any:
    """Return a field of a state: what reads it, and its name in JSON where that is another one."""
    metadata = {"read": read, "json": json, "default": default}
    if default is MISSING:
        return field(metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


# What reads a member raises `ValueError` with what is expected.


def text_of(limit: int) -> _Reader:
    """Return what reads a text of so many characters at most."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value) > limit or "\0" in value:
            raise ValueError(f"a text of at most {limit} characters is expected")
        return value

    return read


def is_on(value: Any) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false is expected")
    return value


def choice_of(*choices: str) -> _Reader:
    """Return what reads one of some texts."""

    def read(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise ValueError(f"one of {', '.join(map(repr, choices))} is expected")
        return value

    return read


def maybe(reader: _Reader) -> _Reader:
    """Return what reads a value that may be null."""
    return lambda value: None if value is None else reader(value)


def numbers_of(count: int) -> _Reader:
    """Return what reads so many finite numbers."""

    def read(value: Any) -> tuple[float, ...]:
        is_list = isinstance(value, list) and len(value) == count
        if not is_list or not all(_is_finite(number) for number in value):
            raise ValueError(f"{count} finite numbers are expected")
        return tuple(map(float, value))

    return read


def _is_finite(number: Any) -> bool:
    if not isinstance(number, int | float) or isinstance(number, bool):
        return False
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _rising(value: Any) -> tuple[float, ...]:
    low, high = numbers_of(2)(value)
    if not low < high or not math.isfinite(high - low):
        raise ValueError("two numbers are expected, the lower one first")
    return low, high


def _box(value: Any) -> tuple[float, ...]:
    box = numbers_of(4)(value)
    if box[0] == box[1] or box[2] == box[3]:
        raise ValueError("left, right, bottom and top are expected, and something between them")
    return box


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _NAMES:
        raise ValueError(f"a list of at most {_NAMES} names is expected")
    return tuple(map(text_of(_NAME), value))


def _axes(value: Any) -> tuple[int, ...]:
    is_list = isinstance(value, list) and len(value) <= 2
    if not is_list or not all(type(axis) is int and 0 <= axis < LIMITS.rank for axis in value):
        raise ValueError("numbers of one or two dimensions are expected")
    if len(set(value)) != len(value):
        raise ValueError("numbers of different dimensions are expected")
    return tuple(value)


def _switched(value: Any) -> dict[str, bool]:
    if not isinstance(value, dict) or len(value) > _NAMES:
        raise ValueError(f"an object of at most {_NAMES} names is expected")
    return {text_of(_NAME)(name): is_on(on) for name, on in value.items()}


def _labelled(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > _NAMES:
        raise ValueError(f"an object of at most {_NAMES} paths is expected")
    return {text_of(_NAME)(label): text_of(LIMITS.url_length)(path) for label, path in value.items()}


_path = text_of(LIMITS.url_length)


@dataclass(frozen=True, slots=True)
class PlotState:
    """What one plot shows; a member that is not given is what a plot begins with.

    Attributes
    ----------
    path
        Of the document, or of the one that `expression` is about.
    expression, documents
        What computes the array, empty where it is stored; and the paths of other documents that it names, by
        their labels.
    node
        Path of the array that is shown.
    part
        The part of its elements that is shown, by its name; empty for all of each.
    selection
        What of the array is in sight, as ``--select`` takes it; empty for what is seen first.
    axes
        The dimensions on the axes by their numbers: ``(y, x)``, ``(x,)`` for a line; none where the selection
        tells them.
    in_colour
        Whether bands are shown together as colours; None for what suits the array.
    decoded
        Whether the CF conventions are applied.
    colour_map, reverse
        Title of the colour map (empty for the one that suits), and whether it runs from its other end.
    log
        Whether levels, or the values of a line, are logarithmic.
    levels, are_levels_set
        The numbers at the ends of the colours, None before there are any; and whether the user holds them
        there. Else they stay as long as they suit what is shown.
    extremes
        Whether levels are the least and the greatest value, not percentiles.
    histogram
        Whether it is shown how often values occur.
    aspect, map_aspect
        Whether images are shown in their true proportions: those that are no maps, and maps.
    switches
        Names of the switches of kinds of plots that are on.
    size_choice
        What is read of an array that is too large: its middle, a sample, or all; empty: ask.
    is_level_fixed
        Whether the user chose the level of a multiscale image; else the one that fills the view is shown.
    overlays
        What is drawn over pictures (true) or is not (false) as the user chose, by name.
    projection, centre
        Name of the map projection (empty for the grid as it is), and longitude and latitude of its centre in
        degrees; None for the usual one.
    view
        What is in sight exactly, on the axes of the plot: left, right, bottom, top; None for the whole slice.
    others
        Members that are not known here, as JSON has them; they are written again.
    """

    path: str = _state_field(_path)
    node: str = _state_field(text_of(LIMITS.key_length))
    expression: str = _state_field(text_of(_EXPRESSION), "")
    documents: Mapping[str, str] = _state_field(_labelled, {}, "with")
    part: str = _state_field(text_of(LIMITS.key_length), "")
    selection: str = _state_field(text_of(LIMITS.key_length), "")
    axes: tuple[int, ...] = _state_field(_axes, ())
    in_colour: bool | None = _state_field(maybe(is_on), None)
    decoded: bool = _state_field(is_on, True)
    colour_map: str = _state_field(text_of(_NAME), "")
    reverse: bool = _state_field(is_on, False)
    log: bool = _state_field(is_on, False)
    levels: tuple[float, float] | None = _state_field(maybe(_rising), None)
    are_levels_set: bool = _state_field(is_on, False)
    extremes: bool = _state_field(is_on, False)
    histogram: bool = _state_field(is_on, False)
    aspect: bool = _state_field(is_on, False)
    map_aspect: bool = _state_field(is_on, True)
    switches: tuple[str, ...] = _state_field(_names, ())
    size_choice: str = _state_field(choice_of("", "middle", "sampled", "all"), "")
    is_level_fixed: bool = _state_field(is_on, False)
    overlays: Mapping[str, bool] = _state_field(_switched, {})
    projection: str = _state_field(text_of(_NAME), "")
    centre: tuple[float, float] | None = _state_field(maybe(numbers_of(2)), None)
    view: tuple[float, float, float, float] | None = _state_field(maybe(_box), None)
    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Any) -> PlotState:
        """Return the state that a value of JSON's types says.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: it is no object, lacks a member that it must have, or has one of which no plot has
            such a value; the message names it.
        """
        if not isinstance(value, dict):
            raise _refused("a plot is an object")
        rest, known = dict(value), {}
        for each in _fields():
            name = _json_name(each)
            if name in rest:
                known[each.name] = _read(each, name, rest.pop(name))
            elif each.metadata["default"] is MISSING:
                raise _refused(f"a plot lacks its member {quoted(name)}")
        if len(rest) > _OTHERS:
            raise _refused(f"a plot has {len(rest)} members that are not known")
        return cls(**known, others=rest)

    def to_json(self) -> dict[str, Any]:
        """Return the state in JSON's types; a member that is as plots begin with is left out."""
        said: dict[str, Any] = {}
        for each in _fields():
            value = getattr(self, each.name)
            if value != each.metadata["default"]:
                said[_json_name(each)] = _plain(value)
        return {**said, **{name: value for name, value in self.others.items() if name not in said}}


def _fields() -> list[Field[Any]]:
    return [each for each in fields(PlotState) if each.metadata]


def _json_name(each: Field[Any]) -> str:
    return each.metadata["json"] or each.name


def _read(each: Field[Any], name: str, value: Any) -> Any:
    try:
        return each.metadata["read"](value)
    except ValueError as error:
        raise _refused(f"a plot has {quoted(name)} of {quoted(value)}: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _refused(message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, message)
