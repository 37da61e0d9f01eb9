"""Writing tables, and reading them again: columns are compared by the digests of their values."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.nested.conformed_rows import conformed
from refbrowser.exporting.nested.growing_buffers import BufferName, GrowingBuffers
from refbrowser.exporting.nested.row_reader import RowReader, RowSource, row_blocks
from refbrowser.exporting.nested.target_types import TargetType
from refbrowser.exporting.options import TableOptions
from refbrowser.exporting.request import ExportRequest, Tally
from refbrowser.exporting.targets.tables_plan import Column, Scalars, TablePlan, arrow_table, schema_metadata
from refbrowser.model.nodes import GroupNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def content_digest(content: Any, type: TargetType) -> bytes:
    """Return the SHA-256 of rows in the canonical form of a type, of which equal rows have the same."""
    digest = hashlib.sha256()

    def put(name: BufferName, values: npt.NDArray[Any]) -> None:
        digest.update(f"{name.name} {len(values)} ".encode())
        digest.update(np.ascontiguousarray(values).view(np.uint8).data)

    GrowingBuffers(type, put).add(content)
    return digest.digest()


class TableWriter(Protocol):
    """Takes tables of one schema; each becomes a row group or a record batch."""

    def write(self, table: Any) -> None:
        """Write some rows."""
        ...

    def close(self) -> None:
        """End the file."""
        ...


class _ParquetWriter:
    def __init__(self, file: BinaryIO, schema: Any, options: TableOptions) -> None:
        import pyarrow.parquet as pq

        name, level = options.codec_of("parquet")
        self._writer = pq.ParquetWriter(
            file, schema, compression=name, compression_level=level, use_dictionary=_texts(schema)
        )

    def write(self, table: Any) -> None:
        """Write one row group."""
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


class _FeatherWriter:
    def __init__(self, file: BinaryIO, schema: Any, options: TableOptions) -> None:
        import pyarrow as pa

        name, level = options.codec_of("feather")
        codec = None if name == "none" else pa.Codec(name, level)
        self._writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression=codec))

    def write(self, table: Any) -> None:
        """Write one record batch."""
        import pyarrow as pa

        # A table without rows would have no batches.
        columns = [column.combine_chunks() for column in table.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=table.schema))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


def _texts(schema: Any) -> list[str] | bool:
    """Return the columns whose values may be the same: texts; numbers are smaller as they are."""
    import pyarrow as pa

    def is_text(type: Any) -> bool:
        plain = type.storage_type if isinstance(type, pa.BaseExtensionType) else type
        return bool(pa.types.is_string(plain) or pa.types.is_large_string(plain))

    return [field.name for field in schema if is_text(field.type)] or False


@contextmanager
def open_writer(format: str, file: BinaryIO, schema: Any, options: TableOptions) -> Iterator[TableWriter]:
    """Give what writes a file of a format; the file is on the disk at the end."""
    writer = _writer(format, file, schema, options)
    try:
        yield writer
    except BaseException:
        # It would close itself when it is forgotten, and the file is closed by then.
        with suppress(Exception):
            writer.close()
        raise
    writer.close()
    file.flush()
    os.fsync(file.fileno())


def _writer(format: str, file: BinaryIO, schema: Any, options: TableOptions) -> TableWriter:
    return (
        _ParquetWriter(file, schema, options)
        if format == "parquet"
        else _FeatherWriter(file, schema, options)
    )


def tables_in(format: str, path: Path) -> Iterator[Any]:
    """Yield the row groups or record batches of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if format == "parquet":
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                yield file.read_row_group(number)
        return
    with pa.OSFile(str(path)) as stream, pa.ipc.open_file(stream) as reader:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


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
    options: TableOptions
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
    """
    options = run.options
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
                raise RefbrowserError(ErrorKind.DECODE, "rows have a different type from those before")
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
    empty = arrow_table(table.columns, nothing, 0, run.options)
    # One of several files tells of the groups above its arrays; the index of them tells of all.
    paths = [column.node.path for column in table.columns]
    groups = [each for each in run.groups if not table.name or _is_above(each, paths)]
    metadata = schema_metadata(run.dataset, table.columns, groups, scalars)
    return empty.schema.with_metadata({**(empty.schema.metadata or {}), **metadata})


def _is_above(group: GroupNode, paths: Sequence[str]) -> bool:
    return any(path.startswith(f"{group.path.rstrip('/')}/") for path in paths)


def _blocks(run: TableRun, table: TablePlan) -> Iterator[tuple[list[Any], int]]:
    size = run.options.group_size
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
                raise _differs(path, f"column {quoted(column.name)} differs from what was written")
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
