"""The settings of codecs: what metadata may say, what its absence means, and what a user may choose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model import dtypes


@dataclass(frozen=True, eq=False)
class Setting:
    """One member of the configuration of a codec, of any kind.

    Attributes
    ----------
    absent
        What its absence in metadata means.
    decides
        Whether bytes that were written with another value than `absent` cannot be decoded without it.
    is_told
        Whether Zarr v2 is told `absent` where v3 does not say it, because old readers take something else.
    """

    name: str
    absent: Any = None
    decides: bool = False
    is_told: bool = False

    @property
    def usual(self) -> Any:
        """What is taken where a user chooses the codec and does not say it."""
        return self.absent

    def read(self, settings: Settings) -> Any:
        """Return the value that metadata has, or `absent`.

        Raises
        ------
        RefbrowserError
            `META`: it cannot be one.
        """
        value = settings.values.get(self.name)
        return self.absent if value is None else value

    def chosen(self, text: str) -> Any:
        """Return the value that a user wrote, in the words of Zarr v3; None where it has no meaning.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is out of bounds.
        """
        return text

    def in_v2(self, value: Any) -> Any:
        """Return a value of Zarr v3 as v2 has it."""
        return value

    def in_v3(self, value: Any, itemsize: int) -> Any:
        """Return a value of Zarr v2, None where it is not said, as v3 has it for elements of `itemsize`."""
        return self.absent if value is None else value

    def stated(self, value: Any, itemsize: int) -> Any:
        """Return a value of Zarr v2 without what hangs on the size of an element."""
        return value


@dataclass(frozen=True, eq=False)
class Number(Setting):
    """An integer.

    Attributes
    ----------
    low, high
        Both included.
    preferred
        The usual one where a user chooses, if it is not `absent`.
    least
        The lowest that a user may choose, if it is not `low`.
    """

    low: int = 0
    high: int = 9
    preferred: int | None = None
    least: int | None = None

    @property
    def usual(self) -> int:
        """What is taken where a user chooses the codec and does not say it."""
        return int(self.absent) if self.preferred is None else self.preferred

    @property
    def lowest(self) -> int:
        """The lowest that a user may choose."""
        return self.low if self.least is None else self.least

    def read(self, settings: Settings) -> int:
        """Return the value that metadata has, or `absent`; raises as `Setting.read`."""
        return settings.integer(self.name, self.absent, self.low, self.high)

    def chosen(self, text: str) -> int:
        """Return the number that a user wrote; raises as `Setting.chosen`."""
        if re.fullmatch(r"-?[0-9]{1,6}", text) and self.lowest <= int(text) <= self.high:
            return int(text)
        raise RefbrowserError(
            ErrorKind.USAGE, f"{quoted(text)} is not a level", advice=f"from {self.lowest} to {self.high}"
        )


@dataclass(frozen=True, eq=False)
class Flag(Setting):
    """True or false; anything but true in metadata is false."""

    def read(self, settings: Settings) -> bool:
        """Return whether metadata says so."""
        return settings.values.get(self.name) is True

    def in_v3(self, value: Any, itemsize: int) -> bool:
        """Return a value of Zarr v2 as v3 has it."""
        return bool(value)


@dataclass(frozen=True, eq=False)
class Word(Setting):
    """One of `words`."""

    words: tuple[str, ...] = ()

    def read(self, settings: Settings) -> str:
        """Return the value that metadata has, or `absent`; raises as `Setting.read`."""
        return settings.choice(self.name, self.absent, self.words)

    def chosen(self, text: str) -> str | None:
        """Return what a user wrote, None where it is none of the words."""
        return text if text in self.words else None


@dataclass(frozen=True, eq=False)
class NumberedWord(Word):
    """One of `words` in Zarr v3, its place among them in v2; there -1 leaves it to the size of an element.

    Attributes
    ----------
    of_bytes, of_others
        What -1 means for elements of one byte, and for larger ones.
    """

    of_bytes: str = ""
    of_others: str = ""

    def read(self, settings: Settings) -> Any:
        """Return the number of the value that metadata has, or of `absent`; raises as `Setting.read`."""
        if isinstance(settings.values.get(self.name), str):
            return self.words.index(settings.choice(self.name, self.absent, self.words))
        return settings.integer(self.name, self.words.index(self.absent), -1, len(self.words) - 1)

    def in_v2(self, value: Any) -> Any:
        """Return the number of a word."""
        return self.words.index(value) if value in self.words else value

    def in_v3(self, value: Any, itemsize: int) -> str:
        """Return the word of a number."""
        if value is None or value in self.words:
            return str(self.absent if value is None else value)
        number = self.stated(value, itemsize)
        if type(number) is not int or not 0 <= number < len(self.words):
            message = f"{quoted(self.name)} of a codec is {quoted(value)}, which is not a known value"
            raise RefbrowserError(ErrorKind.META, message)
        return self.words[number]

    def stated(self, value: Any, itemsize: int) -> Any:
        """Return a number other than -1."""
        return value if value != -1 else self.words.index(self.of_bytes if itemsize == 1 else self.of_others)


@dataclass(frozen=True, eq=False)
class ItemSize(Setting):
    """The size of an element, which Zarr v3 tells the codec and v2 does not."""

    def in_v3(self, value: Any, itemsize: int) -> int:
        """Return the size that is said, or `itemsize`; no codec knows more than 255."""
        return min(itemsize, 255) if value is None else value


class Settings:
    """The configuration of one codec, read with checks.

    Every method takes the name of a member and what stands for it when it is absent.

    Parameters
    ----------
    codec
        Its name, for messages.
    values
        The configuration.
    declared
        The settings that the table knows of it.

    Raises
    ------
    RefbrowserError
        `META`, by every method: the member is not of the kind asked for.
    """

    def __init__(self, codec: str, values: Mapping[str, Any], declared: Iterable[Setting] = ()) -> None:
        self.codec = codec
        self.values = values
        self._declared = declared

    def __getitem__(self, name: str) -> Any:
        """Return a declared setting, checked."""
        # A plain loop: stores of 100,000 arrays make as many codecs.
        for each in self._declared:
            if each.name == name:
                return each.read(self)
        raise KeyError(name)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer between `low` and `high`, both included."""
        value = self.values.get(name)
        if value is None:
            return default
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"an integer from {low} to {high}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number; there is no default."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise self.wrong(name, "a finite number")
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`."""
        value = self.values.get(name)
        if value is None:
            return default
        if value not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}")
        return str(value)

    def dtype(self, name: str, kinds: str, default: np.dtype[Any] | None = None) -> np.dtype[Any]:
        """Return a type of one of the numpy `kinds`; names as ``int16`` are taken too."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "a type")
        try:
            dtype = dtypes.parse_v2(value)
        except RefbrowserError:
            dtype = dtypes.parse_v3(value)
        if dtype.kind not in kinds:
            raise self.wrong(name, f"a type of kind {' '.join(kinds)}")
        return dtype

    def wrong(self, name: str, wanted: str) -> RefbrowserError:
        """Return the error that member `name` is not `wanted`."""
        return RefbrowserError(
            ErrorKind.META,
            f"{quoted(name)} of codec {quoted(self.codec)} is {quoted(self.values.get(name))}, not {wanted}",
        )
