"""Putting more at the end of a file that ends with a mark, so that it is never torn.

The new bytes are written behind the mark; the first of them, which take the place of the mark, come last.
Until then the file is what it was with something behind its end; after that it is the new one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.atomic import ChangedOnDiskError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity

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
    Cancelled
        `cancel` was cancelled.
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
        _write(descriptor, size, [mark], None)
        os.ftruncate(descriptor, size + len(mark))
        os.fsync(descriptor)
        first = bytearray()
        stop = _write(descriptor, size + len(mark), _without_first(blocks, first, len(mark)), cancel)
        stop = _write(descriptor, stop, [mark], None)
        os.fsync(descriptor)
        check(bytes(first), stop)
        _write(descriptor, size, [bytes(first)], None)
    except BaseException:
        _restore(descriptor, size, mark, expected.size)
        raise
    os.fsync(descriptor)
    return FileIdentity.of(os.fstat(descriptor))


def _restore(descriptor: int, size: int, mark: bytes, total: int) -> None:
    """Make the file what it was; where the disk refuses, it is still whole up to its mark."""
    with contextlib.suppress(OSError):
        _write(descriptor, size, [mark], None)
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
        raise ValueError("there is less to be written than the mark that it replaces")


def _write(descriptor: int, offset: int, blocks: Iterable[Buffer], cancel: CancelToken | None) -> int:
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
