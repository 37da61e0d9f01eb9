"""Arguments of ``export`` that say how a store is laid out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

if TYPE_CHECKING:
    from refbrowser.exporting.store_options import Sides, StoreOptions


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    from refbrowser.exporting.store_options import codec_examples

    group = parser.add_argument_group("how a store is laid out; as its source is, where nothing is said")
    group.add_argument(
        "--chunks",
        metavar="SIDES",
        help="of all arrays with as many dimensions: 100,100 (: is a whole axis), or auto:8MiB",
    )
    group.add_argument(
        "--array-chunks",
        action="append",
        default=[],
        metavar="PATH=SIDES",
        help="of one array (repeatable)",
    )
    *codecs, last = codec_examples()
    group.add_argument("--codec", metavar="CODEC", help=f"{', '.join(codecs)} or {last}")
    group.add_argument("--shards", metavar="SIDES", help="shards of Zarr v3, as --chunks")
    group.add_argument(
        "--zip", action="store_true", help="write one zip file, as for a target that ends in .zip"
    )
    group.add_argument(
        "--zip-folder",
        metavar="NAME",
        default="",
        help="put all keys of a zip file below one folder, as netCDF needs them",
    )
    group.add_argument(
        "--no-array-dimensions", action="store_true", help="leave _ARRAY_DIMENSIONS out of NCZarr"
    )
    group.add_argument(
        "--split-compounds",
        action="store_true",
        help="write each field of a compound as a variable NAME_FIELD, opaque elements as bytes, in NCZarr",
    )
    group.add_argument(
        "--text-size", type=int, metavar="BYTES", help="of each text in NCZarr, which has fixed sizes"
    )


def store_options(arguments: argparse.Namespace) -> StoreOptions:
    """Return what the arguments say.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one has no meaning, alone or with the format.
    """
    from refbrowser.exporting.layout import STORE_FORMATS
    from refbrowser.exporting.request import STREAM_FORMAT
    from refbrowser.exporting.store_options import Sides, StoreOptions
    from refbrowser.exporting.table_options import TABLE_FORMATS

    zipped = arguments.zip or arguments.target.lower().endswith(".zip")
    options = StoreOptions(
        chunks=Sides.from_text(arguments.chunks) if arguments.chunks else None,
        array_chunks=dict(map(_array_chunks, arguments.array_chunks)),
        # The codecs of other formats are among their own options.
        codec=(arguments.format not in (STREAM_FORMAT, *TABLE_FORMATS) and arguments.codec) or "keep",
        shards=Sides.from_text(arguments.shards) if arguments.shards else None,
        container="zip" if zipped and arguments.format in STORE_FORMATS else "folder",
        zip_folder=arguments.zip_folder,
        array_dimensions=not arguments.no_array_dimensions,
        split_compounds=arguments.split_compounds,
        **({} if arguments.text_size is None else {"text_size": arguments.text_size}),
    )
    if arguments.format not in STORE_FORMATS and (options != StoreOptions() or arguments.zip):
        raise RefbrowserError(
            ErrorKind.USAGE, "chunks, codecs and containers are chosen for stores, not for this format"
        )
    if arguments.zip_folder and not zipped:
        raise RefbrowserError(ErrorKind.USAGE, "--zip-folder belongs to a zip file", advice="add --zip")
    _ = options.codec_choice
    return options


def _array_chunks(text: str) -> tuple[str, Sides]:
    from refbrowser.exporting.store_options import Sides

    path, equals, sides = text.rpartition("=")
    if not equals or not path:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not of the form PATH=SIDES")
    return "/" + path.strip("/"), Sides.from_text(sides)
