"""Forms of Awkward 2 for layouts whose buffers it can take as they are, offsets for counts aside."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, MaskForm

Form = dict[str, Any]
#: Types of offsets and indexes, as forms spell them.
_INDEXES = {"int32": "i32", "uint32": "u32", "int64": "i64"}
_NUMBERS = frozenset("biufcmM")
_OPTIONS = frozenset({"ByteMaskedArray", "BitMaskedArray", "IndexedOptionArray", "UnmaskedArray"})
_INDIRECT = _OPTIONS | {"IndexedArray", "UnionArray"}


class _NoFormError(Exception):
    """Awkward 2 has no form of a layout, or its buffers would have to be changed."""


def form_of(layout: Layout) -> Form | None:
    """Return the form of a layout, as JSON; None where Awkward 2 could not take its buffers.

    ``awkward.from_buffers(form, length, buffers)`` restores the array, where the buffers have the names of
    `buffer_arrays`, with offsets beside counts, and an index beside tags that are alone.
    """
    try:
        return _form(layout)
    except _NoFormError:
        return None


def _form(layout: Layout) -> Form:
    match layout:
        case layouts.NumpyLayout():
            return _number(layout)
        case layouts.ListLayout():
            return _list(layout)
        case layouts.RegularLayout():
            content = _form(layout.content)
            return {"class": "RegularArray", "size": layout.size, "content": content, "parameters": {}}
        case layouts.RecordLayout():
            return _record(layout)
        case layouts.UnionLayout():
            return _union(layout)
        case layouts.MaskedLayout():
            return _masked(layout)
        case layouts.IndexedLayout():
            content = _form(layout.content)
            if content["class"] in _INDIRECT:
                raise _NoFormError
            index = _index(layout.index)
            return _with_key({"class": "IndexedArray", "index": index, "content": content}, layout)
        case layouts.ObjectLayout():
            return _form(layout.content)
        case layouts.VirtualLayout() if layout.content is not None:
            return _form(layout.content)
    raise _NoFormError


def _with_key(form: Form, layout: Layout) -> Form:
    return {"parameters": {}, **form, "form_key": layout.key}


def _basic(layout: Layout, kinds: frozenset[str] | str) -> np.dtype[Any]:
    """Return the type of a basic array of numbers in the order of this machine."""
    if not isinstance(layout, layouts.NumpyLayout):
        raise _NoFormError
    base = layout.buffer.dtype.base
    if base.kind not in kinds or not base.isnative or base.hasobject:
        raise _NoFormError
    return base


def _index(layout: Layout) -> str:
    dtype = _basic(layout, "iu")
    is_flat = isinstance(layout, layouts.NumpyLayout) and not layout.buffer.dtype.ndim
    if dtype.name not in _INDEXES or not is_flat:
        raise _NoFormError
    return _INDEXES[dtype.name]


def _number(layout: layouts.NumpyLayout) -> Form:
    dtype = _basic(layout, _NUMBERS)
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        raise _NoFormError
    inner = list(layout.buffer.dtype.shape)
    return _with_key({"class": "NumpyArray", "primitive": dtype.name, "inner_shape": inner}, layout)


def _list(layout: layouts.ListLayout) -> Form:
    form: Form = {"content": _content(layout)}
    if layout.is_text:
        form["parameters"] = {"__array__": "string" if layout.encoding else "bytestring"}
    if layout.how is ListIndex.COUNTS:
        _basic(layout.index[0], "iu")
        if layout.index[0].buffer.dtype.ndim:  # type: ignore[attr-defined]
            raise _NoFormError
        return _with_key({"class": "ListOffsetArray", "offsets": "i64", **form}, layout)
    if layout.how is ListIndex.OFFSETS:
        return _with_key({"class": "ListOffsetArray", "offsets": _index(layout.index[0]), **form}, layout)
    if layout.how is not ListIndex.STARTS_STOPS:
        raise _NoFormError
    starts, stops = (_index(each) for each in layout.index)
    if starts != stops:
        raise _NoFormError
    return _with_key({"class": "ListArray", "starts": starts, "stops": stops, **form}, layout)


def _content(layout: layouts.ListLayout) -> Form:
    if not layout.is_text:
        return _form(layout.content)
    if layout.encoding not in (None, "utf-8", "ascii"):
        raise _NoFormError
    if _basic(layout.content, "u").itemsize != 1:
        raise _NoFormError
    parameters = {"__array__": "char" if layout.encoding else "byte"}
    return {**_form(layout.content), "parameters": parameters}


def _record(layout: layouts.RecordLayout) -> Form:
    view = layout.view
    is_whole = view is None or (isinstance(view, layouts.SliceView) and (view.start, view.step) == (0, 1))
    if layout.is_jagged:
        raise _NoFormError
    form: Form = {
        "class": "RecordArray",
        "fields": [name for name, _ in layout.fields],
        "contents": [_form(field) for _, field in layout.fields],
        "parameters": {"__record__": layout.name} if layout.name else {},
    }
    if is_whole:
        return form
    if not isinstance(view, Layout):
        raise _NoFormError
    return _with_key({"class": "IndexedArray", "index": _index(view), "content": form}, layout)


def _union(layout: layouts.UnionLayout) -> Form:
    contents = [_form(content) for content in layout.contents]
    is_plain = all(content["class"] not in _INDIRECT for content in contents)
    if not is_plain or not 2 <= len(contents) <= 127:
        raise _NoFormError
    if _basic(layout.tags, "iu").itemsize != 1:
        raise _NoFormError
    index = "i64" if layout.index is None else _index(layout.index)
    return _with_key({"class": "UnionArray", "tags": "i8", "index": index, "contents": contents}, layout)


def _masked(layout: layouts.MaskedLayout) -> Form:
    content = _form(layout.content)
    if content["class"] in _INDIRECT:
        raise _NoFormError
    if layout.mask is None:
        return {"class": "UnmaskedArray", "content": content, "parameters": {}}
    if layout.form is MaskForm.INDEX:
        index = _index(layout.mask)
        if layout.masked_when != -1 or index == "u32":
            raise _NoFormError
        return _with_key({"class": "IndexedOptionArray", "index": index, "content": content}, layout)
    if _basic(layout.mask, "biu").itemsize != 1:
        raise _NoFormError
    form: Form = {"mask": "i8", "valid_when": not layout.masked_when, "content": content}
    if layout.form is MaskForm.BYTES:
        return _with_key({"class": "ByteMaskedArray", **form}, layout)
    form |= {"mask": "u8", "lsb_order": layout.is_lsb}
    return _with_key({"class": "BitMaskedArray", **form}, layout)
