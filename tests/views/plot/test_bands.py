"""Arrays that are pictures in colour, and how their elements become colours."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest

from refbrowser.io.access.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks
from refbrowser.views.plot import plan as plan_module
from refbrowser.views.plot.bands import Bands, TrueColouring, bands_of, white_of
from refbrowser.views.plot.coordinates import AxisRole, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view, sampled_plan
from refbrowser.views.plot.readout import value_at
from refbrowser.views.plot.series import plan_series
from refbrowser.views.plot.slicing import SliceState, dimension_names, first_slice
from refbrowser.views.plot.snippet_store import SnippetSource
from refbrowser.views.plot.snippets import SnippetView, zarr_snippet


def picture_node(
    shape: tuple[int, ...],
    dimensions: tuple[str, ...],
    dtype: str = "u1",
    chunks: tuple[int, ...] | None = None,
    **attributes: Any,
) -> ArrayNode:
    return ArrayNode(
        path="/picture",
        shape=shape,
        type=DataType.of(np.dtype(dtype), dtype),
        dimensions=dimensions,
        values=Chunks(grid=RegularChunkGrid(shape, chunks or shape)),
        attributes=attributes,
    )


def found(node: ArrayNode, **beside: dict[str, Any]) -> Bands | None:
    return bands_of(node, dimension_names(node), beside)


@pytest.mark.parametrize(
    ("shape", "dimensions", "dtype", "wanted"),
    [
        ((8, 9, 3), ("y", "x", "rgb"), "u1", Bands(2)),
        ((8, 9, 3), ("y", "x", "RGB_band"), "f4", Bands(2)),
        ((8, 9, 4), ("y", "x", "rgba"), "u2", Bands(2, alpha=3)),
        ((8, 9, 3), ("y", "x", "bgr"), "u1", Bands(2, (2, 1, 0))),
        ((3, 8, 9), ("band", "y", "x"), "u2", Bands(0)),
        ((5, 3, 8, 9), ("time", "channel", "y", "x"), "u1", Bands(1)),
        # The fourth band of an instrument is no opacity; the fourth channel of a picture is.
        ((4, 8, 9), ("band", "y", "x"), "u1", Bands(0)),
        ((8, 9, 4), ("y", "x", "channel"), "u1", Bands(2, alpha=3)),
        # Names that are made up, last as libraries of pictures have it.
        ((80, 90, 3), ("phony_dim_0", "phony_dim_1", "phony_dim_2"), "u1", Bands(2)),
        ((80, 90, 3), (), "u1", Bands(2)),
        ((3, 80, 90), (), "u1", None),
        ((80, 90, 3), (), "u2", None),
        # Other things of three.
        ((3, 80, 90), ("time", "y", "x"), "u1", None),
        ((80, 90, 3), ("y", "x", "band"), "f4", None),
        ((80, 90, 3), ("y", "x", "rgb"), "i2", None),
        ((80, 90, 5), ("y", "x", "band"), "u1", None),
        ((80, 3), ("y", "rgb"), "u1", None),
        ((80, 1, 3), ("y", "x", "rgb"), "u1", None),
    ],
)
def test_which_arrays_are_in_colour(
    shape: tuple[int, ...], dimensions: tuple[str, ...], dtype: str, wanted: Bands | None
) -> None:
    assert found(picture_node(shape, dimensions, dtype)) == wanted


@pytest.mark.parametrize(
    "attributes",
    [{"units": "K"}, {"scale_factor": 0.1}, {"flag_values": [0, 1], "flag_meanings": "land sea"}],
)
def test_what_measures_something_is_not_in_colour(attributes: dict[str, Any]) -> None:
    assert found(picture_node((8, 9, 3), ("y", "x", "band"), **attributes)) is None


def test_bands_with_wavelengths_are_offered_only() -> None:
    node = picture_node((8, 9, 3), ("y", "x", "band"), "u2")
    bands = found(node, band={"units": "nm"})
    assert bands is not None
    assert not bands.is_sure


@pytest.mark.parametrize(
    ("photometric", "extra", "wanted"),
    [
        (2, None, Bands(2)),
        (2, [2], Bands(2, alpha=3)),
        (2, [0], Bands(2)),
        (6, None, Bands(2)),
        # Grey values: bands of an instrument. Four inks, and L*a*b*: no colours of a screen.
        (1, None, Bands(2, is_sure=False)),
        (5, None, None),
        (8, None, None),
    ],
)
def test_what_tiff_says_of_its_samples(
    photometric: int, extra: list[int] | None, wanted: Bands | None
) -> None:
    attributes = {"PhotometricInterpretation": photometric} | (
        {} if extra is None else {"ExtraSamples": extra}
    )
    assert found(picture_node((8, 9, 4), ("Y", "X", "S"), **attributes)) == wanted


def test_what_hdf5_says_of_a_picture() -> None:
    names = ("phony_dim_0", "phony_dim_1", "phony_dim_2")
    assert found(picture_node((3, 8, 9), names, IMAGE_SUBCLASS="IMAGE_TRUECOLOR")) == Bands(0)


def test_names_of_bands_give_their_order() -> None:
    bands = Bands(2).called(["Blue", "green", "RED", "alpha"])
    assert bands == Bands(2, (2, 1, 0), 3)
    assert bands.names("band", 4) == ("blue", "green", "red", "alpha")
    assert Bands(2).called(["B02", "B03", "B04"]) == Bands(2)
    plain = tuple(plain_coordinate(name, size) for name, size in (("y", 8), ("x", 9), ("c", 4)))
    assert Bands(2).name_in(plain)[2].texts == ("red", "green", "blue", "c 3")
    assert Bands(2, is_sure=False).name_in(plain)[2].texts is None


@pytest.mark.parametrize(
    ("dtype", "most", "white"),
    [
        ("u1", 9, 255),
        ("u2", 9, 255),
        ("u2", 4000, 4095),
        ("u2", 65535, 65535),
        ("f4", 0.7, 1),
        ("f4", 250, 255),
    ],
)
def test_white_is_as_many_bits_as_are_used(dtype: str, most: float, white: float) -> None:
    sample = np.array([0, most, np.nan])
    assert white_of(sample, np.dtype(dtype)) == white


def test_elements_become_their_colours() -> None:
    node = picture_node((1, 3, 4), ("y", "x", "rgba"), _FillValue=7)
    raw = np.array([[[10, 20, 30, 255], [7, 20, 30, 128], [7, 7, 7, 255]]], "u1")
    shown = Interpretation(node, decoded=True)
    colours = TrueColouring(Bands(2, alpha=3), 255).positions(raw, shown)
    assert colours[0, :2].tolist() == [[10, 20, 30, 255], [7, 20, 30, 128]]
    assert colours[0, 2, 3] == 0, "an element without any value"
    turned = TrueColouring(Bands(2, (2, 1, 0)), 255).positions(raw, shown)
    assert turned[0, 0].tolist() == [30, 20, 10, 255]
    wide = np.array([[[0, 2047, 4095]]], "u2")
    node = picture_node((1, 1, 3), ("y", "x", "rgb"), "u2")
    found = TrueColouring(Bands(2), 4095).positions(wide, Interpretation(node, decoded=True))
    assert found.tolist() == [[[0, 127, 255, 255]]]


def test_a_slice_in_colour() -> None:
    node = picture_node((5, 3, 8, 9), ("time", "rgb", "row", "column"))
    bands = found(node)
    state = first_slice(node, (AxisRole.NONE,) * 4, bands=bands).with_bands(bands)
    assert (state.axes, state.sliders, state.text()) == ((2, 3), (0,), "0,:,:,:")
    plan = plan_view(node, state)
    assert plan.selection.shape == (3, 8, 9)
    values = np.arange(3 * 8 * 9).reshape(3, 8, 9)
    assert state.arranged(values).shape == (8, 9, 3)
    assert state.with_x(2).arranged(values).shape == (9, 8, 3)
    # A line, and an image of which a band is an axis, are not in colour.
    assert state.with_y(None).bands is None
    assert state.with_y(1).bands is None
    assert plan_series(node, state, 0, (0, 1, 4, 4)).selection.shape == (5,)
    assert first_slice(
        picture_node((8, 9, 3), ("a", "b", "rgb")), (AxisRole.NONE,) * 3, bands=Bands(2)
    ).axes == (0, 1)


def test_bands_in_chunks_of_their_own_come_together() -> None:
    node = picture_node((3, 4, 4), ("rgb", "y", "x"), chunks=(1, 4, 2))
    state = SliceState(node.shape, ("rgb", "y", "x"), 2, 1, (0, 0, 0)).with_bands(Bands(0))
    picture = Picture(node, plan_view(node, state))
    picture.out[...] = np.arange(48).reshape(3, 4, 4)
    assert picture.plan.chunks == 6
    assert picture.states.shape == (1, 2)
    for band in (0, 1):
        picture.accept((band, 0, 0), ChunkState.DONE)
        assert picture.state_at((0, 0)) is ChunkState.PENDING
    picture.accept((2, 0, 0), ChunkState.DONE)
    assert picture.state_at((0, 0)) is ChunkState.DONE
    shown = Interpretation(node, decoded=True)
    assert value_at(picture, shown, (1, 1)) == "red 5, green 21, blue 37"
    for band, ended in ((0, ChunkState.DONE), (1, ChunkState.FAILED), (2, ChunkState.MISSING)):
        picture.accept((band, 0, 1), ended)
    assert picture.state_at((0, 3)) is ChunkState.FAILED
    assert picture.sample().size == 4 * 2 * 3, "of what came alone"


def test_lines_of_python_have_the_bands_last() -> None:
    node = picture_node((3, 8, 9), ("rgb", "y", "x"))
    state = SliceState(node.shape, ("rgb", "y", "x"), 2, 1, (0, 0, 0)).with_bands(Bands(0))
    view = SnippetView(node, state, (range(8), range(2, 9)), decoded=True)
    code = zarr_snippet(SnippetSource("picture.json", [], Access("/", from_network=False)), view)
    assert "values = array[:, :, 2:].transpose(1, 2, 0)" in code
    assert not SnippetView(node, state.with_bands(None), (range(8), range(9)), decoded=True).is_turned


def test_a_picture_in_colour_holds_no_more_than_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "LIMITS", replace(LIMITS, view_elements=3_000))
    node = picture_node((100, 100, 3), ("y", "x", "rgb"))
    state = SliceState(node.shape, ("y", "x", "rgb"), 1, 0, (0, 0, 0)).with_bands(Bands(2))
    for found in (plan_view(node, state), sampled_plan(node, state)):
        assert prod(found.selection.shape) <= 3_000
