"""How two datasets differ, as values: what pages, reports and the command line show, and JSON.

The one is *here*, the other *there*. Texts are whole: who shows them begins where they part
(`refbrowser.references.text.typed_values.from_difference`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.report import Report, first_of
from refbrowser.references.edits.compare import Side
from refbrowser.words import counted


class DifferenceKind(StrEnum):
    """What a difference is about; ``diff --ignore`` takes these words."""

    GROUP = "groups"
    ARRAY = "arrays"
    DIMENSION = "dimensions"
    ATTRIBUTE = "attributes"
    TYPE = "types"
    SHAPE = "shapes"
    FILL = "fill"
    LAYOUT = "layout"
    FINDING = "problems"
    REFERENCES = "references"
    VALUES = "values"
    TEMPLATE = "templates"
    RULE = "rules"
    MEMBER = "members"
    KEY = "keys"


def difference_kind(word: str) -> DifferenceKind:
    """Return the kind of a word.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none.
    """
    try:
        return DifferenceKind(word)
    except ValueError:
        message = f"{quoted(word)} is not a kind of difference"
        advice = f"known: {', '.join(DifferenceKind)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice) from None


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs, whole.

    Attributes
    ----------
    path
        Of the group or array that it is about; empty for the document.
    name
        What of it: the name of an attribute, ``chunk shape``, the number of a rule, a key.
    side
        `HERE` and `THERE`: it is there only; `BOTH`: it is in both, and differs.
    here, there
        What it is in each, as text; empty where it is not.
    note
        What it means for a reader, in words; empty where that is plain.
    """

    kind: DifferenceKind
    path: str
    name: str
    side: Side
    here: str = ""
    there: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; `here` and `there` are null where it is not."""
        return {
            "kind": str(self.kind),
            "path": self.path,
            "name": self.name,
            "side": str(self.side),
            "here": None if self.side is Side.THERE else self.here,
            "there": None if self.side is Side.HERE else self.there,
            "note": self.note,
        }


class ChunkState(IntEnum):
    """How the reference of one chunk compares; the values of `ChunkComparison.states`."""

    #: Neither has it.
    MISSING = 0
    #: The same bytes of the same object; or the same bytes in both documents.
    SAME = 1
    #: Another URL or offset, the same length: it may be the same bytes at another place.
    MOVED = 2
    #: Other bytes: another length, a whole file and a range of one, other bytes in the documents.
    CHANGED = 3
    ONLY_HERE = 4
    ONLY_THERE = 5
    #: Both have it, at least one in files of its own: references cannot be the same, only values tell.
    APART = 6
    #: It was not looked at, or could not be decided within the limits.
    UNDECIDED = 7

    @property
    def words(self) -> str:
        """What it is called."""
        return _STATES[self]

    @property
    def differs(self) -> bool:
        """Whether it is a difference."""
        return self in (
            ChunkState.MOVED,
            ChunkState.CHANGED,
            ChunkState.ONLY_HERE,
            ChunkState.ONLY_THERE,
        )


class Equality(StrEnum):
    """What is known of an array, or of whole datasets: that they differ, or what tells that they do not."""

    DIFFERENT = "different"
    #: The user wants to know neither of references nor of values.
    IGNORED = "ignored"
    #: All references come to the same bytes of the same objects.
    SAME_REFERENCES = "same references"
    #: Both are files with the same bytes.
    SAME_BYTES = "same bytes"
    ALL_VALUES = "same values (all)"
    SAMPLE = "same values (sample)"
    #: Nothing differs, and nothing tells that it is the same.
    NOT_COMPARED = "not compared"


_STATES = {
    ChunkState.MISSING: "in neither",
    ChunkState.SAME: "same",
    ChunkState.MOVED: "moved",
    ChunkState.CHANGED: "changed",
    ChunkState.ONLY_HERE: "only here",
    ChunkState.ONLY_THERE: "only there",
    ChunkState.APART: "in separate files",
    ChunkState.UNDECIDED: "not decided",
}


@dataclass(frozen=True, slots=True)
class ChunkExample:
    """One chunk whose reference differs: its place in the grid, its key on each side, both references."""

    state: ChunkState
    coords: tuple[int, ...]
    key_here: str
    key_there: str
    here: str = ""
    there: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "state": self.state.words,
            "chunk": list(self.coords),
            "key_here": self.key_here,
            "key_there": self.key_there,
            "here": self.here or None,
            "there": self.there or None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class ChunkComparison:
    """The references of one array on both sides, as a grid.

    Attributes
    ----------
    grid_shape
        Chunks along each dimension: as many as the larger of both has.
    counts
        How many chunks are in each state.
    states
        `ChunkState` of each chunk, uint8, in the shape of the grid: what a chunk grid is coloured by. None
        where the grid is too large to be held, or was not looked at.
    examples
        The first chunks of each state that differs.
    checked
        Chunks that were looked at.
    faulty_here, faulty_there
        Of these, references that cannot be read.
    by_bytes
        Both lie in files with the same bytes, and are taken for the same by that.
    why
        Why they were not compared; empty where they were.
    """

    grid_shape: tuple[int, ...] = ()
    counts: Mapping[ChunkState, int] = field(default_factory=dict)
    states: npt.NDArray[np.uint8] | None = None
    examples: tuple[ChunkExample, ...] = ()
    checked: int = 0
    faulty_here: int = 0
    faulty_there: int = 0
    by_bytes: bool = False
    why: str = ""

    @property
    def different(self) -> int:
        """How many chunks differ."""
        return sum(count for state, count in self.counts.items() if state.differs)

    @property
    def apart(self) -> int:
        """How many chunks lie in files of their own: their references say nothing."""
        return self.counts.get(ChunkState.APART, 0)

    @property
    def compared(self) -> int:
        """Of how many chunks the references tell whether they are the same."""
        return sum(self.counts.values()) - self.apart - self.undecided

    @property
    def is_decided(self) -> bool:
        """Whether the references tell of each chunk whether it is the same."""
        return not (self.why or self.apart or self.undecided)

    @property
    def undecided(self) -> int:
        """How many chunks were not looked at, or could not be decided."""
        return self.counts.get(ChunkState.UNDECIDED, 0)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without the grid."""
        return {
            "grid": list(self.grid_shape),
            "counts": {state.words: count for state, count in self.counts.items() if count},
            "checked": self.checked,
            "faulty_here": self.faulty_here,
            "faulty_there": self.faulty_there,
            "examples": [each.to_json() for each in self.examples],
            "not_compared": self.why or None,
        }


def _finite(amount: float) -> float | None:
    """Return a number as strict JSON has it: null where it is infinite."""
    return amount if math.isfinite(amount) else None


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest difference of numbers, and where: the index of the element and both values as text."""

    amount: float
    index: tuple[int, ...]
    here: str
    there: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "amount": _finite(self.amount),
            "index": list(self.index),
            "here": self.here,
            "there": self.there,
        }


@dataclass(frozen=True, slots=True)
class ChunkValues:
    """The values of one chunk of here that differ: how many, and the largest difference.

    Attributes
    ----------
    amount
        0 where nothing but a number and none, or other types than numbers, differ.
    index
        Of the element that differs most, else of the first one.
    """

    coords: tuple[int, ...]
    different: int
    amount: float
    index: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "chunk": list(self.coords),
            "different": self.different,
            "amount": _finite(self.amount),
            "index": list(self.index),
        }


@dataclass(frozen=True, slots=True, eq=False)
class ChunkAmounts:
    """The chunks of here whose values differ, as columns.

    Attributes
    ----------
    grid_shape
        Chunks along each dimension of here.
    coords
        Shape (n, dimensions).
    amount
        The largest difference in each, float64; 0 where what differs is no number.
    """

    grid_shape: tuple[int, ...]
    coords: npt.NDArray[np.int64]
    amount: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueComparison:
    """The values of one array on both sides, element by element.

    NaN (and NaT) equal each other. What could not be read on either side is counted, and never equal.

    Attributes
    ----------
    elements
        Of the part that both arrays have.
    compared
        Elements that could be read on both sides, and were compared.
    different
        Of these, how many differ.
    absolute, relative
        The largest differences of numbers; the relative one is against the larger of both values.
    first
        The first element that differs, of any type; its `amount` is 0.
    chunks_different
        How many chunks of here hold elements that differ; at least so many where `has_more_chunks`.
    chunks
        The first of them, those with the largest differences first.
    amounts
        All of them that are counted; None where there are none.
    nan_here, nan_there
        Elements that are no number on that side alone; they differ, and have no part in the largest ones.
    absent_here, absent_there
        Elements in chunks that are not stored on that side alone: they hold its fill value there.
    absent_equal
        Of these, how many are the same all the same: the fill value is stored on the other side.
    unread_here, unread_there
        Elements that could not be read.
    stale_here, stale_there
        Elements compared that came from files that are not those of the document's lock.
    errors
        Why, the first of them.
    is_sample
        Whether just some blocks were read.
    is_decoded
        Physical values were compared, because both pack them in another way.
    why
        Why nothing was compared; empty where it was.
    """

    elements: int = 0
    compared: int = 0
    different: int = 0
    absolute: Extreme | None = None
    relative: Extreme | None = None
    first: Extreme | None = None
    chunks_different: int = 0
    has_more_chunks: bool = False
    chunks: tuple[ChunkValues, ...] = ()
    amounts: ChunkAmounts | None = field(default=None, compare=False, repr=False)
    nan_here: int = 0
    nan_there: int = 0
    absent_here: int = 0
    absent_there: int = 0
    absent_equal: int = 0
    unread_here: int = 0
    unread_there: int = 0
    stale_here: int = 0
    stale_there: int = 0
    errors: tuple[RefbrowserError, ...] = ()
    is_sample: bool = False
    is_decoded: bool = False
    why: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for could be compared."""
        return not (self.why or self.unread_here or self.unread_there)

    @property
    def has_stale(self) -> bool:
        """Whether values were compared that came from files that are not those of a lock."""
        return bool(self.stale_here or self.stale_there)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "elements": self.elements,
            "compared": self.compared,
            "different": self.different,
            "absolute": None if self.absolute is None else self.absolute.to_json(),
            "relative": None if self.relative is None else self.relative.to_json(),
            "first": None if self.first is None else self.first.to_json(),
            "chunks_different": self.chunks_different,
            "more_chunks": self.has_more_chunks,
            "chunks": [each.to_json() for each in self.chunks],
            "nan_here": self.nan_here,
            "nan_there": self.nan_there,
            "absent_here": self.absent_here,
            "absent_there": self.absent_there,
            "absent_equal": self.absent_equal,
            "unread_here": self.unread_here,
            "unread_there": self.unread_there,
            "stale_here": self.stale_here,
            "stale_there": self.stale_there,
            "errors": [{"kind": str(each.kind), "message": str(each)} for each in self.errors],
            "sample": self.is_sample,
            "decoded": self.is_decoded,
            "not_compared": self.why or None,
        }


@dataclass(frozen=True, slots=True)
class ArrayComparison:
    """One array that both have: what differs in its references, and in its values where these were read.

    Attributes
    ----------
    there
        Its path in the other dataset, where it has another one.
    values
        None where they were not read.
    is_ignored
        Neither references nor values are to be compared.
    """

    path: str
    there: str
    chunks: ChunkComparison
    values: ValueComparison | None = None
    is_ignored: bool = False

    @property
    def verdict(self) -> Equality:
        """What is known of it."""
        values, chunks = self.values, self.chunks
        if chunks.different or (values is not None and values.different):
            return Equality.DIFFERENT
        if self.is_ignored:
            return Equality.IGNORED
        if values is not None and not values.is_complete:
            return Equality.NOT_COMPARED
        if values is not None and not values.is_sample:
            return Equality.ALL_VALUES
        if chunks.is_decided:
            return Equality.SAME_BYTES if chunks.by_bytes else Equality.SAME_REFERENCES
        return Equality.NOT_COMPARED if values is None else Equality.SAMPLE

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "path": self.path,
            "there": self.there,
            "verdict": str(self.verdict),
            "references": self.chunks.to_json(),
            "values": None if self.values is None else self.values.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Report):
    """How two datasets differ.

    Attributes
    ----------
    here, there
        Their names, as the user gave them.
    format_here, format_there
        Names of their formats.
    differences
        Of structure, metadata and documents, those of one node together.
    arrays
        Those that both have, with references and values.
    spelled
        What two documents write otherwise and mean alike: templates, rules, the version. No differences.
    unlooked
        Rows of rules, and keys that are no chunks, that were not compared, because there are too many.
    notes
        What is to be known about the comparison.
    """

    here: str
    there: str
    format_here: str
    format_there: str
    differences: tuple[Difference, ...] = ()
    arrays: tuple[ArrayComparison, ...] = ()
    spelled: tuple[Difference, ...] = ()
    unlooked: int = 0
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the verdict, and the first differences."""
        told = [
            f"{self.here} and {self.there}: {self.verdict}",
            f"{counted(len(self.arrays), 'array')} in both",
        ]
        if self.chunks_different:
            told.append(f"{counted(self.chunks_different, 'chunk')} with other references")
        if self.values_different:
            told.append(f"{counted(self.values_different, 'value')} differ")
        yield "; ".join(told)
        yield from first_of(
            [f"{each.path or 'the document'}: {each.kind}: {each.name}" for each in self.differences]
        )

    @property
    def chunks_different(self) -> int:
        """How many chunks have other references."""
        return sum(each.chunks.different for each in self.arrays)

    @property
    def values_different(self) -> int:
        """How many elements differ."""
        return sum(each.values.different for each in self.arrays if each.values is not None)

    @property
    def is_equal(self) -> bool | None:
        """Whether they are equal; None where nothing differs, but not all was compared."""
        verdict = self.verdict
        return None if verdict is Equality.NOT_COMPARED else verdict is not Equality.DIFFERENT

    @property
    def verdict(self) -> Equality:
        """What is known: the least certain of all arrays; `SAME_REFERENCES` without any."""
        found = self.verdicts
        if self.differences or Equality.DIFFERENT in found:
            return Equality.DIFFERENT
        if self.unlooked:
            return Equality.NOT_COMPARED
        return next((each for each in reversed(Equality) if each in found), Equality.SAME_REFERENCES)

    @property
    def verdicts(self) -> Mapping[Equality, int]:
        """How many arrays have each verdict."""
        return Counter(each.verdict for each in self.arrays)

    @property
    def undecided(self) -> int:
        """How many chunks, rows and keys could not be compared within the limits."""
        return self.unlooked + sum(each.chunks.undecided for each in self.arrays)

    @property
    def unread(self) -> tuple[RefbrowserError, ...]:
        """Why values could not be compared: those are neither equal nor different."""
        return tuple(self._unread())

    def _unread(self) -> Iterator[RefbrowserError]:
        for each in self.arrays:
            if each.values is not None:
                yield from each.values.errors

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON: the shape of ``diff --json``, which the manual describes."""
        return {
            "here": self.here,
            "there": self.there,
            "format_here": self.format_here,
            "format_there": self.format_there,
            "equal": self.is_equal,
            "verdict": str(self.verdict),
            "differences": [each.to_json() for each in self.differences],
            "arrays": [each.to_json() for each in self.arrays],
            "spelled": [each.to_json() for each in self.spelled],
            "undecided": self.undecided,
            "notes": list(self.notes),
        }
