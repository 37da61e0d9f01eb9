"""Every construct of the NcStream grammar and of the wire notes, with the values that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import stream_encoder as enc
from stream_encoder import data, data_body, dimension, group, header, numbers, objects, regular, stream, whole

#: Defaults of netCDF where nothing was sent.
NO_INT, NO_SHORT, NO_FLOAT = -2147483647, -32767, 9.969209968386869e36


@dataclass(frozen=True)
class Construct:
    """A stream, and the values of its variables as nested lists; `siphon` lists those that siphon reads."""

    name: str
    stream: bytes
    values: dict[str, Any]
    siphon: tuple[str, ...] = ()


def one(name, type, shape, *messages, attributes=(), **more):
    """Return a stream of one variable ``x`` with messages for it."""
    variable = enc.variable("x", type, shape, attributes, **more)
    return stream(header(group(dimensions=shared(shape), variables=[variable])), *messages)


def shared(*shapes):
    """Return the dimensions of shapes that a header has to declare."""
    return dict.fromkeys(
        each for shape in shapes for each in shape if each not in (enc.VLEN, enc.VLEN_PROTO3)
    )


def block(type, ranges, values, order=">", **facts):
    """Return a data message for ``x``: plain elements in the order given, and said so unless told else."""
    facts.setdefault("bigend", order == ">")
    return data(data_body("x", type, ranges, **facts), regular(numbers(enc.LETTERS[type], values, order)))


N3 = dimension("n", 3)
_SAMPLES = {
    enc.BYTE: [-128, 0, 127],
    enc.SHORT: [-32768, 1, 32767],
    enc.INT: [-(2**31), 2, 2**31 - 1],
    enc.LONG: [-(2**63), 3, 2**63 - 1],
    enc.FLOAT: [-1.5, 0.25, 3e38],
    enc.DOUBLE: [-1.5, 1e-300, 1e300],
    enc.ENUM1: [0, 7, 255],
    enc.ENUM2: [0, 7, 65535],
    enc.ENUM4: [0, 7, 2**32 - 1],
    enc.UBYTE: [0, 200, 255],
    enc.USHORT: [0, 60000, 65535],
    enc.UINT: [0, 3 * 10**9, 2**32 - 1],
    enc.ULONG: [0, 10**19, 2**64 - 1],
}
_SIGNED = {enc.BYTE: enc.UBYTE, enc.SHORT: enc.USHORT, enc.INT: enc.UINT, enc.LONG: enc.ULONG}


def numeric():
    for type, values in _SAMPLES.items():
        made = one("x", type, [N3], block(type, whole([3]), values))
        siphon = ("/x",) if type not in (enc.ENUM1, enc.ENUM2, enc.ENUM4) else ()
        yield Construct(f"type-{type}", made, {"/x": values}, siphon)
    for type, unsigned in _SIGNED.items():
        # Servers before 5.0: the flag of the variable.
        part = regular(numbers(enc.LETTERS[unsigned], _SAMPLES[unsigned]))
        made = one("x", type, [N3], data(data_body("x", type, whole([3]), bigend=True), part), unsigned=True)
        yield Construct(f"unsigned-{type}", made, {"/x": _SAMPLES[unsigned]})
    chars = data(data_body("x", enc.CHAR, whole([2, 3]), bigend=True), regular(b"ab\0\xffef"))
    shape = [dimension("m", 2), N3]
    yield Construct(
        "char", one("x", enc.CHAR, shape, chars), {"/x": [[b"a", b"b", b""], [b"\xff", b"e", b"f"]]}
    )


def byte_orders():
    values = [1, -2, 30000]
    for name, order, facts in (
        ("big-said", ">", {"bigend": True}),
        ("big-by-default", ">", {"bigend": None}),
        ("big-by-default-version-2", ">", {"bigend": None, "version": 2}),
        ("little-by-default-since-version-3", "<", {"bigend": None, "version": 3}),
        ("little-said", "<", {"bigend": False}),
        ("little-said-version-1", "<", {"bigend": False, "version": 1}),
        ("bug-of-servers-version-2", ">", {"bigend": False, "version": 2}),
        ("bug-of-servers-version-3", ">", {"bigend": False, "version": 3}),
    ):
        made = one("x", enc.SHORT, [N3], block(enc.SHORT, whole([3]), values, order, **facts))
        yield Construct(f"order-{name}", made, {"/x": values}, ("/x",) if order == ">" else ())
    mixed = (block(enc.INT, [(0, 2, 1)], [1, 2], ">"), block(enc.INT, [(2, 1, 1)], [3], "<"))
    yield Construct("order-mixed", one("x", enc.INT, [N3], *mixed), {"/x": [1, 2, 3]})


def sections():
    d4 = [dimension("n", 4)]
    yield Construct("scalar-no-section", one("x", enc.INT, [], block(enc.INT, None, [5])), {"/x": 5}, ("/x",))
    yield Construct("scalar-no-ranges", one("x", enc.INT, [], block(enc.INT, [], [5])), {"/x": 5}, ("/x",))
    yield Construct("never-sent", one("x", enc.SHORT, d4), {"/x": [NO_SHORT] * 4})
    gaps = (block(enc.INT, [(1, 1, None)], [5]), block(enc.INT, [(3, 1, 0)], [7]))
    yield Construct("gaps", one("x", enc.INT, d4, *gaps), {"/x": [NO_INT, 5, NO_INT, 7]})
    fill = [enc.number_attribute("_FillValue", enc.INT, -9)]
    yield Construct("gaps-fill", one("x", enc.INT, d4, *gaps, attributes=fill), {"/x": [-9, 5, -9, 7]})
    later = (block(enc.INT, whole([4]), [1, 2, 3, 4]), block(enc.INT, [(1, 2, 1)], [8, 9]))
    yield Construct("later-wins", one("x", enc.INT, d4, *later), {"/x": [1, 8, 9, 4]})
    yield Construct("earlier-loses", one("x", enc.INT, d4, *later[::-1]), {"/x": [1, 2, 3, 4]})
    strided = (block(enc.INT, [(0, 2, 2)], [1, 3]), block(enc.INT, [(1, 2, 2)], [2, 4]))
    yield Construct("strides", one("x", enc.INT, d4, *strided), {"/x": [1, 2, 3, 4]})
    empty = block(enc.INT, [(0, 0, 1)], [])
    yield Construct("nothing-in-it", one("x", enc.INT, d4, empty), {"/x": [NO_INT] * 4})
    shape = [dimension("y", 3), dimension("x", 5)]
    tiles = [
        block(enc.INT, [(y, height, 1), (x, width, 1)], [10 * i + j for i in rows for j in columns])
        for y, height, rows in ((0, 2, range(2)), (2, 1, range(2, 3)))
        for x, width, columns in ((0, 2, range(2)), (2, 2, range(2, 4)), (4, 1, range(4, 5)))
    ]
    grid = [[10 * i + j for j in range(5)] for i in range(3)]
    yield Construct("tiles", one("x", enc.INT, shape, *tiles), {"/x": grid})
    huge = [dimension("y", 10**9), dimension("x", 10**9)]
    far = block(enc.INT, [(10**9 - 1, 1, 1), (7, 1, 1)], [1])
    yield Construct("sparse", one("x", enc.INT, huge, far), {})


def stored():
    values = [1, 2, 3]
    payload = numbers("i", values)
    packed_bytes = enc.deflated(payload)[1:]
    for name, facts in (
        ("deflate", {}),
        ("deflate-size", {"uncompressed": 12}),
        ("deflate-size-0", {"uncompressed": 0}),
    ):
        body = data_body("x", enc.INT, whole([3]), bigend=True, compress=enc.DEFLATE, **facts)
        siphon = ("/x",) if name == "deflate-size" else ()
        made = one("x", enc.INT, [N3], data(body, enc.deflated(payload)))
        yield Construct(name, made, {"/x": values}, siphon)
    sound = data_body("x", enc.INT, whole([3]), bigend=True, crc32=enc.crc32_of(payload))
    yield Construct("crc32", one("x", enc.INT, [N3], data(sound, regular(payload))), {"/x": values}, ("/x",))
    both = data_body(
        "x", enc.INT, whole([3]), bigend=True, compress=1, crc32=enc.crc32_of(packed_bytes), vdata=False
    )
    yield Construct(
        "crc32-deflate-vdata", one("x", enc.INT, [N3], data(both, enc.deflated(payload))), {"/x": values}
    )
    unknown = enc.sized(99, "later") + enc.double(50, 1.0) + enc.number(51, 2**63)
    body = data_body("x", enc.INT, whole([3]), bigend=True, unknown=unknown)
    yield Construct("unknown-fields", one("x", enc.INT, [N3], data(body, regular(payload))), {"/x": values})
    padded = enc.MAGIC_DATA + regular(data_body("x", enc.INT, whole([3]))) + enc.varint(12, 5) + payload
    yield Construct("padded-length", one("x", enc.INT, [N3], padded), {"/x": values})


def immediate():
    first = numbers("i", [1, 2, 3])
    yield Construct("immediate", one("x", enc.INT, [N3], immediate=first), {"/x": [1, 2, 3]})
    over = block(enc.INT, [(1, 1, 1)], [9])
    made = one("x", enc.INT, [N3], over, immediate=first)
    yield Construct("immediate-then-data", made, {"/x": [1, 9, 3]})
    replaced = stream(
        header(group(variables=[enc.variable("x", enc.SHORT, [], immediate=b"\0\1")])),
        header(group(variables=[enc.variable("x", enc.SHORT, [], immediate=b"\0\2")])),
    )
    yield Construct("immediate-replaced", replaced, {"/x": 2})


def texts():
    body = data_body("x", enc.STRING, whole([3]), version=2)
    words = ["", "naïve", "日本"]
    made = one("x", enc.STRING, [N3], data(body, objects(words)))
    yield Construct("strings", made, {"/x": words})
    ascii_words = ["a", "bc", ""]
    made = one("x", enc.STRING, [N3], data(body, objects(ascii_words)))
    yield Construct("strings-ascii", made, {"/x": ascii_words}, ("/x",))
    scalar = data(data_body("x", enc.STRING), objects(["only"]))
    yield Construct("string-scalar", one("x", enc.STRING, [], scalar), {"/x": "only"})
    table = data(data_body("x", enc.STRING, whole([2, 2])), objects(["a", "b", "c", "d"]))
    square = [dimension("y", 2), dimension("z", 2)]
    yield Construct("strings-2d", one("x", enc.STRING, square, table), {"/x": [["a", "b"], ["c", "d"]]})
    part = data(data_body("x", enc.STRING, [(1, 1, 1)]), objects(["b"]))
    yield Construct("strings-gaps", one("x", enc.STRING, [N3], part), {"/x": ["", "b", ""]})
    blobs = [b"", b"\0\1", b"\xff" * 200]
    made = one("x", enc.OPAQUE, [N3], data(data_body("x", enc.OPAQUE, whole([3])), objects(blobs)))
    yield Construct("opaque", made, {"/x": blobs})


def ragged():
    rows = [[1], [2, 3], []]
    stored_rows = objects([numbers("i", row) for row in rows])
    for name, vlen, ranges in (
        ("ragged", enc.VLEN, [*whole([3]), (None, enc.NO_LENGTH, None)]),
        ("ragged-proto3", enc.VLEN_PROTO3, whole([3])),
    ):
        body = data_body("x", enc.INT, ranges, bigend=False, version=2, vdata=True)
        made = one("x", enc.INT, [N3, vlen], data(body, stored_rows))
        yield Construct(name, made, {"/x": rows}, ("/x",) if name == "ragged" else ())
    little = data(data_body("x", enc.INT, whole([3]), bigend=False), objects([numbers("i", [5], "<")] * 3))
    yield Construct("ragged-little", one("x", enc.INT, [N3, enc.VLEN], little), {"/x": [[5]] * 3})
    alone = data(data_body("x", enc.INT), objects([numbers("i", [4, 5])]))
    yield Construct("ragged-alone", one("x", enc.INT, [enc.VLEN], alone), {"/x": [4, 5]})
    gap = data(data_body("x", enc.SHORT, [(2, 1, 1)]), objects([numbers("h", [4, 5])]))
    yield Construct("ragged-gaps", one("x", enc.SHORT, [N3, enc.VLEN], gap), {"/x": [[], [], [4, 5]]})
    square = [dimension("y", 2), dimension("z", 2), enc.VLEN]
    four = data(data_body("x", enc.BYTE, whole([2, 2])), objects([b"\1", b"", b"\2\3", b"\4"]))
    yield Construct("ragged-2d", one("x", enc.BYTE, square, four), {"/x": [[[1], []], [[2, 3], [4]]]})
    later = data(data_body("x", enc.INT, [(0, 1, 1)], bigend=True), objects([numbers("i", [7, 8])]))
    all_rows = data(data_body("x", enc.INT, whole([3]), bigend=True), stored_rows)
    made = one("x", enc.INT, [N3, enc.VLEN], all_rows, later)
    yield Construct("ragged-later-wins", made, {"/x": [[7, 8], [2, 3], []]})


def headers():
    first = group(
        dimensions=[dimension("t", 0, unlimited=True), dimension("n", 3)],
        variables=[enc.variable("x", enc.INT, [N3], [enc.text_attribute("units", "m")])],
        groups=[group("a", groups=[group("b", variables=[enc.variable("deep", enc.BYTE, [N3])])])],
    )
    second = group(
        dimensions=[dimension("t", 2, unlimited=True)],
        variables=[
            enc.variable("y", enc.INT, [dimension("t", 2, unlimited=True)]),
            enc.variable("x", enc.INT, [N3], [enc.text_attribute("units", "km")]),
        ],
        groups=[group("a", attributes=[enc.text_attribute("note", "new")])],
    )
    deep = data(data_body("a/b/deep", enc.BYTE, whole([3])), regular(b"\1\2\3"))
    slash = data(data_body("/a/b/deep", enc.BYTE, [(1, 1, 1)]), regular(b"\7"))
    two = data(data_body("y", enc.INT, whole([2])), regular(numbers("i", [1, 2])))
    made = stream(header(first), deep, header(second), two, slash, enc.error("shown", 3))
    values = {"/x": [NO_INT] * 3, "/y": [1, 2], "/a/b/deep": [1, 7, 3]}
    yield Construct("two-headers", made, values)
    dotted = stream(
        header(group(variables=[enc.variable("a.b\\c", enc.BYTE)])),
        data(data_body("a\\.b\\\\c", enc.BYTE), regular(b"\5")),
    )
    yield Construct("escaped-name", dotted, {"/a.b\\c": 5})
    bare = header(group(variables=[enc.variable("x", enc.BYTE)])) + data(
        data_body("x", enc.BYTE), regular(b"\5")
    )
    yield Construct("bare", bare, {"/x": 5})
    yield Construct("no-end", enc.MAGIC_START + bare, {"/x": 5})
    index = header(
        group(
            dimensions=[N3], variables=[enc.variable("x", enc.BYTE, [N3], dim_index=[0], repeated=enc.packed)]
        )
    )
    yield Construct(
        "dim-index",
        stream(index, data(data_body("x", enc.BYTE, whole([3])), regular(b"\1\2\3"))),
        {"/x": [1, 2, 3]},
    )
    proto3 = stream(
        header(group(None, dimensions=[N3], variables=[enc.variable("x", None, [N3])]), version=None),
        data(data_body("x", None, whole([3]), version=3), regular(b"abc")),
    )
    yield Construct("zeros-left-out", proto3, {"/x": [b"a", b"b", b"c"]})


ALL_PLAIN = [
    *numeric(),
    *byte_orders(),
    *sections(),
    *stored(),
    *immediate(),
    *texts(),
    *ragged(),
    *headers(),
]
