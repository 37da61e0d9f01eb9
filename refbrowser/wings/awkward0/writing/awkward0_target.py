"""Exporting as Awkward 0."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.exporter import Target, coding
from refbrowser.exporting.nested.row_arrays import written_nodes
from refbrowser.exporting.nested.row_reader import RowBlock, RowReader, RowSource
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, lost_in_json, unread_attributes
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.atomic import check_unprotected
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.loading import require
from refbrowser.model.nodes import GroupNode
from refbrowser.wings.awkward0.reading.naming import SCHEMA_ENDING
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
from refbrowser.wings.awkward0.writing.blobs import Json, Recorder, plain, policy_of
from refbrowser.wings.awkward0.writing.feeding import feed
from refbrowser.wings.awkward0.writing.parts import (
    HDF5_NAMING,
    Naming,
    Part,
    check_names,
    optional_at,
    part_of,
)
from refbrowser.wings.awkward0.writing.places import (
    PLACES,
    AnyPlace,
    Existing,
    existing_in,
    verify_written,
)
from refbrowser.wings.awkward0.writing.serialize import Spools, put_array, put_schema
from refbrowser.wings.awkward0.writing.written_arrays import (
    SINGLE,
    AnyArray,
    CopiedArray,
    PlannedArray,
    Planning,
    blocks_of,
    group_losses,
    is_json,
)

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


class Awkward0Target(Target):
    """An Awkward 0 file: planned when it is made.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), names collide, or the target cannot be added
        to; `E_USAGE`: an option has no meaning.
    """

    written_anew: ClassVar[str] = "Awkward 0 is always written in one run: it cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.writing = request.chosen(Awkward0Writing)
        self.kind = self.writing.kind_of(request.target)
        self._name = self.writing.target_of(request.target)
        self.naming = self._naming()
        self.policy = policy_of(self.writing.codec)
        skip_bad, is_hdf5 = request.skip_bad, self.kind == "hdf5"
        self.planning = Planning(dataset, self.writing, is_hdf5=is_hdf5, skip_bad=skip_bad)
        self.planned = []
        if not self._only_removes():
            require("awkward")
            self.planned = self.planning.arrays(request.arrays)
        self.skipped = self.planning.skipped
        self.losses = self._losses()
        self._place = self._placed()
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
        return source is not None and os.path.realpath(source) == os.path.realpath(self.name)

    def _losses(self) -> tuple[Loss, ...]:
        nodes = [] if self._only_removes() else written_nodes(self.dataset, self.request.arrays)
        groups = [node for node in nodes if isinstance(node, GroupNode)]
        found = [*damage(self.dataset, self.request), *group_losses(groups, self.planned)]
        found += unread_attributes(self.dataset.hierarchy, nodes)
        found += lost_in_json(nodes)
        if self.kind == "folder" and not self.naming.schema_suffix.lower().endswith(SCHEMA_ENDING):
            what = f"folders are opened where descriptions end in {SCHEMA_ENDING}, which these do not"
            found.append(Loss("/", what))
        of_arrays = [loss for array in self.planned for loss in array.losses]
        return (*found, *of_arrays)

    def _placed(self) -> AnyPlace:
        """Return where it is written; the names of all blobs can be there."""
        writing = self.writing
        place = PLACES[self.kind]
        looks = writing.keeps or self.kind == "folder"
        existing = (
            existing_in(self.name, self.dataset.session.fetcher, CancelToken()) if looks else Existing()
        )
        gone_arrays = list(writing.removed)
        if writing.replace:
            gone_arrays += [array.name for array in self.planned if array.name in existing.arrays]
        gone = existing.removed(gone_arrays)
        placed = place(self.name, existing, gone, keeps=writing.keeps)
        names = {array.name: array.blob_names(self.naming) for array in self.planned}
        check_names(names, placed.kept)
        placed.check_names(name for each in names.values() for name in each)
        return placed

    @property
    def name(self) -> str:
        """The name that the target gets: that of an archive has an ending of its own."""
        return self._name

    @property
    def arrays(self) -> int:
        """How many arrays were written."""
        return self.written

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads no data."""
        sizes = [array.nbytes for array in self.planned]
        blobs = sum(len(array.blob_names(self.naming)) for array in self.planned)
        return ExportEstimate(blobs, 0, sum(sizes), sum(sizes) + blobs * _BESIDE)

    def place(self) -> AnyPlace:
        """Return where it is written: an archive, HDF5 or a folder, with what is kept of it."""
        return self._place

    def check_place(self, place: AnyPlace) -> None:
        """Raise where the target is there and not kept, or must not be changed."""
        if place.keeps:
            check_unprotected(place.target)
        else:
            super().check_place(place)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the error of very many blobs."""
        count = sum(len(array.blob_names(self.naming)) for array in self.planned)
        if count > LIMITS.write_out_question:
            text = f"{count} blobs are more than {LIMITS.write_out_question} (write_out_question)"
            yield RefbrowserError(ErrorKind.BUDGET, text, advice="give --yes, or choose arrays")

    def room(self, cost: ExportEstimate) -> int:
        """Return the bytes that must be free, those of what is kept among them."""
        # The blobs of an array grow beside the target before they are put into it; in HDF5 all do.
        sizes = [array.nbytes for array in self.planned] or [0]
        beside = cost.target_bytes if self.kind == "hdf5" else max(sizes)
        return cost.target_bytes + beside + self._place.kept_bytes

    def write(self, made: AnyPlace, tally: Tally, control: JobControl) -> None:
        """Write all arrays."""
        with coding(self.dataset, control) as (session, token):
            made.begin(control.token)
            reader = RowReader(session, self.dataset.access, token)
            self._recorder = Recorder(made.sink)
            self._lengths = self._put(reader, self._recorder, tally, control)
            self.written = len(self._lengths)
        self._made = made.made(control.token)
        tally.read_bytes += reader.read_bytes
        tally.requests += reader.requests
        tally.chunks = len(self._recorder.blobs)
        tally.written_bytes = sum(blob.size for blob in self._recorder.blobs)

    def verify(self, made: AnyPlace, tally: Tally, control: JobControl) -> int:
        """Read the file again, and compare every blob."""
        blobs, fetcher = self._recorder.blobs, self.dataset.session.fetcher
        gone = set(made.gone) - {blob.name for blob in blobs}
        return verify_written(self._made, self.name, blobs, self._lengths, gone, fetcher, control.token)

    def _put(
        self, reader: RowReader, recorder: Recorder, tally: Tally, control: JobControl
    ) -> dict[str, int | None]:
        """Put all arrays; returns how many rows each has."""
        lengths: dict[str, int | None] = {}
        done, total = 0, sum(array.steps for array in self.planned)

        def step() -> None:
            nonlocal done
            done += 1
            control.progress(done, total, read_bytes=reader.read_bytes, requests=reader.requests)

        def bad(error: RefbrowserError) -> None:
            if not self.request.skip_bad:
                raise error
            if str(error) not in map(str, tally.skipped):
                tally.skipped.append(error)

        for array in self.planned:
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
                        ErrorKind.SCHEMA, "unreadable parts cannot be written", Place(path=array.path)
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
        with Spools(str(self._place.partial)) as spools:
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
