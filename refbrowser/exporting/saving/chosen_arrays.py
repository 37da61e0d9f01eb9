"""Arrays that are chosen by name, with those that tell what their numbers mean: coordinates and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

#: Attributes that name arrays without which another one is not understood (CF conventions 1.11, 5 and 7).
_NAMING = ("coordinates", "bounds", "climatology", "grid_mapping", "formula_terms")
#: What is known of an array: the names of its dimensions, and its attributes.
Told = tuple[Sequence[str | None], Mapping[str, Any]]


def named_paths(names: Iterable[str], paths: Iterable[str]) -> set[str]:
    """Return the paths that names mean: each is a path, or the last part of paths."""
    wanted = {*names}
    return {path for path in paths if {path, path.lstrip("/"), path.rpartition("/")[2]} & wanted}


def with_coordinates(names: Iterable[str], arrays: Mapping[str, Told]) -> set[str]:
    """Return the paths of arrays that are named, and of those that their dimensions and attributes name.

    Parameters
    ----------
    arrays
        All of a dataset, by path.
    """
    found: set[str] = set()
    left = named_paths(names, arrays)
    while left:
        found |= left
        left = {each for path in left for each in _named_by(path, arrays)} - found
    return found


def chosen_of(names: Sequence[str], arrays: Mapping[str, Told], document: str) -> set[str]:
    """Return what `with_coordinates` does of one dataset, which has all that is named.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it has no such array.
    """
    for name in names:
        if not named_paths([name], arrays):
            known = ", ".join(list(arrays)[:10])
            message = f"there is no array {quoted(name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(document=document), f"there are {known}")
    return with_coordinates(names, arrays)


def _named_by(path: str, arrays: Mapping[str, Told]) -> Iterator[str]:
    """Yield the arrays that one names, seen from its group: those of the group itself come before others."""
    dimensions, attributes = arrays[path]
    texts = (attributes.get(name) for name in _NAMING)
    words = [word.rstrip(":") for text in texts if isinstance(text, str) for word in text.split()]
    for name in dict.fromkeys(each.lstrip("/") for each in (*dimensions, *words) if each):
        group = path.rpartition("/")[0]
        while group and f"{group}/{name}" not in arrays:
            group = group.rpartition("/")[0]
        if (other := f"{group}/{name}") in arrays:
            yield other
