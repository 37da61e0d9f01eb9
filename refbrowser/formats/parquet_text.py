"""The parquet form of references, read: a folder with ``.zmetadata`` and, per array, columns in record files.

A record file holds `record_size` chunks in C order of the array's grid: ``path``, ``offset``, ``size`` and
``raw`` (inline bytes); a chunk with neither path nor raw value is missing, one of offset and size 0 is a
whole file. The keys of chunks are those of Zarr v2 with dots.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.formats.parquet_records import ArrayRecords, fault, wrong
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, has_too_many_values, parse

METADATA = ".zmetadata"
#: Suffixes of such folders.
PARQUET = (".parquet", ".parq")
_ENCODED = "base64:"
_RECORDS = b'"record_size"'


def is_parquet_references(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is the parquet form of references."""
    try:
        with open_regular(os.path.realpath(Path(path, METADATA))) as (descriptor, identity):
            if identity.size > LIMITS.inline_value:
                return False
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(LIMITS.inline_value)
        # Stores have consolidated metadata of the same name: most are told apart without parsing it.
        metadata = json.loads(data) if _RECORDS in data and not has_too_many_values(data) else None
    except (OSError, ValueError, RecursionError, RefbrowserError):
        return False
    return isinstance(metadata, dict) and "record_size" in metadata


class ParquetText:
    """The references of a folder as the text of a Version 0 document, array by array.

    Parameters
    ----------
    report
        Called for each record file that cannot be read; its chunks are faulty entries then. For each array
        whose metadata is wrong: it has no entries. And where relative names are not read as usual.

    Attributes
    ----------
    metadata
        Of the folder, as text by key.
    arrays
        The record files of each array.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: the metadata is not as it should be; E_IO: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], report: Callable[[Finding], None]) -> None:
        folder = Path(path)
        told = read_metadata(folder)
        self._report = report
        self.metadata = {key: json.dumps(value) for key, value in told["metadata"].items()}
        self.arrays: list[ArrayRecords] = []
        for key, value in told["metadata"].items():
            if key.rpartition("/")[2] == ".zarray":
                prefix = key[: -len(".zarray")]
                try:
                    self.arrays.append(ArrayRecords(folder, prefix, value, told["record_size"], report))
                except RefbrowserError as error:
                    report(fault(error))

    @property
    def count(self) -> int:
        """How many references the folder has at most, by the files that are there."""
        return sum(array.count for array in self.arrays)

    def portions(self, cancel: CancelToken | None = None) -> Iterator[bytes]:
        """Yield the text.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there are too many references; E_FORMAT: pyarrow is missing.
        """
        left = LIMITS.references
        if self.count > left:
            # Told before minutes are spent on it.
            _within(sum(array.stored(number) for array in self.arrays for number in array.numbers), left)
        yield from self._metadata_lines()
        before = b",\n" if self.metadata else b"\n"
        for array in self.arrays:
            for number in array.numbers:
                if cancel is not None:
                    cancel.check()
                lines, count = self._lines(array, number, left)
                left -= count
                if lines:
                    yield before + lines
                    before = b",\n"
        yield b"\n}\n"

    def metadata_portions(self) -> Iterator[bytes]:
        """Yield the beginning of the text, which is all metadata, as a document of its own."""
        yield from self._metadata_lines()
        yield b"\n}\n"

    def _metadata_lines(self) -> Iterator[bytes]:
        yield b"{"
        before = b"\n"
        for key, text in self.metadata.items():
            yield before + _text(key) + b": " + _text(text)
            before = b",\n"

    def _lines(self, array: ArrayRecords, number: int, left: int) -> tuple[bytes, int]:
        """Return the entries of one record file as lines of JSON, and how many rows it has."""
        try:
            record = array.read(number)
        except RefbrowserError as error:
            if error.kind is ErrorKind.FORMAT:
                raise
            self._report(fault(error))
            flat = number * array.record_size + np.arange(_within(array.most(number), left))
            # Neither missing nor read: a value that no entry may have.
            lines = ",\n".join(f'"{key}": null' for key in _keys(array, flat))
            return lines.encode("ascii"), len(flat)
        rows = np.flatnonzero(record.has_raw | (record.url >= 0))
        _within(len(rows), left)
        spelled = [_text(url).decode("ascii") for url in record.urls]
        keys = _keys(array, number * array.record_size + rows)
        offset, length = record.offset[rows].tolist(), record.length[rows].tolist()
        found = []
        for at, row in enumerate(rows.tolist()):
            if record.has_raw[row]:
                found.append(f'"{keys[at]}": {json.dumps(inline_text(record.inline(row)))}')
            elif length[at] == 0 and offset[at] == 0:
                found.append(f'"{keys[at]}": [{spelled[record.url[row]]}]')
            else:
                found.append(f'"{keys[at]}": [{spelled[record.url[row]]}, {offset[at]}, {length[at]}]')
        return ",\n".join(found).encode("ascii"), len(rows)


def _within(count: int, left: int) -> int:
    """Return a number of references where there is room for them in one document."""
    if count > left:
        message = f"there are more than {LIMITS.references:,} references, which one document can hold"
        raise RefbrowserError(ErrorKind.BUDGET, message, advice="Read arrays by themselves.")
    return count


def _keys(array: ArrayRecords, flat: npt.NDArray[np.int64]) -> list[str]:
    """Return the keys of chunks, as the inside of JSON text."""
    head = _text(array.prefix)[1:-1].decode("ascii")
    if not array.grid:
        return [f"{head}0"] * len(flat)
    axes = [map(str, axis.tolist()) for axis in np.unravel_index(flat, array.grid)]
    return [head + ".".join(coords) for coords in zip(*axes, strict=True)]


def read_metadata(folder: Path) -> dict[str, Any]:
    """Return what a folder says of itself: ``metadata`` by key, ``record_size``, and what else is there.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: it is not as it should be; E_IO: it cannot be read.
    """
    path = folder / METADATA
    try:
        found = parse(path.read_bytes()).to_python()
    except OSError as error:
        message = f"the metadata cannot be read: {error.strerror}"
        raise RefbrowserError(ErrorKind.IO, message, Place(document=os.fspath(path))) from None
    except JsonError as error:
        place = Place(document=os.fspath(path), start=error.position, stop=error.position)
        raise RefbrowserError(error.kind, error.message, place) from None
    if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
        raise wrong("there is no object 'metadata'", path)
    size = found.get("record_size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise wrong("record_size is not a number above 0", path)
    return found


def _text(text: str) -> bytes:
    return json.dumps(text).encode("ascii")


def inline_text(data: bytes) -> str:
    """Return the text that stands for bytes in a document: as they are where that is possible."""
    if data.isascii() and not data.startswith(_ENCODED.encode()):
        return data.decode("ascii")
    return _ENCODED + base64.b64encode(data).decode("ascii")
