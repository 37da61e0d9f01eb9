"""Rows of any array as an ``awkward.Array``, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.engine.nested.plain_contents import content_of
from refbrowser.engine.nested.plain_types import row_type
from refbrowser.engine.nested.reading import unread_error, warn_of
from refbrowser.model.selection import Selection
from refbrowser.model.values import Rows

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array


def awkward_array(array: Array, start: int, stop: int, *, skip_bad: bool) -> Any:
    """Return rows of an array, those of its first dimension.

    Parameters
    ----------
    skip_bad
        What of nested rows cannot be read is missing in them; the warnings of the dataset tell of it.

    Raises
    ------
    RefbrowserError
        Some of them cannot be read; with `skip_bad`: none can.
    """
    import awkward

    if not isinstance(array.node.values, Rows):
        values = array.read(Selection.from_index(slice(start, stop), array.shape))
        return awkward.Array(content_of(values, row_type(array.node, values.shape)))
    rows = array.nested_rows(start, stop)
    error = unread_error(rows, array.node, start)
    if error is not None and not skip_bad:
        raise error
    if error is not None:
        warn_of(rows.faults, array.node, array.dataset.access)
    return awkward.Array(rows.content)
