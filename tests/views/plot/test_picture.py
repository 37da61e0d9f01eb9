from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from unequal_grids import grids
from view_arrays import node

from refbrowser.model.chunk_axes import axis_of
from refbrowser.model.grid import grid_of
from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.slicing import SliceState, first_slice


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    shape = tuple(draw(st.integers(1, 13)) for _ in range(3))
    grid = draw(grids(shape))
    axes = draw(st.permutations([0, 1, 2]))
    indices = tuple(draw(st.integers(0, size - 1)) for size in shape)
    state = SliceState(shape, ("a", "b", "c"), axes[0], draw(st.sampled_from([axes[1], None])), indices)
    window = []
    for axis in state.axes:
        start = draw(st.integers(0, shape[axis] - 1))
        window.append(range(start, draw(st.integers(start + 1, shape[axis]))))
    steps = [draw(st.integers(1, 7)) for _ in state.axes]
    array = node(shape, dtype=">i4", dimensions=("a", "b", "c"))
    array = replace(array, values=array.over(grid))
    return Picture(array, plan_view(array, state, window, steps))


def fill(picture: Picture, states: dict[tuple[int, ...], ChunkState]) -> np.ndarray:
    """Fill a picture as a reader does, and return the whole array."""
    grid = picture.node.grid
    assert grid is not None
    values = np.arange(np.prod(grid.shape)).reshape(grid.shape)
    box = picture.plan.selection.box(picture.out)
    for part in grid.parts(picture.plan.selection):
        origin = grid.origin(part.coords)
        where = tuple(
            slice(start + inside.start, start + inside.stop, inside.step)
            for start, inside in zip(origin, part.inside, strict=True)
        )
        box[part.target] = values[where]
        picture.accept(part.coords, states.get(part.coords, ChunkState.DONE))
    return values


@given(pictures(), st.randoms(use_true_random=False))
def test_values_states_and_places_agree(picture: Picture, random: object) -> None:
    grid, plan = picture.node.grid, picture.plan
    assert grid is not None
    coords = [part.coords for part in grid.parts(plan.selection)]
    assert len(coords) == plan.chunks == picture.states.size
    states = {at: random.choice(list(ChunkState)[1:]) for at in coords}  # type: ignore[attr-defined]
    whole = fill(picture, states)
    assert picture.arrived == len(coords)
    rows = [np.arange(size, dtype=np.int64) for size in picture.values.shape]
    of_elements = picture.element_states(rows)
    for position in product(*(range(size) for size in picture.values.shape)):
        indices = [taken[at] for taken, at in zip(plan.ranges, position, strict=True)]
        full = list(plan.slice.indices)
        for axis, index in zip(plan.slice.axes, indices, strict=True):
            full[axis] = index
        assert picture.values[position] == whole[tuple(full)]
        at = picture.chunk_coords(indices)
        assert (np.array(grid.origin(at)) <= full).all()
        assert (np.add(grid.origin(at), grid.extent(at)) > full).all()
        assert of_elements[position] == picture.state_at(position) == states[at]
        assert picture.position(indices) == position


@given(pictures())
def test_edges_enclose_the_values_of_each_chunk(picture: Picture) -> None:
    for axis, dimension in enumerate(picture.plan.slice.axes):
        edges = picture.chunk_edges(axis)
        numbers = picture.chunk_numbers[axis]
        assert len(edges) == len(numbers) + 1
        assert (np.diff(edges) > 0).all()
        along = picture.node.grid.dimensions[dimension]
        for index in picture.plan.ranges[axis]:
            cell = int(np.searchsorted(edges, index)) - 1
            assert numbers[cell] == along.chunk_of(index)


@given(pictures())
def test_a_sample_holds_only_values_that_have_come(picture: Picture) -> None:
    assert picture.sample().size == 0
    coords = [part.coords for part in picture.node.grid.parts(picture.plan.selection)]
    fill(picture, dict.fromkeys(coords[1:], ChunkState.FAILED))
    rows = [np.arange(size, dtype=np.int64) for size in picture.values.shape]
    done = picture.values[picture.element_states(rows) == ChunkState.DONE]
    assert sorted(picture.sample().tolist()) == sorted(done.tolist())


def test_a_scalar_is_one_chunk() -> None:
    array = node(())
    picture = Picture(array, plan_view(array, first_slice(array, [])))
    assert picture.plan.chunks == 1
    picture.out[()] = 7
    picture.accept((), ChunkState.DONE)
    assert picture.all_done
    assert picture.values[()] == 7
    assert picture.state_at(()) is ChunkState.DONE


def test_large_samples_are_thinned() -> None:
    array = node((2000, 3000), (100, 100))
    picture = Picture(array, plan_view(array, first_slice(array, [AxisRole.NONE] * 2)))
    picture.states[:] = ChunkState.DONE
    assert 10_000 < picture.sample().size < 60_000


def test_the_positions_of_a_run_of_chunks() -> None:
    array = node((90,))
    array = replace(array, values=array.over(grid_of([axis_of(90, [31, 28, 31])])))
    picture = Picture(array, plan_view(array, first_slice(array, [AxisRole.NONE]), [range(10, 90)], [5]))
    assert [picture.cell_span(0, at, at + 1) for at in range(3)] == [range(5), range(5, 10), range(10, 16)]
    assert picture.chunk_edges(0).tolist() == [7.5, 32.5, 57.5, 87.5]
