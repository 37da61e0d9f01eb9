"""Opening files of Awkward 0; what is behind such a document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.process import HDF5, leave, library_file
from refbrowser.formats.registry import AWKWARD0
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.access.access import Access
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import local_path
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.reference import Reference
from refbrowser.references.content.origins import Fact, PlainAnswers
from refbrowser.references.document.document import Document
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Container, FolderContainer, ZipContainer, open_zip
from refbrowser.wings.awkward0.layouts.functions import AllowList
from refbrowser.wings.awkward0.layouts.layouts import NumpyLayout
from refbrowser.wings.awkward0.reading.array_document import document_of_arrays, with_internal
from refbrowser.wings.awkward0.reading.arrays import (
    Awkward0Array,
    FoundSchema,
    blob_names,
    build_arrays,
    find_schemas,
)
from refbrowser.wings.awkward0.reading.awkward0_options import Awkward0Options
from refbrowser.wings.awkward0.reading.buffers import buffer_arrays, zarr_dtype
from refbrowser.wings.awkward0.reading.naming import SCHEMA_ENDING
from refbrowser.wings.awkward0.reading.value_arrays import TypeMemory, value_arrays

if TYPE_CHECKING:
    from refbrowser.io.fetching.fetch import Fetcher


_CONTAINERS = {"zip": "archive", "hdf5": "HDF5", "folder": "folder of blobs"}


@dataclass(frozen=True, eq=False)
class Awkward0Origin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    container
        What holds its schemas and blobs.
    arrays
        All arrays, in the order of the container.
    options
        How it was opened.
    lengths
        Rows of the arrays, by path, of which only the data tell how many; or why these do not.
    """

    path: str
    container: Container
    arrays: tuple[Awkward0Array, ...]
    options: Awkward0Options = field(default_factory=Awkward0Options)
    lengths: Mapping[str, int | RefbrowserError] = field(default_factory=dict)
    format: str = "awkward0"

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return the hierarchy that the document's metadata describes, with the arrays of values.

        Each is beside the group that has its parts: its fields, and the buffers that it is made from.
        """
        if not isinstance(hierarchy.root, GroupNode):
            return hierarchy
        added, values = _Branch(), self.nodes
        for array in self.arrays:
            # One that was taken out of the document is not shown.
            if array.error is None and hierarchy.find(array.path) is None:
                continue
            added.at(array.path)
            nodes = values.get(array.path, ())
            if isinstance(array.layout, NumpyLayout):
                added.at(array.path).dtype = _unspelled(array.layout.buffer.dtype)
            for node in nodes:
                added.at(node.path).node = node
            if nodes and _has_parts_of_packed(array):
                for path, why in _without_references(array):
                    added.at(path).refused = why
        root = _completed(hierarchy.root, added)
        return replace(hierarchy, root=root, findings=(*hierarchy.findings, *self._findings()))

    def told(self) -> Sequence[Fact]:
        """Return how many arrays there are, and what holds them."""
        container = _CONTAINERS.get(self.container.kind, self.container.kind)
        return Fact("Arrays", len(self.arrays)), Fact("Container", container)

    def reference_of(self, name: str) -> Reference | None:
        """Return where a blob lies, by its name in the container; None where there is none of that name.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        blob = self.container.find(name)
        if blob is not None and blob.error is not None:
            raise blob.error
        return None if blob is None else blob.reference

    @cached_property
    def nodes(self) -> dict[str, list[ArrayNode]]:
        """The arrays of values of each array, by its path."""
        memory = TypeMemory()
        lengths = self.lengths
        return {array.path: value_arrays(array, lengths.get(array.path), memory) for array in self.arrays}

    def _findings(self) -> list[Finding]:
        return [
            Finding(
                severity=Severity.FAULT,
                kind=array.error.kind,
                message=array.error.message,
                place=replace(array.error.place, path=array.path),
                advice=array.error.advice,
            )
            for array in self.arrays
            if array.error is not None
        ]


def _unspelled(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return a type of numbers that a document can only spell as bytes: those longer than double."""
    spelled = zarr_dtype(dtype.base)
    return dtype.base if isinstance(spelled, str) and np.dtype(spelled).kind != dtype.base.kind else None


def _has_parts_of_packed(array: Awkward0Array) -> bool:
    """Tell whether an array is made from a part of what is compressed."""
    layouts = () if array.built is None else array.built.by_number.values()
    return any(each.buffer.codecs and each.buffer.offset for each in layouts if isinstance(each, NumpyLayout))


def _without_references(array: Awkward0Array) -> Iterator[tuple[str, RefbrowserError]]:
    """Yield the paths of basic arrays whose chunks no reference can tell, with why."""
    layout = array.layout
    for each in () if layout is None else buffer_arrays(layout):
        if not each.is_expressible:
            path = array.path if isinstance(layout, NumpyLayout) else f"{array.path}/{each.name}"
            message = "its elements are part of compressed data, which a reference cannot express"
            yield path, RefbrowserError(ErrorKind.META, message, Place(path=path))


@dataclass(slots=True)
class _Branch:
    """What is added below a group: values, or that of a stored array there are none.

    `dtype` is that of a stored array where Zarr v2 has no word for it.
    """

    node: ArrayNode | None = None
    refused: RefbrowserError | None = None
    dtype: np.dtype[Any] | None = None
    below: dict[str, _Branch] = field(default_factory=dict)

    def at(self, path: str) -> _Branch:
        """Return the branch of a path; it is made where there is none."""
        branch = self
        for part in path.strip("/").split("/"):
            below = branch.below.get(part)
            if below is None:
                below = branch.below[part] = _Branch()
            branch = below
        return branch


def _completed(group: GroupNode, branch: _Branch) -> GroupNode:
    """Return a group with what is added to it first, then all that it had."""
    arrays: dict[str, ArrayNode] = {}
    groups = dict(group.groups)
    for name, added in branch.below.items():
        stored, below = group.arrays.get(name), group.groups.get(name)
        if stored is not None:
            stored = with_internal(stored)
            if added.dtype is not None:
                stored = replace(stored, type=DataType.of(added.dtype))
        if stored is not None and added.refused is not None:
            arrays[name] = added.node or replace(stored, unreadable=added.refused)
        elif stored is not None or added.node is not None:
            # A basic array is one that the document has already.
            arrays[name] = stored or added.node  # type: ignore[assignment]
        if below is not None:
            groups[name] = below = with_internal(below)
        if added.below:
            path = f"{group.path.rstrip('/')}/{name}"
            groups[name] = _completed(below or GroupNode(path=path), added)
    return replace(group, arrays={**arrays, **group.arrays, **arrays}, groups=groups)


#: Blobs of a message that are named.
_NAMED = 5


class NoArraysError(RefbrowserError):
    """There is no array of Awkward 0 where some were looked for."""

    def __init__(self, name: str) -> None:
        super().__init__(
            ErrorKind.FORMAT,
            "there are no Awkward 0 arrays here",
            Place(document=name),
            "Looked for JSON with a member 'awkward0' or 'awkward'.",
        )


def open_named_arrays(opening: Opening) -> Opened:
    """Open the arrays in the file or folder at a path, or in the archive at a URL.

    Raises
    ------
    RefbrowserError
        There are none, or they cannot be read; `NotThisError` where its name does not say that there are.
    """
    path, seen = opening.path, opening.seen
    identity = opening.identity()
    if seen.is_folder:
        # A blob that is not there is an error, and no chunk that was never written.
        access = replace(Access.for_store(path, opening.allow, opening.settings), store=None)
    else:
        path = path if seen.local is None else os.path.abspath(seen.local)
        access = Access.for_document(path, opening.allow, opening.settings)
    is_named_so = seen.ends(AWKWARD0.suffixes)
    try:
        if seen.kind is FileKind.HDF5 and not is_named_so and not _may_have_schemas(path, identity, opening):
            raise NoArraysError(path)
        document = _document(path, is_named_so, access, opening)
    except RefbrowserError as error:
        if is_named_so:
            raise
        raise NotThisError.of(error) from error
    return Opened(document, access, identity)


def _may_have_schemas(path: str, identity: FileIdentity | None, opening: Opening) -> bool:
    """Tell whether anything in a file of HDF5 is named as schemas are; most such files are none of ours."""
    if find_spec("h5py") is None:
        return True
    file = library_file(HDF5, "HDF5", os.path.realpath(path), identity=identity)
    found: list[bool] = []
    request = {"ends": SCHEMA_ENDING, "objects": AWKWARD_LIMITS.awkward_files}
    file.ask("names", request, lambda answer, data: found.append(answer["found"]), opening.token)
    leave(file)
    return found != [False]


def _document(path: str, is_named_so: bool, access: Access, opening: Opening) -> Document:
    """Read a file or folder of Awkward 0: a zip archive (also a URL of one), an HDF5 file, named blobs.

    Only names and schemas are read.
    """
    token = opening.token
    container = open_container(path, access, opening.fetcher(), token)
    found = find_schemas(container, token, lambda done, total: opening.progress(done, total, note="members"))
    schemas = found.schemas
    if is_named_so or schemas:
        schemas = _in_order(container, [*schemas, *found.unreadable])
    if not schemas and not (is_named_so and container.findings):
        raise NoArraysError(path)
    options = opening.chosen(Awkward0Options)
    allowed = AllowList.of_texts(options.allow_functions)
    arrays = build_arrays(container, schemas, allowed, token)
    origin = Awkward0Origin(container.url, container, arrays, options)
    document = document_of_arrays(arrays, container, origin, path)
    return replace(document, notes=(*document.notes, *found.findings, *_orphans(container, schemas)))


def open_container(path: str, access: Access, fetcher: Fetcher, token: CancelToken) -> Container:
    """Open what may hold arrays; names are read, and no blob.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is none of the containers.
    """
    local = local_path(path)
    if local is not None:
        real = os.path.realpath(local)
        if os.path.isdir(real):
            return FolderContainer(real, token)
        with open_regular(real) as (descriptor, _):
            kind = file_kind(os.read(descriptor, HEAD))
        if kind is FileKind.EMPTY:
            raise RefbrowserError(ErrorKind.FORMAT, "the file is empty", Place(document=path))
        if kind is FileKind.HDF5:
            from refbrowser.wings.awkward0.files.hdf5 import open_hdf5

            return open_hdf5(real, token)
    return open_zip(path if local is None else os.path.realpath(local), access, fetcher, token)


def _orphans(container: Container, schemas: list[FoundSchema]) -> list[Finding]:
    """Return what is left of arrays whose schemas are lost: `save` writes these behind the blobs."""
    if not (isinstance(container, ZipContainer) and container.is_rescued):
        return []
    known = {each.member for each in schemas}.union(*map(blob_names, schemas))
    lost = [name for name in container.names() if name not in known]
    if not lost:
        return []
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    message = f"blobs belong to no remaining array: {', '.join(map(quoted, lost[:_NAMED]))}{more}"
    place = Place(url=container.url)
    return [Finding(severity=Severity.FAULT, kind=ErrorKind.FORMAT, message=message, place=place)]


def _in_order(container: Container, found: list[FoundSchema]) -> list[FoundSchema]:
    """Return schemas in the order of the container."""
    places = {name: number for number, name in enumerate(container.names())}
    return sorted(found, key=lambda each: places[each.member])
