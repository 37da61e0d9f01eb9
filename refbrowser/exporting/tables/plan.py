"""Which files a dataset becomes: one, where all arrays have as many rows, else one for each array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.nested.choice import chosen_nodes
from refbrowser.exporting.nested.row_reading import RowSource
from refbrowser.exporting.nested.target_types import check_readable
from refbrowser.exporting.paths import escaped_key
from refbrowser.exporting.request import ExportRequest, Loss
from refbrowser.exporting.stored_form import names_left_out, stored_form
from refbrowser.exporting.tables.columns import Column
from refbrowser.exporting.targets import plain_names
from refbrowser.model.nested import TypePath
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Name of the only array of a dataset, where it has none.
_UNNAMED = "values"
#: Rows that are written together, at most: what readers of Parquet expect.
_MOST_ROWS = 1 << 20

#: By path of an array: where values could not be read although its type has none missing.
Widened = dict[str, frozenset[TypePath]]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One file.

    Attributes
    ----------
    name
        Of the file below the target; empty where the target is the file.
    length
        Rows.
    """

    name: str
    columns: tuple[Column, ...]
    length: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in memory, on average."""
        return sum(column.source.row_bytes for column in self.columns)

    def block_rows(self, group_size: int) -> int:
        """Return how many rows are written together: whole chunks of the largest array where these fit."""
        rows = max(1, min(group_size // self.row_bytes, _MOST_ROWS))
        largest = max(self.columns, key=lambda column: column.source.row_bytes).source.unit
        return rows // largest * largest or rows


@dataclass(frozen=True, slots=True)
class TablesPlan:
    """All files of an export.

    Attributes
    ----------
    values
        Arrays of a single value beside others that have rows: they are kept in the metadata of the file.
    """

    tables: tuple[TablePlan, ...]
    values: tuple[RowSource, ...]
    is_folder: bool
    skipped: tuple[RefbrowserError, ...]
    losses: tuple[Loss, ...]

    @property
    def paths(self) -> list[str]:
        """Those of the arrays that are written."""
        sources = [column.source for table in self.tables for column in table.columns]
        return [each.node.path for each in (*sources, *self.values)]


def planned(dataset: Dataset, request: ExportRequest, widened: Widened) -> TablesPlan:
    """Return the files that an export makes.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set), or there is none.
    """
    skipped: list[RefbrowserError] = []
    sources: list[RowSource] = []
    for node, selection in chosen_nodes(dataset.hierarchy, request.arrays):
        try:
            source = RowSource.of(node, selection)
            check_readable(source.type, skip_bad=request.skip_bad)
        except RefbrowserError as error:
            placed = replace(error.place, path=node.path)
            told = RefbrowserError(error.kind, error.message, placed, error.advice)
            if not request.skip_bad:
                raise told from error
            skipped.append(told)
            continue
        sources.append(source)
    if not sources:
        raise RefbrowserError(ErrorKind.META, "there is no array that can be written", Place(path="/"))
    return _files(sources, plain_names(dataset), request, widened, tuple(skipped))


def _files(
    sources: list[RowSource],
    name: Callable[[str], str],
    request: ExportRequest,
    widened: Widened,
    skipped: tuple[RefbrowserError, ...],
) -> TablesPlan:
    rows = [source for source in sources if not source.is_single]
    is_folder = len({source.length for source in rows}) > 1
    values = [source for source in sources if source.is_single and rows and not is_folder]
    held = [source for source in sources if source not in values]
    losses: list[Loss] = []

    def column(source: RowSource, title: str) -> Column:
        node, told = _as_stored(source.node)
        where = widened.get(source.node.path, frozenset())
        made = Column.of(title or _UNNAMED, source, node, request.format, where)
        losses.extend(Loss(source.node.path, what) for what in (*told, *map(str, made.notes)))
        return made

    if is_folder:
        losses.append(
            Loss("/", "arrays have different numbers of rows: a folder with a file for each is made")
        )
        tables = [
            TablePlan(
                _file_name(name(source.node.path.strip("/")), request.format),
                (column(source, name(source.node.name)),),
                source.length,
            )
            for source in held
        ]
    else:
        columns = tuple(column(source, name(source.node.path.strip("/"))) for source in held)
        tables = [TablePlan("", columns, held[0].length)]
    losses.extend(
        Loss(each.node.path, "the single value is kept in the metadata of the file") for each in values
    )
    return TablesPlan(tuple(tables), tuple(values), is_folder, skipped, tuple(losses))


def _as_stored(node: ArrayNode) -> tuple[ArrayNode, Sequence[str]]:
    """Return an array without what only its format has."""
    if node.nested is not None:
        return node, ()
    stored, told = stored_form(node)
    return stored, [*told, *names_left_out(node.dtype)]


def _file_name(name: str, format: str) -> str:
    return f"{escaped_key(name or _UNNAMED)}.{format}"
