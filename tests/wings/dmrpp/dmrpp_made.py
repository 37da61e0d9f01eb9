"""DMR++ of HDF5 files, written here by what h5py tells of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import h5py
import numpy as np

HEAD = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
    'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" dapVersion="4.0" dmrVersion="1.0" '
)
NAMES = {"i": "Int", "u": "UInt", "f": "Float"}


def type_name(dtype: np.dtype[Any]) -> str:
    return f"{NAMES[dtype.kind]}{dtype.itemsize * 8}"


def attributes_of(item: Any) -> Iterator[str]:
    for name, value in item.attrs.items():
        if isinstance(value, str):
            kind, texts = "String", [value]
        elif isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.kind in NAMES:
            kind = type_name(np.asarray(value).dtype)
            texts = [str(each) for each in np.atleast_1d(value)]
        else:
            continue
        values = "".join(f"<Value>{escape(text)}</Value>" for text in texts)
        yield f'<Attribute name={quoteattr(name)} type="{kind}">{values}</Attribute>'


def chunks_of(array: h5py.Dataset) -> Iterator[str]:
    """The filters in their order, the sides of chunks, and each chunk that is stored."""
    order = "BE" if array.dtype.str[0] == ">" else "LE"
    said = f'fillValue="{array.fillvalue}" byteOrder="{order}"'
    filters = ["shuffle"] * array.shuffle + ["deflate"] * (array.compression == "gzip")
    filters += ["fletcher32"] * array.fletcher32
    if filters:
        said += f' compressionType="{" ".join(filters)}"'
    if array.compression == "gzip":
        said += f' deflateLevel="{array.compression_opts}"'
    yield f"<dmrpp:chunks {said}>"
    if array.chunks is None:
        if array.id.get_offset() is not None:
            yield f'<dmrpp:chunk offset="{array.id.get_offset()}" nBytes="{array.id.get_storage_size()}"/>'
    else:
        yield f"<dmrpp:chunkDimensionSizes>{' '.join(map(str, array.chunks))}</dmrpp:chunkDimensionSizes>"
        for number in range(array.id.get_num_chunks()):
            told = array.id.get_chunk_info(number)
            place = ",".join(map(str, told.chunk_offset))
            yield (
                f'<dmrpp:chunk offset="{told.byte_offset}" nBytes="{told.size}" '
                f'chunkPositionInArray="[{place}]" fm="{told.filter_mask}"/>'
            )
    yield "</dmrpp:chunks>"


def group_of(group: h5py.Group) -> Iterator[str]:
    dimensions = dict(group.attrs.get("dims_made", np.zeros((0, 2), "S1")))
    yield from (
        f'<Dimension name="{name.decode()}" size="{size.decode()}"/>' for name, size in dimensions.items()
    )
    yield from attributes_of(group)
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield f"<Group name={quoteattr(name)}>"
            yield from group_of(item)
            yield "</Group>"
            continue
        kind = type_name(item.dtype)
        yield f"<{kind} name={quoteattr(name)}>"
        named = item.attrs.get("dims_named")
        yield from (
            f'<Dim name="{named.split()[axis]}"/>' if named else f'<Dim size="{size}"/>'
            for axis, size in enumerate(item.shape)
        )
        yield from attributes_of(item)
        yield from chunks_of(item)
        yield f"</{kind}>"


def dmrpp_of(path: Path, href: str | None = None, version: str = "3.21.1") -> str:
    """Return the description of a file."""
    said = f'name={quoteattr(path.name)} dmrpp:href={quoteattr(href or path.name)} dmrpp:version="{version}"'
    with h5py.File(path) as file:
        return "\n".join((f"{HEAD}{said}>", *group_of(file), "</Dataset>\n"))
