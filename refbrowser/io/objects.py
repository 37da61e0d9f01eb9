"""Reading object stores (s3, gs, abfs) through fsspec's packages, behind our own checks."""

from __future__ import annotations

import threading
from functools import lru_cache
from importlib import import_module
from typing import Any

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.access import Location
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.origins import ConnectionSettings
from refbrowser.io.segment import Segment, oversize, short_object
from refbrowser.io.task import Attempt, FetchTask

#: Scheme to the module and class that read it: fixed, never looked up by a name from a file.
_PACKAGES = {
    "s3": ("s3fs", "S3FileSystem"),
    # Not what gcsfs exports, which asks Google over gRPC for the kind of a bucket, for up to a minute.
    "gs": ("gcsfs.core", "GCSFileSystem"),
    "abfs": ("adlfs", "AzureBlobFileSystem"),
}

#: Held while rows are delivered: a segment belongs to one thread at a time.
_settling = threading.Lock()


def read_request(segment: Segment, index: int) -> None:
    """Read one request of a segment (or a whole object) and deliver its rows; failures are delivered too.

    Pieces of a segment may be read by several threads at once.
    """
    segment.task.wait_for_room()
    if not _is_wanted(segment):
        return
    try:
        first, data = _read(segment, index)
        _tell(segment, index, len(data))
    except RefbrowserError as error:
        _tell(segment, index, 0, error.message)
        with _settling:
            segment.fail(error)
        return
    with _settling:
        if not _is_wanted(segment):
            return
        if not segment.requests:
            segment.filled(memoryview(data))
            return
        try:
            segment.allocate()[first : first + len(data)] = data
        except RefbrowserError as error:
            segment.fail(error)
            return
        segment.arrived(index, len(data))


def filesystem(scheme: str, settings: ConnectionSettings) -> Any:
    """Return fsspec's file system for one of ``s3 gs abfs``.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL`: its package is not installed.
    """
    options = storage_options(scheme, settings)
    return _filesystem(
        scheme, tuple(sorted((key, repr(value)) for key, value in options.items())), _Box(options)
    )


def list_names(
    location: Location, settings: ConnectionSettings, most: int
) -> tuple[list[str], list[str], int]:
    """Return folders and objects right below a place, sorted, and how many of `most` names are left.

    Raises
    ------
    RefbrowserError
        `E_SOURCE`: the store could not be asked; what is not there has no names.
    """
    path = f"{location.origin.host}/{location.path}".rstrip("/")
    try:
        entries = filesystem(location.scheme, settings).ls(path, detail=True)
    except RefbrowserError:
        raise
    except FileNotFoundError:
        return [], [], most
    except Exception as error:  # the packages raise whatever their clients do
        message = f"the store cannot be listed: {type(error).__name__}: {quoted(error)}"
        raise RefbrowserError(ErrorKind.SOURCE, message, Place(url=location.url)) from error
    folders: list[str] = []
    files: list[str] = []
    for entry in entries[: max(most, 0)]:
        full = str(entry["name"]).rstrip("/")
        if full.startswith(f"{path}/"):
            (folders if entry["type"] == "directory" else files).append(full.removeprefix(f"{path}/"))
    return sorted(folders), sorted(files), most - len(entries)


class _Box:
    """Carries the options past the cache's key, where their printed form stands for them."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Box)


@lru_cache(maxsize=64)
def _filesystem(scheme: str, key: tuple[tuple[str, str], ...], box: _Box) -> Any:
    module, name = _PACKAGES[scheme]
    try:
        kind = getattr(import_module(module), name)
    except ImportError:
        raise RefbrowserError(
            ErrorKind.PROTOCOL,
            f"reading {scheme} needs the package {module.partition('.')[0]}",
            advice="install it with: pip install refbrowser[cloud]",
        ) from None
    return kind(skip_instance_cache=True, **box.options)


def storage_options(scheme: str, settings: ConnectionSettings) -> dict[str, Any]:
    """Return what fsspec's file system for one of ``s3 gs abfs`` is made with; it holds no secrets."""
    if scheme == "s3":
        client = {"region_name": settings.region} if settings.region else {}
        return {
            "anon": settings.anonymous,
            "profile": settings.profile,
            "endpoint_url": settings.endpoint,
            "requester_pays": settings.requester_pays,
            "client_kwargs": client,
        }
    if scheme == "gs":
        token = "anon" if settings.anonymous else settings.profile or "google_default"
        return {"token": token, "requester_pays": settings.requester_pays, "endpoint_url": settings.endpoint}
    return {"anon": settings.anonymous, "account_name": settings.account}


def _tell(segment: Segment, index: int, received: int, error: str = "") -> None:
    """Tell the witness of the fetch, if there is one, what became of a request."""
    witness = segment.task.options.witness
    if witness is None:
        return
    known = segment.task.access.memory.identities.known(segment.location.url)
    first, last = segment.requests[index] if segment.requests else (0, None)
    attempt = Attempt(
        url=segment.location.url,
        start=segment.start + first,
        stop=None if last is None else segment.start + last,
        answer="" if known is None else f"an object of {known.total} bytes",
        received=received,
        error=error,
    )
    witness(attempt)


def _is_wanted(segment: Segment) -> bool:
    return segment.task.live and not segment.settled


def _read(segment: Segment, index: int) -> tuple[int, bytes]:
    """Return the bytes of a request, and where they begin in the segment."""
    task, location = segment.task, segment.location
    path, place = f"{location.origin.host}/{location.path}", Place(url=location.url)
    try:
        system = filesystem(location.scheme, task.access.connection(location.origin))
        total = _confirm(system, path, location, task)
        first, last = segment.requests[index] if segment.requests else (0, total)
        start, stop = segment.start + first, segment.start + last
        if stop > total:
            raise short_object(location.url, total, start, stop)
        limit = task.options.size_limit
        if not segment.requests and total > limit:
            raise oversize(total, limit, location.url)
        segment.sent()
        data = system.cat_file(path, start=start, end=stop) if stop > start else b""
    except RefbrowserError:
        raise
    except FileNotFoundError:
        raise AbsentError(ErrorKind.SOURCE, "there is no such object", place) from None
    except Exception as error:  # the packages raise whatever their clients do
        message = f"{type(error).__name__}: {quoted(error)}"
        raise RefbrowserError(ErrorKind.SOURCE, message, place) from error
    task.count(size=len(data))
    if len(data) != stop - start:
        message = f"{stop - start} bytes were asked for, {len(data)} came"
        raise RefbrowserError(ErrorKind.SOURCE, message, place)
    return first, data


def _confirm(system: Any, path: str, location: Location, task: FetchTask) -> int:
    """Compare the object with its first reading, and return its size."""
    info = system.info(path)
    total = int(info["size"])
    etag = info.get("ETag") or info.get("etag")
    modified = info.get("LastModified") or info.get("updated") or info.get("last_modified")
    identity = ObjectIdentity(total, etag and str(etag), modified and str(modified))
    task.access.memory.identities.confirm(location.url, identity)
    return total
