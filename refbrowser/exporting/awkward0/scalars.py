"""Plain values: what a single number or text is written as."""

from __future__ import annotations

from typing import Any

from refbrowser.exporting.awkward0.arrays import PlannedArray, is_json
from refbrowser.formats.awkward0.writing.expressions import Json, plain


def plain_root(array: PlannedArray, content: Any) -> Json | None:
    """Return the expression of a single value; None where it is no JSON (NaN, times)."""
    import awkward

    if not array.is_plain or len(content) != 1:
        return None
    value = awkward.to_list(content)[0]
    return plain(0, value) if is_json(value) else None
