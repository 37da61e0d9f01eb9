"""Giving what was made the name that was asked for: at no moment is there nothing under that name."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from refbrowser.io.files.hidden_siblings import remove_leftovers, sibling_of
from refbrowser.io.files.own_names import remove

_AT_FDCWD, _EXCHANGE = -100, 2
#: Bytes of a name to which more can be added: file systems have no room for more than 255.
_LONGEST = 200
#: What systems answer where names cannot be exchanged: file systems of networks, old kernels.
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def give_name(made: Path, target: Path) -> None:
    """Give a file or folder its final name, in place of what has that name.

    What is replaced keeps the name until the new one has it; where it cannot be replaced it has it still. A
    process that is killed meanwhile leaves either under the name, and the next one removes the rest. Files
    below a folder must be on the disk (`sync_files`).

    Raises
    ------
    OSError
        It cannot be given that name.
    """
    recover(target)
    if not _is_folder(made):
        _sync(made)
    if not _is_folder(target) and (not _is_folder(made) or not os.path.lexists(target)):
        os.replace(made, target)
    else:
        _replace(made, target)
    sync_folder(target.parent)


def _replace(made: Path, target: Path) -> None:
    """Put a folder in the place of anything, or anything in the place of a folder."""
    # What a killed process leaves under this name, the new one or what it replaced, is known as a leftover.
    new, old = Path(sibling_of(target)), _old(target)
    os.rename(made, new)
    try:
        if not _exchanged(new, target):
            _replace_in_two_steps(new, target, old)
    except OSError:
        with suppress(OSError):
            os.rename(new, made)
        raise
    for left in (new, old):
        # What cannot be removed now is by the next one.
        with suppress(OSError):
            remove(left)


def _replace_in_two_steps(new: Path, target: Path, old: Path) -> None:
    os.rename(target, old)
    try:
        os.rename(new, target)
    except OSError:
        with suppress(OSError):
            os.rename(old, target)
        raise


def recover(target: Path) -> None:
    """Finish or remove what processes left that were killed while they made `target`, or gave it its name.

    Raises
    ------
    OSError
        What has lost its name cannot get it again.
    """
    old = _old(target)
    if os.path.lexists(old):
        if os.path.lexists(target):
            with suppress(OSError):
                remove(old)
        else:
            os.rename(old, target)
    remove_leftovers(target)


def sync_files(folder: Path) -> None:
    """Have all files below a folder on the disk."""
    for above, _, names in os.walk(folder):
        for name in names:
            _sync(Path(above, name))
        sync_folder(above)


def _sync(path: Path) -> None:
    access = os.O_RDONLY if os.name == "posix" else os.O_RDWR
    descriptor = os.open(path, access | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Have the names in a folder on the disk."""
    if os.name != "posix":
        return
    # Some file systems refuse to flush a folder; the files themselves are safe by then.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where this system or disk cannot."""
    exchange = _exchange()
    if exchange is None:
        return False
    code = exchange(os.fsencode(one), os.fsencode(other))
    if not code:
        return True
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), os.fspath(other))


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    """Return what exchanges two names and gives the number of the error, or 0; None where nothing does.

    Linux: renameat2(2) of the C library; macOS: renamex_np(2).
    """
    begin: tuple[int, ...] = ()
    if sys.platform == "linux":
        name, begin = "renameat2", (_AT_FDCWD,)
    elif sys.platform == "darwin":
        name = "renamex_np"
    else:
        return None
    try:
        rename = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None

    def exchange(one: bytes, other: bytes) -> int:
        return ctypes.get_errno() if rename(*begin, one, *begin, other, ctypes.c_uint(_EXCHANGE)) else 0

    return exchange


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _old(target: Path) -> Path:
    """Return the name of what is replaced while it is, where names cannot be exchanged."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        # Not before: the first rows of a document do not wait for it.
        import hashlib

        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return target.with_name(f".{name}.refbrowser-old")
