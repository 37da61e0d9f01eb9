"""Exporting as DMR++: what OPeNDAP's servers need to read a file in place, and no data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError, quoted
from refbrowser.exporting.exporter import LeftOut, Target
from refbrowser.exporting.layout import with_flags
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.saving.save import not_written, write_verified
from refbrowser.exporting.saving.url_spelling import folder_of
from refbrowser.exporting.source_losses import damage, unread_attributes
from refbrowser.exporting.targets.references import DocumentPlace, document_place
from refbrowser.exporting.targets.taken_arrays import chosen_of
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import identity_on_disk
from refbrowser.io.origins import in_object_store, scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import EnumerationType
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.netcdf.fill import ADDED, mark_of_missing
from refbrowser.model.netcdf.names import plain_path, split
from refbrowser.model.netcdf.types import (
    ATOMIC_OF,
    AtomicType,
    NetcdfAttribute,
    NetcdfGroup,
    NetcdfVariable,
)
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection
from refbrowser.version import __version__
from refbrowser.wings.dmrpp.reading.dmr_arrays import METADATA, TO_BE_NAMED
from refbrowser.wings.dmrpp.writing.described_arrays import (
    Planned,
    check_placed,
    fill_text,
    pages,
    placed,
    planned,
    room_within,
)
from refbrowser.wings.dmrpp.writing.dmrpp_text import (
    along,
    attribute,
    chunk_lines,
    chunks_opened,
    closed,
    container,
    dimension,
    fixed_texts,
    head,
    is_xml,
    members,
    opened,
    value_texts,
    values_within,
)

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.targets.bucket_place import BucketDocument

#: Bytes of one element of a chunk, and of the description of an array, about.
_CHUNK, _ARRAY = 90, 1024
#: Lines that are written together.
_LINES = 4096
_LOCAL = "file://"


@dataclass(frozen=True, slots=True)
class _File:
    """The file that is described: where it lies, and what is recorded of its state."""

    url: str
    recorded: tuple[NetcdfAttribute, ...]


class DmrppTarget(Target):
    """A DMR++ of one file: planned when it is made, its references are looked at when its cost is asked for.

    Raises
    ------
    RefbrowserError
        An array cannot be described (and `skip_bad` is not set); `E_USAGE`: a part of an array is chosen.
    """

    written_anew: ClassVar[str] = "a DMR++ is always written in one run: it cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        for choice in request.arrays or ():
            if choice.selection is not None:
                message = "a DMR++ describes whole arrays, not parts of them"
                raise RefbrowserError(ErrorKind.USAGE, message, Place(path=choice.path), "leave --select out")
        chosen = chosen_of(dataset, request.arrays, "a DMR++")
        self._left_out = LeftOut(request)
        self.skipped = self._left_out.skipped
        self._told: list[Loss] = []
        self._root = netcdf_view(_with_flags(chosen.hierarchy, self._told)).root
        self._plans = dict(self._planned(self._root))
        self._file: _File | None = None
        nodes = [*chosen.hierarchy.walk()]
        self._known = [
            *damage(dataset, request),
            *unread_attributes(dataset.hierarchy, nodes),
            *(Loss(error.place.path or "/", f"left out: {error.message}") for error in chosen.left_out),
        ]
        self._check_rest()

    def _planned(self, group: NetcdfGroup) -> Iterator[tuple[str, Planned]]:
        """Yield how the arrays of a group, and of those below, are described."""
        for array in group.node.arrays.values() if group.node is not None else ():
            error = array.error or array.unreadable
            if error is not None:
                self._left_out.add(error)
        for variable in group.variables:
            assert variable.node is not None
            try:
                yield variable.path, planned(variable.node)
            except RefbrowserError as error:
                self._left_out.add(error)
        for below in group.groups:
            yield from self._planned(below)

    def _check_rest(self) -> None:
        self._left_out.check_rest(len(self._plans))
        self.losses: Sequence[Loss] = (*self._known, *self._left_out.losses, *self._told)

    @property
    def arrays(self) -> int:
        """How many arrays are described."""
        return len(self._plans)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; references are looked at, no data is read."""
        if self._file is None:
            self._survey(token)
        stored = sum(plan.placed.stored for plan in self._plans.values())
        missing = sum(plan.placed.missing for plan in self._plans.values())
        return ExportEstimate(stored, missing, 0, stored * _CHUNK + (1 + self.arrays) * _ARRAY)

    def _survey(self, token: CancelToken) -> None:
        """Find the file that most arrays lie in, and leave out those that are not described with it."""
        files: dict[str, int] = {}
        for path in list(self._plans):
            plan = self._plans[path]
            try:
                plan.placed = placed(plan, self.dataset, token)
            except RefbrowserError as error:
                self._drop(path, error)
                continue
            if plan.placed.file:
                files[plan.placed.file] = files.get(plan.placed.file, 0) + 1
        file = max(files, key=lambda each: files[each], default="")
        room = room_within()
        for path in list(self._plans):
            plan = self._plans[path]
            try:
                if plan.placed.file not in (None, "", file):
                    message = f"its chunks lie in another file than those of most arrays: {quoted(file)}"
                    raise NotHeldError(ErrorKind.META, message, Place(path=path))
                room -= check_placed(plan, room)
            except RefbrowserError as error:
                self._drop(path, error)
        self._check_rest()
        self._file = _File(self._spelled(file), tuple(_recorded(file)))
        self._tell()
        self._check_rest()

    def _drop(self, path: str, error: RefbrowserError) -> None:
        del self._plans[path]
        self._left_out.add(error)

    def _spelled(self, file: str) -> str:
        """Return the URL of the file as it stands in the description."""
        if not file:
            # All values stand in the description; servers want something here all the same.
            return TO_BE_NAMED
        if scheme_of(file) not in (None, "file"):
            return file
        path = file.removeprefix(_LOCAL)
        if in_object_store(self.name):
            self._told.append(
                Loss("/", "it names a file on this computer, which readers elsewhere do not have")
            )
            return _LOCAL + path
        folder = folder_of(self.name).rstrip(os.sep) + os.sep
        return path.removeprefix(folder) if path.startswith(folder) else _LOCAL + path

    def _tell(self) -> None:
        """Tell what is not as in the source."""
        document = self.dataset.document
        if document.has_keys and document.rules:
            self._told.append(Loss("/", "rules are written out: each chunk gets its own line"))
        if document.has_keys and document.templates.templates:
            self._told.append(Loss("/", "templates are written out: a DMR++ has none"))
        self._tell_of(self._root)

    def _tell_of(self, group: NetcdfGroup) -> None:
        told = [(group.path, note.message) for note in group.notes]
        told += [
            (group.path, f"dimension {quoted(each.name)} is no longer unlimited")
            for each in group.dimensions
            if each.unlimited
        ]
        told += _unheld(group.path, group.attributes)
        for variable in group.variables:
            plan = self._plans.get(variable.path)
            if plan is None:
                continue
            told += [(variable.path, note.message) for note in variable.notes]
            told += _unheld(variable.path, _attributes(variable))
            if _fill_added(variable) is not None:
                told.append((variable.path, ADDED))
            if plan.is_within and plan.placed.file is None:
                told.append((variable.path, "its values are written into the description"))
            if plan.node.type.members:
                told.append((variable.path, "attributes of members are left out"))
        self._told += (Loss(path, text) for path, text in told)
        for below in group.groups:
            self._tell_of(below)

    def place(self) -> DocumentPlace | BucketDocument:
        """Return where the description is written."""
        return document_place(self.name, self.dataset.access)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the error of very many chunks."""
        count = self.cost(CancelToken()).chunks
        if count > LIMITS.write_out_question:
            yield RefbrowserError(
                ErrorKind.BUDGET,
                f"{count} chunks are more than {LIMITS.write_out_question} (write_out_question)",
                advice="give --yes, or export to refs-v1, which keeps rules",
            )

    # Writing

    def write(self, made: DocumentPlace | BucketDocument, tally: Tally, control: JobControl) -> None:
        """Write the description, and read it again before it gets its name."""
        made.token = control.token
        blocks = _blocks(self._lines(control))
        tally.written_bytes = write_verified(
            made.path, blocks, control, lambda path: self._prove(path, control)
        )
        tally.chunks = tally.copied = sum(plan.placed.stored for plan in self._plans.values())
        tally.missing = sum(plan.placed.missing for plan in self._plans.values())

    def verify(self, made: DocumentPlace | BucketDocument, tally: Tally, control: JobControl) -> int:
        """Return how many chunks there are: they were read again before the description got its name."""
        return tally.chunks

    def _prove(self, path: str, control: JobControl) -> None:
        """Raise where what was written has other chunks than the source."""
        with open_dataset(OpenRequest(path), control) as again:
            for array, plan in self._plans.items():
                node = again.hierarchy.find(array)
                if not isinstance(node, ArrayNode) or node.error is not None or node.shape != plan.node.shape:
                    raise not_written(self.name)
                if not plan.is_within and not _same_chunks(plan.node, node, control.token):
                    raise not_written(self.name)

    def _lines(self, control: JobControl) -> Iterator[str]:
        assert self._file is not None
        name = self._file.url.rpartition("/")[2]
        yield head(name, self._file.url, f"refbrowser-{__version__}")
        created = NetcdfAttribute("created", AtomicType.STRING, (_time(datetime.now(UTC)),))
        yield from self._group(self._root, control, container(METADATA, (created, *self._file.recorded)))
        yield closed("Dataset")

    def _group(self, group: NetcdfGroup, control: JobControl, last: str = "") -> Iterator[str]:
        for each in group.dimensions:
            if not each.anonymous:
                yield dimension(each.name, each.size)
        for variable in group.variables:
            if variable.path in self._plans:
                yield from self._variable(variable, self._plans[variable.path], control)
        yield from map(attribute, _held(group.attributes))
        yield last
        for below in group.groups:
            yield opened("Group", below.name)
            yield from self._group(below, control)
            yield closed("Group")

    def _variable(self, variable: NetcdfVariable, plan: Planned, control: JobControl) -> Iterator[str]:
        yield opened(plan.type.name, variable.name)
        yield members(plan.type)
        for each, name in zip(variable.dimensions, _named(variable), strict=True):
            yield along(name, each.size)
        yield from map(attribute, _held(_attributes(variable)))
        if plan.is_within:
            yield values_within(self._values(plan.node, control), plan.type)
        else:
            yield from self._chunks(plan, control)
        if plan.type.length and plan.node.shape:
            yield fixed_texts(plan.type)
        yield closed(plan.type.name)

    def _values(self, node: ArrayNode, control: JobControl) -> npt.NDArray[Any]:
        selection = Selection.whole(node.shape)
        access = self.dataset.access
        return self.dataset.session.read(node, access, selection, cancel=control.token, export=True)

    def _chunks(self, plan: Planned, control: JobControl) -> Iterator[str]:
        yield chunks_opened(plan.type, plan.filters, fill_text(plan), plan.sides)
        for coords, columns in pages(plan.node, control.token):
            rows = np.flatnonzero(columns.kind == ReferenceKind.RANGE)
            positions = coords[rows] * np.array(plan.sides, np.int64) if plan.sides else None
            yield from chunk_lines(
                columns.offset[rows].tolist(),
                columns.length[rows].tolist(),
                None if positions is None else positions.tolist(),
            )
        yield closed("dmrpp:chunks")


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    block: list[str] = []
    for line in lines:
        block.append(line)
        if len(block) >= _LINES:
            yield "".join(block).encode()
            block.clear()
    yield "".join(block).encode()


def _same_chunks(source: ArrayNode, made: ArrayNode, token: CancelToken) -> bool:
    """Tell whether two arrays have their chunks at the same places of their file."""
    if source.grid != made.grid:
        return False
    for (_, ours), (_, theirs) in zip(pages(source, token), pages(made, token), strict=True):
        for name in ("kind", "offset", "length"):
            if not np.array_equal(getattr(ours, name), getattr(theirs, name)):
                return False
    return True


def _named(variable: NetcdfVariable) -> list[str]:
    """Return the paths of the dimensions of a variable; empty of those without a name."""
    node = variable.node
    assert node is not None
    names = node.dimensions or (None,) * len(variable.dimensions)
    return [
        "" if name is None else plain_path(split(each.path))
        for each, name in zip(variable.dimensions, names, strict=True)
    ]


def _fill_added(variable: NetcdfVariable) -> NetcdfAttribute | None:
    """Return the attribute that marks missing values where only the fill value of the array does."""
    node = variable.node
    assert node is not None
    type, mark = variable.type, mark_of_missing(node)
    is_number = node.dtype is not None and node.dtype.newbyteorder("=") in ATOMIC_OF
    if FILL_ATTRIBUTE in node.attributes or mark is None or not is_number:
        return None
    assert isinstance(type, AtomicType)
    return NetcdfAttribute(FILL_ATTRIBUTE, type, (mark.item(),))


def _attributes(variable: NetcdfVariable) -> list[NetcdfAttribute]:
    """Return the attributes of a variable: of the fill value only where it marks missing values."""
    assert variable.node is not None
    has_mark = FILL_ATTRIBUTE in variable.node.attributes
    kept = [each for each in variable.attributes if has_mark or each.name != FILL_ATTRIBUTE]
    added = _fill_added(variable)
    return kept if added is None else [*kept, added]


def _held(attributes: Sequence[NetcdfAttribute]) -> list[NetcdfAttribute]:
    """Return the attributes that a description can have."""
    return [each for each in attributes if not _why_not(each)]


def _unheld(path: str, attributes: Sequence[NetcdfAttribute]) -> list[tuple[str, str]]:
    found = ((each, _why_not(each)) for each in attributes)
    return [(path, f"attribute {quoted(each.name)} is left out: {why}") for each, why in found if why]


def _why_not(said: NetcdfAttribute) -> str:
    if not isinstance(said.type, AtomicType):
        return "DAP4 has no such type"
    if not all(map(is_xml, (said.name, *value_texts(said)))):
        return "it holds characters that XML has not"
    return ""


def _recorded(file: str) -> Iterator[NetcdfAttribute]:
    """Yield what is recorded of the state of a file of this computer."""
    if not file or scheme_of(file) not in (None, "file"):
        return
    state = identity_on_disk(file.removeprefix(_LOCAL))
    if state is not None:
        yield NetcdfAttribute("file_size", AtomicType.INT64, (state.size,))
        changed = datetime.fromtimestamp(state.modified_ns / 1e9, UTC)
        yield NetcdfAttribute("file_modified", AtomicType.STRING, (_time(changed),))


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _with_flags(hierarchy: Hierarchy, told: list[Loss]) -> Hierarchy:
    """Return a dataset whose enumerations are integers with attributes that name their values."""

    def changed(node: ArrayNode) -> ArrayNode:
        if node.error is not None or not isinstance(node.type, EnumerationType):
            return node
        plain, text = with_flags(node, node.type)
        told.append(Loss(node.path, text))
        return plain

    def within(group: GroupNode) -> GroupNode:
        return replace(
            group,
            arrays={name: changed(node) for name, node in group.arrays.items()},
            groups={name: within(below) for name, below in group.groups.items()},
        )

    root = hierarchy.root
    return replace(hierarchy, root=within(root) if isinstance(root, GroupNode) else changed(root))
