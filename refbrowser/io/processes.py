"""Other processes: whether one is still there, and programs that are run within limits."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from refbrowser.io.cancel import Cancelled, CancelToken

if TYPE_CHECKING:
    import subprocess

#: How often it is looked whether a program is to be ended, in seconds.
_LOOK = 0.05
#: The end of what a program says on standard error that is kept, in bytes.
_KEPT_ERRORS = 4096
#: The longest line of a program that is taken, in bytes.
_LINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes
    ----------
    code
        Its exit code; below 0 the signal that ended it, with the sign turned.
    in_time
        Whether it ended by itself before its time was over.
    errors
        The end of its standard error.
    """

    code: int
    in_time: bool
    errors: str


def run_program(
    command: list[str],
    given: bytes,
    take: Callable[[bytes], None],
    seconds: float,
    token: CancelToken,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program within a time, and take the lines of its standard output as they come.

    Parameters
    ----------
    given
        Its standard input.
    take
        Called with each line, on a thread of its own.
    environment
        Its variables; those of this process when None.

    Raises
    ------
    Cancelled
        `token` was cancelled; the program was ended.
    OSError
        It cannot be started.
    """
    import subprocess  # What only asks after a process, as each save does, starts none.

    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as process:
        errors = bytearray()
        threads = [
            threading.Thread(target=_give, args=(process, given), daemon=True),
            threading.Thread(target=_take_lines, args=(process, take), daemon=True),
            threading.Thread(target=_keep_end, args=(process, errors), daemon=True),
        ]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        try:
            while process.poll() is None and time.monotonic() < end and not token.cancelled:
                time.sleep(_LOOK)
            in_time = process.poll() is not None
        finally:
            if process.poll() is None:
                process.kill()
            for thread in threads:
                thread.join()
    if token.cancelled:
        raise Cancelled
    return Ended(process.returncode, in_time, errors.decode("utf-8", "replace"))


def _give(process: subprocess.Popen[bytes], given: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(given)
        process.stdin.close()
    except OSError:
        pass  # It ended before it had read all.


def _take_lines(process: subprocess.Popen[bytes], take: Callable[[bytes], None]) -> None:
    assert process.stdout is not None
    while line := process.stdout.readline(_LINE):
        if not line.endswith(b"\n"):
            process.kill()  # No answer is so long.
            return
        take(line)


def _keep_end(process: subprocess.Popen[bytes], errors: bytearray) -> None:
    assert process.stderr is not None
    while portion := process.stderr.read1(1 << 16):  # type: ignore[attr-defined]
        errors += portion
        del errors[:-_KEPT_ERRORS]


def start_mark(process: int) -> str:
    """Return what tells a process from a later one of the same number; empty where nothing does."""
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
        return status.rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError, ValueError):
        return ""


def is_running(process: int, mark: str = "") -> bool:
    """Tell whether a process runs; with the mark of its start, whether it is the same one still."""
    if process == os.getpid():
        return True
    return _exists(process) and (not mark or start_mark(process) in ("", mark))


def _exists(process: int) -> bool:
    if process <= 0:
        return False
    if sys.platform == "win32":
        return _exists_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _exists_on_windows(process: int) -> bool:
    # A signal would end it there.
    import ctypes

    synchronize, access_denied, timeout = 0x00100000, 5, 258
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(synchronize, False, process)
    if not handle:
        return bool(ctypes.get_last_error() == access_denied)  # type: ignore[attr-defined]
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == timeout)
    finally:
        kernel.CloseHandle(handle)
