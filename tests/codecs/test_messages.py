"""MessagePack: what the specification says, what comes back, and bytes that lie."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.codecs.base import DecodeError
from refbrowser.codecs.messages import packed, unpacked
from refbrowser.errors import ErrorKind, RefbrowserError

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text()
)
VALUES = st.recursive(
    SCALARS | st.binary(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=40,
)


@pytest.mark.slow
@given(VALUES)
def test_values_come_back(value):
    assert unpacked(packed(value), raw=False) == value


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536])
def test_every_size(size):
    for value in ("x" * size, b"x" * size, [7] * size, {str(number): None for number in range(size)}):
        assert unpacked(packed(value), raw=False) == value


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x07", 7),
        (b"\xff", -1),
        (b"\xcc\xff", 255),
        (b"\xd0\x80", -128),
        (b"\xcd\x01\x00", 256),
        (b"\xd1\xff\x00", -256),
        (b"\xce\x00\x01\x00\x00", 65536),
        (b"\xd2\xff\xff\x00\x00", -65536),
        (b"\xca" + struct.pack(">f", 0.5), 0.5),
        (b"\x93\xc0\xc2\xc3", [None, False, True]),
        (b"\x82\xa1a\x01\xa1b\xa1c", {"a": 1, "b": "c"}),
        (b"\xd9\x02\xc3\xa9", "é"),
        (b"\xc4\x01\x00", b"\0"),
        (b"\xdc\x00\x01\x05", [5]),
        (b"\xde\x00\x01\x05\x06", {5: 6}),
    ],
)
def test_formats_of_the_specification(data, value):
    assert unpacked(data, raw=False) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\xc7\x01\x05x",
        b"\xd4\x05x",
        b"\x01\x02",
        b"\xa5abc",
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xffabc",
        b"\xdd\x00\x00\x10\x00" * 1000 + b"\x00" * 5000,
        b"\x91" * 100_000,
    ],
)
def test_bytes_that_are_none_or_lie(data):
    with pytest.raises(DecodeError):
        unpacked(data, raw=False)


def test_text_that_is_read_as_bytes(pipeline):
    line = pipeline("O", [{"id": "msgpack2", "raw": True}], (1,))
    assert line.decode(b"\x93\xa1x\xa2|O\x91\x01").tolist() == [b"x"]


def test_arrays_of_objects(pipeline):
    values = np.array([1, "a", None, 2.5, b"\0", "é"], object).reshape(2, 3)
    line = pipeline("O", [{"id": "msgpack2"}, {"id": "zlib"}], (2, 3))
    assert line.decode(line.encode(values)).tolist() == values.tolist()


@pytest.mark.parametrize("value", [3, [], ["|O"], [1, "|O", [2]], [1, 2, "<i4", [2]], [1, 2, "|O", [-2]]])
def test_chunks_that_do_not_fit(pipeline, value):
    with pytest.raises(RefbrowserError) as caught:
        pipeline("O", [{"id": "msgpack2"}], (2,)).decode(packed(value))
    assert caught.value.kind is ErrorKind.DECODE


def test_other_types_are_not_packed():
    with pytest.raises(TypeError):
        packed({1, 2})
