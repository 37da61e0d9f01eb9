"""The record files of one array in the parquet form of references: which there are, and what one holds.

What a file says of itself (rows, bytes when unpacked) is looked at before any of it is unpacked; which files
there are is learned from the folder, not from the shape of the array.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install

#: Columns of a record file.
NAMES = ("path", "offset", "size", "raw")
_RECORD = re.compile(r"refs\.(0|[1-9][0-9]{0,18})\.parq\Z")


def wrong(message: str, path: Path, kind: ErrorKind = ErrorKind.SCHEMA) -> RefbrowserError:
    """Return the error of a folder or file that is not as it should be."""
    return RefbrowserError(kind, message, Place(document=os.fspath(path)))


def fault(error: RefbrowserError) -> Finding:
    """Return an error as what was found."""
    return Finding(severity=Severity.FAULT, kind=error.kind, message=error.message, place=error.place)


@dataclass(frozen=True, slots=True)
class Record:
    """What one record file holds: a row for each chunk, in C order of the grid.

    Attributes
    ----------
    urls
        The distinct ones, as they are read here.
    url
        Position in `urls` of each row, -1 where it has none.
    offset, length
        Of each row; a whole file has 0 and 0.
    raw
        Inline bytes, as a column of pyarrow.
    has_raw
        Which rows have them.
    """

    urls: list[str]
    url: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    raw: Any
    has_raw: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.url)

    def inline(self, row: int) -> bytes:
        """Return the inline bytes of a row."""
        found: bytes = self.raw[row].as_py()
        return found


class ArrayRecords:
    """The record files of one array.

    Parameters
    ----------
    prefix
        What stands before the keys of its chunks: ``temp/``.
    value
        Its metadata.
    report
        Told where relative names are not read as usual (`_RelativeNames`).

    Raises
    ------
    RefbrowserError
        E_SCHEMA: the metadata is wrong, or its prefix leads elsewhere.
    """

    def __init__(
        self, root: Path, prefix: str, value: Any, record_size: int, report: Callable[[Finding], None]
    ) -> None:
        if any(part in ("", ".", "..") for part in prefix.split("/")[:-1]):
            raise wrong(f"{quoted(prefix)} is not the path of an array", root)
        self.prefix = prefix
        self.record_size = record_size
        self._folder = root / prefix
        self.grid = _grid(value, self._folder / ".zarray")
        self.size = math.prod(self.grid)
        self._names = _RelativeNames(root, prefix, report)

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The numbers of the record files that there are, rising."""
        found: list[int] = []
        try:
            with os.scandir(self._folder) as entries:
                for count, entry in enumerate(entries):
                    if count >= LIMITS.store_names:
                        message = f"the folder has more than {LIMITS.store_names} names (store_names)"
                        raise wrong(message, self._folder, ErrorKind.BUDGET)
                    name = _RECORD.match(entry.name)
                    if name is not None and int(name[1]) * self.record_size < self.size and entry.is_file():
                        found.append(int(name[1]))
        except OSError:
            return ()
        return sorted(found)

    @property
    def count(self) -> int:
        """How many chunks the record files tell of at most."""
        return sum(map(self.most, self.numbers))

    def most(self, number: int) -> int:
        """Return how many chunks of the array a record file tells of."""
        return min(self.record_size, self.size - number * self.record_size)

    def stored(self, number: int) -> int:
        """Return how many paths a record file says that it has; 0 where it does not say it."""
        told = [(count, each) for count, each in self._said(number) if each.has_null_count]
        return sum(count - each.null_count for count, each in told)

    def urls(self, number: int) -> tuple[str, str] | None:
        """Return the first and the last of the URLs of a record file, in their order; None if it has none.

        Files say them without being read; of long ones beginnings may be said.
        """
        said = [each for _count, each in self._said(number) if each.has_min_max]
        ends = [end for each in said for end in (each.min, each.max) if isinstance(end, str)]
        return (self._names.read(min(ends)), self._names.read(max(ends))) if ends else None

    def _said(self, number: int) -> list[tuple[int, Any]]:
        """Return how many rows each portion of a record file has, and what it says of their paths."""
        import pyarrow.parquet

        try:
            metadata = pyarrow.parquet.read_metadata(self._folder / f"refs.{number}.parq")
            place = metadata.schema.names.index(NAMES[0])
            said = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
            return [(each.num_values, each.statistics) for each in said if each.statistics is not None]
        except (OSError, ValueError, pyarrow.ArrowException):
            return []

    def read(self, number: int) -> Record:
        """Return what a record file holds.

        Raises
        ------
        RefbrowserError
            E_SCHEMA: it cannot be read; E_BUDGET: it holds too much; E_FORMAT: pyarrow is missing.
        """
        path = self._folder / f"refs.{number}.parq"
        most = self.most(number)
        paths, offsets, sizes, raws = (column.slice(0, most) for column in _columns(path))
        return Record(
            [self._names.read(url) for url in paths.dictionary.to_pylist()],
            paths.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
            offsets.fill_null(0).to_numpy(zero_copy_only=False),
            sizes.fill_null(0).to_numpy(zero_copy_only=False),
            raws,
            np.asarray(raws.is_valid()),
        )


def _grid(value: Any, path: Path) -> tuple[int, ...]:
    try:
        shape, chunks = value["shape"], value["chunks"]
        sides = [*shape, *chunks]
        if not all(isinstance(each, int) and each >= 0 for each in sides):
            raise TypeError
        grid = tuple(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        raise wrong("shape and chunks of an array do not fit", path) from None
    if math.prod(grid) > LIMITS.elements:
        raise wrong(f"the array has more than {LIMITS.elements} chunks (elements)", path)
    return grid


def _columns(path: Path) -> list[Any]:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise RefbrowserError(
            ErrorKind.FORMAT,
            "the parquet form of references needs the package pyarrow",
            Place(document=os.fspath(path)),
            to_install("refbrowser[parquet]"),
        ) from None
    try:
        # Of a value that comes often each row has the number alone.
        with pyarrow.parquet.ParquetFile(path, read_dictionary=["path", "raw"]) as file:
            _check_size(file.metadata, path)
            table = file.read(columns=list(NAMES), use_threads=False)
        columns = [table.column(name) for name in NAMES]
        for index in (1, 2):
            columns[index] = columns[index].cast(pyarrow.int64()).combine_chunks()
        for index in (0, 3):
            column = columns[index]
            if not pyarrow.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            columns[index] = column.unify_dictionaries().combine_chunks()
    except (OSError, KeyError, ValueError, MemoryError, pyarrow.ArrowException) as error:
        raise wrong(f"the record file cannot be read: {quoted(error)}", path) from None
    found = [each.chunk(0) if isinstance(each, pyarrow.ChunkedArray) else each for each in columns]
    # Where no row has a path, the column has no type.
    paths = found[0].dictionary.cast(pyarrow.large_binary())
    longest = pyarrow.compute.max(pyarrow.compute.binary_length(paths)).as_py() or 0
    if longest > LIMITS.url_length:
        message = f"a path has {longest} bytes, more than {LIMITS.url_length} (url_length)"
        raise wrong(message, path, ErrorKind.BUDGET)
    return found


def _check_size(metadata: Any, path: Path) -> None:
    """Raise where a file says that it holds more than any record file does."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    for what, count, name in (
        ("rows", metadata.num_rows, "parquet_rows"),
        ("bytes when it is unpacked", unpacked, "parquet_record"),
    ):
        most = getattr(LIMITS, name)
        if count > most:
            message = f"the record file has {count} {what}, more than {most} ({name})"
            raise wrong(message, path, ErrorKind.BUDGET)


class _RelativeNames:
    """The relative names of one array: of what they are taken to be relative, by what is there.

    Nothing says how they are meant: here, as in the JSON form, they are relative to the folder beside the
    references. GDAL takes them as relative to the folder of the record file, fsspec to the folder that the
    program runs in. The first name that is found in one of these decides for its array.
    """

    def __init__(self, root: Path, prefix: str, report: Callable[[Finding], None]) -> None:
        base = root.resolve().parent
        self._base, self._prefix, self._report = base, prefix, report
        self._places = {
            base: "",
            root.resolve() / prefix: "the folder of the array, as GDAL does",
            Path(os.path.abspath(os.curdir)): "the working directory, as fsspec does",
        }
        self._place: Path | None = None

    def read(self, name: str) -> str:
        """Return a name as one relative to the folder beside the references, or absolute."""
        if not name or name.startswith(("/", "\\")) or ":" in name:
            return name
        if self._place is None:
            self._place = self._chosen(name)
        if self._place == self._base:
            return name
        path = os.path.normpath(self._place / name)
        return os.path.relpath(path, self._base) if is_below(path, str(self._base)) else path

    def _chosen(self, name: str) -> Path:
        found = (place for place in self._places if os.path.isfile(place / name))
        place = next(found, self._base)
        if place != self._base:
            message = f"its file names are relative to {self._places[place]}: {quoted(name)} is there"
            where = Place(path=f"/{self._prefix.strip('/')}")
            self._report(Finding(severity=Severity.WARNING, kind=ErrorKind.REF, message=message, place=where))
        return place
