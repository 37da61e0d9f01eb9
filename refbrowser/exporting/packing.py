"""Packed values said by attributes of CF, or by codecs of Zarr v3: one written as the other.

What is stored of each number stays. Attributes say that it stands for ``stored * scale_factor + add_offset``,
the codec ``scale_offset`` for ``stored / scale + offset``: the last bits may differ, which is told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import ByteCodec, DecodeError, Room, flat_bytes
from refbrowser.codecs.building import Stage
from refbrowser.codecs.casting import CastValue, ScaleOffset
from refbrowser.codecs.makers import Elements
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import byte_codec
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.codec_names import codecs_v3, without_shards
from refbrowser.model.cf import SCALING, Packing
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, CodecSpec

Values = npt.NDArray[Any]
#: Attributes that say of which stored values there are none.
MARKS = ("_FillValue", "missing_value")
_BOUNDS = ("valid_range", "valid_min", "valid_max")
_SCALE, _CAST = "scale_offset", "cast_value"
#: The codecs that pack.
PACKS = (_SCALE, _CAST)
#: Stored values at which the last bits are compared: all there are of two bytes.
_COMPARED = 1 << 16


@dataclass(frozen=True, slots=True)
class Repacking:
    """Makes the elements of one array those of the other: by the codecs that just one of them has.

    Attributes
    ----------
    codecs
        In encoding order.
    unpacked, packed
        Types of the elements before all of them, and behind.
    packs
        It encodes.
    path
        Of the array, for what cannot be packed.
    """

    codecs: tuple[ByteCodec, ...]
    unpacked: np.dtype[Any]
    packed: np.dtype[Any]
    packs: bool
    path: str

    def __call__(self, values: Values) -> Values:
        """Return the elements of the other array."""
        if self.packs:
            return _encoded(self.codecs, values.astype(self.unpacked, copy=False), self.packed, self.path)
        return _decoded(self.codecs, values.astype(self.packed, copy=False), self.unpacked)


def without_packing(pipeline: CodecPipeline) -> tuple[tuple[Stage, ...], np.dtype[Any]]:
    """Return the stages of a pipeline behind those that pack numbers, and the type of what these store."""
    stages, dtype = pipeline.stages, pipeline.dtype
    while stages and isinstance(stages[0].codec, ScaleOffset | CastValue):
        dtype = stages[0].codec.stored if isinstance(stages[0].codec, CastValue) else dtype
        stages = stages[1:]
    return stages, dtype


@dataclass(frozen=True, slots=True)
class LastBits:
    """How far the values that codecs give are from those that attributes give.

    Attributes
    ----------
    packed, unpacked
        Types of what is stored, and of values.
    compared
        Stored numbers of which both were computed.
    differing
        Those of them whose values are not the same.
    largest
        The largest difference of two values.
    steps
        The same in units in the last place of the larger of both values.
    stored, by_attributes, by_codecs
        The stored number where values are furthest apart, and both values; those in the middle of all where
        none differ.
    """

    packed: np.dtype[Any]
    unpacked: np.dtype[Any]
    compared: int
    differing: int
    largest: float
    steps: int
    stored: int
    by_attributes: float
    by_codecs: float

    @property
    def possible(self) -> int:
        """All numbers that the type of what is stored has."""
        return 1 << (8 * self.packed.itemsize)

    def words(self) -> str:
        """Return in a few words how far they are apart."""
        if not self.differing:
            return "stored numbers stay, and so do the values"
        share = max(round(100 * self.differing / self.compared), 1)
        most = f"{self.largest:.2g}"
        return f"stored numbers stay, {share} % of the values differ in the last bits, by {most} at most"


@dataclass(frozen=True, slots=True)
class Repacked:
    """An array whose packing is said in the other way.

    Attributes
    ----------
    node
        The array.
    convert
        Gives its elements of those that it had; None where it stays as it is.
    losses
        What is told of it.
    last_bits
        How far values differ; None where it stays as it is.
    """

    node: ArrayNode
    convert: Repacking | None = None
    losses: tuple[str, ...] = ()
    last_bits: LastBits | None = None


class _KeptError(Exception):
    """The packing stays as it is said, and why."""


def repacked(node: ArrayNode, packing: str, *, has_codecs: bool) -> Repacked:
    """Return an array whose packing is said by codecs, by attributes, or as it is.

    Parameters
    ----------
    packing
        ``codecs``, ``attributes`` or ``keep``. What cannot be said so stays, and the losses tell why.
    has_codecs
        The target has codecs for it.
    """
    ways = {"codecs": _as_codecs, "attributes": _as_attributes}
    if packing not in ways:
        return Repacked(node)
    try:
        if packing == "codecs" and not has_codecs and any(name in node.attributes for name in SCALING):
            raise _KeptError("Zarr v2 has no codecs for it")
        return ways[packing](node) if has_codecs or packing == "attributes" else Repacked(node)
    except _KeptError as why:
        return Repacked(node, losses=(f"its packing stays: {why}",) if str(why) else ())


# Attributes become codecs


def _as_codecs(node: ArrayNode) -> Repacked:
    dtype = node.dtype
    if dtype is None or not any(name in node.attributes for name in SCALING):
        raise _KeptError
    if dtype.kind not in "iu" or dtype.itemsize > 4:
        raise _KeptError("only integers of at most 32 bits are packed by codecs")
    packing = Packing.of(node)
    if packing.ignored or packing.stored.kind != dtype.kind:
        unsaid = packing.ignored or ("_Unsigned",)
        raise _KeptError(f"the codecs cannot say {', '.join(unsaid)}")
    marks = list(packing.missing)
    if len(marks) > 1:
        raise _KeptError("several stored values stand for missing ones")
    unpacked = _float_type(node, dtype)
    specs = _specs(packing, dtype, unpacked, marks)
    codecs = _made(specs, unpacked)
    plain = dtype.newbyteorder("<")
    numbers = _some_numbers(plain)
    decoded = _decoded(codecs, numbers, unpacked)
    if not np.array_equal(_encoded(codecs, decoded, plain), numbers):
        raise _KeptError("its numbers are not those that the codecs would write again")
    fill = _fill(node, codecs, marks, unpacked)
    stored = codecs_v3(node)
    rest = [_spec(each) for each in (*stored.filters, stored.serializer, *stored.compressors)]
    attributes = {
        name: _bound(name, value, packing, codecs, unpacked) if name in _BOUNDS else value
        for name, value in node.attributes.items()
        if name not in (*SCALING, *MARKS)
    }
    made = replace(
        node,
        type=DataType.of(unpacked),
        fill_value=fill,
        fill_marks=False,
        attributes=attributes,
        attribute_types={name: each for name, each in node.attribute_types.items() if name not in _BOUNDS},
        format="zarr-v3",
        values=node.chunks.encoded_by((*specs, *rest), "C"),
    )
    told = f"{' and '.join(name for name in SCALING if name in node.attributes)} become codecs"
    convert = Repacking(codecs, unpacked, plain, packs=False, path=node.path)
    apart = _last_bits(packing, numbers, decoded)
    return Repacked(made, convert, (f"{told}: {apart.words()}", *stored.lost), apart)


def _float_type(node: ArrayNode, packed: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of unpacked values: short where the attributes are, and it has all packed numbers."""
    types = {node.attribute_types.get(name) for name in SCALING if name in node.attributes}
    return np.dtype("<f4" if types == {"float"} and packed.itemsize <= 2 else "<f8")


def _specs(
    packing: Packing, packed: np.dtype[Any], unpacked: np.dtype[Any], marks: list[Any]
) -> tuple[CodecSpec, ...]:
    with np.errstate(all="ignore"):
        scale = float(unpacked.type(1) / unpacked.type(packing.scale))
    offset = float(unpacked.type(packing.offset))
    if not np.isfinite([scale, offset]).all() or scale == 0:
        raise _KeptError("the codecs have no such scale")
    cast: dict[str, Any] = {"data_type": packed.newbyteorder("=").name, "rounding": "nearest-even"}
    if marks:
        mark = int(marks[0])
        cast["scalar_map"] = {"encode": [["NaN", mark]], "decode": [[mark, "NaN"]]}
    return CodecSpec(_SCALE, {"offset": offset, "scale": scale}), CodecSpec(_CAST, cast)


def _fill(node: ArrayNode, codecs: tuple[ByteCodec, ...], marks: list[Any], unpacked: np.dtype[Any]) -> Any:
    """Return what chunks hold that are not stored, unpacked; Zarr v3 needs it."""
    if node.fill_value is None and marks:
        return unpacked.type(np.nan)
    stored = np.full(1, 0 if node.fill_value is None else node.fill_value, node.known_dtype)
    return _decoded(codecs, stored.astype(stored.dtype.newbyteorder("<")), unpacked)[0]


def _bound(
    name: str, value: Any, packing: Packing, codecs: tuple[ByteCodec, ...], unpacked: np.dtype[Any]
) -> Any:
    """Return valid values, which attributes give as they are stored, as they are read."""
    if packing.bounds_are_physical:
        return value
    try:
        said = np.atleast_1d(np.asarray(value))
        with np.errstate(all="ignore"):
            numbers = said.astype(packing.stored.newbyteorder("<"))
        is_stored = said.dtype.kind in "iuf" and np.array_equal(numbers, said)
    except (TypeError, ValueError, OverflowError):
        is_stored = False
    if not is_stored:
        # Made to fit it would be another bound.
        raise _KeptError(f"its {name} is not of the numbers that are stored")
    found = _decoded(codecs, numbers, unpacked).tolist()
    return found if isinstance(value, list) else found[0]


def _last_bits(packing: Packing, numbers: Values, decoded: Values) -> LastBits:
    """Return how far values of the codecs are from those of the attributes."""
    unpacked = decoded.dtype
    of_attributes = numbers.astype(unpacked) * unpacked.type(packing.scale) + unpacked.type(packing.offset)
    has = np.isfinite(decoded) & np.isfinite(of_attributes)
    numbers, decoded, of_attributes = numbers[has], decoded[has], of_attributes[has]
    far = np.abs(decoded.astype("f8") - of_attributes.astype("f8"))
    if not far.size:
        return LastBits(packing.stored, unpacked, 0, 0, 0.0, 0, 0, 0.0, 0.0)
    at = int(far.argmax()) if far.any() else far.size // 2
    return LastBits(
        numbers.dtype,
        unpacked,
        far.size,
        int(np.count_nonzero(far)),
        float(far.max()),
        round(float(far[at] / np.spacing(max(abs(decoded[at]), abs(of_attributes[at]))))),
        int(numbers[at]),
        float(of_attributes[at]),
        float(decoded[at]),
    )


# Codecs become attributes


def _as_attributes(node: ArrayNode) -> Repacked:
    used = _packing_specs(node)
    unpacked = node.known_dtype.newbyteorder("<")
    codecs = _made(used, unpacked)
    packed: np.dtype[Any] = getattr(codecs[-1], "stored")  # noqa: B009 - of this codec alone
    if packed.kind not in "iu":
        raise _KeptError("it is not packed as integers")
    mark = _mark(used[-1])
    said = used[0].configuration if used[0].name == _SCALE else {}
    scale, offset = (unpacked.type(said.get(name, usual)) for name, usual in (("scale", 1), ("offset", 0)))
    with np.errstate(all="ignore"):
        factor = unpacked.type(1) / scale
    attributes = {**node.attributes, "scale_factor": float(factor), "add_offset": float(offset)}
    kind = "float" if unpacked.itemsize == 4 else "double"
    types = {**node.attribute_types, "scale_factor": kind, "add_offset": kind}
    if mark is not None:
        attributes["_FillValue"] = mark
    fill = node.fill_value
    made = replace(
        node,
        type=DataType.of(packed),
        fill_value=None if fill is None else _encoded(codecs, np.full(1, fill, unpacked), packed)[0],
        attributes=attributes,
        attribute_types=types,
        values=node.chunks.encoded_by(tuple(node.codecs[len(used) :]), "C"),
    )
    numbers = _some_numbers(packed)
    decoded = _decoded(codecs, numbers, unpacked)
    packing = Packing(packed, scale=float(factor), offset=float(offset))
    told = f"{' and '.join(spec.name for spec in used)} become attributes"
    convert = Repacking(codecs, unpacked, packed, packs=True, path=node.path)
    apart = _last_bits(packing, numbers, decoded)
    return Repacked(made, convert, (f"{told}: {apart.words()}",), apart)


def _packing_specs(node: ArrayNode) -> tuple[CodecSpec, ...]:
    """Return the codecs of an array that pack, in encoding order: the last one casts to integers."""
    specs = node.codecs
    if node.format != "zarr-v3" or not specs or node.dtype is None or specs[0].name not in PACKS:
        inner = without_shards(node).codecs[:1]
        is_inside = node.format == "zarr-v3" and any(spec.name in PACKS for spec in inner)
        raise _KeptError("its codecs are inside shards" if is_inside else "")
    used = tuple(spec for spec in specs[:2] if spec.name in PACKS)
    names = [spec.name for spec in used]
    if _CAST not in names or node.dtype.kind != "f":
        raise _KeptError("it is not packed as integers")
    if names == [_CAST, _SCALE]:
        raise _KeptError("it is scaled after it was made integers")
    if names == [_CAST, _CAST]:
        raise _KeptError("it is cast twice")
    return used


def _mark(cast: CodecSpec) -> int | None:
    """Return the stored value that stands for NaN; None where none does."""
    both: Any = cast.configuration.get("scalar_map") or {}
    encode, decode = both.get("encode") or [], both.get("decode") or []
    if not encode and not decode:
        return None
    plain = len(encode) == len(decode) == 1 and list(reversed(encode[0])) == decode[0]
    if not plain or encode[0][0] != "NaN" or type(encode[0][1]) is not int:
        raise _KeptError("attributes cannot say its map of values")
    return encode[0][1]


# Both


def _spec(codec: Any) -> CodecSpec:
    return CodecSpec(codec["name"], codec.get("configuration") or {})


def _made(specs: tuple[CodecSpec, ...], unpacked: np.dtype[Any]) -> tuple[ByteCodec, ...]:
    """Return codecs of elements, none of which but the last changes their type."""
    before = Elements(unpacked, Room.of(0))
    return tuple(byte_codec(spec.name, spec.configuration, before) for spec in specs)


def _decoded(codecs: tuple[ByteCodec, ...], stored: Values, unpacked: np.dtype[Any]) -> Values:
    data = flat_bytes(np.ascontiguousarray(stored))
    for codec in reversed(codecs):
        data = codec.decode(data, Room.of(stored.size * unpacked.itemsize), None)
    return data.view(unpacked).reshape(stored.shape)


def _encoded(codecs: tuple[ByteCodec, ...], values: Values, packed: np.dtype[Any], path: str = "") -> Values:
    data = flat_bytes(np.ascontiguousarray(values))
    try:
        for codec in codecs:
            data = codec.encode(data)
    except DecodeError as error:
        message = f"values cannot be packed: {error}"
        raise RefbrowserError(ErrorKind.DECODE, message, Place(path=path or None)) from None
    return data.view(packed).reshape(values.shape)


def _some_numbers(packed: np.dtype[Any]) -> Values:
    """Return all numbers of a type of two bytes; of longer ones as many, the ends included."""
    limits = np.iinfo(packed)
    count = min(_COMPARED, limits.max - limits.min + 1)
    return np.linspace(limits.min, limits.max, count).round().astype(packed)
