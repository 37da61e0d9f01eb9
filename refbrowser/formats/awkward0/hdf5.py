"""Files of HDF5 with arrays of Awkward 0, read in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.stores.reader import is_text
from refbrowser.io.cancel import CancelToken
from refbrowser.io.local import open_regular
from refbrowser.io.processes import run_program
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Inline, Reference

#: Bytes a second that are written at least.
SLOWEST = 4 * 1024 * 1024
_SCRIPT = Path(__file__).with_name("hdf5_worker.py")


def ask_hdf5(
    request: dict[str, Any],
    take: Callable[[dict[str, Any]], None],
    token: CancelToken | None = None,
    data: int = 0,
) -> None:
    """Have a request answered by a process with limits of memory and time.

    Parameters
    ----------
    request
        What `hdf5_worker` knows; with the ``path`` of the file.
    take
        Called with each answer, on another thread.
    data
        Bytes that are written; they may take their time.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: the file cannot be read; `E_IO`: it cannot be written; `E_BUDGET`: it took too long;
        `E_USAGE`: h5py is not installed.
    Cancelled
        `token` was cancelled.
    """
    place = Place(url=str(request["path"]))
    if find_spec("h5py") is None:
        raise RefbrowserError(
            ErrorKind.USAGE, "HDF5 files are opened with h5py, which is not installed", place,
            "pip install 'refbrowser[hdf5]'",
        )  # fmt: skip
    last: dict[str, Any] = {}

    def line(text: bytes) -> None:
        answer = json.loads(text)
        last.clear()
        last.update(answer)
        if "done" not in answer and "fault" not in answer:
            take(answer)

    given = json.dumps({**request, "memory": LIMITS.awkward_hdf5_memory}).encode()
    seconds = LIMITS.awkward_hdf5_time + data / SLOWEST
    ended = run_program([sys.executable, "-P", str(_SCRIPT)], given, line, seconds, token or CancelToken())
    if "fault" in last:
        writes = request["operation"] == "write"
        kind, done = (ErrorKind.IO, "written") if writes else (ErrorKind.FORMAT, "read")
        raise RefbrowserError(kind, f"HDF5 cannot be {done}: {quoted(last['fault'])}", place)
    if not ended.in_time:
        message = f"HDF5 took more than {seconds:g} s (awkward_hdf5_time)"
        raise RefbrowserError(ErrorKind.BUDGET, message, place)
    if "done" not in last:
        raise RefbrowserError(ErrorKind.FORMAT, "the process that reads HDF5 has died", place)


#: Size of a dataset that only reading it tells.
_UNTOLD = -1


def open_hdf5(path: str, token: CancelToken | None = None) -> Hdf5Container:
    """Open an HDF5 file: its names, sizes and places are read, and nothing of its values.

    Parameters
    ----------
    path
        Absolute, with links resolved.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    Cancelled
        `token` was cancelled.
    """
    with open_regular(path) as (_, identity):
        size = identity.size
    blobs: dict[str, Blob] = {}
    findings: list[Finding] = []

    def take(answer: dict[str, Any]) -> None:
        name = str(answer.get("name", ""))
        if "problem" in answer:
            what = f"{answer['problem']}: {quoted(name)}" if name else str(answer["problem"])
            findings.append(_finding(what, path))
        elif is_text(name):
            blobs[name] = _blob(name, answer, path, size)

    request = {
        "operation": "list",
        "path": path,
        "objects": LIMITS.awkward_files,
        "depth": LIMITS.group_nesting,
    }
    ask_hdf5(request, take, token)
    return Hdf5Container(path, blobs, tuple(findings), token)


def _finding(message: str, path: str) -> Finding:
    place = Place(url=path)
    return Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message, place=place)


def _blob(name: str, answer: dict[str, Any], path: str, file_size: int) -> Blob:
    place = Place(url=path, key=name)
    error: RefbrowserError | None = None
    if "error" in answer:
        error = RefbrowserError(ErrorKind.FORMAT, f"the dataset cannot be read: {answer['error']}", place)
    size = _UNTOLD if answer["size"] is None else int(answer["size"])
    offset = answer.get("offset")
    reference: Reference = Inline(b"")
    if offset is not None:
        reference = ByteRange(path, int(offset), size)
        if offset + size > file_size:
            error = RefbrowserError(ErrorKind.FORMAT, "the dataset reaches over the end of the file", place)
    return Blob(name, reference, size, int(answer["stored"]), "hdf5", error)


class Hdf5Container:
    """The datasets of an HDF5 file (`Container`).

    Those that lie in one piece are ranges of the file. Others (chunked, compressed, within their header) are
    read by the process that knows HDF5, all of them once, when the first is asked for.
    """

    kind = "hdf5"

    def __init__(
        self, url: str, blobs: dict[str, Blob], findings: Sequence[Finding], token: CancelToken | None
    ) -> None:
        self.url = url
        self.findings = findings
        self._blobs = blobs
        self._token = token

    def names(self) -> Iterable[str]:
        """Return the names of all datasets, ``group/1``."""
        return self._blobs

    def find(self, name: str) -> Blob | None:
        """Return a dataset, or None where there is none of that name."""
        blob = self._blobs.get(name)
        if blob is None or not _is_elsewhere(blob):
            return blob
        return self._decoded[name]

    @cached_property
    def _decoded(self) -> dict[str, Blob]:
        """The datasets that do not lie in one piece, with their bytes."""
        found = {name: blob for name, blob in self._blobs.items() if _is_elsewhere(blob)}
        wanted, left = [], LIMITS.inlined_members
        for name, blob in found.items():
            if blob.size <= left:
                wanted.append(name)
                left -= max(0, blob.size)
            else:
                message = (
                    f"a dataset that does not lie in one piece has {blob.size} bytes: all such together have "
                    f"more than {LIMITS.inlined_members} (inlined_members)"
                )
                found[name] = self._broken(
                    blob, RefbrowserError(ErrorKind.BUDGET, message, self._place(name))
                )

        def take(answer: dict[str, Any]) -> None:
            name = answer["name"]
            if "error" in answer:
                message = f"the dataset cannot be read: {quoted(answer['error'])}"
                error = RefbrowserError(ErrorKind.DECODE, message, self._place(name))
                found[name] = self._broken(found[name], error)
            else:
                data = base64.b64decode(answer["data"])
                found[name] = Blob(name, Inline(data), len(data), found[name].stored, "hdf5")

        request = {
            "operation": "read",
            "path": self.url,
            "names": wanted,
            "most": LIMITS.inlined_members,
        }
        try:
            ask_hdf5(request, take, self._token)
        except RefbrowserError as error:
            for name in wanted:
                if _is_elsewhere(found[name]):
                    found[name] = self._broken(found[name], error)
        return found

    def _place(self, name: str) -> Place:
        return Place(url=self.url, key=name)

    @staticmethod
    def _broken(blob: Blob, error: RefbrowserError) -> Blob:
        return Blob(blob.name, blob.reference, blob.size, blob.stored, blob.method, error)

    def read(self, names: Sequence[str], most: int) -> Mapping[str, bytes | RefbrowserError]:
        """Return whole small datasets; absent ones are left out."""
        found: dict[str, bytes | RefbrowserError] = {}
        for name in names:
            blob = self.find(name)
            if blob is None:
                continue
            if blob.error is not None:
                found[name] = blob.error
            elif blob.size > most:
                message = f"a dataset of {blob.size} bytes is larger than {most}"
                found[name] = RefbrowserError(ErrorKind.BUDGET, message, self._place(name))
            else:
                found[name] = self._content(blob)
        return found

    def _content(self, blob: Blob) -> bytes | RefbrowserError:
        if isinstance(blob.reference, Inline):
            return blob.reference.data
        assert isinstance(blob.reference, ByteRange)
        with open_regular(self.url) as (descriptor, _):
            os.lseek(descriptor, blob.reference.offset, os.SEEK_SET)
            data = b""
            while len(data) < blob.size and (piece := os.read(descriptor, blob.size - len(data))):
                data += piece
        if len(data) == blob.size:
            return data
        return RefbrowserError(ErrorKind.RANGE, "the file ends early", self._place(blob.name))


def _is_elsewhere(blob: Blob) -> bool:
    """Tell whether the bytes of a dataset have no single place in the file."""
    return (
        blob.error is None
        and isinstance(blob.reference, Inline)
        and bool(blob.size)
        and not blob.reference.data
    )
