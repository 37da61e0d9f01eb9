"""Blocks of changes: all chunks of a block are alike, and none could be added along a dimension."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.comparing.differences import ChunkComparison, ChunkState
from refbrowser.tools.compare.chunk_blocks import block_around, box_text, count_of, single

CHANGED, SAME = ChunkState.CHANGED, ChunkState.SAME


def test_a_rectangle_of_changes_is_one_block() -> None:
    states = np.full((6, 8), SAME, np.uint8)
    states[1:4, 2:7] = CHANGED
    states[4, 2] = CHANGED
    chunks = ChunkComparison((6, 8), states=states)
    for coords in ((1, 3), (3, 6), (2, 4)):
        assert block_around(chunks, coords) == (range(1, 4), range(2, 7))
    assert box_text(block_around(chunks, (2, 4))) == "1:4, 2:7"
    assert box_text(single((5, 0))) == "5, 0"


def test_a_grid_that_is_not_held_has_no_blocks() -> None:
    assert block_around(ChunkComparison((6, 8)), (2, 3)) == single((2, 3))
    assert count_of(block_around(ChunkComparison((), states=np.zeros((), np.uint8)), ())) == 1


@given(st.data())
def test_blocks_are_alike_and_cannot_grow(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    flat = data.draw(st.lists(st.sampled_from([CHANGED, SAME]), min_size=64, max_size=64))
    states = np.array(flat[: int(np.prod(shape))], np.uint8).reshape(shape)
    coords = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    box = block_around(ChunkComparison(shape, states=states), coords)

    def are_alike(parts: list[range]) -> bool:
        inside = states[tuple(slice(part.start, part.stop) for part in parts)]
        return bool((inside == states[coords]).all())

    assert all(at in part for at, part in zip(coords, box, strict=True))
    assert are_alike([*box])
    for axis, part in enumerate(box):
        for wider in (range(part.start - 1, part.stop), range(part.start, part.stop + 1)):
            if wider.start >= 0 and wider.stop <= shape[axis]:
                assert not are_alike([*box[:axis], wider, *box[axis + 1 :]])
