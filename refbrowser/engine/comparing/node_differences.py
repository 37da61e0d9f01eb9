"""How groups and arrays differ by what their metadata means, whatever format and version it is written in.

What a format keeps for itself is not compared: names of dimensions that stand among attributes, the spelling
of codecs and fill values, records of attribute types where one side has none. An attribute that is a list of
one value is that value, as in netCDF; 1 and 1.0 are the same number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.settings import ItemSize, NumberedWord, Settings
from refbrowser.codecs.table import codec_of_v3
from refbrowser.engine.comparing.differences import Difference, DifferenceKind
from refbrowser.errors import RefbrowserError
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model.data_type import leaf_fields, rows_of
from refbrowser.model.grid import ChunkGrid, sides_text
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.fill import is_complete, mark_of_missing
from refbrowser.model.nodes import ArrayNode, CodecSpec, GroupNode
from refbrowser.references.content.made_text import plain_attribute
from refbrowser.references.edits.compare import Side

#: Codecs that say nothing but how elements lie in memory: byte order and order of axes are told beside.
_ORDERING = ("bytes", "endian", "transpose")
#: Types of attributes that JSON does not tell from each other: one text.
_TEXTS = frozenset({"char", "string"})
READ_ALIKE = "chunks decode the same: the settings affect only writing"


def group_differences(
    here: GroupNode, there: GroupNode, *, is_one_format: bool, used: Collection[str]
) -> Iterator[Difference]:
    """Yield what differs in a group, its members aside.

    Parameters
    ----------
    is_one_format
        Both are of one format: dimensions that no array has, and whether they are unlimited, are compared
        too. Other formats may have no place for them.
    used
        Full names of the dimensions that arrays have: names and lengths of these differ there.
    """
    if _text_of(here.error) != _text_of(there.error):
        yield _finding(here.path, "the group", here.error, there.error)
        return
    for name in dict.fromkeys((*here.dimensions, *there.dimensions)):
        mine, theirs = here.dimensions.get(name), there.dimensions.get(name)
        is_used = f"{here.path.rstrip('/')}/{name}" in used
        if not is_one_format or mine == theirs:
            continue
        if not is_used or (mine is not None and theirs is not None and mine.unlimited != theirs.unlimited):
            yield _one(DifferenceKind.DIMENSION, here.path, name, _side(mine, theirs), mine, theirs)
    yield from _attribute_differences(here, there)


def array_differences(here: ArrayNode, there: ArrayNode) -> Iterator[Difference]:
    """Yield what differs in the metadata of an array."""
    path = here.path
    for what, mine, theirs in (
        ("the metadata", here.error, there.error),
        ("the codecs or the type", here.unreadable, there.unreadable),
    ):
        if _text_of(mine) != _text_of(theirs):
            yield _finding(path, what, mine, theirs)
    if here.error is not None or there.error is not None:
        return
    if here.shape != there.shape:
        yield _pair(DifferenceKind.SHAPE, path, "shape", list(here.shape), list(there.shape))
    if _names(here) != _names(there):
        yield _pair(DifferenceKind.DIMENSION, path, "dimensions", _names(here), _names(there))
    if _type_key(here) != _type_key(there):
        yield Difference(DifferenceKind.TYPE, path, "type", Side.BOTH, _type_words(here), _type_words(there))
    else:
        yield from _fill_differences(here, there)
    yield from _layout_differences(here, there)
    yield from _attribute_differences(here, there)


def _pair(kind: DifferenceKind, path: str, name: str, here: Any, there: Any, note: str = "") -> Difference:
    return Difference(kind, path, name, Side.BOTH, value_text(here), value_text(there), note)


def _side(mine: object, theirs: object) -> Side:
    if mine is None:
        return Side.THERE
    return Side.HERE if theirs is None else Side.BOTH


def _one(kind: DifferenceKind, path: str, name: str, side: Side, mine: Any, theirs: Any) -> Difference:
    texts = ("" if each is None else _dimension_text(each) for each in (mine, theirs))
    return Difference(kind, path, name, side, *texts)


def _dimension_text(dimension: Any) -> str:
    return f"{dimension.size}, unlimited" if dimension.unlimited else str(dimension.size)


def _finding(
    path: str, what: str, mine: RefbrowserError | None, theirs: RefbrowserError | None
) -> Difference:
    texts = _text_of(mine) or "can be read", _text_of(theirs) or "can be read"
    return Difference(DifferenceKind.FINDING, path, what, Side.BOTH, *texts)


def _text_of(error: RefbrowserError | None) -> str:
    return "" if error is None else error.message


def _names(node: ArrayNode) -> list[str | None]:
    return list(node.dimensions or (None,) * len(node.shape))


# Types


def _type_key(node: ArrayNode) -> Any:
    """Return what an element is, without how it is stored."""
    dtype = node.dtype
    if dtype is None or node.nested is not None:
        return node.type.name
    rows = rows_of(dtype)
    if rows is not None:
        return "rows", str(rows.newbyteorder("=") if isinstance(rows, np.dtype) else rows)
    if dtype.hasobject:
        return node.type.name
    fields = [(name, str(leaf.newbyteorder("=")), leaf.shape) for name, leaf in leaf_fields(dtype)]
    return fields, dict(node.type.names)


def _type_words(node: ArrayNode) -> str:
    names = dict(node.type.names)
    named = f" {value_text({str(value): name for value, name in names.items()})}" if names else ""
    dtype = node.dtype
    if dtype is None or dtype.hasobject or dtype.names is not None:
        return f"{node.type.name}{named}"
    return f"{dtype.newbyteorder('=')}{named}"


# Fill values


def _fill_differences(here: ArrayNode, there: ArrayNode) -> Iterator[Difference]:
    """Yield whether chunks that are not stored hold something else, or other values mean missing ones."""
    if here.dtype is None or there.dtype is None:
        return
    untold = here.fill_value is None or there.fill_value is None
    # One says nothing of chunks that are not stored, and there are none: nothing reads as another value.
    unseen = untold and is_complete(here) and is_complete(there)
    if not unseen and not _same_scalar(_element(here), _element(there)):
        yield _pair(DifferenceKind.FILL, here.path, "fill value", here.fill_value, there.fill_value)
        return
    marks = mark_of_missing(here), mark_of_missing(there)
    if not _same_scalar(*marks):
        note = "the value that readers treat as missing"
        yield _pair(DifferenceKind.FILL, here.path, "mark of missing values", *marks, note)


def _element(node: ArrayNode) -> Any:
    """Return what an element is that nothing gives; a fill value that is not told is zero, or empty."""
    if node.known_dtype.hasobject:
        fill = node.fill_value
        # Of rows of variable length it is a row, with or without elements.
        return (fill if fill.size else None) if isinstance(fill, np.ndarray) else fill or None
    element = np.asarray(node.fill_element)
    return element.astype(element.dtype.newbyteorder("="))[()]


def _same_scalar(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, str | bytes) or isinstance(other, str | bytes):
        return bool(one == other)
    mine, theirs = np.asarray(one), np.asarray(other)
    mine, theirs = (each.astype(each.dtype.newbyteorder("=")) for each in (mine, theirs))
    if mine.shape != theirs.shape:
        return False
    if mine.tobytes() == theirs.tobytes():
        return True
    if mine.dtype.names is not None or theirs.dtype.names is not None:
        return False
    return bool(np.all((mine == theirs) | ((mine != mine) & (theirs != theirs))))


# Layout: how elements are divided and encoded


def _layout_differences(here: ArrayNode, there: ArrayNode) -> Iterator[Difference]:
    path = here.path
    mine, theirs = here.values.encoded, there.values.encoded
    if mine is None or theirs is None:
        texts = (_held(here), _held(there))
        if texts[0] != texts[1]:
            yield Difference(DifferenceKind.LAYOUT, path, "stored in", Side.BOTH, *texts)
        return
    if not mine.grid.agrees(theirs.grid):
        texts = _sides(mine.grid), _sides(theirs.grid)
        yield Difference(DifferenceKind.LAYOUT, path, "chunk shape", Side.BOTH, *texts)
    orders = _byte_order(here), _byte_order(there)
    if orders[0] != orders[1] and "" not in orders:
        yield Difference(DifferenceKind.LAYOUT, path, "byte order", Side.BOTH, *orders)
    axes = _axes(here), _axes(there)
    if axes[0] != axes[1] and len(here.shape) == len(there.shape):
        yield _pair(DifferenceKind.LAYOUT, path, "order of axes", list(axes[0]), list(axes[1]))
    pipelines = [_pipeline(node) for node in (here, there)]
    if pipelines[0] != pipelines[1]:
        alike = [[(name, deciding) for name, deciding, _ in each] for each in pipelines]
        note = READ_ALIKE if alike[0] == alike[1] else ""
        texts = _codec_words(pipelines[0]), _codec_words(pipelines[1])
        yield Difference(DifferenceKind.LAYOUT, path, "codecs", Side.BOTH, *texts, note)


def _sides(grid: ChunkGrid) -> str:
    return str(list(grid.largest)) if grid.is_regular else sides_text(grid)


def _held(node: ArrayNode) -> str:
    if node.values.encoded is not None:
        return "chunks"
    return node.values.held or "nothing that can be read"


def _byte_order(node: ArrayNode) -> str:
    """Return how numbers lie in memory; empty where that has no meaning."""
    dtype = node.dtype
    if dtype is None or dtype.hasobject or dtype.names is not None or dtype.itemsize == 1:
        return ""
    first = dtype.str[0]
    return "big-endian" if first == ">" else "little-endian" if first == "<" else ""


def _axes(node: ArrayNode) -> tuple[int, ...]:
    """Return the axes in the order in which they are stored."""
    axes = tuple(range(len(node.shape)))
    try:
        return CodecPipeline.for_array(node).axes[: len(axes)]
    except RefbrowserError:
        return axes if node.order == "C" else axes[::-1]


Pipeline = list[tuple[str, dict[str, Any], dict[str, Any]]]


def _pipeline(node: ArrayNode) -> Pipeline:
    """Return the codecs in words that all versions share.

    Each has its name, the settings without which nothing can be decoded, and those that matter to writing.
    """
    itemsize = 0 if node.dtype is None else node.dtype.itemsize
    return [_codec(codec, itemsize) for codec in node.codecs if codec.name not in _ORDERING]


def _codec(codec: CodecSpec, itemsize: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    row = codec_of_v3(codec.name)
    if row is None:
        return codec.name, dict(codec.configuration), {}
    left = dict(codec.configuration)
    if left.get("elementsize") == 0:
        # netcdf-c writes it so: the size of an element.
        left["elementsize"] = itemsize
    settings = Settings(row.name, dict(left), row.settings)
    deciding: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for each in row.settings:
        left.pop(each.name, None)
        try:
            value = each.read(settings)
        except RefbrowserError:
            value = settings.values.get(each.name)
        if isinstance(each, ItemSize):
            value = each.in_v3(value, itemsize)
        elif isinstance(each, NumberedWord):
            value = each.stated(value, itemsize)
            if isinstance(value, int) and 0 <= value < len(each.words):
                value = each.words[value]
        (deciding if each.decides else others)[each.name] = value
    return row.name, {**left, **deciding}, others


def _codec_words(pipeline: Pipeline) -> str:
    words = []
    for name, deciding, others in pipeline:
        said = ", ".join(f"{key}={value_text(value)}" for key, value in {**deciding, **others}.items())
        words.append(f"{name}({said})" if said else name)
    return ", ".join(words) or "none"


# Attributes


def _attribute_differences(here: ArrayNode | GroupNode, there: ArrayNode | GroupNode) -> Iterator[Difference]:
    mine, theirs = here.attributes, there.attributes
    for name in dict.fromkeys((*mine, *theirs)):
        if name == DIMENSIONS_ATTRIBUTE:
            continue
        if name == FILL_ATTRIBUTE and (name not in mine or name not in theirs):
            # It marks missing values, which the fill value does in other versions: compared as such.
            continue
        if name not in theirs:
            text = attribute_text(here, name)
            yield Difference(DifferenceKind.ATTRIBUTE, here.path, name, Side.HERE, here=text)
        elif name not in mine:
            text = attribute_text(there, name)
            yield Difference(DifferenceKind.ATTRIBUTE, here.path, name, Side.THERE, there=text)
        elif not same_value(mine[name], theirs[name]):
            if name == FILL_ATTRIBUTE and _marks_alike(here, there):
                continue
            texts = attribute_text(here, name), attribute_text(there, name)
            yield Difference(DifferenceKind.ATTRIBUTE, here.path, name, Side.BOTH, *texts)
        elif not _same_types(here.attribute_types, there.attribute_types, name):
            types = here.attribute_types[name], there.attribute_types[name]
            texts = (
                f"{attribute_text(here, name)} ({types[0]})",
                f"{attribute_text(there, name)} ({types[1]})",
            )
            yield Difference(DifferenceKind.ATTRIBUTE, here.path, name, Side.BOTH, *texts)


def _marks_alike(here: ArrayNode | GroupNode, there: ArrayNode | GroupNode) -> bool:
    """Tell whether both mark missing values by the same one, however the attribute spells it."""
    if not isinstance(here, ArrayNode) or not isinstance(there, ArrayNode):
        return False
    if here.dtype is None or there.dtype is None:
        return False
    marks = mark_of_missing(here), mark_of_missing(there)
    return marks[0] is not None and _same_scalar(*marks)


def _same_types(mine: Mapping[str, str], theirs: Mapping[str, str], name: str) -> bool:
    if name not in mine or name not in theirs:
        return True
    types = {mine[name], theirs[name]}
    return len(types) == 1 or types == _TEXTS


def attribute_text(node: ArrayNode | GroupNode, name: str) -> str:
    """Return the value of an attribute as text, whole."""
    return value_text(node.attributes[name])


def value_text(value: Any) -> str:
    """Return a value as JSON text, whole; what JSON has no word for as Python writes it."""
    return json.dumps(plain_value(value), ensure_ascii=False, default=str)


def plain_value(value: Any) -> Any:
    """Return a value of an attribute as JSON has it, as far as it has a word for it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(inner) for inner in value]
    return plain_attribute(value)


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two values of attributes mean the same."""
    return _same_plain(plain_value(one), plain_value(other))


def _same_plain(one: Any, other: Any) -> bool:
    if isinstance(one, list) != isinstance(other, list):
        alone, single = (one, other) if isinstance(one, list) else (other, one)
        return len(alone) == 1 and _same_plain(alone[0], single)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same_plain, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_plain(one[name], other[name]) for name in one)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
