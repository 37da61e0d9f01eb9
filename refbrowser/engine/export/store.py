"""Exporting to a store of any format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.export.chunks import ExportTask, Sink, TaskRunner, coords_between, tasks_of
from refbrowser.engine.export.folder import TargetFolder
from refbrowser.engine.export.journal import NAME, Journal
from refbrowser.engine.export.layout import ArrayLayout
from refbrowser.engine.export.paths import check_collisions
from refbrowser.engine.export.request import ExportEstimate, ExportReport, ExportRequest, Loss, Tally
from refbrowser.engine.export.targets import target_of
from refbrowser.engine.export.verify import (
    CompareSink,
    JournalSink,
    differing,
    verify_chunks,
    verify_metadata,
)
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.read_plan import size_question
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Tasks that run at once: while one waits for bytes, others decode and write.
WORKERS = 4
#: Chunks whose references are looked at together.
PAGE = 65_536


class StoreExport:
    """One export to a store: planned when it is made, carried out by `run`.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), or names collide.
    """

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        self.dataset = dataset
        self.request = request
        self.target = target_of(request.format, request.options)
        self.skipped: list[RefbrowserError] = []
        self.layouts = list(self._planned())
        self.groups = _groups_above(dataset, self.layouts, whole=request.arrays is None)
        of_arrays = (loss for layout in self.layouts for loss in layout.losses)
        self.losses: tuple[Loss, ...] = (*self.target.losses(self.groups), *of_arrays)

    def _planned(self) -> Iterator[ArrayLayout]:
        for node, selection in self._chosen():
            try:
                yield self.target.layout(node, selection)
            except RefbrowserError as error:
                placed = RefbrowserError(
                    error.kind, error.message, replace(error.place, path=node.path), error.advice
                )
                if not self.request.skip_bad:
                    raise placed from error
                self.skipped.append(placed)

    def _chosen(self) -> Iterator[tuple[ArrayNode, Selection | None]]:
        hierarchy = self.dataset.hierarchy
        if self.request.arrays is None:
            yield from ((node, None) for node in hierarchy.walk() if isinstance(node, ArrayNode))
            return
        for choice in self.request.arrays:
            node = hierarchy.find(choice.path)
            assert isinstance(node, ArrayNode)
            yield node, choice.selection

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        chunks = missing = source = target = 0
        for layout in self.layouts:
            decoded = prod(layout.grid.chunk_shape) * _itemsize(layout)
            for start in range(0, layout.grid.size, PAGE):
                token.check()
                stop = min(start + PAGE, layout.grid.size)
                if not layout.copies:
                    # Chunks do not coincide: each may be stored, and is written as it is decoded at most.
                    chunks, source = chunks + stop - start, source + (stop - start) * decoded
                    target += (stop - start) * decoded
                    continue
                coords = layout.source_coords(coords_between(layout, start, stop))
                assert layout.source.manifest is not None
                columns = layout.source.manifest.columns(coords)
                gone = int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
                unknown = int(np.count_nonzero(columns.kind == ReferenceKind.WHOLE))
                ranges = columns.length[columns.kind == ReferenceKind.RANGE]
                stored = int(ranges.sum()) + unknown * decoded
                inline = sum(map(len, columns.inline.values()))
                chunks, missing = chunks + stop - start - gone, missing + gone
                source, target = source + stored, target + stored + inline
        return ExportEstimate(chunks, missing, source, target, self.losses)

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
        folder = TargetFolder(request.target)
        if request.resume and folder.exists and not folder.partial.is_dir():
            return self._compare(folder, control)
        folder.check_replaceable(force=request.force)
        nodes = [self.target.group_path(group) for group in self.groups]
        nodes += [layout.target.path for layout in self.layouts]
        folders = [path.strip("/") + "/" for path in nodes if path != "/"]
        check_collisions(folders, ignore_case=folder.ignores_case)
        count = sum(layout.grid.size for layout in self.layouts)
        _ask(count, question)
        for layout in self.layouts:
            large = None if layout.copies else size_question(layout.source)
            if large is not None and not question(large):
                raise large
        estimate = self.estimate(control.token)
        folder.check_space(estimate.target_bytes)
        folder.open(resume=request.resume)
        try:
            return self._write(folder, control)
        finally:
            folder.leave()

    def _write(self, folder: TargetFolder, control: JobControl) -> ExportReport:
        journal = Journal(folder.partial, self._fingerprint())
        try:
            metadata = self.target.metadata(self.groups, self.layouts)
            for key, data in metadata.items():
                folder.write(key, data)
            tally = self._carry_out(JournalSink(folder, journal), control)
            tally.verified = verify_chunks(
                folder, journal, self.layouts, self.dataset.session.pool, control.token
            )
            verify_metadata(folder.partial, metadata, self.groups, self.layouts, self.target)
        except OSError as error:
            raise RefbrowserError(
                ErrorKind.IO, f"cannot write: {error.strerror or error}", Place(path=str(folder.target))
            ) from error
        finally:
            journal.close()
        folder.finish(NAME, force=self.request.force)
        return self._report(tally)

    def _compare(self, folder: TargetFolder, control: JobControl) -> ExportReport:
        """Verify a complete target against the source."""
        sink = CompareSink(folder.target)
        tally = self._carry_out(sink, control)
        if sink.different:
            advice = "--force writes the target anew"
            raise differing(sorted(sink.different), sink.compared, str(folder.target), advice)
        metadata = self.target.metadata(self.groups, self.layouts)
        try:
            verify_metadata(folder.target, metadata, self.groups, self.layouts, self.target)
        except OSError as error:
            raise RefbrowserError(
                ErrorKind.IO, f"cannot read: {error.strerror or error}", Place(path=str(folder.target))
            ) from error
        tally.verified, tally.resumed = sink.compared, sink.compared
        tally.chunks = tally.copied = tally.written_bytes = 0
        return self._report(tally)

    def _carry_out(self, sink: Sink, control: JobControl) -> Tally:
        """Run all tasks, a few at a time; the first failure ends them."""
        tally = Tally(skipped=list(self.skipped))
        inner = CancelToken()
        forget = control.token.on_cancel(inner.cancel)
        layouts = {layout.source.path: layout for layout in self.layouts}
        runner = TaskRunner(
            self.dataset.session,
            self.dataset.access,
            layouts,
            sink,
            tally,
            inner,
            skip_bad=self.request.skip_bad,
        )
        total = sum(layout.grid.size for layout in self.layouts)
        tasks = (task for layout in self.layouts for task in tasks_of(layout))
        try:
            for done in _in_threads(runner.run, tasks, inner):
                control.progress(done, total, read_bytes=tally.read_bytes, requests=tally.requests)
            control.check()
        finally:
            forget()
        return tally

    def _fingerprint(self) -> str:
        facts = [
            [
                layout.source.path,
                [[taken.start, taken.stop, taken.step] for taken in layout.selection.axes],
                sorted(layout.selection.dropped),
                list(layout.grid.chunk_shape),
                str(layout.target.dtype),
                layout.copies,
            ]
            for layout in self.layouts
        ]
        options = self.request.options.as_json()
        text = json.dumps([self.request.format, self.dataset.path, options, facts])
        return hashlib.sha256(text.encode()).hexdigest()

    def _report(self, tally: Tally) -> ExportReport:
        return ExportReport(
            target=self.request.target,
            format=self.request.format,
            arrays=len(self.layouts),
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


def _in_threads(
    function: Callable[[ExportTask], None], tasks: Iterator[ExportTask], token: CancelToken
) -> Iterator[int]:
    """Run a function for each task in `WORKERS` threads; yields the chunks done so far."""
    done = 0
    with ThreadPoolExecutor(WORKERS, "export") as pool:
        running: dict[Future[None], ExportTask] = {}
        try:
            while True:
                for task in islice(tasks, WORKERS - len(running)):
                    running[pool.submit(function, task)] = task
                if not running:
                    return
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    task = running.pop(future)
                    future.result()
                    done += task.stop - task.start
                yield done
        except BaseException:
            token.cancel()
            raise


def _groups_above(dataset: Dataset, layouts: Iterable[ArrayLayout], *, whole: bool) -> list[GroupNode]:
    """Return the groups of the target, parents first."""
    groups = [node for node in dataset.hierarchy.walk() if isinstance(node, GroupNode)]
    if whole:
        return groups
    paths = [layout.source.path for layout in layouts]
    return [group for group in groups if any(path.startswith(group.path.rstrip("/") + "/") for path in paths)]


def _itemsize(layout: ArrayLayout) -> int:
    return layout.source.dtype.itemsize if layout.source.dtype is not None else 1


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
