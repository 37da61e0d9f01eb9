"""What is appended to a stream is read behind what was there, and the stream is never torn."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import looped
from stream_reading import plain
from structure_constructs import ALL

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.io.files import atomic
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.wings.ncstream.changing.append import AppendReport, AppendRequest, append_to
from refbrowser.wings.ncstream.reading import walk
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

SIDE = 4
FILL = 9.969209968386869e36


def days(first: int, count: int, *, title: str = "days", units: str = "K", deflated: bool = False) -> bytes:
    """Return a stream of some days: a clock, temperatures, names, and positions that stay."""
    time, x = enc.dimension("time", count, unlimited=True), enc.dimension("x", SIDE)
    variables = [
        enc.variable("time", enc.INT, [time]),
        enc.variable("temp", enc.FLOAT, [time, x], [enc.text_attribute("units", units)]),
        enc.variable("name", enc.STRING, [time]),
        enc.variable("rows", enc.SHORT, [time, enc.VLEN]),
        enc.variable("x", enc.INT, [x], immediate=enc.numbers("i", range(SIDE))),
    ]
    root = enc.group(
        dimensions=[time, x], variables=variables, attributes=[enc.text_attribute("title", title)]
    )
    numbers = range(first, first + count)
    clock = enc.numbers("i", numbers)
    temps = enc.numbers("f", (number + at / 8 for number in numbers for at in range(SIDE)))
    facts = {"compress": enc.DEFLATE, "uncompressed": len(temps)} if deflated else {}
    temps = zlib.compress(temps) if deflated else temps
    along, both = [(0, count, None)], [(0, count, None), (0, SIDE, None)]
    rows = [enc.numbers("h", range(number % 3)) for number in numbers]
    vlen = [(0, count, None), (0, enc.NO_LENGTH, None)]
    return enc.stream(
        enc.header(root),
        enc.data(enc.data_body("time", enc.INT, along, bigend=True), enc.regular(clock)),
        enc.data(enc.data_body("temp", enc.FLOAT, both, bigend=True, **facts), enc.regular(temps)),
        enc.data(enc.data_body("name", enc.STRING, along), enc.objects([f"day {each}" for each in numbers])),
        enc.data(enc.data_body("rows", enc.SHORT, vlen, bigend=True, vdata=True), enc.objects(rows)),
    )


def check_days(path: Path, *numbers: int) -> None:
    """Check that a stream holds these days, and nothing that is wrong."""
    with refbrowser.open(str(path)) as dataset:
        assert not dataset.hierarchy.findings
        assert dataset["/time"][...].tolist() == list(numbers)
        wanted = [[number + at / 8 for at in range(SIDE)] for number in numbers]
        np.testing.assert_array_equal(dataset["/temp"][...], np.array(wanted).reshape(-1, SIDE))
        assert dataset["/name"][...].tolist() == [f"day {number}" for number in numbers]
        assert plain(dataset["/rows"][...]) == [list(range(number % 3)) for number in numbers]
        assert dataset["/x"][...].tolist() == list(range(SIDE))


def index_of(path: Path) -> StreamIndex:
    return walk_stream(MemoryBytes(path.read_bytes()), url=str(path))


def appended(stream: Path, source: Path, **options) -> AppendReport:
    with refbrowser.open(str(source)) as dataset:
        return append_to(stream, dataset, AppendRequest(**options))


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "s.ncs"
    path.write_bytes(days(0, 3))
    return path


@pytest.fixture
def more(tmp_path: Path) -> Path:
    path = tmp_path / "more.ncs"
    path.write_bytes(days(3, 2, title="more days"))
    return path


def test_days_come_behind_days(stream: Path, more: Path) -> None:
    before = stream.read_bytes()
    report = appended(stream, more)
    assert stream.read_bytes().startswith(before[:-4])
    check_days(stream, *range(5))
    assert (report.along, report.before, report.after) == ("/time", 3, 5)
    assert set(report.added) == {"/time", "/temp", "/name", "/rows"}
    assert report.kept == ("/x",)
    assert report.changed == ("/@title",)
    assert report.written_bytes == stream.stat().st_size - len(before)
    assert report.messages == len(index_of(stream).table) - 5


def test_an_index_goes_on_where_it_was(stream: Path, more: Path) -> None:
    before = index_of(stream)
    appended(stream, more)
    after = index_of(stream)
    found = walk_stream(MemoryBytes(stream.read_bytes()), url=str(stream), resume=before)
    assert found.definition == after.definition
    for name in ("kind", "offset", "stop", "variable", "payload_offset", "crc32", "fault", "starts", "sizes"):
        assert getattr(found.table, name).tolist() == getattr(after.table, name).tolist()
    assert [number for number, _ in found.headers] == [0, 5]


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None)
@given(counts=st.lists(st.integers(1, 5), min_size=1, max_size=5), deflated=st.booleans())
def test_any_number_of_times(tmp_path_factory, counts, deflated) -> None:
    folder = tmp_path_factory.mktemp("days")
    stream, source = folder / "s.ncs", folder / "more.ncs"
    stream.write_bytes(days(0, counts[0], deflated=deflated))
    first = counts[0]
    for count in counts[1:]:
        source.write_bytes(days(first, count))
        appended(stream, source)
        first += count
    check_days(stream, *range(first))
    index = index_of(stream)
    assert len(index.headers) == len(counts)
    assert (index.has_end, index.size) == (True, index.walked)


@pytest.mark.parametrize(("level", "wanted"), [(None, [True, True]), (0, [True, False])])
def test_values_are_stored_as_those_before_them(
    tmp_path: Path, level: int | None, wanted: list[bool]
) -> None:
    time, x = enc.dimension("time", 1, unlimited=True), enc.dimension("x", 500)
    root = enc.group(dimensions=[time, x], variables=[enc.variable("temp", enc.FLOAT, [time, x])])
    facts = {"compress": enc.DEFLATE, "uncompressed": 2000}
    body = enc.data_body("temp", enc.FLOAT, [(0, 1, None), (0, 500, None)], bigend=True, **facts)
    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    for path in (stream, source):
        path.write_bytes(enc.stream(enc.header(root), enc.data(body, enc.deflated(bytes(2000)))))
    appended(stream, source, level=level)
    index = index_of(stream)
    assert index.table.deflated[index.of_variable("/temp")].tolist() == wanted


@pytest.mark.long
@looped("construct", ALL)
def test_a_stream_without_what_the_source_has_gets_it(construct, tmp_path: Path) -> None:
    if construct.name in ("sparse", "column-structure"):
        return
    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    stream.write_bytes(enc.stream(enc.header(enc.group(attributes=[enc.text_attribute("title", "empty")]))))
    source.write_bytes(construct.stream)
    appended(stream, source)
    with refbrowser.open(str(stream)) as found, refbrowser.open(str(source)) as wanted:
        assert found.arrays.keys() == wanted.arrays.keys()
        for path in wanted.arrays:
            assert repr(plain(found[path][...])) == repr(plain(wanted[path][...]))


def test_sequences_go_on(tmp_path: Path) -> None:
    def observed(*values: int) -> bytes:
        rows = enc.structure_body(enc.numbers("i", values), count=len(values), row_length=4)
        members = [enc.variable("a", enc.INT)]
        root = enc.group(structures=[enc.structure("obs", enc.SEQUENCE, variables=members)])
        return enc.stream(
            enc.header(root), enc.data(enc.data_body("obs", enc.SEQUENCE, bigend=True), enc.sequence([rows]))
        )

    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    stream.write_bytes(observed(1, 2))
    source.write_bytes(observed(3))
    appended(stream, source)
    with refbrowser.open(str(stream)) as dataset:
        assert dataset["/obs"][...]["a"].tolist() == [1, 2, 3]


def test_values_are_laid_over_others(stream: Path, tmp_path: Path) -> None:
    source = tmp_path / "more.ncs"
    source.write_bytes(days(10, 2))
    report = appended(stream, source, overwrite=True)
    check_days(stream, 10, 11, 2)
    assert report.along is None


def test_what_is_missing_in_the_source_is_laid_over_values_too(stream: Path, tmp_path: Path) -> None:
    source = tmp_path / "more.ncs"
    time, x = enc.dimension("time", 3, unlimited=True), enc.dimension("x", SIDE)
    temp = enc.variable("temp", enc.FLOAT, [time, x], [enc.text_attribute("units", "K")])
    source.write_bytes(enc.stream(enc.header(enc.group(dimensions=[time, x], variables=[temp]))))
    appended(stream, source, overwrite=True)
    with refbrowser.open(str(stream)) as dataset:
        assert (dataset["/temp"][...] == np.float32(FILL)).all()


def test_what_is_missing_in_the_source_is_not_sent_otherwise(stream: Path, tmp_path: Path) -> None:
    source = tmp_path / "more.ncs"
    time, x = enc.dimension("time", 3, unlimited=True), enc.dimension("x", SIDE)
    temp = enc.variable("temp", enc.FLOAT, [time, x], [enc.text_attribute("units", "K")])
    source.write_bytes(enc.stream(enc.header(enc.group(dimensions=[time, x], variables=[temp]))))
    assert appended(stream, source).messages == 1
    with refbrowser.open(str(stream)) as dataset:
        assert (dataset["/temp"][3:] == np.float32(FILL)).all()


def test_immediate_values_along_the_dimension_are_kept(tmp_path: Path) -> None:
    def clock(*values: int) -> bytes:
        time = enc.dimension("time", len(values), unlimited=True)
        variable = enc.variable("time", enc.INT, [time], immediate=enc.numbers("i", values))
        return enc.stream(enc.header(enc.group(dimensions=[time], variables=[variable])))

    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    stream.write_bytes(clock(5, 6, 7))
    source.write_bytes(clock(8, 9))
    appended(stream, source)
    with refbrowser.open(str(stream)) as dataset:
        assert dataset["/time"][...].tolist() == [5, 6, 7, 8, 9]


def test_what_the_source_lacks_is_filled(stream: Path, tmp_path: Path) -> None:
    source = tmp_path / "more.ncs"
    source.write_bytes(days(3, 1))
    report = appended(stream, source, arrays=("/time",))
    assert report.added == ("/time",)
    assert set(report.unfilled) == {"/temp", "/name", "/rows"}
    assert report.changed == ()
    with refbrowser.open(str(stream)) as dataset:
        assert (dataset["/temp"][3] == np.float32(FILL)).all()
        assert dataset["/name"][3] == ""


def test_another_format_is_appended(stream: Path, tmp_path: Path) -> None:
    import xarray

    values = np.arange(2 * SIDE, dtype="<f4").reshape(2, SIDE)
    time = ("time", np.array([3, 4], "<i4"))
    source = xarray.Dataset({"temp": (("time", "x"), values, {"units": "K"})}, {"time": time})
    source.to_zarr(
        tmp_path / "more.zarr", zarr_format=2, consolidated=False, encoding={"temp": {"_FillValue": None}}
    )
    report = appended(stream, tmp_path / "more.zarr", along="time")
    with refbrowser.open(str(stream)) as dataset:
        np.testing.assert_array_equal(dataset["/temp"][3:], values)
        assert dataset["/time"][...].tolist() == [0, 1, 2, 3, 4]
    assert set(report.unfilled) == {"/name", "/rows"}


def test_values_that_would_mean_something_else_are_refused(stream: Path, tmp_path: Path) -> None:
    before, source = stream.read_bytes(), tmp_path / "more.ncs"
    source.write_bytes(days(3, 2, units="degC"))
    with pytest.raises(RefbrowserError, match="units") as caught:
        appended(stream, source)
    assert caught.value.kind is ErrorKind.META
    assert stream.read_bytes() == before


@pytest.mark.parametrize("cut", [1, 30])
def test_a_damaged_stream_is_refused(stream: Path, more: Path, cut: int) -> None:
    damaged = stream.read_bytes()[:-cut]
    stream.write_bytes(damaged)
    with pytest.raises(RefbrowserError) as caught:
        appended(stream, more)
    assert caught.value.kind is ErrorKind.FORMAT
    assert "repair" in caught.value.advice
    assert stream.read_bytes() == damaged


def test_a_stream_without_its_end_gets_one(stream: Path, more: Path) -> None:
    stream.write_bytes(stream.read_bytes()[:-4])
    appended(stream, more)
    check_days(stream, *range(5))
    assert index_of(stream).has_end


def test_what_stands_behind_the_end_is_dropped_on_demand(stream: Path, more: Path) -> None:
    stream.write_bytes(stream.read_bytes() + b"left by an append that was interrupted")
    with pytest.raises(RefbrowserError, match="trailing-bytes"):
        appended(stream, more)
    appended(stream, more, force=True)
    check_days(stream, *range(5))


# Edits of the stream itself


def test_messages_that_are_not_listed_are_not_dropped(
    stream: Path, more: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stream.read_bytes()
    monkeypatch.setattr(walk, "STREAM_LIMITS", replace(STREAM_LIMITS, stream_messages=2))
    for force in (False, True):
        with pytest.raises(RefbrowserError) as caught:
            appended(stream, more, force=force)
        assert caught.value.kind is ErrorKind.BUDGET
    assert stream.read_bytes() == before


def edited(path: Path, key: str, **attributes: object):
    dataset = refbrowser.open(str(path))
    stored = json.loads(dataset.read_key(key))
    return dataset.with_document(dataset.document.apply(SetMetadata(key, {**stored, **attributes})))


def test_edited_attributes_become_a_further_header(stream: Path) -> None:
    with edited(stream, "temp/.zattrs", units="degC", valid_min=1.5) as dataset:
        report = append_to(stream, dataset)
    assert set(report.changed) == {"/temp@units", "/temp@valid_min"}
    assert (report.messages, report.added, report.along) == (1, (), None)
    check_days(stream, 0, 1, 2)
    with refbrowser.open(str(stream)) as dataset:
        assert dict(dataset["/temp"].attrs) == {"units": "degC", "valid_min": 1.5}
        assert dict(dataset.attrs) == {"title": "days"}


def test_an_attribute_that_was_removed_is_told(stream: Path) -> None:
    dataset = refbrowser.open(str(stream))
    with dataset.with_document(dataset.document.apply(SetMetadata(".zattrs", {"other": 1}))) as changed:
        report = append_to(stream, changed)
    assert report.changed == ("/@other",)
    assert "/@title was removed" in report.notes[0]


def test_without_a_change_nothing_is_written(stream: Path) -> None:
    before = stream.stat()
    with refbrowser.open(str(stream)) as dataset:
        assert append_to(stream, dataset).messages == 0
    assert stream.stat().st_mtime_ns == before.st_mtime_ns


# Never torn


@pytest.mark.slow
def test_a_crash_at_any_write_leaves_what_was_there(
    tmp_path: Path, more: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = atomic._write_at
    monkeypatch.setattr(atomic, "_restore", lambda *arguments: None)
    with refbrowser.open(str(more)) as dataset:
        for number in range(1, 100):
            stream = tmp_path / f"s{number}.ncs"
            stream.write_bytes(days(0, 3))
            count = 0

            def dies(descriptor: int, data: memoryview, offset: int, *, number: int = number) -> int:
                nonlocal count
                count += 1
                if count == number:
                    write(descriptor, data[: len(data) // 2], offset)
                    raise KeyboardInterrupt
                return write(descriptor, data, offset)

            monkeypatch.setattr(atomic, "_write_at", dies)
            try:
                append_to(stream, dataset)
            except KeyboardInterrupt:
                index = index_of(stream)
                assert len(index.table) - int((index.table.fault > 0).sum()) >= 5
                assert not index.table.fault[:5].any()
                monkeypatch.setattr(atomic, "_write_at", write)
                with refbrowser.open(str(stream)) as found:
                    assert found["/time"][:3].tolist() == [0, 1, 2]
                continue
            assert number > 5
            check_days(stream, *range(5))
            return
    pytest.fail("it never came to its end")


@pytest.mark.parametrize("what", ["values", "end"])
def test_what_does_not_read_as_it_should_is_not_kept(
    stream: Path, more: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    before, write = stream.read_bytes(), atomic._write_at

    def flips(descriptor: int, data: memoryview, offset: int) -> int:
        changed = bytearray(data)
        is_end = changed == enc.MAGIC_END and offset > len(before)
        if is_end if what == "end" else len(changed) == SIDE * 2 * 4:
            changed[-1] ^= 0xFF
        return write(descriptor, memoryview(changed), offset)

    monkeypatch.setattr(atomic, "_write_at", flips)
    with pytest.raises(RefbrowserError, match="verification failed"):
        appended(stream, more)
    assert stream.read_bytes() == before


def test_a_cancelled_append_leaves_the_stream_as_it_was(stream: Path, more: Path) -> None:
    before, token = stream.read_bytes(), CancelToken()
    control = JobControl(token, lambda changes: token.cancel())
    with refbrowser.open(str(more)) as dataset, pytest.raises(Cancelled):
        append_to(stream, dataset, None, control)
    assert stream.read_bytes() == before


def test_a_source_that_fails_leaves_the_stream_as_it_was(stream: Path, more: Path) -> None:
    before = stream.read_bytes()
    with refbrowser.open(str(more)) as dataset:
        os.truncate(more, 200)
        with pytest.raises(RefbrowserError):
            append_to(stream, dataset)
    assert stream.read_bytes() == before


def test_only_local_files_are_appended_to(more: Path) -> None:
    with refbrowser.open(str(more)) as dataset, pytest.raises(RefbrowserError) as caught:
        append_to("https://example.org/s.ncs", dataset)
    assert caught.value.kind is ErrorKind.USAGE


def test_the_command(stream: Path, more: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["append", str(stream), str(more), "--deflate", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["along"], found["before"], found["after"]) == ("/time", 3, 5)
    more.write_bytes(days(5, 1))
    assert main(["append", str(stream), str(more), "--along", "time"]) == 0
    assert "/time: 5 before, 6 now" in capsys.readouterr().out
    check_days(stream, *range(6))
    assert main(["append", str(stream), str(more), "--along", "y"]) == ErrorKind.USAGE.exit_code


def test_members_keep_their_attributes(tmp_path: Path) -> None:
    member = enc.variable("a", enc.INT, (), [enc.text_attribute("units", "m")])
    n = enc.dimension("n", 1)
    root = enc.group(dimensions=[n], structures=[enc.structure("s", shape=[n], variables=[member])])
    rows = enc.regular(enc.structure_body(enc.numbers("i", [7]), count=1, row_length=4))
    sent = enc.data(enc.data_body("s", enc.STRUCTURE, [(0, 1, None)], bigend=True), rows)
    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    stream.write_bytes(enc.stream(enc.header(enc.group())))
    source.write_bytes(enc.stream(enc.header(root), sent))
    appended(stream, source)
    (found,) = index_of(stream).definition.root.variables["s"].members
    assert found.attributes["units"].values == ("m",)


def test_a_dimension_that_is_named_gets_longer(tmp_path: Path) -> None:
    x = enc.dimension("x", 2)
    root = enc.group(dimensions=[x], variables=[enc.variable("v", enc.INT, [x])])
    sent = enc.data(enc.data_body("v", enc.INT, [(0, 2, None)], bigend=True), enc.regular(bytes(8)))
    stream, source = tmp_path / "s.ncs", tmp_path / "more.ncs"
    stream.write_bytes(enc.stream(enc.header(root), sent))
    source.write_bytes(stream.read_bytes())
    report = appended(stream, source, along="x")
    assert "unlimited from now on" in report.notes[0]
    with refbrowser.open(str(stream)) as dataset:
        assert dataset["/v"][...].tolist() == [0, 0, 0, 0]
        assert dataset.hierarchy.root.dimensions["x"].unlimited


def test_no_days_add_nothing(stream: Path, tmp_path: Path) -> None:
    source = tmp_path / "none.ncs"
    source.write_bytes(days(9, 0))
    before = stream.read_bytes()
    report = appended(stream, source)
    assert (report.messages, report.written_bytes) == (0, 0)
    assert stream.read_bytes() == before
