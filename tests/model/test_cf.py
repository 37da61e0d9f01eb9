import base64
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.cf import Packing, TimeUnits, decode

NAN = np.nan


def test_scale_and_offset():
    values = np.array([-2, 0, 3], ">i2")
    result = decode(values, {"scale_factor": 0.5, "add_offset": 10})
    assert result.dtype == np.float64
    assert result.tolist() == [9, 10, 11.5]


def test_the_real_packing_of_era_interim():
    attributes = {"scale_factor": -1.7250274674967954, "add_offset": 66825.5, "_FillValue": "NaN"}
    packing = Packing.from_attributes(attributes, np.dtype(">i2"), None)
    assert (packing.missing, packing.ignored) == ((), ())
    assert np.allclose(packing.decode(np.array([0, 32767, -32767], ">i2")), [66825.5, 10301.525, 123349.475])


def test_the_real_packing_of_goes():
    attributes = {"_Unsigned": "true", "valid_range": [0, -6], "scale_factor": 0.5, "add_offset": 0.0}
    packing = Packing.from_attributes(attributes, np.dtype("<i2"), np.int16(-1))
    assert (packing.valid_min, packing.valid_max, packing.missing) == (0, 65530, (65535,))
    assert not packing.bounds_are_physical
    result = packing.decode(np.array([0, 1106, -6, -5, -1], "<i2"))
    assert np.array_equal(result, [0, 553, 32765, NAN, NAN], equal_nan=True)


@pytest.mark.parametrize(
    ("attributes", "fill", "expected"),
    [
        ({"_FillValue": 1}, None, [NAN, 2, 3, 4]),
        ({"_FillValue": 1}, 2, [1, NAN, 3, 4]),
        ({}, 2, [1, NAN, 3, 4]),
        ({"_FillValue": "NaN"}, 2, [1, NAN, 3, 4]),
        ({"_FillValue": 1.5}, 2, [1, NAN, 3, 4]),
        ({"_FillValue": 10**9}, 2, [1, NAN, 3, 4]),
        ({"_FillValue": [1]}, None, [NAN, 2, 3, 4]),
        ({"_FillValue": "1"}, None, [NAN, 2, 3, 4]),
        ({"_FillValue": 1.0, "missing_value": [3, 4]}, None, [NAN, 2, NAN, NAN]),
        ({"missing_value": 3}, 4, [1, 2, NAN, NAN]),
        ({"valid_min": 2, "valid_max": 3}, None, [NAN, 2, 3, NAN]),
        ({"valid_range": [2, 3], "valid_min": 4}, None, [NAN, 2, 3, NAN]),
        ({"valid_range": [1.5, 3.5]}, None, [NAN, 2, 3, NAN]),
        ({"scale_factor": 2, "valid_range": [2, 3]}, None, [NAN, 4, 6, NAN]),
        ({"scale_factor": 2, "valid_range": [3.5, 6.5]}, None, [NAN, 4, 6, NAN]),
        ({"scale_factor": 2, "_FillValue": 2}, None, [2, NAN, 6, 8]),
        ({}, None, [1, 2, 3, 4]),
    ],
)
def test_which_values_are_missing(attributes, fill, expected):
    values = np.array([1, 2, 3, 4], "<i2")
    assert np.array_equal(decode(values, attributes, fill), expected, equal_nan=True)


def test_floats():
    values = np.array([1, 1e20, NAN, np.inf], "<f4")
    assert np.array_equal(decode(values, {"_FillValue": 1e20}), [1, NAN, NAN, np.inf], equal_nan=True)
    assert decode(values, {}).dtype == np.float32
    assert decode(values, {"_FillValue": "NaN"}, np.float32("nan"))[0] == 1
    coded = base64.b64encode(struct.pack("<d", 1.0)).decode()
    assert np.isnan(decode(values, {"_FillValue": coded})[0])
    # The number as a float, read back as a double.
    assert np.isnan(decode(np.array([-9.99], "<f4"), {"missing_value": float(np.float32(-9.99))})[0])


def test_signs():
    values = np.array([-1, 5], "i1")
    assert decode(values, {"_Unsigned": "true"}).tolist() == [255, 5]
    assert decode(values.view("u1"), {"_Unsigned": "false"}).tolist() == [-1, 5]
    for fill in (-1, 255):
        assert np.isnan(decode(values, {"_Unsigned": "true", "_FillValue": fill})[0])
    assert decode(values.astype("f4"), {"_Unsigned": "true"}).tolist() == [-1, 5]


def test_what_is_no_number_is_left_alone():
    for values in (
        np.array(["a"]),
        np.array([b"a"]),
        np.array([True]),
        np.array(["x"], object),
        np.array([3], "M8[s]"),
    ):
        assert decode(values, {"scale_factor": 2, "_FillValue": "a"}) is values
    assert decode(np.array([1j]), {"scale_factor": 2}).tolist() == [2j]


def test_attributes_of_the_wrong_kind_are_told_and_ignored():
    attributes = {
        "scale_factor": "big",
        "add_offset": [1, 2],
        "_FillValue": {},
        "missing_value": ["x", 2],
        "valid_range": [1],
        "valid_min": None,
        "valid_max": "?",
    }
    packing = Packing.from_attributes(attributes, np.dtype("<i2"))
    assert set(packing.ignored) == {
        "scale_factor", "add_offset", "_FillValue", "missing_value", "valid_range", "valid_max"
    }  # fmt: skip
    assert np.array_equal(packing.decode(np.array([1, 2], "<i2")), [1, NAN], equal_nan=True)


def test_masked_values_are_not_scaled():
    packing = Packing.from_attributes({"scale_factor": 2, "_FillValue": 1}, np.dtype("<i2"))
    masked = packing.masked(np.array([1, 5], "<i2"))
    assert masked.mask.tolist() == [True, False]
    assert masked.data.tolist() == [1, 5]


def test_decoding_leaves_its_input_alone():
    values = np.array([1, 2], "<f8")
    decode(values, {"scale_factor": 2, "_FillValue": 1})
    assert values.tolist() == [1, 2]


JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.lists(st.floats(), max_size=3)
)
NAMES = [
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "valid_min",
    "valid_max",
    "valid_range",
    "_Unsigned",
]


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(NAMES), JSON),
    st.sampled_from(["i1", "<u2", ">i8", "<f2", "<f4", "<f8", "<c8"]),
)
def test_any_attributes_give_an_array(attributes, dtype):
    values = np.array([[0, 1, 100]], dtype)
    result = decode(values, attributes, values[0, 0])
    assert result.shape == values.shape
    assert result.dtype.kind in "fc"


@pytest.mark.parametrize(
    ("units", "calendar", "value", "text"),
    [
        ("days since 1961-01-01", None, 1, "1961-01-02"),
        ("hours since 1900-01-01 00:00:0.0", "gregorian", 24.5, "1900-01-02T00:30:00"),
        ("seconds since 1970-01-01T00:00:00", "proleptic_gregorian", 86400, "1970-01-02"),
        ("Days Since 2000-02-28", "noleap", 1, "2000-03-01"),
        ("days since 2000-02-30", "360_day", 1, "2000-03-01"),
        ("days since 0001-01-01", "standard", 0, "0001-01-01"),
    ],
)
def test_times(units, calendar, value, text):
    times = TimeUnits.from_attributes({"units": units, "calendar": calendar})
    assert times.texts(np.array([value, NAN])) == [text, ""]
    assert times.dates(np.array([[value]])).shape == (1, 1)


@pytest.mark.parametrize(
    "units",
    ["degC", "since 2000", "days", "", None, 3, "parsecs since 2000-01-01", "days since " + "1" * 300],
)
def test_what_is_no_time(units):
    assert TimeUnits.from_attributes({"units": units}) is None


@pytest.mark.parametrize(
    ("units", "calendar", "value"),
    [
        ("days since yesterday", "standard", 1),
        ("days since 2000-01-01", "made_up", 1),
        ("days since 2000-01-01", "standard", 1e300),
    ],
)
def test_times_that_cannot_be(units, calendar, value):
    times = TimeUnits.from_attributes({"units": units, "calendar": calendar})
    with pytest.raises(RefbrowserError) as caught:
        times.dates(np.array([value]))
    assert caught.value.kind is ErrorKind.META


@given(
    st.sampled_from(["i1", "u1", "<i2", ">i2", "<i4"]),
    st.fixed_dictionaries(
        {},
        optional={
            "scale_factor": st.sampled_from([0.5, -2.0, 0.01]),
            "add_offset": st.sampled_from([10.0, -0.5]),
            "_FillValue": st.integers(0, 3),
            "missing_value": st.integers(0, 3),
        },
    ),
)
def test_xarray_decodes_the_same(dtype, attributes):
    xarray = pytest.importorskip("xarray")
    values = np.arange(4).astype(dtype) if np.dtype(dtype).kind == "u" else np.arange(-4, 5).astype(dtype)
    typed = {
        name: value if name in ("scale_factor", "add_offset") else values.dtype.type(value)
        for name, value in attributes.items()
    }
    variable = xarray.Variable("x", values, typed)
    theirs = xarray.conventions.decode_cf_variable("x", variable).values
    assert np.allclose(decode(values, attributes), theirs.astype("f8"), equal_nan=True)


@pytest.mark.parametrize(("count", "taken"), [(63, 63), (64, 64), (65, 64)])
def test_missing_values_have_a_limit(count, taken):
    packing = Packing.from_attributes({"missing_value": list(range(count))}, np.dtype("<i4"), None)
    assert len(packing.missing) - (packing.default_fill is not None) == taken
    assert ("missing_value" in packing.ignored) == (count > taken)
