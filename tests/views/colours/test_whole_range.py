"""The least and the greatest value of a whole array."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.engine.statistics import blocks
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.colours import whole_range as ranges
from refbrowser.views.plot.interpretation import Interpretation

VALUES = np.arange(6 * 7 * 8, dtype="<f4").reshape(6, 7, 8)


class Session:
    """Reads from memory, noting what it is asked; some chunks end otherwise."""

    def __init__(self, ends: dict[tuple[int, ...], PartState]) -> None:
        self.ends, self.asked = ends, []

    def read(self, array: Any, access: Any, selection: Any, *, out: Any, on_part: Any, **_: Any) -> None:
        self.asked.append(selection.axes)
        for part in array.grid.parts(selection):
            out[part.target] = VALUES[np.ix_(*selection.axes)][part.target]
            state = self.ends.get(part.coords, PartState.DONE)
            error = RefbrowserError(ErrorKind.DECODE, "torn") if state is PartState.FAILED else None
            on_part(EndedPart(part, state, error))


def found(session: Session, **attributes: Any) -> tuple[tuple[float, float] | None, list[tuple[int, int]]]:
    array = node(VALUES.shape, (2, 4, 8), "<f4", ("t", "y", "x"), **attributes)
    told: list[tuple[int, int]] = []
    ends = ranges.whole_range(
        session,  # type: ignore[arg-type]
        SimpleNamespace(),  # type: ignore[arg-type]
        Interpretation(array, decoded=True),
        SimpleNamespace(),  # type: ignore[arg-type]
        lambda done, total: told.append((done, total)),
    )
    return ends, told


def test_all_of_it_is_read_in_whole_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(Session({}))[0] == (0, 335)
    monkeypatch.setattr(blocks, "BLOCK", 400)
    session = Session({})
    assert found(session, scale_factor=2.0, _FillValue=335.0) == (
        (0, 668),
        [(number, 6) for number in range(1, 7)],
    )
    assert [len(axes[0]) for axes in session.asked] == [2] * 6
    # Chunks that are too large are read in parts.
    monkeypatch.setattr(blocks, "BLOCK", 64)
    assert found(Session({}))[0] == (0, 335)


def test_what_is_missing_does_not_count_and_what_fails_is_told() -> None:
    missing = Session({(0, 0, 0): PartState.MISSING, (2, 1, 0): PartState.MISSING})
    assert found(missing)[0] == (32, 311)
    with pytest.raises(RefbrowserError, match="torn"):
        found(Session({(1, 0, 0): PartState.FAILED}))
    every = {(t, y, 0): PartState.MISSING for t in range(3) for y in range(2)}
    assert found(Session(every))[0] is None


def test_the_cost_is_told_before() -> None:
    array = node((1000, 700, 800), (2, 700, 800), "<f4", ("t", "y", "x"))
    assert ranges.cost_words(array) == "reads 500 chunks, 2.24 GB once decoded"
