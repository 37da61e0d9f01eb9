"""Exporting to a store of any format."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.read_plan import size_question
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.chunks import ArrayExport, Sink, estimated
from refbrowser.exporting.folder import SPOOL, TargetFolder, partial_of, remove
from refbrowser.exporting.journal import Journal, fingerprint_of
from refbrowser.exporting.layout import ArrayLayout, plain_names, target_of
from refbrowser.exporting.nested.choice import as_complete, chosen_nodes, groups_above, is_plain
from refbrowser.exporting.nested.store_part import CHUNK_SIZE, GATHERED, Gathered, NestedPart, gather
from refbrowser.exporting.paths import check_collisions
from refbrowser.exporting.request import (
    ExportEstimate,
    ExportReport,
    ExportRequest,
    Leftover,
    Loss,
    Tally,
)
from refbrowser.exporting.source_losses import damage, lost_in_json, unread_attributes
from refbrowser.exporting.targets.options import StoreOptions
from refbrowser.exporting.tasks import carry_out
from refbrowser.exporting.verify import (
    CompareSink,
    JournalSink,
    differing,
    verify_chunks,
    verify_metadata,
)
from refbrowser.exporting.zip_file import TargetZip
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Node
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


class StoreExport:
    """One export to a store: planned when it is made, carried out by `run`.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), or names collide.
    """

    is_document: ClassVar[bool] = False
    checked_by: ClassVar[str] = "refbrowser.exporting.targets.store_check:check_store"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        self.dataset = dataset
        self.request = request
        self.options = request.chosen(StoreOptions)
        self.target = target_of(request.format, self.options, plain_names(dataset))
        self.skipped: list[RefbrowserError] = []
        self._check_chosen()
        self.nested: list[NestedPart] = []
        self._plain = list(self._planned())
        paths = [layout.source.path for layout in self._plain] + [part.path for part in self.nested]
        self._above = groups_above(dataset, paths, whole=request.arrays is None)
        self._settle([part.group for part in self.nested], [])

    def _settle(self, groups: list[GroupNode], added: list[ArrayLayout]) -> None:
        """Take note of all groups and arrays of the target: those of nested arrays are known late."""
        self.groups = [*self._above, *groups]
        self.layouts = self.target.settled(self.groups, [*self._plain, *added])
        self.arrays = [ArrayExport(layout) for layout in self.layouts]
        of_arrays = (loss for layout in self.layouts for loss in layout.losses)
        of_nested = (loss for part in self.nested for loss in part.losses)
        of_groups = self.target.losses(self.groups)
        of_damage = damage(self.dataset, self.request)
        self.losses: tuple[Loss, ...] = (
            *of_damage,
            *self._of_source(),
            *of_groups,
            *of_arrays,
            *of_nested,
        )
        self.metadata = self.target.metadata(self.groups, self.layouts)

    def _of_source(self) -> Iterator[Loss]:
        """Yield what is lost that the target could hold if it were known, and types of attributes."""
        nodes: list[Node] = [
            *self._above,
            *(part.source.node for part in self.nested),
            *{layout.source.path: layout.source for layout in self.layouts}.values(),
        ]
        yield from unread_attributes(self.dataset.hierarchy, nodes)
        if self.target.flavour is not Flavour.NCZARR:
            yield from lost_in_json(nodes)

    def _planned(self) -> Iterator[ArrayLayout]:
        for node, selection in self._chosen():
            try:
                if is_plain(node):
                    yield from self.target.layouts(as_complete(node), selection)
                else:
                    skip_bad, flavour = self.request.skip_bad, self.target.flavour
                    self.nested.append(NestedPart.of(node, selection, flavour, skip_bad=skip_bad))
            except RefbrowserError as error:
                placed = RefbrowserError(
                    error.kind, error.message, replace(error.place, path=node.path), error.advice
                )
                if not self.request.skip_bad:
                    raise placed from error
                self.skipped.append(placed)

    def _check_chosen(self) -> None:
        """Raise `E_USAGE` where chunks are chosen for what is not exported."""
        paths = {node.path for node, _ in self._chosen()}
        for path in self.options.array_chunks:
            if path not in paths:
                raise RefbrowserError(
                    ErrorKind.USAGE, "chunks are chosen for an array that is not exported", Place(path=path)
                )

    def _chosen(self) -> Iterator[tuple[ArrayNode, Selection | None]]:
        yield from chosen_nodes(self.dataset.hierarchy, self.request.arrays)

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        left_out = (Loss(error.place.path or "/", f"left out: {error.message}") for error in self.skipped)
        found = estimated(self.arrays, (*self.losses, *left_out), token)
        # How many buffers' elements there are only their values tell.
        size = sum(part.size for part in self.nested)
        return replace(
            found,
            chunks=found.chunks + -(-size // CHUNK_SIZE),
            source_bytes=found.source_bytes + size,
            target_bytes=found.target_bytes + size,
            spool_bytes=found.spool_bytes + size,
        )

    @property
    def leftover(self) -> Leftover:
        """What an interrupted export left at the target."""
        found = fingerprint_of(partial_of(self.request.target))
        if found is None:
            return Leftover.NONE
        return Leftover.SAME if found == self._fingerprint() else Leftover.OTHER

    def run(self, control: JobControl, question: Callable[[RefbrowserError], bool]) -> ExportReport:
        """Write the store, verify it, and give it its name.

        Raises
        ------
        RefbrowserError
            The target exists, there is no room, a chunk cannot be read or written, or verification failed;
            what was written can be gone on with, except where the target exists.
        Cancelled
            The export was cancelled; it can be gone on with.
        """
        request = self.request
        place = self._place()
        if request.resume and place.exists and not place.partial.is_dir():
            return self._compare(place, control)
        place.check_replaceable(force=request.force)
        self._check_names(place)
        _ask(sum(layout.grid.size for layout in self.layouts), question)
        for layout in self.layouts:
            large = None if layout.copied is not None else size_question(layout.source)
            if large is not None and not question(large):
                raise large
        estimate = self.estimate(control.token)
        place.check_space(estimate.target_bytes + estimate.spool_bytes)
        place.open(resume=request.resume)
        try:
            return self._write(place, control)
        finally:
            place.leave()

    def _place(self) -> TargetFolder | TargetZip:
        options = self.options
        if options.container == "zip":
            return TargetZip(self.request.target, options.zip_folder)
        return TargetFolder(self.request.target)

    def _check_names(self, place: TargetFolder | TargetZip) -> None:
        nodes = [self.target.group_path(group) for group in self.groups]
        nodes += [layout.target.path for layout in self.layouts]
        folders = [path.strip("/") + "/" for path in nodes if path != "/"]
        check_collisions(folders, ignore_case=place.ignores_case)

    def _write(self, place: TargetFolder | TargetZip, control: JobControl) -> ExportReport:
        journal = Journal(place.partial, self._fingerprint())
        try:
            place.begin(journal.entries())
            gathered = self.gather(place.partial / GATHERED, control)
            places = {key: place.write(key, [data], len(data)) for key, data in self.metadata.items()}
            tally = self._carry_out(JournalSink(place, journal), place.spool, control)
            gathered.tell(tally)
            remove(place.partial / GATHERED)
            pool = self.dataset.session.pool
            tally.verified = verify_chunks(place, journal, self.arrays, pool, control.token)
            written = {key: place.stored(key, where) for key, where in places.items()}
            self._verify_metadata({key: stored.read_at(0, stored.size) for key, stored in written.items()})
        except OSError as error:
            raise RefbrowserError(
                ErrorKind.IO, f"cannot write: {error.strerror or error}", Place(path=str(place.target))
            ) from error
        finally:
            journal.close()
        place.finish(force=self.request.force)
        return self._report(tally)

    def _compare(self, place: TargetFolder | TargetZip, control: JobControl) -> ExportReport:
        """Verify a complete target against the source."""
        complete = place.complete()
        sink = CompareSink(complete)
        with tempfile.TemporaryDirectory(prefix=f".{place.target.name}.", dir=place.target.parent) as folder:
            gathered = self.gather(Path(folder) / GATHERED, control)
            tally = self._carry_out(sink, Path(folder) / SPOOL, control)
            gathered.tell(tally)
        if sink.different:
            advice = "--force writes the target anew"
            raise differing(sorted(sink.different), sink.compared, str(place.target), advice)
        try:
            written = {key: complete.stored(key) for key in self.metadata}
            self._verify_metadata({key: stored.read_at(0, stored.size) for key, stored in written.items()})
        except OSError as error:
            raise RefbrowserError(
                ErrorKind.IO, f"cannot read: {error.strerror or error}", Place(path=str(place.target))
            ) from error
        tally.verified, tally.resumed = sink.compared, sink.compared
        tally.chunks = tally.copied = tally.written_bytes = 0
        return self._report(tally)

    def gather(self, folder: Path, control: JobControl) -> Gathered:
        """Read nested arrays into files of a folder, of which chunks are made as of any array.

        Raises
        ------
        RefbrowserError
            Something cannot be read.
        OSError
            The files cannot be written.
        Cancelled
            The control's token was cancelled.
        """
        if not self.nested:
            return Gathered()
        remove(folder)
        gathered = gather(self.dataset, self.nested, folder, control, skip_bad=self.request.skip_bad)
        self.nested = [filled.part for filled in gathered.parts]
        layouts = [filled.layouts(self.target) for filled in gathered.parts]
        self._settle([filled.group for filled in gathered.parts], [each for some in layouts for each in some])
        at = len(self._plain)
        for filled, some in zip(gathered.parts, layouts, strict=True):
            filled.feed(self.arrays[at : at + len(some)])
            at += len(some)
        return gathered

    def _carry_out(self, sink: Sink, spool: Path, control: JobControl) -> Tally:
        tally = Tally(skipped=list(self.skipped))
        carry_out(self.dataset, self.arrays, sink, spool, tally, control, skip_bad=self.request.skip_bad)
        return tally

    def _verify_metadata(self, texts: dict[str, bytes]) -> None:
        verify_metadata(texts, self.groups, self.layouts, self.target)

    def _fingerprint(self) -> str:
        facts = [
            [
                layout.source.path,
                layout.target.path,
                [[taken.start, taken.stop, taken.step] for taken in layout.selection.axes],
                sorted(layout.selection.dropped),
                list(layout.grid.chunk_shape),
                str(layout.target.dtype),
                layout.copied is not None,
            ]
            for layout in self.layouts
        ]
        facts += [[part.path, repr(part.source.selection), part.source.length] for part in self.nested]
        options = self.options.as_json()
        text = json.dumps([self.request.format, self.dataset.path, options, facts])
        return hashlib.sha256(text.encode()).hexdigest()

    def _report(self, tally: Tally) -> ExportReport:
        return ExportReport(
            target=self.request.target,
            format=self.request.format,
            arrays=len(self._plain) + len(self.nested),
            chunks=tally.chunks + tally.resumed,
            copied=tally.copied,
            resumed=tally.resumed,
            missing=tally.missing,
            verified=tally.verified,
            skipped=tuple(tally.skipped),
            losses=self.losses,
            read_bytes=tally.read_bytes,
            written_bytes=tally.written_bytes,
            requests=tally.requests,
        )


def _ask(count: int, question: Callable[[RefbrowserError], bool]) -> None:
    if count <= LIMITS.write_out_question:
        return
    error = RefbrowserError(
        ErrorKind.BUDGET,
        f"the export has {count} chunks, more than {LIMITS.write_out_question} (write_out_question)",
        advice="give --yes, or choose arrays and selections",
    )
    if not question(error):
        raise error
