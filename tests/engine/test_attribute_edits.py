"""Edits of attributes: the types that NCZarr records beside them go along, in each of its ages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.engine.attribute_edits import AttributeChange, attributes_edit
from refbrowser.engine.node_metadata import MetadataPlace, MetadataText, Origin, attributes_key, metadata_keys
from refbrowser.formats.store_rules import EARLY_DRAFT, LATER_DRAFT
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode
from refbrowser.references.document.document import ReferenceDocument

NODE = ArrayNode(path="/a", shape=(2,), metadata_keys=("a/.zarray", "a/.zattrs"))


def edited(documents: dict[str, Any], change: AttributeChange, flavour: Flavour = Flavour.NCZARR) -> Any:
    """Return the documents after a change, as they then stand in the references."""
    refs = {key: json.dumps(value) for key, value in documents.items()}
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    texts = [MetadataText(MetadataPlace(key, Origin.INLINE), json=value) for key, value in documents.items()]
    edit = attributes_edit(NODE, flavour, texts, change)
    assert edit is not None
    assert edit.title == f"{change.title} of /a"
    changed = document.apply(edit)
    return {key: json.loads(changed.expansion.value(key) or b"") for key in documents}


def zattrs(member: str = "_nczarr_attr") -> dict[str, Any]:
    types = {"units": ">S1", "range": "<i2", "names": "|S1"}
    return {"units": "m", "range": [0, 1], "names": ["a", "b"], member: {"types": types, "other": 1}}


@pytest.mark.parametrize("member", ["_nczarr_attr", "_NCZARR_ATTR"])
class TestTypesInTheAttributes:
    def test_a_value_keeps_its_type(self, member: str) -> None:
        found = edited({"a/.zattrs": zattrs(member)}, AttributeChange.of_value("range", [2, 3]))["a/.zattrs"]
        assert found == {**zattrs(member), "range": [2, 3]}

    def test_the_length_of_a_string_follows(self, member: str) -> None:
        change = AttributeChange.of_value("names", ["äö", "c"])
        found = edited({"a/.zattrs": zattrs(member)}, change)["a/.zattrs"]
        assert found[member]["types"]["names"] == "|S4"

    def test_another_type(self, member: str) -> None:
        change = AttributeChange.of_type("range", [0.0, 1.0], "float")
        found = edited({"a/.zattrs": zattrs(member)}, change)["a/.zattrs"]
        assert found[member] == {"types": {"units": ">S1", "range": "<f4", "names": "|S1"}, "other": 1}
        assert found["range"] == [0.0, 1.0]

    def test_a_new_one_gets_the_type_of_its_value(self, member: str) -> None:
        found = edited({"a/.zattrs": zattrs(member)}, AttributeChange.added("n", 2**40))["a/.zattrs"]
        assert found["n"] == 2**40
        assert found[member]["types"]["n"] == "<i8"

    def test_name_and_type_go_together(self, member: str) -> None:
        renamed = edited({"a/.zattrs": zattrs(member)}, AttributeChange.renamed("range", "valid"))[
            "a/.zattrs"
        ]
        assert list(renamed) == ["units", "valid", "names", member]
        assert list(renamed[member]["types"].items()) == [
            ("units", ">S1"),
            ("valid", "<i2"),
            ("names", "|S1"),
        ]
        removed = edited({"a/.zattrs": zattrs(member)}, AttributeChange.removed("range"))["a/.zattrs"]
        assert "range" not in removed
        assert "range" not in removed[member]["types"]


@pytest.mark.parametrize("name", [".nczattrs", ".nczattr"])
def test_types_in_an_object_of_their_own(name: str) -> None:
    documents = {"a/.zattrs": {"units": "m"}, f"a/{name}": {"types": {"units": "<U1"}}}
    found = edited(documents, AttributeChange.renamed("units", "unit"))
    assert found == {"a/.zattrs": {"unit": "m"}, f"a/{name}": {"types": {"unit": "<U1"}}}
    found = edited(documents, AttributeChange.added("n", 1.5))
    assert found[f"a/{name}"]["types"] == {"units": "<U1", "n": "<f8"}


def test_types_are_begun_where_other_members_are() -> None:
    attributes = {"_nczarr_array": {"storage": "chunked"}}
    found = edited({"a/.zattrs": attributes}, AttributeChange.added("n", 1))["a/.zattrs"]
    assert found["_nczarr_attr"] == {"types": {"n": "<i4"}}
    plain = edited({"a/.zattrs": {}}, AttributeChange.added("n", 1), Flavour.ZARR_V2)["a/.zattrs"]
    assert plain == {"n": 1}


def test_attributes_of_the_drafts() -> None:
    group = GroupNode(path="/g/h")
    assert attributes_key(group, EARLY_DRAFT) == "meta/g/h.group.json"
    assert attributes_key(group, LATER_DRAFT) == "meta/root/g/h.group.json"
    assert attributes_key(GroupNode(), EARLY_DRAFT) == "root.group.json"
    node = ArrayNode(path="/a", metadata_keys=("meta/a.array.json",), format="zarr-v3")
    document = ReferenceDocument.of(b"{}")
    assert metadata_keys(document, node, EARLY_DRAFT) == ("meta/a.array.json",)
    text = MetadataText(
        MetadataPlace("meta/a.array.json", Origin.INLINE), json={"shape": [2], "attributes": {}}
    )
    edit = attributes_edit(node, EARLY_DRAFT, [text], AttributeChange.added("n", 1))
    assert edit is not None
    assert edit.edits[0].json == {"shape": [2], "attributes": {"n": 1}}


def test_a_document_that_is_not_known_is_not_edited() -> None:
    assert attributes_edit(NODE, Flavour.ZARR_V2, [], AttributeChange.removed("x")) is None
