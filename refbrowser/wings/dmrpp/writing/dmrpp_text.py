"""The text of a DMR++ 1.0.0: elements of DAP4 for groups, arrays and attributes, and of DMR++ for chunks."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

from refbrowser.model.netcdf.types import AtomicType, NetcdfAttribute
from refbrowser.wings.dmrpp.reading.dmr_arrays import CONTAINER, OF_NETCDF
from refbrowser.wings.dmrpp.reading.dmr_text import DAP, DMRPP

#: Bytes of values in a text that are not packed: as much as HDF5 keeps beside the description of an array.
COMPACT = 64 << 10
#: Bytes of one text above which it is packed.
_LONG_TEXT = 512
#: What XML 1.0 cannot hold (section 2.2), whatever it is written as.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: How types of netCDF are called; texts of either kind are strings. ``Byte`` is what servers of DAP4 write.
_CALLED = {
    **{kind: name for name, kind in OF_NETCDF.items() if name not in ("UInt8", "Char", "URL", "URI")},
    "char": "String",
}
#: A carriage return as it stands would be read as the end of a line.
_ENTITIES = {"\r": "&#13;"}
_QUOTED = {**_ENTITIES, "\n": "&#10;", "\t": "&#9;"}


@dataclass(frozen=True, slots=True)
class DapType:
    """How DAP4 calls the elements of an array, and how they lie in chunks.

    Attributes
    ----------
    name
        ``Float32``, ``String``, ``Structure``...
    order
        ``LE`` or ``BE``.
    length
        Bytes of texts of a fixed length; 0 of other elements.
    padding
        How such texts are filled up.
    members
        Of a structure: name, name of the type, and shape.
    offsets
        Of a structure: where the members but the first begin, and its size.
    """

    name: str
    order: str = "LE"
    length: int = 0
    padding: str = "null_pad"
    members: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    offsets: tuple[int, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether elements are texts."""
        return self.name == "String"


@dataclass(frozen=True, slots=True)
class DapFilters:
    """The filters of chunks, in the order in which they are applied."""

    names: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()


def is_xml(text: str) -> bool:
    """Return whether XML can hold a text."""
    return _NO_XML.search(text) is None


def head(name: str, href: str, writer: str) -> str:
    """Return the beginning of the root.

    Parameters
    ----------
    name
        Of the dataset.
    href
        Where the file lies that is described.
    writer
        Who wrote it. Readers take filters in the order that is said where this is not empty.
    """
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Dataset xmlns="{DAP}" xmlns:dmrpp="{DMRPP[0]}" '
        f'dapVersion="4.0" dmrVersion="1.0" name={_quoted(name)} dmrpp:href={_quoted(href)} '
        f"dmrpp:version={_quoted(writer)}>\n"
    )


def dimension(name: str, size: int) -> str:
    """Return the declaration of a dimension."""
    return f'<Dimension name={_quoted(name)} size="{size}"/>\n'


def opened(name: str, called: str) -> str:
    """Return the beginning of a group or an array."""
    return f"<{name} name={_quoted(called)}>\n"


def closed(name: str) -> str:
    """Return the end of an element."""
    return f"</{name}>\n"


def along(name: str, size: int) -> str:
    """Return one dimension of an array: the path of what is declared, or its size where that is empty."""
    return f"<Dim name={_quoted(name)}/>\n" if name else f'<Dim size="{size}"/>\n'


def attribute(said: NetcdfAttribute) -> str:
    """Return an attribute of atomic type."""
    assert isinstance(said.type, AtomicType)
    values = "".join(f"<Value>{escape(text, _ENTITIES)}</Value>" for text in value_texts(said))
    return f'<Attribute name={_quoted(said.name)} type="{_CALLED[said.type]}">{values}</Attribute>\n'


def value_texts(said: NetcdfAttribute) -> list[str]:
    """Return the values of an attribute of atomic type as texts."""
    dtype = said.type.dtype if isinstance(said.type, AtomicType) else None
    return [str(value) if dtype is None else str(dtype.type(value)) for value in said.values]


def container(name: str, within: Iterable[NetcdfAttribute]) -> str:
    """Return attributes that belong together."""
    inside = "".join(map(attribute, within))
    return f'<Attribute name={_quoted(name)} type="{CONTAINER}">\n{inside}</Attribute>\n'


def members(type: DapType) -> str:
    """Return the members of a structure."""
    return "".join(
        f"<{kind} name={_quoted(name)}>{''.join(along('', side).strip() for side in shape)}</{kind}>\n"
        for name, kind, shape in type.members
    )


def fixed_texts(type: DapType) -> str:
    """Return how long the texts of an array are."""
    return f'<dmrpp:FixedLengthStringArray string_length="{type.length}" pad="{type.padding}"/>\n'


def chunks_opened(type: DapType, filters: DapFilters, fill: str | None, sides: Sequence[int]) -> str:
    """Return the beginning of the chunks of an array.

    Parameters
    ----------
    fill
        What chunks hold that are not listed; None where nothing is said.
    sides
        Of a chunk; none where its bytes are those of the array.
    """
    said: dict[str, str | None] = {
        "compressionType": " ".join(filters.names) or None,
        "deflateLevel": " ".join(map(str, filters.levels)) or None,
        "fillValue": fill,
        "byteOrder": type.order,
        "structOffset": " ".join(map(str, type.offsets)) or None,
    }
    written = "".join(f" {name}={_quoted(value)}" for name, value in said.items() if value is not None)
    sized = f"<dmrpp:chunkDimensionSizes>{' '.join(map(str, sides))}</dmrpp:chunkDimensionSizes>\n"
    return f"<dmrpp:chunks{written}>\n{sized if sides else ''}"


def chunk_lines(
    offsets: Iterable[int], sizes: Iterable[int], positions: Iterable[Sequence[int]] | None
) -> Iterator[str]:
    """Yield the chunks; without positions there is one, of the whole array."""
    if positions is None:
        for offset, size in zip(offsets, sizes, strict=True):
            yield f'<dmrpp:chunk offset="{offset}" nBytes="{size}"/>\n'
        return
    for offset, size, position in zip(offsets, sizes, positions, strict=True):
        place = ",".join(map(str, position))
        yield f'<dmrpp:chunk offset="{offset}" nBytes="{size}" chunkPositionInArray="[{place}]"/>\n'


def values_within(values: npt.NDArray[Any], type: DapType) -> str:
    """Return values that stand in the text: numbers, texts of a fixed length, or others.

    Few are as they are, many are packed; servers pack no single number, and no texts of a fixed length.
    """
    if values.dtype.kind in "OU":
        return _texts_within(values)
    plain = values if type.is_text else values.astype(values.dtype.newbyteorder("<"))
    data = plain.tobytes()
    if len(data) <= COMPACT or type.is_text or values.size == 1:
        return f"<dmrpp:compact>{_base64(data)}</dmrpp:compact>\n"
    return f"<dmrpp:missingdata>{_base64(zlib.compress(data))}</dmrpp:missingdata>\n"


def _texts_within(values: npt.NDArray[Any]) -> str:
    """Return texts of any length, each with how often it follows itself."""
    if not values.shape:
        return f"<dmrpp:compact>{_base64(str(values[()]).encode())}</dmrpp:compact>\n"
    lines = ["<dmrpp:vlsa>"]
    flat = values.reshape(-1)
    ends = [*(np.flatnonzero(flat[1:] != flat[:-1]) + 1).tolist(), len(flat)] if prod(values.shape) else []
    start = 0
    for end in ends:
        text = str(flat[start])
        data = text.encode()
        said: Mapping[str, int] = {"c": end - start} if end - start > 1 else {}
        if len(data) > _LONG_TEXT:
            said = {**said, "s": len(data)}
            text = _base64(zlib.compress(data))
        written = "".join(f' {name}="{value}"' for name, value in said.items())
        lines.append(f"<v{written}>{escape(text, _ENTITIES)}</v>")
        start = end
    return "".join((*lines, "</dmrpp:vlsa>\n"))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _quoted(text: str) -> str:
    return quoteattr(text, _QUOTED)
