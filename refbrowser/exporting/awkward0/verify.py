"""Reading arrays again that were written, and comparing them with what was meant."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.arrays import Awkward0Array, build_arrays
from refbrowser.formats.awkward0.container import Blob, Container
from refbrowser.formats.awkward0.containers.zip import ZipContainer
from refbrowser.formats.awkward0.finding_arrays import FoundSchema
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.formats.awkward0.naming import schema_name
from refbrowser.formats.awkward0.opening import open_container
from refbrowser.formats.awkward0.schema import read_schema
from refbrowser.formats.awkward0.writing.blobs import PutBlob
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.zip_member import data_start
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Inline, WholeFile

#: Bytes that are read at once.
PORTION = 4 * 1024 * 1024
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
    Cancelled
        The export was cancelled.
    """
    container = open_container(str(made), Access.for_document(str(made)), fetcher, token)
    count = 0
    for each in blobs:
        token.check()
        blob = container.find(each.name)
        if blob is None or blob.error is not None or blob.size != each.size:
            raise _failed(target, f"blob {quoted(each.name)} is not there as a whole")
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
    answers = container.read(list(lengths), LIMITS.awkward_schema)
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
    for piece in _pieces(container, blob):
        crc = zlib.crc32(piece, crc)
    return crc


def _pieces(container: Container, blob: Blob) -> Iterator[bytes]:
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
        while left and (piece := file.read(min(PORTION, left))):
            left -= len(piece)
            yield piece


def _start_of_member(container: ZipContainer, blob: Blob) -> int:
    row = container.directory.find(blob.name)
    assert row is not None
    member = container.directory.member(row)
    with open(container.url, "rb") as file:
        file.seek(member.start)
        head = file.read(min(member.stop - member.start, _HEADER))
    return data_start(member, memoryview(head), container.url)


def _failed(target: str, what: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=target))
