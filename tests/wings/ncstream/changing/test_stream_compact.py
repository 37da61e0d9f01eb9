"""Compacted streams hold the same values, each sent once, with checksums."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from deep import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import looped
from servers.http_server import HttpServer
from stream_reading import plain
from structure_constructs import ALL
from temperature_rows import SIDE, head, rows_of

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.changing.compact import CompactReport, CompactRequest, compact
from refbrowser.wings.ncstream.reading.messages import MessageKind, StreamIndex
from refbrowser.wings.ncstream.reading.walk import walk_stream

#: Of 10^18 elements.
SPARSE = next(each for each in ALL if each.name == "sparse")
DENSE = [each for each in ALL if each is not SPARSE]


def compacted(source: Path | str, target: Path, **options) -> CompactReport:
    with refbrowser.open(str(source)) as dataset:
        return compact(dataset, CompactRequest(target=str(target), **options))


def values_in(path: Path) -> dict[str, object]:
    with refbrowser.open(str(path)) as dataset:
        assert not dataset.hierarchy.findings
        return {name: plain(np.asarray(array[...])) for name, array in dataset.arrays.items()}


def index_of(path: Path) -> StreamIndex:
    return walk_stream(MemoryBytes(path.read_bytes()), url=str(path))


@pytest.mark.slow
@looped("construct", some(DENSE, 2))
def test_every_construct_keeps_its_values_and_definition(construct, tmp_path: Path) -> None:
    source, target, again = (tmp_path / name for name in ("a.ncs", "b.ncs", "c.ncs"))
    source.write_bytes(construct.stream)
    with refbrowser.open(str(source)) as dataset:
        wanted = {name: plain(np.asarray(array[...])) for name, array in dataset.arrays.items()}
        cdl = dataset.cdl().partition("\n")[2]
    report = compacted(source, target)
    assert repr(values_in(target)) == repr(wanted)
    with refbrowser.open(str(target)) as dataset:
        assert dataset.cdl().partition("\n")[2] == cdl
    index = index_of(target)
    assert (len(index.table), len(index.headers)) == (report.messages, 1)
    compacted(target, again)
    assert again.read_bytes() == target.read_bytes()


def test_what_was_never_sent_costs_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    source.write_bytes(SPARSE.stream)
    compacted(source, target)
    assert target.stat().st_size < 1000
    with refbrowser.open(str(source)) as one, refbrowser.open(str(target)) as other:
        for index in ((10**9 - 1, 7), (-1, slice(6, 9))):
            np.testing.assert_array_equal(one["/x"][index], other["/x"][index])


patches = st.lists(
    st.tuples(st.integers(0, 11), st.integers(1, 4), st.sampled_from("<>"), st.booleans()), max_size=12
)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(given=patches, level=st.sampled_from([None, 0, 6]))
def test_messages_that_overlap_become_one_each(tmp_path_factory, given, level) -> None:
    folder = tmp_path_factory.mktemp("patched")
    source, target = folder / "a.ncs", folder / "b.ncs"
    wanted = np.full((15, SIDE), 9.969209968386869e36, "f4")
    messages = [head(15)]
    for number, (start, count, order, deflated) in enumerate(given):
        values = np.full((count, SIDE), number, "f4") + np.arange(SIDE, dtype="f4") / 8
        wanted[start : start + count] = values
        messages.append(rows_of(values, order, deflated=deflated, start=start))
    source.write_bytes(enc.stream(*messages))
    compacted(source, target, level=level, tile_size=7 * SIDE * 4)
    with refbrowser.open(str(target)) as dataset:
        np.testing.assert_array_equal(dataset["/temp"][...], wanted)
    table = index_of(target).table
    data = table.kind == MessageKind.DATA
    sent = np.zeros(wanted.shape, int)
    for number in np.flatnonzero(data).tolist():
        ranges = table.ranges(number)
        sent[np.ix_(*ranges)] += 1
    assert sent.max(initial=0) <= 1
    assert (sent[wanted < 1e30] == 1).all()
    assert (table.crc32[data] >= 0).all()
    assert level != 0 or not table.deflated[data].any()


def test_small_messages_are_put_together(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    rows = [rows_of(np.full((1, SIDE), number), start=number) for number in range(500)]
    source.write_bytes(enc.stream(head(500), *rows))
    report = compacted(source, target, checksum=False)
    assert (report.messages_before, report.messages) == (501, 2)
    assert report.written_bytes == target.stat().st_size < report.bytes_before
    table = index_of(target).table
    assert table.crc32.tolist() == [-1, -1]


def test_a_stream_as_it_was_is_compacted(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    more = enc.header(enc.group(variables=[enc.variable("late", enc.FLOAT)]))
    ones, zeros = rows_of(np.ones((3, SIDE))), rows_of(np.zeros((3, SIDE)))
    source.write_bytes(enc.stream(head(3), ones, zeros, more))
    assert main(["compact", str(source), str(target), "--until", "1"]) == 0
    assert values_in(target) == {"/temp": [[1.0] * SIDE] * 3}


def test_a_level_that_there_is_not_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.ncs"
    source.write_bytes(enc.stream(head(3), rows_of(np.ones((3, SIDE)))))
    with pytest.raises(RefbrowserError) as caught:
        compacted(source, tmp_path / "b.ncs", level=77)
    assert caught.value.kind is ErrorKind.USAGE


def test_values_of_headers_become_messages(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    x = enc.dimension("x", 3)
    variable = enc.variable("x", enc.INT, [x], immediate=enc.numbers("i", [5, 6, 7]))
    source.write_bytes(enc.stream(enc.header(enc.group(dimensions=[x], variables=[variable]))))
    compacted(source, target)
    assert values_in(target) == {"/x": [5, 6, 7]}
    index = index_of(target)
    assert len(index.table) == 2
    assert index.definition.root.variables["x"].immediate is None


def test_a_stream_of_a_server_is_compacted(tmp_path: Path) -> None:
    source = tmp_path / "a.ncs"
    source.write_bytes(
        enc.stream(head(3), rows_of(np.ones((2, SIDE))), rows_of(np.zeros((2, SIDE)), start=1))
    )
    wanted = values_in(source)
    with (
        HttpServer({"/s.ncs": source.read_bytes()}) as server,
        refbrowser.open(server.url("/s.ncs")) as dataset,
    ):
        compact(dataset, CompactRequest(target=str(tmp_path / "b.ncs")))
    assert values_in(tmp_path / "b.ncs") == wanted


def test_a_damaged_stream_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.ncs"
    source.write_bytes(enc.stream(head(3), rows_of(np.zeros((3, SIDE))))[:-20])
    with pytest.raises(RefbrowserError, match=r"length-too-large|truncated") as caught:
        compacted(source, tmp_path / "b.ncs")
    assert "repair" in caught.value.advice
    assert not (tmp_path / "b.ncs").exists()


def test_other_datasets_are_refused(tmp_path: Path) -> None:
    document = tmp_path / "d.json"
    document.write_text(json.dumps({".zgroup": '{"zarr_format": 2}'}))
    with pytest.raises(RefbrowserError) as caught:
        compacted(document, tmp_path / "b.ncs")
    assert caught.value.kind is ErrorKind.USAGE


def test_a_stream_takes_the_place_of_itself(tmp_path: Path) -> None:
    source = tmp_path / "a.ncs"
    rows = [rows_of(np.full((1, SIDE), number), start=number) for number in range(50)]
    source.write_bytes(enc.stream(head(50), *rows))
    wanted = values_in(source)
    with pytest.raises(RefbrowserError):
        compacted(source, source)
    compacted(source, source, force=True)
    assert values_in(source) == wanted
    assert [each.name for each in tmp_path.iterdir()] == ["a.ncs"]


def test_a_cancelled_compaction_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.ncs"
    source.write_bytes(enc.stream(head(3), rows_of(np.zeros((3, SIDE)))))
    token = CancelToken()
    control = JobControl(token, lambda changes: token.cancel())
    with refbrowser.open(str(source)) as dataset, pytest.raises(Cancelled):
        compact(dataset, CompactRequest(target=str(tmp_path / "b.ncs")), control)
    assert [each.name for each in tmp_path.iterdir()] == ["a.ncs"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    source.write_bytes(enc.stream(head(30), rows_of(np.zeros((30, SIDE)))))
    assert main(["compact", str(source), str(target), "--deflate", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["messages_before"], found["messages"], found["verified"]) == (2, 2, 2)
    assert index_of(target).table.deflated.tolist() == [False, True]
    assert main(["compact", str(source), str(target), "--force"]) == 0
    assert "2 messages where there were 2" in capsys.readouterr().out


def test_dimensions_of_old_headers_are_declared(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    long, short = enc.dimension("n", 3), enc.dimension("n", 2)
    variables = [enc.variable("a", enc.INT, [long]), enc.variable("b", enc.INT, [short])]
    below = enc.group("g", variables=[enc.variable("c", enc.INT, [long])])
    sent = [
        enc.data(
            enc.data_body(name, enc.INT, [(0, count, None)], bigend=True),
            enc.regular(enc.numbers("i", range(count))),
        )
        for name, count in (("a", 3), ("b", 2), ("g/c", 3))
    ]
    source.write_bytes(enc.stream(enc.header(enc.group(variables=variables, groups=[below])), *sent))
    compacted(source, target)
    with refbrowser.open(str(target)) as dataset:
        found = {name: array[...].tolist() for name, array in dataset.arrays.items()}
    assert found == {"/a": [0, 1, 2], "/b": [0, 1], "/g/c": [0, 1, 2]}
    assert not index_of(target).faults
