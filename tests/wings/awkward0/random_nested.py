"""Random arrays of Awkward 2 that Awkward 0 can hold."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
from hypothesis import strategies as st

DTYPES = ("i1", "u2", "i4", "u8", "f4", "f8", "?")
TEXTS = ("", "a", "zwölf", "\U0001f600 x", "\x00")


@st.composite
def contents(draw: st.DrawFn, length: int, depth: int = 3, *, plain: bool = False) -> Any:
    """Return a content of some length; `plain` ones are neither options nor unions."""
    kinds = ["numbers", "texts"] if depth == 0 else ["numbers", "texts", "lists", "regular", "record"]
    if depth and not plain:
        kinds += ["option", "index option", "union"]
    kind = draw(st.sampled_from(kinds))
    return draw(_MAKERS[kind](length, depth - 1))


@st.composite
def _numbers(draw: st.DrawFn, length: int, _: int) -> Any:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    if dtype.kind == "f":
        values = random.normal(size=length).astype(dtype)
        values[random.random(length) < 0.1] = np.nan
        return ak.contents.NumpyArray(values)
    if dtype.kind == "b":
        return ak.contents.NumpyArray(random.random(length) < 0.5)
    facts = np.iinfo(dtype)
    return ak.contents.NumpyArray(random.integers(facts.min, facts.max, length, dtype, endpoint=True))


@st.composite
def _texts(draw: st.DrawFn, length: int, _: int) -> Any:
    texts = draw(st.lists(st.sampled_from(TEXTS), min_size=length, max_size=length))
    if draw(st.booleans()):
        return ak.from_iter([*texts, "x"], highlevel=False)[:length]
    return ak.from_iter([*(each.encode() for each in texts), b"x"], highlevel=False)[:length]


@st.composite
def _lists(draw: st.DrawFn, length: int, depth: int) -> Any:
    counts = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    below = draw(contents(sum(counts), depth))
    offsets = np.concatenate([[0], np.cumsum(counts, dtype="i8")]).astype("i8")
    return ak.contents.ListOffsetArray(ak.index.Index64(offsets), below)


@st.composite
def _regular(draw: st.DrawFn, length: int, depth: int) -> Any:
    size = draw(st.integers(1, 3))
    return ak.contents.RegularArray(draw(contents(size * length, depth)), size, zeros_length=length)


@st.composite
def _record(draw: st.DrawFn, length: int, depth: int) -> Any:
    names = draw(st.lists(st.sampled_from(["x", "y", "a b", "ö"]), min_size=1, max_size=3, unique=True))
    return ak.contents.RecordArray([draw(contents(length, depth)) for _ in names], names, length)


@st.composite
def _option(draw: st.DrawFn, length: int, depth: int) -> Any:
    mask = np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), "i1")
    return ak.contents.ByteMaskedArray(
        ak.index.Index8(mask), draw(contents(length, depth, plain=True)), valid_when=draw(st.booleans())
    )


@st.composite
def _index_option(draw: st.DrawFn, length: int, depth: int) -> Any:
    below = draw(contents(3, depth, plain=True))
    index = draw(st.lists(st.integers(-1, 2), min_size=length, max_size=length))
    return ak.contents.IndexedOptionArray(ak.index.Index64(np.array(index, "i8")), below)


@st.composite
def _union(draw: st.DrawFn, length: int, depth: int) -> Any:
    tags = np.array(draw(st.lists(st.integers(0, 1), min_size=length, max_size=length)), "i1")
    index = np.where(tags == 0, np.cumsum(tags == 0) - 1, np.cumsum(tags == 1) - 1).astype("i8")
    one, other = int((tags == 0).sum()), int((tags == 1).sum())
    return ak.contents.UnionArray(
        ak.index.Index8(tags),
        ak.index.Index64(index),
        [draw(_numbers(one, 0)), draw(_texts(other, 0) if depth < 1 else _record(other, 0))],
    )


_MAKERS = {
    "numbers": _numbers,
    "texts": _texts,
    "lists": _lists,
    "regular": _regular,
    "record": _record,
    "option": _option,
    "index option": _index_option,
    "union": _union,
}
