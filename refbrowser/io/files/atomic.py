"""Writing files: each is the old one or the new one, whole, at every moment (safety design, section 8)."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.final_names import sync_folder
from refbrowser.io.files.hidden_siblings import remove_leftovers, sibling_of
from refbrowser.io.identity import NO_FILE, FileIdentity

#: Bytes after which the disk is asked to write.
PORTION = 32 * 1024 * 1024


class Flushing:
    """A thread that writes a file to the disk whenever some of it has come; to be used in a ``with`` block.

    What goes wrong there is not told: whoever makes the file safe at the end is told the same.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = 0
        self._ends = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="flushing", daemon=True)

    def __enter__(self) -> Flushing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join()

    def written(self, size: int) -> None:
        """Note that bytes were written to the file."""
        with self._changed:
            self._waiting += size
            if self._waiting >= PORTION:
                self._changed.notify()

    def _run(self) -> None:
        sync = getattr(os, "fdatasync", os.fsync)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ends or self._waiting >= PORTION)
                if self._ends:
                    return
                self._waiting = 0
            with contextlib.suppress(OSError):
                sync(self._descriptor)


#: Permission to write, of whomever.
_WRITABLE = 0o222


class ChangedOnDiskError(RefbrowserError):
    """The file to be replaced is not the one that was opened: ask before writing without `expected`."""


def check_unprotected(path: str | os.PathLike[str]) -> None:
    """Make sure that nobody has protected what is at `path` (links followed): a new name would go over that.

    Raises
    ------
    RefbrowserError
        `E_IO`: it is write-protected for everyone.
    """
    if is_protected(path):
        raise RefbrowserError(
            ErrorKind.IO,
            "the target is write-protected",
            Place(path=os.fspath(path)),
            "write to another file, or make it writable first",
        )


def is_protected(path: str | os.PathLike[str]) -> bool:
    """Whether what is at `path` (links followed) is write-protected for everyone, the superuser too."""
    old = _status(os.path.realpath(path))
    return old is not None and not old.st_mode & _WRITABLE


def write_atomically(
    path: str | os.PathLike[str],
    blocks: Iterable[bytes | memoryview],
    *,
    expected: FileIdentity | None = None,
    cancel: CancelToken | None = None,
    prove: Callable[[str], object] = lambda path: None,
) -> FileIdentity:
    """Write a file under its name in one step, and return its new identity.

    A link is followed and its target replaced; permissions of the old file are kept. On any failure the old
    file stays as it was.

    Parameters
    ----------
    expected
        Identity that the old file must still have; `NO_FILE` where there must be none yet.
    cancel
        Ends the writing, with the old file in place.
    prove
        Called with the path of what was written, before that gets its name; raises what speaks against it.

    Raises
    ------
    ChangedOnDiskError
        The file has changed since `expected` was taken, or is gone, or there is one by now.
    RefbrowserError
        `E_IO`: it cannot be written.
    """
    return _written(os.path.realpath(path), blocks, expected=expected, cancel=cancel, prove=prove)


def write_own(
    path: str | os.PathLike[str],
    blocks: Iterable[bytes | memoryview],
    *,
    expected: FileIdentity | None = None,
    cancel: CancelToken | None = None,
    mode: int | None = None,
) -> FileIdentity:
    """Write a file as `write_atomically` does, under a name that nobody but the program has chosen.

    A link in its place is not followed: whoever put it there does not say what is replaced.

    Parameters
    ----------
    mode
        Permissions of the file, whatever those of the old one are; None: as `write_atomically` has it.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: there is a link. As `write_atomically` does.
    """
    target = os.path.abspath(path)
    if os.path.islink(target):
        message = "the path is a link, which is not followed"
        advice = "remove the link, or give the path of the file itself"
        raise RefbrowserError(ErrorKind.UNSAFE, message, Place(path=target), advice)
    return _written(target, blocks, expected=expected, cancel=cancel, mode=mode)


def _written(
    target: str,
    blocks: Iterable[bytes | memoryview],
    *,
    expected: FileIdentity | None,
    cancel: CancelToken | None,
    mode: int | None = None,
    prove: Callable[[str], object] = lambda path: None,
) -> FileIdentity:
    try:
        old = _status(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise RefbrowserError(ErrorKind.IO, "only regular files are replaced", Place(path=target))
        if expected is None:
            # What was opened is saved whatever its permissions, which it keeps.
            check_unprotected(target)
        _check(target, old, expected)
        remove_leftovers(target)

        def fill(file: BinaryIO) -> None:
            _write(file.fileno(), blocks, cancel)

        if mode is not None:
            return _made(target, None, fill, expected, prove, mode)
        return _made(target, old, fill, expected, prove)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefbrowserError(ErrorKind.IO, f"cannot write: {reason}", Place(path=target)) from error


def fill_atomically(
    path: str | os.PathLike[str],
    fill: Callable[[BinaryIO], object],
    *,
    expected: FileIdentity | None = None,
) -> FileIdentity:
    """Make a file with what `fill` writes, and give it its name in one step; return its new identity.

    For one of many files: what killed processes left is not looked for, and a link is replaced, not followed.
    On any failure the old file stays as it was.

    Parameters
    ----------
    expected
        Identity that the old file must still have.

    Raises
    ------
    ChangedOnDiskError
        The file has changed since `expected` was taken, or is gone.
    RefbrowserError
        `E_IO`: it cannot be written.
    """
    target = os.path.abspath(path)
    try:
        return _made(target, None, fill, expected, lambda path: None)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefbrowserError(ErrorKind.IO, f"cannot write: {reason}", Place(path=target)) from error


def remove_unchanged(path: str | os.PathLike[str], expected: FileIdentity) -> None:
    """Remove a file that must still be the one that was read.

    Raises
    ------
    ChangedOnDiskError
        The file has changed since `expected` was taken, or is gone.
    RefbrowserError
        `E_IO`: it cannot be removed.
    """
    try:
        _check(os.fspath(path), _status(os.path.realpath(path)), expected)
        os.unlink(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefbrowserError(
            ErrorKind.IO, f"cannot remove: {reason}", Place(path=os.fspath(path))
        ) from error
    sync_folder(os.path.dirname(os.path.abspath(path)))


def _made(
    target: str,
    old: os.stat_result | None,
    fill: Callable[[BinaryIO], object],
    expected: FileIdentity | None,
    prove: Callable[[str], object],
    mode: int = 0o666,
) -> FileIdentity:
    """Fill a hidden sibling of `target` and rename it; the permissions of `old` are kept."""
    sibling = sibling_of(target)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    # Closed to others until the permissions of the old file are known to apply.
    descriptor = os.open(sibling, flags, 0o600 if old is not None else mode)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            fill(file)
            file.flush()
            _keep_permissions(descriptor, sibling, old)
            os.fsync(descriptor)
        prove(sibling)
        _check(target, _status(target), expected)
        os.replace(sibling, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(sibling)
        raise
    sync_folder(os.path.dirname(target))
    return FileIdentity.of(os.stat(target))


def _write(descriptor: int, blocks: Iterable[bytes | memoryview], cancel: CancelToken | None) -> None:
    for block in blocks:
        left = memoryview(block).cast("B")
        while left:
            if cancel is not None:
                cancel.check()
            left = left[os.write(descriptor, left[: 16 << 20]) :]


def _keep_permissions(descriptor: int, sibling: str, old: os.stat_result | None) -> None:
    if old is None:
        return
    if hasattr(os, "fchown"):
        # Allowed only to the superuser where owner or group differ: then the file becomes ours.
        with contextlib.suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    else:
        os.chmod(sibling, stat.S_IMODE(old.st_mode))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _check(target: str, status: os.stat_result | None, expected: FileIdentity | None) -> None:
    found = NO_FILE if status is None else FileIdentity.of(status)
    if expected is None or found == expected:
        return
    done = "made" if expected == NO_FILE else "changed"
    message = "the file was removed" if status is None else f"the file was {done} by another program"
    raise ChangedOnDiskError(
        ErrorKind.IO, message, Place(path=target), "save it anyway, or under another name"
    )


Buffer = bytes | memoryview
_PORTION = 16 << 20


def extend_file(
    path: str,
    size: int,
    mark: bytes,
    blocks: Iterable[Buffer],
    *,
    expected: FileIdentity,
    check: Callable[[bytes, int], object] = lambda first, stop: None,
    cancel: CancelToken | None = None,
) -> FileIdentity:
    """Write blocks at the end of a file, in the place of its mark, and the mark behind them.

    On any failure the file is cut to what it was.

    Parameters
    ----------
    path
        Of a regular file, with its links resolved.
    size
        Bytes before the mark. Where none stands there the file ends there, and gets one first.
    mark
        What ends the file; the blocks are longer than it.
    expected
        Identity that the file must have.
    check
        Called before the file changes for its readers, with the bytes that will take the place of the mark,
        and the size that the file has then. What it raises leaves the file as it was.
    cancel
        Ends the writing.

    Returns
    -------
    FileIdentity
        That of the file as it is now.

    Raises
    ------
    ChangedOnDiskError
        The file is not the expected one, or another process writes it.
    RefbrowserError
        `E_IO`: it cannot be written.
    """
    try:
        with _opened(path, expected) as descriptor:
            return _extended(descriptor, size, mark, blocks, expected, check, cancel)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefbrowserError(ErrorKind.IO, f"cannot write: {reason}", Place(path=path)) from error


def _extended(
    descriptor: int,
    size: int,
    mark: bytes,
    blocks: Iterable[Buffer],
    expected: FileIdentity,
    check: Callable[[bytes, int], object],
    cancel: CancelToken | None,
) -> FileIdentity:
    try:
        _write_blocks(descriptor, size, [mark], None)
        os.ftruncate(descriptor, size + len(mark))
        os.fsync(descriptor)
        first = bytearray()
        stop = _write_blocks(descriptor, size + len(mark), _without_first(blocks, first, len(mark)), cancel)
        stop = _write_blocks(descriptor, stop, [mark], None)
        os.fsync(descriptor)
        check(bytes(first), stop)
        _write_blocks(descriptor, size, [bytes(first)], None)
    except BaseException:
        _restore(descriptor, size, mark, expected.size)
        raise
    os.fsync(descriptor)
    return FileIdentity.of(os.fstat(descriptor))


def _restore(descriptor: int, size: int, mark: bytes, total: int) -> None:
    """Make the file what it was; where the disk refuses, it is still whole up to its mark."""
    with contextlib.suppress(OSError):
        _write_blocks(descriptor, size, [mark], None)
        os.ftruncate(descriptor, min(total, size + len(mark)))
        os.fsync(descriptor)


def _without_first(blocks: Iterable[Buffer], first: bytearray, count: int) -> Iterator[Buffer]:
    """Yield the blocks without their first bytes, which are put into `first`."""
    for block in blocks:
        part = memoryview(block).cast("B")
        taken = min(count - len(first), len(part))
        first += part[:taken]
        yield part[taken:]
    if len(first) < count:
        raise ValueError("the new text is shorter than the mark that it replaces")


def _write_blocks(descriptor: int, offset: int, blocks: Iterable[Buffer], cancel: CancelToken | None) -> int:
    """Write blocks from an offset on; return where they end."""
    for block in blocks:
        left = memoryview(block).cast("B")
        while left:
            if cancel is not None:
                cancel.check()
            count = _write_at(descriptor, left[:_PORTION], offset)
            offset += count
            left = left[count:]
    return offset


def _write_at(descriptor: int, data: memoryview, offset: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, data, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


@contextlib.contextmanager
def _opened(path: str, expected: FileIdentity) -> Iterator[int]:
    """Open a file for writing, alone among those that do so here, and close it."""
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    try:
        _lock(descriptor, path)
        if FileIdentity.of(os.fstat(descriptor)) != expected:
            message = "the file was changed by another program"
            raise ChangedOnDiskError(ErrorKind.IO, message, Place(path=path), "open it again")
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str) -> None:
    """Hold the file until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = "another process is writing the file"
        raise ChangedOnDiskError(ErrorKind.IO, message, Place(path=path), "wait for it") from None
    except OSError:
        return  # File systems without locks.
