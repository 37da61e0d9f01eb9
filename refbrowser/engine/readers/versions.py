"""Versions of software, and ranges of them as ``>=3.0,<3.2``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_BOUND = re.compile(r"(>=|<=|==|<|>)\s*(\d+(?:\.\d+)*)\Z")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_COMPARED: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


def version_key(text: str) -> tuple[int, ...]:
    """Return what versions are compared by: their numbers, without zeros at the end.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it does not begin with a number.
    """
    found = _NUMBERS.match(text)
    if found is None:
        raise RefbrowserError(
            ErrorKind.USAGE, f"{quoted(text)} is not a version", advice="as in zarr-python=3.1"
        )
    numbers = [int(number) for number in found[0].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Versions that lie within all of some bounds; every version where there are none."""

    bounds: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @classmethod
    def of(cls, text: str) -> VersionRange:
        """Return the range that a text spells.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: a bound is none.
        """
        bounds = []
        for part in filter(None, (each.strip() for each in text.split(","))):
            found = _BOUND.match(part)
            if found is None:
                raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(part)} is not a bound of versions")
            bounds.append((found[1], version_key(found[2])))
        return cls(tuple(bounds))

    def __contains__(self, version: str) -> bool:
        key = version_key(version)
        return all(_COMPARED[word](key, bound) for word, bound in self.bounds)
