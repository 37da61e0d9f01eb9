"""Writing one table, block by block, and reading it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.nested.conform import conformed
from refbrowser.exporting.nested.row_blocks import row_blocks
from refbrowser.exporting.nested.row_reading import RowReader, RowSource
from refbrowser.exporting.request import ExportRequest, Tally
from refbrowser.exporting.tables.columns import Column, Scalars, arrow_table, schema_metadata
from refbrowser.exporting.tables.digest import content_digest
from refbrowser.exporting.tables.files import open_writer, tables_in
from refbrowser.exporting.tables.plan import TablePlan
from refbrowser.model.nodes import GroupNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: What a folder of tables has beside them: names, rows and columns; readers leave names with ``_`` aside.
INDEX = "_tables.json"


@dataclass(frozen=True, slots=True)
class TableRun:
    """What the writing of all tables shares.

    Attributes
    ----------
    groups
        Of which attributes are told.
    step
        Called with the rows of a column that were written; raises `Cancelled`.
    """

    dataset: Dataset
    request: ExportRequest
    groups: Sequence[GroupNode]
    reader: RowReader
    tally: Tally
    step: Callable[[RowReader, int], None]

    def bad(self, errors: Sequence[RefbrowserError]) -> None:
        """Take note of what cannot be read, each once.

        Raises
        ------
        RefbrowserError
            The first of it, unless bad entries are to be left out.
        """
        known = set(map(str, self.tally.skipped))
        for error in errors:
            if not self.request.skip_bad:
                raise error
            if str(error) not in known:
                known.add(str(error))
                self.tally.skipped.append(error)

    def single(self, source: RowSource) -> Any:
        """Return a single value, as plain Python has it; None where it cannot be read."""
        import awkward

        block = self.reader.read(source, 0, 1)
        self.bad(block.errors)
        return awkward.to_list(block.content)[0]


def write_table(run: TableRun, table: TablePlan, path: Path, scalars: Scalars) -> None:
    """Write a file, and compare what is read again with what was written.

    Raises
    ------
    MissingValuesError
        Values of a column could not be read, and its type has none missing; names the array.
    RefbrowserError
        Something cannot be read, or verification failed.
    OSError
        The file cannot be written.
    Cancelled
        The export was cancelled.
    """
    options = run.request.tables
    schema = _schema(run, table, scalars)
    digests: list[list[bytes]] = []
    with path.open("wb") as file, open_writer(run.request.format, file, schema, options) as writer:
        for contents, length in _blocks(run, table):
            parts = [
                column.conformed(content) for column, content in zip(table.columns, contents, strict=True)
            ]
            made = arrow_table(table.columns, parts, length, options)
            made = made.replace_schema_metadata(schema.metadata)
            if made.schema != schema:
                raise RefbrowserError(ErrorKind.DECODE, "rows have another type than those before")
            pairs = zip(parts, table.columns, strict=True)
            digests.append([content_digest(part, column.type) for part, column in pairs])
            writer.write(made)
            run.step(run.reader, length * len(table.columns))
    _verify(run, path, table.columns, digests)
    run.tally.chunks += len(digests)
    run.tally.verified += len(digests)
    run.tally.written_bytes += path.stat().st_size


def _schema(run: TableRun, table: TablePlan, scalars: Scalars) -> Any:
    from awkward.contents import EmptyArray

    nothing = [column.conformed(EmptyArray()) for column in table.columns]
    empty = arrow_table(table.columns, nothing, 0, run.request.tables)
    # One of several files tells of the groups above its arrays; the index of them tells of all.
    paths = [column.node.path for column in table.columns]
    groups = [each for each in run.groups if not table.name or _is_above(each, paths)]
    metadata = schema_metadata(run.dataset, table.columns, groups, scalars)
    return empty.schema.with_metadata({**(empty.schema.metadata or {}), **metadata})


def _is_above(group: GroupNode, paths: Sequence[str]) -> bool:
    return any(path.startswith(f"{group.path.rstrip('/')}/") for path in paths)


def _blocks(run: TableRun, table: TablePlan) -> Iterator[tuple[list[Any], int]]:
    size = run.request.tables.group_size
    sources = [column.source for column in table.columns]
    if not table.length:
        # Readers look for the first group.
        yield [run.reader.read(source, 0, 0).content for source in sources], 0
    yield from row_blocks(run.reader, sources, table.block_rows(size), size, run.bad)


def _verify(run: TableRun, path: Path, columns: Sequence[Column], digests: list[list[bytes]]) -> None:
    found = 0
    for number, table in enumerate(tables_in(run.request.format, path)):
        run.step(run.reader, 0)
        found += 1
        for column, values, digest in zip(columns, table.columns, digests[number], strict=True):
            if not _is_same(column, values, digest):
                raise _differs(path, f"column {quoted(column.name)} is not what was written")
    if found != len(digests):
        raise _differs(path, f"{found} groups of rows where {len(digests)} were written")


def _is_same(column: Column, values: Any, digest: bytes) -> bool:
    """Tell whether a column of Arrow holds what was written, by way of awkward as it was written."""
    import awkward
    import pyarrow

    array = values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
    try:
        content = conformed(awkward.from_arrow(array, highlevel=False), column.type.settled)
    except RefbrowserError:
        return False
    return content_digest(content, column.type) == digest


def _differs(path: Path, what: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=str(path)))


def write_index(path: Path, tables: Sequence[TablePlan], groups: Sequence[GroupNode]) -> None:
    """Write which files there are, with their rows and arrays, and the attributes of groups."""
    files = {
        table.name: {"rows": table.length, "arrays": [column.node.path for column in table.columns]}
        for table in tables
    }
    told = {group.path: dict(group.attributes) for group in groups if group.attributes}
    text = json.dumps({"tables": files, "groups": told}, indent=1, ensure_ascii=False, default=str)
    path.write_text(text + "\n", encoding="utf-8", errors="replace")
