"""Exporting to Parquet and Feather."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading_kinds import reading_of
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.exporter import Target
from refbrowser.exporting.folder import TargetFolder
from refbrowser.exporting.nested.conformed_rows import MissingValuesError
from refbrowser.exporting.nested.row_arrays import groups_above
from refbrowser.exporting.nested.row_reader import RowReader, row_reader
from refbrowser.exporting.options import TableOptions
from refbrowser.exporting.paths import check_collisions
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, lost_fill, lost_in_json, unread_attributes
from refbrowser.exporting.targets.tables_plan import Scalars, TablePlan, Widened, planned
from refbrowser.exporting.targets.tables_writing import (
    INDEX,
    TableRun,
    write_index,
    write_table,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import require
from refbrowser.model.nodes import GroupNode, Node

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


class TablePlace(TargetFolder):
    """A folder of tables, or one table.

    Parameters
    ----------
    only
        Name of the file that is made where there is one; empty where a folder is.
    """

    goes_on = False

    def __init__(self, target: str, only: str) -> None:
        super().__init__(target)
        self.only = only

    def finish(self, *, force: bool) -> None:
        """Give the folder or the file its final name."""
        if self.only:
            self.swap(self.partial / self.only, force=force)
        else:
            super().finish(force=force)


class TableTarget(Target):
    """Tables: planned when they are made.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); pyarrow is not installed; `E_USAGE`: an option
        has no meaning.
    """

    written_anew: ClassVar[str] = "tables are always written in one run: they cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        require("pyarrow", "awkward")
        self.options = request.chosen(TableOptions)
        _ = self.options.codec_of(request.format)
        super().__init__(dataset, request)
        self._widened: Widened = {}
        self.plan = planned(dataset, request, self._widened)

    @property
    def losses(self) -> tuple[Loss, ...]:  # type: ignore[override]
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

    @property
    def skipped(self) -> Sequence[RefbrowserError]:  # type: ignore[override]
        """Why arrays are left out."""
        return self.plan.skipped

    @property
    def arrays(self) -> int:
        """How many arrays are written."""
        return sum(len(table.columns) for table in self.plan.tables) + len(self.plan.values)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; no data is read."""
        size = sum(table.length * table.row_bytes for table in self.plan.tables)
        return ExportEstimate(sum(map(self._groups, self.plan.tables)), 0, size, size)

    def _groups(self, table: TablePlan) -> int:
        return -(-table.length // table.block_rows(self.options.group_size))

    def place(self) -> TablePlace:
        """Return the folder or the file that is made."""
        return TablePlace(self.name, "" if self.plan.is_folder else self._only_name)

    def check_place(self, place: TablePlace) -> None:
        """Raise where the target is there, or cannot have these names."""
        super().check_place(place)
        names = [table.name for table in self.plan.tables if table.name]
        above = {f"{name.rpartition('/')[0]}/" for name in names if "/" in name}
        check_collisions([*names, *sorted(above)], ignore_case=place.ignores_case)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the errors of large chunks."""
        for table in self.plan.tables:
            for column in table.columns:
                large = reading_of(column.source.node).chunk_question()
                if large is not None:
                    yield large

    @property
    def _only_name(self) -> str:
        return f"table.{self.request.format}"

    def write(self, made: TablePlace, tally: Tally, control: JobControl) -> None:
        """Write all files; again from the start where values turn out to be missing."""
        with row_reader(self.dataset, control) as reader:
            groups = self._groups_told()
            run = TableRun(
                self.dataset, self.request, self.options, groups, reader, tally, self._progress(control)
            )
            scalars = {each.node.path.strip("/"): (each.node, run.single(each)) for each in self.plan.values}
            for number in range(len(self.plan.tables)):
                self._one(made, run, number, scalars)
            if self.plan.is_folder:
                write_index(made.partial / INDEX, self.plan.tables, groups)
            tally.read_bytes, tally.requests = reader.read_bytes, reader.requests

    def verify(self, made: TablePlace, tally: Tally, control: JobControl) -> int:
        """Return how many groups of rows were compared: each file was, before the next one was begun."""
        return tally.verified

    def _one(self, place: TablePlace, run: TableRun, number: int, scalars: Scalars) -> None:
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
