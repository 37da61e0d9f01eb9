"""Images of OME-Zarr, as versions 0.1 to 0.5 of NGFF describe them."""

from __future__ import annotations

from typing import Any

import pytest
from multiscale_nodes import array, hierarchy, ome, ome_level

from refbrowser.limits import LIMITS
from refbrowser.model.multiscales.axis_transform import AxisTransform
from refbrowser.model.multiscales.conventions import multiscale_findings, multiscale_of, pictures_of
from refbrowser.model.multiscales.multiscale import Direction, Multiscale
from refbrowser.model.nodes import GroupNode, Hierarchy

FULL, HALF = array("/0", (8, 6)), array("/1", (4, 3))
LEVELS = ome_level("0", (0.5, 0.25)), ome_level("1", (1.0, 0.5), 0.25, 0.125)


def pictures(found: Hierarchy) -> tuple[Multiscale, ...]:
    assert isinstance(found.root, GroupNode)
    return pictures_of(found.root).pictures


def only(found: Hierarchy) -> Multiscale:
    (picture,) = pictures(found)
    return picture


def told(found: Hierarchy) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in multiscale_findings(found)]


def test_an_image_of_version_4() -> None:
    found = hierarchy({"multiscales": [ome(*LEVELS, name="cells")]}, FULL, HALF)
    picture = only(found)
    assert (picture.name, picture.group, picture.convention) == ("cells", "/", "OME-Zarr 0.4")
    assert [(axis.name, axis.units) for axis in picture.axes] == [("y", "micrometer"), ("x", "micrometer")]
    assert [axis.direction for axis in picture.axes] == [Direction.DOWN, Direction.RIGHT]
    assert [level.node for level in picture.levels] == [FULL, HALF]
    assert picture.levels[0].transforms == (AxisTransform(0.5, 0.0), AxisTransform(0.25, 0.0))
    assert picture.levels[1].transforms == (AxisTransform(1.0, 0.25), AxisTransform(0.5, 0.125))
    assert told(found) == []


def test_an_image_of_version_5_is_below_ome() -> None:
    image = ome(*LEVELS)
    del image["version"]
    picture = only(hierarchy({"ome": {"version": "0.5", "multiscales": [image]}}, FULL, HALF))
    assert picture.convention == "OME-Zarr 0.5"
    assert len(picture.levels) == 2


def test_levels_are_found_by_their_array_alone() -> None:
    found = hierarchy({"multiscales": [ome(*LEVELS)]}, FULL, HALF, array("/mask", (8, 6)))
    of_half = multiscale_of(found, HALF)
    assert of_half is not None
    assert of_half.number("/1") == 1
    assert multiscale_of(found, array("/mask", (8, 6))) is None


def test_transforms_of_the_image_come_after_those_of_levels() -> None:
    more = [{"type": "scale", "scale": [10, 10]}, {"type": "translation", "translation": [1, 2]}]
    image = ome(*LEVELS, coordinateTransformations=more)
    picture = only(hierarchy({"multiscales": [image]}, FULL, HALF))
    assert picture.levels[1].transforms == (AxisTransform(10.0, 3.5), AxisTransform(5.0, 3.25))


def test_levels_without_translations_begin_at_the_same_corner() -> None:
    plain = ome(ome_level("0", (0.5, 0.25)), ome_level("1", (1.0, 0.5)))
    maps = only(hierarchy({"multiscales": [plain]}, FULL, HALF)).index_maps(1, 0)
    assert [each.position(-0.5) for each in maps] == [-0.5, -0.5]
    assert [each.scale for each in maps] == [2.0, 2.0]
    # The same as translations to the centres of coarser elements say.
    assert maps == only(hierarchy({"multiscales": [ome(*LEVELS)]}, FULL, HALF)).index_maps(1, 0)


def test_channels_have_names() -> None:
    axes = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    image = ome({"path": "0"}, axes=axes)
    labels = {"channels": [{"label": "DAPI"}, {"color": "00FF00"}]}
    picture = only(hierarchy({"multiscales": [image], "omero": labels}, array("/0", (2, 8, 6))))
    assert picture.axes[0].labels == ("DAPI", "")
    assert picture.levels[0].transforms == (None, None, None)


@pytest.mark.parametrize(("axes", "names"), [(None, "tczyx"), (["t", "c", "z", "y", "x"], "tczyx")])
def test_axes_of_the_first_versions(axes: list[str] | None, names: str) -> None:
    image = {"version": "0.1", "datasets": [{"path": "0"}], **({} if axes is None else {"axes": axes})}
    picture = only(hierarchy({"multiscales": [image]}, array("/0", (1, 1, 1, 8, 6))))
    assert "".join(axis.name for axis in picture.axes) == names


@pytest.mark.parametrize(
    "value", ["yes", 3, [], [1, 2], {"a": 1}, [{"path": "0"}], None], ids=lambda value: str(value)
)
def test_what_is_only_called_so_is_left_alone(value: Any) -> None:
    found = hierarchy({"multiscales": value}, FULL)
    assert pictures(found) == ()
    assert told(found) == []


def _changed(**more: Any) -> dict[str, Any]:
    return ome(*LEVELS) | more


def _scaled(scale: Any) -> dict[str, Any]:
    return ome(LEVELS[0], {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": scale}]})


@pytest.mark.parametrize(
    ("image", "code", "words"),
    [
        (_changed(datasets=[]), "multiscales-wrong", "is not a list with members"),
        (_changed(datasets=[3, *LEVELS]), "multiscales-wrong", "datasets[0] is not an object"),
        (_changed(axes=[{"name": "x"}]), "multiscales-wrong", "axes has 1 members"),
        (_changed(axes=[{"name": "y"}, {"type": "space"}]), "multiscales-wrong", "axes[1] has no name"),
        (ome(LEVELS[0], {"path": 7}), "multiscales-wrong", "datasets[1]/path is not the path"),
        (ome(LEVELS[0], {"path": "../1"}), "level-missing", "'../1', where there is nothing"),
        (ome(LEVELS[0], {"path": "7"}), "level-missing", "datasets[1]/path is '7'"),
        (ome(*reversed(LEVELS)), "level-shapes", "/0 has the shape 8 × 6, the finer /1 4 × 3"),
        (ome(LEVELS[0], LEVELS[0]), "level-shapes", "/0 has the shape 8 × 6"),
        (_scaled([2.0]), "level-transform", "has 1, not 2 finite numbers"),
        (_scaled([2.0, 2.0, 2.0]), "level-transform", "has 3, not 2 finite numbers"),
        (_scaled([2.0, "2"]), "level-transform", "not 2 finite numbers"),
        (_scaled([2.0, float("nan")]), "level-transform", "not 2 finite numbers"),
        (_scaled([2.0, True]), "level-transform", "not 2 finite numbers"),
        (_scaled([0.0, 2.0]), "level-transform", "has a factor of 0"),
        (_changed(coordinateTransformations=[{"type": "affine"}]), "level-transform", "not a scale"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(image: dict[str, Any], code: str, words: str) -> None:
    found = list(multiscale_findings(hierarchy({"multiscales": [image]}, FULL, HALF)))
    assert {each.code for each in found} == {code}
    assert words in found[0].message
    place = found[0].place
    assert (place.key, place.path, place.attribute) == (".zattrs", "/", "multiscales")


def test_a_wrong_transform_leaves_the_level_without_coordinates() -> None:
    picture = only(hierarchy({"multiscales": [_scaled([2.0])]}, FULL, HALF))
    assert picture.levels[1].transforms == (None, None)
    # It lies over the same picture still.
    assert [each.scale for each in picture.index_maps(0, 1)] == [0.5, 0.5]


def test_levels_of_other_dimensions_are_left_out() -> None:
    found = hierarchy({"multiscales": [ome(*LEVELS)]}, FULL, array("/1", (1, 4, 3)))
    assert [level.node.path for level in only(found).levels] == ["/0"]
    codes = {code for code, _ in told(found)}
    assert codes == {"level-shapes", "level-transform"}


def test_of_very_many_levels_some_are_used() -> None:
    most = LIMITS.multiscale_levels
    nodes = [array(f"/{at}", (2 * most - at, 9)) for at in range(most + 1)]
    image = ome(*(ome_level(node.name, (1.0, 1.0)) for node in nodes))
    found = hierarchy({"multiscales": [image]}, *nodes)
    assert len(only(found).levels) == most
    assert told(found)[0][0] == "multiscales-wrong"
    assert f"only {most} are used" in told(found)[0][1]
