"""HDF5 files, opened by a process of its own: the library takes sizes and places from the file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.io.processes import run_program
from refbrowser.limits import LIMITS

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
