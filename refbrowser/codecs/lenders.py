"""Which installed packages have registered codecs with zarr or numcodecs; none of their code is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

#: Where packages tell the names of their codecs: to zarr-python 3, in one group each too, and to numcodecs.
OF_V3, OF_V2 = "zarr.codecs", "numcodecs.codecs"


@dataclass(frozen=True, slots=True)
class Lender:
    """An installed package that has registered a codec."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@cache
def _registered() -> Mapping[tuple[str, str], Lender]:
    """Return the package of each codec that is registered, by the group and its name."""
    from importlib.metadata import entry_points  # Only codecs that are not known need it.

    found: dict[tuple[str, str], Lender] = {}
    points = entry_points()
    for group in points.groups:
        base = OF_V3 if group.startswith(f"{OF_V3}.") else group
        if base not in (OF_V2, OF_V3):
            continue
        for point in points.select(group=group):
            name = point.name if base == group else group.removeprefix(f"{OF_V3}.")
            if point.dist is not None and name != "pickle":
                found.setdefault((base, name), Lender(point.dist.name, point.dist.version))
    return found


def forget_packages() -> None:
    """Have what is installed looked at anew."""
    _registered.cache_clear()


def lender_of(name: str, *groups: str) -> Lender | None:
    """Return the package that has registered a codec in one of some groups; None where none has."""
    found = (_registered().get((group, name)) for group in groups)
    return next(filter(None, found), None)


def needs_permission(name: str, lender: Lender) -> RefbrowserError:
    """Return the error for a codec that an installed package has registered, and nobody has allowed."""
    return RefbrowserError(
        ErrorKind.BLOCKED,
        f"codec {quoted(name)} is decoded by the installed package {lender}, which needs permission",
        advice=f"--allow-codec {lender.package}",
    )
