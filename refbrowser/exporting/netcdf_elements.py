"""Elements as NCZarr can hold them: types, texts of fixed size, codecs that netCDF knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.table import CODECS, held_type
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.store_options import StoreOptions
from refbrowser.formats.nczarr.members import is_array_of_nczarr
from refbrowser.model.dtypes import with_byte_order
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.element_types import element_type
from refbrowser.model.netcdf.types import AtomicType, VlenType, type_text
from refbrowser.model.nodes import ArrayNode, CodecSpec

_LEVEL = 1
_OTHER_TYPE = "a dataset with such an array is refused as a whole by netCDF; --skip-bad leaves the array out"
_SPLIT = f"--split-compounds writes its fields as variables, and opaque elements as bytes; {_OTHER_TYPE}"


@dataclass(frozen=True, slots=True)
class Elements:
    """How the elements of an array are stored.

    Attributes
    ----------
    dtype, type_name
        Of the target, as in `ArrayNode`.
    fill_value
        As a scalar of `dtype`.
    convert
        Gives the elements as the target has them, where numpy's own cast does not.
    losses
        What is not as in the source, in words.
    """

    dtype: np.dtype[Any]
    type_name: str
    fill_value: Any
    convert: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None
    losses: tuple[str, ...] = ()


def netcdf_elements(node: ArrayNode, options: StoreOptions, *, is_complete: bool) -> Elements:
    """Return how the elements of an array are stored; no value changes.

    Parameters
    ----------
    node
        As it is asked for.
    is_complete
        No chunk is missing, as far as that is known: netcdf-c 4.10 swaps the bytes of what it reads for one
        in big-endian arrays.

    Raises
    ------
    RefbrowserError
        `META`: netCDF has no type for them.
    """
    assert node.dtype is not None
    found, told = element_type(node, fixed_strings=is_array_of_nczarr(node))
    if not isinstance(found, AtomicType):
        message = f"NCZarr has no type for elements of type {quoted(type_text(found).strip())}"
        advice = _OTHER_TYPE if isinstance(found, VlenType) else _SPLIT
        raise RefbrowserError(ErrorKind.META, message, Place(path=node.path), advice)
    losses: tuple[str, ...] = (told,) if told else ()
    if found in (AtomicType.CHAR, AtomicType.STRING):
        return _texts(node, node.dtype, found, options)
    assert found.dtype is not None
    big = node.dtype.str[0] == ">" and node.dtype.kind in "iuf"
    if big and not is_complete:
        big = False
        losses += ("elements are stored in little-endian order: netCDF misreads missing chunks of the other",)
    dtype = with_byte_order(found.dtype, "big" if big else "little")
    fill = None if node.fill_value is None else np.asarray(node.fill_value).astype(dtype)[()]
    return Elements(dtype, dtype.str, fill, None, losses)


def _texts(node: ArrayNode, dtype: np.dtype[Any], found: AtomicType, options: StoreOptions) -> Elements:
    if dtype.kind == "S":
        # One of no bytes at all is a text that is always empty.
        size = max(1, dtype.itemsize)
        name = ">S1" if found is AtomicType.CHAR else f"|S{size}"
        return Elements(np.dtype(f"S{size}"), name, node.fill_value)
    if dtype.kind == "O" and node.type_name not in ("string", "bytes"):
        message = f"NCZarr has no type for elements of type {quoted(node.type_name)}"
        raise RefbrowserError(ErrorKind.META, message, Place(path=node.path), _OTHER_TYPE)
    # A character of UTF-32 has at most four bytes in UTF-8 too.
    size = max(1, dtype.itemsize) if dtype.kind == "U" else options.text_size
    told = f"texts of type {quoted(node.type_name)} are stored with {size} bytes each"
    encode = _Encoder(size, node.path)
    fill = None if node.fill_value is None else encode(np.array([node.fill_value], object))[0]
    return Elements(np.dtype(f"S{size}"), f"|S{size}", fill, encode, (told,))


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Encodes texts as UTF-8 of a fixed size."""

    size: int
    path: str

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        encoded = np.empty(values.shape, f"S{self.size}")
        flat, target = values.reshape(-1), encoded.reshape(-1)
        for place, value in enumerate(flat.tolist()):
            target[place] = self._bytes(value)
        return encoded

    def _bytes(self, value: Any) -> bytes:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        if len(data) > self.size:
            raise RefbrowserError(
                ErrorKind.META,
                f"a text has {len(data)} bytes, the array is written with {self.size} for each",
                Place(path=self.path),
                f"--text-size {len(data)} or more makes room for it",
            )
        return data


def netcdf_codecs(node: ArrayNode, elements: Elements, options: StoreOptions) -> tuple[ArrayNode, list[str]]:
    """Return an array with codecs that netCDF reads, in the words of Zarr v2, and what is told of them.

    Chunks keep their shape, but that those of shards are the inner ones.
    """
    try:
        known = codecs_v2(node)
    except RefbrowserError:
        return _compressed(node, node.grid, elements), ["netCDF has no such codecs: zlib is written"]
    grid = RegularChunkGrid(node.shape, known.chunks)
    items = [*known.filters, *([known.compressor] if known.compressor else [])]
    if elements.convert is not None and items and held_type(items[0]["id"]):
        items = items[1:]
    chosen = options.codec_choice is not None or is_array_of_nczarr(node)
    allowed = ("always", "plugin") if chosen else ("always",)
    readers = {item["id"]: CODECS[item["id"]].netcdf if item["id"] in CODECS else None for item in items}
    if unknown := [item["id"] for item in items if readers[item["id"]] not in allowed]:
        told = f"codec {', '.join(unknown)} is written as zlib, which every netCDF reads"
        return _compressed(node, grid, elements), [*known.lost, told]
    lost = list(known.lost)
    if plugins := [item["id"] for item in items if readers[item["id"]] == "plugin"]:
        lost.append(f"codec {', '.join(plugins)} needs a plugin of netCDF that not every build has")
    codecs = tuple(
        CodecSpec(item["id"], {name: value for name, value in item.items() if name != "id"}) for item in items
    )
    return replace(node, grid=grid, codecs=codecs), lost


def _compressed(node: ArrayNode, grid: RegularChunkGrid | None, elements: Elements) -> ArrayNode:
    size = elements.dtype.itemsize
    shuffle = (CodecSpec("shuffle", {"elementsize": size}),) if 1 < size <= 8 else ()
    return replace(node, grid=grid, codecs=(*shuffle, CodecSpec("zlib", {"level": _LEVEL})))
