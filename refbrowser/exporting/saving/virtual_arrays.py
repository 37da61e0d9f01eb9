"""An opened file of data as a reference document that other software reads.

What is one range of the file stays a reference into it. The rest (what is put together from several ranges,
texts, structures) is written into the document, while there is room; what has no room, or no form that
zarr-python knows, is left out and told.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.objects import VLenBytes, VLenText
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.request import Loss
from refbrowser.exporting.rewritten_document import NO_ROOM, DocumentFullError, Remaking
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.cf import named_flags
from refbrowser.model.data_type import RowType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline
from refbrowser.model.selection import Selection
from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]
Coords = tuple[int, ...]
#: Chunks of one array that are listed.
MOST_CHUNKS = 1 << 21


@dataclass(frozen=True, slots=True)
class VirtualChunks:
    """The chunks of one array.

    Attributes
    ----------
    is_deflated
        Chunks are zlib streams.
    ranges
        Of chunks that are one range of the file.
    made
        Chunks that must be put together, in C order: elements of several ranges, or of a part of one; and
        those of which something may be lost.
    """

    grid: RegularChunkGrid
    is_deflated: bool = False
    ranges: dict[Coords, ByteRange] = field(default_factory=dict)
    made: list[Coords] = field(default_factory=list)


def all_chunks(grid: RegularChunkGrid) -> Iterator[Coords]:
    """Yield the coordinates of all chunks, in C order."""
    return product(*map(range, grid.grid_shape))


#: Level of the zlib streams that are made.
_LEVEL = 6
#: How much smaller zlib makes anything, at most.
_SMALLER = 1032
_ZLIB = {"id": "zlib", "level": 1}


def virtual_document(dataset: Dataset, control: JobControl) -> tuple[Document, list[Loss]]:
    """Return the document of a dataset whose values are derived, with references and values alone.

    Raises
    ------
    RefbrowserError
        An entry is faulty.
    """
    return VirtualWriting(dataset, control).written()


@dataclass(frozen=True, slots=True)
class _Form:
    """How Zarr holds the elements of an array.

    Attributes
    ----------
    metadata
        Of the array: its type, and the filter of objects.
    objects
        The name of that filter; None for elements of fixed size.
    dtype
        Of the elements where that is not the type of the array.
    """

    metadata: Mapping[str, Any]
    objects: str | None = None
    dtype: np.dtype[Any] | None = None


@dataclass(slots=True)
class VirtualWriting(Remaking):
    """Gathers what changes in the document."""

    def written(self) -> tuple[Document, list[Loss]]:
        """Return the document with what changes, and what that loses.

        Raises
        ------
        RefbrowserError
            An entry is faulty.
        """
        for node in self.dataset.hierarchy.walk():
            if isinstance(node, ArrayNode):
                self.control.check()
                self._add(node)
        if not (self.gone or self.remade or self.metadata):
            return replace(self.dataset.document.written(), origin=None), self.losses
        return self.document()

    def chunks(self, node: ArrayNode) -> VirtualChunks | None:
        """Return the chunks of an array, all of them to be made; None where they are too many."""
        if node.grid.size > MOST_CHUNKS:
            return None
        return VirtualChunks(node.grid.regular, made=list(all_chunks(node.grid.regular)))

    def _add(self, node: ArrayNode) -> None:
        why = _why_not(node)
        if why:
            self.leave_out(node, why)
        elif node.assembled is not None:
            self._make(node)
        if node.key_prefix not in self.gone:
            self._name(node)
            self.losses += (Loss(node.path, told) for told in _changes(node))

    def _name(self, node: ArrayNode) -> None:
        """Give dimensions without a name one, as xarray needs it, and say by CF what values are called."""
        changed: dict[str, Any] = {}
        if None in node.dimensions:
            changed[DIMENSIONS_ATTRIBUTE] = [
                name or f"{node.name}_{axis}" for axis, name in enumerate(node.dimensions)
            ]
        if node.type.names and "flag_meanings" not in node.attributes:
            changed |= named_flags(node.type.names)
        if changed:
            key = f"{node.key_prefix}.zattrs"
            stored = self.dataset.document.expansion.value(key)
            self.metadata[key] = json.dumps({**json.loads(stored or b"{}"), **changed}).encode()

    # Arrays whose values are put together

    def _make(self, node: ArrayNode) -> None:
        """Add the references and values of an array, or leave it out."""
        form, chunks = _form_of(node), self.chunks(node)
        assert form is not None
        if chunks is None:
            self.leave_out(node, NO_ROOM)
            return
        size = prod(chunks.grid.chunk_shape) * (node.dtype.itemsize if node.dtype is not None else 1)
        if chunks.is_deflated:
            size //= _SMALLER
        if len(chunks.made) * size > self.room or size > LIMITS.inline_value:
            self.leave_out(node, NO_ROOM)
            return
        try:
            made = list(self._inline(node, form, chunks))
        except RefbrowserError as error:
            self.leave_out(node, f"it cannot be read and is left out: {error.message}")
            return
        except DocumentFullError:
            self.leave_out(node, NO_ROOM)
            return
        self.room -= sum(len(reference.data) for _, reference in made)
        self.remade.add(node.key_prefix)
        self.metadata[f"{node.key_prefix}.zarray"] = json.dumps(_metadata(node, form, chunks)).encode()
        self.references += ((_key(node, at), found) for at, found in chunks.ranges.items())
        self.references += made

    def _inline(self, node: ArrayNode, form: _Form, chunks: VirtualChunks) -> Iterator[tuple[str, Inline]]:
        """Yield the chunks that stand in the document."""
        room = self.room
        for at in chunks.made:
            self.control.check()
            data = _encoded(self._values(node, chunks.grid, at), form, chunks)
            room -= len(data)
            if room < 0 or len(data) > LIMITS.inline_value:
                raise DocumentFullError
            yield _key(node, at), Inline(data)

    def _values(self, node: ArrayNode, grid: RegularChunkGrid, at: Coords) -> npt.NDArray[Any]:
        """Return the elements of a chunk; what lies over the edge of the array holds the fill value."""
        starts, extent = grid.origin(at), grid.extent(at)
        box = tuple(range(start, start + side) for start, side in zip(starts, extent, strict=True))
        read = self.dataset.session.read(
            node, self.dataset.access, Selection(box), cancel=self.control.token, export=True
        )
        if read.shape == grid.chunk_shape:
            return read
        values = np.empty(grid.chunk_shape, read.dtype)
        values[...] = node.fill_element
        values[tuple(slice(0, side) for side in read.shape)] = read
        return values


def foreseen(dataset: Dataset) -> Iterator[Loss]:
    """Yield what `virtual_document` will tell, as far as that is known before anything is read."""
    for node in dataset.hierarchy.walk():
        if isinstance(node, ArrayNode):
            why = _why_not(node)
            yield from (Loss(node.path, told) for told in ([why] if why else _changes(node)))


def _why_not(node: ArrayNode) -> str:
    """Return why an array has no place in the document; empty where it has one."""
    error = node.error or node.unreadable
    if error is not None:
        return f"it cannot be read and is left out: {error.message}"
    if node.assembled is not None and _form_of(node) is None:
        return f"zarr-python has no type for {node.type.name}; it is left out"
    return ""


def _changes(node: ArrayNode) -> Iterator[str]:
    """Yield what is not as in the source of an array that is in the document."""
    if None in node.dimensions:
        yield "dimensions without a name get one, as xarray needs it"
    if node.type.names:
        has_names = "flag_meanings" in node.attributes
        yield f"the enumeration is {'left out' if has_names else 'written as flag_values and flag_meanings'}"
    if "\\" in node.path:
        yield "zarr-python reads the backslash in its name as a slash"


def _key(node: ArrayNode, at: Coords) -> str:
    return node.key_prefix + (".".join(map(str, at)) or "0")


def _form_of(node: ArrayNode) -> _Form | None:
    """Return how Zarr v2 holds the elements of an array; None where zarr-python has no type for them."""
    dtype = node.known_dtype
    if isinstance(node.type, RowType):
        return None
    if dtype.kind == "O":
        name = "vlen-utf8" if node.type.name == "string" else "vlen-bytes"
        return _Form({"dtype": "|O", "filters": [{"id": name}], "fill_value": ""}, name)
    if dtype.names is not None:
        fields = [dtype[name] for name in dtype.names]
        if any(each.kind in "OV" or each.shape for each in fields):
            return None
        # xarray takes structures in no other order.
        little = dtype.newbyteorder("<")
        described = [[name, little[name].str] for name in dtype.names]
        return _Form({"dtype": described, "filters": None, "fill_value": None}, dtype=little)
    return _Form({"dtype": dtype.str, "filters": None})


def _metadata(node: ArrayNode, form: _Form, chunks: VirtualChunks) -> dict[str, Any]:
    metadata = {
        "zarr_format": 2,
        "shape": list(node.shape),
        "chunks": list(chunks.grid.chunk_shape),
        "compressor": _ZLIB if chunks.is_deflated else None,
        "order": "C",
        "fill_value": _fill(node.fill_value),
    }
    return metadata | dict(form.metadata)


def _fill(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value.ljust(1, b"\0")).decode("ascii")
    if not isinstance(value, np.number):
        return None
    plain = value.item()
    if plain != plain:
        return "NaN"
    return ("Infinity" if plain > 0 else "-Infinity") if abs(plain) == float("inf") else plain


def _encoded(values: npt.NDArray[Any], form: _Form, chunks: VirtualChunks) -> bytes:
    """Return the bytes of a chunk."""
    if form.objects is None:
        data = np.ascontiguousarray(values, form.dtype).tobytes()
    else:
        codec = VLenText() if form.objects == "vlen-utf8" else VLenBytes()
        data = codec.encode(values.reshape(-1)).tobytes()
    return zlib.compress(data, _LEVEL) if chunks.is_deflated else data
