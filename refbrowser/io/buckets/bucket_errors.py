"""What clients of object stores raise, told apart: what may be tried again, what is absent or forbidden."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, RefusedError, quoted
from refbrowser.io.origins import ConnectionSettings, Origin

#: Statuses after which the same request may succeed; 409 where the code says so.
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
#: Statuses by which a store asks for fewer requests.
_THROTTLING = frozenset({429, 503})
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound"})


class StatusError(Exception):
    """An answer that is no success.

    Attributes
    ----------
    after
        What ``Retry-After`` says, in seconds.
    """

    def __init__(self, status: int, message: str, after: float | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.after = after
        self.error_code = code


class ExistsError(RefbrowserError):
    """There is an object where a new one was to be written."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one request failed.

    Attributes
    ----------
    status
        Of the answer; None where there was none.
    code
        The store's own word for it; may be empty.
    retry
        The same request may succeed.
    after
        Seconds that the store asks to wait.
    said
        What the client or the store says, in one line.
    refused
        The credentials, or that there are none, are the reason.
    """

    status: int | None
    code: str
    retry: bool
    after: float | None
    said: str
    refused: bool

    @property
    def throttles(self) -> bool:
        """Whether the store asks for fewer requests."""
        return self.status in _THROTTLING

    def error(
        self, to: str, url: str, origin: Origin, settings: ConnectionSettings, tries: int = 1
    ) -> RefbrowserError:
        """Return what the user is told: `to` is what the store was asked to do, as ``read``."""
        place, again = Place(url=url), f" (after {tries} tries)" if tries > 1 else ""
        if self.status == 412 or (self.status == 409 and self.code == "BlobAlreadyExists"):
            return ExistsError(ErrorKind.IO, "the object exists already", place)
        if self.status == 404 and self.code in _NO_BUCKET:
            # Of its objects nothing is known: they are not missing.
            return RefbrowserError(ErrorKind.SOURCE, f"bucket {origin} does not exist", place)
        if self.status in (404, 410):
            return AbsentError(ErrorKind.SOURCE, "the object does not exist", place)
        if self.refused:
            advice = (
                f"give --storage-option {origin}:anonymous=false to send the credentials of this "
                f"computer, or {origin}:profile=NAME"
                if settings.anonymous
                else ""
            )
            return RefusedError(
                ErrorKind.SOURCE, f"the store refuses to {to}: {self.said}{again}", place, advice
            )
        if self.status == 416:
            return RefbrowserError(ErrorKind.RANGE, "the range does not exist (status 416)", place)
        return RefbrowserError(ErrorKind.SOURCE, f"the store cannot {to}: {self.said}{again}", place)


def failure_of(error: Exception) -> Failure:
    """Return what an exception of a client tells."""
    names = {kind.__name__ for kind in type(error).__mro__}
    # aiohttp calls it a 400 where the answer is not HTTP.
    status = _status(error) if names.isdisjoint(_NO_HTTP) else None
    code = _code(error)
    if status is None:
        is_broken = isinstance(error, ConnectionError | TimeoutError | asyncio.TimeoutError)
        retry, after = is_broken or bool(names & (_BROKEN | _NO_HTTP)), None
    else:
        conflict = status == 409 and code not in ("ConditionalRequestConflict", "OperationAborted")
        retry = (status in _AGAIN and not conflict) or code in ("BadDigest", "Md5Mismatch")
        after = _after(error)
    refused = status in (401, 403) or not names.isdisjoint(_REFUSED)
    lines = str(error).splitlines() or [""]
    said = lines[0] if lines[0].strip() else type(error).__name__
    return Failure(status, code, retry, after, quoted(said), refused)


def _response(error: BaseException) -> dict[str, Any]:
    """Return the answer that an error of botocore carries."""
    found = getattr(error, "response", None)
    return found if isinstance(found, dict) else {}


def _status(error: BaseException) -> int | None:
    """Return the status of the answer that a client made an error of."""
    known = _response(error).get("ResponseMetadata", {}).get("HTTPStatusCode")
    for found in (known, getattr(error, "status", None), getattr(error, "status_code", None)):
        if isinstance(found, int):
            return found
    return None


def _code(error: BaseException) -> str:
    code = _response(error).get("Error", {}).get("Code") or getattr(error, "error_code", "")
    return str(getattr(code, "value", code) or "")


def _after(error: Exception) -> float | None:
    if isinstance(error, StatusError):
        return error.after
    headers = _response(error).get("ResponseMetadata", {}).get("HTTPHeaders", {})
    if not headers:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return seconds(headers.get("retry-after") or headers.get("Retry-After"))


def seconds(text: str | None) -> float | None:
    """Return a number of seconds in a header, where it is one."""
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


_NO_HTTP = frozenset(("ClientResponseError", "HttpProcessingError"))
#: What clients raise where no answer came, beside the errors of Python; none is imported for it.
_BROKEN = frozenset(
    (
        "ClientConnectionError",
        "ClientOSError",
        "ClientPayloadError",
        "ServerDisconnectedError",
        "ServerTimeoutError",
        "HTTPClientError",
        "ConnectionClosedError",
        "EndpointConnectionError",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ResponseStreamingError",
        "IncompleteReadError",
        "ResponseParserError",
        "ServiceRequestError",
        "ServiceResponseError",
        "IncompleteRead",
        "ChecksumError",
        "FlexibleChecksumError",
    )
)
_REFUSED = frozenset(
    (
        "NoCredentialsError",
        "PartialCredentialsError",
        "CredentialRetrievalError",
        "PermissionError",
        "DefaultCredentialsError",
        "RefreshError",
        "ClientAuthenticationError",
    )
)
