"""Compounds for formats without them: one array for each field, with its own axes at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.layout import Convert
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.member_types import enum_name_of, leaf_fields, names_of, rows_of
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, CodecSpec, MemberAttributes

#: How NCZarr names the type of characters.
_CHAR = ">S1"
_COMPONENTS: dict[str, Convert] = {"r": np.real, "i": np.imag}
#: Fields of an array: netCDF holds this many variables.
MOST_FIELDS = 8192
#: Variables that a loss names.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class FieldPart:
    """One field of fixed size that is no compound itself.

    Attributes
    ----------
    names
        From the outermost field; those of complex numbers are ``r`` and ``i``. Empty for opaque elements.
    dtype, shape
        Of the field's elements. Opaque ones are bytes along one more axis.
    rank
        Axes of the array that it is a field of.
    """

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    rank: int

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the field of each element; axes that elements are given beyond their own are dropped."""
        found = values.reshape(values.shape[: self.rank])
        for name in self.names:
            found = _COMPONENTS[name](found) if found.dtype.kind == "c" else found[name]
        if found.dtype.kind == "V":
            found = np.ascontiguousarray(found)[..., np.newaxis].view(np.uint8)
        return found.reshape((*values.shape[: self.rank], *self.shape))

    def array(self, node: ArrayNode) -> ArrayNode:
        """Return the array of the field, with the path of `node`; axes of its own have no names.

        Chunks are those of `node`, compressed in the same way; filters, which fit whole elements, are left
        out.
        """
        assert node.grid is not None
        chunks, codecs = _chunks_and_compressor(node)
        shape = (*node.shape, *self.shape)
        own = node.member_attributes.get(".".join(self.names), MemberAttributes({}))
        shared = {name: value for name, value in node.attributes.items() if name != FILL_ATTRIBUTE}
        return replace(
            node,
            shape=shape,
            # Names of values stand in the array, not in its type.
            dtype=np.dtype(self.dtype.str),
            enumeration=names_of(self.dtype),
            enum_name=enum_name_of(self.dtype),
            type_name=self._type_name(),
            dimensions=(*node.dimensions, *[None] * len(self.shape)),
            dimension_paths=(*node.dimension_paths, *[None] * len(self.shape))
            if node.dimension_paths
            else (),
            grid=RegularChunkGrid(shape, (*chunks, *self.shape)),
            order="C",
            codecs=(CodecSpec("vlen-utf8"),) if self.dtype.hasobject else codecs,
            format="zarr-v2",
            fill_value=self._fill(node.fill_value),
            attributes={**shared, **own.attributes},
            attribute_types={**node.attribute_types, **own.attribute_types},
            member_attributes={},
        )

    def _type_name(self) -> str:
        if self.dtype.hasobject:
            return "string"
        return _CHAR if self.dtype == "S1" else self.dtype.str

    def _fill(self, fill: Any) -> Any:
        """Return the fill value of the field; None where its elements have several."""
        if fill is None:
            return None
        found = replace(self, rank=0)(np.asarray(fill)).reshape(-1)
        return found[0] if (found == found[0]).all() else None


def is_split(node: ArrayNode) -> bool:
    """Tell whether the elements of an array are compounds, complex numbers among them, or opaque."""
    return node.dtype is not None and node.dtype.kind in "Vc"


def fields_left_out(dtype: np.dtype[Any]) -> list[str]:
    """Return the fields of a compound that no array can be of: opaque ones and rows of their own length."""
    return [path for path, base in leaf_fields(dtype) if base.hasobject and rows_of(base) is not str]


def split_words(node: ArrayNode, paths: list[str]) -> str:
    """Return what is told of an array that is split."""
    if node.dtype is not None and node.dtype.kind == "V" and node.dtype.names is None:
        return "opaque elements are written as bytes along one more dimension"
    named = ", ".join(map(quoted, paths[:_NAMED])) + (", …" if len(paths) > _NAMED else "")
    count = "one variable" if len(paths) == 1 else f"{len(paths)} variables"
    return f"the compound is split into {count}, one for each field: {named}"


def converted_part(part: FieldPart, convert: Convert | None) -> Convert:
    """Return what takes a field of elements, and then converts it."""
    return part if convert is None else lambda values: convert(part(values))


def field_parts(node: ArrayNode) -> list[FieldPart]:
    """Return the fields that an array is split into, those of nested compounds too.

    Fields of no bytes, opaque ones of no fixed size and rows of their own length are left out.

    Raises
    ------
    RefbrowserError
        `META`: there are none, or more than netCDF holds.
    """
    assert node.dtype is not None
    found = list(islice(_parts((), node.dtype, (), len(node.shape)), MOST_FIELDS + 1))
    if not 0 < len(found) <= MOST_FIELDS:
        count = f"more than {MOST_FIELDS} fields" if found else "no field with bytes"
        message = f"the compound has {count} and cannot be split"
        raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
    return found


def _parts(
    names: tuple[str, ...], dtype: np.dtype[Any], shape: tuple[int, ...], rank: int
) -> Iterator[FieldPart]:
    base, shape = dtype.base, (*shape, *dtype.shape)
    if 0 in shape or not base.itemsize:
        return
    if base.names is not None and base.fields is not None:
        for name in base.names:
            yield from _parts((*names, name), base.fields[name][0], shape, rank)
    elif base.kind == "c":
        component = np.empty(0, base).real.dtype
        yield from (FieldPart((*names, name), component, shape, rank) for name in _COMPONENTS)
    elif base.hasobject and rows_of(base) is not str:
        return
    elif base.kind == "V":
        yield FieldPart(names, np.dtype(np.uint8), (*shape, base.itemsize), rank)
    else:
        yield FieldPart(names, base, shape, rank)


def _chunks_and_compressor(node: ArrayNode) -> tuple[tuple[int, ...], tuple[CodecSpec, ...]]:
    """Return the shape of chunks and how bytes are compressed: zlib where Zarr v2 cannot say it."""
    try:
        known = codecs_v2(node)
    except RefbrowserError:
        assert node.grid is not None
        return node.grid.chunk_shape, (CodecSpec("zlib", {"level": 1}),)
    if known.compressor is None:
        return known.chunks, ()
    settings = {name: value for name, value in known.compressor.items() if name != "id"}
    return known.chunks, (CodecSpec(known.compressor["id"], settings),)
