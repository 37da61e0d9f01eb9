"""Damaged streams: what their framing is taken for, how it is found again, and that the search is bounded."""

import time
from dataclasses import replace

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st
from test_stream_walk import HEADER, text, tile, walked

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.ncstream.reading import walk
from refbrowser.wings.ncstream.reading.bytes import ShortVarintError, VarintError, read_varint, write_varint
from refbrowser.wings.ncstream.reading.messages import FaultCode, MessageKind

FIRST = 4 + len(HEADER)
BODY = enc.data_body("v", enc.INT, [(0, 1, 1), (0, 3, 1)])
VALUES = enc.numbers("i", [1, 2, 3])
GOOD = enc.data(BODY, enc.regular(VALUES))
DAMAGED = MessageKind.DAMAGED


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_varints_are_read_as_written(value, others):
    data = write_varint(value)
    assert data == enc.varint(value)
    assert read_varint(others + data + others, len(others)) == (value, len(others) + len(data))
    for end in range(len(data)):
        with pytest.raises(ShortVarintError):
            read_varint(data[:end])


@pytest.mark.parametrize(("data", "value"), [(b"\x85\x80\0", 5), (b"\x80" * 9 + b"\0", 0)])
def test_padded_varints_are_legal(data, value):
    assert read_varint(data) == (value, len(data))


@pytest.mark.parametrize("data", [b"\xff" * 10 + b"\1", b"\x80" * 9 + b"\2"])
def test_varints_have_at_most_64_bits(data):
    with pytest.raises(VarintError):
        read_varint(data)


def test_numbers_beyond_64_bits_are_not_written():
    for value in (-1, 2**64):
        with pytest.raises(ValueError, match="unsigned"):
            write_varint(value)


#: A message that is damaged, its code where messages follow, and its code where the stream ends with it.
DAMAGES = {
    "payload cut": (
        enc.MAGIC_DATA
        + enc.regular(enc.data_body("v", enc.INT, [(0, 1, 1), (0, 300, 1)]))
        + enc.varint(1200),
        "truncated",
        "truncated",
    ),
    "payload of another size": (
        enc.MAGIC_DATA + enc.regular(BODY) + enc.varint(10_000) + VALUES,
        "length-too-large",
        "length-too-large",
    ),
    "header cut": (enc.MAGIC_HEADER + enc.varint(2000) + b"\x0a\x03abc", "length-too-large", "truncated"),
    "header too large": (enc.MAGIC_HEADER + enc.varint(2**40), "length-too-large", "length-too-large"),
    "length of too many bytes": (enc.MAGIC_DATA + b"\xff" * 11, "bad-varint", "bad-varint"),
    "strings cut": (
        enc.MAGIC_DATA
        + enc.regular(enc.data_body("s", enc.STRING, [(0, 200, 1)]))
        + enc.varint(200)
        + b"\1a",
        "truncated",
        "truncated",
    ),
    "too many strings": (
        enc.MAGIC_DATA
        + enc.regular(enc.data_body("s", enc.STRING, [(0, 2, 1)]))
        + enc.varint(2**30)
        + b"\1a",
        "length-too-large",
        "length-too-large",
    ),
    "sequence cut": (
        enc.MAGIC_DATA + enc.regular(enc.data_body("q", enc.SEQUENCE, None)) + enc.MAGIC_VDATA,
        "length-too-large",
        "truncated",
    ),
    "no message": (b"nonsense", "bad-magic", "bad-magic"),
    "coverage": (enc.MAGIC_COVERAGE_DATA + enc.regular(b"abc"), "bad-magic", "bad-magic"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_stream_that_ends_with_damage(name):
    damage, _, code = DAMAGES[name]
    found = walked(enc.stream(HEADER, GOOD)[:-4] + damage)
    (fault,) = found.faults
    at = FIRST + len(GOOD)
    assert (fault.code, fault.number, fault.offset) == (code, 2, at)
    assert found.table.kind[2] == DAMAGED
    assert (found.walked, found.has_end) == (at, False)


@pytest.mark.parametrize("name", DAMAGES)
def test_what_follows_damage_is_read(name):
    damage, code, _ = DAMAGES[name]
    found = walked(enc.stream(HEADER, GOOD, damage, GOOD, text(7)))
    (fault,) = found.faults
    at = FIRST + len(GOOD)
    assert (fault.code, fault.number, fault.offset) == (code, 2, at)
    assert found.table.kind.tolist() == [0, 1, DAMAGED, 1, 1]
    assert found.table.stop[2] == at + len(damage)
    assert found.has_end
    assert found.walked == found.size


def test_of_a_cut_message_it_is_told_what_it_is_of():
    found = walked(enc.stream(HEADER, tile("v", 3, 5, 40))[:-20])
    assert found.table.kind[1] == DAMAGED
    assert found.table.fault[1] == FaultCode.TRUNCATED
    assert found.table.names[found.table.variable[1]] == "/v"
    assert found.table.ranges(1) == (range(3, 4), range(5, 45))
    assert found.fault_of(1) == found.faults[0]
    assert found.faults[0].path == "/v"
    assert found.fault_of(0) is None


def test_a_header_that_does_not_parse_is_passed_over():
    broken = enc.MAGIC_HEADER + enc.regular(b"\x0a\xff\xff")
    found = walked(enc.stream(HEADER, broken, GOOD))
    assert [fault.code for fault in found.faults] == ["bad-protobuf"]
    assert found.table.stop[1] == FIRST + len(broken)
    assert [path for path, _ in found.definition.variables()] == ["/v", "/w", "/s", "/o"]


def test_magics_within_data_begin_no_message():
    inner = enc.MAGIC_END + enc.MAGIC_DATA + enc.MAGIC_HEADER + enc.MAGIC_POINT + b"\0\0" + enc.MAGIC_ERR
    # A whole message too, which none follows.
    inner += GOOD + b"no magic"
    body = enc.data_body("s", enc.STRING, [(0, 1, 1)])
    holding = enc.data(body, enc.objects([inner]))
    assert not walked(enc.stream(HEADER, holding, GOOD)).faults
    # The length of the message is damaged, so its payload is searched.
    found = walked(enc.stream(HEADER, enc.MAGIC_DATA + enc.varint(2**35) + holding[5:], GOOD))
    assert found.table.kind.tolist() == [0, DAMAGED, 1]
    assert found.table.stop[1] == found.size - 4 - len(GOOD)


def test_a_stream_whose_beginning_is_damaged_is_read():
    found = walked(b"\0\0\0\0" + HEADER + GOOD + enc.MAGIC_END)
    assert found.table.kind.tolist() == [DAMAGED, 0, 1]
    assert {fault.code for fault in found.faults} == {"bad-magic", "no-start"}


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"GIF89a" * 9, b"{}" * 50, enc.MAGIC_COVERAGE_HEADER + b"\0"]
)
def test_what_holds_no_message_is_no_stream(content):
    with pytest.raises(RefbrowserError, match="not-ncstream") as caught:
        walked(content)
    assert caught.value.kind is ErrorKind.FORMAT
    assert caught.value.place.url == "memory"


def test_garbage_is_searched_up_to_a_limit(monkeypatch):
    garbage = np.random.default_rng(0).bytes(3 << 20)
    stream = enc.stream(HEADER, garbage, GOOD)
    assert walked(stream).table.kind.tolist() == [0, DAMAGED, 1]
    monkeypatch.setattr(walk, "STREAM_LIMITS", replace(walk.STREAM_LIMITS, stream_search=2 << 20))
    found = walked(stream)
    assert found.table.kind.tolist() == [0, DAMAGED]
    assert found.table.stop[1] == found.size


@pytest.mark.slow
@pytest.mark.parametrize(
    "repeated",
    [
        enc.MAGIC_DATA,
        enc.MAGIC_HEADER + enc.varint(200_000),
        enc.MAGIC_DATA + enc.regular(enc.data_body("s", enc.STRING, [(0, 1, 1)])) + enc.varint(100_000),
    ],
)
def test_bytes_made_to_be_searched_again_and_again(repeated, monkeypatch):
    monkeypatch.setattr(walk, "STREAM_LIMITS", replace(walk.STREAM_LIMITS, stream_search=64 << 20))
    stream = enc.stream(HEADER)[:-4] + b"x" + repeated * ((1 << 20) // len(repeated))
    start = time.process_time()
    walked(stream)
    # Without the limit it takes minutes.
    assert time.process_time() - start < 30


@given(st.data())
def test_garbled_streams_are_read_without_other_errors(data):
    stream = bytearray(enc.stream(HEADER, GOOD, text(3), tile("w", 1, 2, 30, deflated=True), HEADER, GOOD))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(stream) - 1))
        stream[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    # Damage to START leaves messages enough for a stream.
    found = walked(bytes(stream))
    table = found.table
    assert (table.offset[1:] == table.stop[:-1]).all()
    assert (table.stop <= found.size).all()
    assert (table.payload_offset + table.payload_length <= found.size).all()


def swallowing(lost):
    """Return a stream whose second data message has lost bytes of its payload, and the messages behind it."""
    behind = [tile("v", row, 0, 3) for row in range(2, 6)]
    return enc.MAGIC_START + HEADER + GOOD + GOOD[:-lost] + b"".join(behind) + enc.MAGIC_END, behind


@pytest.mark.parametrize("lost", range(1, 12))
def test_a_message_that_lost_bytes_does_not_take_the_next_one_with_it(lost):
    stream, behind = swallowing(lost)
    table = walked(stream).table
    damage = FIRST + len(GOOD)
    assert table.offset.tolist()[:4] == [4, FIRST, damage, damage + len(GOOD) - lost]
    assert table.kind.tolist()[2:] == [DAMAGED, *[MessageKind.DATA] * len(behind)]
    assert not table.fault[3:].any()


def test_several_messages_can_be_swallowed():
    behind = [tile("v", row, 0, 3) for row in range(1, 5)]
    size = len(behind[0])
    long = enc.MAGIC_DATA + enc.regular(BODY) + enc.varint(12 + 2 * size + size // 2) + VALUES
    stream = enc.stream(HEADER, long, *behind)
    table = walked(stream).table
    assert table.kind.tolist() == [MessageKind.HEADER, DAMAGED, *[MessageKind.DATA] * 4]
    assert b"".join(stream[table.offset[at] : table.stop[at]] for at in range(2, 6)) == b"".join(behind)


def test_data_that_hold_messages_are_kept_before_damage():
    inside = GOOD + GOOD
    body = enc.data_body("s", enc.STRING, [(0, 1, 1)])
    opaque = enc.data(body, enc.objects([inside]))
    table = walked(enc.stream(HEADER, opaque, b"\xff" * 9, GOOD, GOOD)).table
    assert table.kind.tolist() == [MessageKind.HEADER, MessageKind.DATA, DAMAGED, *[MessageKind.DATA] * 2]


def test_what_a_search_tried_is_not_told_of_the_damage():
    tried = enc.MAGIC_DATA + enc.regular(enc.data_body("new", enc.INT, [(0, 1, 1)])) + enc.varint(2**40)
    opaque = enc.data(enc.data_body("s", enc.STRING, [(0, 1, 1)]), enc.objects([tried]))
    index = walked(enc.stream(HEADER, opaque, b"\xff" * 9, GOOD, GOOD))
    assert index.table.names == ("/s", "/v")
    assert index.faults[0].path is None
