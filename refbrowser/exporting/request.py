"""What is to be exported, what it will cost, and what became of it: plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import iadd
from typing import TYPE_CHECKING, Any, TypeVar

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.formats.option_fields import Kind, documented, option
from refbrowser.formats.registry import written
from refbrowser.model.report import Report, first_of
from refbrowser.model.selection import Selection
from refbrowser.words import counted, either

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

O = TypeVar("O", bound=ExportOptions)  # noqa: E741 - options


@dataclass(frozen=True, slots=True)
class ArrayChoice:
    """One array to be exported, all of it or a selection."""

    path: str
    selection: Selection | None = None

    @classmethod
    def of(cls, dataset: Dataset, path: str, index: Any = ...) -> ArrayChoice:
        """Return the choice of an array by its path and an index, as numpy takes it or as text.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such array, or the index does not fit it.
        """
        from refbrowser.engine.dataset import Array

        array = dataset[path]
        if not isinstance(array, Array):
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(path)} is a group, not an array")
        if index is None or index is Ellipsis or index == "":
            return cls(array.path)
        if isinstance(index, str):
            return cls(array.path, Selection.from_text(index, array.shape))
        return cls(array.path, Selection.from_index(index, array.shape))


@documented
@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export and where.

    Attributes
    ----------
    target
        The file or folder to be made.
    arrays
        The arrays to be written; None for the whole dataset.
    skip_bad
        Leave out what cannot be read.
    options
        How it is written: those that the format has (`Written.options`). The usual ones when None.
    """

    target: str
    format: str = field(
        metadata=option(
            "--to FORMAT",
            lambda: either(written()),
            about="One that is written: a name of `refbrowser.formats.registry.written`.",
            values=written,
        )
    )
    arrays: tuple[ArrayChoice, ...] | None = None
    force: bool = field(
        default=False,
        metadata=option(
            "--force",
            "replace the target",
            about="Replace what is at the target.",
            kind=Kind.TICK,
            means=True,
        ),
    )
    resume: bool = field(
        default=False,
        metadata=option(
            "--resume",
            "go on with an interrupted export",
            about="Go on with an export that was interrupted; a target that is complete is verified against "
            "the source.",
            kind=Kind.TICK,
            means=True,
        ),
    )
    skip_bad: bool = False
    options: ExportOptions | None = None

    @property
    def paths(self) -> tuple[str, ...] | None:
        """Paths of the arrays to be written; None for all of the dataset."""
        return None if self.arrays is None else tuple(choice.path for choice in self.arrays)

    @property
    def keeps(self) -> bool:
        """Whether the target keeps what it has."""
        return self.options is not None and self.options.keeps

    def chosen(self, group: type[O]) -> O:
        """Return the options of a group; the usual ones where none are said.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: those that are said are of another group.
        """
        if isinstance(self.options, group):
            return self.options
        if self.options is not None and self.options != type(self.options)():
            raise RefbrowserError(ErrorKind.USAGE, self.options.only)
        return group()


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the target cannot hold as the source has it."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


#: Paths that are named where one thing is lost of many.
_NAMED = 3


def loss_lines(losses: Iterable[Loss]) -> list[str]:
    """Return a line for each thing that is lost: where, or how often and the first places."""
    paths: dict[str, list[str]] = {}
    for loss in dict.fromkeys(losses):
        paths.setdefault(loss.what, []).append(loss.path)
    lines = []
    for what, of in paths.items():
        more = ", …" if len(of) > _NAMED else ""
        named = f"{what} ({len(of)} times: {', '.join(of[:_NAMED])}{more})"
        lines.append(f"{of[0]}: {what}" if len(of) == 1 else named)
    return lines


class Leftover(StrEnum):
    """What an interrupted export left at a target."""

    NONE = ""
    #: It can be gone on with: it was the same export.
    SAME = "same"
    #: It was of another format, of other arrays, or with other options.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ExportEstimate:
    """What an export will cost.

    Attributes
    ----------
    chunks
        Objects to be written.
    missing
        Chunks that are missing and stay so.
    source_bytes
        To be read; whole files of unknown size count as a decoded chunk.
    target_bytes
        To be written, at most.
    losses
        What the target cannot hold.
    reads
        How often the chunks of an array are read on average, of the array where that is most.
    spool_bytes
        Of the intermediate store beside the target, where chunks lie so that they would be read more often
        still; it is removed at the end.
    leftover
        What is there of an export that was interrupted; it is removed where it is not gone on with.
    here
        Why all of it is made in this process, where others were to work on it.
    partly_here
        What of it is made in this process, where others work on the rest; empty where nothing is.
    """

    chunks: int
    missing: int
    source_bytes: int
    target_bytes: int
    losses: tuple[Loss, ...] = ()
    reads: float = 1.0
    spool_bytes: int = 0
    leftover: Leftover = Leftover.NONE
    here: str = ""
    partly_here: str = ""

    @property
    def lost(self) -> list[str]:
        """A line for each thing that the target cannot hold: where, or how often and the first places."""
        return loss_lines(self.losses)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExportReport(Report):
    """What an export did.

    Attributes
    ----------
    arrays
        Arrays written.
    chunks
        Chunks in the target, those of an earlier run included.
    copied
        Chunks of this run whose stored bytes were copied undecoded.
    resumed
        Chunks that an earlier run had written.
    missing
        Chunks that are missing in the source and in the target.
    verified
        Chunks read again and compared.
    skipped
        Why entries were left out (with `skip_bad`).
    losses
        What the target cannot hold.
    read_bytes, written_bytes, requests
        Of this run.
    opened_by
        Lines of Python that open the target, where more is needed than its name.
    """

    target: str
    format: str
    arrays: int = 0
    chunks: int = 0
    copied: int = 0
    resumed: int = 0
    missing: int = 0
    verified: int = 0
    skipped: tuple[RefbrowserError, ...] = ()
    losses: tuple[Loss, ...] = ()
    read_bytes: int = 0
    written_bytes: int = 0
    requests: int = 0
    opened_by: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what was written, and what was not kept."""
        missing = f", {self.missing:,} missing" if self.missing else ""
        yield (
            f"{self.target} ({self.format}): {counted(self.arrays, 'array')}, "
            f"{counted(self.chunks, 'chunk')}, {self.copied:,} copied undecoded, "
            f"{self.verified:,} verified{missing}"
        )
        yield from first_of([f"left out: {error.message}" for error in self.skipped])
        yield from first_of([f"note: {line}" for line in self.lost])

    @property
    def lost(self) -> list[str]:
        """A line for each thing that the target cannot hold: where, or how often and the first places."""
        return loss_lines(self.losses)


@dataclass(slots=True)
class Tally:
    """Counts of a running export."""

    chunks: int = 0
    copied: int = 0
    resumed: int = 0
    missing: int = 0
    verified: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    requests: int = 0
    skipped: list[RefbrowserError] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what another one counted, too."""
        for each in fields(self):
            setattr(self, each.name, iadd(getattr(self, each.name), getattr(other, each.name)))
