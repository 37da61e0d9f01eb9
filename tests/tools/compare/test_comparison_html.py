"""Pictures of chunk grids: the worst state of what a cell stands for; words of summaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    ChunkComparison,
    ChunkState,
    ChunkValues,
    Comparison,
    ValueComparison,
)
from refbrowser.tools.compare.comparison_html import page_of
from refbrowser.tools.compare.comparison_words import CHUNKS, summary_of, value_rows
from refbrowser.views.chunks.states_drawing import CELLS, cells_of
from refbrowser.views.reports.html_page import page_text


@given(st.lists(st.integers(1, 200), min_size=0, max_size=3), st.integers(0, 10**6))
def test_one_changed_chunk_is_seen_in_any_grid(shape: list[int], place: int) -> None:
    states = np.full(shape, ChunkState.SAME, np.uint8)
    states.flat[place % states.size] = ChunkState.CHANGED
    cells = cells_of(states)
    assert cells.ndim == 2
    assert max(cells.shape) <= CELLS
    assert (cells == ChunkState.CHANGED).sum() == 1
    assert set(np.unique(cells).tolist()) <= {ChunkState.SAME, ChunkState.CHANGED}


def made(**values: int) -> Comparison:
    chunks = ChunkComparison((1,), {ChunkState.SAME: 1, ChunkState.UNDECIDED: values.pop("open", 0)})
    array = ArrayComparison("/a", "/a", chunks, ValueComparison(elements=9, compared=9, **values))
    return Comparison(here="<here>", there="there", format_here="x", format_there="y", arrays=(array,))


def test_summaries_say_what_is_left_open() -> None:
    assert summary_of(made()) == "Equal: the same values, all compared."
    assert summary_of(made(unread_here=1)) == (
        "Nothing differs in what was compared; 1 array could not be compared in values."
    )
    assert "2 references not decided" in summary_of(made(open=2))
    assert summary_of(made(different=3)) == "They differ: 3 values."


def test_names_of_datasets_are_plain_text() -> None:
    page = page_text(page_of(made()))
    assert "&lt;here&gt;" in page
    assert "<here>" not in page


@pytest.mark.parametrize(("more", "last"), [(0, "chunk [0]"), (3, "and 3 more")])
def test_chunks_that_are_not_named_are_counted(more: int, last: str) -> None:
    chunks = (ChunkValues((0,), 1, 0.5, (0,)),) * CHUNKS
    values = ValueComparison(
        elements=9, compared=9, different=CHUNKS + more, chunks_different=CHUNKS + more, chunks=chunks
    )
    assert [row.what for row in value_rows(values)][-1] == last
