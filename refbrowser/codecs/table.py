"""The fixed table of codecs: the only ones that exist here, whatever is installed."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.codecs import checksums
from refbrowser.codecs.base import ByteCodec, Bytes, Room, Settings
from refbrowser.codecs.checksums import Checksum
from refbrowser.codecs.compressors import BZ2, LZ4, LZMA, Blosc, Zstd
from refbrowser.codecs.deflating import GZip, Zlib
from refbrowser.codecs.elements import Base64, BitRound, DType, Labels, NumcodecsElements, PackBits
from refbrowser.codecs.objects import (
    Json,
    LabelObjects,
    MessagePack,
    ObjectCodec,
    VLenArray,
    VLenBytes,
    VLenText,
)
from refbrowser.codecs.outside import MODULES, Outside, is_installed
from refbrowser.codecs.shuffling import Shuffle
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
_BLOSC_NAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy")

#: Which package brings a codec that is not in the table.
_ELSEWHERE = {
    "grib": "kerchunk (with eccodes)",
    "FITSAscii": "kerchunk",
    "FITSVarBintable": "kerchunk",
    "record_member": "kerchunk",
    "fill_hdf_strings": "kerchunk",
    "gribscan.rawgrib": "gribscan",
    "gribberish": "gribberish",
    "zfpy": "numcodecs[zfpy]",
    "pcodec": "numcodecs[pcodec]",
    "n5_wrapper": "zarr (its N5 store)",
    "blosc2": "blosc2",
    "wavpack": "wavpack-numcodecs",
    "flac": "flac-numcodecs",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A codec that is not known: a chunk that is stored raises `error`, others are never asked for."""

    error: RefbrowserError

    def encoded(self, room: Room) -> Room:
        """Return the room of anything."""
        return Room(None, LIMITS.chunk_size)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Raise the error."""
        raise self.error

    def encode(self, data: Bytes) -> Bytes:
        """Raise the error."""
        raise self.error


@dataclass(frozen=True, slots=True)
class Elements:
    """What stands before a codec when encoding: elements of `dtype`, or None after a compressor."""

    dtype: DType | None
    room: Room


def _level(settings: Settings, default: int, low: int, high: int) -> int:
    return settings.integer("level", default, low, high)


def _blosc(settings: Settings, before: Elements) -> ByteCodec:
    shuffle = settings.values.get("shuffle")
    if isinstance(shuffle, str):
        number = _SHUFFLES[settings.choice("shuffle", "shuffle", tuple(_SHUFFLES))]
    else:
        number = settings.integer("shuffle", 1, -1, 2)
    known = before.dtype.itemsize if before.dtype is not None else 1
    return Blosc(
        settings.choice("cname", "lz4", _BLOSC_NAMES),
        settings.integer("clevel", 5, 0, 9),
        number,
        settings.integer("blocksize", 0, 0, 2**31 - 1),
        min(settings.integer("typesize", known, 1, LIMITS.element_size), 255),
    )


def _lzma(settings: Settings, before: Elements) -> ByteCodec:
    container = settings.integer("format", lzma.FORMAT_XZ, lzma.FORMAT_XZ, lzma.FORMAT_RAW)
    filters = settings.values.get("filters")
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
    preset = settings.values.get("preset")
    return LZMA(
        container,
        settings.integer("check", -1, -1, 15),
        None if preset is None else settings.integer("preset", 6, 0, 9 | lzma.PRESET_EXTREME),
        None if filters is None else tuple(filters),
    )


def _delta(settings: Settings, before: Elements) -> ByteCodec:
    from numcodecs import Delta

    decoded = settings.dtype("dtype", "iuf", before.dtype)
    stored = settings.dtype("astype", "iuf", decoded)
    return NumcodecsElements(Delta(decoded, stored), decoded, stored)


def _scale_offset(settings: Settings, before: Elements) -> ByteCodec:
    from numcodecs import FixedScaleOffset

    decoded = settings.dtype("dtype", "iuf", before.dtype)
    stored = settings.dtype("astype", "iuf", decoded)
    scale, offset = settings.number("scale"), settings.number("offset")
    if scale == 0:
        raise settings.wrong("scale", "a number other than 0")
    return NumcodecsElements(FixedScaleOffset(offset, scale, decoded, stored), decoded, stored)


def _quantize(settings: Settings, before: Elements) -> ByteCodec:
    from numcodecs import Quantize

    decoded = settings.dtype("dtype", "f", before.dtype)
    stored = settings.dtype("astype", "f", decoded)
    return NumcodecsElements(
        Quantize(settings.integer("digits", 0, -400, 400), decoded, stored), decoded, stored
    )


def _as_type(settings: Settings, before: Elements) -> ByteCodec:
    from numcodecs import AsType

    stored = settings.dtype("encode_dtype", "biufc")
    decoded = settings.dtype("decode_dtype", "biufc", before.dtype)
    return NumcodecsElements(AsType(stored, decoded), decoded, stored)


def _shuffle(settings: Settings, before: Elements) -> ByteCodec:
    size = settings.integer("elementsize", 4, 0, LIMITS.element_size)
    # netcdf-c, also where it writes plain Zarr, leaves the size to the type: 0.
    known = before.dtype.itemsize if before.dtype is not None else 1
    return Shuffle(size or known)


def _bit_round(settings: Settings, before: Elements) -> ByteCodec:
    if before.dtype is None or before.dtype.kind != "f":
        raise RefbrowserError(ErrorKind.META, "codec 'bitround' works on floats only")
    return BitRound(settings.integer("keepbits", 52, 0, 52), before.dtype)


def _labels(settings: Settings) -> tuple[str, ...]:
    labels = settings.values.get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise settings.wrong("labels", "a list of texts")
    return tuple(labels)


def _categorize(settings: Settings, before: Elements) -> ByteCodec:
    decoded = settings.dtype("dtype", "U", before.dtype)
    if decoded.itemsize == 0:
        raise settings.wrong("dtype", "a type with room for text")
    return Labels(_labels(settings), decoded, settings.dtype("astype", "iu", np.dtype("u1")))


def _checksum(compute: Callable[[Any], int], location: str) -> Factory:
    def make(settings: Settings, before: Elements) -> ByteCodec:
        return Checksum(compute, settings.choice("location", location, ("start", "end")) == "end")

    return make


def _lookup3(settings: Settings, before: Elements) -> ByteCodec:
    if settings.values.get("prefix") is not None:
        raise settings.wrong("prefix", "null, the only one that is known")
    seed = settings.integer("initval", 0, 0, 2**32 - 1)
    return Checksum(lambda data: checksums.lookup3(data, seed), True)


def _outside(name: str) -> Factory:
    def make(settings: Settings, before: Elements) -> ByteCodec:
        if not is_installed(name):
            raise unknown(name)
        if before.dtype is None or before.dtype.kind not in "iuf":
            raise RefbrowserError(ErrorKind.META, f"codec {quoted(name)} works on numbers only")
        return Outside({**settings.values, "id": name}, before.dtype)

    return make


Factory = Callable[[Settings, Elements], ByteCodec]

_BYTE_CODECS: dict[str, Factory] = {
    "zlib": lambda settings, before: Zlib(_level(settings, 1, -1, 9)),
    "gzip": lambda settings, before: GZip(_level(settings, 1, -1, 9)),
    "zstd": lambda settings, before: Zstd(
        _level(settings, 1, -(2**17), 22), settings.values.get("checksum") is True
    ),
    "lz4": lambda settings, before: LZ4(settings.integer("acceleration", 1, -(2**31), 2**31 - 1)),
    "blosc": _blosc,
    "bz2": lambda settings, before: BZ2(_level(settings, 1, 1, 9)),
    "lzma": _lzma,
    "shuffle": _shuffle,
    "delta": _delta,
    "fixedscaleoffset": _scale_offset,
    "quantize": _quantize,
    "astype": _as_type,
    "bitround": _bit_round,
    "packbits": lambda settings, before: PackBits(),
    "categorize": _categorize,
    "base64": lambda settings, before: Base64(),
    "crc32": _checksum(checksums.crc32, "start"),
    "adler32": _checksum(checksums.adler32, "start"),
    "crc32c": _checksum(checksums.crc32c, "end"),
    "fletcher32": _checksum(checksums.fletcher32, "end"),
    "jenkins_lookup3": _lookup3,
    **{name: _outside(name) for name in MODULES},
}

_OBJECT_CODECS: dict[str, Callable[[Settings], ObjectCodec]] = {
    "vlen-utf8": lambda settings: VLenText(),
    "vlen-bytes": lambda settings: VLenBytes(),
    "vlen-array": lambda settings: VLenArray(settings.dtype("dtype", "biufcSUVmM")),
    "json2": lambda settings: Json(settings.choice("encoding", "utf-8", ("utf-8", "ascii", "latin-1"))),
    "msgpack2": lambda settings: MessagePack(settings.values.get("raw") is True),
    "categorize": lambda settings: LabelObjects(
        _labels(settings), settings.dtype("astype", "iu", np.dtype("u1"))
    ),
}

#: Array codecs of Zarr v3, which `refbrowser.codecs.pipeline` builds itself.
_V3_CODECS = ("bytes", "endian", "transpose", "sharding_indexed")


def known_codecs() -> tuple[str, ...]:
    """Return the names of all codecs of the table."""
    return tuple(sorted({*_BYTE_CODECS, *_OBJECT_CODECS, *_V3_CODECS}))


def is_known(name: str) -> bool:
    """Whether the codec is in the table."""
    return name in _BYTE_CODECS or name in _OBJECT_CODECS or name in _V3_CODECS


def is_object_codec(name: str) -> bool:
    """Whether the codec makes bytes of an array of objects."""
    return name in _OBJECT_CODECS


def byte_codec(name: str, configuration: Mapping[str, Any], before: Elements) -> ByteCodec:
    """Return the codec `name`.

    Raises
    ------
    RefbrowserError
        `META`: not in the table, or its configuration is wrong. `UNSAFE`: it would run code.
    """
    if name not in _BYTE_CODECS:
        raise unknown(name)
    return _BYTE_CODECS[name](Settings(name, configuration), before)


def codec_or_refusal(name: str, configuration: Mapping[str, Any], before: Elements) -> ByteCodec:
    """Return the codec `name`; for one that is not in the table, a codec that refuses each chunk.

    Raises
    ------
    RefbrowserError
        `META`: the configuration of a codec of the table is wrong.
    """
    if name in _BYTE_CODECS:
        return byte_codec(name, configuration, before)
    return Refusal(unknown(name))


def object_codec(name: str, configuration: Mapping[str, Any]) -> ObjectCodec:
    """Return the codec `name` of arrays of objects; raises as `byte_codec` does."""
    if name not in _OBJECT_CODECS:
        raise unknown(name)
    return _OBJECT_CODECS[name](Settings(name, configuration))


def unknown(name: str) -> RefbrowserError:
    """Return the error for a codec that is not in the table; it says which package brings it."""
    plain = name.removeprefix("numcodecs.")
    if plain == "pickle":
        return RefbrowserError(
            ErrorKind.UNSAFE,
            "codec 'pickle' runs code from the file when it decodes, and is refused",
            advice="Write the array again with vlen-utf8, vlen-bytes or json2",
        )
    if is_known(plain) and plain not in MODULES:
        return RefbrowserError(ErrorKind.META, f"codec {quoted(name)} cannot stand at this place")
    package = "imagecodecs" if plain.startswith("imagecodecs_") else _ELSEWHERE.get(plain)
    advice = (
        f"The package {package} brings it for numcodecs; refbrowser decodes with its own fixed table only"
        if package
        else "refbrowser decodes with its own fixed table only"
    )
    return RefbrowserError(ErrorKind.META, f"codec {quoted(name)} is not known", advice=advice)
