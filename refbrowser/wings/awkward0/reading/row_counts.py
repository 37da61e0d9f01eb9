"""How many rows arrays of Awkward 0 have whose schemas do not tell: their indexes are read at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from refbrowser.engine.nested.buffers import SessionBuffers
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nested import BufferPart
from refbrowser.references.document.document import Document
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.layouts import BrokenLayout, PlainLayout, length_of
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access


def with_measured(document: Document, resources: Resources, access: Access, token: CancelToken) -> Document:
    """Return a document whose origin knows how many rows its arrays have, those of parents too."""
    origin = document.made_from(Awkward0Origin)
    assert origin is not None
    reader = _Bounded(SessionBuffers(resources, access, token))
    found: dict[str, int | RefbrowserError] = {}
    for array in origin.arrays:
        layout = array.layout
        if array.built is None or layout is None or isinstance(layout, BrokenLayout | PlainLayout):
            continue
        if length_of(layout) is None:
            values = LayoutValues(layout, array.built.by_number)
            try:
                found[array.path] = values.measure(reader)
            except RefbrowserError as error:
                found[array.path] = error
    return replace(document, origin=replace(origin, lengths=found)) if found else document


@dataclass(slots=True, eq=False)
class _Bounded:
    """Reads no more than so many bytes when a file is opened (`BufferReader`)."""

    reader: SessionBuffers
    left: int = AWKWARD_LIMITS.awkward_measured

    def read_all(self, parts: Sequence[BufferPart]) -> list[npt.NDArray[Any] | RefbrowserError]:
        """Return the elements of each part, as long as they are not too many in all."""
        wanted = sum(part.nbytes for part in parts)
        if wanted > self.left:
            message = (
                "the number of rows is known only from its index, "
                f"and more than {AWKWARD_LIMITS.awkward_measured} bytes of indexes are not read"
            )
            return [RefbrowserError(ErrorKind.BUDGET, message, part.buffer.place) for part in parts]
        self.left -= wanted
        return self.reader.read_all(parts)
