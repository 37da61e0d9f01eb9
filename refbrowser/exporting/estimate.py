"""What an export to a store will cost: from references and shapes, no data is read."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import element_size
from refbrowser.exporting.chunks import ArrayExport
from refbrowser.exporting.layout import ArrayLayout
from refbrowser.exporting.request import ExportEstimate, Loss
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceKind

#: Chunks whose references are looked at together.
PAGE = 65_536


def estimated(arrays: Iterable[ArrayExport], losses: tuple[Loss, ...], token: CancelToken) -> ExportEstimate:
    """Return what writing arrays will cost.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: one of them has more elements than can be counted.
    """
    chunks = missing = source = target = spool = 0
    most_reads = 1.0
    for array in arrays:
        layout = array.layout
        if prod(layout.grid.shape) > LIMITS.elements:
            message = f"the array has more than the {LIMITS.elements} elements that are exported (elements)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=layout.source.path))
        decoded = prod(layout.grid.chunk_shape) * element_size(layout.source)
        if not layout.copies_objects:
            # Objects do not coincide: each may be stored, and is written as it is decoded at most.
            reads = 1.0 if array.plan.spooled else array.plan.reads
            chunks, target = chunks + layout.grid.size, target + layout.grid.size * decoded
            source += int(prod(layout.grid.shape) * element_size(layout.source) * reads)
            spool, most_reads = max(spool, array.spool_bytes), max(most_reads, reads)
            continue
        for start in range(0, layout.grid.size, PAGE):
            token.check()
            stop = min(start + PAGE, layout.grid.size)
            coords = layout.source_coords(coords_between(layout, start, stop))
            assert layout.source.manifest is not None
            columns = layout.source.manifest.columns(coords)
            gone = int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
            unknown = int(np.count_nonzero(columns.kind == ReferenceKind.WHOLE))
            ranges = columns.length[columns.kind == ReferenceKind.RANGE]
            stored = int(ranges.sum()) + unknown * decoded
            inline = sum(map(len, columns.inline.values()))
            chunks, missing = chunks + stop - start - gone, missing + gone
            source, target = source + stored, target + stored + inline
    return ExportEstimate(chunks, missing, source, target, losses, most_reads, spool)


def coords_between(layout: ArrayLayout, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the coordinates of the target's chunks from `start` to `stop` in C order."""
    shape = layout.grid.grid_shape
    if not shape:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1).astype(np.int64)
