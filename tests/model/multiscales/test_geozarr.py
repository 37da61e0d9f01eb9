"""GeoZarr: the conventions Multiscales, Spatial and Proj; and overviews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from multiscale_nodes import array, group, hierarchy
from systems_known import pyproj_with_systems

from refbrowser.model.multiscales.axis_transform import AxisTransform
from refbrowser.model.multiscales.conventions import (
    crs_beside,
    multiscale_findings,
    multiscale_of,
    pictures_of,
)
from refbrowser.model.multiscales.crs import crs_of
from refbrowser.model.multiscales.multiscale import Direction, Multiscale
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy

FULL = group("/full", array("/full/red", (8, 6), ("y", "x")), array("/full/x", (6,), ("x",)))
HALF = group("/half", array("/half/red", (4, 3), ("y", "x")), array("/half/nir", (4, 3), ("y", "x")))
FEET = 'PROJCRS["Ft",BASEGEOGCRS["a",LENGTHUNIT["metre",1]],LENGTHUNIT["US survey foot",.3]]'
UTM = {"type": "ProjectedCRS", "name": "UTM", "coordinate_system": {"axis": [{"unit": "metre"}]}}
BASE = [10.0, 0.0, 500000.0, 0.0, -10.0, 5000000.0]


def layout(*members: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"multiscales": {"layout": list(members)}, "spatial:dimensions": ["y", "x"], **more}


def level(asset: str, **more: Any) -> dict[str, Any]:
    return {"asset": asset, **more}


def halved(asset: str, source: str, **more: Any) -> dict[str, Any]:
    return level(asset, derived_from=source, transform={"scale": [2.0, 2.0], **more})


def named(found: Hierarchy) -> dict[str, Multiscale]:
    assert isinstance(found.root, GroupNode)
    return {picture.name: picture for picture in pictures_of(found.root).pictures}


def codes(found: Hierarchy) -> list[str]:
    return [each.code for each in multiscale_findings(found)]


def test_a_picture_for_each_variable_in_the_groups_where_it_is() -> None:
    told = layout(
        level("full", **{"spatial:transform": BASE}),
        halved("half", "full") | {"spatial:transform": [20.0, 0.0, 500000.0, 0.0, -20.0, 5000000.0]},
        **{"proj:code": "EPSG:32633"},
    )
    found = hierarchy(told, FULL, HALF)
    pictures = named(found)
    assert list(pictures) == ["red", "nir"]
    red = pictures["red"]
    assert [each.node.path for each in red.levels] == ["/full/red", "/half/red"]
    assert [each.node.path for each in pictures["nir"].levels] == ["/half/nir"]
    # Transforms are of the corners of pixels, coordinates of their centres.
    assert red.levels[0].transforms == (AxisTransform(-10.0, 4999995.0), AxisTransform(10.0, 500005.0))
    assert red.levels[1].transforms == (AxisTransform(-20.0, 4999990.0), AxisTransform(20.0, 500010.0))
    assert [(axis.direction, axis.units) for axis in red.axes] == [
        (Direction.NORTH, "m"),
        (Direction.EAST, "m"),
    ]
    assert red.crs is not None
    assert red.crs.name == "EPSG:32633"
    assert codes(found) == []


def test_a_level_lies_where_it_is_made_from() -> None:
    found = hierarchy(
        layout(level("full"), halved("half", "full"), **{"spatial:transform": BASE}), FULL, HALF
    )
    half = named(found)["red"].levels[1]
    assert half.transforms == (AxisTransform(-20.0, 4999990.0), AxisTransform(20.0, 500010.0))
    shifted = layout(
        level("full"), halved("half", "full", translation=[1.0, 2.0]), **{"spatial:transform": BASE}
    )
    half = named(hierarchy(shifted, FULL, HALF))["red"].levels[1]
    assert half.transforms == (AxisTransform(-20.0, 4999980.0), AxisTransform(20.0, 500030.0))


def test_arrays_as_levels_without_a_space() -> None:
    told = {"multiscales": {"layout": [level("0/d"), halved("1/d", "0/d", translation=[0.5, 0.5])]}}
    one, two = group("/0", array("/0/d", (8, 6))), group("/1", array("/1/d", (4, 3)))
    (picture,) = named(hierarchy(told, one, two)).values()
    assert picture.levels[1].transforms == (AxisTransform(2.0, 0.5), AxisTransform(2.0, 0.5))
    assert [each.position(1.0) for each in picture.index_maps(1, 0)] == [2.5, 2.5]


def test_an_upsampled_level_is_finer() -> None:
    told = layout(level("half"), level("full", derived_from="half", transform={"scale": [0.5, 0.5]}))
    found = hierarchy(told, FULL, HALF)
    assert [each.name for each in named(found)["red"].levels] == ["full", "half"]
    assert codes(found) == []


def test_an_array_of_its_own_says_where_it_lies() -> None:
    attributes = {"spatial:dimensions": ["lat", "lon"], "spatial:transform": [0.5, 0, -10, 0, -0.5, 60]}
    node = array("/t", (2, 6, 8), ("time", "lon", "lat"), attributes=attributes | {"proj:code": "EPSG:4326"})
    picture = multiscale_of(hierarchy({}, node), node)
    assert picture is not None
    # Dimensions are found by their names, in whatever order.
    assert picture.levels[0].transforms == (None, AxisTransform(0.5, -9.75), AxisTransform(-0.5, 59.75))
    assert [axis.direction for axis in picture.axes] == [Direction.NONE, Direction.EAST, Direction.NORTH]
    assert [axis.units for axis in picture.axes] == ["", "degrees", "degrees"]


def test_coordinates_of_nodes_are_those_of_centres() -> None:
    attributes = {"spatial:transform": [1, 0, 0, 0, -1, 5], "spatial:registration": "node"}
    node = array("/t", (6, 8), attributes=attributes)
    picture = multiscale_of(hierarchy({}, node), node)
    assert picture is not None
    assert picture.levels[0].transforms == (AxisTransform(-1.0, 5.0), AxisTransform(1.0, 0.0))


def test_attributes_of_the_group_are_defaults_and_a_box_is_enough() -> None:
    node = array("/t", (5, 10), ("y", "x"))
    found = hierarchy({"spatial:bbox": [0.0, 10.0, 20.0, 20.0], "spatial:dimensions": ["y", "x"]}, node)
    picture = multiscale_of(found, node)
    assert picture is not None
    assert picture.levels[0].transforms == (AxisTransform(-2.0, 19.0), AxisTransform(2.0, 1.0))


def test_a_turned_grid_has_no_coordinates_along_dimensions() -> None:
    node = array("/t", (6, 8), attributes={"spatial:transform": [3, 4, 100, 4, -3, 200]})
    picture = multiscale_of(hierarchy({}, node), node)
    assert picture is not None
    assert picture.levels[0].transforms == (None, None)
    turned = picture.levels[0].turned
    assert turned is not None
    # x = 3 (2 + .5) + 4 (1 + .5) + 100, y = 4 (2 + .5) - 3 (1 + .5) + 200.
    assert turned.at((1, 2)) == (113.5, 205.5)


def test_attributes_of_drafts() -> None:
    draft = {"code": "EPSG:3857", "transform": [*BASE, 0, 0, 1], "spatial_dimensions": ["y", "x"]}
    for attributes in ({"geo": {"proj": draft}}, {f"proj:{name}": value for name, value in draft.items()}):
        node = array("/t", (6, 8), ("y", "x"), attributes=attributes)
        picture = multiscale_of(hierarchy({}, node), node)
        assert picture is not None
        assert picture.levels[0].transforms[1] == AxisTransform(10.0, 500005.0)
        assert picture.crs is not None
        assert picture.crs.code == "EPSG:3857"


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ((level("full"), 3), "multiscales-wrong"),
        ((level("full"), {"derived_from": "full"}), "multiscales-wrong"),
        ((level("full"), level("half", derived_from="full")), "multiscales-wrong"),
        ((level("full"), halved("half", "third")), "multiscales-wrong"),
        ((level("full"), halved("third", "full")), "level-missing"),
        ((level("half"), halved("full", "half")), "level-shapes"),
        ((level("full", **{"spatial:shape": [9, 9]}),), "level-shapes"),
        ((level("full", **{"spatial:transform": [1.0, 2.0]}),), "level-transform"),
        ((level("full", **{"spatial:transform": [0, 0, 1, 0, 0, 1]}),), "level-transform"),
        ((level("full"), level("half", transform={"scale": [2.0]})), "level-transform"),
        ((level("full"), level("half", transform={"scale": [2.0, 2.0, 2.0]})), "level-transform"),
    ],
)
def test_what_is_wrong_is_told(members: tuple[Any, ...], code: str) -> None:
    assert set(codes(hierarchy(layout(*members), FULL, HALF))) == {code}


def test_what_is_wrong_with_an_array_is_told_at_the_array() -> None:
    node = array("/t", (6, 8), ("y", "x"), attributes={"spatial:transform": [1.0]})
    (finding,) = multiscale_findings(hierarchy({}, node))
    assert (finding.code, finding.place.path, finding.place.attribute) == (
        "level-transform",
        "/t",
        "spatial:transform",
    )
    other = array("/t", (6, 8), ("y", "x"), attributes={"spatial:dimensions": ["lat", "lon"]})
    assert codes(hierarchy({}, other)) == ["multiscales-wrong"]


@pytest.mark.parametrize(
    ("attributes", "name", "is_geographic", "units"),
    [
        ({"proj:code": "EPSG:4326"}, "EPSG:4326", True, ""),
        ({"proj:code": "EPSG:32701"}, "EPSG:32701", False, "m"),
        ({"proj:code": "EPSG:2056"}, "EPSG:2056", None, ""),
        ({"proj:wkt2": 'GEOGCRS["WGS 84",DATUM["x"]]'}, "WGS 84", True, ""),
        ({"proj:wkt2": FEET}, "Ft", False, "US survey foot"),
        ({"proj:projjson": {"type": "GeographicCRS", "name": "NAD27"}}, "NAD27", True, ""),
        ({"proj:projjson": {"type": "BoundCRS", "source_crs": UTM}}, "UTM", False, "m"),
        ({"proj:code": "EPSG:1", "proj:wkt2": 'GEOGCRS["G"]'}, "G (EPSG:1)", True, ""),
    ],
)
def test_a_system_is_named(
    attributes: dict[str, Any], name: str, is_geographic: bool | None, units: str
) -> None:
    found = crs_of([{}, attributes, {"proj:code": "EPSG:9"}])
    assert found is not None
    assert (found.name, found.is_geographic, found.units) == (name, is_geographic, units)


@pytest.mark.parametrize(
    ("attributes", "name", "is_geographic"),
    [
        ({"crs_wkt": FEET, "grid_mapping_name": "lambert"}, "Ft", False),
        ({"spatial_ref": "EPSG:4326"}, "EPSG:4326", True),
        ({"grid_mapping_name": "polar_stereographic"}, "polar stereographic", False),
        ({"grid_mapping_name": "latitude_longitude"}, "latitude longitude", True),
    ],
)
@pytest.mark.parametrize("written", ["crs", "crs: y x other: lat lon"])
def test_the_grid_mapping_of_an_array_is_its_system(
    attributes: dict[str, Any], name: str, is_geographic: bool, written: str
) -> None:
    node = array("/t", (6, 8), ("y", "x"), attributes={"grid_mapping": written})
    found = crs_beside(hierarchy({}, node, array("/crs", (), attributes=attributes)), node)
    assert found is not None
    assert (found.name, found.is_geographic) == (name, is_geographic)
    assert crs_beside(hierarchy({}, node), node) is None
    assert crs_beside(hierarchy({}, node, array("/crs", ())), node) is None


def test_a_system_is_told_without_a_grid() -> None:
    node = array("/t", (6, 8), ("y", "x"), attributes={"grid_mapping": "crs"})
    mapping = array("/crs", (), attributes={"spatial_ref": "EPSG:4326"})
    found = crs_beside(hierarchy({"proj:code": "EPSG:32633"}, node, mapping), node)
    assert found is not None
    assert found.name == "EPSG:32633"


def test_systems_agree_with_pyproj() -> None:
    pyproj = pyproj_with_systems()
    for code in (4326, 4267, 4258, 3857, 32633, 32760, 25832, 3035, 3031, 3413, 2056, 2272, 7844):
        crs = pyproj.CRS.from_epsg(code)
        shapes = [{"proj:wkt2": crs.to_wkt()}, {"proj:projjson": crs.to_json_dict()}]
        units = {"metre": "m", "degree": ""}.get(crs.axis_info[0].unit_name, crs.axis_info[0].unit_name)
        for shape in shapes:
            found = crs_of([shape])
            assert found is not None
            assert (found.name, found.is_geographic) == (crs.name, crs.is_geographic)
            assert found.units == units
        short = crs_of([{"proj:code": f"EPSG:{code}"}])
        assert short is not None
        assert short.is_geographic in (None, crs.is_geographic)
        assert short.units in ("", units)


def test_overviews_are_levels() -> None:
    def smaller(number: int, *nodes: ArrayNode) -> GroupNode:
        return group(f"/overview_{number}", *nodes)

    one = smaller(1, array("/overview_1/image", (4, 3), ("Y", "X")), array("/overview_1/mask", (4, 3)))
    two = smaller(2, array("/overview_2/image", (2, 2), ("Y", "X")))
    four = smaller(4, array("/overview_4/image", (1, 1), ("Y", "X")))
    found = hierarchy({}, array("/image", (8, 6), ("Y", "X")), array("/alone", (8, 6)), one, two, four)
    (picture,) = named(found).values()
    assert [level.node.path for level in picture.levels] == [
        "/image",
        "/overview_1/image",
        "/overview_2/image",
    ]
    of_one = multiscale_of(found, one.arrays["image"])
    assert of_one is not None
    assert of_one.number("/overview_1/image") == 1
    assert codes(found) == []
