import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.cf import FlagSet, Packing


def flags_of(attributes, dtype="i1"):
    kind = np.dtype(dtype)
    return FlagSet.from_attributes(attributes, kind, Packing.from_attributes(attributes, kind))


def meanings(flags, value, dtype="i1"):
    return [flag.meaning for flag in flags.held(np.array(value, dtype))]


def test_values_have_names():
    """The first example of section 3.5 of the CF conventions."""
    flags = flags_of(
        {
            "flag_values": [0, 1, 2],
            "flag_meanings": "quality_good sensor_nonfunctional outside_valid_range",
        }
    )
    assert flags.exclusive
    assert [meanings(flags, value) for value in (0, 1, 2, 3)] == [
        ["quality_good"],
        ["sensor_nonfunctional"],
        ["outside_valid_range"],
        [],
    ]
    assert flags.numbers(np.array([[2, 0], [7, 1]], "i1")).tolist() == [[2, 0], [-1, 1]]


def test_bits_have_names():
    """The second example: several conditions hold at once."""
    flags = flags_of(
        {
            "flag_masks": [1, 2, 4, 8, 16, 32],
            "flag_meanings": "low_battery processor_fault memory_fault disk_fault software_fault "
            "maintenance_required",
        }
    )
    assert not flags.exclusive
    assert meanings(flags, 0b100001) == ["low_battery", "maintenance_required"]
    assert meanings(flags, 0) == []


def test_bits_and_values_together():
    """The third example: two bits are one condition of four values, beside a single bit."""
    flags = flags_of(
        {
            "flag_masks": [1, 2, 12, 12, 12],
            "flag_values": [1, 2, 4, 8, 12],
            "flag_meanings": "low_battery hardware_fault offline_mode calibration_mode maintenance_mode",
        }
    )
    assert not flags.exclusive
    assert meanings(flags, 4 + 1) == ["low_battery", "offline_mode"]
    assert meanings(flags, 12) == ["maintenance_mode"]
    assert meanings(flags, 3 + 8) == ["low_battery", "hardware_fault", "calibration_mode"]
    one = flags_of({"flag_masks": [6, 6], "flag_values": [2, 4], "flag_meanings": "a b"})
    assert one.exclusive
    assert meanings(one, 0b10011) == ["a"]


def test_unsigned_values_are_met():
    flags = flags_of({"_Unsigned": "true", "flag_values": [0, -1], "flag_meanings": "none all"})
    stored = np.array([-1, 0], "i1").view("u1")
    assert flags.numbers(stored).tolist() == [1, 0]
    bits = flags_of({"_Unsigned": "true", "flag_masks": [-128, 1], "flag_meanings": "high low"})
    assert meanings(bits, 129, "u1") == ["high", "low"]


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"flag_meanings": "a b"},
        {"flag_values": [1, 2]},
        {"flag_values": "x", "flag_meanings": "a b"},
        {"flag_values": [1000], "flag_meanings": "too_large"},
        {"flag_values": {}, "flag_masks": [None], "flag_meanings": 3},
        {"flag_values": [1], "flag_meanings": "a", "scale_factor": 0.5},
    ],
)
def test_what_tells_no_flags(attributes):
    assert flags_of(attributes) is None


def test_pairs_without_a_partner_are_left_out():
    flags = flags_of({"flag_values": [1, 1000, 3, 4], "flag_meanings": "a b c"})
    assert [(flag.meaning, flag.value) for flag in flags.flags] == [("a", 1), ("c", 3)]
    assert [flag.meaning for flag in flags_of({"flag_values": [1, 2], "flag_meanings": "a, b"}).flags] == [
        "a",
        "b",
    ]


def test_no_type_but_numbers_has_flags():
    attributes = {"flag_values": [1, 2], "flag_meanings": "a b"}
    assert flags_of(attributes, "S1") is None
    assert flags_of(attributes, "f4").numbers(np.array([2, 1.5], "f4")).tolist() == [1, -1]


@given(
    st.sampled_from(["i1", "u1", "i2", "i4", "u8"]),
    st.lists(st.integers(0, 100), min_size=1, max_size=6),
    st.lists(st.integers(1, 100), max_size=6),
    st.lists(st.integers(-1, 110), min_size=1, max_size=20),
)
def test_numbers_agree_with_one_by_one(dtype, values, masks, stored):
    kind = np.dtype(dtype)
    attributes = {"flag_values": values, "flag_meanings": [f"m{n}" for n in range(len(values))]}
    if len(masks) >= len(values):
        attributes["flag_masks"] = masks
    flags = flags_of(attributes, dtype)
    array = np.array([abs(item) if kind.kind == "u" else item for item in stored], kind)
    wanted = []
    for item in array.tolist():
        held = [
            number
            for number, flag in enumerate(flags.flags)
            if (item & flag.mask if flag.mask is not None else item) == flag.value
        ]
        wanted.append(held[0] if held else -1)
    assert flags.numbers(array).tolist() == wanted
    assert flags.numbers(array.reshape(1, -1)).shape == (1, len(stored))
