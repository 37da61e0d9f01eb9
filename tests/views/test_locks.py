"""What is shown of files that are not those of the lock: rows, the chunk map, pictures, explanations."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.reading.chunk_log import ReadState
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.locks.lock import LockEntry, Mark, Stale
from refbrowser.model.nodes import ArrayNode
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import LinkKind, StepState, VerdictKind
from refbrowser.views.chunks import chunk_map
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap, coloured
from refbrowser.views.chunks.chunk_facts import chunk_facts, facts_line, stale_of
from refbrowser.views.chunks.chunk_map import ChunkLayout, ChunkMapValues, MapSource, first_chunk_slice
from refbrowser.views.locks import stale_rows, stale_words
from refbrowser.views.plot.coordinates import AxisRole, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.profile import profile_of
from refbrowser.views.plot.reading import read_picture
from refbrowser.views.plot.readout import readout
from refbrowser.views.plot.series import series_of
from refbrowser.views.plot.slicing import dimension_names, first_slice
from refbrowser.views.plot.table import TableLayout

FILES = 4


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    """An array of 2 × 2 chunks, a file each, of which the second was replaced, and the third one is gone."""
    array = {
        "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array)}
    for number in range(FILES):
        (tmp_path / f"f{number}").write_bytes(bytes([number] * 6))
        refs[f"t/{number // 2}.{number % 2}"] = [f"f{number}", 0, 6]
    path = tmp_path / "doc.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    refbrowser.lock(path)
    (tmp_path / "f1").write_bytes(bytes([9] * 6))
    (tmp_path / "f2").unlink()
    with refbrowser.open(path, stale="allow") as opened:
        yield opened


def node_of(dataset: Dataset) -> ArrayNode:
    return dataset["t"].node


def picture_of(dataset: Dataset) -> Picture:
    node = node_of(dataset)
    picture = Picture(node, plan_view(node, first_slice(node, (AxisRole.NONE,) * len(node.shape))))
    read_picture(dataset.session, dataset.access, picture, CancelToken())
    return picture


def mapped(dataset: Dataset, by: ColourBy = ColourBy.STATE) -> ColouredMap:
    node = node_of(dataset)
    memory = dataset.access.memory
    source = MapSource(node.manifest, None, dataset.session.chunk_log.of(memory, "/t", 2), memory.locked)
    values = ChunkMapValues.whole(source, ChunkLayout.of(first_chunk_slice(node)))
    for _ in values.fill(lambda: None):
        pass
    values.take_news()
    return coloured(values, by)


@pytest.mark.parametrize("by", ColourBy)
def test_the_chunk_map_marks_stale_chunks_whatever_it_is_coloured_by(dataset: Dataset, by: ColourBy) -> None:
    before = mapped(dataset, by)
    assert before.stale == 0
    assert all(each.style != "stale" for each in before.legend)
    picture_of(dataset)
    shown = mapped(dataset, by)
    assert shown.stale == 1
    assert shown.class_at(0, 1).style == "stale"
    # What could not be read says so.
    assert shown.class_at(1, 0).style != "stale"
    assert shown.class_at(0, 0).style != "stale"


def test_the_chunk_map_has_news_when_a_file_proves_to_be_stale(dataset: Dataset) -> None:
    node, locked = node_of(dataset), dataset.access.memory.locked
    values = ChunkMapValues.whole(
        MapSource(node.manifest, None, None, locked), ChunkLayout.of(first_chunk_slice(node))
    )
    for _ in values.fill(lambda: None):
        pass
    values.take_news()
    assert not values.has_news
    picture_of(dataset)
    assert values.has_news
    values.take_news()
    assert not values.has_news
    assert coloured(values, ColourBy.SIZE).stale == 1


def test_files_that_are_too_many_to_be_told_apart_are_not_taken_for_right(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_map, "URLS_KEPT", 1)
    picture_of(dataset)
    assert mapped(dataset).stale == 2


def test_a_chunk_tells_how_its_file_differs(dataset: Dataset) -> None:
    picture_of(dataset)
    node = node_of(dataset)
    source = MapSource(node.manifest, None, None, dataset.access.memory.locked)
    facts = chunk_facts(source, node, (0, 1))
    assert "first bytes SHA-256" in facts_line(facts, ReadState.DONE, 0.1, None, stale_of(source, facts))
    assert stale_of(source, chunk_facts(source, node, (0, 0))) == ""


def test_a_picture_knows_its_stale_chunks(dataset: Dataset) -> None:
    picture = picture_of(dataset)
    assert picture.stale.tolist() == [[False, True], [False, False]]
    assert picture.states.tolist() == [
        [ChunkState.DONE, ChunkState.DONE],
        [ChunkState.FAILED, ChunkState.DONE],
    ]
    assert picture.is_stale_at((0, 5))
    assert not picture.is_stale_at((0, 0))
    node = node_of(dataset)
    coordinates = [plain_coordinate(name, 4) for name in dimension_names(node)]
    told = readout(picture, Interpretation(node, True), coordinates, (0, 5))
    assert "9 (changed since the lock)" in told
    assert "lock" not in readout(picture, Interpretation(node, True), coordinates, (0, 0))
    # Accepted, it is marked no more.
    written = refbrowser.lock(dataset, update=["f1"])
    dataset.access.memory.locked.replace(written.lock)
    assert not picture.stale.any()


def test_cells_and_charts_know_their_stale_values(dataset: Dataset) -> None:
    node, picture = node_of(dataset), picture_of(dataset)
    shown = Interpretation(node, True)
    coordinates = [plain_coordinate(name, size) for name, size in zip("yx", node.shape, strict=True)]
    layout = TableLayout(node, picture.plan.slice, coordinates, shown)
    # What could not be read says so, and is not taken for stale.
    cells = layout.cells(picture, range(1, 4), range(1, 6))
    assert cells.stale.tolist() == [[False, False, True, True, True], *[[False] * 5] * 2]
    assert not layout.cells(None, range(4), range(6)).stale.any()
    profile = profile_of(picture, shown, coordinates, (0, 1), (0, 4))
    assert profile.stale.tolist() == [False, False, True, True]
    # A line down the right half: the first chunk of it is of the file that was replaced.
    plan = plan_view(node, replace(picture.plan.slice, x=0, y=None, indices=(0, 5)))
    line = Picture(node, plan)
    read_picture(dataset.session, dataset.access, line, CancelToken())
    assert series_of(line, shown).stale.tolist() == [True, True, False, False]


def test_a_picture_without_axes_is_compared_too(tmp_path: Path) -> None:
    array = {
        "zarr_format": 2, "shape": [], "chunks": [], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    (tmp_path / "f").write_bytes(b"1")
    path = tmp_path / "doc.json"
    path.write_text(
        json.dumps({"s/.zarray": json.dumps(array), "s/0": ["f", 0, 1], ".zgroup": '{"zarr_format": 2}'})
    )
    refbrowser.lock(path)
    (tmp_path / "f").write_bytes(b"22")
    with refbrowser.open(path, stale="allow") as dataset:
        node = dataset["s"].node
        picture = Picture(node, plan_view(node, first_slice(node, (AxisRole.NONE,) * len(node.shape))))
        read_picture(dataset.session, dataset.access, picture, CancelToken())
        assert picture.stale[()]
        layout = TableLayout(node, picture.plan.slice, (), Interpretation(node, True))
        assert layout.cells(picture, range(1), range(1)).stale.tolist() == [[True]]


def test_explain_tells_what_the_lock_says(dataset: Dataset) -> None:
    said = explain(dataset, Question(key="t/0.1"))
    assert (said.kind, said.state) == (VerdictKind.STALE, StepState.WARNING)
    assert "that may be wrong: the file is not the one that was locked" in said.verdict
    step = said.step("lock")
    assert step is not None
    assert step.facts["mark"] == "first bytes"
    assert [each.target for each in said.links if each.kind is LinkKind.ACCEPT] == ["f1"]
    same = explain(dataset, Question(key="t/0.0"))
    assert same.kind is VerdictKind.READABLE
    assert same.step("lock").facts["state"] == "same"
    gone = explain(dataset, Question(key="t/1.0"))
    assert gone.kind is VerdictKind.FAILED_READ
    assert gone.step("lock").facts["state"] == "not compared"
    # Pointing reads nothing, and says as much.
    pointed = explain(dataset, Question(array="/t", index=(0, 5), read=False, seen=np.uint8(9)))
    assert pointed.kind is VerdictKind.STALE


def test_explain_tells_where_time_speaks_against_a_file(dataset: Dataset, tmp_path: Path) -> None:
    os.utime(tmp_path / "f0", (1, 1))
    step = explain(dataset, Question(key="t/0.0")).step("lock")
    assert step is not None
    assert step.lines[-1].text.startswith("not confirmed: its size and ends match the lock, but time of")
    assert step.state is StepState.WARNING
    assert step.facts["state"] == "not confirmed"
    assert [link.kind for link in step.links] == [LinkKind.ACCEPT]
    (line,) = (
        each for each in explain(dataset, Question(key="t/1.1")).step("lock").lines if each.name == "Compared"
    )
    assert line.text == "the file matches the lock"


def test_explain_tells_where_only_bytes_settle_it(dataset: Dataset, tmp_path: Path) -> None:
    lock = dataset.access.memory.locked.lock
    entries = {url: dataclasses.replace(entry, modified=None) for url, entry in lock.entries.items()}
    dataset.access.memory.locked.replace(type(lock)(entries))
    step = explain(dataset, Question(key="t/0.0")).step("lock")
    assert step is not None
    assert "by its first and last bytes alone" in step.lines[-1].text
    assert step.facts["state"] == "same"


def test_explain_tells_what_is_not_in_the_lock(dataset: Dataset) -> None:
    lock = dataset.access.memory.locked.lock
    entries = {url: entry for url, entry in lock.entries.items() if url != "f0"}
    dataset.access.memory.locked.replace(type(lock)(entries))
    step = explain(dataset, Question(key="t/0.0")).step("lock")
    assert step is not None
    assert "not in the lock" in step.lines[0].text
    assert step.state is StepState.WARNING


def stale(url: str, mark: Mark = Mark.SIZE) -> Stale:
    entry = LockEntry(1000, '"a"', "2025-01-01T00:00:00.5Z")
    seen = ObjectIdentity(1000 + (mark is Mark.SIZE), '"b"', "Thu, 02 Jan 2025 00:00:00 GMT")
    return Stale(url, mark, "1000", "1001", entry, seen)


def test_rows_have_what_was_and_what_is() -> None:
    (row,) = stale_rows([stale("u")])
    space = "\N{NARROW NO-BREAK SPACE}"
    assert row.lines == (
        ("u", "then", (f"1{space}000", '"a"', "2025-01-01 00:00:00 UTC")),
        ("", "now", (f"1{space}001", '"b"', "2025-01-02 00:00:00 UTC")),
    )
    assert row.differing == (0, 1, 2)
    (other,) = stale_rows([stale("u", Mark.TAIL)])
    assert other.lines[1][0] == "other last bytes"
    assert other.differing == (1, 2)


def test_words_name_the_first_and_count_the_rest() -> None:
    assert stale_words([]) == ""
    one = stale_words([stale("a")])
    assert one.startswith("1 file differs from the lock, and what is shown of it may be wrong: ")
    assert one.endswith(": a (1000 bytes then, 1001 now)")
    many = stale_words([stale("a"), stale("b", Mark.HEAD), stale("c"), stale("d")])
    assert many.startswith("4 files differ from the lock")
    assert many.endswith("b (other first bytes); and 2 more")
