"""Nested arrays in a store: a group with the buffers as arrays, and the form in its attributes.

``awkward.from_buffers(form, length, buffers)`` restores them: `awkward_form` is the form as JSON text,
`awkward_length` the number of rows, and the arrays of the group are the buffers, by their names.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.table import CODECS
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.parts import PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import BlockState, Box
from refbrowser.exporting.chunks import ArrayExport
from refbrowser.exporting.layout import ArrayLayout
from refbrowser.exporting.nested.conformed_rows import MissingValuesError, conformed
from refbrowser.exporting.nested.growing_buffers import BufferName, GrowingBuffers
from refbrowser.exporting.nested.row_arrays import told_attributes
from refbrowser.exporting.nested.row_reader import RowReader, RowSource, row_blocks, row_reader
from refbrowser.exporting.nested.target_types import (
    Abilities,
    TargetType,
    TypeNote,
    check_readable,
    target_type,
)
from refbrowser.exporting.option_fields import has_codec
from refbrowser.exporting.request import Loss, Tally
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import FORM_ATTRIBUTE, LENGTH_ATTRIBUTE, TypePath
from refbrowser.model.nodes import ArrayNode, CodecSpec, Flavour, GroupNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import Chunks

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.layout import StoreLayout


class BufferFiles:
    """The buffers of one nested array, each in a file of its plain elements.

    Parameters
    ----------
    folder
        Made here, and empty.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        #: Elements of each buffer so far.
        self.lengths: dict[str, int] = {}

    def put(self, name: BufferName, values: npt.NDArray[Any]) -> None:
        """Add elements to a buffer.

        Raises
        ------
        OSError
            They cannot be written.
        """
        # Buffers may be more than files that can be open.
        with self._path(name).open("ab", buffering=0) as file:
            left = np.ascontiguousarray(values, name.dtype).view(np.uint8).data
            while left:
                left = left[file.write(left) :]
        self.lengths[name.name] = self.lengths.get(name.name, 0) + len(values)

    def spool(self, name: BufferName, dtype: np.dtype[Any], unit: tuple[int, ...]) -> BufferSpool:
        """Return what gives the bytes of a buffer as elements of a type; `unit` is encoded by itself."""
        return BufferSpool(self._path(name), dtype, unit)

    def _path(self, name: BufferName) -> Path:
        return self._folder / name.name


class BufferSpool:
    """Gives blocks of a buffer to what encodes chunks; all of it is there."""

    def __init__(self, path: Path, dtype: np.dtype[Any], unit: tuple[int, ...]) -> None:
        self._path = path
        self._dtype = dtype
        self._unit = unit

    def take(self, box: Box) -> tuple[npt.NDArray[Any], BlockState]:
        """Return the elements of a block, zero over the edge of the buffer.

        Raises
        ------
        OSError
            They cannot be read.
        """
        (part,) = box
        values = np.zeros(part.stop - part.start, self._dtype)
        with self._path.open("rb") as file:
            file.seek(part.start * self._dtype.itemsize)
            file.readinto(values.view(np.uint8).data)
        state = BlockState(box, self._unit)
        state.note((slice(0, len(values)),), PartState.DONE, None)
        return values, state


#: What numpy of every machine has, and so Zarr.
_ABILITIES = Abilities(floats=(2, 4, 8))
#: Folder within an incomplete target in which buffers grow.
GATHERED = ".refbrowser-nested"
#: Bytes of a chunk, of a buffer that has more.
CHUNK_SIZE = 4 * 1024 * 1024
#: Bytes of rows that are held together, about.
BLOCK_SIZE = LIMITS.export_block // 2
#: As in files of Awkward 0: integers are compressed, numbers with a point are not.
_COMPRESSED = "iub"


@dataclass(frozen=True, slots=True)
class NestedPart:
    """One nested array of an export to a store; nothing of it is read before `fill`.

    Attributes
    ----------
    type
        Of its rows in the target.
    """

    source: RowSource
    type: TargetType
    notes: tuple[TypeNote, ...]
    flavour: Flavour
    widened: frozenset[TypePath] = frozenset()

    @classmethod
    def of(
        cls, node: ArrayNode, selection: Selection | None, flavour: Flavour, *, skip_bad: bool
    ) -> NestedPart:
        """Return the part for a nested array.

        Raises
        ------
        RefbrowserError
            It cannot be read, or not all of it (and `skip_bad` is not set).
        """
        source = RowSource.of(node, selection)
        check_readable(source.type, skip_bad=skip_bad)
        return cls._planned(source, flavour, frozenset())

    @classmethod
    def _planned(cls, source: RowSource, flavour: Flavour, widened: frozenset[TypePath]) -> NestedPart:
        type, notes = target_type(source.type, _ABILITIES, widened)
        return cls(source, type, tuple(notes), flavour, widened)

    @property
    def path(self) -> str:
        """Of the array in the source."""
        return self.source.node.path

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self.source.length * self.source.row_bytes

    @property
    def losses(self) -> Iterator[Loss]:
        """What the target cannot hold."""
        return (Loss(self.path, str(note)) for note in self.notes)

    @property
    def group(self) -> GroupNode:
        """The group in the target, before the form is known."""
        return GroupNode(path=self.path, attributes=told_attributes(self.source.node))

    def fill(
        self,
        reader: RowReader,
        folder: Path,
        bad: Callable[[Sequence[RefbrowserError]], None],
        step: Callable[[int], None],
        *,
        skip_bad: bool,
    ) -> FilledPart:
        """Read all rows into files of a folder; again where values turn out to be missing.

        Parameters
        ----------
        bad
            Told what cannot be read; may raise it.
        step
            Told the bytes of each block, about.

        Raises
        ------
        RefbrowserError
            Something cannot be read.
        OSError
            The files cannot be written.
        """
        part = self
        while True:
            try:
                return part._filled(reader, folder, bad, step)
            except MissingValuesError as error:
                if not skip_bad or error.where in part.widened:
                    raise MissingValuesError(error.where, Place(path=self.path)) from error
                part = self._planned(self.source, self.flavour, part.widened | {error.where})
                shutil.rmtree(folder)

    def _filled(
        self,
        reader: RowReader,
        folder: Path,
        bad: Callable[[Sequence[RefbrowserError]], None],
        step: Callable[[int], None],
    ) -> FilledPart:
        files = BufferFiles(folder)
        growing = GrowingBuffers(self.type, files.put)
        rows = max(1, BLOCK_SIZE // self.source.row_bytes)
        for (content,), count in row_blocks(reader, [self.source], rows, BLOCK_SIZE, bad):
            growing.add(conformed(content, self.type))
            step(count * self.source.row_bytes)
        if growing.length != self.source.length:
            message = f"{growing.length} rows were read where there are {self.source.length}"
            raise RefbrowserError(ErrorKind.DECODE, message, Place(path=self.path))
        return FilledPart(self, files, growing)


@dataclass(frozen=True, slots=True)
class FilledPart:
    """A nested array whose buffers are there."""

    part: NestedPart
    files: BufferFiles
    growing: GrowingBuffers

    @property
    def group(self) -> GroupNode:
        """The group, with the form in its attributes."""
        group = self.part.group
        facts = {FORM_ATTRIBUTE: self.growing.form.to_json(), LENGTH_ATTRIBUTE: self.growing.length}
        return replace(group, attributes={**group.attributes, **facts})

    def layouts(self, target: StoreLayout) -> list[ArrayLayout]:
        """Return how the buffers are laid out.

        Raises
        ------
        RefbrowserError
            The target cannot hold one.
        """
        return [self._layout(target, name) for name in self.growing.names]

    def feed(self, exports: Sequence[ArrayExport]) -> None:
        """Let the exports of the buffers, in the order of `layouts`, take their elements from the files."""
        for name, export in zip(self.growing.names, exports, strict=True):
            dtype = stored_dtype(name.dtype, self.part.flavour)
            export.spool = self.files.spool(name, dtype, export.coder.unit_shape)

    def _layout(self, target: StoreLayout, name: BufferName) -> ArrayLayout:
        dtype = stored_dtype(name.dtype, self.part.flavour)
        length = self.files.lengths[name.name] * name.dtype.itemsize // dtype.itemsize
        side = max(1, min(CHUNK_SIZE // dtype.itemsize, length))
        node = ArrayNode(
            path=f"{self.part.path}/{name.name}",
            shape=(length,),
            type=DataType.of(dtype.newbyteorder("<")),
            dimensions=(_dimension(name.name),),
            values=Chunks(
                grid=RegularChunkGrid((length,), (side,)), codecs=_codecs(dtype, self.part.flavour)
            ),
            fill_value=np.zeros((), dtype)[()],
            fill_marks=False,
            attributes={} if dtype == name.dtype else {"dtype": str(name.dtype)},
            format="zarr-v2",
        )
        layout = target.layout(node, None)
        # Its elements come from a file of plain ones.
        plain = replace(node, values=Chunks(grid=layout.grid))
        return replace(layout, source=plain, copied=None)


@dataclass(frozen=True, slots=True)
class Gathered:
    """All nested arrays of an export, why parts of them are missing, and what was read."""

    parts: Sequence[FilledPart] = ()
    skipped: Sequence[RefbrowserError] = ()
    read_bytes: int = 0
    requests: int = 0

    def tell(self, tally: Tally) -> None:
        """Add what was read, and what was not, to the counts of an export."""
        tally.skipped += self.skipped
        tally.read_bytes += self.read_bytes
        tally.requests += self.requests


def gather(
    dataset: Dataset, parts: Sequence[NestedPart], folder: Path, control: JobControl, *, skip_bad: bool
) -> Gathered:
    """Read nested arrays into files below a folder.

    Raises
    ------
    RefbrowserError
        Something cannot be read (and `skip_bad` is not set).
    OSError
        The files cannot be written.
    """
    skipped: dict[str, RefbrowserError] = {}
    done, total = 0, sum(part.size for part in parts)

    def bad(errors: Sequence[RefbrowserError]) -> None:
        for error in errors:
            if not skip_bad:
                raise error
            skipped.setdefault(str(error), error)

    def step(size: int) -> None:
        nonlocal done
        done = min(total, done + size)
        control.check()
        control.progress(done, total, read_bytes=reader.read_bytes, requests=reader.requests)

    with row_reader(dataset, control) as reader:
        filled = [
            part.fill(reader, folder / str(number), bad, step, skip_bad=skip_bad)
            for number, part in enumerate(parts)
        ]
    return Gathered(filled, list(skipped.values()), reader.read_bytes, reader.requests)


def _dimension(name: str) -> str:
    """Return the name of a buffer's only dimension: bounds of lists are one more than lists."""
    node, _, role = name.partition("-")
    return f"{node}_bounds" if role == "offsets" else f"{node}_entries"


def stored_dtype(dtype: np.dtype[Any], flavour: Flavour) -> np.dtype[Any]:
    """Return the type under which the elements of a buffer are stored: any has the same bytes.

    ``awkward.from_buffers`` goes by the form and takes bytes, so what NCZarr has no type for is restored.
    """
    if flavour != Flavour.NCZARR:
        return dtype
    if dtype.kind in "mM":
        return np.dtype("i8")
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype({"e": "u2", "?": "i1"}.get(dtype.char, dtype.str))


def _codecs(dtype: np.dtype[Any], flavour: Flavour) -> tuple[CodecSpec, ...]:
    """Return the codecs where none are chosen, in the words of v2."""
    if dtype.kind not in _COMPRESSED:
        return ()
    if flavour == Flavour.ZARR_V3:
        return (CodecSpec("zstd", {"level": 3}),)
    found = (CodecSpec("zlib", {"level": 1}),)
    if dtype.itemsize == 1 or not has_codec(flavour, CODECS["shuffle"]):
        return found
    return (CodecSpec("shuffle", {"elementsize": dtype.itemsize}), *found)
