"""Merges reference documents and writes the result; what was written is read again before it counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.folder import FilePlace
from refbrowser.exporting.saving.save import not_written, write_verified
from refbrowser.formats.compression import compress
from refbrowser.formats.option_fields import Item, Kind, documented, option
from refbrowser.formats.references import document_chunks, open_references
from refbrowser.io.access.local_files import failed, open_regular, read_bytes
from refbrowser.io.files.atomic import write_atomically
from refbrowser.io.origins import is_same_file, local_path
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.many_edits import RebaseUrls, prefix_between, relative_urls
from refbrowser.references.merging.conflict_file import ConflictFile, parse_conflict_file
from refbrowser.references.merging.merge import Choice, Merged, merge_documents

#: Bytes of a list of conflicts.
SIZE = 1 << 28


@documented
@dataclass(frozen=True, slots=True)
class MergeRequest:
    """What is merged.

    Attributes
    ----------
    base, ours, theirs
        The documents; a base that is an empty file, as git gives it where both sides added the document, says
        nothing.
    mark
        Makes one text of two, with ours and with theirs at each conflict: what is written where conflicts are
        left. None where ours stands there; so it does in packed documents.
    """

    base: OpenRequest
    ours: OpenRequest
    theirs: OpenRequest
    target: str | None = field(
        default=None,
        metadata=option(
            "--output OUT",
            "the document to be made; where it is OURS, conflicts are marked in it as git marks them",
            short="-o",
            about="Where the result goes; it may be `ours`. None for nowhere.",
        ),
    )
    favor: Choice | None = field(
        default=None,
        metadata=option(
            "--favor",
            "whose value is taken where both changed a place",
            about="Whose value settles conflicts.",
            kind=Kind.CHOICE,
            parse=Choice,
            items=(Item("ours", "ours"), Item("theirs", "theirs")),
        ),
    )
    force: bool = field(
        default=False, metadata=option("--force", "replace the target", kind=Kind.TICK, means=True)
    )
    mark: Callable[[bytes, bytes], Iterable[bytes]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    """The three documents, and the folder of ours, or the URL that it came from."""

    base: ReferenceDocument
    ours: ReferenceDocument
    theirs: ReferenceDocument
    folder: str


def merge_files(request: MergeRequest, control: JobControl | None = None) -> Merged:
    """Merge documents, and write the result where it is to go.

    Raises
    ------
    RefbrowserError
        A document cannot be read, or what is named is none; the target is there, or cannot be written.
    """
    control = control or JobControl()
    target = request.target
    place = None if target is None else FilePlace(target)
    if place is not None and not is_same_file(request.ours.path, os.fspath(place.target)):
        place.check_replaceable(force=request.force)
    sides = _opened(request, control)
    control.stage("merging")
    merged = merge_documents(sides.base, sides.ours, sides.theirs, request.favor, control.check)
    if place is not None and merged.conflicts and request.mark is not None and sides.ours.packed is None:
        other = merge_documents(sides.base, sides.ours, sides.theirs, Choice.THEIRS, control.check)
        texts = (b"".join(each.document.to_chunks()) for each in (merged, other))
        write_atomically(place.target, request.mark(*texts), cancel=control.token)
    elif place is not None:
        _write(merged, os.fspath(place.target), sides, request, control)
    return merged


def _opened(request: MergeRequest, control: JobControl) -> _Sides:
    ours, folder = document_to_merge(request.ours, control)
    theirs, _ = document_to_merge(request.theirs, control)
    if _is_empty(request.base.path):
        text = b"{}" if ours.version == 0 == theirs.version else b'{"version": 1, "refs": {}}'
        before = ReferenceDocument.of(text)
    else:
        before, _ = document_to_merge(request.base, control)
    return _Sides(before, ours, theirs, folder)


def document_to_merge(request: OpenRequest, control: JobControl) -> tuple[ReferenceDocument, str]:
    """Return a document that can be merged, and its folder, or the URL that it came from.

    Raises
    ------
    RefbrowserError
        It cannot be read, or is no reference document.
    """
    opened = open_document(request, control)
    if opened.document.rules_are_made:
        message = "it is not a reference document: only these can be merged"
        raise RefbrowserError(ErrorKind.FORMAT, message, Place(document=request.path))
    return opened.document.written(), opened.access.base


def read_conflict_file(path: str) -> ConflictFile:
    """Read what `refbrowser merge --conflicts` wrote.

    Raises
    ------
    RefbrowserError
        It cannot be read, is too large, or says something else.
    """
    try:
        with open_regular(path) as (descriptor, identity):
            if identity.size > SIZE:
                message = f"it has {identity.size} bytes, more than the {SIZE} of a list of conflicts"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            data = read_bytes(descriptor, identity.size, 0)
        return parse_conflict_file(data)
    except OSError as error:
        raise failed(error, path) from error
    except RefbrowserError as error:
        raise error.at(Place(document=path)) from error


def _is_empty(path: str) -> bool:
    local = local_path(path)
    return local is not None and os.path.isfile(local) and os.path.getsize(local) == 0


def _write(merged: Merged, target: str, sides: _Sides, request: MergeRequest, control: JobControl) -> None:
    made = merged.document
    prefix = prefix_between(sides.folder, os.path.dirname(target))
    if prefix and next(relative_urls(made.with_template_values({})), None) is not None:
        made = made.apply(RebaseUrls(prefix)).written()

    def prove(path: str) -> None:
        again = open_references(path, values=made.values, cancel=control.token)
        if again.expansion.rows != made.expansion.rows:
            raise not_written(target)

    write_verified(target, _chunks(made, target, sides.ours, request), control, prove)


def _chunks(
    made: ReferenceDocument, target: str, ours: ReferenceDocument, request: MergeRequest
) -> Iterator[bytes]:
    """Yield the bytes of the result; git names files without a suffix: such a one is packed as ours is."""
    packed = ours.packed
    if packed is None or os.path.splitext(target)[1] or not is_same_file(request.ours.path, target):
        return document_chunks(made, target)
    return compress(packed.kind, made.to_chunks())
