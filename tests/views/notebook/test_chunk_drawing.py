"""Chunk grids as drawings: their edges where they are, and one size however many chunks there are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from html_read import Read

from refbrowser.markup import Markup
from refbrowser.model.chunk_axes import RegularAxis, axis_of
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid, grid_of
from refbrowser.views.notebook.chunk_drawing import chunk_drawing, drawn_axis, face_sides


def edges(drawing: Markup) -> list[list[str]]:
    """Return where each shape has edges within it: the paths that are not its outline."""
    paths = re.findall(r'<path d="([^"]*)" class="([^"]*)"', drawing)
    return [re.findall(r"M([\d. ]+)[vh]", path) for path, _ in paths]


def test_edges_lie_where_the_chunks_end() -> None:
    axis = drawn_axis(RegularChunkGrid((10,), (4,)).dimensions[0], "x", 100.0)
    assert axis.places == (0.0, 40.0, 80.0, 100.0)
    assert (axis.first, axis.is_whole) == (40.0, True)
    assert axis.words == ("x 10", "3 chunks of 4")


def test_unequal_chunks_have_their_own_edges() -> None:
    grid = grid_of([axis_of(90, np.array([31, 28, 31]), np.ones(3, np.int64)), RegularAxis(6, 6)])
    months = drawn_axis(grid.dimensions[0], "day", 90.0)
    assert months.places == (0.0, 31.0, 59.0, 90.0)
    assert months.words[1] == "3 chunks of 28 to 31"
    assert drawn_axis(grid.dimensions[1], None, 60.0).words == ("6", "1 chunk")


@pytest.mark.parametrize("shape", [(10**9, 10), (2**62, 2**40), (7, 10**18)])
def test_a_drawing_of_any_number_of_chunks_is_small(shape: tuple[int, ...]) -> None:
    drawing = chunk_drawing(RegularChunkGrid(shape, (1, 1)), ("y", "x"))
    assert len(drawing) < 4_000
    assert "Dashed: only some of the edges are drawn." in drawing
    assert "rb-some" in drawing
    assert "nan" not in drawing
    numbers = [float(each) for each in re.findall(r'[MVvhH" ](-?\d+\.?\d*(?:e[+-]?\d+)?)', drawing)]
    assert max(numbers) < 700


def test_few_chunks_are_all_drawn() -> None:
    drawing = chunk_drawing(RegularChunkGrid((12, 180, 360), (1, 90, 120)), ("time", "lat", "lon"))
    outlines_and_edges = edges(drawing)
    # The strip of the first dimension, then the face of the others: its columns, then its rows.
    assert [len(each) for each in outlines_and_edges] == [2, 11, 2, 2, 2, 2, 1]
    assert "rb-some" not in drawing
    read = Read(drawing)
    said = read.said.replace("\N{NARROW NO-BREAK SPACE}", " ")
    for words in ("time 12", "12 chunks of 1", "lat 180", "2 chunks of 90", "lon 360", "3 chunks of 120"):
        assert words in said
    assert ("aria-label", "chunk grid: 72 chunks") in read.attributes


def test_many_dimensions_are_counted() -> None:
    grid = RegularChunkGrid((2,) * 9, (1,) * 9)
    drawing = chunk_drawing(grid, [f"d{axis}" for axis in range(9)])
    assert "and 3 more dimensions" in drawing
    assert "d3" in drawing
    assert "d4" not in drawing
    assert "d8" in drawing


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (0, 0)])
def test_arrays_without_elements_are_drawn(shape: tuple[int, ...]) -> None:
    drawing = chunk_drawing(RegularChunkGrid(shape, (1,) * len(shape)), ())
    assert Read(drawing).elements[0] == "svg"
    assert "nan" not in drawing
    assert "inf" not in drawing


def test_a_scalar_has_no_drawing() -> None:
    grid: ChunkGrid = RegularChunkGrid((), ())
    assert chunk_drawing(grid, ()) == ""


def test_faces_keep_their_proportions_as_long_as_they_can_be_seen() -> None:
    height, width = face_sides(180, 360)
    assert width / height == pytest.approx(2)
    height, width = face_sides(360, 180)
    assert height / width == pytest.approx(2)
    assert min(face_sides(1, 10**9)) == min(face_sides(10**9, 1)) == 34


def test_names_of_dimensions_are_text() -> None:
    drawing = chunk_drawing(RegularChunkGrid((3, 3), (1, 1)), ("</svg><script>", "\u202e" + "x" * 10**6))
    assert "script" not in Read(drawing).elements
    assert "\u202e" not in drawing
    assert len(drawing) < 2_500
