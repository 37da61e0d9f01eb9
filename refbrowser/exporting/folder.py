"""What an export writes into, under a temporary name until it is complete and verified."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from uuid import uuid4

from refbrowser.engine.workers.peers import worker_name
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.journal import NAME, Written, fingerprint_of, is_written
from refbrowser.exporting.paths import ignores_case, path_below
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.atomic import check_unprotected, fill_atomically
from refbrowser.io.files.final_names import give_name, recover
from refbrowser.io.files.hidden_siblings import remove_leftovers
from refbrowser.io.files.own_names import create_own, fresh_folder, own_folder, remove
from refbrowser.io.files.permissions import state_folder
from refbrowser.io.origins import in_object_store, scheme_of, split_url

#: A folder that holds one of these may be replaced with force: it is a dataset, not somebody's home.
DATASET_MARKS = (
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
#: Beginning of the names of folders for what other processes are writing.
RUN = ".refbrowser-run-"
#: Seconds that a journal is kept which lies apart from its target.
_KEPT = 90 * 86400.0
#: Part of the free space that stays free.
RESERVE = 0.05

_active: set[str] = set()
_active_lock = threading.Lock()


def partial_of(target: str) -> Path:
    """Return the folder in which a target is made; of one in an object store, the folder of its journal."""
    if in_object_store(target):
        parts = split_url(target)
        name = hashlib.sha256(f"{parts.origin}/{parts.path.strip('/')}".encode()).hexdigest()[:32]
        return state_folder() / "exports" / name
    path = Path(os.path.realpath(target))
    return path.with_name(f".{path.name}.refbrowser-partial")


def remove_leftover(target: str) -> None:
    """Remove what an interrupted export left at a target, unless one is writing there."""
    partial = partial_of(target)
    with _active_lock:
        if not _is_written(partial):
            remove(partial)


def remove_forgotten(folder: Path) -> None:
    """Remove journals of exports from a folder with which nobody went on for a long time."""
    oldest = time.time() - _KEPT
    with _active_lock:
        for partial in folder.iterdir():
            journal = partial / NAME
            # Another program may end its export meanwhile; what cannot be removed costs none.
            with suppress(OSError):
                changed = (journal if journal.is_file() else partial).stat().st_mtime
                if changed < oldest and not _is_written(partial):
                    remove(partial)


def _is_written(partial: Path) -> bool:
    """Tell whether an export is writing there; the caller holds the lock."""
    return str(partial) in _active or is_written(partial)


class Making:
    """Where a target is made until it is complete and verified: by one export at a time.

    Attributes
    ----------
    target
        Its final name, a path or a URL.
    partial
        A folder of this computer for what is needed meanwhile.
    token
        Ends what waits while it is written.
    """

    #: Whether an export that ended early is gone on with.
    goes_on: ClassVar[bool] = False
    #: Small objects that are written or read at once, where each takes its time.
    at_once: ClassVar[int] = 1

    def __init__(self, target: Any, partial: Path) -> None:
        self.target = target
        self.partial = partial
        self.token = CancelToken()

    @property
    def exists(self) -> bool:
        """Whether there is something under the final name."""
        raise NotImplementedError

    @property
    def is_begun(self) -> bool:
        """Whether an export of it ended early."""
        return self.partial.is_dir()

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
            self.prepare(resume=resume)
        except BaseException:
            self.leave()
            raise

    def prepare(self, *, resume: bool) -> None:
        """Make the incomplete folder, or go on in the one that is there; nobody else does meanwhile."""
        if resume and self.goes_on and not self.partial.is_symlink():
            own_folder(self.partial)
        else:
            fresh_folder(self.partial)

    def leave(self) -> None:
        """Let another export write this target, from its beginning where none goes on with what is there."""
        try:
            if not self.goes_on:
                remove(self.partial)
            with suppress(OSError):
                # Where nothing was begun.
                self.partial.rmdir()
        finally:
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

    # Beside other processes

    @contextmanager
    def hosting(self, run: str) -> Iterator[None]:
        """Let other processes write to it meanwhile, where the place is one that they reach.

        Parameters
        ----------
        run
            A name that no other run has.
        """
        yield

    def join(self, run: str, fingerprint: str) -> None:
        """Write to what another process opened, each object in one step.

        Parameters
        ----------
        fingerprint
            Of the export, as its journal has it.

        Raises
        ------
        RefbrowserError
            `E_IO`: this process does not see what the other one opened.
        """
        raise NotImplementedError

    @property
    def is_joined(self) -> bool:
        """Whether the process that opened it still wants what this one writes."""
        return False

    @property
    def spool(self) -> Path:
        """A folder for what is needed while the export runs."""
        return self.partial / SPOOL


class TargetPlace(Making):
    """The final name of a target on a disk, and the folder beside it in which it is made.

    Parameters
    ----------
    target
        Its final name.

    Raises
    ------
    RefbrowserError
        `E_IO`: there is no folder to make it in; `E_USAGE`: it is on no disk.
    """

    target: Path

    def __init__(self, target: str) -> None:
        if (scheme_of(target) or "file") != "file":
            raise RefbrowserError(
                ErrorKind.USAGE,
                "this cannot be written to a URL",
                Place(url=target),
                "write it to a file and copy that; Zarr stores in folders, and reference documents, can be "
                "written to s3, gs and abfs",
            )
        super().__init__(Path(os.path.realpath(target)), partial_of(target))
        check_name(str(self.target))
        parent = self.target.parent
        if not parent.is_dir():
            raise RefbrowserError(ErrorKind.IO, "there is no such folder", Place(path=str(parent)))

    @property
    def exists(self) -> bool:
        """Whether there is something under the final name."""
        return os.path.lexists(self.target)

    @property
    def beside(self) -> Path:
        """Where files lie that are needed while a complete target is read."""
        return self.target.parent

    @property
    def ignores_case(self) -> bool:
        """Whether names that differ in case only are the same file."""
        return ignores_case(self.target.parent)

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target is there and must not be replaced, with `force` or without."""
        recover(self.target)
        if not self.exists:
            return
        place = Place(path=str(self.target))
        if not force:
            raise TargetExistsError(
                ErrorKind.IO, "the target exists already", place, "give --force to replace it"
            )
        is_dataset = any((self.target / mark).exists() for mark in DATASET_MARKS)
        if self.target.is_dir() and not is_dataset and any(self.target.iterdir()):
            raise RefbrowserError(
                ErrorKind.IO, "the target is a folder without a dataset, and is not replaced", place
            )
        check_unprotected(self.target)

    def check_space(self, size: int) -> None:
        """Raise `E_IO` where `size` bytes and a reserve do not fit the disk."""
        check_space(self.target.parent, size)

    def swap(self, made: Path, *, force: bool) -> None:
        """Give what was made its final name."""
        self.check_replaceable(force=force)
        give_name(made, self.target)


class FilePlace(TargetPlace):
    """One file, which is made beside its name in one step."""

    def fill(self, work: Callable[[BinaryIO], object], *, resume: bool, force: bool) -> None:
        """Have `work` write and verify the file, and give it its name."""
        remove_leftovers(self.target)
        fill_atomically(self.target, work)


class StorePlace(TargetPlace):
    """What takes the objects of a store, from any thread."""

    goes_on = True

    def __init__(self, target: str) -> None:
        super().__init__(target)
        try:
            str(self.target).encode()
        except UnicodeEncodeError as error:
            message = "what is written there could not be opened again: its path is not UTF-8"
            place = Place(path=str(self.target))
            raise RefbrowserError(ErrorKind.USAGE, message, place, "choose another name") from error

    def described(self, metadata: Mapping[str, bytes]) -> dict[str, Any]:
        """Write the metadata before all else; returns what `write` gives, by key."""
        return {key: self.write(key, [data], len(data)) for key, data in metadata.items()}

    def write(self, key: str, portions: Iterable[Buffer], size: int) -> Any:
        """Write one object whole."""
        raise NotImplementedError

    def confirmed(self, entries: Sequence[Written]) -> frozenset[str]:
        """Return the keys of objects that need not be read to know that they are as they were written."""
        return frozenset()

    def concluded(self, metadata: Mapping[str, bytes], entries: Sequence[Written]) -> dict[str, Any]:
        """Write what metadata is to come after all else; returns what `write` gives, by key."""
        return {}


class TargetFolder(StorePlace):
    """A folder being made. Writing is safe from any thread."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._folders: dict[str, Path] = {}
        self._made: set[Path] = set()
        #: Where objects are written before they get their names; None where nobody else writes them.
        self._run: Path | None = None

    @contextmanager
    def hosting(self, run: str) -> Iterator[None]:
        """Let other processes write to it meanwhile; afterwards they cannot any more."""
        self._remove_runs()
        self.partial.joinpath(RUN + run).mkdir()
        try:
            yield
        finally:
            self._remove_runs()

    def _remove_runs(self) -> None:
        for left in self.partial.glob(f"{RUN}*"):
            # A process that writes to it still may come between.
            shutil.rmtree(left, ignore_errors=True)

    def join(self, run: str, fingerprint: str) -> None:
        """Write to the folder that another process opened."""
        self._run = self.partial / (RUN + run)
        if not self.is_joined or fingerprint_of(self.partial) != fingerprint:
            message = f"worker {worker_name()} cannot write the target: it does not see the folder"
            advice = "give a target that all workers see under the same path"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=str(self.partial)), advice)

    @property
    def is_joined(self) -> bool:
        """Whether the process that opened it still wants what is written."""
        return self._run is not None and self._run.is_dir()

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
        if self._run is not None:
            # Where the run is over, so is its folder, and nothing is made.
            whole = self._run / uuid4().hex
            _write(whole, portions)
            self._make_parent(path)
            os.replace(whole, path)
            return
        self._make_parent(path)
        _write(path, portions)

    def _make_parent(self, path: Path) -> None:
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)

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
        remove(self.spool)
        self._remove_runs()
        if hasattr(os, "sync"):
            os.sync()
        # Until here a killed export can be gone on with.
        (self.partial / NAME).unlink(missing_ok=True)
        self.swap(self.partial, force=force)

    def complete(self) -> CompleteFolder:
        """Return the finished target for reading."""
        return CompleteFolder(self.target)


def _write(path: Path, portions: Iterable[Buffer]) -> None:
    descriptor = create_own(path)
    try:
        for portion in portions:
            left = memoryview(portion).cast("B")
            while left:
                left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


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


def check_name(path: str) -> None:
    """Raise `E_USAGE` where what has this path could not be opened again.

    In references ``::`` links an archive with its member, and no URL holds control characters.
    """
    try:
        split_url(path)
    except RefbrowserError as error:
        message = f"what is written there could not be opened again: {error.message}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=path), "choose another name") from error


def check_space(folder: Path, size: int) -> None:
    """Raise `E_IO` where `size` bytes and a reserve do not fit the disk of a folder."""
    free = shutil.disk_usage(folder).free
    if free < size * (1 + RESERVE):
        raise RefbrowserError(
            ErrorKind.IO,
            f"the disk has {free} bytes left, the export may need {size}",
            Place(path=str(folder)),
        )
