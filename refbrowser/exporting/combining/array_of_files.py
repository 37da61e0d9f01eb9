"""One array of the result of combining, as files have it."""

from __future__ import annotations

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
    rewritten
        Bytes of elements of chunks at the ends of files that are not filled, and written into the document.
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
    rewritten: int = 0
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

    def groups(self) -> dict[ArrayProperties, list[int]]:
        """Return the files by what they say."""
        found: dict[int, tuple[ArrayProperties, list[int]]] = {}
        for number, each in zip(self.files, self.told, strict=True):
            found.setdefault(id(each), (each, []))[1].append(number)
        return dict(found.values())
