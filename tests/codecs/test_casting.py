"""Scale, offset and casts of Zarr v3 are exact: against rational numbers, and as their registrations say."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from specs_made import BYTES, v3

from refbrowser.codecs.base import DecodeError
from refbrowser.codecs.casting import ROUNDINGS, cast
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, RefbrowserError

INTEGERS = [f"{sign}{size}" for sign in ("i", "u") for size in (1, 2, 4, 8)]
FLOATS = ["f2", "f4", "f8"]
Make = Callable[..., CodecPipeline]


def stages(*codecs: dict[str, Any]) -> list[dict[str, Any]]:
    return [*codecs, BYTES]


def whole(exact: Fraction, rounding: str) -> int:
    """Return the integer to which a number is rounded."""
    low = math.floor(exact)
    if exact == low:
        return low
    match rounding:
        case "towards-zero":
            return math.trunc(exact)
        case "towards-positive":
            return low + 1
        case "towards-negative":
            return low
        case "nearest-even":
            return round(exact)
    half = exact - low
    return low + (half > Fraction(1, 2) or (half == Fraction(1, 2) and exact > 0))


def neighbours(dtype: np.dtype[Any], exact: Fraction) -> tuple[float, float]:
    """Return the greatest float at most, and the least at least a number."""
    with np.errstate(over="ignore"):
        near = dtype.type(float(exact))
    for _ in range(4):
        if math.isinf(near) or Fraction(float(near)) > exact:
            near = np.nextafter(near, dtype.type(-np.inf))
    while True:
        above = np.nextafter(near, dtype.type(np.inf))
        if math.isinf(above) or Fraction(float(above)) > exact:
            break
        near = above
    return float(near), float(near if Fraction(float(near)) == exact else above)


def numbers(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    if dtype.kind == "f":
        return st.floats(width=dtype.itemsize * 8, allow_nan=False, allow_infinity=False)
    limits = np.iinfo(dtype)
    return st.integers(int(limits.min), int(limits.max))


@given(
    st.data(), st.sampled_from(INTEGERS + FLOATS), st.sampled_from(INTEGERS), st.sampled_from([*ROUNDINGS])
)
def test_integers_are_the_rounded_numbers(data: Any, source: str, target: str, rounding: str) -> None:
    kind, dtype = np.dtype(source), np.dtype(target)
    value = data.draw(numbers(kind))
    limits = np.iinfo(dtype)
    wanted = whole(Fraction(value), rounding)
    values = np.array([value], kind)
    is_inside = limits.min <= wanted <= limits.max
    if is_inside:
        assert int(cast(values, dtype, rounding, "")[0]) == wanted
    else:
        with pytest.raises(DecodeError, match="out of the range"):
            cast(values, dtype, rounding, "")
    clamped = cast(values, dtype, rounding, "clamp")
    assert int(clamped[0]) == min(max(wanted, int(limits.min)), int(limits.max))
    assert (int(cast(values, dtype, rounding, "wrap")[0]) - wanted) % (1 << 8 * dtype.itemsize) == 0


@given(st.data(), st.sampled_from(INTEGERS + FLOATS), st.sampled_from(FLOATS), st.sampled_from([*ROUNDINGS]))
def test_floats_are_neighbours_of_the_numbers(data: Any, source: str, target: str, rounding: str) -> None:
    kind, dtype = np.dtype(source), np.dtype(target)
    value = data.draw(numbers(kind))
    exact = Fraction(value)
    if abs(exact) > Fraction(float(np.finfo(dtype).max)):
        return
    low, high = neighbours(dtype, exact)
    middle = (Fraction(low) + Fraction(high)) / 2 if math.isfinite(high) and math.isfinite(low) else None
    made = float(cast(np.array([value], kind), dtype, rounding, "clamp")[0])
    if rounding == "towards-positive":
        assert made == high
    elif rounding == "towards-negative":
        assert made == low
    elif rounding == "towards-zero":
        assert made == (low if exact > 0 else high)
    elif middle is not None and exact != middle:
        assert made == (low if exact < middle else high)
    elif middle is not None and rounding == "nearest-away":
        assert made == (high if exact > 0 else low)
    assert made in (low, high)


def test_what_is_no_number_is_no_integer() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(DecodeError, match="int8 has not"):
            cast(np.array([value]), np.dtype("i1"), "nearest-even", "clamp")
    assert np.isnan(cast(np.array([math.nan]), np.dtype("f2"), "nearest-even", "")[0])
    assert cast(np.array([1e300]), np.dtype("f4"), "nearest-even", "clamp")[0] == np.inf
    with pytest.raises(DecodeError, match="out of the range of float32"):
        cast(np.array([1e300]), np.dtype("f4"), "nearest-even", "")


def test_the_registrations_own_examples(pipeline: Make) -> None:
    # Float64 to uint8 with NaN preservation.
    scaled = v3("scale_offset", offset=-10, scale=0.1)
    mapped = {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}
    made = pipeline(
        "f8", stages(scaled, v3("cast_value", data_type="uint8", scalar_map=mapped)), (3,), version="zarr-v3"
    )
    data = made.encode(np.array([0.0, np.nan, 2540.0]))
    assert list(data) == [1, 0, 255]
    values = made.decode(data)
    assert values.dtype == "f8"
    np.testing.assert_allclose(values, [0, np.nan, 2540])
    # Uint16 range reduction.
    reduced = stages(v3("scale_offset", offset=1000), v3("cast_value", data_type="uint8"))
    made = pipeline("u2", reduced, (3,), version="zarr-v3")
    assert list(made.encode(np.array([1000, 1001, 1255], "u2"))) == [0, 1, 255]
    assert made.decode(bytes([0, 1, 255])).tolist() == [1000, 1001, 1255]


@given(st.data(), st.sampled_from(INTEGERS))
def test_integers_are_scaled_exactly_or_not_at_all(data: Any, name: str) -> None:
    from refbrowser.codecs.casting import ScaleOffset

    dtype = np.dtype(name)
    drawn = numbers(dtype)
    values = np.array(data.draw(st.lists(drawn, min_size=1, max_size=5)), dtype)
    offset, scale = dtype.type(data.draw(drawn)), dtype.type(data.draw(drawn.filter(bool)))
    limits = np.iinfo(dtype)

    def fits(numbers: list[int]) -> bool:
        return all(limits.min <= number <= limits.max for number in numbers)

    moved = [int(value) - int(offset) for value in values]
    scaled = [value * int(scale) for value in moved]
    codec = ScaleOffset(dtype, offset, scale)
    if fits(moved + scaled):
        encoded = codec.encode(values.view(np.uint8))
        assert encoded.view(dtype).tolist() == scaled
        if fits(moved):
            from refbrowser.codecs.base import Room

            assert codec.decode(encoded, Room.of(len(encoded)), None).view(dtype).tolist() == values.tolist()
    else:
        with pytest.raises(DecodeError, match="out of the range"):
            codec.encode(values.view(np.uint8))


def test_what_is_no_multiple_of_the_scale_is_damaged(pipeline: Make) -> None:
    made = pipeline("i2", stages(v3("scale_offset", scale=5)), (2,), version="zarr-v3")
    assert made.decode(np.array([10, -5], "<i2").tobytes()).tolist() == [2, -1]
    with pytest.raises(RefbrowserError, match="no multiples of its scale 5") as raised:
        made.decode(np.array([10, 4], "<i2").tobytes())
    assert raised.value.kind is ErrorKind.DECODE


@pytest.mark.parametrize("name", ["?", "i1", "i2", "u4", "f8"])
@pytest.mark.parametrize("padding", ["none", "first_byte", "last_byte"])
def test_bits_are_packed_the_lowest_first(pipeline: Make, name: str, padding: str) -> None:
    dtype = np.dtype(name)
    width = 1 if name == "?" else 8 * dtype.itemsize
    limited = {} if width == 1 else {"first_bit": 1, "last_bit": 5}
    first, last = (0, width - 1) if width == 1 else (1, 5)
    values = np.random.default_rng(3).integers(-16 if dtype.kind == "i" else 0, 16, 11).astype(dtype) * 2
    if name in ("?", "f8"):
        values = np.random.default_rng(3).integers(0, 2, 11).astype(dtype)
    if name == "f8":
        # Only some bits of floats are stored: those are numbers whose others are 0.
        values = np.array([2 * each for each in range(11)], "u8").view("f8")
    packer = v3("packbits", padding_encoding=padding, **limited)
    made = pipeline(dtype.str.replace("|", ""), [packer], (11,), version="zarr-v3")
    data = made.encode(values)
    bits = 0
    for place, value in enumerate(values.view(f"u{dtype.itemsize}").tolist()):
        chosen = (value >> first) & ((1 << (last - first + 1)) - 1)
        bits |= chosen << (place * (last - first + 1))
    count = 11 * (last - first + 1)
    packed = bits.to_bytes(-(-count // 8), "little")
    unused = bytes([-count % 8])
    assert data == {"none": packed, "first_byte": unused + packed, "last_byte": packed + unused}[padding]
    assert np.array_equal(made.decode(data), values)
    with pytest.raises(RefbrowserError, match="packbits"):
        made.decode(data[:-1])
    if padding == "first_byte":
        with pytest.raises(RefbrowserError, match="padding bits is wrong"):
            made.decode(bytes([data[0] ^ 1]) + data[1:])


def test_many_elements_are_packed_in_parts(pipeline: Make) -> None:
    values = np.random.default_rng(1).integers(0, 8, 70_001).astype("u1")
    made = pipeline("u1", [v3("packbits", last_bit=2)], (70_001,), version="zarr-v3")
    data = made.encode(values)
    assert len(data) == -(-70_001 * 3 // 8)
    assert np.array_equal(made.decode(data), values)


def test_a_reshaped_chunk_has_its_elements_in_their_order(pipeline: Make) -> None:
    values = np.arange(24, dtype="i4").reshape(2, 3, 4)
    for shape in ([[0, 1], 4], [6, -1], [24], [[0], [1, 2]], [2, 3, 2, 2]):
        made = pipeline("i4", stages(v3("reshape", shape=shape)), (2, 3, 4), version="zarr-v3")
        assert made.encode(values) == values.tobytes()
        assert np.array_equal(made.decode(values.tobytes()), values)
    turned = stages(v3("transpose", order=[2, 0, 1]), v3("reshape", shape=[[0], [1, 2]]))
    made = pipeline("i4", turned, (2, 3, 4), version="zarr-v3")
    data = np.ascontiguousarray(values.transpose(2, 0, 1)).tobytes()
    assert np.array_equal(made.decode(data), values)


@pytest.mark.parametrize(
    ("dtype", "codec"),
    [
        ("i4", v3("reshape", shape=[5])),
        ("i4", v3("reshape", shape=[[1], [0, 2]])),
        ("i4", v3("reshape", shape=[[0, 1, 2], [0]])),
        ("i4", v3("reshape", shape=[[3], 24])),
        ("i4", v3("reshape", shape=[-1, -1])),
        ("i4", v3("reshape", shape=[0, -1])),
        ("i4", v3("reshape", shape="all")),
        # The first side is of dimension 0 alone, and its elements are not.
        ("i4", v3("reshape", shape=[4, [1], 2])),
        ("i4", v3("scale_offset", scale=0)),
        ("i4", v3("scale_offset", scale=0.5)),
        ("u1", v3("scale_offset", offset=-1)),
        ("i4", v3("scale_offset", offset=1, astype="u1")),
        ("?", v3("scale_offset", offset=1)),
        ("f4", v3("cast_value", data_type="text")),
        ("f4", v3("cast_value", data_type="float64", out_of_range="wrap")),
        ("f4", v3("cast_value", data_type="uint8", rounding="up")),
        ("f4", v3("cast_value", data_type="uint8", scalar_map={"encode": [[1]]})),
        ("f4", v3("cast_value", data_type="uint8", scalar_map={"encode": [[1, 300]]})),
        ("f4", v3("cast_value", data_type="uint8", scalar_map={"encode": [["NaN", "NaN"]]})),
        ("f4", v3("cast_value", data_type="uint8", scalar_map={"decode": [[0, 1]] * 5000})),
        ("f4", v3("cast_value")),
    ],
)
def test_wrong_settings_are_told(pipeline: Make, dtype: str, codec: dict[str, Any]) -> None:
    with pytest.raises(RefbrowserError) as raised:
        pipeline(dtype, stages(codec), (2, 3, 4), version="zarr-v3")
    assert raised.value.kind is ErrorKind.META
