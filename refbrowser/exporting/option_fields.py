"""Options of exports: each is one field, from which API, command line, dialog and manual follow.

An option is a field of a subclass of `ExportOptions`, whose metadata is `option(...)`: what it is called on
the command line, what is said of it, and how a dialog asks for it. `documented` writes the docstring.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

import numpy as np

from refbrowser.codecs.table import CODECS, Codec, Offer, offered
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.format import Written
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import form_named, written
from refbrowser.loading import load_if_there
from refbrowser.model.chunk_axes import ChunkAxis, RegularAxis, axis_of
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid, grid_of

#: Bytes of a chunk or shard whose size is only said to be ``auto``.
AUTO_SIZE = 8 * 1024 * 1024
_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 1000, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"([0-9]{1,15})\s*([A-Za-z]*)\Z")


# Values

#: Edges of unequal chunks: sides, and how often each is repeated.
Runs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Sides:
    """The shape of chunks or shards, by number or by size.

    Attributes
    ----------
    shape
        The sides; -1 is the whole axis, a tuple the edges of unequal chunks as runs of a side and a count.
        Empty where the size decides.
    size
        Bytes of a decoded chunk, at most; 0 where `shape` decides.
    """

    shape: tuple[int | Runs, ...] = ()
    size: int = 0

    @classmethod
    def from_text(cls, text: str) -> Sides:
        """Return the sides that a user wrote: ``100,100``, ``1,:,:``, ``[31,28,31],*``, ``auto:8MiB``.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        name, colon, size = text.partition(":")
        if name.strip() == "auto":
            return cls(size=size_of(size) if colon else AUTO_SIZE)
        sides = _sides_in(text)
        if not sides or not all(map(_is_side, sides)):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{quoted(text)} is not a chunk shape",
                advice="write 100,100 or auto:8MiB; : or * is a whole axis, [31,28,31] the edges of unequal "
                "chunks, [[30,11],35] a run of eleven and one more",
            )
        return cls(tuple(side if isinstance(side, int) else _runs(side) for side in sides))

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Tell whether these sides can be those of an array of `shape`."""
        return bool(self.size) or len(self.shape) == len(shape)

    def within(self, shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
        """Return the chunk shape for an array of `shape`; no side reaches over the array."""
        return self.grid(shape, itemsize).regular.chunk_shape

    def grid(self, shape: tuple[int, ...], itemsize: int) -> ChunkGrid:
        """Return the chunks for an array of `shape`; no equal side reaches over the array.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the edges of unequal chunks do not cover the array.
        """
        if self.size:
            most = max(1, self.size // max(1, itemsize))
            return RegularChunkGrid(shape, _halved(tuple(max(1, length) for length in shape), most))
        return grid_of([_axis(side, length) for side, length in zip(self.shape, shape, strict=True)])

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
        given_sides = [given for given in self.shape if isinstance(given, int)]
        whole = [
            count * side if given < 0 else given
            for given, count, side in zip(given_sides, most, chunks, strict=True)
        ]
        if any(given % side for given, side in zip(whole, chunks, strict=True)):
            raise _no_multiple(str(whole), chunks)
        return tuple(min(given, count * side) for given, count, side in zip(whole, most, chunks, strict=True))

    def shards(self, shape: tuple[int, ...], chunks: tuple[int, ...], itemsize: int) -> ChunkGrid:
        """Return the shards for an array of `shape` and inner `chunks`, each a whole number of them.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: one is no multiple of the chunks, or the edges of unequal ones do not cover the array.
        """
        if all(isinstance(side, int) for side in self.shape):
            return RegularChunkGrid(shape, self.tiled(shape, chunks, itemsize))
        found = []
        for given, length, chunk in zip(self.shape, shape, chunks, strict=True):
            if isinstance(given, int):
                (side,) = Sides((given,)).tiled((length,), (chunk,), itemsize)
                found.append(_axis(side, max(side, length)).between(0, length))
            elif any(side % chunk for side, _ in given):
                raise _no_multiple(str([side for side, _ in given]), (chunk,))
            else:
                found.append(_axis(given, length))
        return grid_of(found)


def _no_multiple(shards: str, chunks: tuple[int, ...]) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.USAGE,
        f"shards of shape {shards} are not a multiple of chunks of shape {list(chunks)}",
        advice="choose shards that hold a whole number of chunks along each axis",
    )


def _sides_in(text: str) -> list[Any]:
    """Return what a user wrote of each axis; nothing where it is not to be understood."""
    plain = re.sub(r"(?<![^,\s])\s*[:*]\s*(?![^,])", "-1", text)
    try:
        found: list[Any] = json.loads(f"[{plain}]")
    except (ValueError, RecursionError):
        return []
    return found


def _is_side(side: Any) -> bool:
    if isinstance(side, list):
        pairs = [each if isinstance(each, list) else [each, 1] for each in side]
        return bool(pairs) and all(len(pair) == 2 and all(map(_is_length, pair)) for pair in pairs)
    return side == -1 or _is_length(side)


def _is_length(number: Any) -> bool:
    return type(number) is int and 0 < number < 10**18


def _runs(side: list[Any]) -> Runs:
    return tuple((each[0], each[1]) if isinstance(each, list) else (each, 1) for each in side)


def _axis(side: int | Runs, length: int) -> ChunkAxis:
    if isinstance(side, int):
        return RegularAxis(length, max(1, length if side < 0 else min(side, length)))
    edges, counts = np.array(side, np.int64).T
    try:
        return axis_of(length, edges, counts)
    except RefbrowserError as error:
        raise RefbrowserError(ErrorKind.USAGE, error.message) from None


def size_of(text: str) -> int:
    """Return the bytes that a user wrote: ``8MiB``.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no size.
    """
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
            f"{quoted(text)} is not a codec of this format",
            advice=f"known: {', '.join(codec_examples())}",
        )


def has_codec(format: str, codec: Codec) -> bool:
    """Whether a format of stores can be written with a codec."""
    return getattr(codec, form_named(format).codecs) is not None


def codec_examples() -> tuple[str, ...]:
    """Return the codecs that can be chosen, as a user may write them."""
    return ("keep", "none", *(row.offer.example for row in offered() if row.offer is not None))


@dataclass(frozen=True, slots=True)
class OfferedCodec:
    """One codec of the list, or what stands for none.

    Attributes
    ----------
    text
        As the command line takes it, without its level.
    levels
        Lowest, highest, and the one to begin with; None where it has none.
    row
        Of the table of codecs.
    """

    text: str
    title: str
    levels: tuple[int, int, int] | None = None
    row: Codec | None = None

    def fits(self, format: str) -> bool:
        """Whether a store of a format can be written with it."""
        return self.row is None or has_codec(format, self.row)


def offered_codecs() -> list[OfferedCodec]:
    """Return the codecs of the list, in their order: those that the table of codecs offers."""
    found = [OfferedCodec("keep", "As in the source"), OfferedCodec("none", "None")]
    for row in offered():
        assert row.offer is not None
        for text, title in row.offer.titles.items():
            found.append(OfferedCodec(text, title, _levels(row, row.offer), row))
    return found


def _levels(row: Codec, offer: Offer) -> tuple[int, int, int] | None:
    level = row.level
    if level is None:
        return None
    return level.lowest if offer.lowest is None else offer.lowest, level.high, offer.level


class ExportOptions:
    """What all groups of options have in common: dataclasses, each of which belongs to some formats.

    Attributes
    ----------
    heading
        Above the options in help and manual.
    only
        The error where options are said for another format.
    called
        In the names of widgets.
    foot
        What a dialog says below the options.
    """

    __slots__ = ()
    heading: ClassVar[str]
    only: ClassVar[str]
    called: ClassVar[str]
    foot: ClassVar[str] = ""

    @property
    def keeps(self) -> bool:
        """Whether the target keeps what it has."""
        return False

    @classmethod
    def completed(cls, values: dict[str, Any], target: str) -> dict[str, Any]:
        """Return values with those that follow from the name of a target."""
        return values

    @classmethod
    def ending(cls, said: Mapping[str, Any]) -> str:
        """Return what the name of a target ends with beside the suffix of its format."""
        return ""

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where an option has no meaning for a format."""


def group_of(form: Written) -> type[ExportOptions] | None:
    """Return the options of a form in which datasets are written; None where there are none to choose."""
    found: type[ExportOptions] | None = load_if_there(form.options)
    return found


def groups() -> list[type[ExportOptions]]:
    """Return the options of all forms, each group once."""
    found = (group_of(form) for form in written().values())
    return list(dict.fromkeys(each for each in found if each is not None))


def chosen_options(form: Written, said: Mapping[str, Any], target: str) -> ExportOptions | None:
    """Return the options that were said for a form and a target.

    Parameters
    ----------
    said
        By name: as the command line takes it, or the value where that is no text.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: one cannot be read, or has no meaning with the others or the format.
    """
    group = group_of(form)
    if group is None:
        return None
    known = declared(group)
    values = group.completed({name: known[name].value(each) for name, each in said.items()}, target)
    options = group(**values)
    for name in said:
        needs = known[name].needs
        if needs is not None and getattr(options, needs.option) != needs.value:
            raise RefbrowserError(ErrorKind.USAGE, needs.message, advice=needs.advice)
    options.check(form.name)
    return options


def options_as_markdown() -> str:
    """Return the options of the command line as tables for the manual, one for each group."""
    lines = []
    for group in groups():
        lines += [f"### {group.heading[:1].upper()}{group.heading[1:]}", "", "| option | says |", "|---|---|"]
        lines += [*(each.row for each in declared(group).values()), ""]
    return "\n".join(lines)
