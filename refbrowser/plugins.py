"""What other packages add by entry points: formats and tools."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from refbrowser.errors import ErrorKind, RefbrowserError, quoted


class Named(Protocol):
    """What has a name of its own."""

    @property
    def name(self) -> str:
        """The name; no two share one."""


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Plugins(Generic[T]):
    """What other packages add, and why some of it cannot be used."""

    values: tuple[T, ...] = ()
    errors: tuple[RefbrowserError, ...] = ()


def plugins(group: str, kind: type[T], taken: Collection[str]) -> Plugins[T]:
    """Load what the entry points of a group lead to.

    What fails costs itself alone, and is told: it is of another package.

    Parameters
    ----------
    group
        Of the entry points.
    kind
        What each must lead to.
    taken
        Names that are ours.
    """
    from importlib.metadata import entry_points

    noun, values, errors = kind.__name__.lower(), dict[str, T](), list[RefbrowserError]()
    for point in entry_points(group=group):
        try:
            found = point.load()
        except Exception as error:  # noqa: BLE001 - it is not ours: what it raises is told
            errors.append(_unusable(noun, point.value, f"{type(error).__name__}: {error}"))
            continue
        if not isinstance(found, kind):
            errors.append(_unusable(noun, point.value, f"it is not a {kind.__name__}"))
        elif found.name in taken or found.name in values:
            errors.append(_unusable(noun, point.value, f"a {noun} {found.name} exists already"))
        else:
            values[found.name] = found
    return Plugins(tuple(values.values()), tuple(errors))


def _unusable(noun: str, value: str, why: object) -> RefbrowserError:
    message = f"the {noun} {quoted(value)} of another package cannot be used: {quoted(why)[1:-1]}"
    return RefbrowserError(ErrorKind.FORMAT, message)
