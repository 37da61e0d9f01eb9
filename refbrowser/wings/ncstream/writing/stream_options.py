"""The options of streams that are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.option_fields import CodecChoice, ExportOptions, size_of
from refbrowser.formats.option_fields import Item, Kind, Needs, documented, one_of, option

Profile = Literal["compatible", "full"]
PROFILES: tuple[Profile, ...] = ("compatible", "full")
#: Bytes of the tile of one message, at most, where nothing is said.
TILE_SIZE = 8 * 1024 * 1024
#: Level of deflate where the source is compressed and nothing is said: hardly slower than 1, and smaller.
KEPT_LEVEL = 3


def stream_codec(text: str) -> CodecChoice | None:
    """Return the codec that a user wrote, None for ``keep``; ``deflate`` is another word for ``zlib``.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: streams have no such codec.
    """
    name, colon, level = text.strip().partition(":")
    choice = CodecChoice.from_text(f"zlib{colon}{level}" if name == "deflate" else text)
    if choice is not None and choice.name not in ("zlib", "none"):
        message = f"streams have no codec {quoted(choice.name)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="known: keep, none, zlib:1")
    return choice


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions(ExportOptions):
    """How a stream is to be written."""

    heading = "options of ncstream; its --codec is keep, none or zlib:1"
    only = "profiles, tiles and checksums apply only to ncstream"
    called = "Stream"

    profile: Profile = field(
        default="full",
        metadata=option(
            "--stream-profile NAME",
            "compatible: for other readers, one message a variable; full: tiles, deflate, "
            "checksums (default)",
            about="``compatible``: what other readers understand, one message for each variable. ``full``: "
            "messages "
            "of bounded size, so that the file can be sent, appended to and read in parts.",
            kind=Kind.CHOICE,
            parse=one_of("profile", PROFILES),
            title="Profile of the stream",
            label="P&rofile",
            items=(
                Item(
                    "full",
                    "Full: tiles",
                    "Messages of bounded size: the file can be sent, appended to and read in parts.",
                ),
                Item(
                    "compatible",
                    "Compatible: for other readers",
                    "One message for each variable, which siphon and the Java readers understand.",
                ),
            ),
            place=(0, 0),
        ),
    )
    codec: str = field(
        default="keep",
        metadata=option(
            "--codec CODEC",
            "keep, none or zlib:1",
            about="``keep`` (deflate where the source is compressed, in the profile ``full``), ``none``, or "
            "``zlib:6``.",
            kind=Kind.CHOICE,
            title="Compression of the stream",
            label="Co&mpression",
            items=(
                Item("keep", "As in the source"),
                Item("none", "None"),
                Item("zlib:1", "deflate, fast"),
                Item("zlib:6", "deflate, small"),
            ),
            place=(1, 0),
        ),
    )
    tile_size: int = field(
        default=TILE_SIZE,
        metadata=option(
            "--tile-size SIZE",
            "elements of one message in the profile full, for example 8MiB",
            about="Bytes of the elements of one message, at most, in the profile ``full``.",
            parse=size_of,
            title="Size of the tiles, at most",
            label="&Tiles up to",
            widget="exportTileSize",
            hint="8 MiB",
            place=(0, 1),
            needs=Needs(
                "profile",
                "full",
                "--tile-size belongs to the profile full: compatible has one message for each variable",
            ),
        ),
    )
    checksum: bool | None = field(
        default=None,
        metadata=option(
            "--crc32",
            "add a checksum to each message (default: as in the profile)",
            about="Add the CRC-32 of each payload; None leaves it to the profile: ``full`` does.",
            kind=Kind.EITHER,
            title="Checksums (CRC-32)",
            label="Checksums (&CRC-32)",
            widget="exportChecksum",
            place=(1, 1),
            follows=("profile", "full"),
        ),
    )

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where streams have no such codec."""
        _ = stream_codec(self.codec)

    @property
    def is_compatible(self) -> bool:
        """Whether other readers must understand all of it."""
        return self.profile == "compatible"

    @property
    def has_checksums(self) -> bool:
        """Whether payloads have a CRC-32."""
        return not self.is_compatible if self.checksum is None else self.checksum

    def level(self, *, is_compressed: bool) -> int | None:
        """Return the level of deflate for an array, None where it is stored plain.

        Parameters
        ----------
        is_compressed
            The source is.
        """
        choice = stream_codec(self.codec)
        if choice is None:
            return KEPT_LEVEL if is_compressed and not self.is_compatible else None
        return int(choice.settings["level"]) or None if choice.name == "zlib" else None
