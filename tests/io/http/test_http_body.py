"""Bodies: exact sizes, and the chunked transfer coding however it is cut into pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.io.http.answers import AttemptError, ChunkedDecoder, FixedSink, GrowingSink


def feed(decoder: ChunkedDecoder, data: bytes, cuts: list[int]) -> None:
    edges = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    for first, last in itertools.pairwise(edges):
        decoder.feed(memoryview(data)[first:last])


def coded(parts: list[bytes], extension: bytes, trailer: bytes) -> bytes:
    chunks = b"".join(b"%X%s\r\n%s\r\n" % (len(part), extension, part) for part in parts if part)
    return chunks + b"0\r\n" + trailer + b"\r\n"


@given(
    st.lists(st.binary(max_size=50), max_size=8),
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from([b"", b";a=b", b" "]),
    st.sampled_from([b"", b"X: y\r\n"]),
)
def test_the_chunked_coding(parts: list[bytes], cuts: list[int], extension: bytes, trailer: bytes) -> None:
    body = b"".join(parts)
    for sink in (GrowingSink(len(body)), FixedSink(memoryview(bytearray(len(body))))):
        decoder = ChunkedDecoder(sink)
        feed(decoder, coded(parts, extension, trailer), cuts)
        assert decoder.done
        assert bytes(sink.view) == body


@pytest.mark.parametrize(
    "data",
    [
        b"x\r\n", b"-1\r\n", b"\r\n", b"5\r\nhelloXX\r\n", b"5\r\nhello\r\n0\r\n\r\nmore", b"1" * 2000,
        b"ffffffffffffffff\r\n", b"1_0\r\n", b"0x5\r\n", b"6\r\nlonger\r\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("cuts", [[], list(range(40))])
def test_malformed_chunks(data: bytes, cuts: list[int]) -> None:
    with pytest.raises(AttemptError):
        feed(ChunkedDecoder(GrowingSink(5)), data, cuts)


def test_an_unfinished_body_is_not_done() -> None:
    decoder = ChunkedDecoder(GrowingSink(10))
    decoder.feed(memoryview(b"5\r\nhello\r\n0\r\n"))
    assert not decoder.done


@given(st.lists(st.binary(max_size=100_000), max_size=6))
def test_a_growing_body(parts: list[bytes]) -> None:
    body = b"".join(parts)
    sink = GrowingSink(len(body))
    for part in parts:
        sink.write(memoryview(part))
    assert bytes(sink.view) == body
    with pytest.raises(AttemptError):
        sink.write(memoryview(b"x"))


def test_a_fixed_body() -> None:
    sink = FixedSink(memoryview(bytearray(5)))
    sink.write(memoryview(b"abc"))
    assert not sink.full
    assert len(sink.room) == 2
    with pytest.raises(AttemptError):
        sink.write(memoryview(b"def"))
    sink.write(memoryview(b"de"))
    assert sink.full
    assert bytes(sink.view) == b"abcde"
