"""Writing netCDF-4 through netCDF4-python, and reading it again.

It declares everything, and takes the elements of what is not put into the file as chunks of numbers.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.checksums import crc32c
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.block_sides import Box, boxes
from refbrowser.exporting.blocks import TASK_BYTES, element_size
from refbrowser.exporting.request import Tally
from refbrowser.exporting.targets.netcdf import dimension_name
from refbrowser.exporting.work_ahead import AHEAD, in_order
from refbrowser.limits import LIMITS
from refbrowser.loading import to_install
from refbrowser.model.data_type import SequenceType
from refbrowser.model.dtypes import members_of
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.element_types import as_texts
from refbrowser.model.netcdf.names import name_refused
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundType,
    DeclaredType,
    EnumType,
    NetcdfAttribute,
    NetcdfType,
    OpaqueType,
    VlenType,
    type_text,
)
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken

Values = npt.NDArray[Any]
#: Where some elements of a variable are, and what they are.
Sample = tuple[Box, Values]

#: Bytes of what is read and written together.
BLOCK_BYTES = TASK_BYTES
#: Memory that a block takes while it is read and converted, in blocks.
_TIMES = 3
#: The library is not made for several threads at once.
_LIBRARY = threading.RLock()


# What is written


@dataclass(frozen=True, slots=True)
class Filters:
    """How chunks are stored.

    Attributes
    ----------
    name
        ``zlib`` or ``zstd``; empty for none.
    """

    name: str = ""
    level: int = 0
    shuffle: bool = False
    fletcher32: bool = False

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.name) or self.shuffle or self.fletcher32


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedVariable:
    """How one variable is written.

    Attributes
    ----------
    dimensions
        FQNs in the source.
    fill
        The value of ``_FillValue``; None where it has none.
    node
        The array as it is taken; `source` and `selection` say of what.
    chunk
        Shape of the chunks; None where the elements lie in one piece.
    block
        Sides of what is read and written together.
    by_chunks
        It is only declared: `netcdf4_chunks` puts its chunks into the file.
    """

    name: str
    type: NetcdfType
    dimensions: tuple[str, ...]
    attributes: tuple[NetcdfAttribute, ...]
    fill: Any
    node: ArrayNode
    source: ArrayNode
    selection: Selection
    chunk: tuple[int, ...] | None
    filters: Filters
    block: tuple[int, ...]
    by_chunks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGroup:
    """How one group is written.

    Attributes
    ----------
    dimensions
        By FQN in the source: name and length in the file, None for an unlimited one.
    """

    name: str
    path: str
    dimensions: Mapping[str, tuple[str, int | None]]
    types: tuple[DeclaredType, ...]
    attributes: tuple[NetcdfAttribute, ...]
    variables: tuple[PlannedVariable, ...]
    groups: tuple[PlannedGroup, ...]

    def variables_below(self) -> Iterator[PlannedVariable]:
        """Yield all variables, those of this group first."""
        yield from self.variables
        for below in self.groups:
            yield from below.variables_below()


@dataclass(slots=True)
class Writing:
    """What the writing of all variables shares, and what is compared afterwards.

    Attributes
    ----------
    total
        Blocks to be written.
    digests
        Of the blocks that were written, in their order.
    """

    session: Session
    access: Access
    token: CancelToken
    control: JobControl
    tally: Tally
    skip_bad: bool
    total: int = 0
    done: int = 0
    digests: list[bytes] = field(default_factory=list)

    def bad(self, error: RefbrowserError) -> None:
        """Take note that something cannot be read, or raise it."""
        if not self.skip_bad:
            raise error
        self.tally.skipped.append(error)

    def step(self) -> None:
        """Tell that a block is written."""
        self.done += 1
        self.control.check()
        tally = self.tally
        self.control.progress(self.done, self.total, read_bytes=tally.read_bytes, requests=tally.requests)


# Elements


def elements_fault(type: NetcdfType, node: ArrayNode) -> str:
    """Return why elements cannot be written; nothing where they can."""
    is_rows = isinstance(type, VlenType)
    plain = type.elements if isinstance(type, VlenType) else type
    shown = quoted(type_text(type).strip())
    if isinstance(node.type, SequenceType) or (is_rows and not isinstance(plain, AtomicType)):
        return f"netCDF4 writes no elements of type {shown}: rows of anything but numbers"
    if is_rows and plain in (AtomicType.STRING, AtomicType.CHAR):
        return f"netCDF4 writes no elements of type {shown}: rows of anything but numbers"
    if is_rows and node.known_dtype.kind != "O":
        return f"netCDF4 writes no elements of type {shown}"
    return _fixed_fault(plain, shown)


def _fixed_fault(type: NetcdfType, shown: str) -> str:
    if isinstance(type, OpaqueType):
        return f"netCDF4 writes no elements of type {shown}: opaque bytes"
    if isinstance(type, CompoundType):
        for each in type.fields:
            if found := name_refused(each.name):
                return found
            if isinstance(each.type, VlenType) or each.type is AtomicType.STRING:
                return f"netCDF4 writes no elements of type {shown}: a member has variable length"
            if found := _fixed_fault(each.type, shown):
                return found
    return ""


def type_fault(type: DeclaredType) -> str:
    """Return why a type cannot be declared; nothing where it can."""
    if not isinstance(type, VlenType):
        return _fixed_fault(type, quoted(type.name))
    is_number = isinstance(type.elements, AtomicType) and type.elements.dtype is not None
    return "" if is_number else "rows of anything but numbers"


def item_size(type: NetcdfType, node: ArrayNode) -> int:
    """Return the bytes that an element takes in memory, about."""
    return max(element_size(node), 64 if type is AtomicType.STRING else 1)


def element_dtype(type: NetcdfType) -> np.dtype[Any]:
    """Return the type of numpy that netCDF4 has for elements of fixed size."""
    if isinstance(type, EnumType):
        return type.base.known_dtype
    if isinstance(type, CompoundType):
        members = [(each.name, element_dtype(each.type), each.shape) for each in type.fields]
        return np.dtype(members, align=True)
    assert isinstance(type, AtomicType)
    return np.dtype("S1") if type is AtomicType.CHAR else type.known_dtype


def converted(values: Values, type: NetcdfType) -> Values:
    """Return elements as netCDF4 takes them.

    Raises
    ------
    RefbrowserError
        `META`: a text has no form in netCDF.
    """
    if type is AtomicType.STRING:
        return _texts(values)
    if isinstance(type, VlenType):
        dtype = element_dtype(type.elements)
        rows = np.empty(values.shape, object)
        flat = rows.reshape(-1)
        for place, row in enumerate(values.reshape(-1).tolist()):
            held = np.frombuffer(row, "u1") if isinstance(row, bytes) else np.asarray(row)
            flat[place] = np.ascontiguousarray(held.reshape(-1), dtype)
        return rows
    if isinstance(type, CompoundType):
        made = np.zeros(values.shape, element_dtype(type))
        if values.dtype.kind == "c":
            made["r"], made["i"] = values.real, values.imag
            return made
        members = [(name, part) for name, part in members_of(values.dtype) if part.itemsize]
        for each, (name, _) in zip(type.fields, members, strict=True):
            made[each.name] = _of_member(values[name], each.type)
        return made
    if type is AtomicType.CHAR and values.dtype.kind == "U":
        try:
            return np.char.encode(values, "ascii").astype("S1")
        except UnicodeError as error:
            message = "a character is not ASCII, and does not fit into a netCDF char"
            raise RefbrowserError(ErrorKind.META, message) from error
    if values.dtype.kind in "mM":
        return values.astype("i8")
    return np.ascontiguousarray(values, element_dtype(type)).reshape(values.shape)


def _of_member(values: Values, type: NetcdfType) -> Values:
    if type is AtomicType.CHAR:
        size = values.dtype.itemsize
        flat = np.ascontiguousarray(values).reshape(-1).view("S1")
        return flat.reshape(values.shape if size == 1 else (*values.shape, size))
    if values.dtype.kind == "U":
        native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        return native.reshape(-1).view("u4").reshape(*values.shape, values.dtype.itemsize // 4)
    return converted(values, type)


def _texts(values: Values) -> Values:
    if values.dtype.kind == "S":
        values = as_texts(values)
    texts = np.empty(values.shape, object)
    flat = texts.reshape(-1)
    for place, value in enumerate(values.reshape(-1).tolist()):
        try:
            text = value.decode() if isinstance(value, bytes) else str(value)
            text.encode()
        except UnicodeError as error:
            message = f"{quoted(value)} is not Unicode text, which netCDF needs"
            raise RefbrowserError(ErrorKind.META, message) from error
        if "\0" in text:
            message = f"the text {quoted(text)} holds a NUL, where texts of netCDF end"
            raise RefbrowserError(ErrorKind.META, message)
        flat[place] = text
    return texts


def _digest(values: Values) -> bytes:
    """Return what tells elements from others: those of numbers by their bytes, in native order."""
    dtype = values.dtype
    if dtype.kind == "O":
        found = hashlib.blake2b()
        for item in values.reshape(-1).tolist():
            data = item.encode() if isinstance(item, str) else np.asarray(item).tobytes()
            found.update(len(data).to_bytes(8, "little"))
            found.update(data)
        return found.digest()
    if dtype.names is not None:
        return b"".join(_digest(values[name]) for name in dtype.names)
    held = np.ascontiguousarray(values, dtype.newbyteorder("="))
    return crc32c(held.reshape(-1).view("u1")).to_bytes(4, "little")


# The library


def require_netcdf(filters: Filters | None) -> None:
    """Raise `E_USAGE` where netCDF4 is not installed, or lacks what is asked for."""
    try:
        import netCDF4
    except ImportError as error:
        message = "netCDF-4 is written by netCDF4, which is not installed"
        advice = to_install("refbrowser[netcdf]")
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice) from error
    if filters is not None and filters.name == "zstd" and not netCDF4.__has_zstandard_support__:
        message = "this build of netCDF4 has no zstd"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="choose zlib")


@contextmanager
def using_library(what: str) -> Iterator[None]:
    """Let one thread use the library, and tell what it raises."""
    with _LIBRARY:
        try:
            yield
        except (RefbrowserError, OSError):
            raise
        except Exception as error:
            message = f"the library of netCDF or HDF5 fails: {quoted(str(error))[1:-1]}"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=what)) from error


def write_file(path: str, root: PlannedGroup, writing: Writing) -> None:
    """Write a file.

    Raises
    ------
    RefbrowserError
        Something cannot be read, or the library fails.
    OSError
        The file cannot be written.
    """
    import netCDF4

    with using_library(path):
        file = netCDF4.Dataset(path, "w", format="NETCDF4")
    try:
        made: list[tuple[PlannedVariable, Any]] = []
        with using_library(path):
            _make_group(file, root, made, {}, {})
        for plan, variable in made:
            if not plan.by_chunks:
                _write_values(plan, variable, writing)
    finally:
        with using_library(path):
            file.close()


def _make_group(
    group: Any,
    plan: PlannedGroup,
    made: list[tuple[PlannedVariable, Any]],
    dimensions: dict[str, Any],
    types: dict[NetcdfType, Any],
) -> None:
    """Declare everything of a group and of those below it."""
    for path, (name, length) in plan.dimensions.items():
        dimensions[path] = group.createDimension(name, length)
    for type in plan.types:
        types[type] = _made_type(group, type)
    _set_attributes(group, plan.attributes)
    later = [(group.createGroup(below.name), below) for below in plan.groups]
    for each in plan.variables:
        variable = _made_variable(group, each, dimensions, types)
        _set_attributes(variable, each.attributes)
        made.append((each, variable))
    for inner, below in later:
        _make_group(inner, below, made, dimensions, types)


def _made_type(group: Any, type: DeclaredType) -> Any:
    name = dimension_name(type.name)
    if type_fault(type):
        return None
    if isinstance(type, EnumType):
        return group.createEnumType(type.base.known_dtype, name, {word: int(at) for at, word in type.names})
    if isinstance(type, CompoundType):
        return group.createCompoundType(element_dtype(type), name)
    assert isinstance(type, VlenType)
    return group.createVLType(element_dtype(type.elements), name)


def _made_variable(
    group: Any, plan: PlannedVariable, dimensions: dict[str, Any], types: dict[NetcdfType, Any]
) -> Any:
    type, filters = plan.type, plan.filters
    datatype: Any
    if isinstance(type, AtomicType):
        datatype = str if type is AtomicType.STRING else element_dtype(type)
    else:
        datatype = types[type]
    options: dict[str, Any] = {}
    if filters.name:
        options |= {"compression": filters.name, "complevel": filters.level}
    if plan.chunk is not None:
        options |= {"chunksizes": plan.chunk, "shuffle": filters.shuffle, "fletcher32": filters.fletcher32}
    elif plan.node.shape and not isinstance(type, VlenType) and type is not AtomicType.STRING:
        options |= {"contiguous": True}
    if plan.fill is not None:
        options |= {"fill_value": _fill_of(plan)}
    own = tuple(dimensions[path] for path in plan.dimensions)
    variable = group.createVariable(plan.name, datatype, own, **options)
    _as_stored(variable)
    return variable


def _fill_of(plan: PlannedVariable) -> Any:
    fill = plan.fill.encode()[:1] if plan.type is AtomicType.CHAR else plan.fill
    return np.array(fill, element_dtype(plan.type))[()]


def _as_stored(variable: Any) -> None:
    """Have a variable give and take elements as they are."""
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)


def texts_of(attribute: NetcdfAttribute) -> list[str]:
    """Return the values of an attribute that are texts."""
    return [each for each in attribute.values if isinstance(each, str)]


def _set_attributes(target: Any, attributes: tuple[NetcdfAttribute, ...]) -> None:
    for each in attributes:
        if each.type is AtomicType.CHAR:
            target.setncattr(each.name, each.values[0])
        elif each.type is AtomicType.STRING:
            target.setncattr_string(each.name, list(each.values) if len(each.values) > 1 else each.values[0])
        else:
            assert isinstance(each.type, AtomicType)
            target.setncattr(each.name, np.array(each.values, each.type.known_dtype))


# Values


def _write_values(plan: PlannedVariable, variable: Any, writing: Writing) -> None:
    size = prod(plan.block) * item_size(plan.type, plan.node)
    ahead = max(1, min(AHEAD, LIMITS.export_memory // max(1, _TIMES * size)))
    reader = ElementReader(plan, writing)
    for box, values, errors in in_order(
        reader.read, boxes(plan.node.shape, plan.block), ahead, writing.token
    ):
        for error in errors:
            writing.bad(error)
        with using_library(plan.node.path):
            variable[box or ...] = values if values.shape else values[()]
        writing.digests.append(_digest(values))
        writing.step()
    writing.tally.read_bytes += reader.read_bytes
    writing.tally.requests += reader.requests


class ElementReader:
    """Reads blocks of one variable; used by several threads at once."""

    def __init__(self, plan: PlannedVariable, writing: Writing) -> None:
        self._plan = plan
        self._writing = writing
        self._lock = threading.Lock()
        self._kept = [axis for axis in range(len(plan.source.shape)) if axis not in plan.selection.dropped]
        self.read_bytes = 0
        self.requests = 0

    def read(self, box: Box) -> tuple[Box, Values, list[RefbrowserError]]:
        """Return a block as it is written, and why parts of it could not be read."""
        plan, writing = self._plan, self._writing
        failed: list[tuple[Box, RefbrowserError]] = []

        def ended(part: EndedPart) -> None:
            if part.state is PartState.FAILED and part.error is not None:
                failed.append((tuple(part.part.target[axis] for axis in self._kept), part.error))

        told: dict[str, int] = {}

        def progress(done: int, total: int, *, read_bytes: int = 0, requests: int = 0) -> None:
            told.update(read_bytes=read_bytes, requests=requests)

        axes = list(plan.selection.axes)
        for axis, part in zip(self._kept, box, strict=True):
            axes[axis] = axes[axis][part]
        values = writing.session.read(
            plan.source,
            writing.access,
            Selection(tuple(axes), plan.selection.dropped),
            on_part=ended,
            cancel=writing.token,
            progress=progress,
            export=True,
        )
        with self._lock:
            self.read_bytes += told.get("read_bytes", 0)
            self.requests += told.get("requests", 0)
        for target, _ in failed:
            # What could not be read may hold anything; it is told, and is what missing elements are.
            index: tuple[Any, ...] = (*target, ...)
            if values.dtype.hasobject:
                fill = plan.source.fill_value
                if fill is None:
                    fill = b"" if isinstance(plan.type, VlenType) else ""
                for place in np.ndindex(values[index].shape):
                    values[index][place] = fill
            else:
                values[index] = plan.source.fill_element
        try:
            return box, converted(values, plan.type), [error for _, error in failed]
        except RefbrowserError as error:
            raise RefbrowserError(error.kind, error.message, Place(path=plan.node.path)) from error


# Reading again


def verify_file(
    path: str, root: PlannedGroup, writing: Writing, samples: Mapping[str, Sample], token: CancelToken
) -> int:
    """Return the bytes of a file that holds what was written.

    Parameters
    ----------
    samples
        Of the variables whose chunks were compared as they are stored: some elements, by path.

    Raises
    ------
    RefbrowserError
        `IO`: something is not as it was written.
    """
    import netCDF4

    with using_library(path):
        file = netCDF4.Dataset(path, "r")
    try:
        digests = iter(writing.digests)
        for plan, variable in _compare_group(file, root):
            if plan.by_chunks:
                if (sample := samples.get(plan.node.path)) is not None:
                    _compare_sample(plan, variable, sample)
                continue
            for box in boxes(plan.node.shape, plan.block):
                token.check()
                with using_library(plan.node.path):
                    found = np.asarray(variable[box or ...], object if variable.dtype is str else None)
                if _digest(found) != next(digests):
                    raise failed(plan.node.path, "the elements differ from those written")
    finally:
        with using_library(path):
            file.close()
    return os.path.getsize(path)


def _compare_sample(plan: PlannedVariable, variable: Any, sample: Sample) -> None:
    """Compare what the library reads with what was decoded of the chunks by codecs of ours."""
    box, values = sample
    with using_library(plan.node.path):
        same = _digest(np.asarray(variable[box])) == _digest(values)
    if not same:
        raise failed(plan.node.path, "the library reads different elements")


def _compare_group(
    group: Any, plan: PlannedGroup, above: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[PlannedVariable, Any]]:
    """Compare what a group declares; yields its variables, and those below it."""
    names = {**above, **{path: name for path, (name, _) in plan.dimensions.items()}}
    with using_library(plan.path):
        _compare_attributes(group, plan.attributes, plan.path)
        for name, length in plan.dimensions.values():
            found = group.dimensions.get(name)
            if found is None or found.isunlimited() != (length is None) or length not in (None, len(found)):
                raise failed(plan.path, f"dimension {quoted(name)} differs from what was written")
    for each in plan.variables:
        with using_library(each.node.path):
            variable = group.variables[each.name]
            _as_stored(variable)
            _compare_variable(variable, each, names)
        yield each, variable
    for below in plan.groups:
        yield from _compare_group(group.groups[below.name], below, names)


def _compare_variable(variable: Any, plan: PlannedVariable, names: Mapping[str, str]) -> None:
    """Compare what a variable declares."""
    path, type = plan.node.path, plan.type
    if variable.dimensions != tuple(names[each] for each in plan.dimensions):
        raise failed(path, "the dimensions differ from those written")
    elements = type.elements if isinstance(type, VlenType) else type
    found = variable.dtype
    if elements is not AtomicType.STRING:
        same = np.dtype(found).newbyteorder("=") == element_dtype(elements)
    else:
        same = found is str
    if isinstance(type, EnumType):
        same &= variable.datatype.enum_dict == {word: int(at) for at, word in type.names}
    if not same:
        raise failed(path, "the type differs from what was written")
    if plan.chunk is not None and tuple(variable.chunking()) != plan.chunk:
        raise failed(path, "the chunks differ in shape from those written")
    fill = [] if plan.fill is None else [_fill_of(plan)]
    if [np.asarray(each).tobytes() for each in _fills(variable)] != [each.tobytes() for each in fill]:
        raise failed(path, "the fill value differs from what was written")
    _compare_attributes(variable, plan.attributes, path)


def _fills(variable: Any) -> list[Any]:
    is_filled = FILL_ATTRIBUTE in variable.ncattrs()
    return [np.asarray(variable.getncattr(FILL_ATTRIBUTE), variable.dtype)] if is_filled else []


def _compare_attributes(target: Any, attributes: tuple[NetcdfAttribute, ...], path: str) -> None:
    names = {each.name for each in attributes}
    if set(target.ncattrs()) - {FILL_ATTRIBUTE} != names:
        raise failed(path, "the attributes differ from those written")
    for each in attributes:
        found = target.getncattr(each.name)
        dtype = each.type.dtype if isinstance(each.type, AtomicType) else None
        if dtype is not None:
            wanted = np.array(each.values, dtype)
            got = np.asarray(found).reshape(-1)
            same = got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()
        else:
            same = (found if isinstance(found, list) else [found]) == list(each.values)
        if not same:
            raise failed(path, f"attribute {quoted(each.name)} differs from what was written")


def failed(path: str, what: str) -> RefbrowserError:
    """Return the error of what is not as it was written."""
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=path))
