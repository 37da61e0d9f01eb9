"""What a request is answered with, and what is told to a client when that fails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.cdmremote.spec import NoSuchVariableError

Buffer = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer whose first bytes are known to be there.

    Attributes
    ----------
    length
        Bytes of the body.
    description
        What CDM Remote calls it (``Content-Description``); empty for none.
    """

    status: str
    content_type: str
    length: int
    body: Iterable[Buffer]
    description: str = ""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Fields of its head."""
        fields = [
            ("Content-Type", self.content_type),
            ("Content-Length", str(self.length)),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        return [*fields, *([("Content-Description", self.description)] if self.description else [])]


class RequestError(Exception):
    """A request that is answered with a status of its own.

    Attributes
    ----------
    status
        Status line, ``404 Not Found``.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def text_answer(text: str, content_type: str = "text/plain; charset=utf-8", status: str = "200 OK") -> Answer:
    """Return an answer of text."""
    data = text.encode("utf-8", "replace")
    return Answer(status, content_type, len(data), [data])


def error_answer(error: RequestError | RefbrowserError) -> Answer:
    """Return the answer that tells what went wrong: one line of text."""
    if isinstance(error, RequestError):
        return text_answer(f"{error.message}\n", status=error.status)
    return text_answer(f"{error.kind}: {error.message}\n", status=_status(error))


_STATUSES = {
    ErrorKind.USAGE: "400 Bad Request",
    ErrorKind.RANGE: "400 Bad Request",
    ErrorKind.BUDGET: "413 Content Too Large",
    ErrorKind.BLOCKED: "403 Forbidden",
    ErrorKind.SOURCE: "502 Bad Gateway",
    ErrorKind.IO: "502 Bad Gateway",
}


def _status(error: RefbrowserError) -> str:
    if isinstance(error, NoSuchVariableError):
        return "404 Not Found"
    return _STATUSES.get(error.kind, "500 Internal Server Error")
