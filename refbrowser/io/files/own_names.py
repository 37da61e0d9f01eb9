"""Files and folders under names that the program chose itself.

The user named a document, and a link in its place is followed. Nobody named the journal, probe or folder that
lies beside it: what somebody else put there is refused, never followed, filled or appended to.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from refbrowser.errors import quoted

#: A pipe in the place of a file is not waited for.
_ALWAYS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


def open_own(path: str | os.PathLike[str], flags: int, mode: int = 0o600) -> int:
    """Open a file whose name the program chose, as `os.open` does; it is a file of this user, and no link.

    Raises
    ------
    OSError
        It cannot be opened, or something else is in its place.
    """
    # Before it is opened as well: opening a device has effects.
    if os.path.lexists(path):
        _check(path, os.lstat(path))
    # It is cut only once it is known to be ours.
    descriptor = os.open(path, flags & ~os.O_TRUNC | _ALWAYS, mode)
    try:
        _check(path, os.fstat(descriptor))
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create_own(path: str | os.PathLike[str], mode: int = 0o666) -> int:
    """Open a new file for writing; what has its name is removed first, and never written to.

    Raises
    ------
    OSError
        It cannot be made.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ALWAYS
    try:
        return os.open(path, flags, mode)
    except FileExistsError:
        os.unlink(path)
        return os.open(path, flags, mode)


def own_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder whose name the program chose, unless this user has made it before.

    Raises
    ------
    OSError
        It cannot be made, or something else is in its place.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise _foreign(path, "is not a folder") from None
        _check_owner(path, status)


def fresh_folder(path: Path) -> None:
    """Make an empty folder; what has its name is removed, and not followed.

    Raises
    ------
    OSError
        It cannot be made.
    """
    remove(path)
    path.mkdir()


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _check(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _foreign(path, "is a link, which is not followed")
    if not stat.S_ISREG(status.st_mode):
        raise _foreign(path, "is not a regular file")
    if status.st_nlink > 1:
        raise _foreign(path, "has a second name (a hard link), and is not written to")
    _check_owner(path, status)


def _check_owner(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise _foreign(path, "belongs to another user")


def _foreign(path: str | os.PathLike[str], what: str) -> OSError:
    return OSError(errno.EPERM, f"{quoted(os.fspath(path))} {what}: remove it first", os.fspath(path))
