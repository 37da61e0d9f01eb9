"""Structures, sequences and columns of streams, with the values that they stand for."""

from __future__ import annotations

import struct

import stream_encoder as enc
from stream_constructs import ALL_PLAIN, N3, Construct, shared
from stream_encoder import (
    column_body,
    data,
    data_body,
    dimension,
    group,
    header,
    numbers,
    regular,
    sequence,
    stream,
    structure,
    structure_body,
    variable,
    whole,
)

D2 = dimension("m", 2)
PLAIN_MEMBERS = [variable("a", enc.SHORT), variable("b", enc.DOUBLE), variable("c", enc.UBYTE)]
PLAIN_ROWS = [{"a": 1, "b": 0.5, "c": 200}, {"a": -2, "b": 1e9, "c": 0}, {"a": 3, "b": -1.0, "c": 7}]


def packed_rows(order=">"):
    return b"".join(struct.pack(f"{order}hdB", *row.values()) for row in PLAIN_ROWS)


def one(shape, variables, *messages, structures=(), type=enc.STRUCTURE):
    """Return a stream of one structure ``s``."""
    made = structure("s", type, shape, variables=variables, structures=structures)
    return stream(header(group(dimensions=shared(shape), structures=[made])), *messages)


def rows_message(body, ranges, *, bigend=True, **facts):
    return data(data_body("s", enc.STRUCTURE, ranges, bigend=bigend, **facts), regular(body))


def plain_structures():
    big = structure_body(packed_rows(), count=3, row_length=11)
    values = {"/s": PLAIN_ROWS}
    yield Construct("structure", one([N3], PLAIN_MEMBERS, rows_message(big, whole([3]))), values, ("/s",))
    little = structure_body(packed_rows("<"), count=3, row_length=11)
    for version in (None, 2, 3):
        message = rows_message(little, whole([3]), bigend=False, version=version)
        made = one([N3], PLAIN_MEMBERS, message)
        yield Construct(f"structure-little-{version}", made, values, ("/s",))
    claimed = rows_message(big, whole([3]), compress=enc.DEFLATE, uncompressed=40)
    yield Construct("structure-said-deflated", one([N3], PLAIN_MEMBERS, claimed), values)
    checked = rows_message(big, whole([3]), crc32=enc.crc32_of(big))
    yield Construct("structure-crc32", one([N3], PLAIN_MEMBERS, checked), values)
    single = structure_body(packed_rows()[:11])
    yield Construct(
        "structure-scalar", one([], PLAIN_MEMBERS, rows_message(single, None)), {"/s": PLAIN_ROWS[0]}
    )
    table = rows_message(structure_body(packed_rows()[:11] * 4, count=4), whole([2, 2]))
    yield Construct("structure-2d", one([D2, D2], PLAIN_MEMBERS, table), {"/s": [[PLAIN_ROWS[0]] * 2] * 2})
    for repeated in (enc.packed, enc.unpacked):
        rows = structure_body(b"\7\10\11", members=[2], count=3, repeated=repeated)
        made = one([N3], PLAIN_MEMBERS, rows_message(rows, whole([3])))
        listed = [{"a": NO_SHORT, "b": NO_DOUBLE, "c": value} for value in (7, 8, 9)]
        yield Construct(f"structure-members-{repeated.__name__}", made, {"/s": listed})
    made = one([N3], PLAIN_MEMBERS, rows_message(big, whole([3])), rows_message(rows, whole([3])))
    # Members that a message does not list are not sent by it: what was sent before stays.
    kept = [{**row, "c": value} for row, value in zip(PLAIN_ROWS, (7, 8, 9), strict=True)]
    yield Construct("structure-members-later", made, {"/s": kept})
    second = rows_message(structure_body(struct.pack(">hdB", 9, 9.5, 9), count=1), [(1, 1, 1)])
    made = one([N3], PLAIN_MEMBERS, rows_message(big, whole([3])), second)
    replaced = [PLAIN_ROWS[0], {"a": 9, "b": 9.5, "c": 9}, PLAIN_ROWS[2]]
    yield Construct("structure-later-wins", made, {"/s": replaced})


NO_SHORT, NO_DOUBLE = -32767, 9.969209968386869e36


def rich_structures():
    members = [
        variable("p", enc.SHORT, [D2]),
        variable("t", enc.CHAR, [N3]),
        variable("s", enc.STRING),
        variable("l", enc.STRING, [D2]),
    ]
    inner = structure("i", variables=[variable("k", enc.INT)])
    grid = structure("g", shape=[D2], variables=[variable("k", enc.BYTE), variable("w", enc.STRING)])
    packed = b"".join(
        struct.pack(">hh3siiibibi", at, -at, b"ab\0", 3 * at, 3 * at + 1, 10 + at, 1, 5, 2, 5)
        for at in range(2)
    )
    heap = [["α"], ["x", "y"], [""], ["β"], ["z", ""], ["w"]]
    letters, below = [b"a", b"b", b""], [{"k": 1, "w": "w"}, {"k": 2, "w": "w"}]
    rows = [
        {"p": [0, 0], "t": letters, "s": "α", "l": ["x", "y"], "i": {"k": 10}, "g": below},
        {"p": [1, -1], "t": letters, "s": "β", "l": ["z", ""], "i": {"k": 11}, "g": below},
    ]
    body = structure_body(packed, heap=heap, count=2)
    made = one([D2], members, rows_message(body, whole([2])), structures=[inner, grid])
    yield Construct("structure-of-everything", made, {"/s": rows})
    little = structure_body(struct.pack("<i", 1), heap=[["no"], ["yes"]], repeated=enc.packed)
    message = rows_message(little, None, bigend=False)
    yield Construct("structure-heap", one([], [variable("w", enc.STRING)], message), {"/s": {"w": "yes"}})


def sequences():
    members = [variable("a", enc.INT), variable("w", enc.STRING)]

    def rows(*values):
        packed = b"".join(struct.pack(">ii", value, at) for at, value in enumerate(values))
        return structure_body(packed, heap=[[str(value)] for value in values], count=len(values))

    def message(*bodies):
        return data(data_body("s", enc.SEQUENCE, bigend=True), sequence(bodies))

    def made(*messages, shape=()):
        return one(shape, members, *messages, type=enc.SEQUENCE)

    def values(*numbers_of_rows):
        return {"/s": [{"a": value, "w": str(value)} for value in numbers_of_rows]}

    yield Construct("sequence", made(message(rows(1), rows(2), rows(3))), values(1, 2, 3))
    yield Construct("sequence-blocks", made(message(rows(1, 2), rows(3))), values(1, 2, 3))
    yield Construct("sequence-appended", made(message(rows(1)), message(rows(2, 3))), values(1, 2, 3))
    yield Construct("sequence-empty", made(message()), values())
    yield Construct("sequence-never-sent", made(), values())
    yield Construct("sequence-vlen", made(message(rows(5)), shape=[enc.VLEN]), values(5))


def columns():
    values = [1, -2, 3]
    for type, letter in ((enc.INT, "i"), (enc.DOUBLE, "d"), (enc.SHORT, "h")):
        body = column_body("x", type, whole([3]), elements=3, primitives=numbers(letter, values, "<"))
        made = stream(header(group(dimensions=[N3], variables=[variable("x", type, [N3])])), enc.column(body))
        yield Construct(f"column-{type}", made, {"/x": values}, ("/x",))
    said = column_body("x", enc.INT, whole([3]), bigend=True, elements=3, primitives=numbers("i", values))
    made = stream(header(group(dimensions=[N3], variables=[variable("x", enc.INT, [N3])])), enc.column(said))
    yield Construct("column-big", made, {"/x": values}, ("/x",))
    scalar = column_body("x", enc.INT, None, elements=1, primitives=numbers("i", [5], "<"))
    made = stream(header(group(dimensions=[N3], variables=[variable("x", enc.INT)])), enc.column(scalar))
    yield Construct("column-scalar", made, {"/x": 5})
    words = column_body("x", enc.STRING, whole([3]), elements=3, texts=["ä", "", "c"])
    made = stream(
        header(group(dimensions=[N3], variables=[variable("x", enc.STRING, [N3])])), enc.column(words)
    )
    yield Construct("column-strings", made, {"/x": ["ä", "", "c"]}, ("/x",))
    blobs = column_body("x", enc.OPAQUE, whole([3]), elements=3, opaque=[b"a", b"", b"bc"])
    made = stream(
        header(group(dimensions=[N3], variables=[variable("x", enc.OPAQUE, [N3])])), enc.column(blobs)
    )
    yield Construct("column-opaque", made, {"/x": [b"a", b"", b"bc"]})
    ragged = variable("x", enc.INT, [N3, enc.VLEN])
    for repeated in (enc.packed, enc.unpacked):
        primitives = numbers("i", [1, 2, 3], "<")
        rows = column_body(
            "x",
            enc.INT,
            whole([3]),
            vlen=True,
            elements=3,
            primitives=primitives,
            lengths=[1, 0, 2],
            repeated=repeated,
        )
        made = stream(header(group(dimensions=[N3], variables=[ragged])), enc.column(rows))
        yield Construct(f"column-ragged-{repeated.__name__}", made, {"/x": [[1], [], [2, 3]]})


def column_structures():
    inner = structure("i", variables=[variable("k", enc.SHORT, [D2])])
    members = [variable("a", enc.INT), variable("w", enc.STRING), variable("r", enc.INT, [enc.VLEN])]
    parts = [
        column_body("a", enc.INT, whole([2]), elements=2, primitives=numbers("i", [1, 2], "<")),
        column_body("w", enc.STRING, whole([2]), elements=2, texts=["x", "yy"]),
        column_body(
            "r",
            enc.INT,
            whole([2]),
            vlen=True,
            elements=3,
            primitives=numbers("i", [7, 8, 9], "<"),
            lengths=[2, 1],
        ),
        column_body(
            "i",
            enc.STRUCTURE,
            whole([2]),
            elements=2,
            members=[
                column_body(
                    "k", enc.SHORT, whole([2, 2]), elements=4, primitives=numbers("h", [1, 2, 3, 4], "<")
                )
            ],
        ),
    ]
    body = column_body("s", enc.STRUCTURE, whole([2]), elements=2, members=parts)
    made = one([D2], members, enc.column(body), structures=[inner])
    rows = [
        {"a": 1, "w": "x", "r": [7, 8], "i": {"k": [1, 2]}},
        {"a": 2, "w": "yy", "r": [9], "i": {"k": [3, 4]}},
    ]
    yield Construct("column-structure", made, {"/s": rows})


STRUCTURED = [
    *plain_structures(),
    *rich_structures(),
    *sequences(),
    *columns(),
    *column_structures(),
]
ALL = [*ALL_PLAIN, *STRUCTURED]
