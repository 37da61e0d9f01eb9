"""The least and the greatest value of a whole array, read part by part."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.statistics.blocks import blocks_of
from refbrowser.errors import RefbrowserError
from refbrowser.model.cf import fill_is_value
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import FARTHEST
from refbrowser.words import counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.engine.reading.parts import EndedPart
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


def cost_words(node: ArrayNode) -> str:
    """Return what reading all of an array takes, in words; nothing is read."""
    chunks = counted_spaced(prod(node.grid.grid_shape), "chunk")
    return f"reads {chunks}, {size_text(prod(node.shape) * node.known_dtype.itemsize)} once decoded"


def whole_range(
    session: Session,
    access: Access,
    shown: Interpretation,
    cancel: CancelToken,
    progress: Callable[[int, int], None],
) -> tuple[float, float] | None:
    """Return the least and the greatest finite value of an array; None where it has none.

    Raises
    ------
    RefbrowserError
        A chunk cannot be read: what it holds could be less or greater.
    """
    from refbrowser.engine.reading.parts import PartState

    node = shown.node
    keeps_filled, lock = fill_is_value(node), Lock()
    ends: list[float] = []
    errors: list[RefbrowserError] = []
    done, total = 0, prod(node.grid.grid_shape)
    for box in blocks_of(node, tuple(map(range, node.shape))):
        selection = Selection(box)
        out = np.empty(selection.shape, node.known_dtype.newbyteorder("="))
        count = 0

        def note(ended: EndedPart, out: Any = out) -> None:
            nonlocal count
            is_value = ended.state is PartState.DONE or (ended.state is PartState.MISSING and keeps_filled)
            found = _extremes(shown, out[ended.part.target]) if is_value else None
            with lock:
                count += 1
                if ended.error is not None and not errors:
                    errors.append(ended.error)
                ends.extend(found or ())
                ends[:] = [min(ends), max(ends)] if ends else []

        session.read(node, access, selection, out=out, on_part=note, cancel=cancel, passing=True)
        if errors:
            raise errors[0]
        done += count
        progress(min(done, total), total)
    return (ends[0], ends[1]) if ends else None


def _extremes(shown: Interpretation, raw: Any) -> tuple[float, float] | None:
    numbers = shown.numbers(raw)
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    return max(low, -FARTHEST), min(high, FARTHEST)
