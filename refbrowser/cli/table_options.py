"""Arguments of ``export`` that say how Parquet and Feather are written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError

if TYPE_CHECKING:
    from refbrowser.exporting.table_options import TableOptions


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group(
        "how parquet and feather are written; their --codec is keep, none, zstd:3, lz4; snappy too in parquet"
    )
    group.add_argument(
        "--group-size",
        metavar="SIZE",
        help="rows of one row group or record batch, uncompressed, for example 64MiB",
    )
    group.add_argument(
        "--plain-types",
        action="store_true",
        help="leave out what only awkward knows of types: names of records, tuples",
    )


def table_options(arguments: argparse.Namespace) -> TableOptions:
    """Return what the arguments say.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one has no meaning, alone or with the format.
    """
    from refbrowser.exporting.table_options import TABLE_FORMATS, TableOptions, group_size_of

    usual = TableOptions()
    if arguments.format not in TABLE_FORMATS:
        if arguments.group_size or arguments.plain_types:
            message = "sizes of groups and plain types are chosen for parquet and feather only"
            raise RefbrowserError(ErrorKind.USAGE, message)
        return usual
    options = TableOptions(
        codec=arguments.codec or usual.codec,
        group_size=group_size_of(arguments.group_size) if arguments.group_size else usual.group_size,
        awkward_types=not arguments.plain_types,
    )
    _ = options.codec_of(arguments.format)
    return options
