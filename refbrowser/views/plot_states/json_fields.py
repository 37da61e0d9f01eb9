"""Values that JSON holds, one field each: what reads a field says what no such value could be.

Anybody may have written the JSON. Members that are not known are kept, and written again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Self

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

#: Members that are not known here, which are kept.
_OTHERS = 64
Reader = Callable[[Any], Any]


def json_field(read: Reader, default: Any = MISSING, name: str = "") -> Any:
    """Return a field that `read` reads; `name` is its name in JSON where that is another one.

    A field without a default must be there; one that is as its default is not written.
    """
    metadata = {"read": read, "name": name, "default": default}
    if default is MISSING:
        return field(metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class JsonValue:
    """What has such fields, and keeps `others`: members that are not known, as JSON has them."""

    #: What messages call it.
    NOUN: ClassVar[str] = ""

    others: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return the value that JSON's types say.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: it is no object, lacks a member that it must have, or has one that cannot be so; the
            message names it.
        """
        if not isinstance(value, dict):
            raise refused(f"{cls.NOUN} is {quoted(value)}: an object is expected")
        rest, known = dict(value), {}
        for each in cls._fields():
            name = _name(each)
            if name in rest:
                known[each.name] = cls._read(each, rest.pop(name))
            elif each.metadata["default"] is MISSING:
                raise refused(f"{cls.NOUN} lacks its member {quoted(name)}")
        if len(rest) > _OTHERS:
            raise refused(f"{cls.NOUN} has {len(rest)} members that are not known")
        return cls(**known, others=rest)

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON's types; a member that is as its default is left out."""
        said: dict[str, Any] = {}
        for each in self._fields():
            value = getattr(self, each.name)
            if value != each.metadata["default"]:
                said[_name(each)] = _plain(value)
        return {**said, **{name: value for name, value in self.others.items() if name not in said}}

    @classmethod
    def _fields(cls) -> Iterator[Field[Any]]:
        return (each for each in fields(cls) if each.metadata)

    @classmethod
    def _read(cls, each: Field[Any], value: Any) -> Any:
        try:
            return each.metadata["read"](value)
        except ValueError as error:
            raise refused(f"{cls.NOUN} has {quoted(_name(each))} of {quoted(value)}: {error}") from None


def _name(each: Field[Any]) -> str:
    return each.metadata["name"] or each.name


def _plain(value: Any) -> Any:
    if isinstance(value, JsonValue):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def refused(message: str) -> RefbrowserError:
    """Return the error of what no such value could be."""
    return RefbrowserError(ErrorKind.SCHEMA, message)


# What reads a member raises `ValueError` with what is expected.


def text_of(limit: int) -> Reader:
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


def choice_of(*choices: str) -> Reader:
    """Return what reads one of some texts."""

    def read(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise ValueError(f"one of {', '.join(map(repr, choices))} is expected")
        return value

    return read


def maybe(reader: Reader) -> Reader:
    """Return what reads a value that may be null."""
    return lambda value: None if value is None else reader(value)


def numbers_of(count: int) -> Reader:
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


def many_of(reader: Reader, most: int) -> Reader:
    """Return what reads a list of so many at most."""

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > most:
            raise ValueError(f"a list of at most {most} is expected")
        return tuple(map(reader, value))

    return read


def named(reader: Reader, most: int, length: int = 200) -> Reader:
    """Return what reads an object of so many members at most, whose names have so many characters at most."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > most:
            raise ValueError(f"an object of at most {most} members is expected")
        return {text_of(length)(name): reader(item) for name, item in value.items()}

    return read
