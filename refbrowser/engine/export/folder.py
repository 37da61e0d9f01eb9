"""The folder that an export writes: under a temporary name until it is complete and verified."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

from refbrowser.engine.export.journal import owner_of
from refbrowser.engine.export.paths import ignores_case, path_below
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.processes import is_running

#: A folder that holds one of these may be replaced with force: it is a dataset, not somebody's home.
_DATASET_MARKS = (".zgroup", ".zarray", ".zattrs", ".zmetadata", "zarr.json")
#: Part of the free space that stays free.
RESERVE = 0.05
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

_active: set[str] = set()
_active_lock = threading.Lock()


class TargetFolder:
    """A folder being made. Writing is safe from any thread.

    Parameters
    ----------
    target
        Its final name.

    Raises
    ------
    RefbrowserError
        `E_IO`: there is no folder to make it in.
    """

    def __init__(self, target: str) -> None:
        self.target = Path(os.path.realpath(target))
        self.partial = self.target.with_name(f".{self.target.name}.refbrowser-partial")
        self._folders: dict[str, Path] = {}
        self._made: set[Path] = set()
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
            owner = owner_of(self.partial)
            if str(self.partial) in _active or (owner not in (None, os.getpid()) and is_running(owner)):
                raise RefbrowserError(
                    ErrorKind.IO, "another export is writing this target", Place(path=str(self.target))
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
        """Let another export write this target."""
        with _active_lock:
            _active.discard(str(self.partial))

    def path(self, key: str) -> Path:
        """Return where an object is written."""
        folder, _, name = key.rpartition("/")
        # A folder is looked at once: chunks are many, and their names are numbers.
        parent = self._folders.get(folder)
        if parent is None:
            parent = self._folders[folder] = path_below(self.partial, key).parent
        return parent / name

    def write(self, key: str, data: bytes | memoryview) -> None:
        """Write one object whole.

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
            left = memoryview(data).cast("B")
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)

    def read(self, key: str) -> bytes:
        """Return the bytes of an object as they are on the disk."""
        return self.path(key).read_bytes()

    def finish(self, extra: str, *, force: bool) -> None:
        """Give the folder its final name; `extra` is a file that does not belong to the dataset."""
        self.check_replaceable(force=force)
        (self.partial / extra).unlink(missing_ok=True)
        if hasattr(os, "sync"):
            os.sync()
        old = self.target.with_name(f".{self.target.name}.refbrowser-old")
        if self.exists:
            _remove(old)
            os.replace(self.target, old)
        os.replace(self.partial, self.target)
        _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
