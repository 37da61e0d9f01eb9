"""The WSGI application of CDM Remote: what each request is answered with (wire notes, section 6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus, urlsplit

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.wings.ncstream.remote.descriptions import capabilities_xml, ncml_text
from refbrowser.wings.ncstream.remote.spec import NoSuchVariableError
from refbrowser.wings.ncstream.serving.offered_state import Offered
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.wings.ncstream.writing.definition_of import StreamedDataset


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
    held
        Bytes of the body that are in memory until all of it was sent.
    """

    status: str
    content_type: str
    length: int
    body: Iterable[Buffer]
    description: str = ""
    held: int = 0

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


class Body:
    """The body of an answer as WSGI takes it, and what of it is in memory until all was sent."""

    def __init__(self, answer: Answer) -> None:
        self._parts = answer.body
        self.held = answer.held

    def __iter__(self) -> Iterator[bytes]:
        # WSGI takes nothing but bytes.
        return map(bytes, self._parts)


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


_XML = "application/xml; charset=utf-8"
_STREAM = "application/octet-stream"
_REQUESTS = "header, data, CDL, NcML and capabilities"


class Application:
    """Answers the requests for one dataset; called on many threads.

    Parameters
    ----------
    path
        Of the address at which the dataset is offered, percent-encoded; ``/`` is answered too.
    """

    def __init__(self, dataset: Dataset, path: str) -> None:
        self._path = path
        # As WSGI gives it.
        self._decoded = unquote(path, "iso-8859-1").rstrip("/")
        self._offered = Offered(dataset)
        self._token = CancelToken()
        self._url = path
        self._names: Collection[str] | None = ()

    def begin(self, url: str, names: Collection[str] | None) -> None:
        """Answer requests for a URL.

        Parameters
        ----------
        names
            Of this machine, by which it must be called; any when None.
        """
        self._token = CancelToken()
        self._url = url
        self._names = names

    def described(self) -> StreamedDataset:
        """Return what is said of the dataset, and what of it is not as it was."""
        return self._offered.described()

    def offer(self, dataset: Dataset) -> None:
        """Offer another state of the dataset; requests under way are answered from the old one."""
        self._offered = Offered(dataset)

    def end(self) -> None:
        """Cut off all answers."""
        self._token.cancel()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[Any]:
        """Answer a request, as WSGI has it."""
        try:
            answer = self._answer(environ)
        except (RequestError, RefbrowserError) as error:
            answer = error_answer(error)
        except Cancelled:
            answer = error_answer(RequestError("503 Service Unavailable", "the service has ended"))
        start_response(answer.status, answer.headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else Body(answer)

    def _answer(self, environ: dict[str, Any]) -> Answer:
        self._check(environ)
        parameters = _parameters(environ.get("QUERY_STRING", ""))
        wanted = parameters.get("req", "").lower()
        offered = self._offered
        if wanted == "header":
            data = offered.header()
            return Answer("200 OK", _STREAM, len(data), [data], "ncstream")
        if wanted == "data":
            return self._data(offered, parameters)
        if wanted == "cdl":
            return text_answer(offered.dataset.cdl(STREAM_LIMITS.serve_whole, self._token))
        if wanted == "ncml":
            return text_answer(ncml_text(offered.definition(), self._url), _XML)
        if wanted == "capabilities":
            return text_answer(capabilities_xml(offered.definition(), self._url), _XML)
        what = f"there is no request {quoted(wanted)}" if wanted else "the request has no req=..."
        raise RequestError("400 Bad Request", f"{what}; this is CDM Remote, which answers {_REQUESTS}")

    def _check(self, environ: dict[str, Any]) -> None:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            raise RequestError("405 Method Not Allowed", "only GET and HEAD are supported")
        if self._names is not None and _host(environ.get("HTTP_HOST", "")) not in self._names:
            raise RequestError("403 Forbidden", "this service answers only to the name of this machine")
        if environ.get("PATH_INFO", "").rstrip("/") not in ("", self._decoded):
            raise RequestError("404 Not Found", f"only {self._path} exists")

    def _data(self, offered: Offered, parameters: dict[str, str]) -> Answer:
        if not parameters.get("var"):
            raise RequestError("400 Bad Request", "the request has no var=...")
        try:
            level = int(parameters.get("deflate") or 0)
        except ValueError:
            level = -1
        if not 0 <= level <= 9:
            raise RequestError("400 Bad Request", "deflate is a number from 0 to 9")
        length, held, body = offered.data(parameters["var"], level, self._token)
        return Answer("200 OK", _STREAM, length, body, "ncstream", held)


def _parameters(query: str) -> dict[str, str]:
    """Return the parameters of a query; of repeated ones the values are joined as `var` joins names."""
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        try:
            name, value = (unquote_plus(text, errors="strict") for text in (name, value))
        except UnicodeDecodeError:
            raise RequestError("400 Bad Request", "the query is not UTF-8") from None
        name = name.lower()
        found[name] = f"{found[name]};{value}" if name in found else value
    return found


def _host(field: str) -> str | None:
    """Return the name in a field Host, without its port."""
    if not re.fullmatch(r"[A-Za-z0-9.:\[\]_-]{1,255}", field):
        return None
    try:
        return urlsplit(f"//{field}").hostname
    except ValueError:
        return None
