"""Rows of nested arrays: read for views, exports and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.buffers import SessionBuffers, Told
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import require
from refbrowser.model.nested import UNREAD, NestedFault, NestedRows, NestedValues
from refbrowser.model.nodes import ArrayNode
from refbrowser.words import plural, span_text

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: Kinds of errors of values that stay what they are: the others are those of a file that fails.
_OWN_KINDS = (ErrorKind.BUDGET, ErrorKind.BLOCKED)
#: Fields, levels of one, and runs of rows that a message names.
_FIELDS_TOLD, _LEVELS_TOLD, _RUNS_TOLD = 3, 8, 5


def nested_values(node: ArrayNode) -> NestedValues:
    """Return what makes the rows of an array.

    Raises
    ------
    RefbrowserError
        Why they cannot be read; `E_USAGE`: its elements are not nested.
    """
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    if node.nested is None:
        message = "the elements of the array are not nested"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
    return node.nested


def read_rows(
    resources: Resources,
    node: ArrayNode,
    access: Access,
    start: int,
    stop: int,
    token: CancelToken | None = None,
    *,
    export: bool = False,
    priority: int = 0,
    told: Told | None = None,
    turns: int | None = None,
) -> NestedRows:
    """Return rows of a nested array; only what they need is read.

    Parameters
    ----------
    export
        Try failing requests longer, and keep nothing.
    priority
        Lower goes first.
    told
        Is told of bytes and requests, as they come.
    turns
        Follow cycles for no more than so many turns; None for as many as are followed at most.

    Raises
    ------
    RefbrowserError
        None of the rows can be read; the faults of the result tell of those that are read in part. Also where
        awkward is not installed.
    """
    require("awkward")
    reader = SessionBuffers(resources, access, token or CancelToken(), export, priority, told)
    values = nested_values(node)
    if turns is not None:
        values = values.turned(turns)
    return values.rows(start, stop, reader)


class UnreadError(RefbrowserError):
    """Values of some rows cannot be read, while other rows, or other fields, can.

    Attributes
    ----------
    rows
        Which rows, ascending.
    fields
        Names of the fields below which they are, joined by ``/``; empty for the rows themselves.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        place: Place,
        advice: str,
        rows: npt.NDArray[np.int64],
        fields: tuple[str, ...],
    ) -> None:
        super().__init__(kind, message, place, advice)
        self.rows = rows
        self.fields = fields

    def at(self, place: Place) -> UnreadError:
        """Return this error with another place."""
        return UnreadError(self.kind, self.message, place, self.advice, self.rows, self.fields)


def unread_error(rows: NestedRows, node: ArrayNode, start: int = 0, step: int = 1) -> UnreadError | None:
    """Return the error that values of rows could not be read; None where all could.

    Parameters
    ----------
    start
        Number of the first row.
    step
        Only each so many rows matter.
    """
    if not rows.faults:
        return None
    found = {path: at[at % step == 0] + start for path, at in unread_rows(rows.content).items()}
    found = {path: at for path, at in found.items() if len(at)}
    if not found:
        return None
    path = next(iter(found))
    fault = next((each for each in rows.faults if _is_at(each.path, path)), rows.faults[0])
    affected = np.unique(np.concatenate(list(found.values())))
    kind = fault.error.kind if fault.error.kind in _OWN_KINDS else ErrorKind.SOURCE
    message = f"{_named(found)}{_rows_text(affected)} of {node.path} cannot be read: {fault.error.message}"
    place = replace(fault.error.place, path=node.path)
    advice = fault.error.advice or "other fields and rows can still be read"
    return UnreadError(kind, message, place, advice, affected, tuple(found))


def unread_rows(content: Any) -> dict[str, npt.NDArray[np.int64]]:
    """Return the rows that have values that could not be read, ascending, by the path of these.

    Parameters
    ----------
    content
        Of `NestedRows`.
    """
    from refbrowser.engine.nested.python_values import edges_of

    found: dict[str, list[npt.NDArray[np.int64]]] = {}
    all_rows = np.arange(content.length)
    pending: list[tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, ...]]] = [
        (content, all_rows, all_rows, ())
    ]
    while pending:
        # Elements `at` of a content, and which row each of them is of.
        content, at, rows, path = pending.pop()
        if not len(at):
            continue
        if content.is_option:
            option = content.to_IndexedOptionArray64()
            index = np.asarray(option.index.data)[at]
            if option.parameter(UNREAD):
                found.setdefault("/".join(path), []).append(rows[index < 0])
            pending.append((option.content, index[index >= 0], rows[index >= 0], path))
        elif content.is_indexed:
            pending.append((content.content, np.asarray(content.index.data)[at], rows, path))
        elif content.is_record:
            below = zip(content.fields, content.contents, strict=True)
            pending += reversed([(each, at, rows, (*path, name)) for name, each in below])
        elif content.is_union:
            tags, index = np.asarray(content.tags.data)[at], np.asarray(content.index.data)[at]
            for tag, each in enumerate(content.contents):
                pending.append((each, index[tags == tag], rows[tags == tag], path))
        elif content.is_list and content.parameter("__array__") is None:
            starts, stops = edges_of(content)
            counts = (stops - starts)[at]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            below_at = np.repeat(starts[at], counts) + within
            pending.append((content.content, below_at, np.repeat(rows, counts), path))
    return {path: np.unique(np.concatenate(each)) for path, each in found.items() if sum(map(len, each))}


def _is_at(fault: str, path: str) -> bool:
    """Tell whether a fault, whose path names possibilities of unions too, is at a path of fields."""
    return [each for each in fault.split("/") if each[:1] != "#"] == [
        each for each in path.split("/") if each
    ]


def _named(found: Mapping[str, Any]) -> str:
    names = [_shortened(path) for path in found if path]
    if not names:
        return ""
    told = ", ".join(names[:_FIELDS_TOLD])
    more = f" and {len(names) - _FIELDS_TOLD} more" if len(names) > _FIELDS_TOLD else ""
    return f"{plural(len(names), 'field')} {told}{more} of "


def _shortened(path: str) -> str:
    parts = path.split("/")
    if len(parts) <= _LEVELS_TOLD:
        return quoted(path)
    return f"{quoted('/'.join(parts[:2]))} ... ({len(parts)} levels)"


def _rows_text(rows: npt.NDArray[np.int64]) -> str:
    """Return ``row 3``, or ``rows 0 to 4, 7 and 12 more``; the ends belong to it."""
    cuts = np.flatnonzero(np.diff(rows) > 1)
    firsts, lasts = rows[np.append(0, cuts + 1)], rows[np.append(cuts, len(rows) - 1)]
    runs = list(zip(firsts.tolist(), lasts.tolist(), strict=True))
    told = ", ".join(span_text(str(first), str(last)) for first, last in runs[:_RUNS_TOLD])
    left = sum(last - first + 1 for first, last in runs[_RUNS_TOLD:])
    return f"{plural(len(rows), 'row')} {told}{f' and {left} more' if left else ''}"


def warn_of(faults: Sequence[NestedFault], node: ArrayNode, access: Access) -> None:
    """Note what is missing in rows since it cannot be read, for those who ask what was odd."""
    for fault in faults:
        error = fault.error
        finding = Finding(
            severity=Severity.WARNING,
            kind=error.kind,
            message=f"{fault.path} of {node.path} is missing, it cannot be read: {error.message}",
            place=error.place,
            advice=error.advice,
        )
        access.memory.warn(finding)
