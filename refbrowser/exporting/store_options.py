"""How a store is laid out by an export: chunks, codec, shards, container."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

from refbrowser.codecs.table import CODECS, Codec, offered
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

#: Bytes of a chunk or shard whose size is only said to be ``auto``.
AUTO_SIZE = 8 * 1024 * 1024
_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 1000, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"([0-9]{1,15})\s*([A-Za-z]*)\Z")


@dataclass(frozen=True, slots=True)
class Sides:
    """The shape of chunks or shards, by number or by size.

    Attributes
    ----------
    shape
        The sides; -1 is the whole axis. Empty where the size decides.
    size
        Bytes of a decoded chunk, at most; 0 where `shape` decides.
    """

    shape: tuple[int, ...] = ()
    size: int = 0

    @classmethod
    def from_text(cls, text: str) -> Sides:
        """Return the sides that a user wrote: ``100,100``, ``1,:,:``, ``auto`` or ``auto:8MiB``.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        name, colon, size = text.partition(":")
        if name.strip() == "auto":
            return cls(size=_size(size) if colon else AUTO_SIZE)
        parts = ["-1" if part.strip() == ":" else part.strip() for part in text.split(",")]
        if not all(re.fullmatch(r"-1|[1-9][0-9]{0,17}", part) for part in parts):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{quoted(text)} is not a chunk shape",
                advice="write 100,100 or auto:8MiB; : is a whole axis",
            )
        return cls(tuple(map(int, parts)))

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Tell whether these sides can be those of an array of `shape`."""
        return bool(self.size) or len(self.shape) == len(shape)

    def within(self, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
        """Return the chunk shape for an array of `shape`; no side reaches over the array."""
        if not self.size:
            return tuple(
                max(1, length if side < 0 else min(side, length))
                for side, length in zip(self.shape, shape, strict=True)
            )
        return _halved(tuple(max(1, length) for length in shape), max(1, self.size // max(1, itemsize)))

    def tiled(self, shape: tuple[int, ...], chunks: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
        """Return the shard shape for an array of `shape` and inner `chunks`, a whole number of them.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the shape is no multiple of the chunks.
        """
        most = tuple(max(1, -(-length // side)) for length, side in zip(shape, chunks, strict=True))
        if self.size:
            counts = _halved(most, max(1, self.size // max(1, prod(chunks) * itemsize)))
            return tuple(count * side for count, side in zip(counts, chunks, strict=True))
        whole = [
            count * side if given < 0 else given
            for given, count, side in zip(self.shape, most, chunks, strict=True)
        ]
        if any(given % side for given, side in zip(whole, chunks, strict=True)):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"shards of shape {whole} are no multiple of chunks of shape {list(chunks)}",
                advice="choose shards that hold a whole number of chunks along each axis",
            )
        return tuple(min(given, count * side) for given, count, side in zip(whole, most, chunks, strict=True))


def _size(text: str) -> int:
    match = _SIZE.match(text.strip())
    unit = _UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None or not int(match[1]):
        raise RefbrowserError(
            ErrorKind.USAGE, f"{quoted(text)} is not a size", advice="write for example 8MiB"
        )
    return int(match[1]) * unit


def _halved(sides: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Return sides with a product of at most `most`: the longest is halved until they fit."""
    found = list(sides)
    while prod(found) > most and max(found) > 1:
        axis = found.index(max(found))
        found[axis] = -(-found[axis] // 2)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CodecChoice:
    """How chunks are compressed: one byte codec, or none.

    Attributes
    ----------
    name
        That of a codec which the table offers, or ``none``.
    settings
        Those that the table lets a user choose, in the words of Zarr v3.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> CodecChoice | None:
        """Return the codec that a user wrote, None for ``keep``.

        As `codec_examples` writes them; what follows the name may be left out.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        name, *rest = text.strip().split(":")
        if name == "keep" and not rest:
            return None
        if name == "none" and not rest:
            return cls("none")
        row = CODECS.get(name)
        if row is not None and row.offer is not None and len(rest) <= len(row.offer.settings):
            known = [row.setting(each) for each in row.offer.settings]
            settings = {each.name: each.chosen(said) for each, said in zip(known, rest, strict=False)}
            if None not in settings.values():
                return cls(name, {each.name: settings.get(each.name, each.usual) for each in known})
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(text)} is not a codec that can be chosen",
            advice=f"known: {', '.join(codec_examples())}",
        )


def has_codec(format: str, codec: Codec) -> bool:
    """Whether a format of stores can be written with a codec; the others take all that Zarr v2 has."""
    return {"zarr-v3": codec.v3, "zarr-v3-draft": codec.draft}.get(format, codec.name) is not None


def codec_examples() -> tuple[str, ...]:
    """Return the codecs that can be chosen, as a user may write them."""
    return ("keep", "none", *(row.offer.example for row in offered() if row.offer is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """How a store is to be laid out; as the source is, where nothing else is said.

    Attributes
    ----------
    chunks
        Of all arrays; a shape is that of arrays with as many dimensions, the others keep their chunks.
    array_chunks
        Of single arrays, by absolute path; counts before `chunks`.
    codec
        As `CodecChoice.from_text` takes it; it replaces every filter and compressor.
    shards
        Of all arrays with as many dimensions, Zarr v3 only; None keeps those of the source where its chunks
        stay as they are.
    container
        A folder, or one zip file.
    zip_folder
        Folder within the zip file below which all keys lie; empty: keys are at the top, as zarr-python
        needs them (netCDF needs one folder).
    array_dimensions
        Write ``_ARRAY_DIMENSIONS`` where the format has another place for the names of dimensions (NCZarr).
    split_compounds
        Write each field of a compound as an array of its own, and opaque elements as bytes, where the format
        has no such types (NCZarr).
    text_size
        Bytes of each text where the format has texts of fixed size only and the source tells none (NCZarr).
    """

    chunks: Sides | None = None
    array_chunks: Mapping[str, Sides] = field(default_factory=dict)
    codec: str = "keep"
    shards: Sides | None = None
    container: Literal["folder", "zip"] = "folder"
    zip_folder: str = ""
    array_dimensions: bool = True
    split_compounds: bool = False
    text_size: int = 128

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
            "container": self.container,
            "zip_folder": self.zip_folder,
            "array_dimensions": self.array_dimensions,
            "split_compounds": self.split_compounds,
            "text_size": self.text_size,
        }
