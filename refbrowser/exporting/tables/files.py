"""Files of Parquet and Feather, written and read again block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.table_options import TableOptions


def require_pyarrow() -> None:
    """Make sure that pyarrow is there.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        message = "Parquet and Feather need the package pyarrow, which is not installed"
        advice = "pip install 'refbrowser[parquet]'"
        raise RefbrowserError(ErrorKind.FORMAT, message, advice=advice) from error


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
