"""Where Awkward 0 is written: an archive, HDF5 or a folder, what is there already, and reading it again."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.folder import TargetPlace
from refbrowser.exporting.paths import check_collisions, escaped_key, path_below
from refbrowser.exporting.zip_file import (
    Member,
    central_header,
    data_start,
    directory_of,
    local_header,
)
from refbrowser.io.access.access import Access
from refbrowser.io.archives.directory import kept_members
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.archive_reading import data_start as start_of_data
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.files.atomic import ChangedOnDiskError, check_unprotected
from refbrowser.io.files.final_names import give_name
from refbrowser.io.identity import FileIdentity, identity_on_disk
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Blob, Container, ZipContainer
from refbrowser.wings.awkward0.files.hdf5 import write_hdf5
from refbrowser.wings.awkward0.layouts.functions import AllowList, ExpressionKind
from refbrowser.wings.awkward0.layouts.layouts import length_of
from refbrowser.wings.awkward0.layouts.schema import read_schema
from refbrowser.wings.awkward0.reading.arrays import (
    Awkward0Array,
    FoundSchema,
    blob_finder,
    build_arrays,
    find_schemas,
)
from refbrowser.wings.awkward0.reading.naming import schema_name
from refbrowser.wings.awkward0.reading.opening import open_container
from refbrowser.wings.awkward0.writing.blobs import PutBlob


@dataclass(frozen=True, slots=True)
class Existing:
    """What a target has.

    Attributes
    ----------
    names
        Of all blobs, those of other things in it too.
    arrays
        For the name of each array the blobs that it is made of.
    identity
        Of the file when it was looked at; None of a folder.
    """

    names: frozenset[str] = frozenset()
    arrays: Mapping[str, frozenset[str]] = field(default_factory=dict)
    identity: FileIdentity | None = None

    def removed(self, arrays: list[str]) -> frozenset[str]:
        """Return the blobs of some arrays that no other array has.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such array.
        """
        for name in arrays:
            if name not in self.arrays:
                known = ", ".join(quoted(each) for each in sorted(self.arrays)[:10])
                raise RefbrowserError(
                    ErrorKind.USAGE, f"the target has no array {quoted(name)}", advice=f"it has {known}"
                )
        kept = [blobs for name, blobs in self.arrays.items() if name not in arrays]
        gone = frozenset().union(*(self.arrays[name] for name in arrays))
        return gone - frozenset().union(*kept)


def existing_in(target: str, fetcher: Fetcher, token: CancelToken) -> Existing:
    """Return what a target has; nothing where it is not there yet.

    Raises
    ------
    RefbrowserError
        It cannot be read, so nothing can be added to it.
    """
    if not os.path.lexists(target):
        return Existing()
    identity = None if os.path.isdir(target) else identity_on_disk(target)
    container = open_container(target, Access.for_document(os.path.abspath(target)), fetcher, token)
    if container.findings and container.kind == "zip":
        raise RefbrowserError(
            ErrorKind.FORMAT,
            f"a damaged archive cannot be extended: {container.findings[0].message}",
            Place(path=target),
            "export it again instead",
        )
    found = find_schemas(container, token)
    arrays = {each.name.array: _blobs(container, each) for each in found.schemas if each.schema is not None}
    return Existing(frozenset(container.names()), arrays, identity)


def _blobs(container: Container, found: FoundSchema) -> frozenset[str]:
    assert found.schema is not None
    find = blob_finder(container, found.name)
    names = {found.member}
    for expression in found.schema.expressions:
        if expression.kind is ExpressionKind.READ:
            name = expression.value if expression.is_absolute else found.schema.prefix + expression.value
            blob = find(name)
            if blob is not None:
                names.add(blob.name)
    return frozenset(names)


#: Bytes that are copied at once.
PORTION = 4 * 1024 * 1024


class ArchiveWriter:
    """Writes an archive into an empty file (`Sink`); `finish` makes it one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: list[bytes] = []
        self._end = 0

    def keep(self, path: Path, gone: Collection[str], token: CancelToken) -> None:
        """Take over the members of another archive, all but some.

        Raises
        ------
        RefbrowserError
            Its directory is damaged.
        """
        with path.open("rb") as old:

            def read(start: int, stop: int) -> bytes:
                old.seek(start)
                return old.read(stop - start)

            for member in kept_members(read, os.fstat(old.fileno()).st_size, str(path)):
                if member.name in gone:
                    continue
                self._entries.append(member.entry_at(self._end))
                old.seek(member.start)
                left = member.stop - member.start
                while left:
                    token.check()
                    portion = old.read(min(PORTION, left))
                    if not portion:
                        raise OSError("the archive was cut short meanwhile")
                    left -= len(portion)
                    self._write(portion)

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Write a member whole.

        Raises
        ------
        OSError
            It cannot be written.
        """
        start = self._end
        # Whether its header has room for a large size must be known before the size is.
        member = Member(name, most, start, 0)
        member = member._replace(has_room=data_start(member) > data_start(member._replace(size=0)))
        room = data_start(member)
        self._write(bytes(room))
        checksum = 0
        try:
            for portion in portions:
                checksum = zlib.crc32(portion, checksum)
                self._write(portion)
        except BaseException:
            # The next one takes its place.
            self._end = self._file.seek(start)
            raise
        member = member._replace(size=self._end - start - room, checksum=checksum)
        if data_start(member) != room:
            raise OSError(f"member {name!r} is larger than the {most} bytes that were announced")
        self._file.seek(start)
        self._file.write(local_header(member))
        self._file.seek(self._end)
        self._entries.append(central_header(member))

    def finish(self) -> None:
        """Write the directory."""
        for portion in directory_of(self._entries, len(self._entries), self._end):
            self._file.write(portion)
        self._file.truncate()
        self._file.flush()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._end += len(data)


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

    def finish(self, *, force: bool) -> None:
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
                        ErrorKind.USAGE, f"{quoted(above)} is a dataset, not a group for {quoted(name)}"
                    )
                above = above.rpartition("/")[0]

    def made(self, token: CancelToken) -> Path:
        """Write the file."""
        if self.keeps:
            shutil.copyfile(self.target, self._path)
        self.sink.close()
        kept = self._path.stat().st_size if self.keeps else 0
        write_hdf5(
            self._path,
            self.sink.path,
            self.sink.blobs,
            sorted(self.gone),
            changes=self.keeps,
            size=kept + self.sink.size,
            token=token,
        )
        return self._path

    def finish(self, *, force: bool) -> None:
        """Give the file its final name in one step."""
        _replace_file(self, self._path, force=force)


class _Gathered:
    """Blobs one after another in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blobs: list[tuple[str, int, int]] = []
        self.size = 0
        self._file = path.open("xb")

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        start = stop = self._file.seek(self.size)
        for portion in portions:
            stop += self._file.write(portion)
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
    give_name(made, place.target)


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
                    f"{quoted(name)} is not a valid file name",
                    advice="choose another with --name",
                )
        files = [*self.kept, *names]
        folders = {f"{name.rpartition('/')[0]}/" for name in files if "/" in name}
        check_collisions([*files, *folders], ignore_case=self.ignores_case)

    def made(self, token: CancelToken) -> Path:
        """Return the folder."""
        return self._folder

    def finish(self, *, force: bool) -> None:
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

    def put(self, name: str, portions: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        path = path_below(self._folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for portion in portions:
                file.write(portion)
            file.flush()
            os.fsync(file.fileno())
        self.names.append(name)


AnyPlace = ArchivePlace | Hdf5Place | FolderPlace
PLACES: dict[str, type[ArchivePlace] | type[Hdf5Place] | type[FolderPlace]] = {
    "zip": ArchivePlace,
    "hdf5": Hdf5Place,
    "folder": FolderPlace,
}


#: Bytes that are read at once.
PORTION_READ = 4 * 1024 * 1024
#: Bytes of a member in which its header ends.
_HEADER = 64 * 1024


def verify_written(
    made: Path,
    target: str,
    blobs: Iterable[PutBlob],
    lengths: Mapping[str, int | None],
    gone: Iterable[str],
    fetcher: Fetcher,
    token: CancelToken,
) -> int:
    """Return how many blobs were found again, each with the bytes that it was given.

    Parameters
    ----------
    made
        What was written, under its temporary name.
    target
        Its name, for errors.
    lengths
        Rows of the arrays that were written, by the names of their descriptions; None of plain values.
    gone
        Blobs that must not be there any more.

    Raises
    ------
    RefbrowserError
        `E_IO`: something is not as it was written.
    """
    container = open_container(str(made), Access.for_document(str(made)), fetcher, token)
    count = 0
    for each in blobs:
        token.check()
        blob = container.find(each.name)
        if blob is None or blob.error is not None or blob.size != each.size:
            raise _failed(target, f"blob {quoted(each.name)} is incomplete")
        if _crc(container, blob) != each.crc:
            raise _failed(target, f"blob {quoted(each.name)} has other bytes")
        count += 1
    left = set(gone).intersection(container.names())
    if left:
        raise _failed(target, f"blob {quoted(min(left))} is still there")
    _check_arrays(container, target, lengths, token)
    return count


def _check_arrays(
    container: Container, target: str, lengths: Mapping[str, int | None], token: CancelToken
) -> None:
    answers = container.read(list(lengths), AWKWARD_LIMITS.awkward_schema)
    found = [_found(container, target, name, answers.get(name)) for name in lengths]
    arrays = {each.member: each for each in build_arrays(container, found, AllowList.of("*"), token)}
    for name, length in lengths.items():
        array = arrays[name]
        if array.error is not None or array.layout is None:
            raise _failed(target, f"array {quoted(name)} cannot be read: {array.error}")
        if _length(array) != length:
            raise _failed(target, f"array {quoted(name)} has not {length} rows")


def _found(
    container: Container, target: str, name: str, answer: bytes | RefbrowserError | None
) -> FoundSchema:
    if not isinstance(answer, bytes):
        raise _failed(target, f"there is no array {quoted(name)}")
    schema = read_schema(answer, name=name, place=Place(url=container.url, key=name))
    return FoundSchema(name, schema_name(name, schema.prefix), schema)


def _length(array: Awkward0Array) -> int | None:
    assert array.layout is not None
    return length_of(array.layout)


def _crc(container: Container, blob: Blob) -> int:
    crc = 0
    for portion in _portions(container, blob):
        crc = zlib.crc32(portion, crc)
    return crc


def _portions(container: Container, blob: Blob) -> Iterator[bytes]:
    """Yield the bytes of a blob as they stand on the disk."""
    reference = blob.reference
    if isinstance(reference, Inline):
        yield reference.data
        return
    path, start = container.url, 0
    if isinstance(reference, ByteRange):
        start = reference.offset
    elif isinstance(container, ZipContainer):
        start = _start_of_member(container, blob)
    elif isinstance(reference, WholeFile):
        path = reference.url
    with open(path, "rb") as file:
        file.seek(start)
        left = blob.size
        while left and (portion := file.read(min(PORTION_READ, left))):
            left -= len(portion)
            yield portion


def _start_of_member(container: ZipContainer, blob: Blob) -> int:
    row = container.directory.find(blob.name)
    assert row is not None
    member = container.directory.member(row)
    with open(container.url, "rb") as file:
        file.seek(member.start)
        head = file.read(min(member.stop - member.start, _HEADER))
    return start_of_data(member, memoryview(head), container.url)


def _failed(target: str, what: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=target))
