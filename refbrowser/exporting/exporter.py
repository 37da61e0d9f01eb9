"""Exports of every format: one skeleton, and for each format a target that says only what is its own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from refbrowser.engine.compute import HERE, Compute, Executor, check_workers
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.decoding import DecodePool, MemoryBudget
from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError
from refbrowser.exporting.folder import FilePlace, partial_of, remove_leftover
from refbrowser.exporting.journal import fingerprint_of
from refbrowser.exporting.request import (
    ExportEstimate,
    ExportReport,
    ExportRequest,
    Leftover,
    Loss,
    Tally,
)
from refbrowser.formats.registry import form_named
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.loading import load
from refbrowser.references.content.expansion_faults import expansion_faults

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.session import Session
    from refbrowser.exporting.check import CheckReport

Question = Callable[[RefbrowserError], bool]


def no(error: RefbrowserError) -> bool:
    """Answer a question with no."""
    return False


class TargetPlaced(Protocol):
    """Where a target is made: under another name until it is complete and verified."""

    @property
    def target(self) -> Any:
        """Its final name: a path or a URL."""

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target is there and must not be replaced, with `force` or without."""

    def check_space(self, size: int) -> None:
        """Raise `E_IO` where `size` bytes and a reserve do not fit the disk."""

    def fill(self, work: Callable[[Any], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify what it is given, and give it its name."""


class Target:
    """What one format says of an export: planned when it is made, carried out by an `Exporter`.

    Attributes
    ----------
    written_anew
        What is said where an interrupted export is to be gone on with: why there is nothing. Empty where it
        can be, or where it is of no matter.
    is_document
        Whether references are written, no data: all entries of the document, whatever arrays are chosen.
    dataset, request
        What is written, and how.
    losses
        What the format cannot hold.
    skipped
        Why arrays are left out, where that is known before.
    executor
        Runs its tasks in other processes; None: this one carries them out.
    opened_by
        Lines of Python that open what was written, where more is needed than its name.
    taken_in
        Files whose bytes are written into the target, not referred to: they go away afterwards.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); `E_USAGE`: an option has no meaning.
    """

    written_anew: ClassVar[str] = ""
    is_document: ClassVar[bool] = False
    losses: Sequence[Loss] = ()
    skipped: Sequence[RefbrowserError] = ()
    executor: Executor | None = None
    opened_by: Sequence[str] = ()
    taken_in: frozenset[str] = frozenset()

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        self.dataset = dataset
        self.request = request

    @property
    def name(self) -> str:
        """The name that the target gets."""
        return self.request.target

    @property
    def arrays(self) -> int:
        """How many arrays are written."""
        chosen = self.request.arrays
        return len(self.dataset.arrays) if chosen is None else len(chosen)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; no data is read."""
        raise NotImplementedError

    def why_here(self) -> str:
        """Return why no other processes can work on it; empty where they can."""
        return "one file is written by one process"

    def partly_here(self) -> str:
        """Return what of it no other processes can work on, where they can on the rest; empty for nothing."""
        return ""

    def place(self) -> TargetPlaced:
        """Return where it is made: one file, unless the target says something else."""
        return FilePlace(self.name)

    def check_place(self, place: Any) -> None:
        """Raise where the target cannot be made there."""
        place.check_replaceable(force=self.request.force)

    def questions(self) -> Iterable[RefbrowserError]:
        """Return the errors that a no becomes, above sizes that need a question."""
        return ()

    def room(self, cost: ExportEstimate) -> int:
        """Return the bytes that must be free on the disk."""
        return cost.target_bytes + cost.spool_bytes

    def fingerprint(self) -> str | None:
        """Return what tells this export from others; None where none can be gone on with."""
        return None

    def compared(self, place: Any, control: JobControl) -> Tally | None:
        """Verify a complete target against the source instead of going on; None where there is none."""
        return None

    def write(self, made: Any, tally: Tally, control: JobControl) -> None:
        """Write everything into what the place gives.

        Raises
        ------
        RefbrowserError, OSError
            Something cannot be read or written.
        """
        raise NotImplementedError

    def verify(self, made: Any, tally: Tally, control: JobControl) -> int:
        """Read what was written again, and return how many units of it were compared.

        Raises
        ------
        RefbrowserError, OSError
            Something is not as it was written.
        """
        raise NotImplementedError

    @classmethod
    def check(cls, dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
        """Read a complete target with other software, and compare it with the source.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: none is known that reads it. The source cannot be read.
        """
        raise RefbrowserError(ErrorKind.USAGE, "only stores and streams can be checked with other software")


class LeftOut:
    """The arrays that an export leaves out.

    What the format has no form for is a loss where nobody named it; anything else that cannot be written is
    left out only with `skip_bad`.

    Attributes
    ----------
    losses
        What nobody named.
    skipped
        What `skip_bad` leaves out.
    """

    def __init__(self, request: ExportRequest) -> None:
        self._request = request
        self._first: RefbrowserError | None = None
        self.losses: list[Loss] = []
        self.skipped: list[RefbrowserError] = []

    def add(self, error: RefbrowserError) -> None:
        """Leave an array out, or raise why it cannot be written."""
        self._first = self._first or error
        if isinstance(error, NotHeldError) and self._request.arrays is None:
            why = "; ".join(filter(None, (error.message, error.advice)))
            self.losses.append(Loss(error.place.path or "/", f"left out: {why}"))
        elif self._request.skip_bad:
            self.skipped.append(error)
        elif isinstance(error, NotHeldError):
            advice = "; ".join(filter(None, (error.advice, "--skip-bad leaves the array out")))
            raise RefbrowserError(error.kind, error.message, error.place, advice)
        else:
            raise error

    def check_rest(self, count: int) -> None:
        """Raise why the first array is left out where none of `count` arrays is left, and some are lost."""
        if not count and self._first is not None and self.losses:
            raise self._first


class Exporter:
    """One export.

    Parameters
    ----------
    kind
        Of the target; that of the format when None.
    compute
        Where its tasks are carried out.

    Raises
    ------
    RefbrowserError
        It cannot be made; `E_USAGE` for a format that is not known.
    """

    def __init__(
        self,
        dataset: Dataset,
        request: ExportRequest,
        kind: type[Target] | None = None,
        compute: Compute = HERE,
    ) -> None:
        if kind is None:
            kind = target_of(request.format)
        self.request = request
        self.compute = compute
        self._left_out = _lacking(dataset, request, kind)
        if request.resume and kind.written_anew:
            raise RefbrowserError(ErrorKind.USAGE, kind.written_anew, advice="leave --resume out")
        if not kind.is_document:
            # What is written is confirmed before, whatever the size.
            dataset = dataset.with_access(dataset.access.confirming(Confirm.ALWAYS))
        self.target = kind(dataset, request)

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost, and what its target cannot hold; no data is read."""
        cost = self.target.cost(token)
        skipped = (Loss(each.place.path or "/", f"left out: {each.message}") for each in self.target.skipped)
        left_out = (Loss("/", f"left out: {each.message}") for each in self._left_out)
        losses = (*self.target.losses, *skipped, *left_out)
        here = self._why_here()
        partly = "" if here or self.compute.is_here else self.target.partly_here()
        return replace(cost, losses=losses, leftover=self._leftover(), here=here, partly_here=partly)

    def _why_here(self) -> str:
        return "" if self.compute.is_here else self.target.why_here()

    def _leftover(self) -> Leftover:
        """Return what an interrupted export left at the target."""
        found = fingerprint_of(partial_of(self.request.target))
        if found is None:
            return Leftover.NONE
        return Leftover.SAME if found == self.target.fingerprint() else Leftover.OTHER

    def run(self, control: JobControl, question: Question = no) -> ExportReport:
        """Write the target, verify it, and give it its name.

        Raises
        ------
        RefbrowserError
            The target exists, there is no room, something cannot be read or written, or verification failed;
            then the target is as it was.
        Cancelled
            The export was cancelled; the target is as it was.
        """
        place = self.target.place()
        tally = self._compared(place, control) if self.request.resume else None
        return self._report(tally or self._written(place, control, question))

    def _compared(self, place: TargetPlaced, control: JobControl) -> Tally | None:
        """Verify a complete target; None where there is none, or another dataset that is to be replaced."""
        try:
            return self.target.compared(place, control)
        except RefbrowserError:
            if not self.request.force:
                raise
            return None

    def _written(self, place: TargetPlaced, control: JobControl, question: Question) -> Tally:
        target, request = self.target, self.request
        target.check_place(place)
        for error in target.questions():
            if not question(error):
                raise error
        place.check_space(target.room(target.cost(control.token)))
        tally = Tally(skipped=list(target.skipped))

        def work(made: Any) -> None:
            target.write(made, tally, control)
            tally.verified = target.verify(made, tally, control)
            control.check()

        try:
            # Before anything is made: who does not answer leaves nothing behind.
            with self._executor(control) as target.executor:
                place.fill(work, resume=request.resume, force=request.force)
        except OSError as error:
            message = f"cannot write: {error.strerror or error}"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=str(place.target))) from error
        return tally

    @contextmanager
    def _executor(self, control: JobControl) -> Iterator[Executor | None]:
        if self.compute.is_here or self._why_here():
            yield None
            return
        with self.compute.open(control.token) as executor:
            check_workers(executor)
            yield executor

    def _report(self, tally: Tally) -> ExportReport:
        known = {(error.message, error.place.pointer) for error in self._left_out}
        skipped = (each for each in tally.skipped if (each.message, each.place.pointer) not in known)
        return ExportReport(
            target=self.target.name,
            format=self.request.format,
            arrays=self.target.arrays,
            chunks=tally.chunks + tally.resumed,
            copied=tally.copied,
            resumed=tally.resumed,
            missing=tally.missing,
            verified=tally.verified,
            skipped=(*self._left_out, *skipped),
            losses=tuple(self.target.losses),
            read_bytes=tally.read_bytes,
            written_bytes=tally.written_bytes,
            requests=tally.requests,
            opened_by=tuple(self.target.opened_by),
        )


def target_of(format: str) -> type[Target]:
    """Return the target of a format.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: none of that name can be written.
    """
    kind: type[Target] = load(form_named(format).target)
    return kind


def _lacking(dataset: Dataset, request: ExportRequest, kind: type[Target]) -> list[RefbrowserError]:
    """Return what the document lacks whatever its entries and rows are, where all of it is written.

    What a damaged stream or archive has lost is among the losses of each export.

    Raises
    ------
    RefbrowserError
        It lacks something, and `skip_bad` is not set.
    """
    is_whole = request.arrays is None or kind.is_document
    if not is_whole or not dataset.document.has_keys:
        return []
    found = [finding.error() for finding in expansion_faults(dataset.document)]
    if found and not request.skip_bad:
        raise found[0]
    return found


@contextmanager
def coding(dataset: Dataset, control: JobControl) -> Iterator[tuple[Session, CancelToken]]:
    """Give a session whose chunks have a memory of their own, and the token of what it reads.

    Chunks being coded have a smaller one than those that are shown.
    """
    # Closing the pool cancels what it works for.
    token = CancelToken()
    forget = control.token.on_cancel(token.cancel)
    session = copy.copy(dataset.session)
    # One that the copy made would be its own, with connections and threads that nobody closes.
    session.fetcher = dataset.session.fetcher
    session.pool = DecodePool(dataset.session.pool.threads, MemoryBudget(LIMITS.export_coding))
    try:
        yield session, token
        control.check()
    finally:
        forget()
        session.pool.close()
        # What is still being written must not go to a file that is opened later under the same number.
        session.pool.join()


def run_export(
    dataset: Dataset,
    request: ExportRequest,
    control: JobControl | None = None,
    question: Question = no,
    told: Callable[[ExportEstimate], None] | None = None,
    compute: Compute = HERE,
) -> ExportReport:
    """Carry out an export.

    Parameters
    ----------
    control
        Cancels, and is told the progress in chunks.
    question
        Asked, with the error that a no becomes, above a size that needs a question.
    told
        Called with the estimate before anything is written.
    compute
        Where its tasks are carried out; what one process alone can do is done in this one.

    Raises
    ------
    RefbrowserError
        It cannot be made; `E_USAGE` for a format that is not known.
    Cancelled
        The control's token was cancelled; a Zarr store can be gone on with.
    """
    exporter, control = Exporter(dataset, request, compute=compute), control or JobControl()
    if told is not None:
        told(exporter.estimate(control.token))
    report = exporter.run(control, question)
    if not form_named(request.format).resumes:
        # What can be gone on with is made where it lies: nothing is left of it there.
        remove_leftover(request.target)
    return report


def estimate_export(
    dataset: Dataset,
    request: ExportRequest,
    control: JobControl | None = None,
    compute: Compute = HERE,
) -> ExportEstimate:
    """Return what an export will cost, and what its target cannot hold; no data is read.

    Raises
    ------
    RefbrowserError
        It cannot be made.
    """
    return Exporter(dataset, request, compute=compute).estimate((control or JobControl()).token)
