from __future__ import annotations

import numpy as np
from view_arrays import node

from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.colouring import NO_VALUE, OTHER, FlagColouring, LevelColouring, flag_shares
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import Levels

QUALITY = node(
    (5,), dtype="i1", _FillValue=-1, flag_values=[0, 2, 5], flag_meanings="good doubtful_value bad"
)
BITS = node((4,), dtype="u1", flag_masks=[1, 2, 4], flag_meanings="wet cold dark")


def test_flags_have_their_number() -> None:
    shown = Interpretation(QUALITY, decoded=True)
    raw = np.array([0, 5, 2, 3, -1], "i1")
    assert FlagColouring().positions(raw, shown).tolist() == [0, 2, 1, OTHER, NO_VALUE]
    assert FlagColouring(2).positions(raw, shown).tolist() == [OTHER, 2, OTHER, OTHER, NO_VALUE]
    assert flag_shares(raw, shown) == [0.25, 0.25, 0.25]
    assert flag_shares(raw[-1:], shown) == [0, 0, 0], "nothing but missing values"


def test_several_flags_hold_at_once() -> None:
    shown = Interpretation(BITS, decoded=True)
    raw = np.array([0, 3, 6, 4], "u1")
    assert FlagColouring().positions(raw, shown).tolist() == [OTHER, 0, 1, 2]
    assert FlagColouring(2).positions(raw, shown).tolist() == [OTHER, OTHER, 2, 2]
    assert flag_shares(raw, shown) == [0.25, 0.5, 0.5]


def test_levels_colour_decoded_numbers() -> None:
    shown = Interpretation(node((3,), dtype="i1", scale_factor=10, _FillValue=9), decoded=True)
    positions = LevelColouring(Levels(0, 100)).positions(np.array([0, 5, 9], "i1"), shown)
    assert positions.tolist() == [0, 127, NO_VALUE]


def test_meanings_are_told() -> None:
    shown = Interpretation(QUALITY, decoded=True)
    assert shown.text_with_units(np.int8(2)) == "2: doubtful value"
    assert shown.text_with_units(np.int8(3)) == "3: no flag"
    assert shown.text_with_units(np.int8(-1)) == "no value (fill value \N{MINUS SIGN}1)"
    assert Interpretation(QUALITY, decoded=False).text_with_units(np.int8(2)) == "2"
    assert Interpretation(BITS, decoded=True).text_with_units(np.uint8(5)) == "5: wet + dark"


def test_a_complex_number_is_told_with_magnitude_and_phase() -> None:
    node = ArrayNode(path="/z", shape=(2,), type=DataType.of(np.dtype("c16")), attributes={"units": "V"})
    shown = Interpretation(node, decoded=True)
    assert shown.text_with_units(np.complex128(3 + 4j)).endswith("V (magnitude 5, phase 0.9272952 rad)")
