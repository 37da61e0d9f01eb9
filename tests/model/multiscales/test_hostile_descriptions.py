"""Descriptions of images that make no sense: whatever they hold is told, and harms nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from multiscale_nodes import array, group, hierarchy, ome, ome_level

from refbrowser.model.multiscales.conventions import (
    multiscale_findings,
    multiscale_of,
    named_paths,
    pictures_of,
)
from refbrowser.model.multiscales.multiscale import Multiscale
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.multiscale_words import picture_json, picture_lines
from refbrowser.views.plot.resolution import (
    LevelView,
    level_coordinates,
    level_node,
    level_roles,
    level_titles,
    may_stay,
    sufficient_level,
    turned_places,
)
from refbrowser.views.plot.slicing import first_slice

NUMBERS = st.one_of(
    st.integers(-(10**40), 10**40),
    st.floats(),
    st.sampled_from([0.0, 1.0, 2.0, 0.5, -1.0, 1e-320, 1e99, 1e300, 10**400, True, None, "1"]),
)
SANE = st.floats(0.5, 4.0)
LISTS = st.lists(SANE, min_size=2, max_size=3) | st.lists(SANE, min_size=6, max_size=6) | st.lists(NUMBERS)
LEVELS = st.sampled_from(["0", "1", "g/0", "g/1"])
PATHS = LEVELS | LEVELS | st.sampled_from(["2", "g", "", "/", "..", "7", "g/..", 5, None, []])
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def objects(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return objects with some of these members, or something else."""
    mixed = {name: st.one_of(each, each, each, ANYTHING) for name, each in members.items()}
    whole, some = st.fixed_dictionaries(mixed), st.fixed_dictionaries({}, optional=mixed)
    return st.one_of(whole, whole, some, ANYTHING)


TRANSFORMS = st.lists(
    objects(
        type=st.sampled_from(["scale", "translation", "identity", "affine"]), scale=LISTS, translation=LISTS
    ),
    max_size=3,
)
IMAGES = objects(
    axes=st.lists(
        objects(name=st.sampled_from("tczyx"), type=st.sampled_from(["space", "channel"])), max_size=4
    ),
    datasets=st.lists(objects(path=PATHS, coordinateTransformations=TRANSFORMS), min_size=2),
    coordinateTransformations=TRANSFORMS,
    name=st.text(max_size=5),
)
SPATIAL = {
    "spatial:dimensions": st.lists(st.sampled_from(["y", "x", "z", 3]), max_size=3),
    "spatial:transform": LISTS,
    "spatial:bbox": LISTS,
    "spatial:shape": LISTS,
    "spatial:registration": st.sampled_from(["node", "pixel", 3]),
    "proj:code": st.sampled_from(["EPSG:4326", "EPSG:32633", "", 3]),
    "proj:wkt2": st.text(max_size=20),
}
LAYOUT = st.lists(
    objects(asset=PATHS, derived_from=PATHS, transform=objects(scale=LISTS, translation=LISTS), **SPATIAL),
    max_size=4,
)
ATTRIBUTES = objects(
    multiscales=st.one_of(st.lists(IMAGES, max_size=2), objects(layout=LAYOUT)),
    ome=objects(multiscales=st.lists(IMAGES, max_size=2)),
    omero=objects(channels=st.lists(objects(label=st.text(max_size=3)), max_size=3)),
    labels=st.lists(PATHS, max_size=2),
    well=objects(images=st.lists(objects(path=PATHS), max_size=2)),
    geo=objects(proj=objects(transform=LISTS, code=st.text(max_size=9))),
    **SPATIAL,
).filter(lambda value: isinstance(value, dict))


def described(attributes: Any) -> Hierarchy:
    inner = group("/g", array("/g/0", (8, 8), ("y", "x")), array("/g/1", (4, 4)), array("/g/x", (8,), ("x",)))
    nodes = array("/0", (2, 8, 8), ("z", "y", "x")), array("/1", (2, 4, 4)), array("/2", (0, 2, 2))
    return hierarchy(attributes, *nodes, inner)


def use(image: Multiscale) -> None:
    """Do with an image what views do."""
    assert image.levels
    assert list(picture_lines(image))
    assert picture_json(image)
    assert len(level_titles(image)) == len(image.levels)
    for number, level in enumerate(image.levels):
        assert len(image.axes) == len(level.node.shape)
        coordinates = level_coordinates(image, number)
        for coordinate, size in zip(coordinates, level.node.shape, strict=True):
            if coordinate is not None and size:
                assert isinstance(coordinate.text(size - 1), str)
                assert coordinate.index_ticks(-0.5, size - 0.5, 4) is not None
        for place in turned_places(image, number):
            assert place.text((0,) * len(level.node.shape))
        node = level_node(image, number)
        state = first_slice(node, level_roles(image))
        window = tuple(range(0, state.shape[axis]) for axis in state.axes)
        view = LevelView(image, number, state, window)
        for other in range(len(image.levels)):
            moved = view.on(other)
            assert moved.window is not None
            for part, axis in zip(moved.window, state.axes, strict=True):
                assert 0 <= part.start <= part.stop <= moved.state.shape[axis]
        assert isinstance(may_stay(view, [1.0] * len(state.axes)), bool)
        assert sufficient_level(view, [1.0] * len(state.axes), lambda _: True) < len(image.levels)


@given(ATTRIBUTES)
def test_nothing_in_attributes_harms(attributes: dict[str, Any]) -> None:
    found = described(attributes)
    assert isinstance(found.root, GroupNode)
    for image in pictures_of(found.root).pictures:
        use(image)
    for finding in multiscale_findings(found):
        assert finding.message
    for node in found.walk():
        if isinstance(node, ArrayNode):
            image = multiscale_of(found, node)
            if image is not None:
                use(image)
    assert all(isinstance(path, str) for path in named_paths(attributes))


def test_a_level_that_is_told_to_lie_elsewhere_lies_over_the_others() -> None:
    levels = ome_level("0", (1.0, 1.0)), ome_level("1", (2.0, 2.0), 0.5, 99.0)
    found = hierarchy({"multiscales": [ome(*levels)]}, array("/0", (8, 8)), array("/1", (4, 4)))
    (finding,) = multiscale_findings(found)
    assert finding.code == "level-transform"
    assert finding.message == "/1 is told to lie outside of /0 along x"
    assert isinstance(found.root, GroupNode)
    (image,) = pictures_of(found.root).pictures
    assert [each.scale for each in image.index_maps(0, 1)] == [0.5, 0.5]
    assert image.index_maps(0, 1)[1].shift == -0.25
