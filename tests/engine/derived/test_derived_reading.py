"""Chunks that lie together are computed together: how they are put into boxes, and statistics by parts."""

from __future__ import annotations

import warnings
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refbrowser.engine.derived import operations
from refbrowser.engine.derived.derived_reading import _boxes
from refbrowser.engine.derived.operations import Constant, Elementwise, How, Operation, Reduction
from refbrowser.io.cancel import CancelToken


class Held(Operation):
    """Values in memory."""

    def __init__(self, values: np.ndarray, side: int = 1) -> None:
        self.values = values
        self.sizes = {f"d{axis}": size for axis, size in enumerate(values.shape)}
        self.dtype = values.dtype
        self._side = side
        self.largest = 0

    def block(self, ranges, how):
        index = tuple(
            slice(each.start, each.stop, each.step) for each in (ranges[name] for name in self.names)
        )
        found = self.values[index]
        self.largest = max(self.largest, found.size)
        return found

    def sources(self):
        yield from ()

    def side(self, name: str) -> int:
        return self._side


HOW = How(CancelToken(), lambda size, requests: None)


def whole(operation: Operation) -> dict[str, range]:
    return {name: range(size) for name, size in operation.sizes.items()}


@given(st.lists(st.integers(1, 5), min_size=0, max_size=4), st.integers(1, 30), st.data())
def test_chunks_are_computed_in_boxes(shape: list[int], most: int, data: st.DataObject) -> None:
    lattice = np.array(list(np.ndindex(*shape)), np.int64).reshape(prod(shape), len(shape))
    start = data.draw(st.integers(0, len(lattice) - 1))
    coords = lattice[start : data.draw(st.integers(start + 1, len(lattice)))]
    begins = _boxes(coords, most)
    assert begins[0] == 0
    for first, stop in pairwise([*begins, len(coords)]):
        box = coords[first:stop]
        assert 0 < len(box) <= most
        sides = box.max(axis=0) - box.min(axis=0) + 1
        assert prod(sides.tolist()) == len(box)


def test_whole_planes_are_one_box() -> None:
    coords = np.array(list(np.ndindex(4, 3, 2)), np.int64)
    assert _boxes(coords, 1000) == [0]
    assert _boxes(coords, 12) == [0, 12]
    assert _boxes(coords, 7) == [0, 6, 12, 18]


@pytest.mark.parametrize("statistic", ["mean", "sum", "min", "max", "std", "var", "count"])
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=6),
        elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6).map(lambda number: number + 1e7)),
    ),
    st.data(),
)
def test_statistics_by_parts_are_those_of_all(
    statistic: str, values: np.ndarray, data: st.DataObject
) -> None:
    held = Held(values, side=data.draw(st.integers(1, 3)))
    over = data.draw(st.lists(st.sampled_from(held.names), min_size=1, unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "HELD", data.draw(st.integers(1, 40)))
        found = Reduction(statistic, held, over).block(whole(held), HOW)
    axes = tuple(held.names.index(name) for name in over)
    functions = {"sum": np.nansum, "count": lambda values, axis: (~np.isnan(values)).sum(axis=axis)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = functions.get(statistic, getattr(np, f"nan{statistic}", None))(values, axis=axes)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-3)


def test_a_statistic_holds_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "HELD", 64)
    held = Held(np.arange(4 * 1000 * 8, dtype=float).reshape(4, 1000, 8), side=4)
    mean = Reduction("mean", held, ["d1"])
    assert np.allclose(mean.block(whole(held), HOW), held.values.mean(axis=1))
    assert held.largest <= 4 * 8 * 4


def test_operands_are_laid_by_the_names_of_their_dimensions() -> None:
    cube = Held(np.arange(24.0).reshape(2, 3, 4))
    row = Held(np.arange(4.0))
    row.sizes = {"d2": 4}
    joined = Elementwise(np.add, [row, cube])
    assert joined.names == ("d2", "d0", "d1")
    found = joined.block(whole(joined), HOW)
    assert np.array_equal(found, (cube.values + row.values).transpose(2, 0, 1))


def test_a_number_makes_values_no_wider() -> None:
    small = Held(np.ones(3, np.float32))
    assert Elementwise(np.multiply, [small, Constant(2.0)]).dtype == np.float32


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (2, 3, 4), (5, 0, 2), (1, 1, 30)])
@pytest.mark.parametrize("most", [1, 4, 7, 100])
def test_blocks_are_all_of_an_array_once(
    shape: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "BLOCK", most)
    counts = np.zeros(shape, int)
    for block in operations.blocks(shape):
        assert counts[block].ndim == counts.ndim
        assert counts[block].size <= max(most, 1)
        counts[block] += 1
    assert (counts == 1).all()


def test_scratch_gives_memory_again_but_not_after_an_error() -> None:
    scratch = operations.Scratch()
    with scratch.taken((4,), np.dtype("f8")) as first, scratch.taken((4,), np.dtype("f8")) as second:
        assert not np.shares_memory(first, second)
    with scratch.taken((2, 2), np.dtype("f4")) as again:
        assert np.shares_memory(first, again) or np.shares_memory(second, again)
    held = []

    def fail() -> None:
        with scratch.taken((4,), np.dtype("f8")) as lost:
            held.append(lost)
            raise OSError

    with pytest.raises(OSError):
        fail()
    with scratch.taken((4,), np.dtype("f8")) as one, scratch.taken((4,), np.dtype("f8")) as other:
        assert not np.shares_memory(held[0], one)
        assert not np.shares_memory(held[0], other)
