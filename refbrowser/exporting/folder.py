"""What an export writes into, under a temporary name until it is complete and verified."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.journal import NAME, Written, owner_of
from refbrowser.exporting.paths import ignores_case, path_below
from refbrowser.io.atomic import check_unprotected, fill_atomically, remove_leftovers
from refbrowser.io.processes import is_running

#: A folder that holds one of these may be replaced with force: it is a dataset, not somebody's home.
_DATASET_MARKS = (
    ".zgroup",
    ".zarray",
    ".zattrs",
    ".zmetadata",
    "zarr.json",
    "root.group.json",
    "root.array.json",
    "_tables.json",
)
#: Folder for what is needed while the export runs.
SPOOL = ".refbrowser-spool"
#: Part of the free space that stays free.
RESERVE = 0.05
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

_active: set[str] = set()
_active_lock = threading.Lock()


def partial_of(target: str) -> Path:
    """Return the folder in which a target is made."""
    path = Path(os.path.realpath(target))
    return path.with_name(f".{path.name}.refbrowser-partial")


def remove_leftover(target: str) -> None:
    """Remove what an interrupted export left at a target, unless one is writing there."""
    partial = partial_of(target)
    with _active_lock:
        if not _is_written(partial):
            remove(partial)


def _is_written(partial: Path) -> bool:
    """Tell whether an export is writing there; the caller holds the lock."""
    owner = owner_of(partial)
    return str(partial) in _active or (owner not in (None, os.getpid()) and is_running(owner))


class TargetPlace:
    """The final name of a target, and the folder beside it in which it is made.

    Parameters
    ----------
    target
        Its final name.

    Raises
    ------
    RefbrowserError
        `E_IO`: there is no folder to make it in.
    """

    #: Whether an export that ended early is gone on with.
    goes_on: ClassVar[bool] = False

    def __init__(self, target: str) -> None:
        self.target = Path(os.path.realpath(target))
        self.partial = partial_of(target)
        parent = self.target.parent
        if not parent.is_dir():
            raise RefbrowserError(ErrorKind.IO, "there is no such folder", Place(path=str(parent)))

    @property
    def exists(self) -> bool:
        """Whether there is something under the final name."""
        return os.path.lexists(self.target)

    @property
    def ignores_case(self) -> bool:
        """Whether names that differ in case only are the same file."""
        return ignores_case(self.target.parent)

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target is there and must not be replaced, with `force` or without."""
        if not self.exists:
            return
        place = Place(path=str(self.target))
        if not force:
            raise RefbrowserError(
                ErrorKind.IO, "the target is there already", place, "give --force to replace it"
            )
        is_dataset = any((self.target / mark).exists() for mark in _DATASET_MARKS)
        if self.target.is_dir() and not is_dataset and any(self.target.iterdir()):
            raise RefbrowserError(
                ErrorKind.IO, "the target is a folder that holds no dataset, and is not replaced", place
            )
        check_unprotected(self.target)

    def check_space(self, size: int) -> None:
        """Raise `E_IO` where `size` bytes and a reserve do not fit the disk."""
        free = shutil.disk_usage(self.target.parent).free
        if free < size * (1 + RESERVE):
            raise RefbrowserError(
                ErrorKind.IO,
                f"the disk has {free} bytes left, the export may need {size}",
                Place(path=str(self.target.parent)),
            )

    def open(self, *, resume: bool) -> None:
        """Make the incomplete folder, or go on in the one that is there.

        Raises
        ------
        RefbrowserError
            `E_IO`: another export is writing it.
        """
        with _active_lock:
            if _is_written(self.partial):
                raise RefbrowserError(
                    ErrorKind.IO,
                    "another export is writing this target",
                    Place(path=str(self.target)),
                    "wait for it, or choose another target",
                )
            _active.add(str(self.partial))
        try:
            if self.partial.is_symlink() or self.partial.is_file():
                self.partial.unlink()
            if self.partial.is_dir() and not resume:
                shutil.rmtree(self.partial)
            self.partial.mkdir(exist_ok=True)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Let another export write this target, from its beginning where none goes on with what is there."""
        if not self.goes_on:
            remove(self.partial)
        with _active_lock:
            _active.discard(str(self.partial))

    def fill(self, work: Callable[[Any], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the target, and give it its name.

        Raises
        ------
        RefbrowserError
            `E_IO`: another export is writing it, or it must not be replaced. What `work` raises.
        """
        self.open(resume=resume)
        try:
            work(self)
            self.finish(force=force)
        finally:
            self.leave()

    def finish(self, *, force: bool) -> None:
        """Give the target its final name."""
        raise NotImplementedError

    @property
    def spool(self) -> Path:
        """A folder for what is needed while the export runs."""
        return self.partial / SPOOL

    def swap(self, made: Path, *, force: bool) -> None:
        """Give what was made its final name."""
        self.check_replaceable(force=force)
        old = self.target.with_name(f".{self.target.name}.refbrowser-old")
        if self.exists:
            remove(old)
            os.replace(self.target, old)
        os.replace(made, self.target)
        remove(old)


class FilePlace(TargetPlace):
    """One file, which is made beside its name in one step."""

    def fill(self, work: Callable[[BinaryIO], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the file, and give it its name."""
        remove_leftovers(self.target)
        fill_atomically(self.target, work)


class TargetFolder(TargetPlace):
    """A folder being made. Writing is safe from any thread."""

    goes_on = True

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._folders: dict[str, Path] = {}
        self._made: set[Path] = set()

    def begin(self, entries: Iterable[Written]) -> None:
        """Go on with what an earlier run has written."""

    def path(self, key: str) -> Path:
        """Return where an object is written."""
        folder, _, name = key.rpartition("/")
        # A folder is looked at once: chunks are many, and their names are numbers.
        parent = self._folders.get(folder)
        if parent is None:
            parent = self._folders[folder] = path_below(self.partial, key).parent
        return parent / name

    def write(self, key: str, portions: Iterable[Buffer], size: int) -> None:
        """Write one object whole.

        Parameters
        ----------
        size
            Of all portions together.

        Raises
        ------
        OSError
            It cannot be written.
        """
        path = self.path(key)
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        descriptor = os.open(path, _FLAGS, 0o666)
        try:
            for portion in portions:
                left = memoryview(portion).cast("B")
                while left:
                    left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)

    def holds(self, entry: Written) -> bool:
        """Tell whether an object that an earlier run has written is still there."""
        try:
            return self.path(entry.key).stat().st_size == entry.size
        except OSError:
            return False

    def stored(self, key: str, place: Any) -> StoredFile:
        """Return an object as it is on the disk, by its key and what `write` gave."""
        return StoredFile(self.path(key))

    def finish(self, *, force: bool) -> None:
        """Give the folder its final name, without what does not belong to the dataset."""
        (self.partial / NAME).unlink(missing_ok=True)
        remove(self.spool)
        if hasattr(os, "sync"):
            os.sync()
        self.swap(self.partial, force=force)

    def complete(self) -> CompleteFolder:
        """Return the finished target for reading."""
        return CompleteFolder(self.target)


class StoredFile:
    """A file, or a range of one, as an object that can be read in parts.

    Raises
    ------
    OSError
        There is no such file.
    """

    def __init__(self, path: Path, offset: int = 0, size: int | None = None) -> None:
        self._path = path
        self._offset = offset
        self.size = path.stat().st_size if size is None else size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the object; fewer where it ends."""
        with self._path.open("rb", buffering=0) as stream:
            stream.seek(self._offset + offset)
            return stream.read(max(0, min(size, self.size - offset)))


class CompleteFolder:
    """A folder that an export has written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stored(self, key: str) -> StoredFile:
        """Return an object.

        Raises
        ------
        OSError
            It is not there.
        """
        return StoredFile(self.folder.joinpath(*key.split("/")))


def remove(path: Path) -> None:
    """Remove a file or a folder with all in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
