"""Damaged streams: what is sound is kept, what is lost is told, and the result is a sound stream."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from servers.http_server import HttpServer

from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.changing.repair import RepairReport, RepairRequest, repair
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.sections import LEFT_OUT
from refbrowser.wings.ncstream.reading.walk import walk_stream

ROWS, SIDE = 6, 5


def head() -> bytes:
    time, x = enc.dimension("time", ROWS, unlimited=True), enc.dimension("x", SIDE)
    texts = enc.variable("names", enc.STRING, [x])
    temp = enc.variable("temp", enc.FLOAT, [time, x])
    packed = enc.variable("packed", enc.INT, [time, x])
    return enc.header(enc.group(dimensions=[time, x], variables=[temp, packed, texts]))


def row(number: int, side: int = SIDE) -> bytes:
    """Return the first floats of a row, of a whole one with its checksum."""
    payload = np.arange(side, dtype=">f4").tobytes()
    ranges = [(number, 1, None), (0, side, None)]
    checksum = zlib.crc32(payload) if side == SIDE else None
    return enc.data(
        enc.data_body("temp", enc.FLOAT, ranges, bigend=True, crc32=checksum), enc.regular(payload)
    )


def deflated(number: int) -> bytes:
    """Return a row of integers as a zlib stream."""
    ranges = [(number, 1, None), (0, SIDE, None)]
    body = enc.data_body("packed", enc.INT, ranges, bigend=True, compress=enc.DEFLATE)
    return enc.data(body, enc.deflated(np.full(SIDE, number, ">i4").tobytes()))


def texts(side: int = SIDE) -> bytes:
    words = [f"word {number}" for number in range(side)]
    return enc.data(enc.data_body("names", enc.STRING, [(0, side, None)], bigend=True), enc.objects(words))


MESSAGES = [head(), row(0), deflated(0), texts(), row(1), deflated(1), row(2)]
WHOLE = enc.stream(*MESSAGES)


def repaired(folder: Path, content: bytes, **options: object) -> tuple[RepairReport, bytes]:
    source, target = folder / "damaged.ncs", folder / "repaired.ncs"
    source.write_bytes(content)
    target.unlink(missing_ok=True)
    report = repair(RepairRequest(str(source), str(target), **options))
    return report, without_words(target.read_bytes())


def without_words(content: bytes) -> bytes:
    """Return a repaired stream without the message that tells what was left out of it."""
    index = index_of(content)
    if LEFT_OUT not in index.definition.root.attributes:
        return content
    return content[: index.table.offset[-1]] + content[index.table.stop[-1] :]


def index_of(content: bytes) -> StreamIndex:
    return walk_stream(MemoryBytes(content), url="repaired.ncs")


def check_sound(content: bytes, messages: int) -> None:
    index = index_of(content)
    assert (len(index.table), index.has_start, index.has_end) == (messages, True, True)
    assert not index.table.fault.any()
    assert not [fault for fault in index.faults if fault.severity == "fault"]


def test_a_sound_stream_stays_as_it_is(tmp_path: Path) -> None:
    report, content = repaired(tmp_path, WHOLE)
    assert content == WHOLE
    assert (report.messages, report.lost, report.lost_bytes, report.notes) == (len(MESSAGES), (), 0, ())


@pytest.mark.slow
def test_a_stream_cut_anywhere_keeps_every_whole_message(tmp_path: Path) -> None:
    stops = np.cumsum([4, *map(len, MESSAGES)])
    near = {int(stop) + more for stop in stops[1:] for more in range(-2, 6)}
    for size in sorted(near | set(range(int(stops[1]), len(WHOLE), 11))):
        if not stops[1] <= size < len(WHOLE):
            continue
        whole = int(np.searchsorted(stops, size, side="right")) - 1
        report, content = repaired(tmp_path, WHOLE[:size])
        rest, used = (b"", 0) if whole == len(MESSAGES) else what_arrived(whole, size - int(stops[whole]))
        assert content == WHOLE[: stops[whole]] + rest + enc.MAGIC_END
        assert report.messages == whole + bool(rest)
        assert report.lost_bytes == size - stops[whole] - used
        assert bool(report.lost) == (size > stops[whole])


def what_arrived(message: int, size: int) -> tuple[bytes, int]:
    """Return the message for what is whole of the first bytes of another one, and how many bytes that is."""
    each = {1: 4, 4: 4, 6: 4, 3: 7}.get(message)
    if each is None:
        return b"", 0
    before = len(MESSAGES[message]) - SIDE * each
    count = max(size - before, 0) // each
    if not count:
        return b"", 0
    made = texts(count) if message == 3 else row({1: 0, 4: 1, 6: 2}[message], count)
    return made, before + count * each


def test_of_a_message_that_was_cut_the_whole_rows_are_kept(tmp_path: Path) -> None:
    y, x = enc.dimension("y", 8), enc.dimension("x", SIDE)
    header = enc.header(enc.group(dimensions=[y, x], variables=[enc.variable("v", enc.SHORT, [y, x])]))
    values = np.arange(4 * SIDE, dtype=">i2").reshape(4, SIDE)
    ranges = [(1, 4, 2), (0, SIDE, None)]
    body = enc.data_body("v", enc.SHORT, ranges, bigend=False, version=1, uncompressed=values.nbytes)
    whole = enc.stream(header, enc.data(body, enc.regular(values.astype("<i2").tobytes())))
    # Of the third row one element is missing.
    report, content = repaired(tmp_path, whole[: -4 - 2 * SIDE - 1])
    (lost,) = report.lost
    assert lost.reason.endswith("of which 14 of 20 elements arrived; kept: [1:5:2, 0:5]")
    assert lost.stop - lost.start == 2 * SIDE - 1
    index = index_of(content)
    check_sound(content, 2)
    assert index.table.ranges(1) == (range(1, 5, 2), range(5))
    start, length = int(index.table.payload_offset[1]), int(index.table.payload_length[1])
    assert content[start : start + length] == values[:2].astype("<i2").tobytes()
    assert (index.table.byte_order[1], index.table.uncompressed[1]) == (0, -1)
    damaged = enc.stream(header, b"noise", whole[4 + len(header) : -4 - SIDE])[:-4]
    report, content = repaired(tmp_path, damaged, cut=True)
    assert (report.messages, content) == (1, enc.stream(header))


@pytest.mark.parametrize("as_range", [True, False])
def test_ragged_rows_that_arrived_are_kept(tmp_path: Path, as_range: bool) -> None:
    x = enc.dimension("x", SIDE)
    shape = [x, enc.VLEN]
    header = enc.header(enc.group(dimensions=[x], variables=[enc.variable("r", enc.INT, shape)]))
    rows = [np.arange(at, dtype=">i4").tobytes() for at in range(SIDE)]
    ranges = [(0, SIDE, None), *([(0, enc.NO_LENGTH, None)] if as_range else [])]
    body = enc.data_body("r", enc.INT, ranges, bigend=True, vdata=True)
    report, content = repaired(tmp_path, enc.stream(header, enc.data(body, enc.objects(rows)))[:-7])
    check_sound(content, 2)
    index = index_of(content)
    assert (index.table.ranges(1), index.table.count[1], report.messages) == ((range(4),), 4, 2)
    start, length = int(index.table.payload_offset[1]), int(index.table.payload_length[1])
    assert content[start : start + length] == enc.objects(rows[:4])


def test_without_a_sound_message_there_is_nothing_to_keep(tmp_path: Path) -> None:
    for content in (WHOLE[:9], b"no stream at all", b"", enc.MAGIC_START + enc.MAGIC_END):
        with pytest.raises(RefbrowserError) as caught:
            repaired(tmp_path, content)
        assert caught.value.kind is ErrorKind.FORMAT
        assert not (tmp_path / "repaired.ncs").exists()


@pytest.mark.parametrize("cut", [False, True])
def test_what_stands_behind_the_damage_is_kept_or_cut(tmp_path: Path, cut: bool) -> None:
    noise = bytes(range(50))
    damaged = enc.stream(*MESSAGES[:3], noise, *MESSAGES[3:])
    report, content = repaired(tmp_path, damaged, cut=cut)
    kept = MESSAGES[:3] if cut else MESSAGES
    assert content == enc.stream(*kept)
    lost = [each for each in report.lost if each.what == "damage"]
    assert [(each.start, each.stop) for each in lost] == [(4 + sum(map(len, MESSAGES[:3])), lost[0].stop)]
    assert report.lost_bytes == (len(damaged) - len(content) if cut else len(noise))


def test_payloads_that_cannot_be_decoded_are_left_out(tmp_path: Path) -> None:
    broken = bytearray(MESSAGES[5])
    broken[-8] ^= 0xFF
    report, content = repaired(tmp_path, enc.stream(*MESSAGES[:5], bytes(broken), *MESSAGES[6:]))
    assert content == enc.stream(*MESSAGES[:5], *MESSAGES[6:])
    (lost,) = report.lost
    assert (lost.number, lost.path) == (5, "/packed")
    assert "deflate" in lost.reason


def test_a_wrong_checksum_is_told_and_kept(tmp_path: Path) -> None:
    broken = bytearray(MESSAGES[4])
    broken[-1] ^= 0xFF
    damaged = enc.stream(*MESSAGES[:4], bytes(broken), *MESSAGES[5:])
    report, content = repaired(tmp_path, damaged)
    assert content == damaged
    assert "crc32" in report.notes[0]
    assert "message 4" in report.notes[0]


def test_messages_of_errors_and_what_is_behind_the_end_are_dropped(tmp_path: Path) -> None:
    damaged = enc.stream(*MESSAGES[:2], enc.error("the disk is full", 5), *MESSAGES[2:]) + b"more"
    report, content = repaired(tmp_path, damaged)
    assert content == WHOLE
    assert "disk is full" in report.lost[0].reason
    assert (report.lost[1].start, report.lost[1].stop) == (len(damaged) - 4, len(damaged))


def test_bare_messages_get_a_start_and_an_end(tmp_path: Path) -> None:
    report, content = repaired(tmp_path, b"".join(MESSAGES))
    assert content == WHOLE
    assert report.notes == ("START was added", "END was added")


def test_what_needs_a_lost_header_is_lost_too(tmp_path: Path) -> None:
    more = enc.header(enc.group(variables=[enc.variable("late", enc.FLOAT)]))
    late = enc.data(enc.data_body("late", enc.FLOAT, [], bigend=True), enc.regular(b"\0" * 4))
    broken = more[:4] + bytes([more[4]]) + b"\xff" * (len(more) - 5)
    report, content = repaired(tmp_path, enc.stream(*MESSAGES[:3], broken, late, *MESSAGES[3:]))
    assert content == WHOLE
    assert report.messages == len(MESSAGES)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_whatever_the_damage_the_result_is_sound(tmp_path_factory, data) -> None:
    """Bytes are changed, taken out or put in anywhere behind the first header."""
    folder = tmp_path_factory.mktemp("garbled")
    content = bytearray(WHOLE)
    first = 4 + len(MESSAGES[0])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(first, len(content) - 1))
        how = data.draw(st.sampled_from(("change", "take", "put")))
        if how == "change":
            content[at] = data.draw(st.integers(0, 255))
        elif how == "take":
            del content[at : at + data.draw(st.integers(1, 30))]
        else:
            content[at:at] = data.draw(st.binary(min_size=1, max_size=30))
    report, found = repaired(folder, bytes(content))
    check_sound(found, report.messages)
    assert found.startswith(enc.MAGIC_START + MESSAGES[0])
    again, same = repaired(folder, found)
    assert same == found
    assert again.lost == ()


def test_in_place_the_stream_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "s.ncs"
    path.write_bytes(WHOLE[:-24])
    path.chmod(0o640)
    with pytest.raises(RefbrowserError):
        repair(RepairRequest(str(path), str(path)))
    repair(RepairRequest(str(path), str(path), force=True))
    assert without_words(path.read_bytes()) == enc.stream(*MESSAGES[:-1])
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["s.ncs"]


def test_a_stream_of_a_server_is_repaired(tmp_path: Path) -> None:
    with HttpServer({"/s.ncs": WHOLE[:-24]}) as server:
        report = repair(RepairRequest(server.url("/s.ncs"), str(tmp_path / "t.ncs")))
    assert without_words((tmp_path / "t.ncs").read_bytes()) == enc.stream(*MESSAGES[:-1])
    assert report.messages == len(MESSAGES) - 1


def test_a_cancelled_repair_leaves_everything_as_it_was(tmp_path: Path) -> None:
    from refbrowser.engine.jobs import JobControl

    path = tmp_path / "s.ncs"
    path.write_bytes(WHOLE[:-24])
    token = CancelToken()
    control = JobControl(token, lambda changes: token.cancel())
    with pytest.raises(Cancelled):
        repair(RepairRequest(str(path), str(path), force=True), control)
    assert without_words(path.read_bytes()) == WHOLE[:-24]


def test_the_command_tells_what_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "s.ncs", tmp_path / "t.ncs"
    source.write_bytes(WHOLE[:-24])
    assert main(["repair", str(source), str(target), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["messages"] == len(MESSAGES) - 1
    assert found["lost"][0]["start"] == 4 + sum(map(len, MESSAGES[:-1]))
    assert main(["repair", str(source), str(target)]) == 7
    assert main(["repair", str(source), str(target), "--force"]) == 0
    assert "lost: message 6" in capsys.readouterr().out


def test_the_command_lists_some_of_very_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "s.ncs"
    source.write_bytes(enc.stream(*MESSAGES, *[enc.error(f"no {number}") for number in range(60)]))
    assert main(["repair", str(source), str(tmp_path / "t.ncs")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("lost: ") for line in lines) == 50
    assert lines[-2] == "and 10 more; --json lists all"
