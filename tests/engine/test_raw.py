"""Byte spans of uncompressed chunks hold exactly what numpy's indexing takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.reading import raw_parts as raw
from refbrowser.engine.reading.raw_parts import raw_spans


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    shape = tuple(draw(st.lists(st.integers(1, 7), max_size=4)))
    inside = []
    for size in shape:
        start = draw(st.integers(0, size - 1))
        stop = draw(st.integers(start + 1, size))
        inside.append(slice(start, stop, draw(st.integers(1, 3))))
    return shape, tuple(inside)


@given(
    boxes(),
    st.randoms(),
    st.sampled_from(["<i2", ">f4", "<c16"]),
    st.integers(1, 64),
    st.integers(1, 10),
)
def test_spans_hold_what_the_selection_takes(box, random, dtype, span_limit, span_count) -> None:
    shape, inside = box
    chunk = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    axes = list(range(chunk.ndim))
    random.shuffle(axes)
    stored = chunk.transpose(axes).tobytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "SPAN_LIMIT", span_limit)
        patch.setattr(raw, "SPAN_COUNT", span_count)
        patch.setattr(raw, "PIECE_GAP", span_limit)
        spans = raw_spans(shape, chunk.itemsize, tuple(axes), inside)
        pieces = [spans.pieces(number) for number in range(len(spans))]
    out = np.full(chunk[inside].shape, 99, dtype)
    joined_out = out.copy()
    offsets, lengths = spans.ranges()
    assert len(offsets) == len(lengths) == len(spans)
    for number, (offset, length) in enumerate(zip(offsets, lengths, strict=True)):
        data = stored[offset : offset + length]
        assert len(data) == length
        if (found := pieces[number]) is not None:
            joined = b"".join(data[at : at + found[1]] for at in found[0])
            assert len(joined) == len(found[0]) * found[1]
            spans.scatter(number, memoryview(joined), chunk.dtype, joined_out)
        else:
            spans.scatter(number, memoryview(data), chunk.dtype, joined_out)
        spans.scatter(number, memoryview(data), chunk.dtype, out)
    np.testing.assert_array_equal(out, chunk[inside])
    np.testing.assert_array_equal(joined_out, chunk[inside])


def test_pieces_lie_far_from_each_other() -> None:
    line = raw_spans((64, 128, 128), 4, (0, 1, 2), (slice(64), slice(3, 4), slice(5, 6)), 1 << 20)
    assert line.pieces(0) == ([i << 16 for i in range(64)], 4)
    box = raw_spans((64, 128, 128), 4, (0, 1, 2), (slice(20), slice(20), slice(20)), 1 << 20)
    assert box.pieces(0) == ([i << 16 for i in range(20)], 19 * 512 + 80)
    plane = raw_spans((64, 128, 128), 4, (0, 1, 2), (slice(64), slice(128), slice(1)), 1 << 20)
    assert plane.pieces(0) is None


def test_a_block_of_rows_is_one_span_and_columns_are_many() -> None:
    rows = raw_spans((1000, 1000), 4, (0, 1), (slice(10, 20), slice(0, 1000)))
    assert [array.tolist() for array in rows.ranges()] == [[40_000], [40_000]]
    columns = raw_spans((1000, 1000), 4, (0, 1), (slice(0, 1000), slice(10, 20)))
    offsets, lengths = columns.ranges()
    assert len(offsets) == 1000
    assert set(lengths.tolist()) == {40}
    fortran = raw_spans((1000, 1000), 4, (1, 0), (slice(0, 1000), slice(10, 20)))
    assert [array.tolist() for array in fortran.ranges()] == [[40_000], [40_000]]


def test_a_huge_chunk_is_read_in_pieces() -> None:
    spans = raw_spans((10, 2**30), 4, (0, 1), (slice(3, 4), slice(0, 2**30)))
    offsets, lengths = spans.ranges()
    assert offsets[0] == 3 * 4 * 2**30
    assert lengths.sum() == 4 * 2**30
    assert lengths.max() <= raw.SPAN_LIMIT


def test_scattered_elements_are_joined_rather_than_counted_in_millions() -> None:
    spans = raw_spans((4_000_000,), 4, (0,), (slice(0, 4_000_000, 2),))
    assert len(spans) <= raw.SPAN_COUNT
