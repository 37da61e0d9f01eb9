"""Exporting to a stream of messages."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, BinaryIO

from refbrowser.engine.decoding import DecodePool, MemoryBudget
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.streamable import may_miss
from refbrowser.engine.read_plan import size_question
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.folder import TargetFolder
from refbrowser.exporting.ncstream.chosen import chosen_of
from refbrowser.exporting.ncstream.cost import estimated
from refbrowser.exporting.ncstream.plan import VariablePlan, is_made, planned
from refbrowser.exporting.ncstream.profiles import compatible_notes, is_last
from refbrowser.exporting.ncstream.verify import verify_stream
from refbrowser.exporting.ncstream.writing import StreamRun, write_variable
from refbrowser.exporting.request import ExportEstimate, ExportReport, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, unread_attributes
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.definition_of import StreamedDataset, StreamedVariable, definition_of
from refbrowser.formats.ncstream.dtypes import STRUCTURES
from refbrowser.formats.ncstream.encoding import header_message
from refbrowser.formats.ncstream.header_parts import header_messages
from refbrowser.formats.ncstream.stream_file import StreamFile
from refbrowser.io.atomic import fill_atomically, remove_leftovers
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


class StreamExport:
    """One export to a stream: planned when it is made, carried out by `run`.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); `E_USAGE`: an option has no meaning.
    """

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        if request.resume:
            message = "a stream is written anew: there is nothing to go on with"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="leave --resume out")
        self.dataset = dataset
        self.request = request
        self.options = request.stream
        self.chosen = chosen_of(dataset, request.arrays)
        self.skipped: list[RefbrowserError] = []
        self.streamed = self.described()
        for error in self.streamed.left_out:
            self._bad(error)
        self.plans = self._planned()
        self.losses = self._told()

    def described(self) -> StreamedDataset:
        """Return what the header says, and where the values of each variable come from."""
        return definition_of(self.chosen.hierarchy, sequences=not self.options.is_compatible)

    def _bad(self, error: RefbrowserError) -> None:
        if not self.request.skip_bad:
            raise error
        self.skipped.append(error)

    def _planned(self) -> list[VariablePlan]:
        """Return how each variable is written, in the order of their messages."""
        groups = list(dict.fromkeys(each.path.rpartition("/")[0] for each in self.streamed.variables))

        def place(each: StreamedVariable) -> tuple[bool, int, bool]:
            group = groups.index(each.path.rpartition("/")[0])
            return is_last(each.variable), group, each.variable.type in STRUCTURES

        # As in the header, where structures stand behind the variables of their group.
        ordered = sorted(self.streamed.variables, key=place)
        plans = []
        for each in ordered:
            source, selection = self.chosen.sources[each.node.path]
            try:
                plans.append(planned(each, source, selection, self.options))
            except RefbrowserError as error:
                self._bad(error)
        return plans

    def _told(self) -> tuple[Loss, ...]:
        found = [Loss(loss.path, loss.what) for loss in self.streamed.losses]
        if self.options.is_compatible:
            found += (Loss(loss.path, loss.what) for loss in compatible_notes(self.streamed))
        taken = (node for node, _ in self.chosen.sources.values())
        found += (Loss(node.path, "what is missing is NaN") for node in taken if may_miss(node))
        for error in self.chosen.left_out:
            found.append(Loss(error.place.path or "/", f"left out: {error.message}"))
        found += damage(self.dataset, self.request)
        nodes = [*self.chosen.hierarchy.walk()]
        return (*unread_attributes(self.dataset.hierarchy, nodes), *found)

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        left_out = (Loss(error.place.path or "/", f"left out: {error.message}") for error in self.skipped)
        return estimated(self.plans, (*self.losses, *left_out), token)

    def run(self, control: JobControl, question: Callable[[RefbrowserError], bool]) -> ExportReport:
        """Write the stream, walk it again, and give it its name.

        Raises
        ------
        RefbrowserError
            The target exists, there is no room, something cannot be read or written, or verification failed;
            then there is no target.
        Cancelled
            The export was cancelled; there is no target.
        """
        place = TargetFolder(self.request.target)
        place.check_replaceable(force=self.request.force)
        self._ask(question)
        place.check_space(self.estimate(control.token).target_bytes)
        tally = Tally(skipped=list(self.skipped))
        target = os.path.realpath(self.request.target)
        remove_leftovers(target)

        def fill(file: BinaryIO) -> None:
            written = self._write(StreamFile(file), tally, control)
            tally.written_bytes = written.size
            tally.verified = verify_stream(written, target, self.streamed.definition, control.token)

        fill_atomically(target, fill)
        return self._report(tally)

    def _ask(self, question: Callable[[RefbrowserError], bool]) -> None:
        count = sum(plan.messages for plan in self.plans)
        asked = [
            None if plan.copied or is_made(plan.source) else size_question(plan.source) for plan in self.plans
        ]
        if count > LIMITS.write_out_question:
            text = f"{count} messages are more than {LIMITS.write_out_question} (write_out_question)"
            advice = "give --yes, or choose arrays and selections"
            asked.append(RefbrowserError(ErrorKind.BUDGET, text, advice=advice))
        for error in asked:
            if error is not None and not question(error):
                raise error

    def _write(self, file: StreamFile, tally: Tally, control: JobControl) -> StreamFile:
        """Write all messages."""
        token = CancelToken()
        forget = control.token.on_cancel(token.cancel)
        session = copy.copy(self.dataset.session)
        # Chunks being decoded have a memory of their own, smaller than that of what is shown.
        session.pool = DecodePool(self.dataset.session.pool.threads, MemoryBudget(LIMITS.export_coding))
        done, total = 0, sum(plan.steps for plan in self.plans)

        def step() -> None:
            nonlocal done
            done += 1
            control.check()
            control.progress(done, total, read_bytes=tally.read_bytes, requests=tally.requests)

        run = StreamRun(
            session,
            self.dataset.access,
            file,
            token,
            tally,
            self.options.has_checksums,
            self.request.skip_bad,
            step,
        )
        try:
            file.append((magics.START,))
            for header in self._headers():
                file.whole("", None, (), (header,))
            with file.flushed():
                self.write_data(run)
            file.append((magics.END,))
            control.check()
        finally:
            forget()
            session.pool.close()
            session.pool.join()
        return file

    def _headers(self) -> Iterable[bytes]:
        definition = self.streamed.definition
        # Other readers know but one.
        return [header_message(definition)] if self.options.is_compatible else header_messages(definition)

    def write_data(self, run: StreamRun) -> None:
        """Write the data messages."""
        for plan in self.plans:
            write_variable(run, plan)

    def _report(self, tally: Tally) -> ExportReport:
        return ExportReport(
            target=self.request.target,
            format=self.request.format,
            arrays=len({plan.source.path for plan in self.plans}),
            chunks=tally.chunks,
            copied=tally.copied,
            missing=tally.missing,
            verified=tally.verified,
            skipped=tuple(tally.skipped),
            losses=self.losses,
            read_bytes=tally.read_bytes,
            written_bytes=tally.written_bytes,
            requests=tally.requests,
        )
