"""Codecs of metadata put in a row, each with the sizes before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import ByteCodec, DecodeError, DType, Room, flat_bytes
from refbrowser.codecs.makers import Elements
from refbrowser.codecs.settings import Settings
from refbrowser.codecs.table import CODECS, Kind, byte_codec, codec_of_v3, plain_name
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.dtypes import with_byte_order
from refbrowser.model.narrow_types import NarrowType
from refbrowser.model.nodes import CodecSpec

#: The package whose codecs know what their bytes hold.
_IMAGES = "imagecodecs"
#: Stands for the type of the elements where a codec does not change it.
_SAME: Any = object()


@dataclass(frozen=True, slots=True)
class Stage:
    """One byte codec of a pipeline, with the room of what it decodes to."""

    name: str
    codec: ByteCodec
    room: Room


def encoded_room(stages: Sequence[Stage], room: Room) -> Room:
    """Return the room of encoded chunks: that of the last stage, or `room` where there is none."""
    return stages[-1].codec.encoded(stages[-1].room) if stages else room


class Row:
    """Byte codecs being put in a row, with what stands after the last one."""

    def __init__(self, dtype: DType, count: int) -> None:
        self.stages: list[Stage] = []
        self.dtype: DType | None = dtype
        self.room = Room.of(count * dtype.itemsize)
        self._bits = 0
        #: Of a chunk before the next codec; None where it is not known.
        self.shape: tuple[int, ...] | None = None

    @property
    def elements(self) -> Elements:
        """What the next codec gets."""
        return Elements(self.dtype, self.room, self._bits, self.shape)

    def narrow(self, type: NarrowType) -> None:
        """Store elements as a type that numpy has not."""
        from refbrowser.codecs.narrowing import Narrowed  # Hardly any array needs it.

        self.add(type.name, Narrowed(type, type.stored))
        self._bits = type.bits

    def compressed(self, room: Room) -> None:
        """Go on after a codec whose result is not made of elements."""
        self.dtype, self.room = None, room

    def add(self, name: str, codec: ByteCodec) -> None:
        """Append a codec."""
        self.stages.append(Stage(name, codec, self.room))
        self.room = encoded_room(self.stages, self.room)
        stored = getattr(codec, "stored", _SAME)
        if stored is not _SAME:
            self.dtype = stored
        elif self.room.exact is None:
            self.dtype = None


def makes_bytes(name: str) -> bool:
    """Whether a v3 codec makes bytes of an array."""
    row = codec_of_v3(name)
    return row is not None and row.kind is Kind.SERIALIZER


def decodes_arrays(name: str) -> bool:
    """Whether a v3 codec decodes to the elements of an array, whatever stands before it."""
    row = codec_of_v3(name)
    return row is not None and row.package == _IMAGES and (bool(row.module) or row.kind is Kind.ELEMENTS)


def endian_of(spec: CodecSpec) -> Literal["little", "big"]:
    """Return the byte order in the configuration of a ``bytes`` codec; little where it has none.

    Raises
    ------
    RefbrowserError
        `META`: another word.
    """
    choice = Settings(spec.name, spec.configuration).choice("endian", "little", ("little", "big"))
    return cast(Literal["little", "big"], choice)


def is_of_each_element(spec: CodecSpec) -> bool:
    """Tell whether what a v3 codec makes of an element hangs on that alone, or only axes change places.

    Before shards it does the same to each of their chunks.
    """
    row = codec_of_v3(spec.name)
    if row is None or row.kind is not Kind.ELEMENTS:
        return False
    return row.name == "transpose" or not (row.is_ordered or row.is_of_axes)


def stored_fill(
    specs: Sequence[CodecSpec], shape: tuple[int, ...], dtype: DType, fill_value: Any
) -> npt.NDArray[Any]:
    """Return the fill value behind codecs from array to array, as an array of one element.

    Those of Zarr v3 change it as they change elements (zarr-extensions, codecs/scale_offset, "Fill value
    handling"); those of numcodecs leave it as it is, in their type, as zarr-python has it.

    Raises
    ------
    DecodeError, ArithmeticError, TypeError, ValueError
        They cannot store it.
    """
    fill = np.full(1, fill_value, dtype)
    for spec in specs:
        name = plain_name(spec.name)
        changes = is_of_each_element(spec) and CODECS[name].only_v3
        row = Row(fill.dtype, 1 if changes else prod(shape))
        if not CODECS[name].is_of_axes:
            add_array_codecs([spec], (1,) if changes else shape, row)
        if row.dtype is None:
            raise DecodeError(f"codec {quoted(spec.name)} makes no elements")
        data = flat_bytes(fill)
        for stage in row.stages if changes else ():
            data = stage.codec.encode(data)
        fill = data.view(row.dtype) if changes else np.full(1, fill[0].item(), row.dtype)
    return fill


def filled_again(specs: Sequence[CodecSpec], dtype: DType, fill_value: Any) -> Any:
    """Return what codecs of each element decode the fill value to that they store; itself where they cannot.

    It is what chunks hold that a shard behind these codecs does not have.
    """
    if not specs or fill_value is None:
        return fill_value
    row = Row(dtype, 1)
    add_array_codecs([spec for spec in specs if not CODECS[plain_name(spec.name)].is_of_axes], (1,), row)
    try:
        data = flat_bytes(stored_fill(specs, (1,), dtype, fill_value))
        for stage in reversed(row.stages):
            data = stage.codec.decode(data, stage.room, None)
    except (DecodeError, ArithmeticError, TypeError, ValueError):
        return fill_value
    return data.view(dtype)[0]


def add_array_codecs(
    specs: Sequence[CodecSpec], shape: tuple[int, ...], row: Row
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Put the codecs from array to array in `row`; return the stored order of the axes, and that shape."""
    from refbrowser.codecs.elements import NumcodecsElements  # Only filters of Zarr v3 need it.

    axes = tuple(range(len(shape)))
    is_ordered = False
    sides = shape
    for spec in specs:
        name = plain_name(spec.name)
        if name == "transpose":
            order = _order(spec, len(sides))
            if is_ordered:
                turn(row, spec.name, sides, order)
            else:
                axes = tuple(axes[axis] for axis in order)
            sides = tuple(sides[axis] for axis in order)
            continue
        if name == "reshape":
            # Elements stay in their order: only what is of axes would notice.
            sides = _reshaped(spec, sides)
            is_ordered = True
            continue
        row.shape = sides
        codec = byte_codec(name, spec.configuration, row.elements)
        if isinstance(codec, NumcodecsElements) and row.dtype is not None:
            add_swap(row, "big" if codec.decoded.str[0] == ">" else "little")
        row.add(spec.name, codec)
        is_ordered = is_ordered or CODECS[name].is_ordered
    row.shape = sides
    return axes, sides


def turn(row: Row, name: str, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    """Add a change of the order of axes where what stands before it hangs on that.

    Raises
    ------
    RefbrowserError
        `META`: there are no elements.
    """
    from refbrowser.codecs.elements import Turned

    if row.dtype is None:
        raise RefbrowserError(ErrorKind.META, f"codec {quoted(name)} gets no elements")
    if order != tuple(range(len(order))):
        row.add(name, Turned(shape, order, row.dtype.itemsize))


def add_swap(row: Row, endian: Literal["little", "big"]) -> None:
    """Add a change of byte order where the elements of `row` are not in `endian`."""
    if row.dtype is None:
        return
    wanted = with_byte_order(row.dtype, endian)
    if wanted == row.dtype:
        return
    from refbrowser.codecs.elements import SwapBytes

    row.add("bytes", SwapBytes(row.dtype))
    row.dtype = wanted


def _order(spec: CodecSpec, ndim: int) -> tuple[int, ...]:
    order: Any = spec.configuration.get("order")
    if order == "C":
        return tuple(range(ndim))
    if order == "F":
        return tuple(reversed(range(ndim)))
    whole = isinstance(order, list) and all(type(axis) is int for axis in order)
    if not whole or sorted(order) != list(range(ndim)):
        raise Settings(spec.name, spec.configuration).wrong("order", f"the {ndim} dimensions in some order")
    return tuple(order)


def _reshaped(spec: CodecSpec, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that ``reshape`` makes of another one (zarr-extensions, codecs/reshape).

    Raises
    ------
    RefbrowserError
        `META`: it has other elements, or names dimensions that do not become one side.
    """
    settings = Settings(spec.name, spec.configuration)
    wanted: Any = settings.values.get("shape")
    if not isinstance(wanted, list) or len(wanted) > LIMITS.rank:
        raise settings.wrong("shape", f"a list of at most {LIMITS.rank} sides")
    sides = [
        prod(shape[axis] for axis in _axes(settings, side, len(shape))) if isinstance(side, list) else side
        for side in wanted
    ]
    if not all(type(side) is int and (side > 0 or side == -1) for side in sides) or sides.count(-1) > 1:
        raise settings.wrong("shape", "sides, lists of dimensions, and -1 once at most")
    if -1 in sides:
        known = prod(side for side in sides if side != -1)
        sides[sides.index(-1)] = prod(shape) // known
    if prod(sides) != prod(shape):
        raise settings.wrong("shape", f"a shape of the {prod(shape)} elements of a chunk")
    named = [(at, side) for at, side in enumerate(wanted) if isinstance(side, list) and side]
    told = [axis for _, side in named for axis in side]
    is_split = any(
        prod(sides[:at]) != prod(shape[: side[0]]) or prod(sides[at + 1 :]) != prod(shape[side[-1] + 1 :])
        for at, side in named
    )
    if told != sorted(set(told)) or is_split:
        raise settings.wrong("shape", "a shape whose sides are of the dimensions that they name")
    return tuple(sides)


def _axes(settings: Settings, named: list[Any], ndim: int) -> list[int]:
    if not all(type(axis) is int and 0 <= axis < ndim for axis in named):
        raise settings.wrong("shape", f"lists of some of {ndim} dimensions")
    return named


def specs_in(settings: Settings, name: str) -> tuple[CodecSpec, ...]:
    """Return the codecs in a list of v3 metadata, each a name or an object with `name`.

    Those that are not known and need not be are left out (Zarr v3, "Extension definition").

    Raises
    ------
    RefbrowserError
        `META`: something else stands there.
    """
    items: Any = settings.values.get(name)
    if not isinstance(items, list) or len(items) > LIMITS.filters:
        raise settings.wrong(name, f"a list of at most {LIMITS.filters} codecs")
    specs = []
    for item in items:
        if isinstance(item, str):
            item = {"name": item}
        configuration = item.get("configuration") or {} if isinstance(item, dict) else None
        if not isinstance(configuration, dict) or not isinstance(item.get("name"), str):
            raise settings.wrong(name, "a list of codecs with names")
        if item.get("must_understand") is not False or codec_of_v3(item["name"]) is not None:
            specs.append(CodecSpec(item["name"], configuration))
    return tuple(specs)


def after_elements(spec: CodecSpec, before: Elements) -> ByteCodec:
    """Return a codec from bytes to bytes, which may be made of others.

    Raises
    ------
    RefbrowserError
        As `byte_codec`.
    """
    if spec.name != "conditional":
        return byte_codec(plain_name(spec.name), spec.configuration, before)
    from refbrowser.codecs.nested_codecs import Conditional

    settings = Settings(spec.name, spec.configuration)
    codecs = []
    for each in specs_in(settings, "codecs"):
        row = codec_of_v3(each.name)
        if each.name == spec.name or row is None or row.kind is not Kind.BYTES:
            raise settings.wrong("codecs", "a list of codecs from bytes to bytes that are known")
        codecs.append(byte_codec(plain_name(each.name), each.configuration, before))
    bits = settings.integer("header_bits", -(-len(codecs) // 8) * 8, len(codecs), 1024)
    if bits % 8:
        raise settings.wrong("header_bits", "a multiple of 8")
    return Conditional(tuple(codecs), bits // 8)


def n5_blocks(spec: CodecSpec, shape: tuple[int, ...], dtype: DType) -> ByteCodec:
    """Return what reads blocks of N5 as chunks of a shape (zarr-extensions, codecs/n5_default).

    Raises
    ------
    RefbrowserError
        `META`: other codecs than those of N5 are said to be in it.
    """
    from refbrowser.codecs.nested_codecs import N5Blocks

    settings = Settings(spec.name, spec.configuration)
    turn, *rest = specs_in(settings, "codecs") or (CodecSpec(""),)
    is_turned = turn.name == "transpose" and _order(turn, len(shape)) == tuple(reversed(range(len(shape))))
    if not is_turned or not 0 < len(rest) < 3 or rest[0].name != "bytes":
        raise settings.wrong("codecs", "a full transpose, bytes, and one compressor at most")
    if dtype.itemsize > 1 and endian_of(rest[0]) != "big":
        raise settings.wrong("codecs", "with the highest byte first")
    size = prod(shape) * dtype.itemsize
    packed = after_elements(rest[1], Elements(dtype, Room.of(size))) if rest[1:] else None
    return N5Blocks(shape, dtype, packed)


def no_object_codec() -> RefbrowserError:
    """Return the error for an array of objects whose first codec does not store objects."""
    return RefbrowserError(ErrorKind.META, "the array holds objects and no codec defines how they are stored")
