"""Where long work runs: in threads of this process, in processes of this machine, or on a Dask cluster.

A `Compute` says where, as a value; opened, it is an `Executor`, to which functions and items are given. What
is sent away is pickled, so functions are those of modules, and items are plain values. Dask is imported where
it is asked for, and nowhere else.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.workers.peers import SAME, check_versions, versions_here
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import to_install

if TYPE_CHECKING:
    import concurrent.futures

    import distributed

    from refbrowser.engine.workers.processes import Processes

Item = TypeVar("Item")
Answer = TypeVar("Answer")

#: Threads of this process that work at once: while one waits for bytes, others decode and write.
THREADS = 4
#: Items that are given away at once, for each thread that works on them: one is worked on, others wait.
AHEAD = 3
#: Items that are given away at once, however many threads there are.
MOST_AHEAD = 4096
#: Processes that ``local:N`` starts at most.
MOST_PROCESSES = 1024
#: A scheduler has this long to answer, and then to have its first worker, in seconds.
CONNECTING, FIRST_WORKER = 10.0, 12.0
#: Work that waits, and of which nothing ended for so long, has workers no more if there are none then.
WORKERLESS = 20.0
#: How long processes of this machine have to end work that nobody wants any more, in seconds.
PATIENCE = 0.5
#: How often it is looked whether work was cancelled, and whether there are workers, in seconds.
LOOK, LOOK_AFTER_WORKERS = 0.1, 2.0
#: What is shared is given with each item up to this size; above it, workers read it from a file.
INLINE = 64 * 1024
_PORT = 8786
_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?/?")
_LOCAL = re.compile(r"local(?::([0-9]{1,9}))?")
_FILES = "give --dask-tls-ca, --dask-tls-cert and --dask-tls-key"


@dataclass(frozen=True, slots=True)
class ComputeStatus:
    """Who works, at one moment.

    Attributes
    ----------
    workers, threads
        Processes, and threads of them all; this process and its threads where no other works. 0 where an
        executor does not tell.
    memory, memory_limit
        Bytes that the workers use, and may use; None where that is not known.
    dashboard
        Link to the scheduler's page, None where there is none.
    """

    workers: int
    threads: int
    memory: int | None = None
    memory_limit: int | None = None
    dashboard: str | None = None


class Executor(Protocol):
    """What runs functions; may be used from any thread while it is open.

    Attributes
    ----------
    is_apart
        Whether what it runs is in other processes, as far as can be told.
    """

    is_apart: bool

    def run(
        self, function: Callable[[Item], Answer], items: Iterable[Item], token: CancelToken
    ) -> Generator[tuple[Item, Answer | BaseException], None, None]:
        """Run a function for each item; yields each with its answer or error, in the order in which they end.

        Few items are under way at once. What is not under way yet when the iterator is closed is not begun.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: there is nobody left to run it.
        """
        ...

    def share(self, data: bytes) -> Any:
        """Return what stands for bytes in items, so that they go to each worker once: see `shared`."""
        ...

    def status(self) -> ComputeStatus:
        """Return who works now.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the scheduler does not answer any more.
        """
        ...

    def versions(self) -> Mapping[str, Mapping[str, str]]:
        """Return what is installed where the functions run, by worker; empty where nobody tells."""
        ...


@dataclass(frozen=True, slots=True)
class Compute:
    """Where long work runs.

    Attributes
    ----------
    address
        Empty: threads of this process. ``local`` or ``local:N``: N processes of this machine. ``tcp://…`` or
        ``tls://…``: a Dask scheduler.
    ca, cert, key
        Files for ``tls://``; what Dask's own settings say where they are empty.
    given
        A `distributed.Client` or a `concurrent.futures.Executor`, which is left open; then the rest is empty.
    """

    address: str = ""
    ca: str = ""
    cert: str = ""
    key: str = ""
    given: Any = None

    @classmethod
    def parse(cls, text: str, *, ca: str = "", cert: str = "", key: str = "") -> Compute:
        """Return where work runs from what a user wrote; empty text is this process.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is neither ``local[:N]`` nor the address of a scheduler, or files for TLS are given
            where none is spoken.
        """
        text = text.strip()
        if (local := _LOCAL.fullmatch(text)) is not None:
            count = local[1]
            if count is not None and not 1 <= int(count) <= MOST_PROCESSES:
                raise RefbrowserError(
                    ErrorKind.USAGE, f"{quoted(text)}: there can be 1 to {MOST_PROCESSES} processes"
                )
            address = text if count is None else f"local:{int(count)}"
        elif (found := _ADDRESS.fullmatch(text)) is not None:
            port = int(found[3] or _PORT)
            if not 0 < port < 1 << 16:
                raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)}: this is not a port number")
            address = f"{found[1]}://{found[2]}:{port}"
        elif text:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{quoted(text)} is neither local, local:N, tcp://HOST:PORT nor tls://HOST:PORT",
                advice="a Dask scheduler prints its address when it starts",
            )
        else:
            address = ""
        if (ca or cert or key) and not address.startswith("tls:"):
            raise RefbrowserError(ErrorKind.USAGE, "files for TLS are for an address tls://HOST:PORT")
        return cls(address, ca, cert, key)

    @classmethod
    def of(cls, client: Any) -> Compute:
        """Return where work runs from what a program gives: text as `parse` takes it, a client, an executor.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none of these.
        """
        if client is None or isinstance(client, str):
            return cls.parse(client or "")
        if isinstance(client, Compute):
            return client
        if not callable(getattr(client, "submit", None)) or getattr(client, "asynchronous", False):
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{quoted(type(client).__name__)} is neither a distributed.Client (one that is not "
                "asynchronous) nor a concurrent.futures.Executor",
            )
        return cls(given=client)

    @property
    def is_here(self) -> bool:
        """Whether it is this process."""
        return self.given is None and not self.address

    @property
    def processes(self) -> int:
        """How many processes of this machine are started; 0 where none are."""
        found = _LOCAL.fullmatch(self.address)
        return 0 if found is None else int(found[1] or os.cpu_count() or 1)

    def __str__(self) -> str:
        if self.given is not None:
            return f"the {type(self.given).__name__} that was given"
        return self.address or "this process"

    @contextmanager
    def open(self, token: CancelToken | None = None) -> Iterator[Executor]:
        """Give what runs functions there; what was started for it ends with it.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the scheduler does not answer, or has no workers. `E_USAGE`: Dask is not installed, or
            the files for TLS cannot be used.
        """
        with ExitStack() as stack:
            if self.given is not None:
                cluster = hasattr(self.given, "scheduler_info")
                yield (_Cluster(self.given, str(self), token) if cluster else _Given(self.given, stack))
            elif self.is_here:
                yield _Threads(stack)
            elif self.processes:
                yield _Local(self.processes, stack)
            else:
                yield _Cluster(stack.enter_context(self._client()), str(self), token)

    @contextmanager
    def _client(self) -> Iterator[distributed.Client]:
        """Connect to the scheduler."""
        try:
            # Looking through what hundreds of modules leave takes longer than a window may stand still.
            with collected_later():
                import distributed
        except ImportError as error:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"Dask is not installed, which {quoted(self.address)} needs",
                advice=to_install("refbrowser[dask]"),
            ) from error

        with ExitStack() as stack:
            stack.enter_context(_quiet())
            security = self._security(distributed.Security) if self.address.startswith("tls:") else None
            try:
                client = distributed.Client(
                    self.address, timeout=CONNECTING, security=security, set_as_default=False
                )
            except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
                raise RefbrowserError(
                    ErrorKind.SOURCE,
                    f"no scheduler answered at {quoted(self.address)} within {CONNECTING:.0f} s"
                    f"{_cause(error)}",
                    advice="start one with: dask scheduler",
                ) from error
            # Leaving it closes it, with the patience that is given here: its scheduler may be gone.
            stack.callback(client.close, timeout=2)
            yield client

    def _security(self, security: Any) -> Any:
        """Return the files of TLS, looked at: what is not said here is in Dask's own settings."""
        files = {"tls_ca_file": self.ca, "tls_client_cert": self.cert, "tls_client_key": self.key}
        found = security(require_encryption=True, **{name: path for name, path in files.items() if path})
        for name, what in zip(files, ("authority", "certificate", "key"), strict=True):
            path = getattr(found, name)
            if not path:
                message = f"{quoted(self.address)} needs a file of the {what} for TLS"
                raise RefbrowserError(ErrorKind.USAGE, message, advice=_FILES)
            if not os.path.isfile(path):
                raise RefbrowserError(ErrorKind.IO, "there is no such file", Place(path=path))
        try:
            found.get_connection_args("client")
        except OSError as error:  # those of SSL are of its kind
            why = f"the files for TLS cannot be used{_cause(error)}"
            raise RefbrowserError(ErrorKind.USAGE, why, Place(path=found.tls_client_cert)) from error
        return found


def _cause(error: BaseException) -> str:
    """Return the words of what is at the bottom of an error, where they tell more than that it took long."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return f": {quoted(text)}" if text and "imed out" not in text else ""


#: Threads of this process.
HERE = Compute()


@contextmanager
def _quiet() -> Iterator[None]:
    """Let what Dask logs of workers that come and go not be mixed with what we tell."""
    import logging

    loggers = [logging.getLogger(name) for name in ("distributed", "tornado.application")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def check_workers(executor: Executor) -> None:
    """Raise `E_SOURCE` where a worker has other versions than this program, as far as that is told."""
    versions = executor.versions()
    here = versions_here() if versions else {}
    for worker, found in versions.items():
        check_versions(f"worker {quoted(worker)}", found, here)


# ---- What is the same for all


class _Futures:
    """Runs functions by futures, those of Python or of Dask."""

    is_apart = True

    def run(
        self, function: Callable[[Item], Answer], items: Iterable[Item], token: CancelToken
    ) -> Generator[tuple[Item, Answer | BaseException], None, None]:
        """Run a function for each item, a bounded number at once."""
        from queue import Empty, SimpleQueue

        waiting, running = enumerate(items), dict[int, tuple[Item, Any]]()
        ended: SimpleQueue[int] = SimpleQueue()
        looked = quiet_since = time.monotonic()
        try:
            while True:
                token.check()
                for number, item in islice(waiting, max(0, self.ahead() - len(running))):
                    future = self.submit(function, item)
                    running[number] = item, future
                    future.add_done_callback(lambda _, number=number: ended.put(number))
                if not running:
                    return
                try:
                    number = ended.get(timeout=LOOK)
                except Empty:
                    now = time.monotonic()
                    if now - looked > LOOK_AFTER_WORKERS:
                        looked = now
                        self.look(now - quiet_since)
                    continue
                item, future = running.pop(number)
                quiet_since = time.monotonic()
                yield item, self.answer(future)
        finally:
            self.leave([future for _, future in running.values()])

    def submit(self, function: Callable[[Any], Any], item: Any) -> Any:
        """Give an item away."""
        raise NotImplementedError

    def answer(self, future: Any) -> Any:
        """Return what an ended future gives: a value, or an error."""
        raise NotImplementedError

    def ahead(self) -> int:
        """Return how many items are given away at once."""
        raise NotImplementedError

    def look(self, quiet: float) -> None:
        """Raise where nobody is left to work; nothing has ended for so many seconds."""

    def leave(self, futures: list[Any]) -> None:
        """Take back what can be; wait for the rest where it works on with what the caller gives up."""


class _Pool(_Futures):
    """Futures of Python."""

    pool: concurrent.futures.Executor

    def submit(self, function: Callable[[Any], Any], item: Any) -> Any:
        """Give an item away."""
        from concurrent.futures import BrokenExecutor

        try:
            return self.pool.submit(function, item)
        except BrokenExecutor as error:
            raise _ended("a worker process", error) from error
        except RuntimeError as error:
            raise _ended("the executor that was given", error) from error

    def answer(self, future: Any) -> Any:
        """Return what an ended future gives."""
        from concurrent.futures import BrokenExecutor, CancelledError

        try:
            return future.result()
        except BrokenExecutor as error:
            return _ended("a worker process", error)
        except CancelledError as error:
            return _ended("the executor that was given", error)
        except Exception as error:  # noqa: BLE001 - whatever a task raised is its outcome
            return error

    def ahead(self) -> int:
        """Return how many items are given away at once."""
        return min(AHEAD * (self.status().threads or THREADS), MOST_AHEAD)

    def leave(self, futures: list[Any]) -> None:
        """Take back what is not begun, and wait for the rest: it writes to what the caller gives up."""
        from concurrent.futures import wait

        for future in futures:
            future.cancel()
        wait(futures)

    def status(self) -> ComputeStatus:
        """Return who works now."""
        raise NotImplementedError

    def versions(self) -> Mapping[str, Mapping[str, str]]:
        """Nobody tells beforehand."""
        return {}


def _ended(who: str, error: BaseException) -> RefbrowserError:
    why = f"{who} ended while it worked{_cause(error)}"
    found = RefbrowserError(
        ErrorKind.SOURCE, why, advice="finished work is kept: --resume continues from here"
    )
    found.__cause__ = error
    return found


class _Threads(_Pool):
    """Threads of this process; functions and items are passed as they are."""

    is_apart = False

    def __init__(self, stack: ExitStack) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.pool = stack.enter_context(ThreadPoolExecutor(THREADS, "compute"))

    def ahead(self) -> int:
        """Return how many items are given away at once: none has to wait."""
        return THREADS

    def share(self, data: bytes) -> Any:
        """Return the bytes."""
        return data

    def status(self) -> ComputeStatus:
        """Return who works now."""
        return ComputeStatus(1, THREADS)


class _Given(_Pool):
    """An executor of Python that a program gave."""

    def __init__(self, pool: concurrent.futures.Executor, stack: ExitStack) -> None:
        self.pool = pool
        self._stack = stack

    def share(self, data: bytes) -> Any:
        """Return the bytes, or a file of them."""
        if len(data) <= INLINE:
            return data
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="refbrowser-shared-")
        path = os.path.join(self._stack.enter_context(folder), "shared")
        with open(path, "xb") as stream:
            stream.write(data)
        return _SharedFile(path, hashlib.sha256(data).hexdigest())

    def status(self) -> ComputeStatus:
        """Return who works now, as far as the executor tells."""
        count = int(getattr(self.pool, "_max_workers", 0))
        return ComputeStatus(count, count)


class _Local(_Given):
    """Processes of this machine, which nobody else can reach: no port is opened for them."""

    pool: Processes

    def __init__(self, count: int, stack: ExitStack) -> None:
        from refbrowser.engine.workers.processes import Processes

        super().__init__(Processes(count), stack)
        stack.callback(self.pool.shutdown)

    def leave(self, futures: list[Any]) -> None:
        """End all processes where one does not end its work by itself soon: nobody wants it any more."""
        from concurrent.futures import wait

        for future in futures:
            future.cancel()
        if wait(futures, PATIENCE).not_done:
            self.pool.kill()

    def status(self) -> ComputeStatus:
        """Return who works now."""
        return replace(super().status(), memory=self.pool.memory())


@dataclass(frozen=True, slots=True)
class _SharedFile:
    path: str
    digest: str


def shared(data: Any) -> bytes:
    """Return the bytes that what `Executor.share` gave stands for; called where they are needed.

    Raises
    ------
    RefbrowserError
        `E_SOURCE`: they cannot be had there.
    """
    if isinstance(data, bytes):
        return data
    assert isinstance(data, _SharedFile)
    try:
        with open(data.path, "rb") as stream:
            found = stream.read()
    except OSError as error:
        why = f"a worker cannot read what the program shares with it: {error.strerror or error}"
        raise RefbrowserError(ErrorKind.SOURCE, why, Place(path=data.path)) from error
    if hashlib.sha256(found).hexdigest() != data.digest:
        message = "a worker did not read what the program shares with it"
        raise RefbrowserError(ErrorKind.SOURCE, message, Place(path=data.path))
    return found


# ---- Dask


class _Cluster(_Futures):
    """A Dask cluster."""

    def __init__(self, client: distributed.Client, name: str, token: CancelToken | None) -> None:
        self.client = client
        self.name = name
        self._ahead = 0
        self._counted = -LOOK_AFTER_WORKERS
        self._shared: list[Any] = []
        end = time.monotonic() + FIRST_WORKER
        while not self.status().workers:
            if time.monotonic() > end:
                raise RefbrowserError(
                    ErrorKind.SOURCE,
                    f"the scheduler {quoted(name)} has no workers; waited {FIRST_WORKER:.0f} s for one",
                    advice="start some with: dask worker ADDRESS",
                )
            if token is not None:
                token.check()
            time.sleep(LOOK)

    def share(self, data: bytes) -> Any:
        """Return a future of the bytes.

        A task makes it, and the scheduler keeps that: of scattered data nothing is left where the worker dies
        that has it, and what depends on it is given up.
        """
        key = f"refbrowser-shared-{hashlib.sha256(data).hexdigest()}"
        with warnings.catch_warnings():
            # That it is large is known: it goes once.
            warnings.simplefilter("ignore", UserWarning)
            future = self.client.submit(_same, data, key=key)
        self._shared.append(future)
        return future

    def submit(self, function: Callable[[Any], Any], item: Any) -> Any:
        """Give an item away; futures in it are given as what they stand for."""
        try:
            return _Sent(self.client, self.client.submit(function, item, pure=False))
        except Exception as error:  # Of its loop, or its connection.
            raise self._gone(error) from error

    def answer(self, future: Any) -> Any:
        """Return what an ended future gives."""
        error = future.error
        if error is None:
            return future.value
        if future.of_dask.status != "error":
            return self._gone(error)
        if type(error).__name__ == "KilledWorker":
            return RefbrowserError(
                ErrorKind.SOURCE,
                f"workers of {quoted(self.name)} died repeatedly on the same task",
                advice="they may need more memory; --resume continues from here",
            )
        if isinstance(error, ImportError):
            why = f"a worker of {quoted(self.name)} cannot run refbrowser{_cause(error)}"
            return RefbrowserError(ErrorKind.SOURCE, why, advice=SAME)
        return error

    def leave(self, futures: list[Any]) -> None:
        """Take back everything: what is under way looks whether it is still wanted."""
        with suppress(Exception):  # of its loop, or its connection
            self.client.cancel([future.of_dask for future in futures])

    def ahead(self) -> int:
        """Return how many items are given away at once, for those who work now."""
        now = time.monotonic()
        if now - self._counted > LOOK_AFTER_WORKERS:
            self._ahead, self._counted = min(AHEAD * max(1, self.status().threads), MOST_AHEAD), now
        return self._ahead

    def look(self, quiet: float) -> None:
        """Raise where the scheduler is gone, or nothing ends and there are no workers."""
        if not self.status().workers and quiet > WORKERLESS:
            raise RefbrowserError(
                ErrorKind.SOURCE,
                f"the scheduler {quoted(self.name)} has had no workers for {WORKERLESS:.0f} s",
                advice="finished work is kept: --resume continues from here",
            )

    def status(self) -> ComputeStatus:
        """Return who works now."""
        try:
            # Some versions tell of five workers only, unless told otherwise.
            found: Any = self.client.scheduler_info(n_workers=-1)
            workers = list(found["workers"].values())
            dashboard = self.client.dashboard_link if found.get("services", {}).get("dashboard") else None
        except Exception as error:  # of Dask, its transport or its loop
            raise self._gone(error) from error
        return ComputeStatus(
            workers=len(workers),
            threads=sum(int(each.get("nthreads", 0)) for each in workers),
            memory=sum(int(each.get("metrics", {}).get("memory", 0)) for each in workers),
            memory_limit=sum(int(each.get("memory_limit") or 0) for each in workers) or None,
            dashboard=dashboard or None,
        )

    def versions(self) -> Mapping[str, Mapping[str, str]]:
        """Return what is installed on each worker; one that cannot tell has nothing."""
        found = self.client.run(versions_here, on_error="return")
        return {name: {} if isinstance(each, BaseException) else each for name, each in found.items()}

    def _gone(self, error: BaseException | None) -> RefbrowserError:
        return RefbrowserError(
            ErrorKind.SOURCE,
            f"the scheduler {quoted(self.name)} does not answer any more{_cause(error) if error else ''}",
            advice="finished work is kept: --resume continues from here",
        )


class _Sent:
    """An item that a cluster works on, and what became of it.

    The client's own thread fetches that, of many items in one go; where the worker dies that has it, it is
    made again and waited for.
    """

    value: Any = None
    error: BaseException | None = None

    def __init__(self, client: Any, future: distributed.Future[Any]) -> None:
        self.client, self.of_dask = client, future

    def add_done_callback(self, told: Callable[[Any], object]) -> None:
        """Have it fetched, and `told` called then."""
        self.client.loop.add_callback(self._fetch, told)

    async def _fetch(self, told: Callable[[Any], object]) -> None:
        try:
            self.value = await self.client.gather(self.of_dask, asynchronous=True)
        except BaseException as error:  # noqa: BLE001 - the task's, or of the way to it
            self.error = error
        told(self)


def _same(data: bytes) -> bytes:
    return data
