"""A bucket of an object store that is written: whole objects, compared, tried as reads are (safety, 6)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as WaitedTooLongError
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.bucket_calls import (
    BucketCalls,
    ObjectFacts,
    StatusError,
    Upload,
    calls_of,
    is_confirmed,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.limits import LIMITS

#: Objects above this size are sent in parts of it; of larger parts where they would be too many.
PART = 16 * 1024 * 1024
#: Parts of one object: S3 takes 10,000.
_MOST_PARTS = 9_000
#: Keys that are deleted with one request.
_DELETED = 1_000
#: Time for giving up what was begun, in seconds.
_LAST_WORD = 10.0
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Put:
    """An object that was written.

    Attributes
    ----------
    tag
        What the store calls what was written: another write gives another one, or the same bytes.
    is_confirmed
        The store says that it has the bytes that were sent, by their MD5. Else they are to be read again.
    """

    tag: str
    is_confirmed: bool


class ExistsError(RefbrowserError):
    """There is an object where a new one was to be written."""


class Bucket:
    """A bucket, or a container of blobs; safe to use from any thread.

    Parameters
    ----------
    token
        Ends waits and requests.
    """

    def __init__(
        self, origin: Origin, settings: ConnectionSettings, token: CancelToken | None = None
    ) -> None:
        self.origin = origin
        self.token = token or CancelToken()
        self._settings = settings
        #: Whether the store was ever heard of: one that is not there is not waited for as long.
        self._is_known = False

    @cached_property
    def _calls(self) -> BucketCalls:
        return calls_of(self.origin, self._settings)

    def put(self, key: str, portions: Iterable[bytes | memoryview], size: int, *, new: bool = False) -> Put:
        """Write one object: it is there whole, or as it was.

        Parameters
        ----------
        size
            Of all portions together.
        new
            There is none: what another program has written is not replaced.

        Raises
        ------
        ExistsError
            There is one, and `new` is set.
        RefbrowserError
            `E_SOURCE`: it cannot be written, or the portions are not `size` bytes.
        Cancelled
            The token was cancelled.
        """
        # Where parts fit one after another into a few, each is held once.
        part = max(PART, -(-size // _MOST_PARTS))
        parts = _parts(portions, part)
        if size > part:
            return self._put_parts(key, parts, size, new)
        data = b"".join(parts)
        if len(data) != size:
            raise self._changed(key, size)
        digest = hashlib.md5(data, usedforsecurity=False)
        facts = self._new_or_own(
            key,
            digest.hexdigest(),
            lambda: self._tried(key, lambda _: self._calls.put(key, data, digest.digest(), new=new), size),
        )
        return Put(facts.tag, facts.md5 == digest.hexdigest())

    def _put_parts(self, key: str, parts: Iterable[bytes], size: int, new: bool) -> Put:
        calls = self._calls
        upload = self._tried(key, lambda _: calls.begin(key, size, new=new))
        whole = hashlib.md5(usedforsecurity=False)
        try:
            for data in parts:
                if upload.sent + len(data) > size:
                    raise self._changed(key, size)
                self._send(upload, data)
                whole.update(data)
            if upload.sent != size:
                raise self._changed(key, size)
            facts = self._new_or_own(
                key, whole.hexdigest(), lambda: self._tried(key, lambda _: calls.end(upload)), upload
            )
        except BaseException:
            self._give_up(upload)
            raise
        return Put(facts.tag, is_confirmed(upload, facts, whole.hexdigest()))

    def _send(self, upload: Upload, data: bytes) -> None:
        digest = hashlib.md5(data, usedforsecurity=False).digest()
        calls = self._calls
        said = self._tried(
            upload.key,
            lambda number: calls.part(upload, data, digest, again=number > 1),
            len(data),
        )
        upload.parts.append(said)
        upload.digests.append(digest)
        upload.sent += len(data)

    def _new_or_own(
        self, key: str, digest: str, write: Callable[[], ObjectFacts], upload: Upload | None = None
    ) -> ObjectFacts:
        """Write; where an answer was lost and another try finds the object there, it may be our own."""
        try:
            return write()
        except (ExistsError, AbsentError):
            with contextlib.suppress(RefbrowserError):
                facts = self.head(key)
                if facts.md5 == digest or (upload is not None and is_confirmed(upload, facts, digest)):
                    return facts
            raise

    def _give_up(self, upload: Upload) -> None:
        with contextlib.suppress(Exception):
            self._future(self._calls.abandon(upload)).result(_LAST_WORD)

    def give_up(self, prefix: str) -> None:
        """Give up what interrupted programs were sending below a prefix, where the store tells of it."""
        for upload in self._tried(prefix, lambda _: self._calls.abandoned(prefix)):
            self._give_up(upload)

    def read(self, key: str, start: int, stop: int) -> bytes:
        """Return bytes of an object.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: it cannot be read (`AbsentError`: there is none), or is shorter.
        Cancelled
            The token was cancelled.
        """
        if stop <= start:
            return b""

        async def whole(_: int) -> bytes:
            data = await self._calls.get(key, start, stop)
            if len(data) != stop - start:
                raise ConnectionError(f"{stop - start} bytes were asked for, {len(data)} came")
            return data

        return self._tried(key, whole, stop - start, to="read")

    def head(self, key: str) -> ObjectFacts:
        """Return what the store says of an object.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the store cannot be asked; `AbsentError`: there is none.
        """
        return self._tried(key, lambda _: self._calls.head(key), to="read")

    def objects(self, prefix: str) -> Iterator[ObjectFacts]:
        """Yield the objects whose keys begin with a prefix.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the store cannot be asked; `E_BUDGET`: they are too many.
        """
        after, count = "", 0
        while True:
            found, after = self._tried(prefix, partial(self._page, prefix, after), to="list")
            yield from found
            count += len(found)
            if count > LIMITS.target_objects:
                message = f"more than {LIMITS.target_objects} objects are there (target_objects)"
                raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=self.url(prefix)))
            if not after:
                return

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; what is not there is no matter.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: one cannot be deleted.
        """
        gone = list(keys)
        for start in range(0, len(gone), _DELETED):
            some = gone[start : start + _DELETED]
            self._tried(some[0], partial(self._delete, some), to="delete")

    async def _page(self, prefix: str, after: str, number: int) -> tuple[list[ObjectFacts], str]:
        return await self._calls.page(prefix, after)

    async def _delete(self, keys: list[str], number: int) -> None:
        await self._calls.delete(keys)

    def url(self, key: str) -> str:
        """Return the URL of an object."""
        return f"{self.origin}/{key}"

    # Tries

    def _future(self, call: Coroutine[Any, Any, Answer]) -> Any:
        return asyncio.run_coroutine_threadsafe(call, self._calls.loop)

    def _tried(
        self,
        key: str,
        call: Callable[[int], Coroutine[Any, Any, Answer]],
        size: int = 0,
        *,
        to: str = "write",
    ) -> Answer:
        """Make a request, with the number of the try, until it succeeds or may not be made again."""
        end = time.monotonic() + LIMITS.http_total_export + size / LIMITS.http_total_rate
        number = 0
        while True:
            number += 1
            try:
                return self._once(call(number), end)
            except Exception as error:
                self.token.check()
                if isinstance(error, RefbrowserError):
                    raise
                again, after = _judged(error)
                self._is_known |= _status(error) is not None
                most = LIMITS.http_tries_export if self._is_known else LIMITS.http_tries
                wait = self._wait(number, after)
                late = time.monotonic() + wait > end
                if not again or number >= most or late or wait > LIMITS.http_retry_after:
                    raise self._failed(key, error, number, to) from error
                if self.token.wait(wait):
                    self.token.check()

    def _once(self, call: Coroutine[Any, Any, Answer], end: float) -> Answer:
        future = self._future(call)
        forget = self.token.on_cancel(future.cancel)
        try:
            answer: Answer = future.result(max(0.0, end - time.monotonic()))
        except CancelledError:
            self.token.check()
            raise ConnectionError("the request was ended") from None
        except WaitedTooLongError:
            future.cancel()
            raise TimeoutError("no answer in time") from None
        finally:
            forget()
        self._is_known = True
        return answer

    @staticmethod
    def _wait(number: int, after: float | None) -> float:
        longest = min(LIMITS.http_wait_start * 2 ** (number - 1), LIMITS.http_wait_most)
        return max(after or 0.0, random.uniform(longest / 2, longest))

    def _failed(self, key: str, error: Exception, number: int, to: str) -> RefbrowserError:
        place, status = Place(url=self.url(key)), _status(error)
        tries = f" (after {number} tries)" if number > 1 else ""
        said = quoted(str(error) or type(error).__name__)
        if status == 412 or (status == 409 and _code(error) == "BlobAlreadyExists"):
            return ExistsError(ErrorKind.IO, "there is such an object already", place)
        if status == 404:
            what = "no such bucket" if _code(error) in ("NoSuchBucket", "ContainerNotFound") else ""
            return AbsentError(ErrorKind.SOURCE, f"there is {what or 'no such object'}", place)
        if status in (401, 403) or type(error).__name__ in ("NoCredentialsError", "PermissionError"):
            advice = (
                f"give --storage-option {self.origin}:anonymous=false to send the credentials of this "
                f"computer, or {self.origin}:profile=NAME"
                if self._settings.anonymous
                else ""
            )
            return RefbrowserError(
                ErrorKind.SOURCE, f"the store refuses to {to}: {said}{tries}", place, advice
            )
        return RefbrowserError(ErrorKind.SOURCE, f"the store cannot {to}: {said}{tries}", place)

    def _changed(self, key: str, size: int) -> RefbrowserError:
        message = f"the object has not the {size} bytes that it had before"
        return RefbrowserError(ErrorKind.SOURCE, message, Place(url=self.url(key)))


def _parts(portions: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """Yield the bytes of portions in parts of a size, the last one shorter."""
    waiting = bytearray()
    for portion in portions:
        left = memoryview(portion).cast("B")
        while left:
            taken = left[: size - len(waiting)]
            waiting += taken
            left = left[len(taken) :]
            if len(waiting) == size:
                yield bytes(waiting)
                waiting.clear()
    if waiting:
        yield bytes(waiting)


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
    return str(getattr(code, "value", code))


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


def _judged(error: Exception) -> tuple[bool, float | None]:
    """Tell whether a request may be made again, and what the store says when."""
    status = _status(error)
    if status is not None:
        headers = _response(error).get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if not headers:
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
        after = getattr(error, "after", None)
        if isinstance(error, StatusError) is False:
            after = _number(headers.get("retry-after") or headers.get("Retry-After"))
        conflict = status == 409 and _code(error) not in ("ConditionalRequestConflict", "OperationAborted")
        again = (status in _AGAIN and not conflict) or _code(error) in ("BadDigest", "Md5Mismatch")
        return again, after
    names = {kind.__name__ for kind in type(error).__mro__}
    is_broken = isinstance(error, ConnectionError | TimeoutError | asyncio.TimeoutError)
    return is_broken or bool(names & _BROKEN), None


def _number(text: Any) -> float | None:
    try:
        return None if text is None else float(text)
    except (TypeError, ValueError):
        return None
