"""Exporting as netCDF-4: one file of HDF5, written by netCDF's own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.nested_variables import may_miss
from refbrowser.engine.reading_kinds import reading_of
from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError, quoted
from refbrowser.exporting.block_sides import count_boxes, cut_sides, grown_sides
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.exporter import LeftOut, Target, coding
from refbrowser.exporting.folder import SPOOL, TargetPlace
from refbrowser.exporting.layout import made_equal
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, unread_attributes
from refbrowser.exporting.targets.netcdf import Netcdf4Options, dimension_name, is_reserved
from refbrowser.exporting.targets.netcdf4_check import FileCheck
from refbrowser.exporting.targets.netcdf4_chunks import (
    WrittenChunks,
    takes_chunks,
    verify_chunks,
    write_chunks,
)
from refbrowser.exporting.targets.netcdf4_writing import (
    BLOCK_BYTES,
    Filters,
    PlannedGroup,
    PlannedVariable,
    Writing,
    elements_fault,
    item_size,
    require_netcdf,
    texts_of,
    type_fault,
    verify_file,
    write_file,
)
from refbrowser.exporting.targets.taken_arrays import chosen_of
from refbrowser.io.cancel import CancelToken
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.netcdf.fill import ADDED, marked
from refbrowser.model.netcdf.names import FreeNames, Parts, join, name_refused
from refbrowser.model.netcdf.types import (
    AtomicType,
    EnumType,
    NetcdfAttribute,
    NetcdfGroup,
    NetcdfVariable,
    VlenType,
)
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.check import CheckReport
    from refbrowser.model.nodes import ArrayNode

#: Bytes of a chunk, at most: the library holds whole ones.
_CHUNK_BYTES = 64 * 1024 * 1024
#: Bytes of the description of a variable, about.
_BESIDE = 4096
_LEVEL = 1


class Netcdf4Place(TargetPlace):
    """One file, which a library makes under a name of its own."""

    @property
    def made(self) -> str:
        """Where the file is until it is complete and verified."""
        return str(self.partial / "made.nc")

    def finish(self, *, force: bool) -> None:
        """Give the file its final name."""
        self.swap(self.partial / "made.nc", force=force)


@dataclass(frozen=True, slots=True)
class _Lengths:
    """How long dimensions are in the file, by their path in the source."""

    reached: dict[str, int]

    def told(self, path: str, size: int, *, unlimited: bool) -> str:
        """Return what becomes of a dimension that cannot be as it is; empty where it can."""
        if not size and not unlimited:
            return "has no elements and becomes unlimited: netCDF-4 has no other dimension of length 0"
        if unlimited and self.reached.get(path, 0) != size:
            return "is unlimited, and only as long as the longest variable along it"
        return ""


class Netcdf4Target(Target):
    """A netCDF-4 file: planned when it is made.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); netCDF4 is not installed; `E_USAGE`: an option
        has no meaning.
    """

    written_anew: ClassVar[str] = "a netCDF-4 file is always written in one run: it cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.options = request.chosen(Netcdf4Options)
        self._filters = _chosen_filters(self.options)
        require_netcdf(self._filters)
        self.chosen = chosen_of(dataset, request.arrays, "a netCDF-4 file")
        self._left_out = LeftOut(request)
        self.skipped = self._left_out.skipped
        self._told: list[Loss] = []
        view = netcdf_view(self.chosen.hierarchy)
        self.reached = _reached(view.root)
        self._lengths = _Lengths(self.reached)
        dimensions = view.dimensions().items()
        self._unlimited = {path for path, each in dimensions if each.unlimited or not each.size}
        self.root = self._group(view.root, "", ())
        self.plans = list(self.root.variables_below())
        self._left_out.check_rest(len(self.plans))
        nodes = [*self.chosen.hierarchy.walk()]
        self.losses: Sequence[Loss] = (
            *damage(dataset, request),
            *unread_attributes(dataset.hierarchy, nodes),
            *(
                Loss(node.path, "what is missing is NaN")
                for node, _ in self.chosen.sources.values()
                if may_miss(node)
            ),
            *(Loss(error.place.path or "/", f"left out: {error.message}") for error in self.chosen.left_out),
            *self._left_out.losses,
            *self._told,
        )

    @classmethod
    def check(cls, dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
        """Read a file with netCDF4 and h5py, and compare it with the source."""
        made = cls(dataset, request)
        return FileCheck(dataset, request, made.root, made.reached, control).report()

    def _group(self, group: NetcdfGroup, name: str, parts: Parts) -> PlannedGroup:
        """Return how a group is written, with all below it."""
        told: list[str] = [note.message for note in group.notes]
        if group.node is not None:
            for array in group.node.arrays.values():
                error = array.error or array.unreadable
                if error is not None:
                    self._left_out.add(error)
        dimensions = {}
        own = FreeNames()
        for dimension in group.dimensions:
            path = join((*parts, dimension.name))
            found = own.take(dimension_name(dimension.name))
            if found != dimension.name:
                told.append(f"dimension {quoted(dimension.name)} is called {quoted(found)}")
            why = self._lengths.told(path, dimension.size, unlimited=dimension.unlimited)
            if why:
                told.append(f"dimension {quoted(dimension.name)} {why}")
            is_unlimited = dimension.unlimited or not dimension.size
            dimensions[path] = found, None if is_unlimited else dimension.size
        free = FreeNames(each.name for each in group.types)
        variables = [self._variable(each, _named(free, each.name)) for each in group.variables]
        groups = [(below, _named(free, below.name)) for below in group.groups]
        told += [
            f"group {quoted(below.name)} is called {quoted(named)}"
            for below, named in groups
            if named != below.name
        ]
        told += [
            f"type {quoted(each.name)} is left out: netCDF4 does not write such types"
            for each in group.types
            if type_fault(each)
        ]
        attributes = _attributes(group.attributes, told)
        self._told += (Loss(group.path, text) for text in told)
        return PlannedGroup(
            name=name,
            path=group.path,
            dimensions=dimensions,
            types=group.types,
            attributes=attributes,
            variables=tuple(each for each in variables if each is not None),
            groups=tuple(self._group(below, named, (*parts, below.name)) for below, named in groups),
        )

    def _variable(self, variable: NetcdfVariable, name: str) -> PlannedVariable | None:
        """Return how a variable is written; None where it cannot be."""
        node = variable.node
        assert node is not None
        source, selection = self.chosen.sources[node.path]
        if source.error or source.unreadable:
            # It was told with its group.
            return None
        fault = elements_fault(variable.type, node)
        if fault:
            self._left_out.add(NotHeldError(ErrorKind.META, fault, Place(path=node.path)))
            return None
        told = [note.message for note in variable.notes]
        if name != variable.name:
            told.append(f"the variable is called {quoted(name)}")
        if node.known_dtype.kind == "c":
            told.append("complex numbers are compounds of r and i")
        attributes = _attributes(variable.attributes, told)
        fill = next((each for each in variable.attributes if each.name == FILL_ATTRIBUTE), None)
        if fill is not None and (variable.type is AtomicType.STRING or isinstance(variable.type, VlenType)):
            told.append(
                f"the fill value {quoted(fill.values[0])} is left out: netCDF4 does not write such types"
            )
            fill = None
        elif fill is not None and FILL_ATTRIBUTE not in node.attributes:
            # The library has no fill value without the attribute: what is not stored is written.
            with_mark, lost = marked(node, source)
            told += lost or ([] if with_mark.fill_value is None else [ADDED])
            fill = None if with_mark.fill_value is None else fill
        filters, chunk = self._stored(node, source, variable, told)
        if chunk is not None and not source.grid.is_regular:
            told.append(made_equal(source.grid, chunk))
        self._told += (Loss(node.path, text) for text in told)
        size = item_size(variable.type, node)
        unit = chunk or (1,) * len(node.shape)
        if source.is_made or source.codecs:
            # A chunk of the source is decoded once.
            own = (min(side, length) for side, length in zip(node.grid.largest, node.shape, strict=True))
            unit = tuple(map(max, unit, own))
        return PlannedVariable(
            name=name,
            type=variable.type,
            dimensions=tuple(each.path for each in variable.dimensions),
            attributes=attributes,
            fill=None if fill is None else fill.values[0],
            node=node,
            source=source,
            selection=selection or Selection.whole(source.shape),
            chunk=chunk,
            filters=filters,
            block=grown_sides(node.shape, unit, max(1, BLOCK_BYTES // size)),
            by_chunks=chunk is not None and takes_chunks(variable.type),
        )

    def _stored(
        self, node: ArrayNode, source: ArrayNode, variable: NetcdfVariable, told: list[str]
    ) -> tuple[Filters, tuple[int, ...] | None]:
        """Return the filters and the shape of chunks of a variable; None for one that needs no chunks."""
        shape, size = node.shape, item_size(variable.type, node)
        if not shape:
            return Filters(), None
        filters = self._kept(source, size, told) if self._filters is None else self._filters
        if variable.type is AtomicType.STRING or isinstance(variable.type, VlenType):
            # The texts and rows lie elsewhere: netCDF refuses filters for what leads to them.
            filters = Filters()
        elif self.options.fletcher32:
            filters = replace(filters, fletcher32=True)
        # Along unlimited dimensions they may be longer than what there is yet.
        lengths = [
            side if each.path in self._unlimited else length
            for each, side, length in zip(variable.dimensions, node.grid.largest, shape, strict=True)
        ]
        chunk = tuple(
            max(1, min(side, length)) for side, length in zip(node.grid.largest, lengths, strict=True)
        )
        if prod(chunk) * size > _CHUNK_BYTES:
            chunk = cut_sides(chunk, _CHUNK_BYTES // size)
        is_one = prod(node.grid.grid_shape) <= 1 and not filters.any and all(shape)
        fixed = not any(each.path in self._unlimited for each in variable.dimensions)
        # netCDF4 refuses values that an enumeration has no name for, which chunks may hold.
        is_open = isinstance(variable.type, EnumType) and takes_chunks(variable.type)
        return filters, None if is_one and fixed and not is_open else chunk

    def _kept(self, source: ArrayNode, size: int, told: list[str]) -> Filters:
        """Return the filters that are nearest to those of the source."""
        usual = Filters("zlib", _LEVEL, shuffle=size > 1)
        if source.is_made or not source.codecs:
            return Filters()
        try:
            known = codecs_v2(source)
        except RefbrowserError:
            told.append("netCDF does not have these codecs: zlib is written")
            return usual
        items = [*known.filters, *([known.compressor] if known.compressor else [])]
        names = [item["id"] for item in items]
        shuffled, checked = "shuffle" in names, "fletcher32" in names
        packed = [item for item in items if item["id"] not in ("shuffle", "fletcher32", "vlen-utf8")]
        if not packed:
            return Filters(shuffle=shuffled, fletcher32=checked)
        if len(packed) == 1 and packed[0]["id"] in ("zlib", "gzip"):
            level = int(packed[0].get("level", _LEVEL))
            return Filters("zlib", max(0, min(9, level)), shuffle=shuffled, fletcher32=checked)
        told.append(f"codec {', '.join(item['id'] for item in packed)} is written as zlib")
        return replace(usual, fletcher32=checked)

    @property
    def arrays(self) -> int:
        """How many arrays are written."""
        return len(self.plans)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; no data is read."""
        size = sum(prod(plan.node.shape) * item_size(plan.type, plan.node) for plan in self.plans)
        return ExportEstimate(sum(map(_chunks, self.plans)), 0, size, size + _BESIDE * (1 + len(self.plans)))

    def place(self) -> Netcdf4Place:
        """Return the file that is made."""
        return Netcdf4Place(self.name)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the errors of large chunks."""
        for plan in self.plans:
            large = None if plan.source.is_made else reading_of(plan.source).chunk_question()
            if large is not None:
                yield large

    def write(self, made: Netcdf4Place, tally: Tally, control: JobControl) -> None:
        """Write the file."""
        with coding(self.dataset, control) as (session, token):
            self._writing = Writing(
                session, self.dataset.access, token, control, tally, skip_bad=self.request.skip_bad
            )
            self._writing.total = sum(map(_steps, self.plans))
            write_file(made.made, self.root, self._writing)
        self._written: dict[str, WrittenChunks] = write_chunks(
            made.made,
            self.root,
            self.dataset,
            made.partial / SPOOL,
            tally,
            control,
            skip_bad=self.request.skip_bad,
            before=self._writing.done,
            total=self._writing.total,
        )
        tally.chunks = sum(map(_chunks, self.plans)) - tally.missing

    def verify(self, made: Netcdf4Place, tally: Tally, control: JobControl) -> int:
        """Read the file again, and compare everything with what was written."""
        samples = verify_chunks(made.made, self.root, self._written, control.token)
        tally.written_bytes = verify_file(made.made, self.root, self._writing, samples, control.token)
        return tally.chunks


def _chosen_filters(options: Netcdf4Options) -> Filters | None:
    """Return the filters of all variables; None where each keeps its own."""
    choice = options.choice
    if choice is None:
        return None
    if choice.name == "none":
        return Filters()
    return Filters(choice.name, int(choice.settings["level"]), shuffle=True)


def _steps(plan: PlannedVariable) -> int:
    return count_boxes(plan.node.shape, plan.chunk if plan.by_chunks and plan.chunk else plan.block)


def _chunks(plan: PlannedVariable) -> int:
    return count_boxes(plan.node.shape, plan.chunk) if plan.chunk else 1


def _named(free: FreeNames, name: str) -> str:
    return free.take(dimension_name(name))


def _reached(root: NetcdfGroup) -> dict[str, int]:
    """Return how far variables with elements reach along each dimension, by path."""
    found: dict[str, int] = {}
    for variable in root.variables:
        if all(each.size for each in variable.dimensions):
            for each in variable.dimensions:
                found[each.path] = max(found.get(each.path, 0), each.size)
    for below in root.groups:
        for path, size in _reached(below).items():
            found[path] = max(found.get(path, 0), size)
    return found


def _is_unicode(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


def _attributes(attributes: Sequence[NetcdfAttribute], told: list[str]) -> tuple[NetcdfAttribute, ...]:
    """Return the attributes that the file can have, without the fill value, and tell of the others."""
    kept = []
    for each in attributes:
        if each.name == FILL_ATTRIBUTE:
            continue
        why = name_refused(each.name) if each.name else "it has no name"
        if is_reserved(each.name):
            why = "the name is reserved by netCDF"
        elif not each.values:
            why = "it has no values"
        elif any("\0" in text for text in texts_of(each)):
            why = "its text holds a NUL"
        elif not all(map(_is_unicode, texts_of(each))):
            why = "it is not Unicode text"
        if why:
            told.append(f"attribute {quoted(each.name)} is left out: {why}")
            continue
        if each.type is AtomicType.CHAR and not each.values[0].isascii():
            told.append(
                f"attribute {quoted(each.name)} becomes string: netCDF4 writes text other than ASCII this way"
            )
        kept.append(each)
    return tuple(kept)
