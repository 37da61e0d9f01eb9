"""Where arrays are written: an archive, an HDF5 file, a folder; under a temporary name until all is there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.awkward0.archive import ArchiveWriter
from refbrowser.exporting.awkward0.existing import Existing
from refbrowser.exporting.folder import TargetPlace, remove
from refbrowser.exporting.paths import check_collisions, escaped_key, path_below
from refbrowser.formats.awkward0.containers.hdf5_process import ask_hdf5
from refbrowser.io.atomic import ChangedOnDiskError, check_unprotected, identity_on_disk
from refbrowser.io.cancel import CancelToken


class AwkwardPlace(TargetPlace):
    """A target being made, or an existing one that arrays are added to.

    Parameters
    ----------
    existing
        What it has.
    gone
        Blobs of it that are not kept.
    keeps
        Whether the others are kept.
    """

    def __init__(self, target: str, existing: Existing, gone: Collection[str], *, keeps: bool) -> None:
        super().__init__(target)
        self.existing = existing
        self.gone = gone
        self.keeps = keeps and self.exists

    @property
    def kept(self) -> frozenset[str]:
        """Names of the blobs that stay."""
        return self.existing.names - set(self.gone) if self.keeps else frozenset()

    @property
    def kept_bytes(self) -> int:
        """Bytes that are copied of what the target has."""
        return self.target.stat().st_size if self.keeps and self.target.is_file() else 0

    def clear(self) -> None:
        """Remove what is left of an attempt."""
        remove(self.partial)

    def check_names(self, names: Iterable[str]) -> None:
        """Raise where the container cannot have blobs of these names."""

    def check_existing(self) -> None:
        """Raise `E_IO` where the target is not the one that was looked at."""
        if not self.keeps or self.existing.identity is None:
            return
        if identity_on_disk(self.target) != self.existing.identity:
            raise ChangedOnDiskError(
                ErrorKind.IO, "the file was changed by another program", Place(path=str(self.target))
            )


class ArchivePlace(AwkwardPlace):
    """An archive."""

    def begin(self, token: CancelToken) -> None:
        """Make the incomplete file, with what is kept in it."""
        self._path = self.partial / "archive"
        self._file: BinaryIO = self._path.open("x+b")
        self.sink = ArchiveWriter(self._file)
        if self.keeps:
            self.sink.keep(self.target, self.gone, token)

    def made(self, token: CancelToken) -> Path:
        """Write the directory."""
        self.sink.finish()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._path

    def give_name(self, *, force: bool) -> None:
        """Give the file its final name in one step."""
        _replace_file(self, self._path, force=force)


class Hdf5Place(AwkwardPlace):
    """An HDF5 file, written by the process that knows it."""

    def begin(self, token: CancelToken) -> None:
        """Begin with the file in which the bytes of blobs are gathered."""
        self._path = self.partial / "made.h5"
        self.sink = _Gathered(self.partial / "data")

    def check_names(self, names: Iterable[str]) -> None:
        """Raise `E_USAGE` where a dataset would need to be a group."""
        datasets = {*self.kept, *names}
        for name in datasets:
            above = name.rpartition("/")[0]
            while above:
                if above in datasets:
                    raise RefbrowserError(
                        ErrorKind.USAGE, f"{quoted(above)} is a dataset, and no group for {quoted(name)}"
                    )
                above = above.rpartition("/")[0]

    def made(self, token: CancelToken) -> Path:
        """Write the file."""
        if self.keeps:
            shutil.copyfile(self.target, self._path)
        self.sink.close()
        request: dict[str, Any] = {
            "operation": "write",
            "path": str(self._path),
            "mode": "r+" if self.keeps else "x",
            "data": str(self.sink.path),
            "removed": sorted(self.gone),
            "added": self.sink.blobs,
        }
        ask_hdf5(
            request,
            lambda answer: None,
            token,
            data=self._path.stat().st_size + self.sink.size if self.keeps else self.sink.size,
        )
        return self._path

    def give_name(self, *, force: bool) -> None:
        """Give the file its final name in one step."""
        _replace_file(self, self._path, force=force)


class _Gathered:
    """Blobs one after another in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blobs: list[tuple[str, int, int]] = []
        self.size = 0
        self._file = path.open("xb")

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        start = stop = self._file.seek(self.size)
        for piece in pieces:
            stop += self._file.write(piece)
        self.size = stop
        self.blobs.append((name, start, stop - start))

    def close(self) -> None:
        """Write all to the disk."""
        self._file.close()


def _replace_file(place: AwkwardPlace, made: Path, *, force: bool) -> None:
    place.check_existing()
    if place.keeps:
        shutil.copymode(place.target, made)
    else:
        place.check_replaceable(force=force)
        if place.target.is_dir():
            place.swap(made, force=force)
            return
    os.replace(made, place.target)


class FolderPlace(AwkwardPlace):
    """A folder of named blobs."""

    def begin(self, token: CancelToken) -> None:
        """Make the incomplete folder."""
        self._folder = self.partial / "made"
        self._folder.mkdir()
        self.sink = _Files(self._folder)

    def check_replaceable(self, *, force: bool) -> None:
        """Raise `E_IO` where the target must not be replaced; a folder of arrays may be, with `force`."""
        if force and self.target.is_dir() and self.existing.arrays:
            check_unprotected(self.target)
            return
        super().check_replaceable(force=force)

    def check_names(self, names: Iterable[str]) -> None:
        """Raise where a file system cannot have these names."""
        names = list(names)
        for name in names:
            if escaped_key(name) != name:
                raise RefbrowserError(
                    ErrorKind.USAGE,
                    f"no file can be called {quoted(name)}",
                    advice="choose another with --name",
                )
        files = [*self.kept, *names]
        folders = {f"{name.rpartition('/')[0]}/" for name in files if "/" in name}
        check_collisions([*files, *folders], ignore_case=self.ignores_case)

    def made(self, token: CancelToken) -> Path:
        """Return the folder."""
        return self._folder

    def give_name(self, *, force: bool) -> None:
        """Give all files their final names; in a folder that is kept, descriptions after blobs."""
        if not self.keeps:
            self.swap(self._folder, force=force)
            return
        for name in self.sink.names:
            final = path_below(self.target, name)
            final.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path_below(self._folder, name), final)
        for name in sorted(set(self.gone) - set(self.sink.names)):
            path_below(self.target, name).unlink(missing_ok=True)


class _Files:
    """Blobs as files below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: list[str] = []

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        path = path_below(self._folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        self.names.append(name)


AnyPlace = ArchivePlace | Hdf5Place | FolderPlace
PLACES: dict[str, type[ArchivePlace] | type[Hdf5Place] | type[FolderPlace]] = {
    "zip": ArchivePlace,
    "hdf5": Hdf5Place,
    "folder": FolderPlace,
}
