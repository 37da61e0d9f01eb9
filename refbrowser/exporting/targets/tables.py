"""Exporting to Parquet and Feather."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.read_plan import size_question
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.folder import TargetFolder, remove
from refbrowser.exporting.nested.choice import groups_above
from refbrowser.exporting.nested.conform import MissingValuesError
from refbrowser.exporting.nested.row_reading import RowReader, row_reader
from refbrowser.exporting.paths import check_collisions
from refbrowser.exporting.request import ExportEstimate, ExportReport, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, lost_fill, lost_in_json, unread_attributes
from refbrowser.exporting.targets.options import TableOptions
from refbrowser.exporting.targets.tables_plan import Scalars, TablePlan, Widened, planned
from refbrowser.exporting.targets.tables_writing import (
    INDEX,
    TableRun,
    require_pyarrow,
    write_index,
    write_table,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import GroupNode, Node

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


class TableExport:
    """One export to tables: planned when it is made, carried out by `run`.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); pyarrow is not installed; `E_USAGE`: an option
        has no meaning.
    """

    is_document: ClassVar[bool] = False
    checked_by: ClassVar[str] = ""

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        if request.resume:
            message = "tables are written anew: there is nothing to go on with"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="leave --resume out")
        require_pyarrow()
        self.options = request.chosen(TableOptions)
        _ = self.options.codec_of(request.format)
        self.dataset = dataset
        self.request = request
        self._widened: Widened = {}
        self.plan = planned(dataset, request, self._widened)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the target cannot hold."""
        arrays = [column.source.node for table in self.plan.tables for column in table.columns]
        arrays += [each.node for each in self.plan.values]
        nodes: list[Node] = [*self._groups_told(), *arrays]
        return (
            *damage(self.dataset, self.request),
            *unread_attributes(self.dataset.hierarchy, nodes),
            *lost_in_json(nodes),
            *(Loss(node.path, what) for node in arrays for what in lost_fill(node)),
            *self.plan.losses,
        )

    def _groups_told(self) -> list[GroupNode]:
        """Return the groups whose attributes are kept."""
        return groups_above(self.dataset, self.plan.paths, whole=self.request.arrays is None)

    def estimate(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; no data is read."""
        left_out = (
            Loss(error.place.path or "/", f"left out: {error.message}") for error in self.plan.skipped
        )
        size = sum(table.length * table.row_bytes for table in self.plan.tables)
        return ExportEstimate(
            sum(map(self._groups, self.plan.tables)), 0, size, size, (*self.losses, *left_out)
        )

    def _groups(self, table: TablePlan) -> int:
        return -(-table.length // table.block_rows(self.options.group_size))

    def run(self, control: JobControl, question: Callable[[RefbrowserError], bool]) -> ExportReport:
        """Write the files, read them again, and give them their name.

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
        self._check_names(place)
        self._ask(question)
        place.check_space(self.estimate(control.token).target_bytes)
        place.open(resume=False)
        try:
            tally = self._write(place, control)
            if self.plan.is_folder:
                place.finish(force=self.request.force)
            else:
                place.swap(place.partial / self._only_name, force=self.request.force)
        except OSError as error:
            message = f"cannot write: {error.strerror or error}"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=str(place.target))) from error
        finally:
            remove(place.partial)
            place.leave()
        return self._report(tally)

    def _check_names(self, place: TargetFolder) -> None:
        names = [table.name for table in self.plan.tables if table.name]
        above = {f"{name.rpartition('/')[0]}/" for name in names if "/" in name}
        check_collisions([*names, *sorted(above)], ignore_case=place.ignores_case)

    def _ask(self, question: Callable[[RefbrowserError], bool]) -> None:
        for table in self.plan.tables:
            for column in table.columns:
                large = size_question(column.source.node)
                if large is not None and not question(large):
                    raise large

    @property
    def _only_name(self) -> str:
        return f"table.{self.request.format}"

    def _write(self, place: TargetFolder, control: JobControl) -> Tally:
        """Write all files; again from the start where values turn out to be missing."""
        tally = Tally(skipped=list(self.plan.skipped))
        with row_reader(self.dataset, control) as reader:
            groups = self._groups_told()
            run = TableRun(
                self.dataset, self.request, self.options, groups, reader, tally, self._progress(control)
            )
            scalars = {each.node.path.strip("/"): (each.node, run.single(each)) for each in self.plan.values}
            for number in range(len(self.plan.tables)):
                self._one(place, run, number, scalars)
            if self.plan.is_folder:
                write_index(place.partial / INDEX, self.plan.tables, groups)
            tally.read_bytes, tally.requests = reader.read_bytes, reader.requests
        return tally

    def _one(self, place: TargetFolder, run: TableRun, number: int, scalars: Scalars) -> None:
        """Write one file; with options where values could not be read."""
        while True:
            table = self.plan.tables[number]
            path = place.partial / (table.name or self._only_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                write_table(run, table, path, scalars)
                return
            except MissingValuesError as error:
                known = self._widened.get(error.place.path or "", frozenset())
                if not self.request.skip_bad or error.where in known:
                    raise
                self._widened[error.place.path or ""] = known | {error.where}
                self.plan = planned(self.dataset, self.request, self._widened)

    def _progress(self, control: JobControl) -> Callable[[RowReader, int], None]:
        total = sum(table.length * len(table.columns) for table in self.plan.tables)
        done = 0

        def step(reader: RowReader, rows: int) -> None:
            nonlocal done
            control.check()
            done = min(total, done + rows)
            control.progress(done, total, read_bytes=reader.read_bytes, requests=reader.requests)

        return step

    def _report(self, tally: Tally) -> ExportReport:
        return ExportReport(
            target=self.request.target,
            format=self.request.format,
            arrays=sum(len(table.columns) for table in self.plan.tables) + len(self.plan.values),
            chunks=tally.chunks,
            verified=tally.verified,
            skipped=tuple(tally.skipped),
            losses=self.losses,
            read_bytes=tally.read_bytes,
            written_bytes=tally.written_bytes,
            requests=tally.requests,
        )
