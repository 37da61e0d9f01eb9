"""A bucket of an object store that is written: whole objects, compared, tried as reads are (safety, 6)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import random
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as WaitedTooLongError
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.buckets.bucket_calls import (
    BucketCalls,
    Coming,
    ObjectFacts,
    Upload,
    calls_of,
    is_confirmed,
)
from refbrowser.io.buckets.bucket_errors import ExistsError, failure_of
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
#: Who waits for a turn looks so often, in seconds, whether there is one.
_LOOK = 0.05

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


class Turns:
    """How many requests a bucket gets at once, and since when: few after it asked for fewer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._most: float = math.inf
        self._quiet_until = 0.0

    def throttle(self, after: float | None) -> None:
        """Make few requests at once from now on, and none for as long as the store asks, up to a minute."""
        with self._lock:
            self._most = LIMITS.connections_throttled
            if after is not None and after <= LIMITS.http_retry_after:
                # It was said to one request, but it is meant for all of them.
                self._quiet_until = max(self._quiet_until, time.monotonic() + after)

    @contextlib.contextmanager
    def one(self, wait: Callable[[float], bool]) -> Iterator[float | None]:
        """Let one request be made when it may be: gives the seconds until then.

        Parameters
        ----------
        wait
            Waits some seconds; where it is false nobody waits any more, and None is given.
        """
        waited = self._begin(wait)
        try:
            yield waited
        finally:
            if waited is not None:
                with self._lock:
                    self._under_way -= 1

    def _begin(self, wait: Callable[[float], bool]) -> float | None:
        began = time.monotonic()
        while True:
            with self._lock:
                now = time.monotonic()
                left = self._quiet_until - now
                if left <= 0 and self._under_way < self._most:
                    self._under_way += 1
                    return now - began
            if not wait(max(left, _LOOK)):
                return None


class Bucket:
    """A bucket, or a container of blobs; safe to use from any thread.

    Parameters
    ----------
    token
        Ends waits and requests.
    export
        Try longer than one who waits for an answer would.
    """

    def __init__(
        self,
        origin: Origin,
        settings: ConnectionSettings,
        token: CancelToken | None = None,
        *,
        export: bool = True,
    ) -> None:
        self.origin = origin
        self._tries = LIMITS.http_tries_export if export else LIMITS.http_tries
        self._total = LIMITS.http_total_export if export else LIMITS.http_total
        self.token = token or CancelToken()
        self.settings = settings
        self._turns = Turns()
        #: Whether the store was ever heard of: one that is not there is not waited for as long.
        self._is_known = False

    @cached_property
    def _calls(self) -> BucketCalls:
        return calls_of(self.origin, self.settings)

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
        """
        if stop <= start:
            return b""

        async def whole(_: int) -> bytes:
            got = await self._calls.get(key, start, stop, Coming())
            if len(got.data) != stop - start or got.start != start:
                raise ConnectionError(f"{stop - start} bytes were requested, {len(got.data)} arrived")
            return got.data

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
                message = f"there are more than {LIMITS.target_objects} objects (target_objects)"
                raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=self.url(prefix)))
            if not after:
                return

    def names(self, prefix: str, most: int) -> tuple[list[str], list[str], int]:
        """Return folders and objects right below a prefix, sorted, and how many of `most` names are left.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the store cannot be asked; what is not there has no names.
        """
        after, folders, files = "", dict[str, None](), dict[str, None]()
        while True:
            some, others, after = self._tried(prefix, partial(self._names, prefix, after), to="list")
            folders.update(dict.fromkeys(some))
            files.update(dict.fromkeys(others))
            count = len(folders) + len(files)
            if not after or count >= most:
                kept = sorted(folders)[: max(most, 0)]
                return kept, sorted(files)[: max(most - len(kept), 0)], most - count

    def copy(self, source: str, key: str, size: int) -> ObjectFacts:
        """Copy an object to another key, within the store: it is there whole, or as it was.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: it cannot be copied, or the copy is another one.
        """
        facts = self._tried(key, lambda _: self._calls.copy(source, key, size), size, to="copy")
        if facts.size != size:
            raise self._changed(source, size)
        return facts

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

    async def _names(self, prefix: str, after: str, number: int) -> tuple[list[str], list[str], str]:
        return await self._calls.names(prefix, after)

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
        end = time.monotonic() + self._total + size / LIMITS.http_total_rate
        number = 0
        while True:
            number += 1
            try:
                with self._turns.one(lambda seconds: not self.token.wait(seconds)) as waited:
                    self.token.check()
                    end += waited or 0.0
                    return self._once(call(number), end)
            except Exception as error:
                self.token.check()
                if isinstance(error, RefbrowserError):
                    raise
                failure = failure_of(error)
                if failure.throttles:
                    self._turns.throttle(failure.after)
                self._is_known |= failure.status is not None
                most = self._tries if self._is_known else LIMITS.http_tries
                wait = wait_before(number, failure.after)
                late = time.monotonic() + wait > end or wait > LIMITS.http_retry_after
                if not failure.retry or number >= most or late:
                    raise failure.error(to, self.url(key), self.origin, self.settings, number) from error
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

    def _changed(self, key: str, size: int) -> RefbrowserError:
        message = f"the object has not the {size} bytes that it had before"
        return RefbrowserError(ErrorKind.SOURCE, message, Place(url=self.url(key)))


def wait_before(number: int, after: float | None) -> float:
    """Return the seconds between a try and the next one: what the store asks for, or longer each time."""
    longest = min(LIMITS.http_wait_start * 2 ** (number - 1), LIMITS.http_wait_most)
    return max(after or 0.0, random.uniform(longest / 2, longest))


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
