"""Heads of answers: parsed strictly and held against the request."""

from __future__ import annotations

import contextlib
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind
from refbrowser.io.http.answers import AttemptError, Body, check_answer, identity_of, parse_head, retry_after

LIMIT = 100 << 20


def head(status: int = 206, **fields: object) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Words",
        *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items()),
    ]
    return "\r\n".join(lines).encode("latin-1")


def answer(start: int, stop: int | None, status: int = 206, **fields: object) -> Body:
    return check_answer(parse_head(head(status, **fields)), start, stop, LIMIT)


def test_fields() -> None:
    parsed = parse_head(b'HTTP/1.1 200 OK\r\nContent-Length:  5 \r\nVary: a\r\nvary: b\r\nX:\r\nETag: W/"e"')
    assert (parsed.status, parsed.reason, parsed.length) == (200, "OK", 5)
    assert parsed.fields["vary"] == "a, b"
    assert parsed.fields["x"] == ""
    assert identity_of(parsed, 5).etag == '"e"'
    assert parsed.keep_alive


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        (b"HTTP/1.1 200 OK", True),
        (b"HTTP/1.1 200", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close", False),
        (b"HTTP/1.1 200 OK\r\nConnection: x, Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive", True),
    ],
)
def test_whether_the_connection_is_kept(text: bytes, keep: bool) -> None:
    assert parse_head(text).keep_alive is keep


@pytest.mark.parametrize(
    "text",
    [
        b"", b"ICY 200 OK", b"HTTP/2 200 OK", b"HTTP/1.1 999 Odd", b"HTTP/1.1 20 OK", b"http/1.1 200 OK",
        b"HTTP/1.1 200 OK\r\nno colon", b"HTTP/1.1 200 OK\r\n folded: x", b"HTTP/1.1 200 OK\r\na b: x",
        b"HTTP/1.1 200 OK\r\nname",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5", b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0x5", b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 19,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
        b"HTTP/1.1 200 OK" + b"\r\nX: y" * 201, b"HTTP/1.1 200 OK\r\nX: a\nY: b", b"HTTP/1.1 200 OK\r\n: x",
        b"HTTP/1.1 200 OK\r\nX\xe9: y", b"HTTP/1.1 200 OK\r\n" + b"X" * 70 + b"(: y", b"HTTP/1.1 200 O\nK",
    ],
)  # fmt: skip
def test_malformed_heads(text: bytes) -> None:
    with pytest.raises(AttemptError):
        parse_head(text)


def test_names_of_any_length_and_values_in_latin_1() -> None:
    parsed = parse_head(b"HTTP/1.1 200 OK\r\n" + b"X" * 70 + b": a:b\r\nServer: \xe9\xa0 ")
    assert parsed.fields == {"x" * 70: "a:b", "server": "\xe9\xa0"}


def test_as_many_lines_as_are_allowed() -> None:
    assert parse_head(b"HTTP/1.1 200 OK" + b"\r\nX: y" * 200).fields["x"].count("y") == 200


@given(st.binary(max_size=60))
def test_any_bytes_are_a_head_or_refused(data: bytes) -> None:
    for text in (data, b"HTTP/1.1 206 P\r\n" + data, b"HTTP/1.1 206 P\r\nContent-Range: " + data):
        try:
            check_answer(parse_head(text), 0, 10, LIMIT)
        except AttemptError as error:
            refused = error.message
            assert refused.isprintable()


def test_good_answers() -> None:
    assert answer(5, 10, Content_Range="bytes 5-9/20") == Body(5, True, 20)
    assert answer(5, 10, Content_Range="bytes 5-9/*", Content_Length=5) == Body(5, True, None)
    assert answer(0, 10, 200, Content_Length=10) == Body(10, False, 10)
    assert answer(5, 10, 200, Content_Length=20) == Body(20, False, 20)
    assert answer(5, 10, 200) == Body(None, False, None)
    assert answer(0, None, 200, Content_Length=7) == Body(7, False, 7)
    assert answer(0, None, 200, Transfer_Encoding="chunked") == Body(None, False, None)
    assert answer(0, 1 << 24, 200, Content_Length=1 << 24) == Body(1 << 24, False, 1 << 24)


@pytest.mark.parametrize(
    ("start", "stop", "status", "fields", "kind"),
    [
        (5, 10, 206, {}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "bytes 5-10/20"}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "bytes 4-9/20"}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "bytes 5-8/20"}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "bytes 5-7/8"}, ErrorKind.RANGE),
        (5, 10, 206, {"Content_Range": "bytes 5-9/20", "Content_Length": 6}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "items 5-9/20"}, ErrorKind.SOURCE),
        (5, 10, 206, {"Content_Range": "bytes 5-9/20", "Content_Encoding": "gzip"}, ErrorKind.SOURCE),
        (0, None, 206, {"Content_Range": "bytes 0-9/10"}, ErrorKind.SOURCE),
        (5, 10, 200, {"Content_Length": 9}, ErrorKind.RANGE),
        (5, 10, 200, {"Content_Length": (8 << 20) + 1}, ErrorKind.SOURCE),
        (0, None, 200, {"Content_Length": LIMIT + 1}, ErrorKind.BUDGET),
        (5, 10, 416, {"Content_Range": "bytes */8"}, ErrorKind.RANGE),
        (5, 10, 416, {}, ErrorKind.RANGE),
        (5, 10, 404, {}, ErrorKind.SOURCE),
        (5, 10, 204, {}, ErrorKind.SOURCE),
        (5, 10, 304, {}, ErrorKind.SOURCE),
    ],
)
def test_bad_answers_are_not_tried_again(
    start: int, stop: int | None, status: int, fields: dict[str, object], kind: ErrorKind
) -> None:
    with pytest.raises(AttemptError) as caught:
        answer(start, stop, status, **fields)
    assert caught.value.kind == kind
    assert not caught.value.retry


def test_the_largest_object_that_may_be_cut() -> None:
    assert answer(5, 10, 200, Content_Length=8 << 20).length == 8 << 20


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_statuses_that_are_tried_again(status: int) -> None:
    with pytest.raises(AttemptError) as caught:
        answer(5, 10, status)
    assert caught.value.retry


@pytest.mark.parametrize(("text", "after"), [("7", 7.0), ("0", 0.0), ("60", 60.0), ("soon", None)])
def test_the_time_to_wait(text: str, after: float | None) -> None:
    with pytest.raises(AttemptError) as caught:
        answer(5, 10, 503, Retry_After=text)
    assert caught.value.retry
    assert caught.value.after == after


def test_the_time_to_wait_as_a_date() -> None:
    with pytest.raises(AttemptError) as caught:
        answer(5, 10, 503, Retry_After=formatdate(time.time() + 30, usegmt=True))
    assert caught.value.after == pytest.approx(30, abs=3)
    with pytest.raises(AttemptError, match="asks to wait"):
        answer(5, 10, 503, Retry_After=formatdate(time.time() + 3600, usegmt=True))


@pytest.mark.parametrize("text", ["61", "999999999"])
def test_too_long_a_wait_is_an_error(text: str) -> None:
    with pytest.raises(AttemptError, match="asks to wait") as caught:
        answer(5, 10, 503, Retry_After=text)
    assert not caught.value.retry


@pytest.mark.parametrize("tail", [b"\n", b"a", b"\x00", b""])
def test_white_space_in_headers_takes_no_time(tail: bytes) -> None:
    start = time.thread_time()
    line = b"X:" + b" " * 20_000 + tail + b" \t" * 10_000 + tail
    with contextlib.suppress(AttemptError):
        parse_head(b"HTTP/1.1 200 OK\r\n" + line)
    assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    "text",
    [
        "Mon, 01 Jan 99999999999999 00:00:00 GMT", "Mon, 99999999999999999999 Jan 2020 00:00:00 GMT",
        "Mon, 01 Jan 2020 00:00:00 +99999999999999", "1 Jan 2020 99:99:99 GMT", "", "soon", "-1", "1e5",
    ],
)  # fmt: skip
def test_waits_that_mean_nothing_are_not_kept(text: str) -> None:
    assert retry_after(parse_head(b"HTTP/1.1 503 No\r\nRetry-After: " + text.encode())) is None
