"""Room behind missing values, as awkward's conversion to Arrow needs it."""

from __future__ import annotations

from typing import Any


def with_room(content: Any) -> Any:
    """Return a content in canonical form with an element behind missing values where there was none.

    Awkward takes the first element for all that is missing; where everything is missing there is none, and
    its arrays of Arrow are then shorter than they say (seen with awkward 2.14).
    """
    from awkward.contents import IndexedOptionArray, ListOffsetArray, RecordArray, RegularArray, UnionArray

    if content.is_option:
        inner = with_room(content.content)
        if content.length and not inner.length and not inner.is_unknown:
            inner = with_room(inner.form.length_one_array(highlevel=False))
        return IndexedOptionArray(content.index, inner)
    if content.is_record:
        parts = [with_room(part) for part in content.contents]
        fields = None if content.is_tuple else content.fields
        return RecordArray(parts, fields, content.length, parameters=content.parameters)
    if content.is_union:
        return UnionArray(content.tags, content.index, [with_room(part) for part in content.contents])
    if content.is_regular:
        return RegularArray(with_room(content.content), content.size, content.length)
    if content.is_list and content.parameter("__array__") is None:
        return ListOffsetArray(content.offsets, with_room(content.content))
    return content
