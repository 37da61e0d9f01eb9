"""How arrays are described in a DMR++: elements and filters in its words, and where their values are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2, without_shards
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import endings_in
from refbrowser.model.dtypes import members_of
from refbrowser.model.grid import sides_text
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, with_used_urls
from refbrowser.wings.dmrpp.reading.dmr_arrays import SIZED
from refbrowser.wings.dmrpp.writing.dmrpp_text import DapFilters, DapType, is_xml

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

Ints = npt.NDArray[np.int64]
#: Chunks whose references are looked at together.
_PAGE = 65_536
#: Names of sized elements, by their numpy type without byte order. ``Byte`` is what servers of DAP4 write.
_NAMES = {np.dtype(kind): name for name, kind in SIZED.items() if name not in ("UInt8", "Char")}
_ORDERS = {"<": "LE", ">": "BE"}


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the values of an array are.

    Attributes
    ----------
    file
        Where the only file lies that has them; empty where no chunk is stored, None where several have them,
        or none.
    stored, missing
        How many chunks are there, and are not.
    is_within
        They are not in files, or not as they are: they can stand in the description.
    """

    file: str | None
    stored: int = 0
    missing: int = 0
    is_within: bool = False


@dataclass(eq=False, slots=True)
class Planned:
    """One array that is described.

    Attributes
    ----------
    node
        The array, with values that are numbers or texts.
    sides
        Of a chunk; empty where the bytes of the only one are those of the array.
    placed
        Where its values are; known once its references were looked at.
    """

    node: ArrayNode
    type: DapType
    filters: DapFilters
    sides: tuple[int, ...]
    placed: Placed = field(default_factory=lambda: Placed(None))

    @property
    def is_within(self) -> bool:
        """Whether its values stand in the description."""
        return self.placed.is_within


def described(node: ArrayNode) -> DapType:
    """Return the elements of an array in the words of DAP4.

    Raises
    ------
    NotHeldError
        It has none for them.
    """
    dtype = node.known_dtype
    if not is_xml(node.name):
        raise not_held(node, "its name holds characters that XML has not")
    if dtype.names is not None:
        return _structure(node, dtype)
    if dtype.kind == "S":
        padding = "space_pad" if "space" in endings_in(dtype) else "null_pad"
        return DapType("String", length=dtype.itemsize, padding=padding)
    if dtype.kind == "U" or (dtype.kind == "O" and node.type.name == "string"):
        return DapType("String")
    name = _NAMES.get(np.dtype("i1") if dtype.kind == "b" else dtype.newbyteorder("="))
    if name is None:
        raise not_held(node, f"DAP4 has no type for {node.type.name}")
    return DapType(name, _order(dtype))


def _structure(node: ArrayNode, dtype: np.dtype[Any]) -> DapType:
    """Return a structure of numbers, which begin one after the other."""
    members, orders = [], set()
    for name, member in members_of(dtype):
        base = member.base
        kind = _NAMES.get(base.newbyteorder("="))
        if kind is None or not is_xml(name):
            raise not_held(node, f"DMR++ has no structures with {base.name} as member {quoted(name)}")
        members.append((name, kind, member.shape))
        if base.itemsize > 1:
            orders.add(_order(base))
    offsets = [dtype.fields[name][1] for name in dtype.names or ()] if dtype.fields else []
    if len(orders) > 1 or offsets[0] or offsets != sorted(offsets):
        raise not_held(node, "DMR++ has no structures of both byte orders, or that begin with a gap")
    order = next(iter(orders), "LE")
    return DapType("Structure", order, members=tuple(members), offsets=(*offsets[1:], dtype.itemsize))


def _order(dtype: np.dtype[Any]) -> str:
    return _ORDERS.get(dtype.newbyteorder("S").newbyteorder("S").str[0], "LE")


def filters_of(node: ArrayNode) -> DapFilters:
    """Return the codecs of an array as filters.

    Raises
    ------
    NotHeldError
        They are others, or chunks are not in C order.
    """
    if without_shards(node) is not node:
        raise not_held(node, "its chunks lie in shards")
    try:
        known = codecs_v2(node)
    except RefbrowserError as error:
        raise not_held(node, error.message) from error
    if known.order != "C" and len(node.shape) > 1:
        raise not_held(node, "the elements of its chunks are not in C order")
    names, levels = list[str](), list[int]()
    size = node.known_dtype.itemsize
    for item in (*known.filters, *([known.compressor] if known.compressor else [])):
        name = item["id"]
        if name == "shuffle" and item.get("elementsize", 4) == size:
            names.append("shuffle")
        elif name == "zlib":
            names.append("deflate")
            levels.append(int(item.get("level", 1)))
        elif name == "fletcher32":
            names.append("fletcher32")
        else:
            raise not_held(node, f"DMR++ has the filters deflate, shuffle and fletcher32, not {quoted(name)}")
    return DapFilters(tuple(names), tuple(levels))


def planned(node: ArrayNode) -> Planned:
    """Return how an array is described, whose references were not looked at.

    Raises
    ------
    NotHeldError
        A DMR++ has no words for it.
    """
    type = described(node)
    is_encoded = node.values.encoded is not None and not node.known_dtype.hasobject
    filters = filters_of(node) if is_encoded else DapFilters()
    if not node.grid.is_regular:
        raise not_held(node, f"its chunks have unequal sides, {sides_text(node.grid)}: a DMR++ has one shape")
    chunk = node.grid.largest
    is_plain = not filters.names and node.grid.size <= 1 and chunk == node.shape
    return Planned(node, type, filters, () if is_plain else chunk)


def pages(node: ArrayNode, token: CancelToken) -> Iterator[tuple[Ints, ReferenceColumns]]:
    """Yield the coordinates of chunks, some thousands at a time, and the references to them."""
    grid = node.grid.grid_shape
    for start in range(0, node.grid.size, _PAGE):
        token.check()
        stop = min(start + _PAGE, node.grid.size)
        coords = np.zeros((stop - start, 0), np.int64)
        if grid:
            coords = np.stack(np.unravel_index(np.arange(start, stop), grid), axis=1).astype(np.int64)
        yield coords, with_used_urls(node.manifest.columns(coords))


def placed(plan: Planned, dataset: Dataset, token: CancelToken) -> Placed:
    """Return where the values of an array are.

    Raises
    ------
    RefbrowserError
        A reference is faulty, or no file that may ever be read is named.
    """
    node = plan.node
    if node.values.encoded is None or node.known_dtype.hasobject or node.known_dtype.kind == "U":
        return Placed(None, node.grid.size, is_within=True)
    files: dict[str, None] = {}
    counts: Counter[int] = Counter()
    for _, columns in pages(node, token):
        for row in columns.faults:
            raise columns.faults[row]
        kinds, found = np.unique(columns.kind, return_counts=True)
        counts.update(dict(zip(kinds.tolist(), found.tolist(), strict=True)))
        files |= {dataset.access.locate(url).url: None for url in columns.urls}
    missing = counts.pop(ReferenceKind.MISSING, 0)
    stored = sum(counts.values())
    is_within = any(counts[kind] for kind in (ReferenceKind.INLINE, ReferenceKind.DERIVED))
    if is_within or counts[ReferenceKind.WHOLE] or len(files) > 1:
        return Placed(None, stored, missing, is_within)
    return Placed(next(iter(files), ""), stored, missing)


def check_placed(plan: Planned, room: int) -> int:
    """Return how many bytes the values of an array take in the description.

    Parameters
    ----------
    room
        Bytes that there are for them.

    Raises
    ------
    NotHeldError
        Its values cannot be said.
    """
    node, at = plan.node, plan.placed
    if at.is_within:
        if plan.type.members:
            raise not_held(node, "DMR++ has no place for structures whose values are not in the file")
        size = prod(node.shape) * node.known_dtype.itemsize
        if size > room:
            raise not_held(node, f"its values do not fit into the description ({room} bytes are left)")
        return size
    if at.file is None:
        raise not_held(node, "its chunks lie in several files, and a DMR++ describes one")
    is_plain = bool(plan.type.members and at.stored) and not any(np.asarray(node.fill_element).tobytes())
    if at.missing and not is_plain and fill_text(plan) is None:
        raise not_held(node, "what chunks hold that are not stored can be said of numbers and texts only")
    return 0


def fill_text(plan: Planned) -> str | None:
    """Return what chunks hold that are not stored; None where that cannot be said: zeros, to readers."""
    if plan.type.members:
        return None
    value = plan.node.fill_element
    if not plan.type.is_text:
        return str(int(value) if value.dtype.kind == "b" else value[()])
    try:
        text = bytes(value[()]).decode()
    except UnicodeDecodeError:
        return None
    return text if is_xml(text) else None


def room_within() -> int:
    """Return the bytes of values that a description may hold."""
    return LIMITS.inlined_members


def not_held(node: ArrayNode, why: str) -> NotHeldError:
    """Return the error of an array that a DMR++ cannot describe."""
    return NotHeldError(ErrorKind.META, why, Place(path=node.path))
