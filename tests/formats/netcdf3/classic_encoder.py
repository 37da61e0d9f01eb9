"""Writes classic netCDF byte by byte, also what no library would."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

TYPES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}


def filled(data: bytes) -> bytes:
    """Return bytes with those that fill the last unit."""
    return data + bytes(-len(data) % 4)


class Classic:
    """A file of a version, written piece by piece.

    Parameters
    ----------
    records
        What the header says; None where it does not.
    """

    def __init__(self, version: int = 1, records: int | None = 0) -> None:
        self.version = version
        self.records = records
        self.dimensions: list[tuple[bytes, int]] = []
        self.attributes: list[tuple[bytes, str, Any]] = []
        #: Name, positions of dimensions, type, data of all records, attributes.
        self.variables: list[dict[str, Any]] = []

    def count(self, number: int) -> bytes:
        return struct.pack(">Q" if self.version == 5 else ">I", number)

    def name(self, name: bytes) -> bytes:
        return self.count(len(name)) + filled(name)

    def listed(self, tag: int, things: Sequence[bytes]) -> bytes:
        if not things:
            return bytes(4) + self.count(0)
        return struct.pack(">I", tag) + self.count(len(things)) + b"".join(things)

    def attribute(self, name: bytes, type: str, value: Any) -> bytes:
        if type == "S1":
            data, count = value, len(value)
        else:
            values = np.atleast_1d(np.asarray(value)).astype(f">{type}")
            data, count = values.tobytes(), values.size
        return self.name(name) + struct.pack(">I", TYPES[type]) + self.count(count) + filled(data)

    def add(self, name: bytes, dims: Sequence[int], values: Any, **more: Any) -> None:
        """Add a variable; ``type``, ``begin``, ``number`` of its type and ``attributes`` may be said."""
        array = np.asarray(values)
        type = more.pop("type", array.dtype.str[1:])
        self.variables.append({"name": name, "dims": dims, "values": array, "type": type, **more})

    def is_record(self, variable: dict[str, Any]) -> bool:
        dims = variable["dims"]
        return bool(dims) and dims[0] < len(self.dimensions) and self.dimensions[dims[0]][1] == 0

    def to_bytes(self) -> bytes:
        """Return the file: variables of fixed size, then records."""
        size = len(self.header([0] * len(self.variables)))
        begins, data = [0] * len(self.variables), b""
        for number, each in enumerate(self.variables):
            if not self.is_record(each):
                begins[number] = size + len(data)
                data += filled(self.encoded(each, each["values"]))
        held = [number for number, each in enumerate(self.variables) if self.is_record(each)]
        at = size + len(data)
        for number in held:
            begins[number] = at
            at += len(self.filled_record(number, 0, held))
        count = max((len(self.variables[number]["values"]) for number in held), default=0)
        for record in range(count):
            data += b"".join(self.filled_record(number, record, held) for number in held)
        begins = [each.get("begin", begin) for each, begin in zip(self.variables, begins, strict=True)]
        return self.header(begins) + data

    def filled_record(self, number: int, record: int, held: list[int]) -> bytes:
        each = self.variables[number]
        values = each["values"] if len(each["values"]) else np.zeros((1, *each["values"].shape[1:]))
        data = self.encoded(each, values[record])
        return data if len(held) == 1 else filled(data)

    def encoded(self, variable: dict[str, Any], values: Any) -> bytes:
        return np.asarray(values).astype(f">{variable['type']}").tobytes()

    def header(self, begins: Sequence[int]) -> bytes:
        unknown = (1 << (64 if self.version == 5 else 32)) - 1
        data = b"CDF" + bytes([self.version]) + self.count(unknown if self.records is None else self.records)
        data += self.listed(10, [self.name(name) + self.count(length) for name, length in self.dimensions])
        data += self.listed(12, [self.attribute(*each) for each in self.attributes])
        wide = ">i" if self.version == 1 else ">q"
        variables = []
        for each, begin in zip(self.variables, begins, strict=True):
            values = each["values"][0] if self.is_record(each) and len(each["values"]) else each["values"]
            size = len(filled(self.encoded(each, values)))
            variables.append(
                self.name(each["name"])
                + self.count(len(each["dims"]))
                + b"".join(map(self.count, each["dims"]))
                + self.listed(12, [self.attribute(*one) for one in each.get("attributes", ())])
                + struct.pack(">I", each.get("number", TYPES[each["type"]]))
                + self.count(min(size, (1 << 32) - 1))
                + struct.pack(wide, begin)
            )
        return data + self.listed(11, variables)
