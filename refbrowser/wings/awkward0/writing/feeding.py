"""Adding rows that are awkward's arrays, of the types that this program tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.exact_numbers import holds_all
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.wings.awkward0.writing.parts import (
    EmptyPart,
    FoldedPart,
    ListPart,
    MaskedPart,
    NumbersPart,
    OptionPart,
    Part,
    RecordPart,
    TextPart,
    UnionPart,
)

_TEXTS = {"string": TypeKind.STRING, "bytestring": TypeKind.BYTES}


def type_of_content(content: Any) -> NestedType:
    """Return the type of one element of an ``awkward.contents.Content``."""
    return _type(content.form, 0)


def _type(form: Any, depth: int) -> NestedType:
    if depth > LIMITS.group_nesting:
        raise RefbrowserError(ErrorKind.BUDGET, f"types nested deeper than {LIMITS.group_nesting} levels")
    if form.is_list and form.parameter("__array__") in _TEXTS:
        return NestedType(_TEXTS[form.parameter("__array__")])
    if form.is_numpy:
        return _number_type(np.dtype(form.primitive), tuple(form.inner_shape))
    if form.is_union:
        return NestedType(TypeKind.UNION, items=tuple(_type(each, depth + 1) for each in form.contents))
    if form.is_record:
        items = tuple(_type(each, depth + 1) for each in form.contents)
        name = form.parameter("__record__") or ""
        return NestedType(
            TypeKind.RECORD, items=items, fields=tuple(form.fields), is_tuple=form.is_tuple, name=name
        )
    if form.is_list:
        size = int(form.size) if form.is_regular else None
        return NestedType(TypeKind.LIST, size=size, items=(_type(form.content, depth + 1),))
    if form.is_option:
        return NestedType(TypeKind.OPTION, items=(_type(form.content, depth + 1),))
    if form.is_indexed:
        return _type(form.content, depth + 1)
    if form.is_unknown:
        return NestedType(TypeKind.EMPTY)
    raise RefbrowserError(ErrorKind.SCHEMA, f"there is no form for {quoted(type(form).__name__)}")


def _number_type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NestedType:
    made = NestedType(TypeKind.NUMBER, dtype=dtype)
    for size in reversed(shape):
        made = NestedType(TypeKind.LIST, size=size, items=(made,))
    return made


#: Whether a type has room for the numbers of another.
Suits = Callable[[np.dtype[Any], np.dtype[Any]], bool]


def feed(part: Part, content: Any) -> None:
    """Add the elements of an ``awkward.contents.Content`` as rows.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: they are of another type.
    """
    content = _plain(content)
    if isinstance(part, MaskedPart):
        _feed_masked(part, content)
    elif isinstance(part, OptionPart):
        missing, present = _without_missing(content)
        part.add(missing)
        feed(part.content, present)
    elif isinstance(part, UnionPart):
        _feed_union(part, content)
    elif isinstance(part, EmptyPart):
        part.check(len(content))
    elif content.is_unknown:
        return
    elif isinstance(part, RecordPart):
        for name, below in part.fields.items():
            feed(below, _field(content, name))
    elif isinstance(part, NumbersPart):
        part.add(_numbers(content, part.dtype))
    else:
        _feed_lists(part, content)


def _plain(content: Any) -> Any:
    """Return elements in the order in which an index has them, and not as options that miss none."""
    while (content.is_indexed and not content.is_option) or type(content).__name__ == "UnmaskedArray":
        content = content.project()
    return content


def _feed_masked(part: MaskedPart, content: Any) -> None:
    missing, present = _without_missing(content)
    values = _numbers(present, part.content.dtype)
    if missing.any():
        spread = np.zeros((len(missing), *part.content.dtype.shape), part.content.dtype.base)
        spread[~missing] = values
        values = spread
    part.mask.add(missing)
    part.content.add(values)


def _feed_lists(part: Part, content: Any) -> None:
    if content.is_numpy:
        content = content.to_RegularArray()
    if not content.is_list:
        raise _other_type()
    if content.parameter("__array__") != _array_name(part):
        raise _other_type()
    lists = content.to_ListOffsetArray64(True)
    offsets = np.asarray(lists.offsets)
    counts, below = np.diff(offsets), lists.content[: int(offsets[-1])]
    if isinstance(part, TextPart):
        part.counts.add(counts)
        part.content.add(np.asarray(below.data).view(np.uint8))
    elif isinstance(part, ListPart):
        part.counts.add(counts)
        feed(part.content, below)
    elif isinstance(part, FoldedPart):
        if np.any(counts != part.size):
            raise _other_type()
        feed(part.content, below)


def _array_name(part: Part) -> str | None:
    """Return what awkward calls lists of a part's kind."""
    if not isinstance(part, TextPart):
        return None
    return "bytestring" if part.encoding is None else "string"


def _field(content: Any, name: str) -> Any:
    if not content.is_record or name not in content.fields:
        raise _other_type()
    return content.content(name)


def _without_missing(content: Any) -> tuple[npt.NDArray[np.bool_], Any]:
    """Return which elements are missing, and the others."""
    if content.is_option:
        missing = np.asarray(content.mask_as_bool(valid_when=False))
        return missing, _plain(content.project())
    if content.is_union and any(each.is_option for each in content.contents):
        return _union_without_missing(content)
    return np.zeros(len(content), np.bool_), content


def _union_without_missing(content: Any) -> tuple[npt.NDArray[np.bool_], Any]:
    """Return the same of a union whose possibilities are options."""
    tags, index = _tags_and_index(content)
    missing = np.zeros(len(tags), np.bool_)
    contents = []
    for number, each in enumerate(content.contents):
        chosen = np.flatnonzero(tags == number)
        missing_here, present = _without_missing(_plain(each[index[chosen]]))
        missing[chosen] = missing_here
        contents.append(present)
    tags = tags[~missing]
    running = np.zeros(len(tags), np.int64)
    for number in range(len(contents)):
        running[tags == number] = np.arange(np.count_nonzero(tags == number))
    import awkward

    # Simplified, its numbers would become those of one type.
    return missing, awkward.contents.UnionArray(
        awkward.index.Index8(tags), awkward.index.Index64(running), contents
    )


def _tags_and_index(content: Any) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    tags = np.asarray(content.tags)
    return tags, np.asarray(content.index)[: len(tags)].astype(np.int64, copy=False)


def _feed_union(part: UnionPart, content: Any) -> None:
    if not content.is_union:
        number = _possibility(part, content) if len(content) else 0
        part.tags.add(np.full(len(content), number, np.uint8))
        if len(content):
            feed(part.contents[number], content)
        return
    tags, index = _tags_and_index(content)
    written = np.zeros(len(tags), np.uint8)
    taken: set[int] = set()
    for number, each in enumerate(content.contents):
        chosen = np.flatnonzero(tags == number)
        if not len(chosen):
            continue
        own = _plain(each[index[chosen]])
        target = _possibility(part, own)
        if target in taken:
            raise _other_type()
        taken.add(target)
        written[chosen] = target
        feed(part.contents[target], own)
    part.tags.add(written)


def _possibility(part: UnionPart, content: Any) -> int:
    """Return the possibility that a content is one of: of its own type, else of one that has its numbers."""
    for suits in (_is_same, holds_all):
        for number, each in enumerate(part.contents):
            if _fits(each, content, suits):
                return number
    raise _other_type()


def _fits(part: Part, content: Any, suits: Suits) -> bool:
    """Tell whether elements can be added to a part, whose types of numbers are suited to theirs."""
    content = _plain(content)
    if content.is_unknown:
        return True
    if isinstance(part, (MaskedPart, OptionPart)):
        return _fits(part.content, _without_missing(content)[1], suits)
    if isinstance(part, UnionPart):
        pieces = content.contents if content.is_union else [content]
        return all(any(_fits(each, piece, suits) for each in part.contents) for piece in pieces)
    if isinstance(part, RecordPart):
        if not content.is_record or set(content.fields) != part.fields.keys():
            return False
        return all(_fits(below, content.content(name), suits) for name, below in part.fields.items())
    if isinstance(part, NumbersPart):
        found = _regular(content)
        return (
            found is not None and found.shape[1:] == part.dtype.shape and suits(part.dtype.base, found.dtype)
        )
    if not content.is_list:
        return False
    if content.parameter("__array__") != _array_name(part):
        return False
    if isinstance(part, TextPart):
        return True
    if isinstance(part, FoldedPart):
        return (
            content.is_regular and content.size == part.size and _fits(part.content, content.content, suits)
        )
    return isinstance(part, ListPart) and _fits(part.content, content.content, suits)


def _numbers(content: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return elements as rows of a basic array.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: they are none.
    """
    if content.is_unknown:
        return np.zeros((0, *dtype.shape), dtype.base)
    found = _regular(content)
    if found is None or found.shape[1:] != dtype.shape or not holds_all(dtype.base, found.dtype):
        raise _other_type()
    return found


def _regular(content: Any) -> npt.NDArray[Any] | None:
    content = _plain(content)
    if content.is_numpy:
        return np.asarray(content.data)
    if not content.is_regular or content.parameter("__array__") is not None:
        return None
    below = _regular(content.content[: len(content) * content.size])
    return None if below is None else below.reshape(len(content), content.size, *below.shape[1:])


def _is_same(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Tell whether two types differ in their byte order at most."""
    return one.newbyteorder("=") == other.newbyteorder("=")


def _other_type() -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, "rows have a different type from the array")
