"""Levels of images as views have them: which is sufficient, its slice, its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from multiscale_nodes import array, hierarchy, ome, ome_level
from systems_known import pyproj_with_systems

from refbrowser.model.multiscales.conventions import multiscale_of
from refbrowser.model.multiscales.multiscale import Multiscale
from refbrowser.model.nodes import Hierarchy
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, Coordinate, are_on_map
from refbrowser.views.plot.reading import told_coordinates
from refbrowser.views.plot.resolution import (
    LevelView,
    level_coordinates,
    level_node,
    level_roles,
    level_titles,
    may_stay,
    named_node,
    sufficient_level,
    turned_places,
)
from refbrowser.views.plot.slicing import first_slice

SIZES = (64, 32, 16, 8)


def described(names: str = "zyx", sizes: Sequence[int] = SIZES, **more: Any) -> Hierarchy:
    """Return an image whose levels have halves of the rows and columns of the one before."""
    levels = [ome_level(str(at), [2.0] * (len(names) - 2) + [2.0**at, 2.0**at]) for at, _ in enumerate(sizes)]
    axes = [{"name": name, "type": "space", "unit": "nm"} for name in names]
    nodes = [array(f"/{at}", (5,) * (len(names) - 2) + (size, size)) for at, size in enumerate(sizes)]
    return hierarchy({"multiscales": [ome(*levels, axes=axes, **more)]}, *nodes)


def picture(found: Hierarchy, path: str = "/0") -> Multiscale:
    node = found.find(path)
    assert node is not None
    image = multiscale_of(found, node)  # type: ignore[arg-type]
    assert image is not None
    return image


def view(image: Multiscale, number: int = 0, window: tuple[range, ...] | None = None) -> LevelView:
    return LevelView(image, number, first_slice(level_node(image, number), level_roles(image)), window)


def given(coordinate: Coordinate | None) -> Coordinate:
    assert coordinate is not None
    return coordinate


@pytest.mark.parametrize(
    ("density", "wanted"), [(0.1, 0), (1.0, 0), (1.9, 0), (2.0, 1), (3.9, 1), (4.0, 2), (100.0, 3)]
)
def test_the_coarsest_level_with_an_element_for_each_pixel(density: float, wanted: int) -> None:
    found = sufficient_level(view(picture(described())), [density, density], lambda _view: True)
    assert found == wanted


def test_the_axis_with_fewer_elements_counts() -> None:
    assert sufficient_level(view(picture(described())), [100.0, 2.0], lambda _view: True) == 1


def test_a_level_stays_while_it_nearly_is_the_one() -> None:
    image = picture(described())
    # Of the second level: twice as many of the first, half as many of the third.
    kept = {density: may_stay(view(image, 1), [density, density]) for density in (0.75, 0.85, 2.4, 2.6)}
    assert kept == {0.75: False, 0.85: True, 2.4: True, 2.6: False}
    assert may_stay(view(image, 3), [9.0, 9.0])
    assert not may_stay(view(image, 0), [9.0, 9.0])


def test_levels_that_do_not_fit_are_not_chosen() -> None:
    image = picture(described())
    assert sufficient_level(view(image), [1.0, 1.0], lambda each: each.number >= 2) == 2
    assert sufficient_level(view(image), [1.0, 1.0], lambda each: False) == 3


def test_the_same_part_of_another_level() -> None:
    shown = view(picture(described()), 0, (range(8, 24), range(0, 64)))
    moved = LevelView(shown.multiscale, 0, shown.state.with_index(0, 3), shown.window).on(2)
    assert moved.number == 2
    assert moved.state.shape == (5, 16, 16)
    assert moved.state.indices == (3, 0, 0)
    assert moved.window == (range(2, 6), range(0, 16))
    assert moved.on(0).window == (range(8, 24), range(0, 64))
    assert moved.state.names == ("z", "y", "x")


def test_dimensions_have_the_names_of_axes_where_they_have_none() -> None:
    found = described()
    assert level_node(picture(found), 1).dimensions == ("z", "y", "x")
    half = found.find("/1")
    assert half is not None
    assert named_node(found, half).dimensions == ("z", "y", "x")  # type: ignore[arg-type]
    own = array("/0", (8, 8), ("rows", "columns"))
    image = picture(hierarchy({"multiscales": [ome(ome_level("0", (1.0, 1.0)))]}, own))
    assert level_node(image, 0) is own


def test_titles_tell_the_size_of_the_image() -> None:
    assert level_titles(picture(described())) == ("0: 64 × 64", "1: 32 × 32", "2: 16 × 16", "3: 8 × 8")
    spectra = hierarchy(
        {"multiscales": {"layout": [{"asset": "a"}, {"asset": "b"}]}},
        array("/a", (2, 8, 6)),
        array("/b", (2, 4, 3)),
    )
    assert level_titles(picture(spectra, "/a")) == ("a: 8 × 6", "b: 4 × 3")


def test_coordinates_of_an_image() -> None:
    found = described()
    z, y, x = map(given, level_coordinates(picture(found), 1))
    assert z.values is not None
    assert y.values is not None
    assert z.values.tolist() == [0, 2, 4, 6, 8]
    assert y.values[:3].tolist() == [0, 2, 4]
    assert (y.name, y.units, y.text(1), y.axis_label) == ("y", "nm", "2 nm", "y [nm]")
    # The first row is at the top, columns run to the right.
    assert y.role is AxisRole.ROWS
    assert AxisScale(y).runs_backwards(vertical=True)
    assert not AxisScale(x).runs_backwards(vertical=False)
    node = found.find("/1")
    assert [each and each.name for each in told_coordinates(found, node)] == ["z", "y", "x"]  # type: ignore[arg-type]


def test_what_tells_no_more_than_the_index_is_left_out() -> None:
    axes = [{"name": "t", "type": "time"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    levels = ome_level("0", [1.0, 1.0, 1.0]), ome_level("1", [1.0, 2.0, 2.0], 0.0, 0.5, 0.5)
    nodes = array("/0", (2, 8, 6)), array("/1", (2, 4, 3))
    image = picture(hierarchy({"multiscales": [ome(*levels, axes=axes)]}, *nodes))
    assert level_coordinates(image, 0) == (None, None, None)
    t, y, _x = level_coordinates(image, 1)
    assert t is None
    # In elements of the finest level.
    assert given(y).values is not None
    assert given(y).text(1) == "2.5"


def test_channels_are_called_by_their_names() -> None:
    axes = [{"name": "c", "type": "channel"}, *({"name": name, "type": "space"} for name in "yx")]
    image = ome({"path": "0"}, axes=axes)
    labels = {"channels": [{"label": "DAPI"}, {}]}
    found = picture(hierarchy({"multiscales": [image], "omero": labels}, array("/0", (2, 8, 6))))
    assert given(level_coordinates(found, 0)[0]).texts == ["DAPI", "1"]


def _map(crs: str, transform: list[float], names: tuple[str, str] = ("y", "x")) -> Multiscale:
    attributes = {"spatial:transform": transform, "proj:code": crs, "spatial:dimensions": list(names)}
    return picture(hierarchy({}, array("/t", (6, 8), names, attributes=attributes)), "/t")


def test_coordinates_of_a_map() -> None:
    y, x = map(given, level_coordinates(_map("EPSG:32633", [10, 0, 500000, 0, -10, 5000000]), 0))
    assert (y.role, x.role) == (AxisRole.NORTH, AxisRole.EAST)
    assert (y.text(0), x.text(0)) == ("4999995 m", "500005 m")
    assert are_on_map(x, y)
    # Rows go south: the first is at the top, as north is.
    assert AxisScale(y).runs_backwards(vertical=True)
    y, x = map(given, level_coordinates(_map("EPSG:4326", [0.5, 0, -10, 0, -0.5, 60]), 0))
    assert (y.text(0), x.text(0)) == ("59.75°N", "9.75°W")
    y, x = map(given, level_coordinates(_map("EPSG:9", [0.5, 0, -10, 0, -0.5, 60], ("lat", "lon")), 0))
    assert (y.role, x.role) == (AxisRole.LATITUDE, AxisRole.LONGITUDE)


@pytest.mark.slow
def test_units_of_other_systems_are_those_that_pyproj_knows() -> None:
    pyproj_with_systems()
    grid = [10, 0, 2600000, 0, -10, 1200000]
    for crs, units in (("EPSG:2056", "m"), ("EPSG:2272", "US survey foot"), ("EPSG:1", "")):
        y, x = map(given, level_coordinates(_map(crs, grid), 0))
        assert (y.units, x.units, x.role) == (units, units, AxisRole.EAST)
    # Of the islands of Bermuda: longitudes.
    _, x = map(given, level_coordinates(_map("EPSG:4762", [0.1, 0, -65, 0, -0.1, 33]), 0))
    assert x.role is AxisRole.LONGITUDE


@pytest.mark.parametrize("registration", ["pixel", "node"])
def test_coordinates_agree_with_rasterio(registration: str) -> None:
    rasterio = pytest.importorskip("rasterio.transform")
    affine = [30.0, 0.0, 399960.0, 0.0, -30.0, 4200000.0]
    attributes = {"spatial:transform": affine, "spatial:registration": registration}
    image = picture(hierarchy({}, array("/t", (6, 8), attributes=attributes)), "/t")
    offset = {"pixel": "center", "node": "ul"}[registration]
    xs, _ = rasterio.xy(rasterio.Affine(*affine), [0] * 8, range(8), offset=offset)
    _, ys = rasterio.xy(rasterio.Affine(*affine), range(6), [0] * 6, offset=offset)
    y, x = map(given, level_coordinates(image, 0))
    assert x.values is not None
    assert y.values is not None
    assert np.array_equal(x.values, xs)
    assert np.array_equal(y.values, ys)


def test_places_of_a_turned_grid_agree_with_rasterio() -> None:
    rasterio = pytest.importorskip("rasterio.transform")
    affine = [3.0, 4.0, 100.0, 4.0, -3.0, 200.0]
    image = picture(hierarchy({}, array("/t", (6, 8), attributes={"spatial:transform": affine})), "/t")
    assert level_coordinates(image, 0) == (None, None)
    turned = image.levels[0].turned
    assert turned is not None
    for row, column in ((0, 0), (5, 7), (2, 3)):
        x, y = rasterio.xy(rasterio.Affine(*affine), row, column)
        assert turned.at((row, column)) == pytest.approx((float(x), float(y)))
        assert [each.text((row, column)) for each in turned_places(image, 0)] == [f"{x:g}", f"{y:g}"]


def test_places_of_a_turned_grid_are_coordinates_of_elements() -> None:
    image = _map("EPSG:32633", [3.0, 4.0, 500000.0, 4.0, -3.0, 5000000.0])
    x, y = turned_places(image, 0)
    assert (x.name, y.name, x.role, y.role) == ("x", "y", AxisRole.EAST, AxisRole.NORTH)
    assert (x.text((1, 2)), y.text((1, 2))) == ("500013.5 m", "5000005.5 m")
    assert [x.grows(at) for at in (0, 1, 2)] == [True, True, None]
    assert [y.grows(at) for at in (0, 1)] == [False, True]
    assert x.spans((0, 1))
    assert not x.spans((2,))
    assert turned_places(_map("EPSG:32633", [10, 0, 500000, 0, -10, 5000000]), 0) == ()
