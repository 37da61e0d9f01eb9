"""Walking streams: the rows of the index, runs that are read at once, and going on where one has grown."""

import zlib

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import LocalBytes, MemoryBytes
from refbrowser.wings.ncstream.reading import data_messages
from refbrowser.wings.ncstream.reading.messages import ByteOrder, MessageKind, Payload
from refbrowser.wings.ncstream.reading.walk import begins_with, walk_stream

ROWS, COLUMNS = 40_000, 300
SHAPE = [enc.dimension("t", ROWS), enc.dimension("x", COLUMNS)]
VARIABLES = [
    enc.variable("v", enc.INT, SHAPE),
    enc.variable("w", enc.SHORT, SHAPE),
    enc.variable("s", enc.STRING, [enc.dimension("t", ROWS)]),
]
STRUCTURES = [enc.structure("o", shape=SHAPE[:1], variables=[enc.variable("a", enc.INT)])]
HEADER = enc.header(enc.group(dimensions=SHAPE, variables=VARIABLES, structures=STRUCTURES))


def walked(stream, **options):
    return walk_stream(MemoryBytes(stream), url="memory", **options)


def one_by_one(stream, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(data_messages.Runs, "read", lambda self, offset, most: offset)
        return walked(stream)


def facts_of(index):
    table = index.table
    names = [
        name for name in table.__slots__ if name not in ("names", "section", "starts", "sizes", "strides")
    ]
    columns = {name: np.asarray(getattr(table, name)).tolist() for name in names if name != "checkpoints"}
    marks = {number: each.tolist() for number, each in table.checkpoints.items()}
    ranges = [table.ranges(number) for number in range(len(table))]
    return table.names, columns, marks, ranges, index.faults, index.walked, index.has_end


def tile(name, row, column, width, **facts):
    type_, letter = (enc.INT, "i") if name == "v" else (enc.SHORT, "h")
    stored = enc.numbers(letter, range(width))
    if facts.pop("deflated", False):
        stored, facts = zlib.compress(stored), facts | {"compress": enc.DEFLATE}
    body = enc.data_body(name, type_, [(row or None, 1, None), (column or None, width, None)], **facts)
    return enc.data(body, enc.regular(stored))


def text(row):
    return enc.data(enc.data_body("s", enc.STRING, [(row, 1, 1)], bigend=True), enc.objects([f"text {row}"]))


def structure(row, **facts):
    rows = enc.regular(enc.structure_body(enc.numbers("i", [row]), row_length=4))
    return enc.data(enc.data_body("o", enc.STRUCTURE, [(row, 1, 1)], **facts), rows)


#: How a message may differ from the one before it.
MESSAGES = st.lists(
    st.tuples(
        st.sampled_from("vvvvwso"),
        st.integers(0, 9),
        st.sampled_from([0, 1, 127, 128, 200]),
        st.sampled_from([1, 5, 5, 5, 40]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, 0, 7, 0xFFFFFFFF]),
        st.booleans(),
        st.integers(1, 60),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(MESSAGES, st.integers(0, 3))
def test_runs_are_read_as_one_by_one(messages, cut):
    made, row = [], 0
    for name, step, column, width, bigend, crc32, deflated, repeats in messages:
        for _ in range(repeats):
            row = (row + step) % ROWS
            facts = {"bigend": bigend, "crc32": crc32, "deflated": deflated}
            if name in "so":
                made.append(text(row) if name == "s" else structure(row, compress=int(deflated)))
            else:
                made.append(tile(name, row, column, width, **facts))
    stream = enc.stream(HEADER, *made)
    stream = stream[: len(stream) - 7 * cut]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert facts_of(walked(stream)) == facts_of(one_by_one(stream, monkeypatch))


@pytest.mark.parametrize("seed", range(4))
def test_runs_with_damage_are_read_as_one_by_one(seed, monkeypatch):
    random = np.random.default_rng(seed)
    stream = bytearray(enc.stream(HEADER, *(tile("v", row, 0, 3, bigend=True) for row in range(400))))
    for at in random.integers(4, len(stream), 20).tolist():
        stream[at] = random.integers(0, 256)
    assert facts_of(walked(bytes(stream))) == facts_of(one_by_one(bytes(stream), monkeypatch))


@pytest.mark.slow
def test_most_messages_of_a_run_take_no_call_each(monkeypatch):
    stream = enc.stream(HEADER, *(tile("v", row, 0, 3) for row in range(20_000)))
    calls = []
    read = walk_stream.__globals__["MessageReader"].message
    monkeypatch.setattr(
        walk_stream.__globals__["MessageReader"],
        "message",
        lambda self, offset: calls.append(offset) or read(self, offset),
    )
    assert len(walked(stream).table) == 20_001
    assert len(calls) < 60


@pytest.mark.parametrize("before", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("row", [b"\0\0\0\1", b""])
def test_a_message_that_says_otherwise_ends_a_run(before, row, monkeypatch):
    body = enc.data_body("v", enc.INT, [(5, 1, None), (None, 1, None)]) + enc.number(7, 1)
    ragged = enc.data(body, enc.objects([row]))
    tiles = [tile("v", row, 0, 3) for row in range(before)]
    stream = enc.stream(HEADER, *tiles, ragged, *(tile("v", 7, 0, 3) for _ in range(40)))
    found = walked(stream)
    assert len(found.table) == before + 42
    assert facts_of(found) == facts_of(one_by_one(stream, monkeypatch))
    assert found.table.payload.tolist().count(Payload.VARIABLE) == 1


def test_a_row_tells_all_that_the_message_says():
    values = enc.numbers("i", [1, 2])
    facts = {"bigend": False, "version": 2, "crc32": 9, "uncompressed": 8, "compress": enc.DEFLATE}
    message = enc.data(enc.data_body("/v", enc.INT, [(3, 1, 1), (4, 2, 5)], **facts), enc.deflated(values))
    table = walked(enc.stream(HEADER, message)).table
    at = 4 + len(HEADER)
    stored = zlib.compress(values)
    assert (table.kind[1], table.offset[1], table.stop[1]) == (MessageKind.DATA, at, at + len(message))
    assert (table.payload[1], table.payload_length[1]) == (Payload.REGULAR, len(stored))
    assert table.payload_offset[1] == table.stop[1] - len(stored)
    assert (table.byte_order[1], table.version[1], table.data_type[1]) == (ByteOrder.LITTLE, 2, enc.INT)
    assert (table.deflated[1], table.uncompressed[1], table.crc32[1]) == (True, 8, 9)
    assert table.names == ("/v",)
    assert table.ranges(1) == (range(3, 4), range(4, 14, 5))


def test_many_objects_have_checkpoints():
    count = 10_000
    texts = [f"text {number}" * (number % 40) for number in range(count)]
    body = enc.data_body("s", enc.STRING, [(None, count, None)])
    stream = enc.stream(HEADER, enc.data(body, enc.objects(texts)))
    table = walked(stream).table
    assert table.count[1] == count
    marks = table.checkpoints[1].tolist()
    assert [number for number, _ in marks] == [0, 4096, 8192]
    for number, at in marks:
        expected = enc.regular(texts[number].encode())
        assert stream[at : at + len(expected)] == expected


@pytest.mark.parametrize("first", [0, 1, 2, 5, 30])
@pytest.mark.parametrize("tail", [0, 4, 9])
def test_what_was_added_is_all_that_is_read(first, tail, monkeypatch):
    monkeypatch.setitem(walk_stream.__globals__, "_TAIL", 16)
    messages = [tile("v", row, 0, 3) if row % 7 else text(row) for row in range(60)]
    long = enc.stream(HEADER, *messages, b"nonsense", *messages)
    short = enc.stream(HEADER, *messages[:first])[: -tail or None]
    before = walked(short)
    read = []

    class Watched(MemoryBytes):
        def read(self, offset, length):
            read.append(offset)
            return super().read(offset, length)

    found = walk_stream(Watched(long), url="memory", resume=before)
    assert facts_of(found) == facts_of(walked(long))
    assert found.definition == walked(long).definition
    assert min(read) >= max(before.walked - 16 - 4, 0)


def test_another_stream_is_read_anew():
    one = enc.stream(HEADER, *(tile("v", row, 0, 3) for row in range(30)))
    other = enc.stream(HEADER, *(tile("v", row + 1, 0, 3) for row in range(60)))
    before = walked(one)
    assert not begins_with(MemoryBytes(other), before)
    assert not begins_with(MemoryBytes(one[:50]), before)
    assert facts_of(walked(other, resume=before)) == facts_of(walked(other))


def test_a_header_that_was_added_changes_what_was_read():
    longer = [enc.dimension("t", 2 * ROWS), enc.dimension("x", COLUMNS)]
    header = enc.header(enc.group(dimensions=longer, variables=[enc.variable("v", enc.INT, longer)]))
    outside = tile("v", ROWS + 5, 0, 3)
    before = walked(enc.stream(HEADER, outside))
    assert [fault.code for fault in before.faults] == ["section-out-of-range"]
    assert before.table.fault.tolist()[1]
    after = walked(enc.stream(HEADER, outside, header), resume=before)
    assert not after.faults
    assert not after.table.fault.any()
    assert [number for number, _ in after.headers] == [0, 2]


def test_a_walk_ends_at_a_message():
    stream = enc.stream(HEADER, *(tile("v", row, 0, 3) for row in range(500)), text(1))
    for until in (0, 1, 2, 300, 499, 501, 900):
        found = walked(stream, until=until)
        assert len(found.table) == min(until + 1, 502)
        assert not found.faults


def test_a_walk_is_cancelled():
    stream = enc.stream(HEADER, *(tile("v", row, 0, row % 40 + 1) for row in range(3000)))
    token = CancelToken()
    with pytest.raises(Cancelled):
        walked(stream, token=token, progress=lambda done, total: token.cancel())


def test_jumps_over_large_payloads_read_little(tmp_path):
    size = 1 << 20
    path = tmp_path / "large.ncs"
    shape = [enc.dimension("n", size // 4 * 20)]
    header = enc.header(enc.group(dimensions=shape, variables=[enc.variable("v", enc.INT, shape)]))
    bodies = (enc.data_body("v", enc.INT, [(number * size // 4, size // 4, 1)]) for number in range(20))
    path.write_bytes(enc.stream(header, *(enc.data(body, enc.regular(bytes(size))) for body in bodies)))
    read = []

    class Watched(LocalBytes):
        def read(self, offset, length):
            read.append(length)
            return super().read(offset, length)

    with Watched(path) as source:
        assert len(walk_stream(source, url="x").table) == 21
    assert sum(read) < size
