"""The buffers of arrays as arrays of their own; layouts that are alike once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import usual_configuration
from refbrowser.errors import RefbrowserError
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import Buffer
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline
from refbrowser.model.values import Chunks, CodecSpec
from refbrowser.wings.awkward0.layouts.building import Built
from refbrowser.wings.awkward0.layouts.layouts import Layout, NumpyLayout, parts
from refbrowser.wings.awkward0.reading.naming import first_free

#: Bytes of the chunks that a blob is cut into, about, and into how many at most.
_CHUNK, _MOST_CHUNKS = 4 << 20, 4096
#: How much smaller or larger chunks may be, so that they divide the blob.
_SPREAD = 4


@dataclass(frozen=True, slots=True)
class BufferArray:
    """A basic array of the schema as a Zarr array.

    Attributes
    ----------
    name
        ``node12-counts``.
    rows
        Of one chunk.
    is_expressible
        Whether references can say where its elements are: not of what is compressed after other bytes.
    """

    name: str
    layout: NumpyLayout
    rows: int
    is_expressible: bool = True

    @property
    def buffer(self) -> Buffer:
        """Where its elements are."""
        return self.layout.buffer

    @property
    def is_renamed(self) -> bool:
        """Whether another one had its name: forms of Awkward 2 would not find it."""
        return self.name[-1].isdigit()

    @property
    def chunks(self) -> int:
        """How many chunks it has."""
        return -(-self.buffer.count // self.rows) if self.buffer.count else 0

    def fields(self) -> dict[str, Any]:
        """Return the fields of an `ArrayNode` that say what it is and how it is stored."""
        dtype = self.buffer.dtype
        shape = (self.buffer.count, *dtype.shape)
        grid = RegularChunkGrid(shape, (self.rows, *(max(size, 1) for size in dtype.shape)))
        codecs = tuple(map(_codec, reversed(self.buffer.codecs)))
        fields: dict[str, Any] = {
            "shape": shape,
            "type": DataType.of(np.dtype(zarr_dtype(dtype.base))),
            "dimensions": (None,) * len(shape),
            "values": Chunks(grid=grid, codecs=codecs),
        }
        try:
            if codecs:
                CodecPipeline.for_array(ArrayNode(path="/", **fields))
        except RefbrowserError as error:
            fields["unreadable"] = error
        return fields

    def references(self) -> Iterator[tuple[str, bytes | tuple[Any, ...]]]:
        """Yield the key of each chunk, and its bytes, or what a document says of its place.

        What references cannot express is one that cannot be decoded: an absent one would read as a value.
        """
        after = ".0" * len(self.buffer.dtype.shape)
        for number in range(self.chunks):
            yield f"{number}{after}", self._reference(number)

    def _reference(self, number: int) -> bytes | tuple[Any, ...]:
        buffer, reference = self.buffer, self.buffer.reference
        start = buffer.offset + number * self.rows * buffer.dtype.itemsize
        size = min(self.rows, buffer.count - number * self.rows) * buffer.dtype.itemsize
        if isinstance(reference, Inline):
            return reference.data if buffer.codecs else reference.data[start : start + size]
        if isinstance(reference, ByteRange):
            place = (0, reference.length) if buffer.codecs else (start, size)
            return reference.url, reference.offset + place[0], place[1]
        url = reference.url  # type: ignore[union-attr]
        is_whole = buffer.codecs or (start == 0 and self.layout.blob and size == self.layout.blob.size)
        return (url,) if is_whole else (url, start, size)

    def uncut(self) -> BufferArray:
        """Return it with all elements in one chunk."""
        return replace(self, rows=max(self.buffer.count, 1))


def zarr_dtype(dtype: np.dtype[Any]) -> Any:
    """Return a type as Zarr v2 spells it; bytes where it has no word."""
    if dtype.names is not None:
        return dtype.descr
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        return f"{dtype.str[0]}i8"
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        return f"|V{dtype.itemsize}"
    return dtype.str


def buffer_arrays(layout: Layout) -> list[BufferArray]:
    """Return the basic arrays that a layout is made from, in the order of the schema, each role once.

    An index is named after the list, mask or union that it belongs to, as ``awkward.to_buffers`` does.
    """
    found: dict[str, BufferArray] = {}
    seen: set[tuple[Layout, str]] = set()
    pending: list[tuple[str, Layout, Layout]] = [("data", layout, layout)]
    while pending:
        role, owner, item = pending.pop()
        if isinstance(item, NumpyLayout):
            name = f"{(item if role == 'data' else owner).key}-{role}"
            if (item, name) not in seen:
                seen.add((item, name))
                name = first_free(name, found)
                found[name] = array_of(name, item)
            continue
        if (item, "") in seen:
            continue
        seen.add((item, ""))
        below = [(_role(each), item, part) for each, part in parts(item)]
        pending.extend(reversed(below))
    return list(found.values())


def _role(part: str) -> str:
    """Return the role of a basic array that is a part: contents, fields and chunks are data."""
    return "data" if part.startswith(("content", "field:", "chunk ")) else part


def array_of(name: str, layout: NumpyLayout) -> BufferArray:
    """Return a basic array as a Zarr array of some name."""
    buffer = layout.buffer
    is_packed = layout.blob is not None and layout.blob.is_packed
    is_whole = bool(buffer.codecs) or is_packed
    rows = buffer.count if is_whole else _rows(buffer)
    return BufferArray(name, layout, max(rows, 1), not (buffer.codecs and buffer.offset))


def _rows(buffer: Buffer) -> int:
    """Return how many elements are a chunk: as many that all chunks are alike, else all of them.

    Parts of one that is stored as it is are read alone anyway.
    """
    chunk = max(_CHUNK, -(-buffer.nbytes // _MOST_CHUNKS))
    if buffer.nbytes <= chunk:
        return buffer.count
    wanted = max(buffer.nbytes // chunk, 1)
    counts = np.arange(max(wanted // _SPREAD, 1), min(wanted * _SPREAD, buffer.count) + 1)
    counts = counts[buffer.count % counts == 0]
    if not len(counts) or counts[-1] == 1:
        return buffer.count
    best = int(counts[np.argmin(np.abs(np.log(counts / wanted)))])
    return buffer.count // best


#: Different metadata that is remembered.
_MOST = 10_000


class BufferMemory:
    """Remembers the names of buffers, and the fields of their arrays."""

    def __init__(self) -> None:
        self._names: dict[Built, list[tuple[str, NumpyLayout]]] = {}
        self._fields: dict[tuple[Any, ...], Mapping[str, Any]] = {}

    def arrays(self, built: Built) -> list[BufferArray]:
        """Return what `buffer_arrays` does."""
        first = built.pattern
        names = self._names.get(first)
        if names is None:
            arrays = buffer_arrays(first.layout)
            self._names[first] = names = [(each.name, each.layout) for each in arrays]
        found = []
        for name, layout in names:
            # Values that stand in the schema are no expressions of their own, and the same in all.
            is_own = first.by_number.get(layout.number) is layout
            own = built.by_number[layout.number] if is_own else layout
            assert isinstance(own, NumpyLayout)
            found.append(array_of(name, own))
        return found

    def fields(self, made: BufferArray) -> Mapping[str, Any]:
        """Return what `BufferArray.fields` does."""
        buffer = made.buffer
        key = buffer.dtype, buffer.codecs, buffer.count, made.rows
        known = self._fields.get(key)
        if known is None:
            known = made.fields()
            if len(self._fields) < _MOST:
                self._fields[key] = known
        return known


def _codec(name: str) -> CodecSpec:
    configuration = usual_configuration(name)
    return CodecSpec(configuration.pop("id"), configuration)
