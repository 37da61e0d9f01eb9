"""Dimensions and the variables on them."""

from __future__ import annotations

from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy
from refbrowser.views import dimensions as dimension_uses
from refbrowser.views.attributes import fields_of
from refbrowser.views.dimensions import (
    declared_paths,
    dimension_at,
    dimension_path,
    is_coordinate,
    variables_of,
)


def array(path: str, *dimensions: tuple[str | None, int], paths: tuple[str | None, ...] = ()) -> ArrayNode:
    names, shape = tuple(name for name, _ in dimensions), tuple(size for _, size in dimensions)
    return ArrayNode(path=path, shape=shape, dimensions=names, dimension_paths=paths)


def dimensions(*pairs: tuple[str, int]) -> dict[str, Dimension]:
    return {name: Dimension(name, size) for name, size in pairs}


def hierarchy() -> Hierarchy:
    inner = [
        array("/g/x", ("x", 3)),
        array("/g/t", ("x", 3), ("y", 5)),
        array("/g/far", ("x", 4), paths=("/x",)),
        array("/g/none", (None, 4), ("x", 9)),
    ]
    group = GroupNode(path="/g", dimensions=dimensions(("x", 3)), arrays={node.name: node for node in inner})
    outer = [array("/x", ("x", 4)), array("/s")]
    root = GroupNode(
        dimensions=dimensions(("x", 4), ("y", 5), ("a/b", 2)),
        arrays={node.name: node for node in outer},
        groups={"g": group},
    )
    return Hierarchy(root=root, format="zarr-v2")


def test_coordinate_variables() -> None:
    assert is_coordinate(array("/g/x", ("x", 3)))
    assert not is_coordinate(array("/g/x", ("y", 3)))
    assert not is_coordinate(array("/g/x", ("x", 3), ("y", 2)))
    assert not is_coordinate(array("/s"))


def test_the_nearest_group_whose_length_fits_declares_a_dimension() -> None:
    found = hierarchy()
    paths = {node.path: declared_paths(found, node) for node in found.walk() if isinstance(node, ArrayNode)}
    assert paths == {
        "/x": ("/x",),
        "/s": (),
        "/g/x": ("/g/x",),
        "/g/t": ("/g/x", "/y"),
        "/g/far": ("/x",),
        "/g/none": (None, None),
    }


def test_a_dimension_by_its_full_name() -> None:
    found = hierarchy()
    group, dimension = dimension_at(found, "/g/x") or (None, None)
    assert group is not None
    assert (group.path, dimension) == ("/g", Dimension("x", 3))
    named = dimension_at(found, dimension_path("/", "a/b"))
    assert named is not None
    assert named[1].name == "a/b"
    assert dimension_at(found, "/g/y") is None
    assert dimension_at(found, "/no/x") is None


def test_variables_that_share_a_dimension() -> None:
    found = hierarchy()
    assert [node.path for node in variables_of(found, "/x").variables] == ["/x", "/g/far"]
    assert [node.path for node in variables_of(found, "/g/x").variables] == ["/g/x", "/g/t"]
    assert variables_of(found, "/a/b").count == 0


def test_many_are_counted_and_some_listed() -> None:
    arrays = {f"v{n}": array(f"/v{n}", ("x", 4)) for n in range(dimension_uses.LISTED + 5)}
    found = Hierarchy(root=GroupNode(dimensions=dimensions(("x", 4)), arrays=arrays), format="zarr-v2")
    use = variables_of(found, "/x")
    assert use.count == dimension_uses.LISTED + 5
    assert len(use.variables) == dimension_uses.LISTED


def test_fields_nested_and_with_dimensions() -> None:
    import numpy as np

    place = np.dtype([("lon", "<f8"), ("lat", ">f8", (2, 3))])
    dtype = np.dtype([("id", "S1"), ("place", place), ("raw", "V4"), ("name", "S5")])
    rows = [(row.path, row.type, row.words) for row in fields_of(dtype, 100)]
    assert rows == [
        ("id", "char", "byte 0"),
        ("place", "compound", "bytes 1 to 56"),
        ("place.lon", "double", "bytes 1 to 8"),
        ("place.lat", "double", "2×3 values, bytes 9 to 56"),
        ("raw", "opaque(4)", "bytes 57 to 60"),
        ("name", "string(5)", "bytes 61 to 65"),
    ]
    assert len(fields_of(dtype, 2)) == 3
