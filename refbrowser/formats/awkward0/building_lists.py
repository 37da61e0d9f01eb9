"""Builds arrays of lists and of text (persistence notes, section 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0 import text_codecs
from refbrowser.formats.awkward0.building_call import Call, wrong
from refbrowser.formats.awkward0.layouts import (
    BrokenLayout,
    ByteIndexedLayout,
    ByteListLayout,
    Layout,
    ListIndex,
    ListLayout,
    NumpyLayout,
    RegularLayout,
    SparseLayout,
)
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.formats.awkward0.literals import inline_layout, literal_layout
from refbrowser.limits import LIMITS

#: Parameters of the constructors that are the same for lists and text; text has its encoding after them.
_INDEX = {
    "": ("starts", "stops"),
    "fromcounts": ("counts",),
    "fromoffsets": ("offsets",),
    "fromparents": ("parents",),
    "fromuniques": ("uniques",),
    "fromlocalindex": ("index",),
}
_HOW = {
    "": ListIndex.STARTS_STOPS,
    "fromcounts": ListIndex.COUNTS,
    "fromoffsets": ListIndex.OFFSETS,
    "fromparents": ListIndex.PARENTS,
    "fromuniques": ListIndex.UNIQUES,
    "fromlocalindex": ListIndex.LOCAL_INDEX,
}
_PER_ELEMENT = (ListIndex.PARENTS, ListIndex.UNIQUES, ListIndex.LOCAL_INDEX)


def parameters_of_lists(method: str, *more: str) -> tuple[str, ...]:
    """Return the parameters of a constructor of lists: its index, the content, and others."""
    return (*_INDEX[method], "content", *more)


def lists(call: Call) -> ListLayout:
    """Build a `JaggedArray` of any constructor that has an index."""
    return _lists(call, {})


def texts(call: Call) -> ListLayout:
    """Build a `StringArray` of any such constructor."""
    return _lists(call, {"is_text": True, "encoding": _encoding(call)})


def _encoding(call: Call) -> str | None:
    value = call.plain("encoding", "utf-8")
    if value is None:
        return None
    if not isinstance(value, str):
        raise wrong(f"{quoted(value)} is no encoding of text")
    return text_codecs.codec_name(value)


def _lists(call: Call, text: dict[str, Any]) -> ListLayout:
    method = call.name.partition(".")[2]
    how = _HOW[method]
    first, *others = _INDEX[method]
    has_rank = how in (ListIndex.STARTS_STOPS, ListIndex.COUNTS)
    index: tuple[NumpyLayout, ...] = (call.basic(first) if has_rank else _index(call, first, how),)
    for name in others:
        stops = call.basic(name)
        _check_stops(call, index[0], stops)
        index = (*index, stops)
    content = call.layout("content")
    if text and not isinstance(content, BrokenLayout):
        _check_characters(call, content)
    if how in _PER_ELEMENT:
        length, wanted = length_of(index[0]), length_of(content)
        if wanted is not None and length != wanted:
            raise wrong(f"{first!r} of {call.name} has {length} elements, and its content {wanted}")
    return ListLayout(**call.common, how=how, index=index, content=content, **text)


def _index(call: Call, parameter: str, how: ListIndex) -> NumpyLayout:
    """Return the index of a constructor; a local one may be given as lists: their elements count."""
    layout = call.layout(parameter)
    if how is ListIndex.LOCAL_INDEX and isinstance(layout, ListLayout):
        inner = layout.content
        if isinstance(inner, NumpyLayout) and inner.buffer.dtype.kind in "iu":
            return inner
        raise wrong(f"{parameter!r} of {call.name} has elements that are no whole numbers")
    found = call.flat(parameter)
    if how is ListIndex.OFFSETS and not found.buffer.count:
        raise wrong(f"{parameter!r} of {call.name} is empty; there is one offset more than lists")
    return found


def _check_stops(call: Call, starts: NumpyLayout, stops: NumpyLayout) -> None:
    call.need_length("stops", stops, starts.buffer.count, "'starts'")
    if starts.buffer.dtype.shape != stops.buffer.dtype.shape:
        raise wrong(f"'starts' and 'stops' of {call.name} have different shapes")


def _check_characters(call: Call, content: Layout) -> None:
    is_right = isinstance(content, NumpyLayout) and (
        content.buffer.count == 0 or (content.buffer.dtype.itemsize == 1 and content.buffer.dtype.ndim == 0)
    )
    if not is_right:
        raise wrong(f"the content of {call.name} is not bytes")


def byte_lists(call: Call) -> ByteListLayout:
    """Build a `ByteJaggedArray`."""
    method = call.name.partition(".")[2]
    index = tuple(call.flat(name) for name in _INDEX[method])
    if len(index) > 1:
        _check_stops(call, *index)
    content, dtype = _bytes_and_type(call)
    return ByteListLayout(**call.common, how=_HOW[method], index=index, content=content, dtype=dtype)


def byte_indexed(call: Call) -> ByteIndexedLayout:
    """Build a `ByteIndexedArray`."""
    content, dtype = _bytes_and_type(call)
    return ByteIndexedLayout(**call.common, index=call.flat("index"), content=content, dtype=dtype)


def _bytes_and_type(call: Call) -> tuple[NumpyLayout, np.dtype[Any]]:
    content = call.flat("content", "biuSV")
    if content.buffer.count and content.buffer.dtype.itemsize != 1:
        raise wrong(f"the content of {call.name} is not bytes")
    dtype = call.meaning("dtype") if call.has("dtype") else np.dtype(np.float64)
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise wrong(f"'dtype' of {call.name} is not a type")
    return content, dtype


def from_jagged(call: Call) -> Layout:
    """Build ``JaggedArray.fromjagged``."""
    layout = call.layout("jagged")
    if not isinstance(layout, ListLayout | RegularLayout | BrokenLayout):
        raise wrong(f"'jagged' of {call.name} is not an array of lists")
    return layout


def text_from_jagged(call: Call) -> Layout:
    """Build ``StringArray.fromjagged``."""
    layout = call.layout("jagged")
    if isinstance(layout, BrokenLayout):
        raise layout.error
    if not isinstance(layout, ListLayout):
        raise wrong(f"'jagged' of {call.name} is not an array of lists")
    _check_characters(call, layout.content)
    return ListLayout(
        **call.common,
        how=layout.how,
        index=layout.index,
        content=layout.content,
        is_text=True,
        encoding=_encoding(call),
    )


def from_regular(call: Call) -> Layout:
    """Build ``fromregular``: an array of several dimensions is one of lists already."""
    layout = call.basic("regular", "biufcmMSUV")
    if not layout.buffer.dtype.ndim:
        raise wrong(f"'regular' of {call.name} has one dimension only")
    return layout


def from_folding(call: Call) -> Layout:
    """Build ``fromfolding``: lists of one size, the last one shorter where the rest is."""
    content, size = call.layout("content"), call.integer("size")
    if isinstance(content, BrokenLayout):
        raise content.error
    length = length_of(content)
    if size < 1 or length is None:
        raise wrong(f"{call.name} makes lists of {size} out of {length} elements")
    if length % size == 0:
        return RegularLayout(**call.common, content=content, size=size)
    if length // size > LIMITS.metadata_values:
        message = f"{call.name} makes {length // size} lists whose last is shorter (metadata_values)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    offsets = np.append(np.arange(0, length, size, dtype=np.int64), length)
    index = inline_layout(offsets, number=call.expression.number, id=call.expression.id)
    return ListLayout(**call.common, how=ListIndex.OFFSETS, index=(index,), content=content)


def from_iterable(call: Call) -> Layout:
    """Build ``fromiter`` of lists that stand in the schema, or of an array that has some already."""
    meaning = call.meaning("iterable")
    if isinstance(meaning, Layout):
        return meaning
    values = call.plain("iterable", None)
    is_right = isinstance(values, list | tuple) and all(isinstance(each, list | tuple) for each in values)
    if not is_right:
        raise wrong(f"'iterable' of {call.name} is not a list of lists")
    return literal_layout(values, call.expression.number, call.expression.id)


def texts_from_iterable(call: Call) -> Layout:
    """Build ``StringArray.fromiter`` of texts that stand in the schema."""
    values = call.plain("iterable", None)
    is_right = isinstance(values, list | tuple) and all(isinstance(each, str | bytes) for each in values)
    if not is_right:
        raise wrong(f"'iterable' of {call.name} is not a list of texts")
    return _text_array(call, list(values))


def _text_array(call: Call, values: list[Any]) -> Layout:
    common = {"number": call.expression.number, "id": call.expression.id}
    if values:
        return literal_layout(values, call.expression.number, call.expression.id)
    empty = inline_layout(np.zeros(0, np.int64), **common)
    content = inline_layout(np.zeros(0, np.uint8), **common)
    encoding = _encoding(call)
    return ListLayout(
        **call.common, how=ListIndex.COUNTS, index=(empty,), content=content, is_text=True, encoding=encoding
    )


def from_text(call: Call) -> Layout:
    """Build ``StringArray.fromstr``: one text again and again."""
    length, text = call.integer("length"), call.plain("string", None)
    if not 0 <= length <= LIMITS.elements or not isinstance(text, str | bytes):
        raise wrong(f"{call.name} makes {length} texts of {quoted(text)}")
    index = inline_layout(np.zeros(0, np.int64), number=call.expression.number, id=call.expression.id)
    return SparseLayout(
        **call.common, length=length, index=index, content=_text_array(call, []), default=text
    )


def from_numpy_text(call: Call) -> Layout:
    """Build ``StringArray.fromnumpy``: a basic array of texts of one size is one of texts already."""
    return call.basic("array", "SU")
