"""Nested rows as Python values: numbers, text, bytes, lists, dicts, None; their number is known first.

Rows may share what they hold (lists that overlap, rows that are picked twice): what is shared is made once.
Nothing here calls itself: values that go on in themselves may be deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS

_Weights = npt.NDArray[np.float64]


def python_values(content: Any) -> list[Any]:
    """Return the rows of an ``awkward.contents.Content``.

    Records are dicts (tuples of fields that have no names), times numpy's scalars, bytes `bytes`.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: written out they are too many.
    """
    check_number(content)
    return _values(content)


def check_number(content: Any) -> None:
    """Raise `E_BUDGET` where rows hold too many values, each counted as often as it is shown."""
    _count(content, np.ones(content.length), _Budget(LIMITS.awkward_values))


def check_shared(content: Any) -> None:
    """Raise `E_BUDGET` where rows that share what they hold, each written out, are much more than is held."""
    if _is_shared(content):
        most = max(LIMITS.awkward_values, content.nbytes)
        _count(content, np.ones(content.length), _Budget(most))


def _is_shared(content: Any) -> bool:
    """Tell whether lists may overlap, or rows be picked twice."""
    kind = type(content).__name__
    if kind in ("ListArray", "IndexedArray", "IndexedOptionArray", "UnionArray"):
        return True
    if kind in ("NumpyArray", "EmptyArray"):
        return False
    return any(map(_is_shared, content.contents if kind == "RecordArray" else [content.content]))


#: What makes the values of a content: a list, or what asks for those of contents below, one after the other.
_Made = list[Any] | Generator[Any, list[Any], list[Any]]


def _values(content: Any) -> list[Any]:
    made = _make(content)
    if isinstance(made, list):
        return made
    value: Any = None
    waiting = [made]
    while waiting:
        try:
            below = _make(waiting[-1].send(value))
        except StopIteration as end:
            value = end.value
            waiting.pop()
            continue
        value = below if isinstance(below, list) else None
        if not isinstance(below, list):
            waiting.append(below)
    values: list[Any] = value
    return values


def _make(content: Any) -> _Made:
    return _MAKERS[type(content).__name__](content)


def _numbers(content: Any) -> _Made:
    data = np.asarray(content.data)
    if data.dtype.kind in "mM" or data.dtype.itemsize > 16 or data.dtype.char == "g":
        # Python's own types have not all that these tell.
        return list(data) if data.ndim == 1 else _make(content.to_RegularArray())
    made: list[Any] = data.tolist()
    return made


def _lists(content: Any) -> _Made:
    starts, stops = edges_of(content)
    kind = content.parameter("__array__")
    if kind in ("string", "bytestring"):
        return _texts(content, starts, stops, is_text=kind == "string")
    return _cut(content, starts, stops)


def _cut(content: Any, starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> _Made:
    inner = yield content.content[: int(stops.max(initial=0))]
    return [inner[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def edges_of(content: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each list of a list-type content begins and ends in its content."""
    if type(content).__name__ == "RegularArray":
        starts = np.arange(content.length, dtype=np.int64) * content.size
        return starts, starts + content.size
    return np.asarray(content.starts.data, np.int64), np.asarray(content.stops.data, np.int64)


def _texts(
    content: Any, starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64], *, is_text: bool
) -> list[Any]:
    whole = np.asarray(content.content.data).tobytes() if content.content.length else b""
    rows = [whole[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    return [row.decode("utf-8", "replace") for row in rows] if is_text else rows


def _records(content: Any) -> _Made:
    columns = []
    for at in range(len(content.contents)):
        columns.append((yield content.content(at)[: content.length]))
    if content.is_tuple:
        return list(zip(*columns, strict=True)) if columns else [()] * content.length
    names = content.fields
    if not columns:
        return [{} for _ in range(content.length)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _picked(content: Any) -> _Made:
    inner = yield content.content
    return [inner[at] for at in np.asarray(content.index.data).tolist()]


def _options(content: Any) -> _Made:
    option = content.to_IndexedOptionArray64()
    inner = yield option.content
    return [None if at < 0 else inner[at] for at in np.asarray(option.index.data).tolist()]


def _unions(content: Any) -> _Made:
    inner = []
    for each in content.contents:
        inner.append((yield each))
    tags, rows = np.asarray(content.tags.data).tolist(), np.asarray(content.index.data).tolist()
    return [inner[tag][at] for tag, at in zip(tags, rows, strict=False)]


_MAKERS: dict[str, Callable[[Any], _Made]] = {
    "EmptyArray": lambda content: [],
    "NumpyArray": _numbers,
    "ListOffsetArray": _lists,
    "ListArray": _lists,
    "RegularArray": _lists,
    "RecordArray": _records,
    "IndexedArray": _picked,
    "IndexedOptionArray": _options,
    "ByteMaskedArray": _options,
    "BitMaskedArray": _options,
    "UnmaskedArray": _options,
    "UnionArray": _unions,
}


# How many there will be: each row of a content counts as often as it is shown


class _Budget:
    def __init__(self, most: int) -> None:
        self.most = most
        self._left = float(most)

    def take(self, number: float) -> None:
        self._left -= number
        if self._left < 0:
            message = f"these rows hold more than {self.most} values"
            raise RefbrowserError(ErrorKind.BUDGET, message, advice="read fewer rows")


def _count(content: Any, weights: _Weights, budget: _Budget) -> None:
    pending = [(content, weights)]
    while pending:
        pending += _counted(*pending.pop(), budget)


def _counted(content: Any, weights: _Weights, budget: _Budget) -> Iterator[tuple[Any, _Weights]]:
    """Count the values of a content; yields those below, with how often each is shown."""
    budget.take(float(weights.sum()))
    kind = type(content).__name__
    if kind in ("ListOffsetArray", "ListArray", "RegularArray"):
        yield from _count_lists(content, weights, budget)
    elif kind == "RecordArray":
        for at in range(len(content.contents)):
            yield content.content(at)[: content.length], weights
    elif kind == "UnionArray":
        tags, rows = np.asarray(content.tags.data), np.asarray(content.index.data)[: content.length]
        for tag, each in enumerate(content.contents):
            of_tag = tags == tag
            yield each, _summed(rows[of_tag], weights[of_tag], each.length)
    elif content.is_option:
        option = content.to_IndexedOptionArray64()
        rows = np.asarray(option.index.data)
        there = rows >= 0
        yield option.content, _summed(rows[there], weights[there], option.content.length)
    elif kind == "IndexedArray":
        rows = np.asarray(content.index.data)
        yield content.content, _summed(rows, weights, content.content.length)
    elif kind == "NumpyArray":
        inner = np.prod(content.data.shape[1:], dtype=np.float64)
        budget.take(float(weights.sum()) * (inner - 1))


def _count_lists(content: Any, weights: _Weights, budget: _Budget) -> Iterator[tuple[Any, _Weights]]:
    starts, stops = edges_of(content)
    if content.parameter("__array__") is not None:
        # Texts are one value each, as long as they are.
        budget.take(float(((stops - starts) * weights).sum()) / 8)
        return
    total = float(((stops - starts) * weights).sum())
    if total > budget.most:
        budget.take(total)
    size = content.content.length
    changes = np.bincount(starts, weights, size + 1) - np.bincount(stops, weights, size + 1)
    yield content.content, np.cumsum(changes)[:size]


def _summed(rows: npt.NDArray[Any], weights: _Weights, size: int) -> _Weights:
    return np.bincount(rows, weights, size).astype(np.float64, copy=False)
