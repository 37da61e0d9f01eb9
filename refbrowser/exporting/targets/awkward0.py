"""Exporting as Awkward 0."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from refbrowser.engine.decoding import DecodePool, MemoryBudget
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.nested.choice import written_nodes
from refbrowser.exporting.nested.row_reading import RowBlock, RowReader, RowSource
from refbrowser.exporting.request import ExportEstimate, ExportReport, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, lost_in_json, unread_attributes
from refbrowser.exporting.targets.awkward0_arrays import (
    SINGLE,
    AnyArray,
    CopiedArray,
    PlannedArray,
    Planning,
    blocks_of,
    group_losses,
    is_json,
)
from refbrowser.exporting.targets.awkward0_places import (
    PLACES,
    AnyPlace,
    Existing,
    existing_in,
    verify_written,
)
from refbrowser.exporting.targets.options import Awkward0Writing
from refbrowser.formats.awkward0.naming import SCHEMA_ENDING
from refbrowser.formats.awkward0_writing.blobs import Json, Recorder, plain, policy_of
from refbrowser.formats.awkward0_writing.feeding import feed
from refbrowser.formats.awkward0_writing.parts import (
    HDF5_NAMING,
    Naming,
    Part,
    check_names,
    optional_at,
    part_of,
)
from refbrowser.formats.awkward0_writing.serialize import Spools, put_array, put_schema
from refbrowser.io.atomic import check_unprotected
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import GroupNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


#: Takes note of what cannot be read, or raises it.
TakeBad = Callable[[RefbrowserError], None]


class NoRoomError(Exception):
    """Fields are missing where a type has no room for missing ones; `paths` tell where (`NestedFault`)."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(paths)
        self.paths = paths


def add_rows(
    reader: RowReader, array: PlannedArray, part: Part, done: Callable[[], None], bad: TakeBad
) -> None:
    """Add all rows of an array; `done` is called after each block.

    What cannot be read of rows is missing in them, where `bad` does not raise and the type has room for it.

    Raises
    ------
    NoRoomError
        Fields of rows are missing, and the type has no room for that.
    RefbrowserError
        Some cannot be read.
    Cancelled
        The export was cancelled.
    """
    for start, stop in blocks_of(array.source):
        for block in row_blocks(reader, array.source, start, stop):
            for error in block.errors:
                bad(error)
            try:
                feed(part, block.content)
            except RefbrowserError as error:
                # An array of which rows cannot be read is left out, a field is missing in its rows.
                if block.unread and all(block.unread):
                    raise NoRoomError(block.unread) from error
                raise (block.errors or [error])[0] from error
        done()


def row_blocks(reader: RowReader, source: RowSource, start: int, stop: int) -> Iterator[RowBlock]:
    """Yield rows in order: all together, or some at a time where they are too many to be held.

    Raises
    ------
    RefbrowserError
        None of some can be read.
    """
    try:
        block = reader.read(source, start, stop)
    except RefbrowserError as error:
        if error.kind is not ErrorKind.BUDGET or stop - start < 2:
            raise
        middle = (start + stop) // 2
        yield from row_blocks(reader, source, start, middle)
        yield from row_blocks(reader, source, middle, stop)
        return
    yield block


def plain_root(array: PlannedArray, content: Any) -> Json | None:
    """Return the expression of a single value; None where it is no JSON (NaN, times)."""
    import awkward

    if not array.is_plain or len(content) != 1:
        return None
    value = awkward.to_list(content)[0]
    return plain(0, value) if is_json(value) else None


#: Bytes of the description of an array and of the headers of its blobs, about.
_BESIDE = 4096


class Awkward0Export:
    """One export as Awkward 0: planned when it is made, carried out by `run`.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), names collide, or the target cannot be added
        to; `E_USAGE`: an option has no meaning.
    """

    is_document: ClassVar[bool] = False
    checked_by: ClassVar[str] = ""

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        if request.resume:
            message = "Awkward 0 is written anew: there is nothing to go on with"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="leave --resume out")
        self.dataset = dataset
        self.request = request
        self.writing = request.chosen(Awkward0Writing)
        self.kind = self.writing.kind_of(request.target)
        self.target = self.writing.target_of(request.target)
        self.naming = self._naming()
        self.policy = policy_of(self.writing.compression)
        skip_bad, is_hdf5 = request.skip_bad, self.kind == "hdf5"
        self.planning = Planning(dataset, self.writing, is_hdf5=is_hdf5, skip_bad=skip_bad)
        self.arrays = [] if self._only_removes() else self.planning.arrays(request.arrays)
        self.skipped = self.planning.skipped
        self.losses = self._losses()
        self.place = self._placed()
        self.written = 0

    def _naming(self) -> Naming:
        writing, usual = self.writing, Naming()
        given = (writing.delimiter, writing.suffix, writing.schema_suffix)
        if self.kind == "hdf5":
            if given != (None, None, None):
                message = "the names of blobs in HDF5 are fixed: a group for each array"
                raise RefbrowserError(ErrorKind.USAGE, message)
            return HDF5_NAMING
        wanted = (usual.delimiter, usual.suffix, usual.schema_suffix)
        return Naming(*(own if own is not None else other for own, other in zip(given, wanted, strict=True)))

    def _only_removes(self) -> bool:
        """Tell whether arrays are removed from the file that was opened, and nothing else is asked for."""
        if not self.writing.removed or self.request.arrays is not None:
            return False
        source = local_path(self.dataset.path)
        return source is not None and os.path.realpath(source) == os.path.realpath(self.target)

    def _losses(self) -> tuple[Loss, ...]:
        nodes = [] if self._only_removes() else written_nodes(self.dataset, self.request.arrays)
        groups = [node for node in nodes if isinstance(node, GroupNode)]
        found = [*damage(self.dataset, self.request), *group_losses(groups, self.arrays)]
        found += unread_attributes(self.dataset.hierarchy, nodes)
        found += lost_in_json(nodes)
        if self.kind == "folder" and not self.naming.schema_suffix.lower().endswith(SCHEMA_ENDING):
            what = f"folders are opened where descriptions end in {SCHEMA_ENDING}, which these do not"
            found.append(Loss("/", what))
        of_arrays = [loss for array in self.arrays for loss in array.losses]
        return (*found, *of_arrays)

    def _placed(self) -> AnyPlace:
        """Return where it is written; the names of all blobs can be there."""
        writing = self.writing
        place = PLACES[self.kind]
        looks = writing.keeps or self.kind == "folder"
        existing = (
            existing_in(self.target, self.dataset.session.fetcher, CancelToken()) if looks else Existing()
        )
        gone_arrays = list(writing.removed)
        if writing.replace:
            gone_arrays += [array.name for array in self.arrays if array.name in existing.arrays]
        gone = existing.removed(gone_arrays)
        placed = place(self.target, existing, gone, keeps=writing.keeps)
        names = {array.name: array.blob_names(self.naming) for array in self.arrays}
        check_names(names, placed.kept)
        placed.check_names(name for each in names.values() for name in each)
        return placed

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads no data."""
        left_out = (Loss(error.place.path or "/", f"left out: {error.message}") for error in self.skipped)
        sizes = [array.nbytes for array in self.arrays]
        blobs = sum(len(array.blob_names(self.naming)) for array in self.arrays)
        return ExportEstimate(blobs, 0, sum(sizes), sum(sizes) + blobs * _BESIDE, (*self.losses, *left_out))

    def run(self, control: JobControl, question: Callable[[RefbrowserError], bool]) -> ExportReport:
        """Write the arrays, read them again, and give the target its name.

        Raises
        ------
        RefbrowserError
            The target exists, there is no room, something cannot be read or written, or verification failed;
            then the target is as it was.
        Cancelled
            The export was cancelled; the target is as it was.
        """
        place = self.place
        if place.keeps:
            check_unprotected(place.target)
        else:
            place.check_replaceable(force=self.request.force)
        self._ask(control.token, question)
        tally = Tally(skipped=list(self.skipped))
        place.open(resume=False)
        try:
            self._write(place, tally, control)
            control.check()
            place.give_name(force=self.request.force)
        finally:
            place.clear()
            place.leave()
        return self._report(tally)

    def _ask(self, token: CancelToken, question: Callable[[RefbrowserError], bool]) -> None:
        estimate = self.estimate(token)
        # The blobs of an array grow beside the target before they are put into it; in HDF5 all do.
        sizes = [array.nbytes for array in self.arrays] or [0]
        beside = estimate.target_bytes if self.kind == "hdf5" else max(sizes)
        self.place.check_space(estimate.target_bytes + beside + self.place.kept_bytes)
        if estimate.chunks > LIMITS.write_out_question:
            text = f"{estimate.chunks} blobs are more than {LIMITS.write_out_question} (write_out_question)"
            error = RefbrowserError(ErrorKind.BUDGET, text, advice="give --yes, or choose arrays")
            if not question(error):
                raise error

    def _write(self, place: AnyPlace, tally: Tally, control: JobControl) -> None:
        # Closing the pool cancels what it works for.
        token = CancelToken()
        forget = control.token.on_cancel(token.cancel)
        session = copy.copy(self.dataset.session)
        # Chunks being decoded have a memory of their own, smaller than that of what is shown.
        session.pool = DecodePool(self.dataset.session.pool.threads, MemoryBudget(LIMITS.export_coding))
        try:
            place.begin(control.token)
            reader = RowReader(session, self.dataset.access, token)
            recorder = Recorder(place.sink)
            lengths = self._put(reader, recorder, tally, control)
            self.written = len(lengths)
        finally:
            forget()
            session.pool.close()
            session.pool.join()
        made = place.made(control.token)
        tally.read_bytes += reader.read_bytes
        tally.requests += reader.requests
        tally.chunks = len(recorder.blobs)
        tally.written_bytes = sum(blob.size for blob in recorder.blobs)
        fetcher = self.dataset.session.fetcher
        tally.verified = verify_written(
            made,
            self.target,
            recorder.blobs,
            lengths,
            set(place.gone) - {blob.name for blob in recorder.blobs},
            fetcher,
            control.token,
        )

    def _put(
        self, reader: RowReader, recorder: Recorder, tally: Tally, control: JobControl
    ) -> dict[str, int | None]:
        """Put all arrays; returns how many rows each has."""
        lengths: dict[str, int | None] = {}
        done, total = 0, sum(array.steps for array in self.arrays)

        def step() -> None:
            nonlocal done
            done += 1
            control.progress(done, total, read_bytes=reader.read_bytes, requests=reader.requests)

        def bad(error: RefbrowserError) -> None:
            if not self.request.skip_bad:
                raise error
            if str(error) not in map(str, tally.skipped):
                tally.skipped.append(error)

        for array in self.arrays:
            try:
                if isinstance(array, CopiedArray) and self.request.skip_bad:
                    array = self._readable(array, control.token)
                if isinstance(array, CopiedArray):
                    length = self._copy_array(recorder, array, tally, step, control.token)
                else:
                    length = self._put_array(reader, recorder, array, step, bad)
                lengths[self.naming.schema(array.name)] = length
            except RefbrowserError as error:
                bad(error)
        return lengths

    def _readable(self, array: CopiedArray, token: CancelToken) -> AnyArray:
        """Return an array as it is copied; as it is read, column by column, where blobs of it cannot be."""
        try:
            array.check(self.dataset, token)
            array.check_values(self.dataset, token)
        except RefbrowserError:
            made = self.planning.read_again(array)
            if made is None:
                raise
            self.losses = (*self.losses, *made.losses)
            return made
        return array

    def _copy_array(
        self,
        recorder: Recorder,
        array: CopiedArray,
        tally: Tally,
        step: Callable[[], None],
        token: CancelToken,
    ) -> int | None:
        for blob in array.put(self.dataset, recorder, self.naming, token):
            tally.copied += 1
            tally.read_bytes += blob.stored
            step()
        if not self.request.skip_bad:
            array.check_values(self.dataset, token)
        return array.length

    def _put_array(
        self,
        reader: RowReader,
        recorder: Recorder,
        array: PlannedArray,
        step: Callable[[], None],
        bad: Callable[[RefbrowserError], None],
    ) -> int | None:
        while True:
            try:
                return self._put_rows(reader, recorder, array, step, bad)
            except NoRoomError as error:
                type = array.written.type
                for path in error.paths:
                    type = optional_at(type, path.split("/"))
                if type == array.written.type:
                    raise RefbrowserError(
                        ErrorKind.SCHEMA, "what cannot be read has no room in it", Place(path=array.path)
                    ) from error
                array = replace(array, written=replace(array.written, type=type))

    def _put_rows(
        self,
        reader: RowReader,
        recorder: Recorder,
        array: PlannedArray,
        step: Callable[[], None],
        bad: Callable[[RefbrowserError], None],
    ) -> int | None:
        with Spools(str(self.place.partial)) as spools:
            part = part_of(array.written.type, spools)
            if array.is_plain:
                block = reader.read(array.source, 0, 1)
                if block.errors:
                    raise block.errors[0]
                root = plain_root(array, block.content)
                step()
                if root is not None:
                    put_schema(root, recorder, array.name, self.naming, array.said)
                    return None
                self.losses = (*self.losses, Loss(array.path, SINGLE))
                feed(part, block.content)
            else:
                add_rows(reader, array, part, step, bad)
            put_array(part, recorder, array.name, self.naming, self.policy, array.said)
        return part.length

    def _report(self, tally: Tally) -> ExportReport:
        return ExportReport(
            target=self.target,
            format=self.request.format,
            arrays=self.written,
            chunks=tally.chunks,
            copied=tally.copied,
            verified=tally.verified,
            skipped=tuple(tally.skipped),
            losses=self.losses,
            read_bytes=tally.read_bytes,
            written_bytes=tally.written_bytes,
            requests=tally.requests,
        )
