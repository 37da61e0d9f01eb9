"""Payloads to values: every kind of data part, and what is wrong with it."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import stream_encoder as encode

from refbrowser.errors import RefbrowserError
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDimension,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.elements import (
    PayloadError,
    dtype_of,
    fill_of,
    filled_rows,
    row_dtype_of,
)
from refbrowser.wings.ncstream.reading.messages import Payload
from refbrowser.wings.ncstream.reading.payloads import PayloadFacts, decode_payload, immediate_values

VLEN = StreamDimension("*", 0, is_vlen=True, is_private=True)


def variable(name, type, *lengths, members=(), ragged=False, fill=None):
    dimensions = tuple(StreamDimension("", length) for length in lengths)
    attributes = {} if fill is None else {"_FillValue": StreamAttribute("_FillValue", type, (fill,))}
    return StreamVariable(
        name=name,
        type=type,
        dimensions=(*dimensions, VLEN) if ragged else dimensions,
        members=tuple(members),
        attributes=attributes,
    )


def code_of(variable, facts, data):
    with pytest.raises(PayloadError) as caught:
        decode_payload(variable, facts, data)
    return caught.value.code


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("type", [type for type in StreamType if type.dtype is not None])
def test_regular_elements(type, order):
    letter = encode.LETTERS[type]
    values = [b"a", b"\0", b"\xff"] if type is StreamType.CHAR else [1, 0, 100]
    data = encode.numbers(letter, values, order)
    found = decode_payload(variable("v", type, 3), PayloadFacts(Payload.REGULAR, (3,), order), data)
    assert found.dtype == type.dtype.newbyteorder(order)
    assert found.tolist() == [b"a", b"", b"\xff"] if type is StreamType.CHAR else values


def test_deflated_elements_are_bounded():
    shorts = variable("v", StreamType.SHORT, 3)
    facts = PayloadFacts(Payload.REGULAR, (3,), deflated=True)
    plain = encode.numbers("h", [1, 2, -3])
    assert decode_payload(shorts, facts, zlib.compress(plain)).tolist() == [1, 2, -3]
    assert code_of(shorts, facts, zlib.compress(plain[:-1])) == "size-mismatch"
    with pytest.raises(PayloadError, match="5 inflated bytes where 6 are expected"):
        decode_payload(shorts, facts, zlib.compress(plain[:-1]))
    assert code_of(shorts, facts, zlib.compress(bytes(10_000_000))) == "size-mismatch"
    assert code_of(shorts, facts, zlib.compress(plain)[:-2]) == "deflate"
    assert code_of(shorts, facts, b"nonsense") == "deflate"
    assert code_of(shorts, PayloadFacts(Payload.REGULAR, (3,)), plain + b"\0") == "size-mismatch"
    with pytest.raises(RefbrowserError, match="inflated"):
        decode_payload(shorts, PayloadFacts(Payload.REGULAR, (2**40,), deflated=True), b"")


def test_strings_opaque_and_ragged_rows():
    strings = variable("s", StreamType.STRING, 2, 2)
    facts = PayloadFacts(Payload.VARIABLE, (2, 2))
    long = "ü" * 100
    found = decode_payload(strings, facts, encode.objects(["a", "", long, b"\xff"]))
    assert found.tolist() == [["a", ""], [long, b"\xff"]]
    opaque = decode_payload(
        variable("o", StreamType.OPAQUE, 2, 2), facts, encode.objects(["a", "", "c", b"\xff"])
    )
    assert opaque.tolist() == [[b"a", b""], [b"c", b"\xff"]]
    ragged = variable("r", StreamType.INT, 3, ragged=True)
    rows = [encode.numbers("i", [7], "<"), b"", encode.numbers("i", [8, 9], "<")]
    found = decode_payload(ragged, PayloadFacts(Payload.VARIABLE, (3,), "<"), encode.objects(rows))
    assert [row.tolist() for row in found] == [[7], [], [8, 9]]
    assert {row.dtype for row in found} == {np.dtype("<i4")}
    assert dtype_of(ragged) == np.dtype(object)
    assert row_dtype_of(ragged) == np.dtype(">i4")
    # Rows of equal length are still rows.
    same = decode_payload(ragged, PayloadFacts(Payload.VARIABLE, (3,)), encode.objects([bytes(4)] * 3))
    assert same.shape == (3,)
    assert same[0].tolist() == [0]


def test_objects_that_one_writer_deflates():
    facts = PayloadFacts(Payload.VARIABLE, (2,), deflated=True)
    strings = variable("s", StreamType.STRING, 2)
    packed = zlib.compress(encode.objects(["a", "bc"])[1:])
    assert decode_payload(strings, facts, packed).tolist() == ["a", "bc"]
    assert code_of(strings, facts, packed[:-1]) == "deflate"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (encode.objects(["a"]), "size-mismatch"),
        (encode.objects(["a", "b"])[:-2], "size-mismatch"),
        (encode.objects(["a", "b"])[:-1], "length-too-large"),
        (b"\x02" + b"\xff" * 12, "bad-varint"),
        (b"\xff" * 12, "bad-varint"),
        (b"", "bad-varint"),
    ],
)
def test_faults_of_objects(data, code):
    assert code_of(variable("s", StreamType.STRING, 2), PayloadFacts(Payload.VARIABLE, (2,)), data) == code


def test_other_kinds_of_payload_than_the_variable_has():
    assert (
        code_of(variable("s", StreamType.STRING, 1), PayloadFacts(Payload.REGULAR, (1,)), b"a")
        == "type-mismatch"
    )
    objects = encode.objects(["a"])
    assert (
        code_of(variable("i", StreamType.INT, 1), PayloadFacts(Payload.VARIABLE, (1,)), objects)
        == "type-mismatch"
    )
    rows = variable("r", StreamType.STRING, 1, ragged=True)
    assert code_of(rows, PayloadFacts(Payload.VARIABLE, (1,)), objects) == "unsupported-shape"
    half = variable("r", StreamType.INT, 1, ragged=True)
    assert code_of(half, PayloadFacts(Payload.VARIABLE, (1,)), encode.objects([b"abc"])) == "size-mismatch"


INNER = variable(
    "in", StreamType.STRUCTURE, 2, members=[variable("x", StreamType.BYTE), variable("t", StreamType.STRING)]
)
OBS = variable(
    "obs",
    StreamType.STRUCTURE,
    2,
    members=[
        variable("day", StreamType.SHORT, fill=-5),
        variable("names", StreamType.STRING, 2),
        variable("flag", StreamType.CHAR, 3),
        INNER,
    ],
)


def rows_of_obs(order):
    rows = [struct.pack(f"{order}hI3sbIbI", day, 0, b"abc", 1, 1, 2, 2) for day in (15, -99)]
    return encode.structure_body(b"".join(rows), heap=[["p", "q"], ["one"], ["two"]], count=2, row_length=19)


@pytest.mark.parametrize("order", [">", "<"])
def test_rows_with_strings_arrays_and_structures(order):
    found = decode_payload(OBS, PayloadFacts(Payload.STRUCTURE, (2,), order), rows_of_obs(order))
    assert found.dtype == dtype_of(OBS, order)
    assert found["day"].tolist() == [15, -99]
    assert found["names"].tolist() == [["p", "q"]] * 2
    assert found["flag"].tolist() == [[b"a", b"b", b"c"]] * 2
    assert found["in"]["x"].tolist() == [[1, 2]] * 2
    assert found["in"]["t"].tolist() == [["one", "two"]] * 2


def test_rows_with_some_members_only():
    body = encode.structure_body(struct.pack(">hh", 1, 2), members=[0], count=2)
    found = decode_payload(OBS, PayloadFacts(Payload.STRUCTURE, (2,)), body)
    assert found["day"].tolist() == [1, 2]
    assert found["names"].tolist() == [["", ""]] * 2
    assert found["in"]["x"].tolist() == [[-127, -127]] * 2
    assert filled_rows(OBS, 1)["day"].tolist() == [-5]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"\xff\xff", "bad-protobuf"),
        (encode.structure_body(bytes(19), count=1), "size-mismatch"),
        (encode.structure_body(bytes(19), count=2), "size-mismatch"),
        (encode.structure_body(bytes(38), count=2), "size-mismatch"),
        (encode.structure_body(bytes(38), count=2, row_length=18), "size-mismatch"),
        (encode.structure_body(bytes(4), members=[9], count=2), "size-mismatch"),
        (encode.structure_body(bytes(8), members=[0, 0], count=2), "size-mismatch"),
        (encode.structure_body(bytes(38), heap=[["p"]], count=2), "size-mismatch"),
        (encode.structure_body(bytes(38), heap=[["p"] * 3], count=2), "size-mismatch"),
    ],
)
def test_faults_of_rows(body, code):
    assert code_of(OBS, PayloadFacts(Payload.STRUCTURE, (2,)), body) == code


def test_members_without_a_form_are_only_refused_where_rows_hold_them():
    members = [
        variable("a", StreamType.INT),
        variable("r", StreamType.INT, ragged=True),
        variable("o", StreamType.OPAQUE),
    ]
    structure = variable("s", StreamType.STRUCTURE, 1, members=members)
    facts = PayloadFacts(Payload.STRUCTURE, (1,))
    assert code_of(structure, facts, encode.structure_body(bytes(8), count=1)) == "unsupported-member"
    found = decode_payload(structure, facts, encode.structure_body(bytes(4), members=[0], count=1))
    assert found["a"].tolist() == [0]
    assert found["r"][0].tolist() == []
    assert found["o"][0] == b""


def test_absurd_numbers_of_rows_allocate_nothing():
    empty = variable(
        "q", StreamType.SEQUENCE, members=[variable("a", StreamType.INT, 0), variable("b", StreamType.INT)]
    )
    body = encode.structure_body(b"", members=[0], count=2**50)
    with pytest.raises(RefbrowserError, match="decoded whole"):
        decode_payload(empty, PayloadFacts(Payload.SEQUENCE, ()), encode.sequence([body]))
    column = encode.column_body("obs", encode.STRUCTURE, [], members=[])
    with pytest.raises(RefbrowserError, match="decoded whole"):
        decode_payload(OBS, PayloadFacts(Payload.COLUMN, (2**50,), ""), column)


def test_sequences():
    sequence = variable(
        "q", StreamType.SEQUENCE, members=[variable("a", StreamType.INT), variable("t", StreamType.STRING)]
    )
    bodies = [
        encode.structure_body(struct.pack(">iIiI", 1, 0, 2, 1), heap=[["x"], ["y"]], count=2),
        encode.structure_body(struct.pack(">iI", 3, 0), heap=[["z"]]),
    ]
    facts = PayloadFacts(Payload.SEQUENCE, ())
    found = decode_payload(sequence, facts, encode.sequence(bodies))
    assert found.tolist() == [(1, "x"), (2, "y"), (3, "z")]
    assert decode_payload(sequence, facts, encode.sequence([])).shape == (0,)
    assert code_of(sequence, facts, encode.sequence(bodies)[:-4]) == "truncated"
    assert code_of(sequence, facts, encode.sequence(bodies)[:-4] + b"ABCD") == "bad-magic"
    assert code_of(sequence, facts, encode.MAGIC_VDATA + b"\x7f") == "length-too-large"


def test_columns():
    floats = variable("f", StreamType.FLOAT, 2)
    body = encode.column_body("f", encode.FLOAT, [(0, 2, None)], primitives=encode.numbers("f", [1, 2], "<"))
    facts = PayloadFacts(Payload.COLUMN, (2,), "")
    assert decode_payload(floats, facts, body).tolist() == [1, 2]
    big = encode.column_body("f", encode.FLOAT, bigend=True, primitives=encode.numbers("f", [1, 2]))
    assert decode_payload(floats, facts, big).tolist() == [1, 2]
    assert decode_payload(floats, PayloadFacts(Payload.COLUMN, (2,), "<"), big).tolist() != [1, 2]
    strings = encode.column_body("s", encode.STRING, texts=["a", "b"])
    assert decode_payload(variable("s", StreamType.STRING, 2), facts, strings).tolist() == ["a", "b"]
    opaque = encode.column_body("o", encode.OPAQUE, opaque=[b"a", b""])
    assert decode_payload(variable("o", StreamType.OPAQUE, 2), facts, opaque).tolist() == [b"a", b""]
    rows = encode.column_body(
        "r", encode.SHORT, vlen=True, lengths=[0, 2], primitives=encode.numbers("h", [4, 5], "<")
    )
    found = decode_payload(variable("r", StreamType.SHORT, 2, ragged=True), facts, rows)
    assert [row.tolist() for row in found] == [[], [4, 5]]
    assert code_of(
        variable("r", StreamType.SHORT, 3, ragged=True), PayloadFacts(Payload.COLUMN, (3,), ""), rows
    )
    assert code_of(floats, PayloadFacts(Payload.COLUMN, (3,), ""), body) == "size-mismatch"
    assert code_of(floats, facts, b"\xff") == "bad-protobuf"


def test_columns_of_structures_hold_all_values_at_the_innermost_members():
    inner = [
        encode.column_body("x", encode.BYTE, primitives=bytes([1, 2, 3, 4])),
        encode.column_body("t", encode.STRING, texts=["a", "b", "c", "d"]),
    ]
    body = encode.column_body(
        "obs",
        encode.STRUCTURE,
        [(0, 2, None)],
        members=[
            encode.column_body("in", encode.STRUCTURE, members=inner),
            encode.column_body("day", encode.SHORT, primitives=encode.numbers("h", [1, 2], "<")),
        ],
    )
    found = decode_payload(OBS, PayloadFacts(Payload.COLUMN, (2,), ""), body)
    assert found["day"].tolist() == [1, 2]
    assert found["in"]["x"].tolist() == [[1, 2], [3, 4]]
    assert found["in"]["t"].tolist() == [["a", "b"], ["c", "d"]]
    assert found["names"].tolist() == [["", ""]] * 2


def test_immediate_values_are_big_endian():
    assert immediate_values(variable("i", StreamType.INT, 1), encode.numbers("i", [258]), (1,)).tolist() == [
        258
    ]


def test_fill_values():
    assert fill_of(variable("i", StreamType.INT)) == -2147483647
    assert fill_of(variable("i", StreamType.INT, fill=4)) == 4
    assert fill_of(variable("i", StreamType.INT, fill=4.5)) == -2147483647
    assert fill_of(variable("u", StreamType.UBYTE, fill=-1)) == 255
    assert fill_of(variable("s", StreamType.STRING, fill="none")) == "none"
    assert fill_of(variable("d", StreamType.DOUBLE)) == 9.969209968386869e36
    assert fill_of(variable("u", StreamType.ULONG)) == 18446744073709551614
    assert np.isnan(fill_of(variable("f", StreamType.FLOAT, fill=float("nan"))))
    assert fill_of(variable("r", StreamType.FLOAT, 2, ragged=True)).tolist() == []


def test_structures_that_cannot_be_held():
    twice = variable("s", StreamType.STRUCTURE, members=[variable("a", StreamType.INT)] * 2)
    with pytest.raises(RefbrowserError, match="share the name"):
        dtype_of(twice)
    huge = variable("s", StreamType.STRUCTURE, members=[variable("a", StreamType.INT, 2**40, 2**40)])
    with pytest.raises(RefbrowserError, match="element_size"):
        dtype_of(huge)
