"""Answers over HTTP: heads parsed strictly and held against the request, and bodies (safety, section 6)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from refbrowser.errors import ErrorKind, quoted
from refbrowser.io.identity import ObjectIdentity
from refbrowser.limits import LIMITS

#: Statuses after which the same request may succeed.
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Statuses by which a host asks for fewer requests.
THROTTLING = frozenset({429, 503})
#: Statuses that say that there is no such object.
_ABSENT = frozenset({404, 410})
_REFUSED = frozenset({401, 403})

_STATUS = re.compile(r"HTTP/1\.([01]) ([1-5][0-9]{2})(?: (.*))?", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_UNSATISFIED = re.compile(r"bytes \*/(\d{1,18})")


class AttemptError(Exception):
    """One try of a request failed.

    Attributes
    ----------
    retry
        Another try may succeed.
    after
        Seconds that the server asked to wait.
    absent
        The server has no such object.
    refused
        It may not be read; whether there is one is not said.
    oversize
        It is larger than what is read of it.
    """

    def __init__(
        self,
        message: str,
        kind: ErrorKind = ErrorKind.SOURCE,
        *,
        retry: bool = False,
        after: float | None = None,
        advice: str = "",
        absent: bool = False,
        refused: bool = False,
        oversize: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.retry = retry
        self.after = after
        self.advice = advice
        self.absent = absent
        self.refused = refused
        self.oversize = oversize


class Head(NamedTuple):
    """Status and fields of an answer; field names in lower case, repeated ones joined by a comma.

    Attributes
    ----------
    length
        Bytes of the body, where the head says so.
    """

    status: int
    reason: str
    fields: Mapping[str, str]
    keep_alive: bool
    minor: str
    length: int | None

    @property
    def line(self) -> str:
        """The status line."""
        return f"HTTP/1.{self.minor} {self.status} {self.reason}".rstrip()

    @property
    def chunked(self) -> bool:
        """Whether the body has the chunked transfer coding."""
        return "transfer-encoding" in self.fields


class Body(NamedTuple):
    """What to do with the body of a good answer.

    Attributes
    ----------
    length
        Its exact size; None where only its end tells.
    is_range
        It is the range asked for; otherwise the whole object.
    total
        Size of the whole object where known.
    """

    length: int | None
    is_range: bool
    total: int | None


def parse_head(data: bytes) -> Head:
    """Parse everything before the empty line.

    Not by `http.client`: it takes two lengths for the first one, folded lines, lengths such as ``+3`` and
    ``1_0``, drops what follows a line that is no field, and needs three times as long and a thread for each
    connection.

    Raises
    ------
    AttemptError
        It is not the head of an HTTP/1 answer, or breaks a limit.
    """
    first, *lines = data.decode("latin-1").split("\r\n")
    status = _STATUS.fullmatch(first)
    if status is None:
        raise AttemptError(f"the answer is not HTTP: {quoted(first, 60)}", retry=True)
    if len(lines) > LIMITS.http_header_lines:
        raise AttemptError(f"the answer has more than {LIMITS.http_header_lines} header lines")
    found: dict[str, str] = {}
    for line in lines:
        spelled, colon, value = line.partition(":")
        name = (_name if len(spelled) <= _KEPT_LENGTH else _name.__wrapped__)(spelled)
        if not colon or name is None or "\n" in value:
            raise AttemptError(f"malformed header line {quoted(line, 60)}")
        value = value.strip(" \t")
        if name in found and not (name in _SINGLE and found[name] == value):
            if name in _SINGLE:
                raise AttemptError(f"the answer has two different {name} headers")
            value = f"{found[name]}, {value}"
        found[name] = value
    length = found.get("content-length")
    if length is not None and not _LENGTH.fullmatch(length):
        raise AttemptError(f"{quoted(length)} is not a Content-Length")
    coding = found.get("transfer-encoding")
    if coding is not None and coding.lower() != "chunked":
        raise AttemptError(f"transfer coding {quoted(coding)} is not supported")
    tokens = found.get("connection", "").lower().replace(" ", "").split(",")
    keep = "close" not in tokens if status[1] == "1" else "keep-alive" in tokens
    size = None if length is None or coding is not None else int(length)
    return Head(int(status[2]), status[3] or "", found, keep, status[1], size)


#: Characters of the longest name of a header that is kept in its other form.
_KEPT_LENGTH = 64


@lru_cache(1024)
def _name(spelled: str) -> str | None:
    """Return the name of a header in lower case; None where it is none."""
    return spelled.lower() if _NAME.fullmatch(spelled) else None


_SINGLE = frozenset(
    {
        "content-length",
        "content-range",
        "content-encoding",
        "etag",
        "last-modified",
        "location",
        "transfer-encoding",
    }
)


def check_answer(head: Head, start: int, stop: int | None, size_limit: int) -> Body:
    """Tell what the body of a final answer is, for a request of bytes `start` to `stop` (None: whole object).

    Raises
    ------
    AttemptError
        The answer is not what was asked for.
    """
    if head.status not in (200, 206):
        raise status_error(head, start, stop)
    encoding = head.fields.get("content-encoding", "identity").lower()
    if encoding not in ("identity", ""):
        raise AttemptError(
            f"the server encodes the bytes as {quoted(encoding)}, though identity was requested"
        )
    if head.status == 206:
        return _partial(head, start, stop)
    length = head.length
    if stop is None or (start == 0 and length == stop):
        if stop is None and length is not None and length > size_limit:
            message = f"an object of {length} bytes is larger than the {size_limit} that are read whole"
            raise AttemptError(message, ErrorKind.BUDGET, oversize=True)
        return Body(length, False, length)
    if length is not None and length < stop:
        raise AttemptError(f"the object has {length} bytes, the range ends at {stop}", ErrorKind.RANGE)
    if length is not None and length > LIMITS.http_cut:
        message = f"the server ignores ranges and the object of {length} bytes is too large to be read whole"
        raise AttemptError(
            message, advice="copy the file to a server that answers ranges, or to this machine"
        )
    return Body(length, False, length)


def check_beginning(head: Head, size: int) -> Body:
    """Tell what the body of a final answer is, for the first `size` bytes of an object that may be shorter.

    Raises
    ------
    AttemptError
        The answer is not what was asked for; `E_RANGE`: of an object without any byte.
    """
    match = _CONTENT_RANGE.fullmatch(head.fields.get("content-range", ""))
    if head.status == 206 and match is not None and match[3] != "*":
        size = min(size, int(match[3]))
    body = check_answer(head, 0, size if head.status != 200 else None, LIMITS.http_cut)
    # What was asked for is all that is taken, however large the object is.
    return Body(body.length, False, body.total)


def identity_of(head: Head, total: int | None) -> ObjectIdentity:
    """Return the identity of the object that an answer describes."""
    etag = head.fields.get("etag")
    return ObjectIdentity(total, etag and etag.removeprefix("W/"), head.fields.get("last-modified"))


def status_error(head: Head, start: int, stop: int | None) -> AttemptError:
    """Return the error for an answer that is neither the bytes nor a redirect."""
    if head.status == 416:
        match = _UNSATISFIED.fullmatch(head.fields.get("content-range", ""))
        size = f"the object has {match[1]} bytes, " if match else ""
        message = f"{size}the range from {start} to {stop} does not exist (status 416)"
        return AttemptError(message, ErrorKind.RANGE)
    reason = f" {quoted(head.reason, 60)}" if head.reason else ""
    message = f"the server answered {head.status}{reason}"
    if head.status not in RETRIED:
        return AttemptError(message, absent=head.status in _ABSENT, refused=head.status in _REFUSED)
    after = retry_after(head)
    if after is not None and after > LIMITS.http_retry_after:
        return AttemptError(f"{message} and asks to wait {after:.0f} s")
    return AttemptError(message, retry=True, after=after)


def _partial(head: Head, start: int, stop: int | None) -> Body:
    text = head.fields.get("content-range", "")
    match = _CONTENT_RANGE.fullmatch(text)
    if stop is None or match is None:
        raise AttemptError(f"the answer has the Content-Range {quoted(text)}, which was not requested")
    first, last = int(match[1]), int(match[2])
    total = None if match[3] == "*" else int(match[3])
    if total is not None and stop > total:
        raise AttemptError(f"the object has {total} bytes, the range ends at {stop}", ErrorKind.RANGE)
    if (first, last + 1) != (start, stop):
        raise AttemptError(f"bytes {start} to {stop - 1} were requested, the answer holds {first} to {last}")
    if head.length not in (None, stop - start):
        raise AttemptError(f"a body of {head.length} bytes was announced where {stop - start} were requested")
    return Body(stop - start, True, total)


def retry_after(head: Head) -> float | None:
    """Return the seconds that the server asks to wait, if it does."""
    text = head.fields.get("retry-after")
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        seconds = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return max(seconds - time.time(), 0.0)


_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_LINE_LIMIT = 1024


class FixedSink:
    """A body of known size, received straight into `view`."""

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.received = 0

    @property
    def room(self) -> memoryview:
        """The part of the buffer that is still to be filled."""
        return self.view[self.received :]

    @property
    def full(self) -> bool:
        """Whether all bytes are here."""
        return self.received == len(self.view)

    def write(self, data: memoryview) -> None:
        """Take bytes that were received elsewhere."""
        if len(data) > len(self.view) - self.received:
            raise AttemptError("the body is longer than requested")
        self.view[self.received : self.received + len(data)] = data
        self.received += len(data)


class GrowingSink:
    """A body whose size only its end tells, of at most `limit` bytes."""

    full = False

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = np.empty(min(limit, 1 << 16), np.uint8)
        self.received = 0

    def write(self, data: memoryview) -> None:
        """Take bytes."""
        end = self.received + len(data)
        if end > self._limit:
            message = f"the body is longer than {self._limit} bytes"
            raise AttemptError(message, ErrorKind.BUDGET, oversize=True)
        if end > len(self._buffer):
            grown = np.empty(min(max(end, 2 * len(self._buffer)), self._limit), np.uint8)
            grown[: self.received] = self._buffer[: self.received]
            self._buffer = grown
        self._buffer[self.received : end] = data
        self.received = end

    @property
    def view(self) -> memoryview:
        """The bytes received."""
        return self._buffer.data[: self.received]


Sink = FixedSink | GrowingSink


class ChunkedDecoder:
    """Takes the chunked transfer coding off; feed it until `done`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._left = 0
        self._line = bytearray()
        self._state = "size"
        self.done = False

    def feed(self, data: memoryview) -> None:
        """Take received bytes.

        Raises
        ------
        AttemptError
            The coding is malformed, or the body too long.
        """
        while data:
            if self.done:
                raise AttemptError("the server sends more than the body")
            if self._state == "data":
                part = data[: self._left]
                self._sink.write(part)
                self._left -= len(part)
                data = data[len(part) :]
                if not self._left:
                    self._state = "end"
            else:
                data = self._feed_line(data)

    def _feed_line(self, data: memoryview) -> memoryview:
        window = bytes(data[: _LINE_LIMIT + 1])
        end = window.find(b"\n")
        taken = window if end < 0 else window[: end + 1]
        self._line += taken
        if len(self._line) > _LINE_LIMIT:
            raise AttemptError("malformed chunked body")
        if end >= 0:
            line = bytes(self._line).removesuffix(b"\n").removesuffix(b"\r")
            self._line.clear()
            self._take_line(line)
        return data[len(taken) :]

    def _take_line(self, line: bytes) -> None:
        if self._state == "size":
            match = _SIZE_LINE.fullmatch(line)
            if match is None:
                raise AttemptError("malformed chunked body")
            self._left = int(match[1], 16)
            self._state = "data" if self._left else "trailer"
        elif self._state == "end":
            if line:
                raise AttemptError("malformed chunked body")
            self._state = "size"
        elif not line:
            self.done = True
