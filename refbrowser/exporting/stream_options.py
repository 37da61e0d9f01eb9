"""How a stream is to be written: for whom, in which tiles, compressed or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.store_options import CodecChoice, Sides

Profile = Literal["compatible", "full"]
PROFILES: tuple[Profile, ...] = ("compatible", "full")
#: Bytes of the tile of one message, at most, where nothing is said.
TILE_SIZE = 8 * 1024 * 1024
#: Level of deflate where the source is compressed and nothing is said: hardly slower than 1, and smaller.
KEPT_LEVEL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a stream is to be written.

    Attributes
    ----------
    profile
        ``compatible``: what other readers understand, one message for each variable. ``full``: messages of
        bounded size, so that the file can be sent, appended to and read in parts.
    codec
        ``keep`` (deflate where the source is compressed, in the profile ``full``), ``none``, or ``zlib:6``.
    tile_size
        Bytes of the elements of one message, at most, in the profile ``full``.
    checksum
        Tell the CRC-32 of each payload; None leaves it to the profile: ``full`` does.
    """

    profile: Profile = "full"
    codec: str = "keep"
    tile_size: int = TILE_SIZE
    checksum: bool | None = None

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


def profile_of(text: str) -> Profile:
    """Return the profile of a name.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    for profile in PROFILES:
        if text == profile:
            return profile
    message = f"there is no profile {quoted(text)}"
    raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(PROFILES)}")


def tile_size_of(text: str) -> int:
    """Return the bytes that a user wrote: ``8MiB``.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no size.
    """
    return Sides.from_text(f"auto:{text}").size
