"""Whether the messages of a stream agree with the definitions of their variables; all messages at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Severity, quoted
from refbrowser.formats.ncstream.definition import (
    DataType,
    StreamDefinition,
    StreamVariable,
    family_of,
    type_name,
)
from refbrowser.formats.ncstream.faults import FaultCode
from refbrowser.formats.ncstream.messages import MessageKind, MessageTable, Payload, StreamFault
from refbrowser.limits import LIMITS

Ints = npt.NDArray[np.int64]

#: Products beyond this do not fit 64 bits; no payload is so long.
_MOST = float(1 << 62)
#: Of no type that is known.
_NO_TYPE = -1
#: By the number of a type; the last one is reached by -1.
_FAMILY = np.array([*map(family_of, DataType), _NO_TYPE])
_ITEM_SIZES = np.array([0 if each.dtype is None else each.dtype.itemsize for each in DataType] + [0])


def check_data(table: MessageTable, definition: StreamDefinition) -> tuple[MessageTable, list[StreamFault]]:
    """Return the table with its column `fault` filled in, and the faults and warnings of its data.

    Each is compared with what all headers say together (wire notes, sections 3 and 8).
    """
    is_data = (table.kind == MessageKind.DATA) | (table.kind == MessageKind.DATA_COLUMN)
    rows = np.flatnonzero(is_data)
    if not len(rows):
        return table, []
    checks = _Checks(table, rows, definition)
    fault = table.fault.copy()
    fault[rows] = checks.faults()
    checked = replace(table, fault=fault)
    return checked, [*_listed(checked, rows, checks), *checks.warnings()]


class _Checks:
    """What the definitions say of the variables of some messages, as columns beside those."""

    def __init__(self, table: MessageTable, rows: Ints, definition: StreamDefinition) -> None:
        self.table = table
        self.rows = rows
        known = dict(definition.variables())
        self.variables = [known.get(name) for name in table.names]
        self._ranks = np.array([_rank(each) for each in self.variables], np.int64)
        types = [_NO_TYPE if each is None else each.type for each in self.variables]
        self._families = _FAMILY[np.array(types, np.int64)]
        self._variable = table.variable[rows]
        self._rank = np.maximum(table.rank[rows], 0).astype(np.int64)
        self.elements, self._is_inside = self._measured()

    def faults(self) -> npt.NDArray[np.uint8]:
        """Return the `FaultCode` of each message, the first that applies."""
        table, rows, variable = self.table, self.rows, self._variable
        expected = self._ranks[variable]
        has_section = self._families[variable] != DataType.SEQUENCE
        conditions = [
            (table.fault[rows] == FaultCode.UNKNOWN_COMPRESSION, FaultCode.UNKNOWN_COMPRESSION),
            (expected < 0, FaultCode.UNKNOWN_VARIABLE),
            (_FAMILY[table.data_type[rows]] != self._families[variable], FaultCode.TYPE_MISMATCH),
            (has_section & (self._rank != expected), FaultCode.SECTION_RANK),
            (has_section & ~self._is_inside, FaultCode.SECTION_OUT_OF_RANGE),
            (~self._fits(), FaultCode.SIZE_MISMATCH),
        ]
        return np.select([each for each, _ in conditions], [code for _, code in conditions], 0).astype(
            np.uint8
        )

    def warnings(self) -> Iterator[StreamFault]:
        """Yield where an inflated size is announced that the section does not have."""
        table, rows = self.table, self.rows
        said = table.uncompressed[rows]
        is_deflated = table.deflated[rows] & (table.payload[rows] == Payload.REGULAR) & (said >= 0)
        # The field has 32 bits.
        expected = self.sizes() & 0xFFFFFFFF
        wrong = rows[is_deflated & (said != expected) & (self._ranks[self._variable] >= 0)].tolist()
        for number in wrong[: LIMITS.stream_faults]:
            text = f"uncompressedSize is {table.uncompressed[number]}, which is not the size of the section"
            yield _fault(table, number, FaultCode.SIZE_MISMATCH, text, Severity.WARNING)

    def sizes(self) -> Ints:
        """Return the bytes that regular data of each section have; -1 where they are beyond 64 bits."""
        item_size = _ITEM_SIZES[self.table.data_type[self.rows]]
        is_small = (self.elements >= 0) & (self.elements.astype(float) * item_size < _MOST)
        return np.where(is_small, np.where(is_small, self.elements, 0) * item_size, -1)

    def _fits(self) -> npt.NDArray[np.bool_]:
        """Return whether payloads have the size of their sections, where that is told without their bytes."""
        table, rows = self.table, self.rows
        payload, is_plain = table.payload[rows], ~table.deflated[rows]
        is_wrong = (payload == Payload.REGULAR) & (table.payload_length[rows] != self.sizes())
        is_wrong |= (payload == Payload.VARIABLE) & (table.count[rows] != self.elements)
        return ~(is_wrong & is_plain)

    def _measured(self) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the elements of each section (-1: beyond 64 bits), and whether it lies in its variable."""
        table, rows, rank = self.table, self.rows, self._rank
        elements = np.ones(len(rows), np.int64)
        is_inside = np.ones(len(rows), np.bool_)
        ranged = np.flatnonzero(rank > 0)
        if not len(ranged):
            return elements, is_inside
        first = np.concatenate(([0], np.cumsum(rank[ranged])[:-1]))
        axis = np.arange(int(rank[ranged].sum())) - np.repeat(first, rank[ranged])
        at = np.repeat(table.section[rows[ranged]], rank[ranged]) + axis
        sizes = table.sizes[at]
        total = np.multiply.reduceat(sizes.astype(float), first)
        exact = np.multiply.reduceat(sizes, first)
        elements[ranged] = np.where(total < _MOST, exact, -1)
        # In floating point: what does not fit 64 bits is far outside.
        stop = table.starts[at] + (sizes - 1.0) * table.strides[at]
        of = np.repeat(self._variable[ranged], rank[ranged])
        outside = (sizes > 0) & ((stop >= self._lengths(of, axis)) | (table.starts[at] < 0))
        is_inside[ranged] = ~np.logical_or.reduceat(outside, first)
        return elements, is_inside

    def _lengths(self, variable: npt.NDArray[np.int32], axis: Ints) -> npt.NDArray[np.float64]:
        """Return the lengths of axes of variables; infinity for axes that there are not."""
        shapes = [() if each is None else each.shape for each in self.variables]
        first = np.concatenate(([0], np.cumsum([len(shape) for shape in shapes])))
        flat = np.array([float(length) for shape in shapes for length in shape] + [np.inf])
        at = first[variable] + axis
        return flat[np.where(at < first[variable + 1], at, len(flat) - 1)]


def _rank(variable: StreamVariable | None) -> int:
    return -1 if variable is None else len(variable.shape)


def _listed(table: MessageTable, rows: Ints, checks: _Checks) -> Iterator[StreamFault]:
    """Yield the faults one by one; of what is more than the limit, how many there are."""
    faulty = rows[table.fault[rows] != 0].tolist()
    for number in faulty[: LIMITS.stream_faults]:
        code = FaultCode(int(table.fault[number]))
        yield _fault(table, number, code, _TEXTS[code](checks, number))
    others = faulty[LIMITS.stream_faults :]
    if others:
        code = FaultCode(int(table.fault[others[0]]))
        text = "the data of this message and of further ones cannot be used"
        yield replace(_fault(table, others[0], code, text), count=len(others))


def _fault(
    table: MessageTable, number: int, code: FaultCode, text: str, severity: Severity = Severity.FAULT
) -> StreamFault:
    return StreamFault(
        code=code.text,
        message=text,
        number=number,
        offset=int(table.offset[number]),
        severity=severity,
        path=table.names[table.variable[number]],
    )


def _rank_text(checks: _Checks, number: int) -> str:
    ranges = max(int(checks.table.rank[number]), 0)
    variable = checks.variables[checks.table.variable[number]]
    return f"the section has {ranges} ranges, the variable {_rank(variable)} dimensions"


def _outside_text(checks: _Checks, number: int) -> str:
    ranges = checks.table.ranges(number) or ()
    variable = checks.variables[checks.table.variable[number]]
    shape = () if variable is None else variable.shape
    section = ", ".join(f"{each.start}:{each.stop}:{each.step}" for each in ranges)
    return f"the section {section} does not lie in the shape {shape}"


def _type_text(checks: _Checks, number: int) -> str:
    variable = checks.variables[checks.table.variable[number]]
    mine = type_name(int(checks.table.data_type[number]))
    return f"the data are {mine}, the variable is {'' if variable is None else type_name(variable.type)}"


def _size_text(checks: _Checks, number: int) -> str:
    table, at = checks.table, int(np.searchsorted(checks.rows, number))
    if table.payload[number] == Payload.VARIABLE:
        return f"{table.count[number]} objects for a section of {checks.elements[at]} elements"
    return f"{table.payload_length[number]} bytes for a section of {checks.sizes()[at]}"


def _variable_text(checks: _Checks, number: int) -> str:
    name = checks.table.names[checks.table.variable[number]]
    return f"no header defines {quoted(name)}"


_TEXTS: dict[FaultCode, Callable[[_Checks, int], str]] = {
    FaultCode.UNKNOWN_COMPRESSION: lambda checks, number: (
        "the data are compressed in a way that is not known"
    ),
    FaultCode.UNKNOWN_VARIABLE: _variable_text,
    FaultCode.TYPE_MISMATCH: _type_text,
    FaultCode.SECTION_RANK: _rank_text,
    FaultCode.SECTION_OUT_OF_RANGE: _outside_text,
    FaultCode.SIZE_MISMATCH: _size_text,
}
