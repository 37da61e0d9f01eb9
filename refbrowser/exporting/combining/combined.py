"""The references of many files as one document: columns all the way, coordinates as values."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.file_parts import divided_rows, size_of_rows
from refbrowser.exporting.combining.metadata_of_v3 import array_described, array_in_v3
from refbrowser.exporting.combining.own_chunks import LaidArray, check_rounded, make_own
from refbrowser.exporting.combining.placed_axis import PlacedAxis
from refbrowser.exporting.combining.plan import Plan, blocked
from refbrowser.exporting.combining.properties import (
    HELD,
    ArrayProperties,
    Attributes,
    FileChunks,
    Ints,
    ScannedSource,
    Values,
    all_coords,
    coords_of,
)
from refbrowser.exporting.combining.renaming import RenamedManifest
from refbrowser.exporting.combining.stored_forms import PACKING
from refbrowser.exporting.combining.times import counted, time_of
from refbrowser.exporting.saving.chunk_sink import ChunkSink
from refbrowser.exporting.saving.kerchunk_metadata import with_filters_alone
from refbrowser.formats.zarr.documents import ARRAY_V2, ATTRIBUTES_V2, NODE_V3
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.formats.zarr.v3 import chunk_grid_json
from refbrowser.limits import LIMITS
from refbrowser.model.cf import DEFAULT_FILLS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.content.origins import FileOrigin
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument

#: References that are added together.
_ROWS = 1 << 18
#: Bytes of values that are not compressed.
_PLAIN = 4_096
#: How keys of chunks are written.
_KEYS = {"zarr-v2": ChunkKeyEncoding(), "zarr-v3": ChunkKeyEncoding("default", "/")}
NO_KEYS: Mapping[str, ChunkKeyEncoding] = {}
#: Codecs whose settings have a number for each dimension.
OF_DIMENSIONS = ('"sharding_indexed"', '"transpose"')
_V3_NAMES = {"b1": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def combined_document(
    plan: Plan,
    control: JobControl | None = None,
    name: str = "",
    keys: Mapping[str, ChunkKeyEncoding] = NO_KEYS,
    opening: Callable[[str], OpenRequest] = OpenRequest,
    sink: ChunkSink | None = None,
) -> ManifestDocument:
    """Return the document of all files.

    Parameters
    ----------
    keys
        How the keys of chunks of some arrays are written, by path.
    opening
        How a file is opened of which chunks are written anew.
    sink
        Takes these; they are held in the document where there is none.

    Raises
    ------
    RefbrowserError
        `E_META`: a difference stands against it; `E_BUDGET`: there are too many references, or values.
    """
    if plan.blocking:
        raise blocked(plan)
    parts, control = plan.parts or [plan], control or JobControl()
    whole = _builder(plan)
    forms = {form for part in parts for form in _forms_of(part)}
    form = "zarr-v3" if "zarr-v3" in forms else "zarr-v2"
    if plan.parts:
        root = [group for file in plan.files for group in file.groups if group[0] == "/"]
        _add_groups(whole, form, root, plan.request)
    for part in parts:
        manifest = _Below(whole, part.below) if part.below else whole
        # Of groups few files end within a chunk.
        own = sink or ChunkSink() if part is plan else ChunkSink()
        _Combining(part, control, keys, own, manifest, form).gather(opening)
    if plan.parts:
        plan.own = [each for part in parts for each in part.own]
    place = whole.place
    return whole.document(name=name or place, origin=FileOrigin(place, "refs-v1"))


def _builder(plan: Plan) -> ManifestBuilder:
    """Return what gathers the document; under other names where some are said."""
    place = _folder_of({os.path.dirname(url) for file in plan.files for url in file.chunks.urls})
    names = plan.request.names()
    if not names.new:
        return ManifestBuilder(place)
    arrays = set()
    for part in plan.parts or [plan]:
        arrays |= {f"{part.below}{each.path}".strip("/") for each in part.arrays}
        arrays |= {f"{part.below}{axis.path}".strip("/") for axis in part.axes if axis.is_new}
    return RenamedManifest(place, names=names, arrays=frozenset(arrays))


def _forms_of(plan: Plan) -> set[str]:
    """Return the versions of Zarr that the arrays of a plan are of, or need."""
    forms = {each.first.form for each in plan.arrays}
    if len(forms) > 1:
        raise RefbrowserError(ErrorKind.META, "arrays of Zarr v2 and Zarr v3 cannot be in one document")
    # Version 2 has chunks of one shape.
    return {"zarr-v3"} if any(array.edges for array in plan.arrays) else forms


@dataclass(frozen=True, slots=True)
class _Below:
    """Gathers what lies below a group of a document."""

    whole: ManifestBuilder
    path: str

    @property
    def prefix(self) -> str:
        return f"{self.path.strip('/')}/"

    def add_metadata(self, documents: Mapping[str, bytes]) -> None:
        """Add metadata."""
        self.whole.add_metadata({f"{self.prefix}{key}": data for key, data in documents.items()})

    def add_bytes(self, key: str, data: bytes) -> None:
        """Add a chunk whose bytes are known."""
        self.whole.add_bytes(f"{self.prefix}{key}", data)

    def url_number(self, url: str) -> int:
        """Return the number of a URL."""
        return self.whole.url_number(url)

    def add_columns(self, prefix: str, *columns: Any) -> None:
        """Add the chunks of an array."""
        self.whole.add_columns(f"{self.prefix}{prefix}", *columns)


def _add_groups(
    manifest: ManifestBuilder | _Below,
    form: str,
    groups: Sequence[tuple[str, Attributes]],
    request: Combination,
) -> None:
    """Add the metadata of groups, with the attributes that most files have."""
    by: dict[str, list[tuple[int, Attributes]]] = {}
    for path, told in groups:
        by.setdefault(path, []).append((1, told))
    for path in sorted(by or {"/": []}):
        attributes = {**_common(by.get(path, [])), **request.sets(path)}
        prefix = f"{path.strip('/')}/".removeprefix("/")
        if form == "zarr-v3":
            group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
            manifest.add_metadata({f"{prefix}{NODE_V3}": json_of(group)})
            continue
        documents = {f"{prefix}.zgroup": json_of({"zarr_format": 2})}
        if attributes:
            documents[f"{prefix}{ATTRIBUTES_V2}"] = json_of(attributes)
        manifest.add_metadata(documents)


class _Combining:
    def __init__(
        self,
        plan: Plan,
        control: JobControl,
        keys: Mapping[str, ChunkKeyEncoding],
        sink: ChunkSink,
        manifest: ManifestBuilder | _Below,
        form: str,
    ) -> None:
        self.plan, self.control, self.token, self.other_keys = plan, control, control.token, keys
        self.sink, self.manifest, self.form = sink, manifest, form
        self._check_codecs()
        self.numbers: list[npt.NDArray[np.int32] | None] = [None] * len(plan.files)
        self.starts: list[Ints | None] = [None] * len(plan.files)
        self.room = LIMITS.inlined_members
        self.held: list[tuple[str, bytes]] = []
        self._own: list[tuple[LaidArray, ArrayNode]] = []

    def _check_codecs(self) -> None:
        """Raise where codecs say how many dimensions a chunk has, and there are more now."""
        for array in self.plan.arrays:
            named = any(each in array.first.codecs for each in OF_DIMENSIONS)
            if array.role == "placed" and named and len(self.plan.shape(array)) > len(array.first.shape):
                message = f"codecs of {quoted(array.path)} depend on its dimensions: it cannot have a new one"
                advice = f"--leave-out-var {array.path}"
                raise RefbrowserError(ErrorKind.META, message, Place(path=array.path), advice)

    def gather(self, opening: Callable[[str], OpenRequest]) -> None:
        """Add all of the plan to the document."""
        groups = [group for file in self.plan.files for group in file.groups]
        _add_groups(self.manifest, self.form, groups, self.plan.request)
        placed = []
        for array in self.plan.arrays:
            self.token.check()
            if array.role == "placed":
                self._metadata(array, self.plan.grid(array))
                placed.append(array)
            elif (values := self._values(array)) is not None:
                self._inline(array, values)
            elif not array.first.problem:
                self._metadata(array, array.told[array.owner].grid)
                placed.append(array)
        for axis in self.plan.axes:
            if axis.is_new:
                self._new_coordinate(axis)
        for key, data in self.held:
            self.manifest.add_bytes(key, data)
        if self._own:
            self._add_own(opening)
        for array in placed:
            self._chunks(array)

    # Metadata

    def _attributes(self, array: ArrayOfFiles) -> dict[str, Any]:
        found = _common([(len(files), told.attributes) for told, files in array.groups().items()])
        if array.role == "inlined" and "units" in found and time_of(array.first) is not None:
            found["units"] = self.plan.request.time_units or array.first.attribute("units")
        if array.odd:
            # What most files say is not what the chunks are written in where a few large ones say another.
            told = dict(array.first.attributes)
            found = {name: value for name, value in found.items() if name not in PACKING}
            found |= {name: json.loads(told[name]) for name in PACKING if name in told}
        return {**found, **self.plan.request.sets(array.path)}

    def _metadata(self, array: ArrayOfFiles, grid: ChunkGrid) -> None:
        told = array.first if array.role == "placed" else array.told[array.owner]
        encoding, fill = json.loads(told.encoding), json.loads(told.fill)
        places = prod(len(axis.lengths) for axis in self.plan.axes)
        has_holes = array.role == "placed" and (array.is_partial or len(array.files) < places)
        if fill is None and has_holes:
            fill = _missing_fill(array.first)
        dimensions, attributes = self.plan.dimensions(array), self._attributes(array)
        if (holes := self.plan.hole_fill(array)) is not None:
            fill, attributes = holes.fill, {**attributes, **holes.attributes}
        if told.form == self.form:
            documents = self._describe(array.path, grid, fill, encoding, dimensions, attributes)
        else:
            described = {"fill_value": fill, **encoding}
            documents = {NODE_V3: array_in_v3(array.path, grid, described, dimensions, attributes)}
            self.manifest.add_metadata({f"{array.path.strip('/')}/{NODE_V3}": documents[NODE_V3]})
        if array.has_own:
            self._own.append((self.plan.laid(array), array_described(documents, self.form)))

    def _describe(
        self,
        path: str,
        grid: ChunkGrid,
        fill: Any,
        encoding: dict[str, Any],
        dimensions: Sequence[str],
        attributes: dict[str, Any],
    ) -> dict[str, bytes]:
        """Add the metadata of an array; return its documents by their names."""
        prefix = path.strip("/")
        if self.form == "zarr-v3":
            told = {
                "zarr_format": 3,
                "node_type": "array",
                "shape": grid.shape,
                "chunk_grid": chunk_grid_json(grid),
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "fill_value": fill,
                "attributes": attributes,
                "dimension_names": list(dimensions),
                **encoding,
            }
            documents = {NODE_V3: json_of(told)}
            self.manifest.add_metadata({f"{prefix}/{NODE_V3}": documents[NODE_V3]})
            return documents
        sides = grid.regular.chunk_shape
        array = {"zarr_format": 2, "shape": grid.shape, "chunks": sides, "fill_value": fill, **encoding}
        attributes = {**attributes, DIMENSIONS_ATTRIBUTE: list(dimensions)}
        documents = {ARRAY_V2: json_of(with_filters_alone(array)), ATTRIBUTES_V2: json_of(attributes)}
        self.manifest.add_metadata({f"{prefix}/{name}": data for name, data in documents.items()})
        return documents

    # Values that stand in the document

    def _values(self, array: ArrayOfFiles) -> Values | None:
        """Return the values of an array that stand in the document; None of one that is referred to."""
        files = self.plan.files
        pairs = zip(array.files, array.told, strict=True)
        if (regular := self.plan.regular_axis(array.path)) is not None and regular.values is not None:
            return np.concatenate(regular.values)
        if array.role == "same":
            return files[array.files[array.owner]].values.get(array.told[array.owner].path)
        axes, shape = self.plan.axes_of(array), self.plan.shape(array)
        found = [(number, self._told_values(array, number, each)) for number, each in pairs]
        if prod(shape) * found[0][1].itemsize > self.room:
            raise self._too_large(array.path, prod(shape) * found[0][1].itemsize)
        kinds = {each.dtype for _, each in found}
        dtype = next(iter(kinds)) if len(kinds) == 1 else np.result_type(*kinds)
        holes = self.plan.hole_fill(array)
        fill = _fill_in(json.loads(array.first.fill) if holes is None else holes.fill, dtype)
        whole = np.full(shape, fill, dtype)
        starts = [None if axis is None else axis.starts for axis in axes]
        for number, values in found:
            at = tuple(
                slice(None)
                if axis is None or begins is None
                else slice(
                    begins[axis.of_file[number]],
                    begins[axis.of_file[number]] + axis.lengths[axis.of_file[number]],
                )
                for axis, begins in zip(axes, starts, strict=True)
            )
            whole[at] = values
        return whole

    def _told_values(self, array: ArrayOfFiles, number: int, told: ArrayProperties) -> Values:
        """Return the values of one file, times in the units in which those of all are written."""
        values = self.plan.files[number].values[told.path]
        units = self.plan.units_of(array, number, told)
        return values if units is None else counted(values, told, *units)

    def _inline(self, array: ArrayOfFiles, values: Values) -> None:
        fill = json.loads(array.first.fill)
        attributes, dimensions = self._attributes(array), self.plan.dimensions(array)
        if (holes := self.plan.hole_fill(array)) is not None:
            fill, attributes = holes.fill, {**attributes, **holes.attributes}
        self._add_values(array.path, values, fill, dimensions, attributes)

    def _new_coordinate(self, axis: PlacedAxis) -> None:
        assert axis.values is not None
        values = np.concatenate(axis.values)
        self._add_values(axis.path, values, None, (axis.name,), axis.attributes)

    def _add_values(
        self, path: str, values: Values, fill: Any, dimensions: Sequence[str], attributes: dict[str, Any]
    ) -> None:
        # Not `ascontiguousarray`: it gives a scalar a dimension.
        plain = np.asarray(values, values.dtype.newbyteorder("<"), order="C")
        data = plain.tobytes()
        self.room -= len(data)
        if self.room < 0 or len(data) > LIMITS.inline_value:
            raise self._too_large(path, len(data))
        packed = len(data) > _PLAIN
        if packed:
            data = gzip.compress(data, 1, mtime=0) if self.form == "zarr-v3" else zlib.compress(data, 1)
        if self.form == "zarr-v3":
            codecs: list[dict[str, Any]] = [{"name": "bytes", "configuration": {"endian": "little"}}]
            if packed:
                codecs.append({"name": "gzip", "configuration": {"level": 1}})
            encoding: dict[str, Any] = {"data_type": _v3_type(plain.dtype), "codecs": codecs}
            fill = _plain_zero(plain.dtype) if fill is None else fill
        else:
            compressor = {"id": "zlib", "level": 1} if packed else None
            encoding = {"dtype": plain.dtype.str, "compressor": compressor, "filters": None, "order": "C"}
            if plain.dtype.kind in "US":
                fill = None
        sides = tuple(max(side, 1) for side in plain.shape)
        self._describe(path, RegularChunkGrid(plain.shape, sides), fill, encoding, dimensions, attributes)
        if plain.size:
            key = self.keys_of(path).encode((0,) * plain.ndim)
            self.held.append((f"{path.strip('/')}/{key}", data))

    def _too_large(self, path: str, size: int) -> RefbrowserError:
        message = (
            f"the {size} bytes of values of {quoted(path)} do not fit into the document (inlined_members)"
        )
        return RefbrowserError(
            ErrorKind.BUDGET, message, Place(path=path), f"leave the array out: --leave-out-var {path}"
        )

    # Chunks that no file has

    def _add_own(self, opening: Callable[[str], OpenRequest]) -> None:
        """Put together the chunks that are those of no file, and add them."""
        rows: dict[str, list[tuple[tuple[int, ...], int, int]]] = {}

        def take(path: str, coords: tuple[int, ...], data: bytes) -> None:
            rows.setdefault(path, []).append((coords, self.sink.add(data), len(data)))

        self.control.stage("own chunks are written")
        self.plan.own = make_own(self._own, self.plan.files, opening, take, self.control)
        for each in self.plan.own:
            check_rounded(each, self.plan.request)
        self.sink.close()
        url = self.manifest.url_number(self.sink.path) if self.sink.path else -1
        for path, found in rows.items():
            prefix, keys = f"{path.strip('/')}/", self.keys_of(path)
            places, begins, lengths = zip(*found, strict=True)
            coords = np.array(places, np.int64).reshape(len(found), -1)
            if self.sink.path:
                numbers = np.full(len(found), url, np.int32)
                self.manifest.add_columns(prefix, coords, numbers, np.array(begins), np.array(lengths), keys)
                continue
            for key, begin in zip(keys.encode_many(coords, prefix), begins, strict=True):
                self.manifest.add_bytes(key, self.sink.held[begin])

    # References

    def _chunks(self, array: ArrayOfFiles) -> None:
        """Add the references of an array, of many files together."""
        rows = _Rows(self, array)
        if array.role == "same":
            at = array.owner
            rows.add(array.files[at], array.told[at], array.numbers[at], ())
        else:
            found = zip(array.files, array.told, array.numbers, self._begins(array), strict=True)
            laid = self.plan.laid(array) if array.has_own else None
            for of, (number, told, at, begins) in enumerate(found):
                kept = None if laid is None else laid.kept(of)
                if kept is None or all(mask.any() for mask in kept):
                    rows.add(number, told, at, begins, kept)
        rows.flush()

    def _begins(self, array: ArrayOfFiles) -> list[tuple[int, ...]]:
        """Return the first chunk of each file of an array in the result."""
        axes, dimensions = self.plan.axes_of(array), self.plan.grid(array).dimensions
        starts = [None if axis is None else axis.starts for axis in axes]
        return [
            tuple(
                0 if axis is None or start is None else along.chunk_of(start[axis.of_file[number]])
                for axis, start, along in zip(axes, starts, dimensions, strict=True)
            )
            for number in array.files
        ]

    def keys_of(self, path: str) -> ChunkKeyEncoding:
        """Return how the keys of chunks of an array are written."""
        return self.other_keys.get(path, _KEYS[self.form])

    def rows_of(self, number: int, at: int) -> tuple[ScannedSource, int, int, npt.NDArray[np.int32]]:
        """Return a file, the rows of an array in its columns, and the numbers of its URLs."""
        file = self.plan.files[number]
        starts, numbers = self.starts[number], self.numbers[number]
        if starts is None:
            starts = self.starts[number] = _starts_of(file.chunks.counts)
        if numbers is None:
            numbers = np.array([self.manifest.url_number(url) for url in file.chunks.urls], np.int32)
            self.numbers[number] = numbers
        return file, int(starts[at]), int(starts[at + 1]), numbers


_kept_starts: dict[tuple[int, ...], Ints] = {}


def _starts_of(counts: tuple[int, ...]) -> Ints:
    if len(_kept_starts) > 1_000:
        _kept_starts.clear()
    found = _kept_starts.get(counts)
    if found is None:
        found = _kept_starts[counts] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return found


class _Rows:
    """Rows of one array, which are added many at a time."""

    def __init__(self, combining: _Combining, array: ArrayOfFiles) -> None:
        self._combining, self._array = combining, array
        self._prefix = f"{array.path.strip('/')}/"
        self._keys = combining.keys_of(array.path)
        self._found: list[tuple[Ints, npt.NDArray[np.int32], Ints, Ints]] = []
        self._count = 0
        self._grids: dict[tuple[int, ...], Ints] = {}

    def add(
        self,
        number: int,
        told: ArrayProperties,
        at: int,
        begins: tuple[int, ...],
        kept: Sequence[npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        """Add the rows of one file that are `kept`; `begins` is its first chunk in the result."""
        file, begin, end, numbers = self._combining.rows_of(number, at)
        for start in range(begin, end, _ROWS):
            rows = begin, start, min(start + _ROWS, end)
            self._add(file.chunks, numbers, told, at, begins, rows, kept)

    def _add(
        self,
        columns: FileChunks,
        numbers: npt.NDArray[np.int32],
        told: ArrayProperties,
        at: int,
        begins: tuple[int, ...],
        rows: tuple[int, int, int],
        kept: Sequence[npt.NDArray[np.bool_]] | None,
    ) -> None:
        """Add some rows of an array of a file: where all begin, and where these begin and end."""
        begin, start, stop = rows
        offset, length = (
            columns.offset[start:stop].astype(np.int64),
            columns.length[start:stop].astype(np.int64),
        )
        url = (
            numbers[columns.url[start:stop]]
            if columns.url is not None
            else np.full(stop - start, numbers[0] if len(numbers) else -1, np.int32)
        )
        positions = columns.positions.get(at)
        coords = self._coords(
            told,
            np.arange(start - begin, stop - begin)
            if positions is None
            else positions[start - begin : stop - begin],
        )
        stay = _rows_kept(coords, kept)
        coords, url, offset, length = coords[stay], url[stay], offset[stay], length[stay]
        held = np.flatnonzero(length == HELD)
        data = [columns.inline[start + row] for row in stay[held].tolist()]
        if self._array.divided and self._array.role == "placed":
            divided = divided_rows(told, self._axis(told), self._array.divided, coords, offset, length)
            coords, offset, length, of_row = divided
            url, held = url[of_row], np.flatnonzero(length == HELD)
            # Of rows that hold their bytes the offset is that in these.
            size = size_of_rows(told, self._axis(told), self._array.divided)
            by_row = {row: columns.inline[start + row] for row in np.unique(of_row[held]).tolist()}
            data = [
                by_row[int(of_row[row])][int(offset[row]) : int(offset[row]) + size] for row in held.tolist()
            ]
        if len(begins) > coords.shape[1]:
            front = np.zeros((len(coords), len(begins) - coords.shape[1]), np.int64)
            coords = np.concatenate([front, coords], axis=1)
        if any(begins):
            coords = coords + np.array(begins, np.int64)
        if len(held):
            keys = self._keys.encode_many(coords[held], self._prefix)
            for key, each in zip(keys, data, strict=True):
                self._combining.manifest.add_bytes(key, each)
            stay = np.flatnonzero(length != HELD)
            coords, url, offset, length = coords[stay], url[stay], offset[stay], length[stay]
        self._found.append((coords, url, offset, length))
        self._count += len(coords)
        if self._count >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Add what was gathered to the document."""
        self._combining.token.check()
        if self._count:
            coords, url, offset, length = (np.concatenate(each) for each in zip(*self._found, strict=True))
            self._combining.manifest.add_columns(self._prefix, coords, url, offset, length, self._keys)
        self._found, self._count = [], 0

    def _axis(self, told: ArrayProperties) -> int:
        names = {axis.name for axis in self._combining.plan.axes if not axis.is_new}
        return next(at for at, name in enumerate(told.dimensions) if name in names)

    def _coords(self, told: ArrayProperties, positions: Ints) -> Ints:
        shape = told.grid.grid_shape
        if told.grid.size > _ROWS:
            return coords_of(shape, positions)
        found = self._grids.get(shape)
        if found is None:
            if len(self._grids) > 64:
                self._grids.clear()
            found = self._grids[shape] = all_coords(shape)
        return found[positions]


def _rows_kept(coords: Ints, kept: Sequence[npt.NDArray[np.bool_]] | None) -> Ints:
    """Return the rows of a file whose chunks are those of the result."""
    if kept is None:
        return np.arange(len(coords))
    found = np.ones(len(coords), bool)
    for mask, column in zip(kept, coords.T, strict=True):
        found &= mask[column]
    return np.flatnonzero(found)


def _common(groups: Iterable[tuple[int, Attributes]]) -> dict[str, Any]:
    """Return of each attribute what most have; those that most lack are not there."""
    counts: dict[str, dict[str, int]] = {}
    total = 0
    for count, attributes in groups:
        total += count
        for name, text in attributes:
            by = counts.setdefault(name, {})
            by[text] = by.get(text, 0) + count
    found: dict[str, Any] = {}
    for name, by in counts.items():
        text = max(by, key=lambda each: by[each])
        if sum(by.values()) * 2 > total or by[text] >= total - sum(by.values()):
            found[name] = json.loads(text)
    return found


def _folder_of(folders: set[str]) -> str:
    """Return the folder that all lie in, or the first of them where there is none."""
    if not folders:
        return "/"
    parts = [each.split("/") for each in folders]
    most = min(map(len, parts))
    at = next((at for at in range(most) if len({each[at] for each in parts}) > 1), most)
    found = "/".join(parts[0][:at])
    return found if found and not found.endswith(":/") and found[-2:] != "//" else min(folders)


def _fill_in(fill: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "f":
        return np.nan if not isinstance(fill, int | float) else fill
    if dtype.kind in "iu" and isinstance(fill, int | float):
        limits = np.iinfo(dtype)
        return fill if limits.min <= fill <= limits.max else 0
    return np.zeros((), dtype)[()]


def _missing_fill(told: ArrayProperties) -> Any:
    """Return what chunks that are not there read as, where the array says nothing of it."""
    if told.dtype[:1] == "f":
        return "NaN"
    return DEFAULT_FILLS.get(told.dtype, 0) if told.dtype[:1] in "iu" else None


def _plain_zero(dtype: np.dtype[Any]) -> Any:
    return "" if dtype.kind == "U" else False if dtype.kind == "b" else 0


def _v3_type(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "U":
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": dtype.itemsize}}
    if dtype.kind == "b":
        return "bool"
    return f"{_V3_NAMES[dtype.kind]}{dtype.itemsize * 8}"
