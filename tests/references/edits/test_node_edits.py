"""Groups, arrays and dimensions under other names, or deleted: keys, what repeats them, rules, undo."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.document.journal import edit_from_json, edit_to_json
from refbrowser.references.edits import node_edits
from refbrowser.references.edits.edits import Edit, SetReference
from refbrowser.references.edits.node_edits import DeleteNode, RenameDimension, RenameNode, name_fault

ARRAY = {"zarr_format": 2, "shape": [2]}
NAMED = {"_ARRAY_DIMENSIONS": ["t"], "units": "K"}
RULE = {"url": "s3://b/r.nc", "offset": "{{i}}", "length": "1", "dimensions": {"i": {"stop": 2}}}
DOCUMENT: dict[str, Any] = {
    "version": 1,
    "gen": [{"key": "g/r/{{i}}", **RULE}, {"key": "g/v.{{i}}", **RULE}],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        ".zmetadata": {"metadata": {"g/v/.zarray": ARRAY, "g/v/.zattrs": NAMED, "gv/.zarray": ARRAY}},
        "g/.zgroup": {"zarr_format": 2, "_nczarr_group": {"arrays": ["v", "t"], "groups": ["v2"]}},
        "g/v/.zarray": ARRAY,
        "g/v/.zattrs": NAMED,
        "g/v/0": ["s3://b/0.nc", 0, 10],
        "g/v/1": ["s3://b/0.nc", 10, 10],
        "g/t/.zarray": ARRAY,
        "g/t/.zattrs": {"_ARRAY_DIMENSIONS": ["t"]},
        "g/v2/0": ["s3://b/1.nc"],
        "gv/0": ["s3://b/2.nc"],
    },
}  # fmt: skip


def read(value: Any = DOCUMENT) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps(value, indent=1).encode())


def edited(edit: Edit, document: ReferenceDocument | None = None) -> Any:
    """Return a document after an edit as JSON; undo gives the bytes back, the journal the same edit."""
    before = document or read()
    history = History(before)
    after = history.apply(edit)
    assert history.undo().to_bytes() == before.to_bytes()
    assert (
        before.apply(edit_from_json(json.loads(json.dumps(edit_to_json(edit))))).to_bytes()
        == after.to_bytes()
    )
    return json.loads(after.to_bytes())


def test_an_array_is_renamed_with_its_keys_and_what_repeats_them() -> None:
    found = edited(RenameNode("g/v", "g/w"))
    assert list(found["refs"])[3:7] == ["g/w/.zarray", "g/w/.zattrs", "g/w/0", "g/w/1"]
    assert found["refs"]["g/w/1"] == ["s3://b/0.nc", 10, 10]
    assert list(found["refs"][".zmetadata"]["metadata"]) == ["g/w/.zarray", "g/w/.zattrs", "gv/.zarray"]
    assert found["refs"]["g/.zgroup"]["_nczarr_group"] == {"arrays": ["w", "t"], "groups": ["v2"]}
    assert found["gen"] == DOCUMENT["gen"]
    assert {"g/v2/0", "gv/0"} < found["refs"].keys()


def test_a_group_is_renamed_with_its_rules() -> None:
    found = edited(RenameNode("g", "group"))
    assert [rule["key"] for rule in found["gen"]] == ["group/r/{{i}}", "group/v.{{i}}"]
    assert not [key for key in found["refs"] if key.startswith("g/")]
    assert list(found["refs"][".zmetadata"]["metadata"]) == [
        "group/v/.zarray",
        "group/v/.zattrs",
        "gv/.zarray",
    ]


def test_what_was_edited_before_is_renamed_and_deleted_too() -> None:
    document = (
        read().apply(SetReference("g/v/2", ["s3://b/3.nc"])).apply(SetReference("g/v/0", ["s3://b/4.nc"]))
    )
    assert isinstance(document, ReferenceDocument)
    refs = edited(RenameNode("g/v", "g/w"), document)["refs"]
    assert (refs["g/w/0"], refs["g/w/2"]) == (["s3://b/4.nc"], ["s3://b/3.nc"])
    refs = edited(DeleteNode("g/v"), document)["refs"]
    assert not [key for key in refs if key.startswith("g/v/")]


def test_an_array_and_a_group_are_deleted() -> None:
    found = edited(DeleteNode("g/v"))
    assert list(found["refs"][".zmetadata"]["metadata"]) == ["gv/.zarray"]
    assert found["refs"]["g/.zgroup"]["_nczarr_group"] == {"arrays": ["t"], "groups": ["v2"]}
    assert len(found["gen"]) == 2
    found = edited(DeleteNode("g"))
    assert list(found["refs"]) == [".zgroup", ".zmetadata", "gv/0"]
    assert found["gen"] == []


def test_consolidated_metadata_of_version_3_follows() -> None:
    inner = {"zarr_format": 3, "node_type": "array"}
    root = {"node_type": "group", "consolidated_metadata": {"metadata": {"v": inner, "x": inner}}}
    document = read({"zarr.json": root, "v/zarr.json": inner, "v/c/0": ["a"], "x/zarr.json": inner})
    found = edited(RenameNode("v", "w"), document)
    assert list(found["zarr.json"]["consolidated_metadata"]["metadata"]) == ["w", "x"]
    found = edited(DeleteNode("v"), document)
    assert list(found["zarr.json"]["consolidated_metadata"]["metadata"]) == ["x"]
    assert list(found) == ["zarr.json", "x/zarr.json"]


def test_a_dimension_is_renamed_in_all_arrays_of_a_group() -> None:
    refs = edited(RenameDimension("g", "t", "time"))["refs"]
    assert refs["g/v/.zattrs"] == {**NAMED, "_ARRAY_DIMENSIONS": ["time"]}
    assert refs["g/t/.zattrs"]["_ARRAY_DIMENSIONS"] == ["time"]
    assert refs[".zmetadata"]["metadata"]["g/v/.zattrs"]["_ARRAY_DIMENSIONS"] == ["time"]
    v3 = {"v/zarr.json": {"node_type": "array", "dimension_names": ["t", None], "attributes": {"a": 1}}}
    found = edited(RenameDimension("", "t", "time"), read(v3))
    assert found["v/zarr.json"]["dimension_names"] == ["time", None]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (RenameNode("g/v", "g/t"), "already exists"),
        (RenameNode("gv", "g"), "already exists"),
        (RenameNode("g/t", "g/r"), "already exists"),
        (RenameNode("g", "g/inner"), "cannot be renamed"),
        (RenameNode("", "w"), "cannot be renamed"),
        (RenameNode("nothing", "w"), "there is nothing"),
        (RenameNode("g/v", "g/.zarray"), "Zarr uses it"),
        (DeleteNode(""), "the root group"),
        (DeleteNode("nothing"), "there is nothing"),
        (RenameDimension("", "none", "time"), "has a dimension"),
    ],
)
def test_what_cannot_be_done_is_refused(edit: Edit, words: str) -> None:
    with pytest.raises(RefbrowserError, match=words):
        read().apply(edit)


def test_rules_that_give_other_keys_as_well_are_left_to_the_user() -> None:
    each = {"url": "u", "dimensions": {"n": ["v", "w"], "i": {"stop": 2}}}
    document = read({"version": 1, "gen": [{"key": "{{n}}/{{i}}", **each}], "refs": {"v/.zarray": ARRAY}})
    for edit in (RenameNode("v", "x"), DeleteNode("v")):
        with pytest.raises(RefbrowserError, match="gen rule 0 gives keys"):
            document.apply(edit)


def test_more_keys_than_the_limit_are_not_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_edits, "MOST_RENAMED", 3)
    with pytest.raises(RefbrowserError, match="more than 3"):
        read().apply(RenameNode("g/v", "g/w"))
    assert read().apply(RenameNode("g/t", "g/w"))


@pytest.mark.parametrize("name", ["", "a/b", "..", "zarr.json", "__x", " a", "a\n"])
def test_names_that_cannot_be_used(name: str) -> None:
    assert name_fault(name)
    assert not name_fault("sea surface (2024)")
