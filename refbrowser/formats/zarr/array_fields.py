"""The fields of arrays from their metadata, worked out once for all arrays whose metadata is the same."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import RefbrowserError
from refbrowser.formats.zarr import v2, v3
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks

#: What differs from array to array and says nothing of how it is stored.
_OWN = ("attributes", "dimension_names")
#: Different metadata that is remembered.
_MOST = 10_000


class FieldMemory:
    """Works out fields, and remembers them by the metadata that gives them."""

    def __init__(self) -> None:
        self._known: dict[bytes, Mapping[str, Any]] = {}
        #: The same by object, which is kept: equal texts share one.
        self._seen: dict[tuple[int, bool], tuple[Mapping[str, Any], Mapping[str, Any]]] = {}

    def fields(
        self, document: Mapping[str, Any], is_v3: bool, warn: Callable[[str], None]
    ) -> Mapping[str, Any]:
        """Return the fields of an `ArrayNode` that its metadata gives, its order and readability included.

        Raises
        ------
        RefbrowserError
            `META`, `BUDGET`: it has no shape; nothing can be said of the array.
        """
        seen = self._seen.get((id(document), is_v3))
        if seen is not None:
            return seen[1]
        # Version 2 writes equal values alike, however they are shared.
        key = marshal.dumps([is_v3, {name: document[name] for name in document if name not in _OWN}], 2)
        found = self._known.get(key)
        if found is None:
            warnings: list[str] = []
            found = _worked_out(document, is_v3, warnings.append)
            if not warnings and len(self._known) < _MOST:
                self._known[key] = found
                self._seen[id(document), is_v3] = document, found
            for text in warnings:
                warn(text)
        return found


def _worked_out(document: Mapping[str, Any], is_v3: bool, warn: Callable[[str], None]) -> dict[str, Any]:
    if is_v3:
        v3.is_array(document)
    fields = v3.array_fields(document) if is_v3 else v2.array_fields(document, warn)
    dtype = fields["type"].dtype
    if not is_v3 and not fields["values"].codecs and dtype is not None and not dtype.hasobject:
        # Nothing is asked of a codec, and the order is what the metadata says.
        return fields
    if fields.get("unreadable") is None and isinstance(fields["values"], Chunks):
        try:
            axes = CodecPipeline.for_array(ArrayNode(path="/", **fields)).axes
            if len(axes) > 1 and axes == tuple(reversed(range(len(axes)))):
                fields["values"] = replace(fields["values"], order="F")
        except RefbrowserError as error:
            fields["unreadable"] = error
    return fields
