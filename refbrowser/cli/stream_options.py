"""Arguments of ``export`` that say how a stream is written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError

if TYPE_CHECKING:
    from refbrowser.exporting.stream_options import StreamOptions


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("how ncstream is written; its --codec is keep, none or zlib:1")
    group.add_argument(
        "--stream-profile",
        metavar="NAME",
        help="compatible: for other readers, one message a variable; full: tiles, deflate, checksums (usual)",
    )
    group.add_argument(
        "--tile-size", metavar="SIZE", help="elements of one message in the profile full, for example 8MiB"
    )
    group.add_argument(
        "--crc32",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="tell the checksum of each message; as the profile says, where nothing is said",
    )


def stream_options(arguments: argparse.Namespace) -> StreamOptions:
    """Return what the arguments say.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one has no meaning, alone or with the format.
    """
    from refbrowser.exporting.request import STREAM_FORMAT
    from refbrowser.exporting.stream_options import (
        StreamOptions,
        profile_of,
        stream_codec,
        tile_size_of,
    )

    if arguments.format != STREAM_FORMAT:
        if arguments.stream_profile or arguments.tile_size or arguments.crc32 is not None:
            message = "profiles, tiles and checksums are chosen for ncstream only"
            raise RefbrowserError(ErrorKind.USAGE, message)
        return StreamOptions()
    _ = stream_codec(arguments.codec or "keep")
    profile = profile_of(arguments.stream_profile or "full")
    if arguments.tile_size and profile != "full":
        message = "--tile-size belongs to the profile full: compatible has one message for each variable"
        raise RefbrowserError(ErrorKind.USAGE, message)
    usual = StreamOptions()
    return StreamOptions(
        profile=profile,
        codec=arguments.codec or usual.codec,
        tile_size=tile_size_of(arguments.tile_size) if arguments.tile_size else usual.tile_size,
        checksum=arguments.crc32,
    )
