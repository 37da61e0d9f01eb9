"""Parts of arrays of nested values: the group of the same path, whose rows stand below theirs; no Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.app.panes.hierarchy.nested_words import is_awkward, nested_words
from refbrowser.app.widgets.theme import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode, GroupNode, Node

#: The arrays that hold the buffers of a layout (persistence notes, section 6): ``node12-offsets``.
_BUFFER = re.compile(r"node(x?\d+)-(\w+)")
#: Chunks of a buffer that are looked at; of more only the first place is told.
_CHUNKS_MOST = 4_096


def parts_of(group: GroupNode, array: ArrayNode) -> GroupNode | None:
    """Return the group that holds the parts of an array, None where it has none."""
    twin = group.groups.get(array.name)
    is_one = twin is not None and (array.nested is not None or is_awkward(twin))
    return twin if is_one else None


def rows_of(group: GroupNode) -> Iterator[ArrayNode]:
    """Yield the arrays of a group as the tree lists them: fields first, then buffers."""
    arrays = group.arrays.values()
    yield from (array for array in arrays if not is_buffer(array))
    yield from (array for array in arrays if is_buffer(array))


def groups_of(group: GroupNode) -> Iterator[GroupNode]:
    """Yield the groups that have a row of their own: those that are no array's parts."""
    for child in group.groups.values():
        twin = group.arrays.get(child.name)
        if twin is None or parts_of(group, twin) is None:
            yield child


def is_buffer(array: ArrayNode) -> bool:
    """Tell whether an array is a buffer of a layout."""
    return array.nested is None and _BUFFER.fullmatch(array.name) is not None


def buffer_name(array: ArrayNode) -> str:
    """Return what a buffer is, in words: ``offsets of node 12``."""
    found = _BUFFER.fullmatch(array.name)
    return "" if found is None else f"{found[2]} of node {found[1].lstrip('x')}"


def codec_names(array: ArrayNode) -> str:
    """Return the codecs of a buffer as they are undone; empty where any part can be read alone."""
    return " → ".join(codec.name for codec in reversed(array.codecs))


def stored_words(array: ArrayNode) -> str:
    """Return where the bytes of a buffer are: ``812 B at byte 4,096, zlib``; nothing where it has none."""
    place = _place(array)
    codecs = codec_names(array)
    return ", ".join(part for part in (place, codecs) if part)


def node_words(node: Node | None) -> list[str]:
    """Return what a nested array holds, or what a buffer is and where its bytes are, a line each."""
    from refbrowser.model.nodes import ArrayNode

    if not isinstance(node, ArrayNode):
        return []
    if node.nested is not None:
        words = nested_words(node.nested.type)
        return [words[:1].upper() + words[1:]] if words else []
    if not is_buffer(node):
        return []
    name = buffer_name(node)
    return [f"Buffer: {name}", *filter(None, [stored_words(node)])]


def _place(array: ArrayNode) -> str:
    from refbrowser.model.reference import ReferenceKind

    manifest = array.manifest
    if manifest is None or not manifest.grid_shape or 0 in manifest.grid_shape:
        return ""
    chunks = int(np.prod(manifest.grid_shape))
    coords = np.indices(manifest.grid_shape).reshape(len(manifest.grid_shape), -1).T[:_CHUNKS_MOST]
    columns = manifest.columns(np.ascontiguousarray(coords, dtype=np.int64))
    kind = ReferenceKind(int(columns.kind[0]))
    if kind is ReferenceKind.INLINE:
        return "in the document"
    if kind is ReferenceKind.WHOLE:
        url = columns.urls[int(columns.url[0])]
        return "a member of the archive" if url.startswith("zip:") else "a whole file"
    if kind is not ReferenceKind.RANGE:
        return ""
    at = f"at byte {count_text(int(columns.offset[0]))}"
    if chunks > _CHUNKS_MOST:
        return at
    return f"{size_text(int(columns.length.clip(0).sum()))} {at}"
