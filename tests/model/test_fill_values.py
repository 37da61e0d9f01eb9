import base64
import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.fill_values import parse_fill_value, plain_fill


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0, "?", False),
        (True, "?", True),
        (-3, ">i2", -3),
        (-3.0, "<i4", -3),
        (2**64 - 1, "<u8", 2**64 - 1),
        ("0", ">u2", 0),
        ("-7", "<i4", -7),
        (1.5, "<f4", 1.5),
        (9.969209968386869e36, "<f4", np.float32(9.969209968386869e36)),
        (7, "<f8", 7.0),
        ("Infinity", "<f4", math.inf),
        ("-Infinity", ">f8", -math.inf),
        (math.inf, "<f8", math.inf),
        ("1e20", "<f8", 1e20),
        ("0x7f800000", ">f4", math.inf),
        ([1, "-Infinity"], "<c8", complex(1, -math.inf)),
        (2, "<c16", 2 + 0j),
        ("YWI=", "S4", b"ab"),
        (0, "S4", b""),
        ("", "S4", b""),
        ("ab", "<U4", "ab"),
        (0, "<U4", ""),
        ([1, 2], "V2", b"\1\2"),
        ("AQI=", "V2", b"\1\2"),
        (12, "<M8[D]", np.datetime64(12, "D")),
        ("2000-01-02", ">M8[D]", np.datetime64("2000-01-02")),
        (-1, "<m8[s]", np.timedelta64(-1, "s")),
    ],
)
def test_spellings(value, dtype, expected):
    scalar = parse_fill_value(value, np.dtype(dtype))
    assert scalar == np.array(expected, dtype)[()]
    assert np.dtype(type(scalar)).kind == np.dtype(dtype).kind


def test_not_a_number_and_not_a_time():
    assert np.isnan(parse_fill_value("NaN", np.dtype("<f4")))
    assert np.isnan(parse_fill_value(math.nan, np.dtype("<f4")))
    assert np.isnan(parse_fill_value("0x7fc00001", np.dtype("<f4")))
    assert np.isnat(parse_fill_value("NaT", np.dtype("<M8[s]")))
    assert np.isnat(parse_fill_value(-(2**63), np.dtype("<m8[s]")))


def test_none_is_none_and_so_is_a_nan_of_integers():
    assert parse_fill_value(None, np.dtype("<f4")) is None
    assert parse_fill_value("NaN", np.dtype("<i2")) is None


@pytest.mark.parametrize("order", "<>")
def test_structures(order):
    dtype = np.dtype([("a", f"{order}i4"), ("b", "S2", (2,)), ("c", [("d", f"{order}f8")])])
    value = np.array([(1, [b"x", b"yz"], (2.5,))], dtype)
    text = base64.b64encode(value.tobytes()).decode()
    assert parse_fill_value(text, dtype) == value[0]
    assert parse_fill_value(0, dtype) == np.zeros(1, dtype)[0]
    flat = np.dtype([("a", "<i4"), ("b", "<f8")])
    assert parse_fill_value([1, "Infinity"], flat) == np.array([(1, np.inf)], flat)[0]
    assert parse_fill_value({"b": 2, "a": 1}, flat) == np.array([(1, 2)], flat)[0]


def test_objects():
    # The number that zarr-python 2 writes for text is text to its readers.
    assert parse_fill_value(0, np.dtype(object)) == "0"
    assert parse_fill_value("0", np.dtype(object)) == "0"
    assert parse_fill_value(0, np.dtype(object), "bytes") == b""
    assert parse_fill_value("é", np.dtype(object)) == "é"
    assert parse_fill_value("YWI=", np.dtype(object), "bytes") == b"ab"
    assert parse_fill_value([97, 98], np.dtype(object), "bytes") == b"ab"
    for wrong in ([256], [-1], ["a"]):
        with pytest.raises(RefbrowserError):
            parse_fill_value(wrong, np.dtype(object), "bytes")
    assert parse_fill_value([1, {}], np.dtype(object), "json") == [1, {}]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2, "?"),
        (40_000, "<i2"),
        (1.5, "<i4"),
        ("1.5", "<i4"),
        ("300", "|u1"),
        ("5" * 30, "<i4"),
        ("one", "<f8"),
        (1e300, "<f4"),
        ("0x7f8000", "<f4"),
        ([1], "<c8"),
        ([1, 2, 3], "<c8"),
        ("YWJjZGU=", "S4"),
        ("YWJjZGVmZ2g=", "S4"),
        ("not base64!", "S4"),
        ("é", "S4"),
        ("abcde", "<U4"),
        ([256], "V2"),
        ("2000-01-02", "<m8[s]"),
        ("now", "<M8[s]"),
        ({}, "<f4"),
        ([1], [("a", "<i4"), ("b", "<i4")]),
        ({"a": 1}, [("a", "<i4"), ("b", "<i4")]),
    ],
)
def test_what_does_not_fit_is_an_error_of_metadata(value, dtype):
    with pytest.raises(RefbrowserError) as caught:
        parse_fill_value(value, np.dtype(dtype))
    assert caught.value.kind is ErrorKind.META


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
)
DTYPES = [
    "?",
    "<i2",
    ">u8",
    "<f2",
    "<c8",
    "S2",
    "<U2",
    "V2",
    "<M8[D]",
    "<m8[s]",
    [("a", "<i2"), ("", "V1")],
    "O",
]


@given(JSON, st.sampled_from(DTYPES))
def test_any_json_value_is_a_scalar_or_an_error(value, dtype):
    with suppress(RefbrowserError):
        parse_fill_value(value, np.dtype(dtype))


@given(st.floats() | st.complex_numbers(), st.sampled_from(["<f8", "<c16"]))
def test_a_fill_value_is_read_back_from_its_json(value, dtype):
    dtype = np.dtype(dtype)
    scalar = dtype.type(value.real if dtype.kind == "f" else value)
    read = parse_fill_value(plain_fill(scalar), dtype)
    assert np.array_equal(read, scalar, equal_nan=True)


def test_infinities_keep_their_sign():
    assert [plain_fill(value) for value in (math.inf, -math.inf, math.nan)] == [
        "Infinity",
        "-Infinity",
        "NaN",
    ]
    assert plain_fill(np.complex64(complex(1, -math.inf))) == [1.0, "-Infinity"]
    assert plain_fill(np.datetime64("2001-02-03")) == "2001-02-03"
