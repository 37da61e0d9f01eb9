"""Tables of messages of GRIB files in the parquet form: what the mapping functions of kerchunk write.

A row says of a message what kerchunk calls its variable, its type of level and of step, its name, its level,
times, and where it is: ``uri``, ``offset``, ``length``. A mapping has both what an ``.idx`` and what the GRIB
file say, as ``offset_idx`` and ``offset_grib``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.grib_index.inventory import Entry, Inventory, byte_number
from refbrowser.formats.library.joined_files import ROOM
from refbrowser.formats.sniffing import FileKind, Found, other_error
from refbrowser.limits import LIMITS
from refbrowser.loading import require
from refbrowser.words import counted_plain

#: Columns that every such table has, each by the names that it may have.
_NEEDED = {
    "varname": ("varname",),
    "uri": ("uri", "grib_uri"),
    "offset": ("offset", "offset_grib", "offset_idx"),
    "length": ("length", "length_grib", "length_idx"),
}
#: Columns that tell where a field is in its array, and those that tell nothing of it.
_PLACES = ("time", "step", "level", "number", "valid_time")
_ELSEWHERE = ("inline_value", "idx", "idx_uri", "date", "attrs")
#: Seconds from 1970 of times that a date can say.
_FIRST, _LAST = -62_000_000_000, 253_000_000_000
#: How pandas calls the numbers of rows.
_ROW_NUMBERS = "__index_level_"
#: What columns mean, where their names do not say it all.
_MEANINGS = {
    "varname": "name of the variable, as kerchunk has it",
    "typeOfLevel": "type of level, as eccodes calls it",
    "stepType": "whether it is of a moment, an accumulation, a mean or an extreme",
    "name": "name of the quantity, as eccodes has it",
    "level": "level in the units of its type",
    "number": "member of an ensemble",
    "step": "forecast time, from the reference time to the end of what it is of",
    "valid_time": "time at which it is valid",
    "uri": "GRIB file that the message is in",
}
#: Bytes of the table when it is unpacked, for each byte that it may have.
_UNPACKED = 16


def read_chunk_table(source: Any, name: str) -> Inventory:
    """Return what a table lists; rows that cannot be read are told, and the others count.

    Parameters
    ----------
    source
        The parquet file: its path, or a file of its bytes.
    name
        Of the table, for messages.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is another parquet file; `E_USAGE`: pyarrow is not installed; `E_BUDGET`: it lists
        too many messages; `E_FORMAT`: it lists none, or cannot be read.
    """
    require("pyarrow")
    import pyarrow
    import pyarrow.parquet

    place = Place(document=name)
    # Dates may lie where Python has none (OverflowError).
    failures = (OSError, ValueError, KeyError, MemoryError, OverflowError, pyarrow.ArrowException)
    try:
        schema = pyarrow.parquet.read_schema(source)
    except failures:
        raise other_error(Found(FileKind.PARQUET), name) from None
    names = _names(schema.names)
    if names is None:
        raise other_error(Found(FileKind.PARQUET), name)
    columns = [each.name for each in schema if _is_plain(each, names.values())]
    # A text that many rows have is held once.
    texts = [each.name for each in schema if each.name in columns and _is_text(each)]
    with pyarrow.parquet.ParquetFile(source, read_dictionary=texts) as file:
        _check_size(file.metadata, len(columns), place)
        try:
            table = file.read(columns=columns, use_threads=False)
            found = {each: _listed(table.column(each)) for each in columns}
        except failures as error:
            message = f"the parquet file cannot be read: {quoted(error)}"
            raise RefbrowserError(ErrorKind.FORMAT, message, place) from None
    if missing := [each for each in names.values() if each not in found]:
        message = f"its column {quoted(missing[0])} does not hold what it should"
        raise RefbrowserError(ErrorKind.FORMAT, message, place)
    return _inventory(found, names, place)


def _names(columns: Sequence[str]) -> dict[str, str] | None:
    """Return the columns that say where messages are, by what they say; None where one is missing."""
    found = {key: next((each for each in named if each in columns), None) for key, named in _NEEDED.items()}
    return None if None in found.values() else {key: str(name) for key, name in found.items()}


def _is_plain(column: Any, needed: Collection[str]) -> bool:
    from pyarrow import types

    kinds = (types.is_nested, types.is_null, types.is_binary, types.is_large_binary)
    is_binary = types.is_fixed_size_binary(column.type) and not types.is_decimal(column.type)
    is_told = column.name in needed or not (column.name in _ELSEWHERE or column.name.startswith(_ROW_NUMBERS))
    return is_told and not is_binary and not any(each(column.type) for each in kinds)


def _is_text(column: Any) -> bool:
    from pyarrow import types

    type = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_string(type) or types.is_large_string(type))


def _check_size(metadata: Any, columns: int, place: Place) -> None:
    """Raise where a table says that it holds more than may be read."""
    rows, name, most = metadata.num_rows, "index_messages", LIMITS.index_messages
    unpacked = sum(metadata.row_group(each).total_byte_size for each in range(metadata.num_row_groups))
    if rows > most:
        message = f"the table lists {rows} messages, more than {most} ({name})"
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    if rows * columns > LIMITS.index_cells:
        message = (
            f"the table has {columns} columns of {rows} messages, more than {LIMITS.index_cells} cells "
            "(index_cells)"
        )
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    if unpacked > _UNPACKED * LIMITS.index_size:
        message = (
            f"the table has {unpacked} bytes, more than {_UNPACKED} times {LIMITS.index_size} (index_size)"
        )
        raise RefbrowserError(ErrorKind.BUDGET, message, place)


def _listed(column: Any) -> list[Any]:
    """Return a column as a list: times as seconds since 1970, durations as seconds, texts, numbers."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(column.type):
        return [each for chunk in column.chunks for each in _texts(chunk)]
    for is_time, made in ((types.is_timestamp, pyarrow.timestamp), (types.is_duration, pyarrow.duration)):
        if is_time(column.type):
            column = column.cast(made("s"), safe=False).cast(pyarrow.int64())
    return list(column.to_pylist())


def _texts(column: Any) -> Iterator[Any]:
    """Yield the values of a column of which each is held once; a `ValueError` where one is too long."""
    import pyarrow.compute

    if _is_text(column.dictionary):
        longest = pyarrow.compute.max(pyarrow.compute.binary_length(column.dictionary)).as_py() or 0
        if longest > LIMITS.index_line:
            raise ValueError(f"a text has {longest} bytes, more than {LIMITS.index_line} (index_line)")
    values = column.dictionary.to_pylist()
    yield from (None if each is None else values[each] for each in column.indices.to_pylist())


def _inventory(columns: Mapping[str, list[Any]], names: Mapping[str, str], place: Place) -> Inventory:
    files: dict[str, int] = {}
    wrong: Counter[str] = Counter()
    first: dict[str, int] = {}
    found: dict[tuple[int, int], Entry] = {}
    for row, values in enumerate(_rows(columns), 1):
        try:
            entry = _entry(row, values, names, files)
        except ValueError as error:
            why = str(error)
        else:
            if found.setdefault((entry.file, entry.offset), entry) is entry:
                continue
            why = "the message is listed already"
        wrong[why] += 1
        first.setdefault(why, row)
    findings = tuple(
        Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.FORMAT,
            message=f"{counted_plain(count, 'row')} left out, row {first[why]} the first: {why}",
            place=place,
        )
        for why, count in wrong.items()
    )
    if not found:
        message = findings[0].message if findings else "the table lists no message"
        raise RefbrowserError(ErrorKind.FORMAT, message, place)
    entries = tuple(found[key] for key in sorted(found))
    return Inventory(entries, False, 0, findings, tuple(files), _MEANINGS)


def _rows(columns: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _entry(row: int, values: Mapping[str, Any], names: Mapping[str, str], files: dict[str, int]) -> Entry:
    """Return what a row says.

    Raises
    ------
    ValueError
        It leads to no message, and why.
    """
    uri, offset, length = _message_place(*(values[names[key]] for key in ("uri", "offset", "length")))
    start, step = _seconds(values.get("time")), _step(values.get("step"))
    level, number = values.get("level"), values.get("number")
    told = {
        "varname": _text(values[names["varname"]]),
        **{key: _readable(key, value) for key, value in values.items() if _tells(key, names)},
        "uri": uri,
    }
    if start is not None:
        told.pop("time", None)
    kind = tuple((key, told[key]) for key in sorted(told) if key not in (*_PLACES, "uri"))
    return Entry(
        line=row,
        message=row,
        part=0,
        offset=offset,
        length=length,
        start=start,
        told=told,
        kind=(kind, level is None, number is None, step is None),
        high=_text(level) or None if isinstance(level, int | float) and level == level else None,
        last=step,
        member=int(number) if isinstance(number, int | float) and isfinite(number) else None,
        file=files.setdefault(uri, len(files)),
    )


def _message_place(uri: Any, offset: Any, length: Any) -> tuple[str, int, int]:
    """Return the file, the offset and the length that a row says.

    Raises
    ------
    ValueError
        There can be no message, and why.
    """
    are_numbers = isinstance(offset, int | float) and isinstance(length, int | float)
    if not isinstance(uri, str) or not uri or not are_numbers:
        raise ValueError("it says of no file where the message is")
    if len(uri) > LIMITS.url_length:
        raise ValueError(f"its URI has more than {LIMITS.url_length} characters (url_length)")
    if offset < 0:
        raise ValueError("its value stands in the table itself")
    if not 0 <= length <= ROOM - offset:
        raise ValueError("it leads beyond the end of any file")
    return uri, byte_number(_whole(offset)), byte_number(_whole(length))


def _tells(key: str, names: Mapping[str, str]) -> bool:
    """Tell whether a column says something of fields, and not where their messages are."""
    return key not in _ELSEWHERE and key not in names.values()


def _whole(value: Any) -> int:
    """Return a number of bytes; columns with gaps have them as floats."""
    if isinstance(value, float) and value == value and value == int(value):
        return int(value)
    if isinstance(value, int):
        return value
    raise ValueError("it says of no file where the message is")


def _seconds(value: Any, size: int = 1) -> int | None:
    """Return a number of units of `size` seconds in seconds; None where no date can say it."""
    is_number = isinstance(value, int | float) and _FIRST <= value * size <= _LAST
    return round(value * size) if is_number else None


def _step(value: Any) -> int | None:
    """Return a forecast time in seconds: durations are seconds here, and floats are hours."""
    return _seconds(value, 3600 if isinstance(value, float) else 1)


def _readable(key: str, value: Any) -> str:
    """Return what a column says as the table shows it."""
    if key == "step":
        step = _step(value)
        return "" if step is None else f"{step / 3600:g} hours"
    if key == "valid_time":
        valid = _seconds(value)
        return "" if valid is None else datetime.fromtimestamp(valid, UTC).strftime("%Y-%m-%dT%H:%M")
    return _text(value)


def _text(value: Any) -> str:
    """Return a value as the table shows it; whole numbers without a point."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
