"""What makes a codec of the settings that metadata has, and of what stands before it."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from refbrowser.codecs.base import ByteCodec, DType, Room
from refbrowser.codecs.settings import Settings
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install
from refbrowser.model.fill_values import parse_fill_value


@dataclass(frozen=True, eq=False)
class Elements:
    """What stands before a codec when encoding: elements of `dtype`, or None after a compressor.

    `bits` are those of an element that has fewer than its bytes have; 0 of others. `shape` is that of a chunk
    before this codec where it is known.
    """

    dtype: DType | None
    room: Room
    bits: int = 0
    shape: tuple[int, ...] | None = None


# Classes are imported when a codec is first made: most datasets have one or two of them.


@cache
def class_of(name: str) -> Any:
    """Return a class of this package, given as ``module.Class``."""
    module, _, member = name.rpartition(".")
    return getattr(import_module(f"refbrowser.codecs.{module}"), member)


def made(name: str, *settings: str) -> Factory:
    """Return what makes a byte codec of a class from its settings, in their order."""
    return lambda read, before: class_of(name)(*(read[each] for each in settings))


def _of_numcodecs(codec: Any, decoded: DType, stored: DType) -> ByteCodec:
    from refbrowser.codecs.elements import NumcodecsElements

    return NumcodecsElements(codec, decoded, stored)


def blosc(settings: Settings, before: Elements) -> ByteCodec:
    """Make `compressors.Blosc`."""
    known = before.dtype.itemsize if before.dtype is not None else 1
    made: ByteCodec = class_of("compressors.Blosc")(
        settings["cname"],
        settings["clevel"],
        settings["shuffle"],
        settings["blocksize"],
        min(settings.integer("typesize", known, 1, LIMITS.element_size), 255),
    )
    return made


def lzma_codec(settings: Settings, before: Elements) -> ByteCodec:
    """Make `compressors.LZMA`."""
    from refbrowser.codecs.compressors import LZMA

    container = settings["format"]
    filters = settings["filters"]
    if filters is not None:
        if not isinstance(filters, list) or not 0 < len(filters) <= 4:
            raise settings.wrong("filters", "a list of at most 4 filters")
        for item in filters:
            if not isinstance(item, dict) or not all(type(value) is int for value in item.values()):
                raise settings.wrong("filters", "a list of filters with integers")
            if not 0 <= item.get("dict_size", 0) <= LIMITS.chunk_size:
                raise settings.wrong("filters", f"filters with dictionaries below {LIMITS.chunk_size} bytes")
    elif container == lzma.FORMAT_RAW:
        raise settings.wrong("filters", "a list, which the raw format needs")
    preset = None if settings["preset"] is None else settings.integer("preset", 6, 0, 9 | lzma.PRESET_EXTREME)
    return LZMA(container, settings["check"], preset, None if filters is None else tuple(filters))


def delta(settings: Settings, before: Elements) -> ByteCodec:
    """Make the filter of differences that numcodecs has."""
    from numcodecs import Delta

    decoded = settings.dtype("dtype", "iuf", before.dtype)
    stored = settings.dtype("astype", "iuf", decoded)
    return _of_numcodecs(Delta(decoded, stored), decoded, stored)


def scale_offset(settings: Settings, before: Elements) -> ByteCodec:
    """Make the filter of scale and offset."""
    from numcodecs import FixedScaleOffset

    decoded = settings.dtype("dtype", "iuf", before.dtype)
    stored = settings.dtype("astype", "iuf", decoded)
    scale, offset = settings.number("scale"), settings.number("offset")
    if scale == 0:
        raise settings.wrong("scale", "a number other than 0")
    return _of_numcodecs(FixedScaleOffset(offset, scale, decoded, stored), decoded, stored)


def quantize(settings: Settings, before: Elements) -> ByteCodec:
    """Make the filter that rounds to decimal digits."""
    from numcodecs import Quantize

    decoded = settings.dtype("dtype", "f", before.dtype)
    stored = settings.dtype("astype", "f", decoded)
    return _of_numcodecs(Quantize(settings.integer("digits", 0, -400, 400), decoded, stored), decoded, stored)


def as_type(settings: Settings, before: Elements) -> ByteCodec:
    """Make the filter that changes the type."""
    from numcodecs import AsType

    stored = settings.dtype("encode_dtype", "biufc")
    decoded = settings.dtype("decode_dtype", "biufc", before.dtype)
    return _of_numcodecs(AsType(stored, decoded), decoded, stored)


def shuffle(settings: Settings, before: Elements) -> ByteCodec:
    """Make `shuffling.Shuffle`."""
    size = settings.integer("elementsize", 4, 0, LIMITS.element_size)
    # netcdf-c, also where it writes plain Zarr, leaves the size to the type: 0.
    known = before.dtype.itemsize if before.dtype is not None else 1
    made: ByteCodec = class_of("shuffling.Shuffle")(size or known)
    return made


def bit_blocks(settings: Settings, before: Elements) -> ByteCodec:
    """Make `hdf5_blocks.BitBlocks`."""
    from refbrowser.codecs import hdf5_blocks

    size = settings.integer("elementsize", 1, 1, LIMITS.element_size)
    block = settings.integer("blocksize", 0, 0, LIMITS.chunk_size)
    names = {"none": hdf5_blocks.PLAIN, "lz4": hdf5_blocks.BY_LZ4, "zstd": hdf5_blocks.BY_ZSTD}
    return hdf5_blocks.BitBlocks(size, block, names[settings.choice("compressor", "none", tuple(names))])


def of_tiff(name: str) -> Factory:
    """Return what makes a compression of TIFF, by its name in `tiff_codes`."""
    return lambda settings, before: class_of("compressors.Runs")(name)


def predicted(kinds: str, *, of_bytes: bool) -> Factory:
    """Return what makes a predictor of TIFF for elements of some kinds."""

    def make(settings: Settings, before: Elements) -> ByteCodec:
        dtype = settings.dtype("dtype", kinds, before.dtype)
        shape = settings.values.get("shape") or (None if before.shape is None else list(before.shape))
        if not isinstance(shape, list) or not all(type(side) is int and side > 0 for side in shape):
            raise settings.wrong("shape", "a list of positive integers")
        if before.room.exact != prod(shape) * dtype.itemsize:
            raise settings.wrong("shape", "the shape of a chunk")
        axis = settings.integer("axis", -1, -len(shape), len(shape) - 1)
        settings.integer("dist", 1, 1, 1)
        made: ByteCodec = class_of("elements.Predicted")(
            tuple(shape), dtype, axis if axis < 0 else axis - len(shape), of_bytes
        )
        return made

    return make


def bit_round(settings: Settings, before: Elements) -> ByteCodec:
    """Make `elements.BitRound`."""
    from refbrowser.codecs.elements import BitRound

    dtype = _numbers_before("bitround", before)
    return BitRound(settings.integer("keepbits", 52, 0, 52), dtype)


def _numbers_before(codec: str, before: Elements) -> DType:
    """Return the type of the elements before a codec of numbers."""
    if before.dtype is None or before.dtype.kind not in "iuf":
        raise RefbrowserError(ErrorKind.META, f"codec {quoted(codec)} works on numbers only")
    return before.dtype


def value_scaling(settings: Settings, before: Elements) -> ByteCodec:
    """Make `casting.ScaleOffset`."""
    dtype = _numbers(settings, before, ("offset", "scale"))
    offset, scale = (_scalar(settings, name, dtype, usual) for name, usual in (("offset", 0), ("scale", 1)))
    if scale == 0:
        raise settings.wrong("scale", "a number other than 0")
    made: ByteCodec = class_of("casting.ScaleOffset")(dtype, offset, scale)
    return made


def value_cast(settings: Settings, before: Elements) -> ByteCodec:
    """Make `casting.CastValue`."""
    from refbrowser.codecs.casting import ROUNDINGS, CastValue

    decoded = _numbers(settings, before, ("data_type", "rounding", "out_of_range", "scalar_map"))
    stored = settings.dtype("data_type", "iuf")
    rounding = settings.choice("rounding", "nearest-even", tuple(ROUNDINGS))
    out_of_range = settings.choice("out_of_range", "", ("clamp", "wrap"))
    if out_of_range == "wrap" and stored.kind == "f":
        raise settings.wrong("out_of_range", "for floats: only integers wrap")
    mapped = (_mapped(settings, *each) for each in (("encode", decoded, stored), ("decode", stored, decoded)))
    return CastValue(decoded, stored, rounding, out_of_range, *mapped)


def _numbers(settings: Settings, before: Elements, members: tuple[str, ...]) -> DType:
    """Return the type of the numbers before a codec whose configuration has certain members only."""
    dtype = _numbers_before(settings.codec, before)
    for name in settings.values:
        if name not in members:
            raise settings.wrong(name, f"known: it has {', '.join(members)} only")
    return dtype


def _scalar(settings: Settings, name: str, dtype: DType, usual: Any) -> Any:
    """Return a member that is a value of a type, as fill values are spelled."""
    value = parse_fill_value(settings.values.get(name, usual), dtype)
    if value is None:
        raise settings.wrong(name, f"a value of type {dtype.name}")
    return value


def _mapped(settings: Settings, name: str, source: DType, target: DType) -> tuple[tuple[Any, Any], ...]:
    """Return one side of a map of values."""
    both: Any = settings.values.get("scalar_map") or {}
    pairs = both.get(name) or [] if isinstance(both, dict) else None
    if not isinstance(pairs, list) or len(pairs) > LIMITS.mapped_values:
        raise settings.wrong("scalar_map", f"lists of at most {LIMITS.mapped_values} pairs of values")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise settings.wrong("scalar_map", "lists of pairs of values")
    found = tuple((parse_fill_value(one, source), parse_fill_value(other, target)) for one, other in pairs)
    if any(value is None for pair in found for value in pair):
        raise settings.wrong("scalar_map", f"pairs of values of {source.name} and {target.name}")
    return found


def bit_packing(settings: Settings, before: Elements) -> ByteCodec:
    """Make `elements.BitPacking`."""
    from refbrowser.codecs.elements import BitPacking

    dtype = before.dtype
    if dtype is None or dtype.kind not in "biuf" or dtype.str[0] == ">":
        raise RefbrowserError(
            ErrorKind.META, "codec 'packbits' works on booleans and little-endian numbers only"
        )
    most = 0 if dtype.kind == "b" else (before.bits or 8 * dtype.itemsize) - 1
    first = settings.integer("first_bit", 0, 0, most)
    last = settings.integer("last_bit", most, first, most)
    padding = settings.choice("padding_encoding", "none", ("none", "first_byte", "last_byte"))
    return BitPacking(dtype, first, last, padding)


def labels_of(settings: Settings) -> tuple[str, ...]:
    """Return the labels in settings."""
    labels = settings.values.get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise settings.wrong("labels", "a list of texts")
    return tuple(labels)


def categorize(settings: Settings, before: Elements) -> ByteCodec:
    """Make `elements.Labels`."""
    from refbrowser.codecs.elements import Labels

    decoded = settings.dtype("dtype", "U", before.dtype)
    if decoded.itemsize == 0:
        raise settings.wrong("dtype", "a type with room for text")
    return Labels(labels_of(settings), decoded, settings.dtype("astype", "iu", np.dtype("u1")))


def checksum(function: str) -> Factory:
    """Return what makes a checksum, by its name in `checksums`."""
    return lambda settings, before: class_of("checksums.Checksum")(
        class_of(f"checksums.{function}"), settings["location"] == "end"
    )


def lookup3(settings: Settings, before: Elements) -> ByteCodec:
    """Make the checksum of Bob Jenkins."""
    from refbrowser.codecs.checksums import Checksum, lookup3

    if settings.values.get("prefix") is not None:
        raise settings.wrong("prefix", "null, the only supported value")
    seed = settings.integer("initval", 0, 0, 2**32 - 1)
    return Checksum(lambda data: lookup3(data, seed), True)


def outside(name: str) -> Factory:
    """Return what makes a codec of a package that is not bundled."""

    def make(settings: Settings, before: Elements) -> ByteCodec:
        from refbrowser.codecs.outside import Outside

        return Outside({**settings.values, "id": name}, _numbers_before(name, before))

    return make


def outside_image(name: str) -> Factory:
    """Return what makes a codec of imagecodecs, which knows what its bytes hold."""

    def make(settings: Settings, before: Elements) -> ByteCodec:
        from refbrowser.codecs.outside import Outside

        dtype = before.dtype or np.dtype(np.uint8)
        return Outside({**settings.values, "id": name}, dtype, before.shape or ())

    return make


#: The settings that each mode of zfp has.
_ZFP_MODES = {
    "reversible": (),
    "fixed_accuracy": ("tolerance",),
    "fixed_rate": ("rate",),
    "fixed_precision": ("precision",),
}


def zfp(settings: Settings, before: Elements) -> ByteCodec:
    """Make the codec of zfp without a header (zarr-extensions, codecs/zfp)."""
    from refbrowser.codecs.outside import Outside

    dtype, shape = before.dtype, before.shape
    if dtype is None or shape is None or dtype.str[1:] not in ("i4", "i8", "f4", "f8") or len(shape) > 4:
        message = "codec 'zfp' works on signed integers and floats of 32 and 64 bits, of at most 4 dimensions"
        raise RefbrowserError(ErrorKind.META, message)
    mode = settings.choice("mode", "", tuple(_ZFP_MODES))
    if not mode:
        raise settings.wrong("mode", f"one of {', '.join(_ZFP_MODES)}")
    numbers = {name: settings.number(name) for name in _ZFP_MODES[mode]}
    return Outside({"id": "zfp", "shape": shape or (1,), "settings": numbers}, dtype)


def grib(settings: Settings, before: Elements) -> ByteCodec:
    """Make the codec of kerchunk for messages of GRIB."""
    name = settings.values.get("var")
    if not isinstance(name, str):
        raise settings.wrong("var", "the name of what is read")
    # As kerchunk has it: an array of one of these names has the places of the points.
    is_place = name in _PLACES
    dtype = settings.dtype("dtype", "f", np.dtype("<f8" if is_place else "<f4"))
    return _by_eccodes({"key": f"{name}s" if is_place else "values"}, dtype)


def gribberish(settings: Settings, before: Elements) -> ByteCodec:
    """Make the codec of gribberish for messages of GRIB, which eccodes decodes."""
    name = settings.values.get("var")
    if before.dtype is None or before.dtype.kind != "f":
        raise RefbrowserError(ErrorKind.META, "codec 'gribberish' works on floats only")
    flags = {each: settings.values.get(each) is True for each in ("adjust_longitude_range", "north_up")}
    axis = name if name in _PLACES else None
    return _by_eccodes({"axis": axis, **flags}, before.dtype)


#: Names of arrays that have the places of the points of a message, not its values.
_PLACES = ("latitude", "longitude")


def _by_eccodes(asked: dict[str, Any], dtype: DType) -> ByteCodec:
    from refbrowser.codecs.outside import Outside

    if find_spec("eccodes") is None:
        raise RefbrowserError(
            ErrorKind.META,
            "messages of GRIB are decoded with eccodes, which is not installed",
            advice=to_install("refbrowser[grib]"),
        )
    return Outside({"id": "grib", **asked}, dtype)


Factory = Callable[[Settings, Elements], ByteCodec]
