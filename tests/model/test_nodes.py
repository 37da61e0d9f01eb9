"""Nodes that are made from others."""

from dataclasses import fields, replace

from refbrowser.model.nodes import ArrayNode, changed_array


def test_a_changed_array_is_what_replace_makes() -> None:
    node = ArrayNode(path="/a", shape=(3,), attributes={"units": "K"}, metadata_keys=("a/.zarray",))
    changes = {"dimensions": ("x",), "dimension_paths": ("/x",), "metadata_keys": ("b",)}
    found, expected = changed_array(node, **changes), replace(node, **changes)
    assert found is not node
    for each in fields(ArrayNode):
        assert getattr(found, each.name) is getattr(expected, each.name)
