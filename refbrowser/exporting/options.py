"""The options of each format that is written: one field for each option."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.option_fields import CodecChoice, ExportOptions, Sides, codec_examples, size_of
from refbrowser.formats.option_fields import Item, Kind, Needs, documented, one_of, option

# Stores

_NCZARR_ONLY = "_ARRAY_DIMENSIONS and compounds: only for NCZarr"


def _array_chunks(text: str) -> tuple[str, Sides]:
    path, equals, sides = text.rpartition("=")
    if not equals or not path:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not of the form PATH=SIDES")
    return "/" + path.strip("/"), Sides.from_text(sides)


def _codecs() -> str:
    *codecs, last = codec_examples()
    return f"{', '.join(codecs)} or {last}"


Packing = Literal["keep", "codecs", "attributes"]


def packing_option(**more: Any) -> Any:
    """Return the option that says how packed numbers are told; `more` is where a dialog has it."""
    return option(
        "--packing KIND",
        "codecs writes scale_factor and add_offset as the codecs scale_offset and cast_value of Zarr v3, "
        "attributes the other way round (default: keep)",
        about="How packed numbers are told: by attributes (``scale_factor``, ``add_offset``, ``_FillValue``) "
        "or by codecs of Zarr v3 (``scale_offset``, ``cast_value``). Stored numbers stay; the report tells "
        "how far values differ in the last bits.",
        kind=Kind.CHOICE,
        parse=one_of("packing", ("keep", "codecs", "attributes")),
        title="How packed numbers are told",
        label="Pac&king",
        items=(
            Item("keep", "As in the source"),
            Item("codecs", "By codecs of Zarr v3"),
            Item("attributes", "By attributes, as CF has it"),
        ),
        **more,
    )


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions(ExportOptions):
    """How a store is to be laid out; as the source is, where nothing else is said."""

    heading = "layout of a store (default: as in the source)"
    only = "chunks, codecs and containers apply to stores, not to this format"
    called = ""

    chunks: Sides | None = field(
        default=None,
        metadata=option(
            "--chunks SIDES",
            "of all arrays with as many dimensions: 100,100 (: or * is a whole axis), auto:8MiB, or in "
            "zarr-v3 and icechunk the edges of unequal chunks, [31,28,31],*",
            about="Of all arrays; a shape is that of arrays with as many dimensions, others keep their "
            "chunks.",
            kind=Kind.SIDES,
            parse=Sides.from_text,
            title="Chunks",
            label="C&hunks",
            keep="As in the source",
            place=(1, 0),
        ),
    )
    array_chunks: Mapping[str, Sides] = field(
        default_factory=dict,
        metadata=option(
            "--array-chunks PATH=SIDES",
            "of one array (repeatable)",
            about="Of single arrays, by absolute path; takes precedence over `chunks`.",
            kind=Kind.ARRAYS,
            parse=_array_chunks,
            title="Chunks",
        ),
    )
    codec: str = field(
        default="keep",
        metadata=option(
            "--codec CODEC",
            _codecs,
            about="As `CodecChoice.from_text` takes it; it replaces every filter and compressor.",
            kind=Kind.CODEC,
            values=codec_examples,
            title="Compression",
            label="Co&mpression",
            place=(2, 0),
        ),
    )
    shards: Sides | None = field(
        default=None,
        metadata=option(
            "--shards SIDES",
            "shards of Zarr v3, as --chunks",
            about="Of all arrays with as many dimensions, Zarr v3 only; None keeps those of the source "
            "where its "
            "chunks stay as they are.",
            kind=Kind.SIDES,
            parse=Sides.from_text,
            title="Shards",
            label="Sha&rds",
            keep="None but those of the source",
            place=(1, 1),
            formats=("zarr-v3",),
            otherwise="Shards: only Zarr version 3 has them",
        ),
    )
    packing: Packing = field(
        default="keep",
        metadata=packing_option(
            place=(3, 0),
            formats=("zarr-v2", "zarr-v3"),
            otherwise="Packing: only Zarr has codecs for it",
        ),
    )
    container: Literal["folder", "zip"] = field(
        default="folder",
        metadata=option(
            "--container KIND",
            "folder, or zip: one zip file, as for a target that ends in .zip (--zip for short)",
            about="A folder, or one zip file.",
            kind=Kind.CHOICE,
            parse=one_of("container", ("folder", "zip")),
            title="Container",
            label="C&ontainer",
            items=(Item("folder", "Folder"), Item("zip", "Zip file")),
            place=(0, 0),
        ),
    )
    zip_folder: str = field(
        default="",
        metadata=option(
            "--zip-folder NAME",
            "put all keys of a zip file below one folder, as netCDF needs them",
            about="Folder within the zip file for all keys; empty: keys are at the top, as "
            "zarr-python "
            "needs them (netCDF needs one folder).",
            kind=Kind.CHOICE,
            title="Keys in the zip file",
            label="&Keys",
            widget="exportZipKeys",
            tip="zarr-python needs keys at the top, netCDF below one folder; both open here",
            items=(Item("", "At the top"), Item("{name}", "Below one folder")),
            place=(0, 1),
            needs=Needs("container", "zip", "--zip-folder belongs to a zip file", "add --zip"),
            otherwise="Keys: chosen for zip files only",
        ),
    )
    array_dimensions: bool = field(
        default=True,
        metadata=option(
            "--no-array-dimensions",
            "leave _ARRAY_DIMENSIONS out of NCZarr",
            about="Write ``_ARRAY_DIMENSIONS`` where the format has another place for the names of "
            "dimensions (NCZarr).",
            kind=Kind.TICK,
            means=False,
            title="Write _ARRAY_DIMENSIONS, for xarray",
            label="&Write _ARRAY_DIMENSIONS, for xarray",
            place=(2, 1),
            formats=("nczarr",),
            otherwise=_NCZARR_ONLY,
        ),
    )
    split_compounds: bool = field(
        default=False,
        metadata=option(
            "--split-compounds",
            "write each field of a compound as a variable NAME_FIELD, opaque elements as bytes, in NCZarr",
            about="Write each field of a compound as a separate array, and opaque elements as bytes, "
            "where the "
            "format has no such types (NCZarr).",
            kind=Kind.TICK,
            means=True,
            title="Split compounds into variables, one for each field",
            label="Sp&lit compounds into variables",
            tip="NCZarr has no compounds, complex numbers or opaque elements, and netCDF refuses a dataset "
            "with them: each field becomes a variable, opaque elements become bytes",
            place=(3, 1),
            formats=("nczarr",),
            otherwise=_NCZARR_ONLY,
        ),
    )
    text_size: int = field(
        default=128,
        metadata=option(
            "--text-size BYTES",
            "of each text in NCZarr, which has fixed sizes",
            about="Bytes of each text where the format has texts of fixed size only and the source tells "
            "none (NCZarr).",
            kind=Kind.NUMBER,
            unit="bytes",
            formats=("nczarr",),
        ),
    )

    @classmethod
    def completed(cls, values: dict[str, Any], target: str) -> dict[str, Any]:
        """Return values with the container: a store whose name ends so is a zip file."""
        return {"container": "zip" if target.lower().endswith(".zip") else "folder"} | values

    @classmethod
    def ending(cls, said: Mapping[str, Any]) -> str:
        """Return what the name of a zip file ends with."""
        return ".zip" if said.get("container") == "zip" else ""

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where there is no such codec."""
        _ = self.codec_choice

    @property
    def codec_choice(self) -> CodecChoice | None:
        """The codec of all arrays; None where each keeps its own."""
        return CodecChoice.from_text(self.codec)

    def sides_of(self, path: str, shape: tuple[int, ...]) -> Sides | None:
        """Return what is said of the chunks of an array, None where they stay.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the array has another number of dimensions.
        """
        own = self.array_chunks.get(path)
        if own is None:
            return self.chunks if self.chunks is not None and self.chunks.fits(shape) else None
        if not own.fits(shape):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"chunks of {len(own.shape)} dimensions for an array of {len(shape)}",
                Place(path=path),
            )
        return own

    def as_json(self) -> dict[str, Any]:
        """Return the options as plain JSON values: equal options give equal text."""

        def plain(sides: Sides | None) -> Any:
            return None if sides is None else [list(sides.shape), sides.size]

        return {
            "chunks": plain(self.chunks),
            "array_chunks": {path: plain(sides) for path, sides in sorted(self.array_chunks.items())},
            "codec": self.codec,
            "shards": plain(self.shards),
            "packing": self.packing,
            "container": self.container,
            "zip_folder": self.zip_folder,
            "array_dimensions": self.array_dimensions,
            "split_compounds": self.split_compounds,
            "text_size": self.text_size,
        }


# Tables

#: Bytes of the rows of one row group or record batch, uncompressed, at most.
GROUP_SIZE = 64 * 1024 * 1024
#: Codecs of each format, with the levels that they have; the first is the usual one.
TABLE_CODECS: dict[str, dict[str, tuple[int, int] | None]] = {
    "parquet": {
        "zstd": (1, 22),
        "snappy": None,
        "gzip": (1, 9),
        "brotli": (1, 11),
        "lz4": None,
        "none": None,
    },
    "feather": {"lz4": None, "zstd": (1, 22), "none": None},
}


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions(ExportOptions):
    """How tables are to be written."""

    heading = (
        "options of parquet and feather; their --codec is keep, none, zstd:3 or lz4, in parquet also snappy"
    )
    only = "sizes of groups and plain types apply only to parquet and feather"
    called = "Table"
    foot = (
        "Arrays of equal length become columns of one file. Others go to a folder, a file for each; "
        "a line below says so before."
    )

    codec: str = field(
        default="keep",
        metadata=option(
            "--codec CODEC",
            "keep, none, zstd:3, lz4; snappy too in parquet",
            about="``keep`` (the usual one of the format), ``none``, ``zstd:3``, ``snappy``...: "
            "`TABLE_CODECS`.",
            kind=Kind.CHOICE,
            title="Compression of the columns",
            label="Co&mpression",
            items=(
                Item("keep", "Default (Zstandard)", formats=("parquet",)),
                Item("snappy", "Snappy, fast", formats=("parquet",)),
                Item("zstd:9", "Zstandard, small", formats=("parquet",)),
                Item("gzip", "gzip", formats=("parquet",)),
                Item("keep", "Default (LZ4)", formats=("feather",)),
                Item("zstd", "Zstandard, small", formats=("feather",)),
                Item("none", "None"),
            ),
            place=(0, 0),
        ),
    )
    group_size: int = field(
        default=GROUP_SIZE,
        metadata=option(
            "--group-size SIZE",
            "rows of one row group or record batch, uncompressed, for example 64MiB",
            about="Bytes of the rows that are written together, uncompressed: a row group or record batch.",
            parse=size_of,
            title="Size of the rows that are written together",
            label="&Rows together",
            widget="exportTableGroup",
            hint="64 MiB",
            tip="A row group or record batch, before it is compressed: for example 16MiB",
            place=(0, 1),
        ),
    )
    awkward_types: bool = field(
        default=True,
        metadata=option(
            "--plain-types",
            "leave out type information that only awkward reads: names of records, tuples",
            about="Write the types that awkward has beyond those of Arrow (names of records, tuples) beside "
            "the "
            "columns, so that ``awkward.from_parquet`` gives the same type; other readers ignore them.",
            kind=Kind.TICK,
            means=False,
            title="Keep the names of records, for awkward",
            label="Keep the names of &records, for awkward",
            widget="exportTableTypes",
            tip="What Arrow cannot express is stored beside the columns; other readers ignore it",
            place=(1, 0),
            is_wide=True,
        ),
    )

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where a format has no such codec."""
        _ = self.codec_of(format)

    def codec_of(self, format: str) -> tuple[str, int | None]:
        """Return the name and the level of the codec for a format, the level None for the usual one.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the format has no such codec.
        """
        known = TABLE_CODECS[format]
        if self.codec.strip() == "keep":
            return next(iter(known)), None
        name, colon, level = self.codec.strip().partition(":")
        levels = known.get(name)
        if name in known and not colon:
            return name, None
        if levels is not None and re.fullmatch("[0-9]{1,2}", level) and levels[0] <= int(level) <= levels[1]:
            return name, int(level)
        shown = (f"{each}:{most[1]}" if most else each for each, most in known.items())
        message = f"{quoted(self.codec)} is not a codec of {format}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: keep, {', '.join(shown)}")
