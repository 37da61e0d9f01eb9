"""Rows of nested arrays: read for views, exports and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from refbrowser.engine.nested.buffers import SessionBuffers, Told
from refbrowser.engine.resources import Resources
from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nested import NestedFault, NestedRows, NestedValues
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.io.access import Access


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

    Raises
    ------
    RefbrowserError
        None of the rows can be read; the faults of the result tell of those that are read in part.
    Cancelled
        `token` was cancelled.
    """
    reader = SessionBuffers(resources, access, token or CancelToken(), export, priority, told)
    return nested_values(node).rows(start, stop, reader)


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
