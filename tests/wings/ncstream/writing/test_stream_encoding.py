"""The bytes of messages, against the encoder of the tests, which shares nothing with the product's."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.wings.ncstream.reading.bytes import read_varint
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.writing.encoding import (
    SEQUENCE_ROWS,
    data_message,
    error_message,
    full_name,
    header_message,
    padded_varint,
    payload_of,
)

N = StreamDimension("n", 3)
VLEN = StreamDimension("*", 0, is_vlen=True, is_private=True)
SECTION = (range(3),)
RANGES = [(0, 3, 1)]


def variable(name: str, type: StreamType, *dimensions: StreamDimension, **more: Any) -> StreamVariable:
    return StreamVariable(name=name, type=type, dimensions=dimensions, **more)


def message(made: StreamVariable, values: Any, section: Any = SECTION, **options: Any) -> bytes:
    return b"".join(map(bytes, data_message(f"/{made.name}", made, section, values, **options)))


def rows(*values: list[int]) -> Any:
    found = np.empty(len(values), object)
    found[:] = [np.array(each, "<i4") for each in values]
    return found


def test_headers() -> None:
    attributes = {
        "t": StreamAttribute("t", StreamType.STRING, ("ä", "b")),
        "n": StreamAttribute("n", StreamType.SHORT, (1, -2)),
        "u": StreamAttribute("u", StreamType.UINT, (7,)),
        "none": StreamAttribute("none", StreamType.DOUBLE),
    }
    member = variable("m", StreamType.INT, StreamDimension("", 2, is_private=True))
    inner = variable("in", StreamType.STRUCTURE, members=(variable("x", StreamType.STRING),))
    deep = StreamGroup(name="g", variables={"r": variable("r", StreamType.INT, N, VLEN)})
    root = StreamGroup(
        dimensions={"n": N, "t": StreamDimension("t", 0, is_unlimited=True)},
        variables={
            "a": variable("a", StreamType.ENUM1, N, attributes=attributes, enum_name="e"),
            "s": variable("s", StreamType.STRUCTURE, N, members=(member, inner)),
            "i": variable("i", StreamType.INT, immediate=b"\0\0\0\x07"),
        },
        attributes={"t": attributes["t"]},
        groups={"g": deep},
        enums={"e": {0: "no", 300: "yes"}},
    )
    n = enc.dimension("n", 3)
    text = enc.attribute("t", type=0, length=2, texts=["ä", "b"], data_type=enc.STRING)
    wanted = [
        text,
        enc.attribute("n", type=2, length=2, data=struct.pack(">2h", 1, -2), data_type=enc.SHORT),
        enc.attribute("u", type=3, length=1, data=struct.pack(">I", 7), unsigned=True, data_type=enc.UINT),
        enc.attribute("none", type=6, length=0, data_type=enc.DOUBLE),
    ]
    structure = enc.structure(
        "s",
        shape=[n],
        variables=[enc.variable("m", enc.INT, [enc.dimension("", 2, private=True)])],
        structures=[enc.structure("in", variables=[enc.variable("x", enc.STRING)])],
    )
    group = enc.group(
        dimensions=[n, enc.dimension("t", 0, unlimited=True)],
        variables=[
            enc.variable("a", enc.ENUM1, [n], wanted, enum="e"),
            enc.variable("i", enc.INT, immediate=b"\0\0\0\x07"),
        ],
        structures=[structure],
        attributes=[text],
        groups=[enc.group("g", variables=[enc.variable("r", enc.INT, [n, enc.VLEN])])],
        enums=[enc.enumeration("e", {0: "no", 300: "yes"})],
    )
    made = StreamDefinition(root=root, location="here", title="T", id="1")
    assert header_message(made) == enc.header(group, location="here", title="T", id="1")


def test_regular_data_are_big_endian_and_say_so() -> None:
    made = variable("x.y", StreamType.SHORT, N)
    payload = struct.pack(">3h", 1, -2, 3)
    body = enc.data_body("x\\.y", enc.SHORT, RANGES, bigend=True, version=2)
    assert message(made, np.array([1, -2, 3], "<i8")) == enc.data(body, enc.regular(payload))
    summed = enc.data_body("x\\.y", enc.SHORT, RANGES, bigend=True, version=2, crc32=zlib.crc32(payload))
    assert message(made, np.array([1, -2, 3]), checksum=True) == enc.data(summed, enc.regular(payload))


def test_sections_have_strides_and_scalars_none() -> None:
    body = enc.data_body("x", enc.BYTE, [(1, 3, 4)], bigend=True, version=2)
    made = variable("x", StreamType.BYTE, StreamDimension("n", 20))
    assert message(made, np.arange(3), (range(1, 10, 4),)) == enc.data(body, enc.regular(b"\0\1\2"))
    scalar = enc.data_body("x", enc.BYTE, [], bigend=True, version=2)
    assert message(variable("x", StreamType.BYTE), np.int8(5), ()) == enc.data(scalar, enc.regular(b"\5"))


def test_deflated_data_tell_their_size_and_only_where_they_get_smaller() -> None:
    made, values = variable("x", StreamType.INT, N), np.zeros(3000, ">i4")
    found = message(made, values, (range(3000),), level=6)
    head = enc.data_body(
        "x", enc.INT, [(0, 3000, 1)], bigend=True, version=2, compress=enc.DEFLATE, uncompressed=12_000
    )
    assert found.startswith(enc.MAGIC_DATA + enc.regular(head))
    length, at = read_varint(found, len(enc.MAGIC_DATA + enc.regular(head)))
    assert zlib.decompress(found[at:]) == values.tobytes()
    assert len(found) - at == length
    assert message(made, values[:3], level=6) == message(made, values[:3])


def test_texts_opaque_values_and_rows_are_counted_objects() -> None:
    texts = variable("x", StreamType.STRING, N)
    body = enc.data_body("x", enc.STRING, RANGES, bigend=True, version=2)
    values = np.array(["a", "ä", ""], object)
    assert message(texts, values) == enc.data(body, enc.objects(["a", "ä", ""]))
    summed = enc.data_body("x", enc.STRING, RANGES, bigend=True, version=2, crc32=zlib.crc32("aä".encode()))
    assert message(texts, values, checksum=True) == enc.data(summed, enc.objects(["a", "ä", ""]))
    opaque = variable("x", StreamType.OPAQUE, N)
    body = enc.data_body("x", enc.OPAQUE, RANGES, bigend=True, version=2)
    held = np.array([b"\0\1", b"", b"\xff"], object)
    assert message(opaque, held) == enc.data(body, enc.objects([b"\0\1", b"", b"\xff"]))
    ragged = variable("x", StreamType.SHORT, N, VLEN)
    body = enc.data_body(
        "x", enc.SHORT, [*RANGES, (None, enc.NO_LENGTH, None)], bigend=True, version=2, vdata=True
    )
    packed = [struct.pack(">h", 1), b"", struct.pack(">2h", 2, 3)]
    assert message(ragged, rows([1], [], [2, 3]), checksum=True) == enc.data(body, enc.objects(packed))


STRUCTURE = (
    variable("n", StreamType.SHORT),
    variable("t", StreamType.STRING),
    variable("two", StreamType.STRING, StreamDimension("", 2, is_private=True)),
    variable(
        "in", StreamType.STRUCTURE, members=(variable("b", StreamType.BYTE), variable("s", StreamType.STRING))
    ),
)
HELD = np.dtype([("n", "<i2"), ("t", "O"), ("two", "O", (2,)), ("in", [("b", "i1"), ("s", "O")])])


def held(count: int) -> Any:
    values = np.zeros(count, HELD)
    for number in range(count):
        values["n"][number], values["t"][number] = number, f"t{number}"
        values["two"][number] = [f"x{number}", "ü"]
        values["in"]["b"][number], values["in"]["s"][number] = -1, "in"
    return values


def test_structures_have_a_heap_of_texts() -> None:
    made = variable("s", StreamType.STRUCTURE, N, members=STRUCTURE)
    wire = b"".join(struct.pack(">hiibi", at, at, 3 + at, -1, 6 + at) for at in range(3))
    heap = [["t0"], ["t1"], ["t2"], ["x0", "ü"], ["x1", "ü"], ["x2", "ü"], ["in"], ["in"], ["in"]]
    body = enc.structure_body(wire, heap=heap, count=3, row_length=15)
    head = enc.data_body("s", enc.STRUCTURE, RANGES, bigend=True, version=2, crc32=zlib.crc32(body))
    assert message(made, held(3), checksum=True) == enc.data(head, enc.regular(body))


def test_sequences_have_rows_a_few_at_a_time() -> None:
    made = variable("s", StreamType.SEQUENCE, members=(variable("n", StreamType.SHORT),))
    count = SEQUENCE_ROWS + 1
    values = np.zeros(count, [("n", "<i2")])
    bodies = [enc.structure_body(bytes(2 * each), count=each, row_length=2) for each in (SEQUENCE_ROWS, 1)]
    head = enc.data_body("s", enc.SEQUENCE, bigend=True, version=2)
    assert message(made, values, checksum=True) == enc.data(head, enc.sequence(bodies))
    assert payload_of(made, values[:0]) == enc.MAGIC_VEND


def test_members_without_a_form_are_refused() -> None:
    made = variable("s", StreamType.STRUCTURE, N, members=(variable("o", StreamType.OPAQUE),))
    with pytest.raises(RefbrowserError, match="unsupported-member"):
        message(made, np.zeros(3, [("o", "O")]))


def test_errors_and_names() -> None:
    assert error_message("it ends here", 7) == enc.error("it ends here", 7)
    assert error_message("x") == enc.error("x")
    assert full_name("/a.b/c\\d") == "a\\.b/c\\\\d"


def test_halves_of_characters_do_not_break_a_message() -> None:
    texts = variable("\ud800", StreamType.STRING, N)
    header = header_message(StreamDefinition(root=StreamGroup(variables={"\ud800": texts})))
    assert b"?" in header
    assert b"?" in message(texts, np.array(["\udc00", "", ""], object))


@given(st.integers(0, 2**42 - 1))
def test_padded_varints_read_as_what_they_are(value: int) -> None:
    data = padded_varint(value, 6)
    assert data == enc.varint(value, 6)
    assert read_varint(data) == (value, 6)
