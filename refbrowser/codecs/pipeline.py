"""Bytes of a chunk to its array and back: the codecs of an array in a row."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, DType, Room, as_bytes, flat_bytes
from refbrowser.codecs.building import (
    Row,
    Stage,
    add_array_codecs,
    add_swap,
    after_elements,
    decodes_arrays,
    encoded_room,
    endian_of,
    filled_again,
    is_of_each_element,
    makes_bytes,
    n5_blocks,
    no_object_codec,
    specs_in,
    stored_fill,
    turn,
)
from refbrowser.codecs.makers import Elements
from refbrowser.codecs.settings import Settings
from refbrowser.codecs.table import (
    CODECS,
    byte_codec,
    codec_of_v3,
    codec_or_refusal,
    is_object_codec,
    object_codec,
    plain_name,
)
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.narrow_types import NarrowType, stored_type
from refbrowser.model.nodes import ArrayNode, CodecSpec

if TYPE_CHECKING:
    from refbrowser.codecs.objects import ObjectCodec
    from refbrowser.codecs.sharding import ShardLayout

#: What libraries raise on bytes that are damaged.
FAULTS = (
    ArithmeticError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class CodecPipeline:
    """The codecs of an array, ready to decode chunks on any thread.

    Attributes
    ----------
    shape
        Of a whole chunk.
    dtype
        Of its elements.
    axes
        The chunk's axes in the order in which they are stored, the slowest first.
    stages
        Byte codecs in encoding order.
    objects
        How objects become bytes, for arrays of objects.
    sharding
        How inner chunks are stored, where chunks are shards.
    decoded_size
        Bytes of a decoded chunk; of an array of objects, of the references to them.
    stored_most
        Bytes of the largest chunk that is stored: more cannot be one, whatever it holds.
    is_raw
        Whether the bytes are the elements in the order of `axes`: parts of a chunk can be read alone.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axes: tuple[int, ...]
    stages: tuple[Stage, ...] = ()
    objects: ObjectCodec | None = None
    sharding: ShardLayout | None = None
    decoded_size: int = field(init=False)
    stored_most: int = field(init=False)
    is_raw: bool = field(init=False)
    _transposed: bool = field(init=False)
    _stored_shape: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        # Computed once: small chunks are decoded by the ten thousand.
        computed = {
            "decoded_size": prod(self.shape) * self.dtype.itemsize,
            "is_raw": not self.stages and self.objects is None and self.sharding is None,
            "_transposed": self.axes != tuple(range(len(self.axes))),
            "_stored_shape": tuple(self.shape[axis] for axis in self.axes),
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "stored_most", self._stored_most())

    @classmethod
    def for_array(cls, node: ArrayNode, shape: tuple[int, ...] | None = None) -> CodecPipeline:
        """Return the pipeline of an array, which is made once.

        Parameters
        ----------
        shape
            Of the chunks that it is for, as they are stored, where those of the array are unequal; of the
            largest where it is left out.

        Raises
        ------
        RefbrowserError
            `META`: a codec is not known (the advice says which package brings it, if one does) or its
            configuration is wrong; `UNSAFE`: it would run code. An error that the node holds is raised.
        """
        if shape is not None and not node.grid.is_regular:
            return _build(node, shape)
        known = _known.get(ref(node))
        if known is None:
            made = _build(node)
            _check_shards(node, made)
            # The entry goes with the array.
            known = _known[ref(node, _known.pop)] = made
        return known

    @property
    def shard(self) -> ShardLayout | None:
        """The layout of shards whose inner chunks can be read alone; None where they cannot."""
        return None if self.stages or self._transposed else self.sharding

    def decode(self, data: Any, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Return a chunk from its bytes.

        Parameters
        ----------
        data
            Bytes-like and contiguous. Of a raw pipeline the result is a view of it, read-only where it is.
        out
            Of `shape`: is filled and returned. Written without a copy where it is of `dtype` and contiguous
            in the stored order. After an error its content is undefined.

        Raises
        ------
        RefbrowserError
            `DECODE`: damaged, or decodes to less or more than a chunk; never more than a chunk and a byte
            are made. `BUDGET`: the chunk is larger than what is decoded whole.
        """
        self._check_size()
        if out is not None and out.shape != self.shape:
            raise ValueError(f"a target of shape {out.shape} where {self.shape} is expected")
        buffer = as_bytes(data)
        target = self._target(out) if self.stages and out is not None else None
        for place in range(len(self.stages) - 1, -1, -1):
            buffer = _decoded(self.stages[place], buffer, target if place == 0 else None)
        if out is not None and buffer is target:
            return out
        values = self.elements(buffer)
        if out is None:
            return values
        out[...] = values
        return out

    def unpacked(self, data: Any) -> Iterator[tuple[Stage, Bytes]]:
        """Yield each byte codec in decoding order with what it gives, for a look at each step.

        `elements` of the last one's bytes, or of `data` where there are no byte codecs, is the chunk.

        Raises
        ------
        RefbrowserError
            As `decode`, when the step that fails is asked for.
        """
        self._check_size()
        buffer = as_bytes(data)
        for stage in reversed(self.stages):
            buffer = _decoded(stage, buffer, None)
            yield stage, buffer

    @property
    def tells_shape(self) -> bool:
        """Whether a stored chunk says which shape it has."""
        return bool(self.stages) and hasattr(self.stages[0].codec, "shape_of")

    def block_shape(self, data: Any) -> tuple[int, ...] | None:
        """Return the shape that a stored chunk says itself to have; None where it says none.

        Raises
        ------
        RefbrowserError
            `DECODE`: it is none that can be decoded.
        """
        if not self.tells_shape:
            return None
        shape_of: Callable[[Bytes], tuple[int, ...]] = getattr(self.stages[0].codec, "shape_of")  # noqa: B009
        buffer = as_bytes(data)
        for stage in reversed(self.stages[1:]):
            buffer = _decoded(stage, buffer, None)
        try:
            return shape_of(buffer)
        except FAULTS as error:
            raise _fault(self.stages[0].name, error) from None

    def elements(self, buffer: Bytes) -> npt.NDArray[Any]:
        """Return a chunk from what the byte codecs gave.

        Raises
        ------
        RefbrowserError
            `DECODE`: it is not the bytes of a chunk.
        """
        values = self._array(buffer).reshape(self._stored_shape)
        return values.transpose(np.argsort(self.axes).tolist()) if self._transposed else values

    def _stored_most(self) -> int:
        if self.stages:
            most = encoded_room(self.stages, Room.of(self.decoded_size)).most
        elif self.objects is not None:
            most = LIMITS.chunk_size
        elif self.sharding is not None:
            most = self.sharding.stored_most
        else:
            most = self.decoded_size
        return min(most, LIMITS.chunk_size)

    def _check_size(self) -> None:
        if self.decoded_size > LIMITS.chunk_size and not self.is_raw:
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"a chunk of {self.decoded_size} bytes cannot be decoded in part, "
                f"and only {LIMITS.chunk_size} bytes are decoded whole",
            )

    def encode(self, chunk: npt.NDArray[Any]) -> bytes:
        """Return the bytes of a whole chunk of `shape`, of a type that casts to `dtype`."""
        values = np.asarray(chunk).astype(self.dtype, copy=False)
        if values.shape != self.shape:
            raise ValueError(f"a chunk of shape {values.shape} where {self.shape} is expected")
        stored = np.ascontiguousarray(values.transpose(self.axes))
        if self.sharding is not None:
            buffer = self.sharding.encode(stored)
        elif self.objects is not None:
            buffer = self.objects.encode(stored.reshape(-1))
        else:
            buffer = flat_bytes(stored) if self.decoded_size else np.empty(0, np.uint8)
        for stage in self.stages:
            buffer = stage.codec.encode(buffer)
        return buffer.tobytes()

    def _target(self, out: npt.NDArray[Any]) -> Bytes | None:
        """Return the bytes of `out` where the innermost codec can write into it."""
        stored = out.transpose(self.axes) if self._transposed else out
        elements = self.objects is None and self.sharding is None and self.decoded_size > 0
        if not elements or out.dtype != self.dtype or not stored.flags.c_contiguous:
            return None
        return flat_bytes(stored)

    def _array(self, buffer: Bytes) -> npt.NDArray[Any]:
        """Return the elements in stored order."""
        if self.sharding is not None:
            values = np.empty(self._stored_shape, self.dtype)
            self.sharding.decode(buffer, values)
            return values
        if self.objects is not None:
            try:
                return self.objects.decode(buffer, prod(self.shape))
            except FAULTS as error:
                raise _fault("of objects", error) from None
        if len(buffer) != self.decoded_size:
            raise RefbrowserError(
                ErrorKind.DECODE, f"the chunk is {len(buffer)} bytes, its shape and type {self.decoded_size}"
            )
        return buffer.view(self.dtype) if self.decoded_size else np.zeros(self._stored_shape, self.dtype)


def _decoded(stage: Stage, buffer: Bytes, target: Bytes | None) -> Bytes:
    try:
        result = stage.codec.decode(buffer, stage.room, target)
        stage.room.check(len(result))
    except FAULTS as error:
        raise _fault(stage.name, error) from None
    return result


def _fault(name: str, error: BaseException) -> RefbrowserError:
    return RefbrowserError(ErrorKind.DECODE, f"codec {quoted(name)} cannot decode: {quoted(error)}")


#: Of arrays that are alive: each read of one asks for its pipeline.
_known: dict[ref[ArrayNode], CodecPipeline] = {}


def _build(node: ArrayNode, shape: tuple[int, ...] | None = None) -> CodecPipeline:
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    if not node.has_grid or node.dtype is None:
        raise RefbrowserError(ErrorKind.META, "the array has no grid or type")
    if len(node.codecs) > LIMITS.filters:
        raise RefbrowserError(
            ErrorKind.BUDGET, f"{len(node.codecs)} codecs; at most {LIMITS.filters} are decoded"
        )
    if shape is None:
        shape = node.grid.largest
    if node.format == "zarr-v3":
        return _build_v3(node.codecs, shape, node.dtype, node.fill_value, 0, node.lenders)
    axes = tuple(range(len(shape)))
    if node.lenders and any(spec.name in node.lenders for spec in node.codecs):
        return _lent(node.codecs, shape, node.dtype, node.fill_value, node.lenders, node.order)
    return _build_v2(node.codecs, shape, node.dtype, axes[::-1] if node.order == "F" else axes)


def _check_shards(node: ArrayNode, pipeline: CodecPipeline) -> None:
    """Raise where one of unequal shards holds no whole number of inner chunks, stored or not."""
    if pipeline.sharding is None or node.grid.is_regular:
        return
    shape = list(pipeline.shape)
    for axis, inner in enumerate(pipeline.sharding.grid.chunk_shape):
        sides = node.grid.dimensions[axis].runs.sides
        cut = sides[sides % inner != 0]
        if cut.size:
            shape[axis] = int(cut[0])
            # It says why.
            _build(node, tuple(shape))


def _build_v2(
    specs: Sequence[CodecSpec],
    shape: tuple[int, ...],
    dtype: DType,
    axes: tuple[int, ...],
) -> CodecPipeline:
    row = Row(dtype, prod(shape))
    objects = None
    for place, spec in enumerate(specs):
        if place == 0 and dtype.hasobject:
            objects = object_codec(spec.name, spec.configuration)
            row.compressed(Room(None, LIMITS.chunk_size))
        else:
            row.add(spec.name, codec_or_refusal(spec.name, spec.configuration, row.elements))
    if dtype.hasobject and objects is None:
        raise no_object_codec()
    return CodecPipeline(shape, dtype, axes, tuple(row.stages), objects)


def _build_v3(
    specs: Sequence[CodecSpec],
    shape: tuple[int, ...],
    dtype: DType,
    fill_value: Any,
    depth: int,
    lenders: Mapping[str, str],
) -> CodecPipeline:
    if lenders and any(spec.name in lenders for spec in specs):
        return _lent(specs, shape, dtype, fill_value, lenders)
    at = next((place for place, spec in enumerate(specs) if makes_bytes(spec.name)), None)
    if at is None:
        # Some packages have codecs of images that get arrays, others those that get bytes.
        at = next((place for place, spec in enumerate(specs) if decodes_arrays(spec.name)), None)
    if at is None:
        for spec in specs:
            byte_codec(plain_name(spec.name), spec.configuration, Elements(None, Room.of(0)))
        raise RefbrowserError(ErrorKind.META, "no codec turns the array into bytes")
    row, maker = Row(dtype, prod(shape)), specs[at]
    narrow = stored_type(dtype)
    if narrow is not None:
        _check_narrow(narrow, specs[: at + 1])
        if maker.name != "sharding_indexed":
            # The chunks of a shard are made narrow one by one.
            row.narrow(narrow)
    axes, sides = add_array_codecs(specs[:at], shape, row)
    objects = shards = None
    if maker.name == "sharding_indexed" and all(map(is_of_each_element, specs[:at])):
        # They do the same to each inner chunk, which is read alone.
        shards = _shards(maker, shape, dtype, fill_value, depth, lenders, specs[:at], axes)
        row, axes = Row(dtype, prod(shape)), tuple(range(len(shape)))
        row.compressed(Room(None, LIMITS.chunk_size))
    elif maker.name == "sharding_indexed":
        from refbrowser.codecs.sharding import ShardBytes

        stored = row.dtype
        if stored is None:
            raise RefbrowserError(ErrorKind.META, "codecs before 'sharding_indexed' make no elements")
        try:
            fill = None if fill_value is None else stored_fill(specs[:at], shape, dtype, fill_value)[0]
        except FAULTS as error:
            raise _fault(maker.name, error) from None
        row.add(maker.name, ShardBytes(_shards(maker, sides, stored, fill, depth, lenders), stored))
    elif is_object_codec(plain_name(maker.name)):
        if not dtype.hasobject:
            raise RefbrowserError(ErrorKind.META, f"codec {quoted(maker.name)} needs an array of objects")
        objects = object_codec(plain_name(maker.name), maker.configuration)
        row.compressed(Room(None, LIMITS.chunk_size))
    elif dtype.hasobject:
        raise no_object_codec()
    elif maker.name == "n5_default":
        if row.stages or axes != tuple(range(len(shape))):
            raise RefbrowserError(ErrorKind.META, "filters before 'n5_default' are not supported")
        row.add(maker.name, n5_blocks(maker, shape, dtype))
    elif plain_name(maker.name) == "ChunkyCodec":
        backwards = tuple(reversed(range(len(sides))))
        if row.stages:
            turn(row, maker.name, sides, backwards)
        else:
            axes = axes[::-1]
        add_swap(row, endian_of(maker))
    elif CODECS[plain_name(maker.name)].make is not None:
        row.add(maker.name, byte_codec(plain_name(maker.name), maker.configuration, row.elements))
    else:
        add_swap(row, endian_of(maker))
    for spec in specs[at + 1 :]:
        row.add(spec.name, after_elements(spec, row.elements))
    return CodecPipeline(shape, dtype, axes, tuple(row.stages), objects, shards)


def _check_narrow(narrow: NarrowType, specs: Sequence[CodecSpec]) -> None:
    """Raise for codecs that calculate with elements, or of which nothing is said of such types."""
    for spec in specs:
        row = codec_of_v3(spec.name)
        if row is None or not (row.is_of_axes or row.packs_bits or row.make is None):
            message = f"codec {quoted(spec.name)} of elements of type {narrow.name} is not supported"
            raise RefbrowserError(ErrorKind.META, message)


def _lent(
    specs: Sequence[CodecSpec],
    shape: tuple[int, ...],
    dtype: DType,
    fill_value: Any,
    lenders: Mapping[str, str],
    order: str = "",
) -> CodecPipeline:
    """Return what has a chunk undone by others; without an order, as Zarr v3 has it."""
    from refbrowser.codecs.lending import lent_codecs  # Hardly any array needs it.

    codec = lent_codecs(specs, shape, dtype, fill_value, lenders, order)
    stage = Stage(codec.names[0], codec, Room.of(prod(shape) * dtype.itemsize))
    return CodecPipeline(shape, dtype, tuple(range(len(shape))), (stage,))


def _shards(
    spec: CodecSpec,
    shape: tuple[int, ...],
    dtype: DType,
    fill_value: Any,
    depth: int,
    lenders: Mapping[str, str],
    filters: Sequence[CodecSpec] = (),
    axes: tuple[int, ...] = (),
) -> ShardLayout:
    """Return the layout of shards.

    Parameters
    ----------
    shape
        Of a shard, before the codecs of `filters`.
    filters
        Those before the shard that change each element alone: they become those of the inner chunks.
    axes
        The order in which these leave the axes.
    """
    if depth >= LIMITS.shard_nesting:
        raise RefbrowserError(
            ErrorKind.BUDGET, f"shards are nested more than {LIMITS.shard_nesting} levels deep"
        )
    settings = Settings(spec.name, spec.configuration)
    inner_shape: Any = settings.values.get("chunk_shape")
    fits = isinstance(inner_shape, list) and len(inner_shape) == len(shape)
    if not fits or not all(type(side) is int and side > 0 for side in inner_shape):
        raise settings.wrong("chunk_shape", "a list of positive integers, one for each dimension")
    axes = axes or tuple(range(len(shape)))
    inner_sides = tuple(inner_shape[axes.index(axis)] for axis in range(len(shape)))
    if any(side % inner for side, inner in zip(shape, inner_sides, strict=True)):
        raise settings.wrong("chunk_shape", f"a shape that tiles the shard {shape}")
    grid = RegularChunkGrid(shape, inner_sides)
    index_codecs = specs_in(settings, "index_codecs")
    if axes != tuple(range(len(shape))):
        # Its entries stand in the order of the stored axes.
        index_codecs = (CodecSpec("transpose", {"order": [*axes, len(shape)]}), *index_codecs)
    index_shape = (*grid.grid_shape, 2)
    index = _build_v3(index_codecs, index_shape, np.dtype("<u8"), None, LIMITS.shard_nesting, {})
    size = encoded_room(index.stages, Room.of(index.decoded_size)).exact
    if size is None:
        raise settings.wrong("index_codecs", "codecs that keep the size of the index known")
    fill_value = filled_again(filters, dtype, fill_value)
    inner_codecs = (*filters, *specs_in(settings, "codecs"))
    inner = _build_v3(inner_codecs, grid.chunk_shape, dtype, fill_value, depth + 1, lenders)
    at_end = settings.choice("index_location", "end", ("start", "end")) == "end"
    from refbrowser.codecs.sharding import ShardLayout  # Few arrays have shards.

    return ShardLayout(grid, inner, index, size, at_end, fill_value)
