"""Rows of any array as an ``awkward.Array``, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.engine.export.nested.plain_contents import content_of
from refbrowser.engine.export.nested.plain_types import row_type
from refbrowser.engine.nested.reading import warn_of
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array


def awkward_array(array: Array, start: int, stop: int) -> Any:
    """Return rows of an array, those of its first dimension.

    What of nested rows cannot be read is missing in them; the warnings of the dataset tell of it.

    Raises
    ------
    RefbrowserError
        None of them can be read.
    """
    import awkward

    if array.node.nested is None:
        values = array.read(Selection.from_index(slice(start, stop), array.shape))
        return awkward.Array(content_of(values, row_type(array.node, values.shape)))
    rows = array.nested_rows(start, stop)
    warn_of(rows.faults, array.node, array.dataset.access)
    return awkward.Array(rows.content)
