from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.io.access.access import Access
from refbrowser.io.plan import Request
from refbrowser.model.reference import ByteRange, columns_of
from refbrowser.views.plot.coordinates import AxisRole, Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.series import (
    ASK_BYTES,
    ASK_CHUNKS,
    SeriesCost,
    choices,
    column_of,
    cost_of,
    element_text,
    plan_series,
    point_text,
    series_of,
    series_rows,
)
from refbrowser.views.plot.slicing import SliceState

SHAPE = (12, 3, 20, 30)
STATE = SliceState(SHAPE, ("time", "level", "y", "x"), 3, 2, (4, 1, 0, 0))


def array() -> Any:
    return node(SHAPE, (2, 1, 10, 10), "<f4", ("time", "level", "y", "x"), units="K")


def filled(index: tuple[int, ...] = (0, 1, 7, 25)) -> Picture:
    """Return the series of an element along time: its value is the index."""
    made = Picture(array(), plan_series(array(), STATE, 0, index))
    made.out[...] = np.arange(12)
    made.states[...] = ChunkState.DONE
    return made


def test_series_run_along_sliders() -> None:
    assert choices(STATE) == (0, 1)
    assert choices(SliceState((1, 5, 6), ("t", "y", "x"), 2, 1, (0, 0, 0))) == ()
    assert choices(SliceState((4, 5), ("t", "x"), 1, None, (0, 0))) == (0,)


def test_the_plan_reads_one_element_of_each_index() -> None:
    plan = plan_series(array(), STATE, 0, (9, 1, 7, 25))
    assert plan.selection.shape == (12,)
    assert (plan.chunks, plan.ranges) == (6, (range(12),))
    assert plan.slice.indices == (4, 1, 7, 25), "not the index along the series"
    assert column_of(plan, array()) == (-1, 1, 0, 2)
    other = plan_series(array(), STATE, 0, (3, 1, 2, 29))
    assert column_of(other, array()) == (-1, 1, 0, 2), "an element of the same chunks"


def test_gaps_and_states() -> None:
    made = filled()
    made.states[1], made.states[2], made.states[3] = (
        ChunkState.MISSING,
        ChunkState.FAILED,
        ChunkState.PENDING,
    )
    series = series_of(made, Interpretation(made.node, decoded=True))
    np.testing.assert_array_equal(series.numbers, [0, 1, *[np.nan] * 6, 8, 9, 10, 11])
    assert series.states[2:6].tolist() == [ChunkState.MISSING] * 2 + [ChunkState.FAILED] * 2


def test_rows_have_a_column_for_each_point() -> None:
    one, other = filled(), filled((0, 1, 8, 26))
    other.out[...] *= 2
    other.states[0] = ChunkState.FAILED
    time = Coordinate("time", 12, AxisRole.OTHER, np.arange(12) * 6.0, units="h")
    rows = list(series_rows([one, other], Interpretation(one.node, decoded=True), time, ["a", "b"]))
    assert rows[0] == ["time [h]", "a [K]", "b [K]"]
    assert rows[1] == ["0.0", "0.0", ""]
    assert rows[-1] == ["66.0", "11.0", "22.0"]
    assert len(rows) == 13
    # What is of a stale file is marked in a column of its own.
    access = Access.for_document("d.json")
    access.memory.locked = SimpleNamespace(turns=1, stale_urls={"b"})  # type: ignore[assignment]
    other._held = access, columns_of([ByteRange("b" if chunk == 1 else "a", 0, 8) for chunk in range(6)])
    marked = list(series_rows([one, other], Interpretation(one.node, decoded=True), time, ["a", "b"]))
    marks = ["b: file", "", "", *["changed since the lock"] * 2, *[""] * 8]
    assert marked == [[*row, mark] for row, mark in zip(rows, marks, strict=True)]


def test_where_a_point_is() -> None:
    coordinates = (
        plain_coordinate("time", 12),
        Coordinate("level", 3, AxisRole.DOWN, np.array([1000.0, 850, 500]), units="hPa"),
        Coordinate("y", 20, AxisRole.LATITUDE, np.arange(20) * 1.0),
        plain_coordinate("x", 30),
    )
    plan = plan_series(array(), STATE, 0, (0, 1, 7, 25))
    assert point_text(coordinates, (2, 3), 0, plan.slice.indices) == "7°N, x 25, 850 hPa"


def test_units_stand_once_and_bare_numbers_have_a_name() -> None:
    metres = [Coordinate(name, 20, AxisRole.OTHER, np.arange(20) * 1.5, units="m") for name in "yx"]
    assert element_text(metres, (2, 3)) == "3, 4.5 m"
    month = Coordinate("month", 12, AxisRole.OTHER, np.arange(12) + 1.0)
    assert element_text([*metres, month], (2, 3, 4)) == "3, 4.5 m, month 5"
    texts = Coordinate("run", 2, texts=["1", "2"])
    assert element_text([texts, plain_coordinate("x", 3)], (1, 2)) == "2, x 2"


class Planner:
    """Stands for a session that only plans."""

    def __init__(self, url: str, each: int, missing: int = 0) -> None:
        self.url, self.each, self.missing = url, each, missing

    def plan(self, array: Any, access: Any, selection: Any) -> Any:
        chunks = array.grid.count(selection)
        stored = chunks - self.missing
        requests = [Request(self.url, at * self.each, (at + 1) * self.each) for at in range(stored)]
        return SimpleNamespace(
            requests=requests,
            chunks=chunks,
            missing_chunks=self.missing,
            inline_chunks=0,
            faulty_chunks=0,
        )


def cost(url: str, chunks: int, each: int, missing: int = 0, *, from_network: bool = False) -> SeriesCost:
    long = node((chunks, 10, 10), (1, 10, 10))
    state = SliceState(long.shape, ("t", "y", "x"), 2, 1, (0, 0, 0))
    access = SimpleNamespace(from_network=from_network)
    plan = plan_series(long, state, 0, (0, 3, 3))
    return cost_of(Planner(url, each, missing), access, long, plan)  # type: ignore[arg-type]


def test_what_a_series_costs() -> None:
    found = cost("https://example.invalid/a", 365, 1000, missing=65)
    assert found == SeriesCost(365, 300, 300_000, remote=True)


@pytest.mark.parametrize(
    ("url", "chunks", "each", "from_network", "asks"),
    [
        ("https://example.invalid/a", ASK_CHUNKS + 1, 10, False, True),
        ("https://example.invalid/a", ASK_CHUNKS, 10, False, False),
        ("s3://bucket/a", 2, ASK_BYTES, False, True),
        ("a.dat", ASK_CHUNKS + 1, 10, False, False),
        ("file:///a.dat", ASK_CHUNKS + 1, 10, False, False),
        ("a.dat", ASK_CHUNKS + 1, 10, True, True),
        ("a.dat", 20, 100_000_000, False, True),
    ],
)
def test_when_to_ask(url: str, chunks: int, each: int, from_network: bool, asks: bool) -> None:
    assert cost(url, chunks, each, from_network=from_network).asks is asks


def test_nothing_to_fetch_needs_no_question() -> None:
    assert not cost("https://example.invalid/a", 100, 10, missing=100).asks


def test_of_very_many_chunks_not_each_is_looked_at() -> None:
    class Manifest:
        asked = 0

        def columns(self, coords: Any) -> Any:
            self.asked += len(coords)
            return SimpleNamespace(urls=("https://example.invalid/a",))

    manifest = Manifest()
    long = node((1_000_000, 10, 10), (1, 10, 10))
    long = replace(long, values=replace(long.chunks, manifest=manifest))
    state = SliceState(long.shape, ("t", "y", "x"), 2, 1, (0, 0, 0))
    plan = plan_series(long, state, 0, (0, 3, 3))
    found = cost_of(None, SimpleNamespace(from_network=False), long, plan)  # type: ignore[arg-type]
    assert found == SeriesCost(1_000_000, None, None, remote=True)
    assert found.asks
    assert manifest.asked == 2
