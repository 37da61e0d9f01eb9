"""The plan that is drawn is what the program does; what is tried changes the drawing alone; costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError
from refbrowser.io.plan import AUTOMATIC, LOCAL, Link, PlanChoice, plan_ranges
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.selection import Selection
from refbrowser.tools.bytes.report.cost_words import cell_words, factor_words
from refbrowser.tools.bytes.report.live_plan import LivePlan, ViewNeeds, link_words, seconds_words
from refbrowser.tools.bytes.report.reading_costs import (
    Cost,
    CostTable,
    cost_table,
    own_chunking,
    own_chunkings,
    reaches_of,
)

HOST = "http://127.0.0.1:9"
URL = f"{HOST}/data.bin"
#: Times, levels, rows and columns of chunks; and the bytes from one to the next, of which some are a gap.
GRID, CHUNK, STEP = (6, 3, 2, 2), 4000, 5000


def write_set(folder: Path, url: str = URL) -> Path:
    """Write ``/field`` of compressed chunks in one file, in their order."""
    metadata = {
        "zarr_format": 2,
        "shape": [6, 3, 40, 60],
        "chunks": [1, 1, 20, 30],
        "dtype": "<f4",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', "field/.zarray": json.dumps(metadata)}
    refs["field/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["time", "depth", "y", "x"]}'
    for number, coords in enumerate(np.ndindex(*GRID)):
        refs[f"field/{'.'.join(map(str, coords))}"] = [url, 1000 + number * STEP, CHUNK]
    path = folder / "set.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def live(dataset: Dataset, select: str, choice: PlanChoice = AUTOMATIC) -> LivePlan:
    node = dataset["/field"].node
    selection = Selection.from_text(select, node.shape)
    needs = ViewNeeds.of(dataset.session, node, dataset.access, selection)
    return LivePlan.of(needs, dataset.session, dataset.access, URL, choice)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return refbrowser.open(write_set(tmp_path), allow=[HOST])


class TestAutomatic:
    @pytest.mark.parametrize("select", ["0", ":,0,0,0", "::2,1", ":"])
    def test_is_what_the_program_does(
        self, dataset: Dataset, select: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = live(dataset, select)
        plan = dataset["/field"].plan(dataset["/field"].selection(select))
        assert found.plan.requests == plan.requests
        assert found.plan.seconds == plan.seconds
        assert main(["plan", str(tmp_path / "set.json"), "/field", "--select", select, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        shown = zip(found.start.tolist(), found.stop.tolist(), strict=True)
        assert [list(each) for each in shown] == [each[1:] for each in told["requests"]]
        assert (found.plan.useful_bytes, found.plan.wasted_bytes) == (
            told["useful_bytes"],
            told["wasted_bytes"],
        )
        words = dict(found.words())
        assert words["Requests"] == str(len(told["requests"]))

    def test_trying_changes_nothing_but_the_drawing(self, dataset: Dataset) -> None:
        before = live(dataset, ":")
        tried = live(dataset, ":", PlanChoice(gap=0, block=1 << 14, connections=2))
        assert tried.plan.ranges.request_count == 72
        assert tried.plan.wasted_bytes == 0
        assert tried.connections == 2
        assert live(dataset, ":").plan.requests == before.plan.requests
        assert dataset["/field"].plan(dataset["/field"].selection(":")).requests == before.plan.requests

    def test_a_wide_gap_makes_one_request_of_all(self, dataset: Dataset) -> None:
        tried = live(dataset, ":", PlanChoice(gap=1 << 20, block=1 << 27))
        assert tried.plan.ranges.request_count == 1
        assert tried.plan.wasted_bytes == 71 * (STEP - CHUNK)
        assert tried.gap == STEP - CHUNK
        assert tried.runs.size == 71 * STEP + CHUNK


class TestChoice:
    @settings(max_examples=examples(200))
    @given(
        rows=st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 200)), min_size=1, max_size=20),
        gap=st.integers(0, 400),
        link=st.sampled_from([Link("a"), LOCAL]),
    )
    def test_gaps_up_to_the_chosen_one_are_read_over(
        self, rows: list[tuple[int, int]], gap: int, link: Link
    ) -> None:
        offset, length = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        kind = np.full(len(rows), ReferenceKind.RANGE, np.uint8)
        columns = ReferenceColumns(kind, np.zeros(len(rows), np.int32), offset, length, ("u",))
        plan = plan_ranges(columns, [PlanChoice(gap=gap, block=1 << 27).link(link)])
        merged: list[list[int]] = []
        for start, size in sorted(rows):
            if merged and start - merged[-1][1] <= gap:
                merged[-1][1] = max(merged[-1][1], start + size)
            else:
                merged.append([start, start + size])
        found = zip(plan.request_start.tolist(), plan.request_stop.tolist(), strict=True)
        assert [list(each) for each in found] == merged

    def test_nothing_chosen_is_the_link(self) -> None:
        link = Link("a")
        assert AUTOMATIC.link(link) is link

    def test_hosts_are_read_at_the_same_time(self) -> None:
        kind = np.full(2, ReferenceKind.RANGE, np.uint8)
        columns = ReferenceColumns(
            kind, np.arange(2, dtype=np.int32), np.zeros(2, np.int64), np.array([10**6, 10**8]), ("a", "b")
        )
        links = [Link("a"), Link("b")]
        plan = plan_ranges(columns, links)
        alone = plan_ranges(ReferenceColumns(*(getattr(columns, name)[1:] for name in
            ("kind", "url", "offset", "length")), ("a", "b")), links)  # fmt: skip
        assert plan.seconds == alone.seconds

    def test_links_in_words(self) -> None:
        assert "not measured yet" in link_words(Link("http://a"))
        assert link_words(Link("http://a", latency=0.2)).startswith("measured: 200 ms")
        assert "this machine" in link_words(LOCAL)
        assert [seconds_words(each) for each in (0, 5e-5, 0.02, 3.21, 200)] == [
            "0 ms", "under 1 ms", "20 ms", "3.2 s", "3 min 20 s",
        ]  # fmt: skip
        assert seconds_words(1, 2) == "1 s and more"
        assert seconds_words(0, 2) == "not known"


class TestCost:
    @pytest.fixture
    def table(self, dataset: Dataset) -> CostTable:
        node = dataset["/field"].node
        own = own_chunkings([":,1,10,:", "6,3,40,60"], node.shape)
        return cost_table(dataset.session, dataset.access, node, reaches_of(dataset.hierarchy, node), own)

    def test_what_is_read(self, table: CostTable) -> None:
        assert [(each.name, each.detail) for each in table.reaches] == [
            ("map", "y, x"), ("series", "time"), ("profile", "depth"), ("all", "time, depth, y, x"),
        ]  # fmt: skip

    def test_now_is_what_the_plan_says(self, table: CostTable, dataset: Dataset) -> None:
        now = table.chunkings[0]
        assert now.shape == (1, 1, 20, 30)
        for reach, chunks in zip(table.reaches, (4, 6, 3, 72), strict=True):
            cost, plan = table.cost(now, reach), dataset["/field"].plan(reach.selection)
            assert isinstance(cost, Cost)
            assert (cost.requests, cost.chunks) == (plan.ranges.request_count, chunks)
            assert cost.read_bytes == plan.useful_bytes + plan.wasted_bytes
            assert cost.seconds == plan.seconds
        series = table.cost(now, table.reaches[1])
        assert isinstance(series, Cost)
        assert series.used_bytes == round(6 * CHUNK / 600)

    def test_other_chunks(self, table: CostTable) -> None:
        assert table.ratio == CHUNK / 2400
        own = table.chunkings[-2:]
        assert [each.shape for each in own] == [(6, 1, 10, 60), (6, 3, 40, 60)]
        series = table.cost(own[0], table.reaches[1])
        assert isinstance(series, Cost)
        assert (series.requests, series.chunks) == (1, 1)
        assert series.read_bytes == round(6 * 10 * 60 * 4 * CHUNK / 2400)
        assert series.is_estimate
        everything = table.cost(own[1], table.reaches[3])
        assert isinstance(everything, Cost)
        assert everything.used_bytes == everything.read_bytes

    def test_candidates_are_good_at_what_they_are_for(self, tmp_path: Path) -> None:
        path = write_set(tmp_path)
        text = json.loads(path.read_text())
        metadata = json.loads(text["refs"]["field/.zarray"])
        metadata |= {"shape": [2000, 1, 720, 1440], "chunks": [10, 1, 90, 90]}
        text["refs"]["field/.zarray"] = json.dumps(metadata)
        path.write_text(json.dumps(text))
        with refbrowser.open(path, allow=[HOST]) as dataset:
            node = dataset["/field"].node
            table = cost_table(dataset.session, dataset.access, node, reaches_of(dataset.hierarchy, node))
        shapes = {each.name: each.shape for each in table.chunkings}
        seconds = {
            (name, reach.name): found.seconds
            for name in shapes
            for reach in table.reaches
            if isinstance(found := table.costs[name, reach.name], Cost)
        }
        assert shapes["map"][0] == 1
        assert shapes["series"][0] == 2000
        assert 1 < shapes["balanced"][0] < 2000
        others = ("map", "series", "balanced")
        assert min(others, key=lambda name: seconds[name, "map"]) == "map"
        assert min(others, key=lambda name: seconds[name, "series"]) == "series"
        worst = {name: max(seconds[name, "map"], seconds[name, "series"]) for name in others}
        assert min(worst, key=worst.__getitem__) == "balanced"
        for shape in shapes.values():
            assert np.prod(shape) * 4 <= 16 << 20

    @pytest.mark.parametrize("shape", [[2**61, 3], [10**12, 10**6], [2] * 32, [1], [5, 1, 1]])
    def test_shapes_that_a_file_says(self, tmp_path: Path, shape: list[int]) -> None:
        path = write_set(tmp_path)
        text = json.loads(path.read_text())
        metadata = json.loads(text["refs"]["field/.zarray"])
        text["refs"]["field/.zarray"] = json.dumps(metadata | {"shape": shape, "chunks": [1] * len(shape)})
        text["refs"]["field/.zattrs"] = "{}"
        path.write_text(json.dumps(text))
        with refbrowser.open(path, allow=[HOST]) as dataset:
            node = dataset["/field"].node
            table = cost_table(dataset.session, dataset.access, node, reaches_of(dataset.hierarchy, node))
        assert json.dumps(table.to_json())
        for chunking in table.chunkings:
            assert all(0 < side <= length for side, length in zip(chunking.shape, shape, strict=True))

    def test_words_and_json(self, table: CostTable) -> None:
        now, one = table.chunkings[0], table.reaches[0]
        head, more = cell_words(table.cost(now, one))
        assert head.endswith("ms")
        assert more.endswith("used")
        assert factor_words(table.cost(now, one), table.cost(now, one)) == "as now"
        told = json.loads(json.dumps(table.to_json()))
        assert told["chunkings"][0]["chunks"] == [1, 1, 20, 30]
        assert told["chunkings"][0]["costs"]["map"]["chunks"] == 4

    def test_sizes_that_are_not_known(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Chunks of a Zarr store are whole files, and nobody has asked how long they are."""
        metadata = {"zarr_format": 2, "shape": [4, 4], "chunks": [2, 4], "dtype": "<i2", "fill_value": 0}
        metadata |= {"order": "C", "filters": None, "compressor": {"id": "zlib", "level": 1}}
        array = tmp_path / "a.zarr" / "field"
        array.mkdir(parents=True)
        (array.parent / ".zgroup").write_text('{"zarr_format": 2}')
        (array / ".zarray").write_text(json.dumps(metadata))
        for name in ("0.0", "1.0"):
            (array / name).write_bytes(bytes(9))
        assert main(["plan", str(array.parent), "/field", "--cost"]) == 0
        (line,) = (row for row in capsys.readouterr().out.splitlines()[:4] if "Whole array" in row)
        assert line.split()[2:4] == ["not", "known"]
        assert line.endswith("stored sizes not known")
        unknown = Cost(1, 0, 0, 0, 1, 0.0, unknown_sizes=1)
        assert cell_words(unknown) == ("not known", "1 request, sizes not known")

    @pytest.mark.parametrize("text", ["1,2", "1,2,3,x", "0,1,1,1", "1,,1,1", "1,1,1,1,1"])
    def test_shapes_that_are_none(self, text: str) -> None:
        with pytest.raises(RefbrowserError):
            own_chunking(text, (6, 3, 40, 60))

    def test_on_the_command_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = str(write_set(tmp_path))
        assert main(["plan", path, "/field", "--cost", "--chunks", ":,:,10,10", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [each["name"] for each in told["chunkings"]][-1] == "own"
        assert told["chunkings"][-1]["costs"]["all"]["requests"] == 24
        assert main(["plan", path, "/field", "--cost"]) == 0
        assert "One map" in capsys.readouterr().out
        assert main(["plan", path, "/field", "--cost", "--chunks", "1"]) == 2
        assert main(["plan", path, "/field", "--chunks", "1,1,1,1"]) == 2
        assert "error[E_USAGE]" in capsys.readouterr().err
