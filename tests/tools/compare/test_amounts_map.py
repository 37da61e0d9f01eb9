"""How much values differ, on the chunk grid."""

from __future__ import annotations

import numpy as np

from refbrowser.engine.comparing.differences import ChunkAmounts
from refbrowser.tools.compare.chunk_states import amounts_map, states_slice
from refbrowser.views.chunks.chunk_map import ChunkLayout


def mapped(amount: list[float]) -> tuple[list[list[int]], list[tuple[str, int]]]:
    coords = np.array([[0, 0], [0, 2], [1, 1], [2, 2]], np.int64)[: len(amount)]
    amounts = ChunkAmounts((3, 4), coords, np.array(amount))
    layout = ChunkLayout.of(states_slice((3, 4), ("y", "x")))
    found = amounts_map(amounts, layout)
    cells = found.classes if layout.slice.y == 0 else found.classes.T
    return cells.tolist(), [(entry.label, entry.count) for entry in found.legend if entry.count]


def test_steps_of_equal_ratio() -> None:
    cells, legend = mapped([1e-3, 1.0, 100.0, 100.0])
    assert legend[0] == ("the same, or not read", 8)
    assert legend[-1] == ("by up to 100", 2)
    assert sum(count for _label, count in legend) == 12
    assert cells[1][1] == cells[2][2] > cells[0][2] > cells[0][0] > cells[0][1] == 1


def test_what_is_no_number_has_a_class_of_its_own() -> None:
    _cells, legend = mapped([0.0, np.inf, 2.0])
    assert legend == [("the same, or not read", 9), ("by up to 2", 1), ("differs in what is no number", 2)]


def test_nothing_but_what_is_no_number() -> None:
    assert mapped([0.0])[1] == [("the same, or not read", 11), ("differs in what is no number", 1)]
