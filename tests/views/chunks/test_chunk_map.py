"""Values of a chunk map against looking at each chunk; colours, changes, facts, and what became of reads."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.engine.reading.chunk_log import ArrayLog, ReadState, marks_of
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, ReplaceUrlPrefix, SetReference
from refbrowser.views.chunks import chunk_map
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap, coloured
from refbrowser.views.chunks.chunk_facts import ChunkFacts, chunk_facts, facts_line
from refbrowser.views.chunks.chunk_map import (
    NOTHING,
    OTHER_URL,
    Change,
    ChunkLayout,
    ChunkMapValues,
    MapSource,
    first_chunk_slice,
    manifest_in,
)

GRID = (6, 50)
MISSING, INLINE, WHOLE, FAULTY = (1, 1), (2, 3), (3, 4), (5, 5)


def document(**more: Any) -> ReferenceDocument:
    refs: dict[str, Any] = {}
    for row, column in np.ndindex(*GRID):
        refs[f"a/{row}.{column}"] = [f"s3://b/{row}.nc", column * 100, 10 * (column + 1)]
    del refs["a/1.1"]
    refs["a/2.3"] = "base64:" + base64.b64encode(b"12345678").decode()
    refs["a/3.4"] = ["s3://b/whole.nc"]
    refs["a/5.5"] = ["{{nothing}}", 0, 4]
    return ReferenceDocument.of(json.dumps({"version": 1, "refs": {**refs, **more}}).encode())


def manifest(state: ReferenceDocument, grid: tuple[int, ...] = GRID) -> ExpansionManifest:
    return ExpansionManifest(state.expansion, "a/", grid, ChunkKeyEncoding())


def array(state: ReferenceDocument) -> ArrayNode:
    array = node((6, 500), (1, 10), path="/a")
    return replace(array, values=replace(array.chunks, manifest=manifest(state)))


def filled(source: MapSource, layout: ChunkLayout | None = None) -> ChunkMapValues:
    if layout is None:
        layout = ChunkLayout.of(first_chunk_slice(node((6, 500), (1, 10))))
    values = ChunkMapValues.whole(source, layout)
    for _ in values.fill(lambda: None):
        pass
    values.take_news()
    assert values.is_complete
    return values


def entries(shown: ColouredMap) -> dict[str, int]:
    return {entry.label or entry.style: entry.count for entry in shown.legend[1:] if entry.count}


def at(values: ChunkMapValues, coords: tuple[int, ...]) -> tuple[int, int]:
    cell = values.layout.cell_of(coords)
    assert cell is not None
    return cell


def test_each_chunk_is_what_its_reference_is() -> None:
    state = document()
    values = filled(MapSource(manifest(state)))
    for row, column in np.ndindex(*GRID):
        place = at(values, (row, column))
        kind = {
            MISSING: ReferenceKind.MISSING,
            INLINE: ReferenceKind.INLINE,
            WHOLE: ReferenceKind.WHOLE,
            FAULTY: ReferenceKind.FAULTY,
        }.get((row, column), ReferenceKind.RANGE)
        assert values.kind[place] == kind, (row, column)
        if kind == ReferenceKind.RANGE:
            assert values.length[place] == 10 * (column + 1)
            assert values.urls[values.url[place]] == f"s3://b/{row}.nc"


def test_states_and_counts() -> None:
    shown = coloured(filled(MapSource(manifest(document()))), ColourBy.STATE)
    assert entries(shown) == {
        "stored": 296, "stored as a whole file": 1, "inline": 1, "missing": 1, "faulty or lost": 1,
    }  # fmt: skip
    assert (shown.stored, shown.inline, shown.missing, shown.failed) == (297, 1, 1, 1)
    assert shown.class_at(*at_layout(shown, MISSING)).style == "missing"
    assert shown.changed == 0
    assert shown.change is None


def at_layout(shown: ColouredMap, coords: tuple[int, ...]) -> tuple[int, int]:
    cell = shown.layout.cell_of(coords)
    assert cell is not None
    return cell


def test_sizes_are_steps_of_equal_ratio_without_gaps() -> None:
    shown = coloured(filled(MapSource(manifest(document()))), ColourBy.SIZE)
    steps = [entry for entry in shown.legend if entry.style == "scale"]
    assert steps[0].low == 10
    assert steps[-1].high == 500
    assert all(one.high == other.low for one, other in pairwise(steps))
    assert sum(entry.count for entry in steps) == 296
    assert shown.class_at(*at_layout(shown, (0, 49))).number == steps[-1].number
    assert shown.class_at(*at_layout(shown, (0, 0))).number == steps[0].number


def test_urls_have_entries_of_their_own_until_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = coloured(filled(MapSource(manifest(document()))), ColourBy.URL)
    assert entries(shown) == {
        "s3://b/0.nc": 50, "s3://b/1.nc": 49, "s3://b/2.nc": 49, "s3://b/3.nc": 49, "s3://b/4.nc": 50,
        "s3://b/5.nc": 49, "s3://b/whole.nc": 1, "missing": 1, "inline": 1, "faulty or lost": 1,
    }  # fmt: skip
    monkeypatch.setattr(chunk_map, "URLS_KEPT", 2)
    values = filled(MapSource(manifest(document())))
    assert (values.url == OTHER_URL).sum() > 100
    assert entries(coloured(values, ColourBy.URL))["other URLs"] > 100


class TestReads:
    def noted(self, state: ReferenceDocument, *notes: tuple[tuple[int, int], ReadState, float]) -> ArrayLog:
        log = ArrayLog(2)
        for coords, read, seconds in notes:
            row = np.array([coords], np.int64)
            log.note(row, read, marks_of(manifest(state).columns(row)), seconds)
        return log

    def test_the_last_state_counts(self) -> None:
        state = document()
        log = self.noted(
            state,
            ((0, 0), ReadState.PENDING, float("nan")),
            ((0, 1), ReadState.PENDING, float("nan")),
            ((0, 2), ReadState.FAILED, float("nan")),
            ((0, 0), ReadState.DONE, 0.25),
        )
        values = filled(MapSource(manifest(state), None, log))
        assert not values.has_news
        shown = coloured(values, ColourBy.STATE)
        assert entries(shown)["read"] == 1
        assert entries(shown)["being read"] == 1
        assert entries(shown)["could not be read"] == 1
        assert shown.failed == 2
        assert values.read_at(*at(values, (0, 0))) == (ReadState.DONE, 0.25)
        times = coloured(values, ColourBy.TIME)
        assert [entry.count for entry in times.legend if entry.style == "scale"] == [1]
        assert entries(times)["not read"] == 295
        log.note(np.array([[4, 4]]), ReadState.DONE, marks_of(manifest(state).columns(np.array([[4, 4]]))))
        assert values.has_news

    def test_what_was_read_before_an_edit_does_not_count(self) -> None:
        state = document()
        log = self.noted(state, ((0, 0), ReadState.DONE, 0.25), ((1, 0), ReadState.DONE, 0.25))
        edited = state.apply(SetReference("a/0.0", ["s3://b/other.nc", 0, 10]))
        shown = coloured(filled(MapSource(manifest(edited), None, log)), ColourBy.STATE)
        assert entries(shown)["read"] == 1
        assert shown.class_at(*at_layout(shown, (0, 0))).style == "range"


class TestChanges:
    def source(self, state: ReferenceDocument, saved: ReferenceDocument) -> MapSource:
        return MapSource(manifest(state), manifest_in(manifest(state), saved))

    def test_each_kind_of_change(self) -> None:
        saved = document()
        state = saved
        for edit in (
            SetReference("a/0.0", ["s3://b/0.nc", 1, 10]),
            SetReference("a/0.1", ["s3://b/0.nc", 100, 21]),
            SetReference("a/0.2", ["s3://b/x.nc", 200, 30]),
            SetReference("a/0.3", ["s3://b/0.nc", 300, 40]),
            SetReference("a/2.3", "base64:" + base64.b64encode(b"8765").decode()),
            SetReference("a/1.1", ["s3://b/x.nc", 0, 4]),
            RemoveReference("a/4.4"),
        ):
            state = state.apply(edit)
        source = self.source(state, saved)
        shown = coloured(filled(source), ColourBy.CHANGE)
        assert entries(shown) == {"as saved": 294, "changed": 4, "added": 1, "removed": 1}
        assert shown.changed == 6
        found = {
            coords
            for coords in np.ndindex(*GRID)
            if shown.is_changed(*at_layout(shown, coords))  # type: ignore[arg-type]
        }
        # The same reference once more is no change.
        assert found == {(0, 0), (0, 1), (0, 2), (2, 3), (1, 1), (4, 4)}
        facts = chunk_facts(source, array(state), (0, 2))
        assert (facts.change, facts.url) == (Change.CHANGED, "s3://b/x.nc")
        assert facts.before.url == "s3://b/0.nc"
        assert chunk_facts(source, array(state), (1, 1)).change is Change.ADDED
        assert chunk_facts(source, array(state), (4, 4)).change is Change.REMOVED

    def test_a_replaced_prefix_changes_every_url_and_undo_none(self) -> None:
        saved = document()
        state = saved.apply(ReplaceUrlPrefix("s3://b/", "s3://c/"))
        assert coloured(filled(self.source(state, saved)), ColourBy.STATE).changed == 297
        back = state.apply(ReplaceUrlPrefix("s3://c/", "s3://b/"))
        assert coloured(filled(self.source(back, saved)), ColourBy.STATE).changed == 0


class TestFacts:
    def test_kinds(self) -> None:
        state = document()
        source, field = MapSource(manifest(state)), array(state)
        facts = chunk_facts(source, field, (0, 7))
        assert (facts.key, facts.url, facts.offset, facts.length) == ("a/0.7", "s3://b/0.nc", 700, 80)
        assert (facts.decoded, facts.shape) == (40, (1, 10))
        assert chunk_facts(source, field, MISSING).kind is ReferenceKind.MISSING
        assert chunk_facts(source, field, INLINE).length == 8
        assert chunk_facts(source, field, WHOLE).url == "s3://b/whole.nc"
        assert chunk_facts(source, field, FAULTY).error is not None


class TestLarge:
    def test_a_grid_that_cannot_be_held_is_sampled_and_a_part_is_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        big = (10**6, 10**6)
        rule = {
            "key": "a/{{i}}.{{j}}", "url": "s3://b/{{i}}", "offset": "{{j * 4}}", "length": "4",
            "dimensions": {"i": {"stop": 10**6}, "j": {"stop": 10**6}},
        }  # fmt: skip
        state = ReferenceDocument.of(json.dumps({"version": 1, "gen": [rule], "refs": {}}).encode())
        monkeypatch.setattr(type(LIMITS), "map_chunks", 20_000, raising=False)
        layout = ChunkLayout.of(first_chunk_slice(node(big, (1, 1))))
        source = MapSource(manifest(state, big))
        whole = ChunkMapValues.whole(source, layout)
        assert whole.is_sampled
        assert whole.size <= LIMITS.map_chunks
        part = ChunkMapValues(source, layout, range(500, 520), range(900_000, 900_030))
        for _ in part.fill(lambda: None):
            pass
        assert (part.kind == ReferenceKind.RANGE).all()
        assert part.covers(range(505, 510), range(900_001, 900_030))
        assert not part.covers(range(505, 521), range(900_001, 900_002))

    def test_the_first_look_shows_something_before_all_is_known(self) -> None:
        grid = (400, 400)
        values = ChunkMapValues.whole(
            MapSource(manifest(document(), grid)), ChunkLayout.of(first_chunk_slice(node(grid, (1, 1))))
        )
        steps = values.fill(lambda: None)
        next(steps)
        assert not values.is_complete
        assert (values.kind != chunk_map.UNKNOWN).all()
        for _ in steps:
            pass
        assert values.is_complete

    def test_a_cancelled_map_goes_on_where_it_was(self) -> None:
        grid = (400, 400)
        values = ChunkMapValues.whole(
            MapSource(manifest(document(), grid)), ChunkLayout.of(first_chunk_slice(node(grid, (1, 1))))
        )
        calls = []

        def stop() -> None:
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            for _ in values.fill(stop):
                pass
        done = values.filled
        assert 0 < done < values.size
        for _ in values.fill(lambda: None):
            pass
        assert values.filled == values.size


def test_a_wrapped_map_has_nothing_after_its_end() -> None:
    grid = (130,)
    refs = {f"a/{number}": ["s3://b/x", number, 1] for number in range(130)}
    state = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    values = filled(MapSource(manifest(state, grid)), ChunkLayout.of(first_chunk_slice(node((130,), (1,)))))
    assert (values.kind == NOTHING).sum() == values.size - 130
    shown = coloured(values, ColourBy.STATE)
    assert shown.stored == 130
    first = next(number for number, entry in enumerate(shown.legend) if entry.style == "range")
    last = shown.layout.cell_of((129,))
    assert shown.next_of(first, *last) == (0, 0)


def test_real_documents_are_mapped_as_they_are(shared_data: Path) -> None:
    import refbrowser

    for path in sorted((shared_data / "real").glob("*.refs.json")):
        with refbrowser.open(path) as dataset:
            for name in dataset.arrays:
                array_node = dataset[name].node
                if not array_node.has_grid or not array_node.grid.size:
                    continue
                layout = ChunkLayout.of(first_chunk_slice(array_node))
                shown = coloured(filled(MapSource(array_node.manifest), layout), ColourBy.STATE)
                assert shown.stored + shown.inline + shown.missing == layout.size


def test_bytes_are_named_where_there_are_any() -> None:
    inline = ChunkFacts((0,), "a/0", ReferenceKind.INLINE, length=8, decoded=8)
    assert "bytes" not in facts_line(inline, 0, math.nan, None)
    some = replace(inline, kind=ReferenceKind.RANGE, url="x", offset=4)
    assert "bytes 4 to 12" in facts_line(some, 0, math.nan, None)
