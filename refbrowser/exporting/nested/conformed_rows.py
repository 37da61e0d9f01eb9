"""Blocks of nested rows brought to the one form that a target has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.nested.target_types import TargetType, path_text
from refbrowser.model.exact_numbers import holds_all, narrowed
from refbrowser.model.nested import TypeKind, TypePath, steps_of

#: Awkward's word for lists that are texts.
_TEXTS = {TypeKind.STRING: "string", TypeKind.BYTES: "bytestring"}


class MissingValuesError(RefbrowserError):
    """Values are missing where the type has none; `where` is the place in the type."""

    def __init__(self, where: TypePath, place: Place = NOWHERE) -> None:
        message = f"values are missing in {quoted(path_text(where) or 'the rows')}"
        super().__init__(ErrorKind.DECODE, message, place)
        self.where = where


def conformed(content: Any, type: TargetType, path: TypePath = ()) -> Any:
    """Return a content of the same rows in the canonical form of a type.

    Parameters
    ----------
    content
        An ``awkward.contents.Content``.
    path
        Where in the type of a row it is, for errors.

    Raises
    ------
    MissingValuesError
        Values are missing where the type has no option.
    RefbrowserError
        `DECODE`: the content is of another type.
    """
    content = _direct(content)
    if type.kind is TypeKind.OPTION:
        return _option(content, type, path)
    if content.is_option and type.kind is not TypeKind.UNION:
        content = _all_there(content, path)
    return _CONFORM[type.kind](content, type, path)


def _direct(content: Any) -> Any:
    """Return a content without an index in front of it; regular dimensions of numbers are lists."""
    while content.is_indexed and not content.is_option:
        content = content.project()
    if content.is_numpy and content.purelist_depth > 1:
        content = content.to_RegularArray()
    return content


def _all_there(content: Any, path: TypePath) -> Any:
    if not np.all(_there(content)):
        raise MissingValuesError(path)
    return _direct(content.project())


def _there(content: Any) -> npt.NDArray[np.bool_]:
    """Return which entries of an option are not missing."""
    return np.asarray(content.mask_as_bool(valid_when=True))[: content.length]


def _option(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import IndexedOptionArray
    from awkward.index import Index64

    inner, there = content, np.ones(content.length, bool)
    if content.is_option:
        there = _there(content)
        inner = _direct(content.project())
    if type.source.kind is TypeKind.NUMBER and inner.is_numpy and inner.dtype.kind in "mM":
        known = ~np.isnat(inner.data)
        there[there] = known
        inner = inner[known]
    if type.items[0].kind is TypeKind.EMPTY:
        there[:], inner = False, inner[:0]
    index = np.where(there, np.cumsum(there) - 1, -1)
    return IndexedOptionArray(Index64(index), conformed(inner, type.items[0], path))


def _number(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import NumpyArray

    dtype = type.known_dtype
    if content.is_unknown:
        return NumpyArray(np.zeros(0, dtype))
    if not content.is_numpy:
        raise _unlike(content, type, path)
    data = np.asarray(content.data)
    if not _becomes(data.dtype, type):
        raise _unlike(content, type, path)
    return NumpyArray(np.ascontiguousarray(narrowed(data, dtype).astype(dtype, copy=False)))


def _becomes(dtype: np.dtype[Any], type: TargetType) -> bool:
    """Tell whether numbers are written as those of a type: all of them are in it, or it was told."""
    is_told = type.source.dtype is not None and type.source.dtype.newbyteorder("=") == dtype
    wanted = type.known_dtype
    return holds_all(wanted, dtype) or (is_told and np.can_cast(dtype, wanted, "same_kind"))


def _text(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import ListOffsetArray, NumpyArray

    wanted = _TEXTS[type.kind]
    if not content.is_unknown and content.parameter("__array__") != wanted:
        raise _unlike(content, type, path)
    inner = NumpyArray(
        np.zeros(0, np.uint8), parameters={"__array__": "char" if wanted == "string" else "byte"}
    )
    if content.is_unknown:
        return ListOffsetArray(_no_offsets(), inner, parameters={"__array__": wanted})
    lists = content.to_ListOffsetArray64(True)
    data = np.ascontiguousarray(np.asarray(lists.content.data)[: lists.offsets[-1]], np.uint8)
    inner = NumpyArray(data, parameters=inner.parameters)
    return ListOffsetArray(lists.offsets, inner, parameters={"__array__": wanted})


def _no_offsets() -> Any:
    from awkward.index import Index64

    return Index64(np.zeros(1, np.int64))


def _list(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import EmptyArray, ListOffsetArray, RegularArray

    if not content.is_unknown and (not content.is_list or content.parameter("__array__") is not None):
        raise _unlike(content, type, path)
    (below,) = steps_of(type)
    if content.is_unknown or not content.length:
        inner = conformed(EmptyArray(), type.items[0], (*path, *below))
        return ListOffsetArray(_no_offsets(), inner) if type.size is None else RegularArray(inner, type.size)
    if type.size is None:
        lists = content.to_ListOffsetArray64(True)
        inner = conformed(lists.content[: lists.offsets[-1]], type.items[0], (*path, *below))
        return ListOffsetArray(lists.offsets, inner)
    lists = content if content.is_regular else _regular(content, type, path)
    if lists.size != type.size:
        raise _unlike(content, type, path)
    inner = conformed(lists.content[: lists.length * lists.size], type.items[0], (*path, *below))
    return RegularArray(inner, type.size, lists.length)


def _regular(content: Any, type: TargetType, path: TypePath) -> Any:
    lists = content.to_ListOffsetArray64(True)
    if not np.all(np.diff(np.asarray(lists.offsets)) == type.size):
        raise _unlike(content, type, path)
    return lists.to_RegularArray()


def _record(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import EmptyArray, RecordArray

    parameters = {"__record__": type.record_name} if type.record_name else None
    fields = None if type.is_tuple else list(type.fields)
    length = content.length
    if type.source.kind is TypeKind.UNION:
        parts = _possibilities(content, type, path)
    elif content.is_unknown:
        parts = [EmptyArray() for _ in type.fields]
    elif type.source.kind is TypeKind.NUMBER:
        parts = _complex_parts(content, type, path)
    else:
        parts = _field_parts(content, type, path)
    # Possibilities of a union are in their form already.
    below = [item.settled for item in type.items] if type.source.kind is TypeKind.UNION else type.items
    items = [
        conformed(part, item, (*path, *step))
        for part, item, step in zip(parts, below, steps_of(type), strict=True)
    ]
    return RecordArray(items, fields, length, parameters=parameters)


def _field_parts(content: Any, type: TargetType, path: TypePath) -> list[Any]:
    if not content.is_record or not set(type.fields) <= set(content.fields):
        raise _unlike(content, type, path)
    return [content.content(name) for name in type.fields]


def _complex_parts(content: Any, type: TargetType, path: TypePath) -> list[Any]:
    from awkward.contents import NumpyArray

    if not content.is_numpy:
        raise _unlike(content, type, path)
    data = np.asarray(content.data)
    return [NumpyArray(np.ascontiguousarray(part)) for part in (data.real, data.imag)]


def _possibilities(content: Any, type: TargetType, path: TypePath) -> list[Any]:
    """Return, for each possibility of a union, its values where they are it, else missing."""
    from awkward.contents import IndexedOptionArray
    from awkward.index import Index64

    tags, parts = _union_parts(content, type, path)
    found = []
    for number, part in enumerate(parts):
        here = tags == number
        index = Index64(np.where(here, np.cumsum(here) - 1, -1))
        found.append(IndexedOptionArray.simplified(index, part))
    return found


def _union(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import UnionArray
    from awkward.index import Index8, Index64

    tags, parts = _union_parts(content, type, path)
    if len(parts) == 1:
        return parts[0]
    index = np.zeros(len(tags), np.int64)
    for number, part in enumerate(parts):
        index[tags == number] = np.arange(part.length)
    return UnionArray(Index8(tags.astype(np.int8)), Index64(index), parts)


def _union_parts(content: Any, type: TargetType, path: TypePath) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return which possibility each entry is, and the entries of each, in order and in canonical form."""
    import awkward
    from awkward.contents import EmptyArray

    steps = steps_of(type)
    if content.is_union:
        held = np.asarray(content.tags)[: content.length]
        possible = [(held == number, content.project(number)) for number in range(len(content.contents))]
    else:
        possible = [(np.ones(content.length, bool), content)]
    tags = np.zeros(content.length, np.int64)
    gathered: list[list[tuple[npt.NDArray[np.int64], Any]]] = [[] for _ in type.items]
    for here, entries in possible:
        number = _best(entries, type, path)
        tags[here] = number
        made = conformed(entries, type.items[number], (*path, *steps[number]))
        gathered[number].append((np.flatnonzero(here), made))
    parts = []
    for item, step, found in zip(type.items, steps, gathered, strict=True):
        if len(found) < 2:
            parts.append(found[0][1] if found else conformed(EmptyArray(), item, (*path, *step)))
            continue
        order = np.argsort(np.concatenate([rows for rows, _ in found]), kind="stable")
        joined = awkward.concatenate([awkward.Array(made) for _, made in found])
        parts.append(conformed(joined[order].layout, item, (*path, *step)))
    return tags, parts


def _best(content: Any, type: TargetType, path: TypePath) -> int:
    """Return the possibility that a content is one of."""
    scores = [_likeness(content, item) for item in type.items]
    if max(scores) < 0:
        raise _unlike(content, type, path)
    return scores.index(max(scores))


def _likeness(content: Any, type: TargetType) -> float:
    """Return how well a content fits a type; below 0 where it does not."""
    if type.kind is TypeKind.OPTION:
        return _likeness(content, type.items[0])
    while content.is_option or (content.is_indexed and not content.is_unknown):
        content = content.content
    if content.is_unknown:
        return 0
    return _LIKENESS[type.kind](_direct(content), type)


def _number_likeness(content: Any, type: TargetType) -> float:
    if not content.is_numpy or content.parameter("__array__") is not None:
        return -1
    if type.source.dtype is not None and type.source.dtype.newbyteorder("=") == content.dtype:
        return 4
    if content.dtype == type.dtype:
        return 3
    if not _becomes(content.dtype, type):
        return -1
    return 2 if content.dtype.kind == type.known_dtype.kind else 1


def _list_likeness(content: Any, type: TargetType) -> float:
    if not content.is_list or content.parameter("__array__") is not None:
        return -1
    if content.is_regular and type.size is not None and content.length and content.size != type.size:
        return -1
    fits = content.is_regular == (type.size is not None)
    inner = _likeness(content.content, type.items[0])
    return -1 if inner < 0 else inner / 2 + fits


def _record_likeness(content: Any, type: TargetType) -> float:
    if type.source.kind is TypeKind.NUMBER:
        return 2 if content.is_numpy and content.dtype.kind == "c" else -1
    if type.source.kind is TypeKind.UNION:
        return _union_likeness(content, type)
    if not content.is_record or list(content.fields) != list(type.fields):
        return -1
    below = [
        _likeness(content.content(name), item) for name, item in zip(type.fields, type.items, strict=True)
    ]
    return min(below, default=0) / 2 + 2 if min(below, default=0) >= 0 else -1


def _union_likeness(content: Any, type: TargetType) -> float:
    contents = content.contents if content.is_union else [content]
    return min(max(_likeness(each, item) for item in type.items) for each in contents) / 4


def _text_likeness(content: Any, type: TargetType) -> float:
    return 3 if content.parameter("__array__") == _TEXTS[type.kind] else -1


def _nothing(content: Any, type: TargetType, path: TypePath) -> Any:
    from awkward.contents import EmptyArray

    if content.length:
        raise _unlike(content, type, path)
    return EmptyArray()


def _unlike(content: Any, type: TargetType, path: TypePath) -> RefbrowserError:
    where = f" in {quoted(path_text(path))}" if path else ""
    found = str(content.form.type)
    return RefbrowserError(
        ErrorKind.DECODE, f"values{where} are {quoted(found)}, not of the type {type.kind}"
    )


_CONFORM: dict[TypeKind, Callable[[Any, TargetType, TypePath], Any]] = {
    TypeKind.NUMBER: _number,
    TypeKind.LIST: _list,
    TypeKind.RECORD: _record,
    TypeKind.UNION: _union,
    TypeKind.STRING: _text,
    TypeKind.BYTES: _text,
    TypeKind.EMPTY: _nothing,
}
_LIKENESS: dict[TypeKind, Callable[[Any, TargetType], float]] = {
    TypeKind.NUMBER: _number_likeness,
    TypeKind.LIST: _list_likeness,
    TypeKind.RECORD: _record_likeness,
    TypeKind.UNION: _union_likeness,
    TypeKind.STRING: _text_likeness,
    TypeKind.BYTES: _text_likeness,
    TypeKind.EMPTY: lambda content, type: -1,
}
