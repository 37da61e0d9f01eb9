"""The one table of codecs: the only ones that exist here, whatever is installed, and what is known of each.

What is read and written in Zarr v2, v3 and the drafts, what exports, the command line and the dialog offer,
and what explanations say is made from it: a new codec is a row of `CODECS` and its class.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from refbrowser.codecs import makers
from refbrowser.codecs.base import ByteCodec, Bytes, Room
from refbrowser.codecs.lenders import OF_V2, OF_V3, lender_of, needs_permission
from refbrowser.codecs.makers import Elements, Factory
from refbrowser.codecs.settings import Flag, ItemSize, Number, NumberedWord, Setting, Settings, Word
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install

if TYPE_CHECKING:
    from refbrowser.codecs.objects import ObjectCodec

#: Codecs of images, of numbers and of bytes that imagecodecs has for numcodecs, and others for Zarr v3.
_IMAGES = (
    *("apng", "avif", "bmp", "ccittfax3", "ccittfax4", "ccittrle", "dds", "dicomrle", "eer", "gif", "heif"),
    *("htj2k", "jetraw", "jpeg", "jpeg2k", "jpegls", "jpegxl", "jpegxr", "jpegxs", "lerc", "ljpeg"),
    *("pixarlog", "png", "qoi", "rgbe", "spng", "tiff", "ultrahdr", "webp"),
    *("bitshuffle", "byteshuffle", "packints", "pcodec", "rcomp", "sperr", "sz3", "zfp"),
    *("aec", "blosc", "blosc2", "brotli", "bz2", "deflate", "lz4", "lz4f", "lzf", "lzfse", "lzham"),
    *("lzma", "lzo", "pglz", "snappy", "szip", "zlib", "zlibng", "zopfli"),
)
#: Which package brings a codec that is not in the table.
_ELSEWHERE = {
    **dict.fromkeys(("FITSAscii", "FITSVarBintable", "record_member", "fill_hdf_strings"), "kerchunk"),
    **dict.fromkeys(("htj2k", "nd_lift", "nd_zfp"), "nd-image-codecs"),
    "gribscan.rawgrib": "gribscan",
    "blosc2": "blosc2",
    "wavpack": "wavpack-numcodecs",
    "flac": "flac-numcodecs",
    "bitmap-index": "numcodecs-bitmap-index",
    "delta.binary": "numcodecs-delta",
    "replace.filter": "numcodecs-replace",
    "shuffle.typed-byte": "numcodecs-shuffle",
    "safeguards": "numcodecs-safeguards",
}
#: The same, by how the name begins.
_BY_PREFIX = {
    # One of them for Zarr v3, the other for v2.
    "imagecodecs_": "imagecodecs-zarr imagecodecs-numcodecs",
    "hcc-": "healpix-compress",
    "cft_zarr.": "cft-zarr",
    "combinators.": "numcodecs-combinators",
}


@dataclass(frozen=True, eq=False)
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


class Kind(StrEnum):
    """Between what a codec stands, in the words of Zarr v3."""

    ELEMENTS = "array to array"
    SERIALIZER = "array to bytes"
    BYTES = "bytes to bytes"


@dataclass(frozen=True, eq=False)
class Offer:
    """How exports offer a codec to a user.

    Attributes
    ----------
    example
        As the command line takes it: the name and the settings that are chosen, with colons between them.
    titles
        What lists show, by the text that stands before the level: ``blosc:lz4``.
    level
        That lists begin with.
    settings
        Names of the settings that can be chosen, in the order in which they are written.
    lowest
        Of the levels in lists, where that is more than what can be chosen.
    """

    example: str
    titles: Mapping[str, str]
    level: int
    settings: tuple[str, ...] = ("level",)
    lowest: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Codec:
    """A row of the table.

    Attributes
    ----------
    name
        In Zarr v2, which is that of numcodecs; of v3 where v2 has none.
    make
        Makes the byte codec of its settings and what stands before it; None of those that a pipeline knows.
    objects
        Makes what stores an array of objects; None of those that store none.
    settings
        Members of the configuration that more than the codec itself must know; all of them where Zarr v3 has
        the codec under a name of its own.
    v3
        Name under which it is written to Zarr v3; None: it is not.
    draft
        Options that the v3 draft of 2019 has for it; None: it is not in the draft.
    netcdf
        Whether every netCDF reads it, or those that were built with its plugin.
    offer
        What exports let a user choose; None: it is only kept where a source has it.
    holds
        Type of the objects that it stores, where it stores those of one type.
    begins
        Tells whether bytes begin as it writes them.
    is_filter
        It stands among the filters of Zarr v2 even where no compressor follows.
    is_ordered
        What it makes depends on the order of the elements: no transpose can come after it.
    is_of_axes
        Its configuration says something of each axis.
    only_decodes
        Nothing is encoded by it: what is stored anew has other codecs.
    only_v3
        Zarr v2 has none of it: there what is stored has other codecs.
    packs_bits
        It stores just the bits that a type has.
    least
        What it stores takes at least: decoded bytes that one of its bytes stands for at most (0: any number),
        and the bytes of its frame.
    stream
        Makes a decompressor that can stop anywhere.
    module
        Must be installed beside numcodecs, and decodes in a process of its own.
    package
        Brings that module, or the codec to other software.
    """

    name: str
    kind: Kind = Kind.BYTES
    make: Factory | None = None
    objects: Callable[[Settings], ObjectCodec] | None = None
    settings: tuple[Setting, ...] = ()
    v3: str | None = None
    draft: tuple[str, ...] | None = None
    netcdf: Literal["always", "plugin"] | None = None
    offer: Offer | None = None
    holds: str = ""
    begins: Callable[[bytes], bool] | None = None
    stream: Callable[[], Any] | None = None
    is_filter: bool = False
    is_ordered: bool = False
    is_of_axes: bool = False
    only_decodes: bool = False
    only_v3: bool = False
    packs_bits: bool = False
    least: tuple[int, int] = (0, 1)
    module: str = ""
    package: str = ""

    def setting(self, name: str) -> Setting:
        """Return a setting; one of which nothing is known where the table has none of that name."""
        return next((each for each in self.settings if each.name == name), Setting(name))

    @property
    def level(self) -> Number | None:
        """The level that a user may choose."""
        chosen = () if self.offer is None else map(self.setting, self.offer.settings)
        return next((each for each in chosen if isinstance(each, Number)), None)

    @property
    def is_of_numcodecs(self) -> bool:
        """Whether it is more than a word of Zarr v3 that pipelines know."""
        return self.make is not None or self.objects is not None

    @property
    def is_extension(self) -> bool:
        """Whether Zarr v3 has it only under the name that numcodecs gave it."""
        return self.v3 is not None and self.v3.startswith(PREFIX)


#: Stands before the names of numcodecs in metadata of Zarr v3.
PREFIX = "numcodecs."
_ACCELERATION = Number("acceleration", 1, low=-(2**31), high=2**31 - 1)
_LZMA_SETTINGS = (
    Number("format", lzma.FORMAT_XZ, decides=True, low=lzma.FORMAT_XZ, high=lzma.FORMAT_RAW),
    Number("check", -1, low=-1, high=15),
    Setting("preset"),
    Setting("filters", decides=True),
)
_BLOSC_SETTINGS = (
    Word("cname", "lz4", words=("lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy")),
    Number("clevel", 5),
    NumberedWord(
        "shuffle",
        "shuffle",
        words=("noshuffle", "shuffle", "bitshuffle"),
        of_bytes="bitshuffle",
        of_others="shuffle",
    ),
    ItemSize("typesize"),
    Number("blocksize", 0, high=2**31 - 1),
)
_AT_START = Word("location", "start", decides=True, words=("start", "end"))
_AT_END = Word("location", "end", decides=True, words=("start", "end"))
_TOLD_AT_END = Word("location", "end", decides=True, is_told=True, words=("start", "end"))

_ROWS = (
    # From bytes to bytes: compressors.
    Codec(
        name="zlib",
        least=(1032, 8),
        make=makers.made("deflating.Zlib", "level"),
        settings=(Number("level", 1, low=-1, least=0),),
        v3="numcodecs.zlib",
        draft=("level",),
        netcdf="always",
        offer=Offer("zlib:1", {"zlib": "zlib"}, 1),
        stream=zlib.decompressobj,
        # The usual window; both bytes together are a multiple of 31.
        begins=lambda head: len(head) > 1 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0,
    ),
    Codec(
        name="gzip",
        least=(1032, 18),
        make=makers.made("deflating.GZip", "level"),
        settings=(Number("level", 1, low=-1, least=0),),
        v3="gzip",
        draft=("level",),
        offer=Offer("gzip:5", {"gzip": "gzip"}, 5),
        begins=lambda head: head.startswith(b"\x1f\x8b"),
    ),
    Codec(
        name="zstd",
        least=(0, 9),
        make=makers.made("compressors.Zstd", "level", "checksum"),
        settings=(Number("level", 0, low=-(2**17), high=22, preferred=3), Flag("checksum", False)),
        v3="zstd",
        draft=("level",),
        netcdf="plugin",
        offer=Offer("zstd:3", {"zstd": "Zstandard"}, 3, lowest=-50),
        begins=lambda head: head.startswith(b"\x28\xb5\x2f\xfd"),
    ),
    Codec(
        name="blosc",
        least=(0, 16),
        make=makers.blosc,
        settings=_BLOSC_SETTINGS,
        v3="blosc",
        draft=("cname", "clevel", "shuffle", "blocksize"),
        netcdf="plugin",
        offer=Offer(
            "blosc:lz4:5:bitshuffle",
            {"blosc:lz4": "Blosc with LZ4", "blosc:zstd": "Blosc with Zstandard"},
            5,
            settings=("cname", "clevel", "shuffle"),
        ),
    ),
    Codec(
        name="lz4",
        least=(255, 5),
        make=makers.made("compressors.LZ4", "acceleration"),
        settings=(_ACCELERATION,),
        v3="numcodecs.lz4",
        draft=("acceleration",),
    ),
    Codec(
        name="bz2",
        least=(0, 14),
        make=makers.made("compressors.BZ2", "level"),
        settings=(Number("level", 1, low=1),),
        v3="numcodecs.bz2",
        draft=("level",),
        netcdf="plugin",
        stream=bz2.BZ2Decompressor,
    ),
    Codec(
        name="lzma",
        make=makers.lzma_codec,
        settings=_LZMA_SETTINGS,
        v3="numcodecs.lzma",
        draft=("preset",),
        stream=lambda: lzma.LZMADecompressor(memlimit=LIMITS.decoding_memory),
    ),
    # Those of TIFF, under the names that imagecodecs gives them for numcodecs.
    Codec(
        name="imagecodecs_zstd",
        make=makers.made("compressors.Zstd", "level", "checksum"),
        settings=(Number("level", 0, low=-(2**17), high=22), Flag("checksum", False)),
        package="imagecodecs",
        only_decodes=True,
    ),
    *(
        Codec(
            name=f"imagecodecs_{name}",
            make=makers.of_tiff(name),
            package="imagecodecs",
            only_decodes=True,
        )
        for name in ("lzw", "packbits")
    ),
    *(
        Codec(
            name=name,
            make=makers.outside_image(name),
            module="imagecodecs",
            package="imagecodecs",
            only_decodes=True,
        )
        for name in (f"imagecodecs_{each}" for each in _IMAGES)
    ),
    # Filters of HDF5: of LZ4 imagecodecs has the same, of bitshuffle nobody else.
    Codec(
        name="imagecodecs_lz4h5",
        make=makers.made("hdf5_blocks.Lz4Blocks"),
        package="imagecodecs",
        only_decodes=True,
    ),
    Codec(
        name="hdf5_bitshuffle",
        make=makers.bit_blocks,
        package="refbrowser",
        only_decodes=True,
    ),
    Codec(name="shuffle", make=makers.shuffle, v3="numcodecs.shuffle", netcdf="always", is_filter=True),
    Codec(name="base64", make=makers.made("elements.Base64")),
    # Checksums.
    Codec(name="crc32", make=makers.checksum("crc32"), settings=(_AT_START,), v3="numcodecs.crc32", draft=()),
    Codec(name="adler32", make=makers.checksum("adler32"), settings=(_AT_START,), v3="numcodecs.adler32"),
    # Zarr v3 has one of its own, which stands at the end only.
    Codec(name="crc32c", make=makers.checksum("crc32c"), settings=(_TOLD_AT_END,), v3="numcodecs.crc32c"),
    Codec(
        name="fletcher32",
        make=makers.checksum("fletcher32"),
        settings=(_AT_END,),
        v3="numcodecs.fletcher32",
        netcdf="always",
    ),
    Codec(name="jenkins_lookup3", make=makers.lookup3, v3="numcodecs.jenkins_lookup3"),
    # From array to array.
    Codec(name="delta", kind=Kind.ELEMENTS, make=makers.delta, v3="numcodecs.delta", is_ordered=True),
    Codec(
        name="fixedscaleoffset", kind=Kind.ELEMENTS, make=makers.scale_offset, v3="numcodecs.fixedscaleoffset"
    ),
    Codec(name="quantize", kind=Kind.ELEMENTS, make=makers.quantize, v3="numcodecs.quantize"),
    Codec(name="astype", kind=Kind.ELEMENTS, make=makers.as_type, v3="numcodecs.astype"),
    Codec(name="bitround", kind=Kind.ELEMENTS, make=makers.bit_round, v3="numcodecs.bitround"),
    # Only Zarr v3 has them (zarr-extensions).
    Codec(name="scale_offset", kind=Kind.ELEMENTS, make=makers.value_scaling, only_v3=True),
    Codec(name="cast_value", kind=Kind.ELEMENTS, make=makers.value_cast, only_v3=True),
    *(
        Codec(
            name=name,
            kind=Kind.ELEMENTS,
            make=make,
            is_ordered=True,
            package="imagecodecs",
            only_decodes=True,
        )
        for name, make in (
            ("imagecodecs_delta", makers.predicted("iuf", of_bytes=False)),
            ("imagecodecs_floatpred", makers.predicted("f", of_bytes=True)),
        )
    ),
    # Those of virtual-tiff; its sums are of the numbers that the bits are.
    Codec(
        name="HorizontalDeltaCodec",
        kind=Kind.ELEMENTS,
        make=makers.predicted("iuf", of_bytes=False),
        v3="virtual_tiff.HorizontalDeltaCodec",
        is_ordered=True,
        is_of_axes=True,
        package="virtual-tiff",
        only_decodes=True,
        only_v3=True,
    ),
    Codec(
        name="ChunkyCodec",
        kind=Kind.SERIALIZER,
        v3="virtual_tiff.ChunkyCodec",
        is_of_axes=True,
        package="virtual-tiff",
        only_decodes=True,
        only_v3=True,
    ),
    Codec(
        name="packbits",
        kind=Kind.ELEMENTS,
        make=makers.made("elements.PackBits"),
        v3="numcodecs.packbits",
        is_ordered=True,
    ),
    Codec(
        name="categorize",
        kind=Kind.ELEMENTS,
        make=makers.categorize,
        objects=lambda settings: makers.class_of("objects.LabelObjects")(
            makers.labels_of(settings), settings.dtype("astype", "iu", np.dtype("u1"))
        ),
    ),
    Codec(name="transpose", kind=Kind.ELEMENTS, is_of_axes=True),
    Codec(name="reshape", kind=Kind.ELEMENTS, is_of_axes=True, only_v3=True),
    # From array to bytes.
    Codec(name="bytes", kind=Kind.SERIALIZER),
    Codec(name="endian", kind=Kind.SERIALIZER),
    Codec(name="sharding_indexed", kind=Kind.SERIALIZER, is_of_axes=True),
    Codec(
        name="vlen-utf8",
        kind=Kind.SERIALIZER,
        objects=lambda settings: makers.class_of("objects.VLenText")(),
        v3="vlen-utf8",
        holds="string",
    ),
    Codec(
        name="vlen-bytes",
        kind=Kind.SERIALIZER,
        objects=lambda settings: makers.class_of("objects.VLenBytes")(),
        v3="vlen-bytes",
        holds="bytes",
    ),
    Codec(
        name="vlen-array",
        kind=Kind.SERIALIZER,
        objects=lambda settings: makers.class_of("objects.VLenArray")(settings.dtype("dtype", "biufcSUVmM")),
    ),
    Codec(
        name="json2",
        kind=Kind.SERIALIZER,
        objects=lambda settings: makers.class_of("objects.Json")(
            settings.choice("encoding", "utf-8", ("utf-8", "ascii", "latin-1"))
        ),
    ),
    Codec(
        name="msgpack2",
        kind=Kind.SERIALIZER,
        objects=lambda settings: makers.class_of("objects.MessagePack")(settings.values.get("raw") is True),
    ),
    Codec(
        name="pcodec",
        kind=Kind.SERIALIZER,
        make=makers.outside("pcodec"),
        v3="numcodecs.pcodec",
        module="pcodec",
        package="numcodecs[pcodec]",
    ),
    Codec(
        name="zfpy",
        kind=Kind.SERIALIZER,
        make=makers.outside("zfpy"),
        v3="numcodecs.zfpy",
        module="zfpy",
        # numcodecs cannot be imported beside 1.0.1.post0, whose version it takes for a number.
        package="zfpy==1.0.1",
    ),
    Codec(
        name="zfp",
        kind=Kind.SERIALIZER,
        make=makers.zfp,
        module="zfpy",
        package="zfpy==1.0.1",
        is_of_axes=True,
        only_v3=True,
    ),
    # These are made of others (`nested_codecs`).
    Codec(name="conditional", only_v3=True),
    Codec(name="n5_default", kind=Kind.SERIALIZER, is_of_axes=True, only_v3=True),
    # Zarr v2 has another codec of that name, among the filters.
    Codec(
        name="packbits of Zarr v3",
        kind=Kind.SERIALIZER,
        make=makers.bit_packing,
        v3="packbits",
        only_v3=True,
        packs_bits=True,
    ),
    Codec(name="grib", kind=Kind.SERIALIZER, make=makers.grib, only_decodes=True),
    Codec(name="gribberish", kind=Kind.SERIALIZER, make=makers.gribberish, only_decodes=True, only_v3=True),
)
#: The table, by name.
CODECS: dict[str, Codec] = {row.name: row for row in _ROWS}


def plain_name(name: str) -> str:
    """Return the name in the table of a codec as metadata of Zarr v3 names it; `name` where there is none."""
    own = next((row.name for row in CODECS.values() if row.only_v3 and row.v3 == name), None)
    if own is not None or name in CODECS:
        return own or name
    plain = name.removeprefix(PREFIX)
    if plain in CODECS:
        return plain if CODECS[plain].is_of_numcodecs else name
    return next((row.name for row in CODECS.values() if row.v3 == name), plain)


def codec_of_v3(name: str) -> Codec | None:
    """Return the row of a codec as metadata of Zarr v3 names it."""
    return CODECS.get(plain_name(name))


def known_codecs() -> tuple[str, ...]:
    """Return the names of all codecs of the table."""
    return tuple(sorted(CODECS))


def is_object_codec(name: str) -> bool:
    """Whether the codec makes bytes of an array of objects."""
    return name in CODECS and CODECS[name].objects is not None


def only_decodes(name: str) -> bool:
    """Whether nothing is encoded by the codec."""
    row = codec_of_v3(name)
    return row is not None and row.only_decodes


def codec_holding(type_name: str) -> str | None:
    """Return the name of the codec that stores objects of one type: ``string``, ``bytes`` or ``opaque``."""
    wanted = "bytes" if type_name == "opaque" else type_name
    return next((row.name for row in CODECS.values() if row.holds == wanted), None)


def held_type(name: str) -> str:
    """Return the type of the objects that a codec stores; empty where it stores none, or of any type."""
    return CODECS[name].holds if name in CODECS else ""


def begins_like(head: bytes) -> str:
    """Return the name of the codec as which bytes begin; empty where there is none."""
    return next((row.name for row in CODECS.values() if row.begins is not None and row.begins(head)), "")


def usual_configuration(name: str) -> dict[str, Any]:
    """Return the configuration of a codec in Zarr v2 with what absence of its settings means."""
    told = (each for each in CODECS[name].settings if not isinstance(each, Flag | ItemSize))
    return {"id": name} | {each.name: each.in_v2(each.absent) for each in told}


def offered() -> tuple[Codec, ...]:
    """Return the codecs that exports let a user choose."""
    return tuple(row for row in CODECS.values() if row.offer is not None)


def byte_codec(name: str, configuration: Mapping[str, Any], before: Elements) -> ByteCodec:
    """Return the codec `name`.

    Raises
    ------
    RefbrowserError
        `META`: not in the table, or its configuration is wrong. `UNSAFE`: it would run code.
    """
    row = CODECS.get(name)
    if row is None or row.make is None or (row.module and find_spec(row.module) is None):
        raise unknown(name)
    return row.make(Settings(name, configuration, row.settings), before)


def decoded_alone(name: str, data: Bytes, room: Room) -> Bytes:
    """Return what the function of Python that is called as a codec makes of bytes; raises as codecs do."""
    if name == "lzma":
        # To that function the bytes tell the format.
        codec: ByteCodec = makers.class_of("compressors.LZMA")(lzma.FORMAT_AUTO, -1, None, None)
    else:
        codec = byte_codec(name, {}, Elements(None, room))
    made = codec.decode(data, room, None)
    room.check(len(made))
    return made


def decompressor(name: str) -> Any:
    """Return a decompressor of a codec that can stop anywhere; None where there is none."""
    stream = CODECS[name].stream if name in CODECS else None
    return None if stream is None else stream()


def codec_or_refusal(name: str, configuration: Mapping[str, Any], before: Elements) -> ByteCodec:
    """Return the codec `name`; for one that a URI names, a codec that refuses each chunk.

    Metadata that names codecs by URIs keeps missing chunks of an array with an unknown one readable.

    Raises
    ------
    RefbrowserError
        `META`: there is no codec of that name, or its configuration is wrong.
    """
    return Refusal(unknown(name)) if ":" in name else byte_codec(name, configuration, before)


def object_codec(name: str, configuration: Mapping[str, Any]) -> ObjectCodec:
    """Return the codec `name` of arrays of objects; raises as `byte_codec` does."""
    row = CODECS.get(name)
    if row is None or row.objects is None:
        raise unknown(name)
    return row.objects(Settings(name, configuration, row.settings))


def unknown(name: str) -> RefbrowserError:
    """Return the error for a codec that is not in the table; it says which package brings it."""
    plain = plain_name(name)
    if plain == "pickle":
        return RefbrowserError(
            ErrorKind.UNSAFE,
            "codec 'pickle' runs code from the file when it decodes, and is refused",
            advice="Write the array again with vlen-utf8, vlen-bytes or json2",
        )
    row = CODECS.get(plain)
    if row is not None and not row.module:
        return RefbrowserError(ErrorKind.META, f"codec {quoted(name)} is not allowed here")
    if row is not None:
        return RefbrowserError(
            ErrorKind.META,
            f"codec {quoted(name)} needs the package {row.module}, which is not installed",
            advice=to_install(row.package),
        )
    lender = lender_of(name, OF_V3, OF_V2)
    if lender is not None:
        return needs_permission(name, lender)
    package = _package_of(plain)
    advice = (
        f"pip install {package} brings it, then --allow-codec {quoted(name)} lets it decode"
        if package
        else "no installed package has registered it with zarr or numcodecs"
    )
    return RefbrowserError(ErrorKind.META, f"codec {quoted(name)} is not known", advice=advice)


def _package_of(name: str) -> str:
    """Return the package that brings a codec which is not of the table; empty where none is known."""
    begun = next((package for start, package in _BY_PREFIX.items() if name.startswith(start)), "")
    return _ELSEWHERE.get(name, begun)
