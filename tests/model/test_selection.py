import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.selection import Selection

SHAPES = st.lists(st.integers(0, 9), min_size=0, max_size=4).map(tuple)


@st.composite
def shapes_and_indices(draw):
    shape = draw(SHAPES)
    items = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        integers = st.integers(-size, size - 1) if size else st.nothing()
        bound = st.none() | st.integers(-12, 12)
        steps = st.none() | st.integers(-4, 4).filter(bool)
        items.append(draw(integers | st.builds(slice, bound, bound, steps)))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(items)))
        tail = len(items) - at
        # What follows the dots must fit the last dimensions.
        if all(
            isinstance(item, slice) or -size <= item < size
            for item, size in zip(items[at:], shape[len(shape) - tail :], strict=True)
        ):
            items.insert(at, Ellipsis)
    return shape, tuple(items)


@given(shapes_and_indices())
def test_a_selection_takes_what_numpy_takes(case):
    shape, index = case
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selection = Selection.from_index(index, shape)
    expected = array[index]
    result = np.empty(selection.shape, int)
    selection.box(result)[...] = array[tuple(slice(a.start, a.stop, a.step) for a in selection.axes)]
    assert result.shape == expected.shape
    assert np.array_equal(result, expected)
    assert selection.size == expected.size


@given(shapes_and_indices())
def test_text_means_the_same_as_the_index(case):
    shape, index = case

    def written(item):
        if item is Ellipsis:
            return "..."
        if isinstance(item, int):
            return str(item)
        parts = [item.start, item.stop] + ([] if item.step is None else [item.step])
        return ":".join("" if part is None else str(part) for part in parts)

    text = ", ".join(map(written, index))
    assert Selection.from_text(text, shape) == Selection.from_index(index, shape)


def test_one_integer_slice_or_dots_need_no_tuple():
    assert Selection.from_index(-1, (5, 2)) == Selection((range(4, 5), range(2)), frozenset({0}))
    assert Selection.from_index(np.int16(2), (5,)).axes == (range(2, 3),)
    assert Selection.from_index(..., (5, 2)) == Selection.whole((5, 2))


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (5, (5,)),
        (-6, (5,)),
        ((0, 0), (5,)),
        ((..., ...), (5,)),
        (True, (5,)),
        (1.0, (5,)),
        ([1], (5,)),
        (slice(None, None, 0), (5,)),
        (slice(0.5), (5,)),
        (None, (5,)),
    ],
)
def test_what_is_not_basic_indexing_is_wrong_usage(index, shape):
    with pytest.raises(RefbrowserError) as caught:
        Selection.from_index(index, shape)
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.parametrize(
    "text", ["a", "1:2:3:4", "0,,1", "1.5", "0x1", "None", "--1", "1_0", "٣", "::0", "7"]
)
def test_text_that_is_not_a_selection_is_wrong_usage(text):
    with pytest.raises(RefbrowserError) as caught:
        Selection.from_text(text, (5, 5, 5))
    assert caught.value.kind is ErrorKind.USAGE


def test_blank_text_and_a_trailing_comma():
    assert Selection.from_text(" ", (3,)) == Selection.whole((3,))
    assert Selection.from_text("1,", (3, 2)) == Selection.from_index(1, (3, 2))


def test_axes_longer_than_memory_are_fine():
    selection = Selection.from_text("10:20,:", (2**62, 10**12))
    assert selection.shape == (10, 10**12)
