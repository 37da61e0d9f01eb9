"""Three bands as colours: which are proposed, and what colours they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.overlays.composite import Composite, band_levels, colours_of, proposed
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.plot.coordinates import Coordinate, plain_coordinate
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import Levels
from refbrowser.views.plot.slicing import SliceState


def array(path: str, shape: tuple[int, ...] = (5, 6), **attributes: Any) -> Any:
    found = node(shape, shape, "<f4", ("t", "y", "x")[-len(shape) :], **attributes)
    object.__setattr__(found, "path", path)
    return found


def drawn(*arrays: Any, first: Coordinate | None = None) -> DrawnSlice:
    shown = arrays[0]
    names = ("t", "y", "x")[-len(shown.shape) :]
    if first is not None:
        names = (first.name, "y", "x")
    state = SliceState(shown.shape, names, len(names) - 1, len(names) - 2, (0,) * len(names))
    plain = [plain_coordinate(name, size) for name, size in zip(names, shown.shape, strict=True)]
    coordinates = plain if first is None else [first, *plain[1:]]
    return DrawnSlice(Interpretation(shown, decoded=True), state, coordinates, others=arrays[1:])


def test_bands_by_wavelength() -> None:
    values = np.array([0.443, 0.490, 0.560, 0.665, 0.842])
    waves = Coordinate(name="wavelength", size=5, values=values, units="um")
    assert proposed(drawn(array("/r", (5, 5, 6)), first=waves), Composite()) == Composite(
        "wavelength", ("3", "2", "1")
    )
    far = Coordinate(name="band", size=5, values=values + 10, units="um")
    assert proposed(drawn(array("/r", (5, 5, 6)), first=far), Composite()) == Composite(
        "band", ("0", "1", "2")
    )


@pytest.mark.parametrize(
    "names", [("red", "green", "blue"), ("B04", "B03", "B02"), ("Rrs_red", "Rrs_green", "Rrs_blue")]
)
def test_bands_by_names(names: tuple[str, ...]) -> None:
    arrays = [array(f"/{name}") for name in ("other", *reversed(names))]
    assert proposed(drawn(*arrays), Composite()) == Composite("", tuple(f"/{name}" for name in names))  # type: ignore[arg-type]


def test_what_was_chosen_stays_where_it_is_there() -> None:
    arrays = [array("/a", (4, 5, 6)), array("/b", (4, 5, 6)), array("/c", (4, 5, 6))]
    chosen = Composite("", ("/c", "/c", "/a"), 5)
    assert proposed(drawn(*arrays), chosen) == chosen
    assert proposed(drawn(*arrays[:2]), chosen) == Composite("t", ("0", "1", "2"), 5)
    along = Composite("t", ("3", "0", "1"))
    assert proposed(drawn(*arrays), along) == along
    for wrong in (("4", "0", "1"), ("-1", "0", "1"), ("x", "0", "1"), ("\N{SUPERSCRIPT TWO}", "0", "1")):
        assert not Composite("t", wrong).holds(drawn(*arrays))
    assert proposed(drawn(array("/a")), Composite()) is None


def test_colours_are_between_dark_and_bright() -> None:
    ramp = np.linspace(0, 1, 101)[None]
    bands = [ramp, 1 - ramp, np.where(ramp > 0.5, np.nan, 7.0)]
    found = colours_of(bands, [Levels(0.2, 0.8), Levels(0, 1), Levels(0, 14)])
    assert found[0, 0].tolist() == [0, 255, 128, 255]
    assert found[0, 50].tolist() == [127, 128, 128, 255]
    assert found[0, 60].tolist() == [0, 0, 0, 0]
    ends = band_levels(ramp * 100, 2.0)
    assert ends == Levels(2, 98)
    assert band_levels(np.array([np.nan]), 2.0) is None
    same = band_levels(np.full(4, 3.0), 2.0)
    assert same is not None
    assert same.part(3.0) == 0.5


def test_it_is_kept_as_text() -> None:
    for composite in (
        Composite(),
        Composite("t", ("3", "0", "1"), 0.5),
        Composite("", ("/a", "/b/c d", "/a")),
    ):
        assert Composite.of(composite.text) == composite
        marks = Marks(composite=composite)
        assert Marks.of(marks.said()) == marks
    for wrong in ("x", "1\n2\n3\n4", "99\n\na\nb\nc", "x\n\na\nb\nc", "nan\n\na\nb\nc"):
        with pytest.raises(ValueError, match=r"expected|left out|could not"):
            Composite.of(wrong)
