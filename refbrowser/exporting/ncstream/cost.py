"""What writing a stream will cost: from references and shapes, no data is read."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from refbrowser.exporting.blocks import element_size
from refbrowser.exporting.ncstream.plan import VariablePlan, is_made
from refbrowser.exporting.request import ExportEstimate, Loss
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind

#: Chunks whose references are looked at together, and at most.
PAGE = 65_536
_LOOKED_AT = 1 << 20
#: Bytes of a message beside its payload, and of a header for each variable, about.
_HEAD, _VARIABLE = 100, 4096


def estimated(plans: Iterable[VariablePlan], losses: tuple[Loss, ...], token: CancelToken) -> ExportEstimate:
    """Return what writing variables will cost."""
    messages = source = target = missing = 0
    for plan in plans:
        stored, gone = _stored(plan, token)
        messages += plan.messages
        missing += gone if plan.leaves_out else 0
        source += stored
        target += plan.size + plan.messages * _HEAD + _VARIABLE
    return ExportEstimate(messages, missing, source, target, losses)


def _stored(plan: VariablePlan, token: CancelToken) -> tuple[int, int]:
    """Return the stored bytes of an array, about, and how many of its chunks are missing."""
    node = plan.source
    decoded = prod(plan.shape) * element_size(node)
    grid, manifest = node.grid, node.manifest
    if is_made(node) or grid is None or manifest is None or grid.size > _LOOKED_AT:
        return decoded, 0
    taken = prod(plan.shape) / max(1, prod(node.shape))
    stored = gone = 0
    for start in range(0, grid.size, PAGE):
        token.check()
        columns = manifest.columns(_coords(node, start, min(start + PAGE, grid.size)))
        gone += int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
        whole = int(np.count_nonzero(columns.kind == ReferenceKind.WHOLE))
        stored += int(columns.length[columns.kind == ReferenceKind.RANGE].sum())
        stored += whole * prod(grid.chunk_shape) * element_size(node)
    return int(stored * taken), gone


def _coords(node: ArrayNode, start: int, stop: int) -> np.ndarray:
    assert node.grid is not None
    shape = node.grid.grid_shape
    if not shape:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1).astype(np.int64)
