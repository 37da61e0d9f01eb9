"""The parquet form of references, read: a folder with ``.zmetadata`` and, per array, columns in record files.

A record file holds `record_size` chunks in C order of the array's grid: ``path``, ``offset``, ``size`` and
``raw`` (inline bytes); a chunk with neither path nor raw value is missing, one of offset and size 0 is a
whole file. The keys of chunks are those of Zarr v2 with dots.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.io.local import open_regular
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, has_too_many_values, parse

METADATA = ".zmetadata"
#: Suffixes of such folders.
PARQUET = (".parquet", ".parq")
#: Columns of a record file.
NAMES = ("path", "offset", "size", "raw")
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


def parquet_text(
    path: str | os.PathLike[str], report: Callable[[Finding], None], cancel: CancelToken | None = None
) -> Iterator[bytes]:
    """Yield the references of a folder as the text of a Version 0 document, array by array.

    Parameters
    ----------
    report
        Called for each record file that cannot be read; its chunks are faulty entries then. For each array
        whose metadata is wrong: it has no entries. And where relative names are not read as usual
        (`_RelativeNames`).

    Raises
    ------
    RefbrowserError
        E_SCHEMA: the metadata is not as it should be; E_IO: it cannot be read; E_FORMAT: pyarrow is missing.
    """
    folder = Path(path)
    told = read_metadata(folder)
    metadata, record_size = told["metadata"], told["record_size"]
    before = b"{\n"
    for key, value in metadata.items():
        yield before + _text(key) + b": " + _text(json.dumps(value))
        before = b",\n"
    for key, value in metadata.items():
        if key.rpartition("/")[2] != ".zarray":
            continue
        try:
            array = _ArrayFiles(folder, key[: -len(".zarray")], value, record_size)
        except RefbrowserError as error:
            report(_fault(error))
            continue
        for lines in array.lines(report, cancel):
            yield before + lines
            before = b",\n"
    yield b"{}" if before == b"{\n" else b"\n}\n"


def _wrong(message: str, path: Path) -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, message, Place(document=os.fspath(path)))


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
        raise _wrong("there is no object 'metadata'", path)
    size = found.get("record_size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise _wrong("record_size is not a number above 0", path)
    return found


def _grid(value: Any, path: Path) -> tuple[int, ...]:
    try:
        shape, chunks = value["shape"], value["chunks"]
        return tuple(-(-int(length) // int(chunk)) for length, chunk in zip(shape, chunks, strict=True))
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        raise _wrong("shape and chunks of an array do not fit", path) from None


class _ArrayFiles:
    """The record files of one array."""

    def __init__(self, folder: Path, prefix: str, value: Any, record_size: int) -> None:
        if any(part in ("", ".", "..") for part in prefix.split("/")[:-1]):
            raise _wrong(f"{quoted(prefix)} is not the path of an array", folder)
        self._root = folder
        self._folder = folder / prefix
        self._prefix = prefix
        self._grid = _grid(value, folder / prefix / ".zarray")
        self._record_size = record_size

    def lines(self, report: Callable[[Finding], None], cancel: CancelToken | None) -> Iterator[bytes]:
        """Yield the entries of the array, a piece per record file."""
        size = math.prod(self._grid)
        names = _RelativeNames(self._root, self._prefix, report)
        for number, start in enumerate(range(0, size, self._record_size)):
            if cancel is not None:
                cancel.check()
            path = self._folder / f"refs.{number}.parq"
            if not path.is_file():
                continue
            most = min(self._record_size, size - start)
            try:
                lines = self._record_lines(path, start, most, names)
            except RefbrowserError as error:
                if error.kind is not ErrorKind.SCHEMA:
                    raise
                report(_fault(error))
                # Neither missing nor read: a value that no entry may have.
                lines = ",\n".join(f'"{key}": null' for key in self._keys(start + np.arange(most))).encode()
            if lines:
                yield lines

    def _keys(self, flat: npt.NDArray[np.int64]) -> list[str]:
        """Return the keys of chunks, as the inside of JSON text."""
        head = _text(self._prefix)[1:-1].decode("ascii")
        if not self._grid:
            return [f"{head}0"] * len(flat)
        axes = [map(str, axis.tolist()) for axis in np.unravel_index(flat, self._grid)]
        return [head + ".".join(coords) for coords in zip(*axes, strict=True)]

    def _record_lines(self, path: Path, start: int, most: int, names: _RelativeNames) -> bytes:
        """Return the entries of one record file as lines of JSON."""
        paths, offsets, sizes, raws = (column.slice(0, most) for column in _read_record(path))
        spelled = [_text(names.read(url)).decode("ascii") for url in paths.dictionary.to_pylist()]
        url = paths.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        has_raw = np.asarray(raws.is_valid())
        rows = np.flatnonzero(has_raw | (url >= 0))
        keys = self._keys(start + rows)
        offset = offsets.fill_null(0).to_numpy(zero_copy_only=False)[rows].tolist()
        length = sizes.fill_null(0).to_numpy(zero_copy_only=False)[rows].tolist()
        lines = []
        for at, row in enumerate(rows.tolist()):
            if has_raw[row]:
                lines.append(f'"{keys[at]}": {json.dumps(inline_text(raws[row].as_py()))}')
            elif length[at] == 0 and offset[at] == 0:
                lines.append(f'"{keys[at]}": [{spelled[url[row]]}]')
            else:
                lines.append(f'"{keys[at]}": [{spelled[url[row]]}, {offset[at]}, {length[at]}]')
        return ",\n".join(lines).encode("ascii")


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


def _fault(error: RefbrowserError) -> Finding:
    return Finding(severity=Severity.FAULT, kind=error.kind, message=error.message, place=error.place)


def _read_record(path: Path) -> list[Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise RefbrowserError(
            ErrorKind.FORMAT,
            "the parquet form of references needs the package pyarrow",
            Place(document=os.fspath(path)),
            "Install refbrowser[parquet].",
        ) from None
    try:
        table = pyarrow.parquet.ParquetFile(path, read_dictionary=["path"]).read(columns=list(NAMES))
        columns = [table.column(name).combine_chunks() for name in NAMES]
        for index, kind in ((1, pyarrow.int64()), (2, pyarrow.int64()), (3, pyarrow.binary())):
            columns[index] = columns[index].cast(kind)
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise _wrong(f"the record file cannot be read: {quoted(error)}", path) from None
    if isinstance(columns[0], pyarrow.ChunkedArray):
        columns[0] = columns[0].unify_dictionaries().combine_chunks()
    if not pyarrow.types.is_dictionary(columns[0].type):
        columns[0] = columns[0].dictionary_encode()
    return columns


def _text(text: str) -> bytes:
    return json.dumps(text).encode("ascii")


def inline_text(data: bytes) -> str:
    """Return the text that stands for bytes in a document: as they are where that is possible."""
    if data.isascii() and not data.startswith(_ENCODED.encode()):
        return data.decode("ascii")
    return _ENCODED + base64.b64encode(data).decode("ascii")
