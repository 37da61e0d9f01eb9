"""What open windows show, kept on disk, so that the one before, or a lost one, can be restored.

Each window has a file of its own, replaced whole whenever it shows something else. One that is closed becomes
the last one; one whose process is gone is lost.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path

from refbrowser.io.access.local_files import open_regular
from refbrowser.io.files.atomic import write_own
from refbrowser.io.files.hidden_siblings import remove_all_leftovers
from refbrowser.io.files.permissions import state_folder
from refbrowser.io.processes import is_running, start_mark
from refbrowser.limits import LIMITS

#: Files of lost windows; the oldest of more are given up.
LOST = 20
_LAST = "last.json"
_NAME = re.compile(r"window-(\d{1,10})-(\d*)-[0-9a-f]{8}\.json")


def window_folder() -> Path:
    """Return the folder of these files."""
    return state_folder() / "windows"


class WindowFile:
    """The file of one window of this process. Not safe to share across threads."""

    def __init__(self) -> None:
        own = os.getpid()
        self.path = window_folder() / f"window-{own}-{start_mark(own)}-{secrets.token_hex(4)}.json"

    def write(self, text: bytes) -> None:
        """Replace what it holds.

        Raises
        ------
        OSError, RefbrowserError
            It cannot be written; what it held stays.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_own(self.path, [text], mode=0o600)

    def end(self) -> None:
        """Let it be that of the last window, which was closed; without it there is none."""
        with contextlib.suppress(OSError):
            if self.path.exists():
                self.path.replace(window_folder() / _LAST)
            else:
                (window_folder() / _LAST).unlink()

    def remove(self) -> None:
        """Remove it: nothing is shown."""
        remove_window(self.path)


def lost_windows() -> list[Path]:
    """Return the files of windows whose processes are gone, the newest first.

    What processes that were killed left half written is removed.
    """
    remove_all_leftovers(window_folder())
    try:
        found = [path for path in window_folder().iterdir() if _is_lost(path)]
    except OSError:
        return []
    found.sort(key=written, reverse=True)
    for path in found[LOST:]:
        remove_window(path)
    return found[:LOST]


def last_window() -> Path | None:
    """Return the file of the window that was closed last; None where there is none."""
    path = window_folder() / _LAST
    return path if path.is_file() else None


def written(path: Path) -> float:
    """Return when a file was written last, in seconds since 1970; 0 of one that is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def read_bounded(path: str) -> bytes:
    """Return what a file of a session holds, here or anywhere else.

    Raises
    ------
    RefbrowserError
        `E_IO`, `E_UNSAFE`: it cannot be read, or is no regular file. Of one that is too large, one byte more
        than may be is returned.
    """
    with (
        open_regular(os.path.realpath(path)) as (descriptor, _identity),
        open(descriptor, "rb", closefd=False) as file,
    ):
        return file.read(LIMITS.session_size + 1)


def remove_window(path: Path) -> None:
    """Remove a file; nothing happens where it is gone."""
    with contextlib.suppress(OSError):
        path.unlink()


def _is_lost(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    return match is not None and not is_running(int(match[1]), match[2])
