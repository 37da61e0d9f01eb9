"""One array of the result of combining, as files have it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from refbrowser.exporting.combining.properties import ArrayProperties
from refbrowser.model.chunk_axes import ChunkAxis


@dataclass(slots=True, eq=False)
class ArrayOfFiles:
    """One array of the result, as files have it.

    Attributes
    ----------
    path
        In the result.
    files
        Numbers of the files that have it, rising.
    told
        What each of these says of it.
    numbers
        Its number among the arrays of each.
    role
        ``placed``: its chunks are laid side by side; ``inlined``: its values are, and stand in the document;
        ``same``: all files have the same values.
    is_partial
        Whether files may lack it: chunks are missing there, and read as the fill value.
    divided
        Rows of a chunk along the dimension where chunks are divided; 0 where they are not.
    edges
        The chunks along dimensions where those of files are unequal, or do not meet, by name.
    odd
        What files say that store it otherwise than most, where their chunks are written anew: by identity.
    has_own
        Some of its chunks are those of no file: they are put together and written anew.
    extends
        As `Combination` has it.
    owner
        Which of `files` gives the values where all have the same: one of those that most have.
    """

    path: str
    files: list[int] = field(default_factory=list)
    told: list[ArrayProperties] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    role: str = "same"
    is_partial: bool = False
    divided: int = 0
    edges: dict[str, ChunkAxis] = field(default_factory=dict)
    odd: frozenset[int] = frozenset()
    has_own: bool = False
    extends: bool = False
    owner: int = 0
    _first: ArrayProperties | None = None

    @property
    def first(self) -> ArrayProperties:
        """What most files say of it, or the document that they are added to; all files are known by then."""
        if self._first is None:
            by: dict[int, int] = {}
            for each in self.told:
                by[id(each)] = by.get(id(each), 0) + 1
            is_base = self.extends and self.files[0] == 0
            self._first = self.told[0] if is_base else max(self.told, key=lambda each: by[id(each)])
        return self._first

    def lead_with(self, told: ArrayProperties) -> None:
        """Have what a file says of it be what most do."""
        self._first = told

    def is_odd(self, told: ArrayProperties) -> bool:
        """Tell whether a file stores it otherwise than most, and its chunks are written anew."""
        return id(told) in self.odd

    def at(self, number: int) -> int | None:
        """Return which of its files one is; None where that does not have it."""
        found = bisect_left(self.files, number)
        return found if found < len(self.files) and self.files[found] == number else None

    def groups(self) -> dict[ArrayProperties, list[int]]:
        """Return the files by what they say."""
        found: dict[int, tuple[ArrayProperties, list[int]]] = {}
        for number, each in zip(self.files, self.told, strict=True):
            found.setdefault(id(each), (each, []))[1].append(number)
        return dict(found.values())
