"""What is told of a picture beside its values."""

from __future__ import annotations

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.numbers import value_text
from refbrowser.views.plot.interpretation import exact_text
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.readout import notes_of
from refbrowser.views.plot.slicing import SliceState


def line(values: np.ndarray, axis: int) -> Picture:
    """Return a whole line of an array with two dimensions, its first."""
    array = node(values.shape, values.shape, dtype=values.dtype.str, dimensions=("a", "b"))
    state = SliceState(values.shape, ("a", "b"), axis, None, (0, 0))
    picture = Picture(array, plan_view(array, state, [range(values.shape[axis])], [1]))
    picture.values[...] = np.moveaxis(values, axis, -1)[0]
    return picture


@pytest.mark.parametrize("dtype", ["S1", "<U1", ">U1"])
def test_characters_along_the_last_dimension_are_one_text(dtype: str) -> None:
    letters = np.array([list("abc"), list("def")], dtype)
    picture = line(letters, 1)
    assert notes_of(picture, True, False) == []
    picture.accept((0, 0), ChunkState.DONE)
    assert notes_of(picture, True, False) == ["as one text: 'abc'"]
    across = line(letters, 0)
    across.accept((0, 0), ChunkState.DONE)
    assert notes_of(across, True, False) == []


def test_bytes_of_one_character_and_long_lines() -> None:
    data = "é".encode() + b"\0" * 3
    picture = line(np.frombuffer(data, "S1").reshape(1, -1), 1)
    picture.accept((0, 0), ChunkState.DONE)
    assert notes_of(picture, True, False) == ["as one text: 'é'"]
    long = line(np.full((1, 9000), b"x", "S1"), 1)
    long.accept((0, 0), ChunkState.DONE)
    assert notes_of(long, True, False) == [f"as one text: '{'x' * 500}…'"]
    numbers = line(np.zeros((2, 3), "i2"), 1)
    numbers.accept((0, 0), ChunkState.DONE)
    assert notes_of(numbers, True, False) == []


def test_opaque_bytes_are_digits_and_those_of_text_are_letters() -> None:
    for text in (value_text, exact_text):
        assert text(np.array(b"\x01a\xff", "V3")[()]) == "0x0161ff"
        assert text(np.array("é".encode(), "S8")[()]) == "é"
