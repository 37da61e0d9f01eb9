"""Whether the process that left a file behind is still there."""

from __future__ import annotations

import os
import sys
from pathlib import Path


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
