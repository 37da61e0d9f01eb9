"""Chunks of netCDF-4 as those of any store: copied or encoded by threads, and put into the file by h5py.

netCDF4 takes elements, which one thread cuts into chunks and encodes. Where they are numbers in chunks, it
only declares the variable; the bytes of its chunks go into the file as they are.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.checksums import crc32c
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.chunks import ArrayExport
from refbrowser.exporting.folder import check_space
from refbrowser.exporting.layout import ArrayLayout, laid_out
from refbrowser.exporting.objects import Assembled
from refbrowser.exporting.targets.netcdf4_writing import (
    PlannedGroup,
    PlannedVariable,
    Sample,
    converted,
    element_dtype,
    failed,
    using_library,
)
from refbrowser.exporting.tasks import carry_out
from refbrowser.formats.hdf5.hdf5_dimensions import NON_COORDINATE
from refbrowser.formats.hdf5.hdf5_filters import Filter, codecs_of
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.types import AtomicType, EnumType, NetcdfType
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.request import Tally
    from refbrowser.io.cancel import CancelToken

#: Chunks that are read again before it is looked whether the export was cancelled.
_MANY = 64


def takes_chunks(type: NetcdfType) -> bool:
    """Tell whether the chunks of a variable of a type can be put into the file as they are."""
    is_number = isinstance(type, EnumType) or (isinstance(type, AtomicType) and type is not AtomicType.STRING)
    return is_number and find_spec("h5py") is not None


@dataclass(slots=True)
class WrittenChunks:
    """The chunks of a variable that were written, as columns, in any order.

    Attributes
    ----------
    layout
        By which they were made.
    numbers
        Of each in the grid, in C order.
    sizes, sums
        Bytes, and their checksum.
    """

    layout: ArrayLayout
    numbers: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    sums: array[int] = field(default_factory=lambda: array("q"))

    def add(self, number: int, size: int, sum: int) -> None:
        """Take note of a chunk."""
        self.numbers.append(number)
        self.sizes.append(size)
        self.sums.append(sum)

    def in_order(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Return the columns in the order of the grid."""
        columns = [np.array(each, np.int64) for each in (self.numbers, self.sizes, self.sums)]
        order = np.argsort(columns[0], kind="stable")
        return tuple(each[order] for each in columns)


def _sum(data: Buffer) -> int:
    return crc32c(np.frombuffer(data, np.uint8))


class _ChunkSink:
    """Puts chunks into the variables of a file (`Sink`)."""

    def __init__(self, variables: Mapping[str, Any], written: Mapping[str, WrittenChunks]) -> None:
        self._variables = variables
        self._written = written
        self._lock = threading.Lock()

    def has(self, key: str) -> bool:
        """No chunk is there before."""
        return False

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Put a chunk into the file."""
        layout = array.layout
        path, grid = layout.target.path, layout.grid
        coords = layout.target.chunk_keys.decode(key.rpartition("/")[2])
        assert coords is not None
        portions = list(made.portions())
        data = portions[0] if len(portions) == 1 else b"".join(portions)
        sum = _sum(data)
        with using_library(path):
            self._variables[path].id.write_direct_chunk(grid.origin(coords), data)
        with self._lock:
            number = int(np.ravel_multi_index(coords, grid.grid_shape))
            self._written[path].add(number, len(data), sum)


class _Part(JobControl):
    """Tells the progress of what is left of some work."""

    def __init__(self, whole: JobControl, before: int, total: int) -> None:
        super().__init__(whole.token)
        self._whole = whole
        self._before = before
        self._all = total

    def progress(self, done: int, total: int | None = None, **more: Any) -> None:
        """Tell how far it is."""
        done = done * (self._all - self._before) // max(1, total or 1)
        self._whole.progress(self._before + done, self._all, **more)


@contextmanager
def _opened(path: str, mode: str) -> Iterator[Any]:
    import h5py

    with using_library(path):
        file = h5py.File(path, mode)
    try:
        yield file
    finally:
        with using_library(path):
            file.close()


def write_chunks(
    path: str,
    root: PlannedGroup,
    dataset: Dataset,
    spool: Path,
    tally: Tally,
    control: JobControl,
    *,
    skip_bad: bool,
    before: int,
    total: int,
) -> dict[str, WrittenChunks]:
    """Put the chunks of variables into a file that declares these; returns what was written, by their paths.

    Parameters
    ----------
    spool
        A folder for what is needed meanwhile.
    before, total
        Blocks of the export that are done, and all of them.

    Raises
    ------
    RefbrowserError
        Something cannot be read, or the library fails.
    OSError
        The file cannot be written.
    """
    if not any(plan.by_chunks for plan in root.variables_below()):
        return {}
    with _opened(path, "r+") as file:
        variables, written = {}, {}
        with using_library(path):
            lengths: dict[str, int] = {}
            for plan, variable in _variables_in(file, root):
                for name, side in zip(plan.dimensions, plan.node.shape, strict=True):
                    lengths[name] = max(lengths.get(name, 0), side)
                variable.id.set_extent(plan.node.shape)
                variables[plan.node.path] = variable
                written[plan.node.path] = WrittenChunks(_layout(plan, variable))
            _lengthen(file, root, lengths)
        arrays = [ArrayExport(each.layout) for each in written.values()]
        check_space(spool.parent, max(array.spool_bytes for array in arrays))
        sink = _ChunkSink(variables, written)
        carry_out(dataset, arrays, sink, spool, tally, _Part(control, before, total), skip_bad=skip_bad)
    return written


def _variables_in(group: Any, plan: PlannedGroup) -> Iterator[tuple[PlannedVariable, Any]]:
    """Yield the variables whose chunks are put into a file."""
    for each in plan.variables:
        if each.by_chunks:
            other = NON_COORDINATE + each.name
            yield each, group[other if other in group else each.name]
    for below in plan.groups:
        yield from _variables_in(group[below.name], below)


def _lengthen(group: Any, plan: PlannedGroup, lengths: Mapping[str, int]) -> None:
    """Let unlimited dimensions be as long as what lies along them."""
    for path, (name, length) in plan.dimensions.items():
        if length is None and name in group and group[name].shape[0] < lengths.get(path, 0):
            group[name].resize(lengths[path], axis=0)
    for below in plan.groups:
        _lengthen(group[below.name], below, lengths)


def _layout(plan: PlannedVariable, variable: Any) -> ArrayLayout:
    """Return how the chunks of a variable are made, by what the file declares."""
    made, path = variable.id.get_create_plist(), plan.node.path
    dtype = element_dtype(plan.type)
    filters = Filter.all_of([_filter(made.get_filter(at)) for at in range(made.get_nfilters())])
    codecs = codecs_of(filters, dtype.itemsize)
    if isinstance(codecs, str):
        raise RefbrowserError(ErrorKind.IO, codecs, Place(path=path))
    target = ArrayNode(
        path=path,
        shape=plan.node.shape,
        type=DataType.of(dtype),
        dimensions=plan.node.dimensions,
        values=Chunks(grid=RegularChunkGrid(plan.node.shape, made.get_chunk()), codecs=codecs),
        fill_value=np.asarray(variable.fillvalue).astype(dtype)[()],
    )
    convert = partial(converted, type=plan.type)
    return laid_out(plan.source, plan.selection, plan.node, target, (), convert=convert)


def _filter(told: Any) -> tuple[int, int, tuple[int, ...], str]:
    number, flags, values, name = told
    return number, flags, values, name.decode("utf-8", "replace")


# Reading again


def verify_chunks(
    path: str, root: PlannedGroup, written: Mapping[str, WrittenChunks], token: CancelToken
) -> dict[str, Sample]:
    """Compare all chunks of a file with what was put into it; returns the elements of one of each pipeline.

    Raises
    ------
    RefbrowserError
        `IO`: something is not as it was written.
    """
    if not written:
        return {}
    from refbrowser.formats.library.hdf5_chunks import columns_of

    samples, proved = {}, set()
    with _opened(path, "r") as file, closing(_Bytes(path)) as stored:
        with using_library(path):
            variables = list(_variables_in(file, root))
        for plan, variable in variables:
            mine = written[plan.node.path]
            layout, (numbers, sizes, sums) = mine.layout, mine.in_order()
            with using_library(path):
                if variable.shape != plan.node.shape:
                    raise failed(plan.node.path, "the shape differs from what was written")
                count = variable.id.get_num_chunks()
                if count != len(numbers):
                    raise failed(plan.node.path, f"{count} chunks are stored, {len(numbers)} were written")
                if not count:
                    continue
                sides = list(layout.grid.regular.chunk_shape)
                found = columns_of(variable.id, sides, count, stored.read, file.userblock_size)
            coords, offsets, found_sizes, masks = found
            places = np.ravel_multi_index(tuple(coords.T), layout.grid.grid_shape)
            if masks.any() or not (np.array_equal(places, numbers) and np.array_equal(found_sizes, sizes)):
                raise failed(plan.node.path, "the chunks differ from those written")
            rows = zip(offsets.tolist(), sizes.tolist(), sums.tolist(), strict=True)
            for at, (offset, size, sum) in enumerate(rows):
                if not at % _MANY:
                    token.check()
                if _sum(stored.view(offset, size)) != sum:
                    raise failed(plan.node.path, "a chunk differs from what was written")
            key = repr((layout.target.codecs, layout.target.dtype))
            if key not in proved:
                proved.add(key)
                data = stored.read(int(offsets[0]), int(sizes[0]))
                samples[plan.node.path] = _sample(layout, coords[0], data)
    return samples


def _sample(layout: ArrayLayout, coords: npt.NDArray[np.int64], data: bytes) -> Sample:
    at = tuple(coords.tolist())
    origin, extent = layout.grid.origin(at), layout.grid.extent(at)
    values = CodecPipeline.for_array(layout.target).decode(data)[tuple(map(slice, extent))]
    return tuple(slice(low, low + side) for low, side in zip(origin, extent, strict=True)), values


class _Bytes:
    """The bytes of a file."""

    def __init__(self, path: str) -> None:
        self._stream = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by `close`
        self._room = bytearray()

    def view(self, offset: int, size: int) -> memoryview:
        """Return bytes that hold until the next are asked for, fewer at the end."""
        if size > len(self._room):
            self._room = bytearray(size)
        room = memoryview(self._room)[:size]
        self._stream.seek(offset)
        return room[: self._stream.readinto(room)]

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes, fewer at the end."""
        return bytes(self.view(offset, size))

    def close(self) -> None:
        """Close it."""
        self._stream.close()
