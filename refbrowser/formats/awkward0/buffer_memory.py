"""The buffers of the arrays of one file as Zarr arrays: what arrays of one kind share is worked out once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from refbrowser.formats.awkward0.buffer_arrays import BufferArray, array_of, buffer_arrays
from refbrowser.formats.awkward0.building import Built
from refbrowser.formats.awkward0.layouts import NumpyLayout

#: Different metadata that is remembered.
_MOST = 10_000

Metadata = tuple[Mapping[str, Any], bytes]


class BufferMemory:
    """Remembers the names of buffers, and what is said of them."""

    def __init__(self) -> None:
        self._names: dict[Built, list[tuple[str, NumpyLayout]]] = {}
        self._metadata: dict[tuple[Any, ...], Metadata] = {}

    def arrays(self, built: Built) -> list[BufferArray]:
        """Return what `buffer_arrays` does."""
        first = built.pattern
        names = self._names.get(first)
        if names is None:
            arrays = buffer_arrays(first.layout)
            self._names[first] = names = [(each.name, each.layout) for each in arrays]
        found = []
        for name, layout in names:
            # Values that stand in the schema are no expressions of their own, and the same in all.
            is_own = first.by_number.get(layout.number) is layout
            own = built.by_number[layout.number] if is_own else layout
            assert isinstance(own, NumpyLayout)
            found.append(array_of(name, own))
        return found

    def metadata(self, made: BufferArray) -> Metadata:
        """Return what ``.zarray`` says, and its text."""
        buffer = made.buffer
        key = buffer.dtype, buffer.codecs, buffer.count, made.rows
        known = self._metadata.get(key)
        if known is None:
            parsed = made.metadata()
            text = json.dumps(parsed, ensure_ascii=False, separators=(",", ":")).encode()
            known = parsed, text
            if len(self._metadata) < _MOST:
                self._metadata[key] = known
        return known
