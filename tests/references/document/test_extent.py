"""What may be another between two states of a document: by key, or anything."""

from __future__ import annotations

import json

import pytest

from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.extent import EVERYTHING, KEYS, extent_of
from refbrowser.references.edits.edits import (
    Edit,
    RemoveReference,
    RenameReference,
    SetMetadata,
    SetReference,
    SetTemplate,
)

REFS = {".zgroup": '{"zarr_format": 2}', "a/0": ["u", 0, 4], "a/1": ["u", 4, 4], "b/c/0": ["u", 8, 4]}


def document() -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, "templates": {"t": "x"}, "refs": REFS}).encode())


@pytest.mark.parametrize(
    ("edits", "keys"),
    [
        ([SetReference("a/0", ["u", 1, 4])], {"a/0"}),
        ([SetReference("new", "text")], {"new"}),
        ([RemoveReference("a/1")], {"a/1"}),
        ([RenameReference("a/1", "a/7")], {"a/1", "a/7"}),
        ([SetReference("a/0", ["u", 1, 4]), SetReference("b/c/0", ["u", 9, 4])], {"a/0", "b/c/0"}),
    ],
)
def test_the_keys_of_edited_entries_both_ways(edits: list[Edit], keys: set[str]) -> None:
    before = after = document()
    for edit in edits:
        after = after.apply(edit)
    for extent in (extent_of(before, after), extent_of(after, before)):
        assert extent.keys == keys
        assert not extent.is_structure


def test_an_array_is_concerned_by_its_own_keys_alone() -> None:
    before = document()
    extent = extent_of(before, before.apply(SetReference("b/c/0", ["u", 9, 4])))
    assert [extent.concerns([path]) for path in ("/b/c", "/b", "/", "/a", "/b/cc")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert extent.concerns(["/a", "/b/c"])


@pytest.mark.parametrize("edit", [SetTemplate("t", "y"), SetMetadata(".zattrs", {"title": "x"})])
def test_metadata_and_templates_concern_the_structure(edit: Edit) -> None:
    before = document()
    assert extent_of(before, before.apply(edit)).is_structure


def test_values_of_templates_concern_everything() -> None:
    before = document()
    assert extent_of(before, before.with_template_values({"t": "z"})) == EVERYTHING


def test_very_many_keys_are_not_told_apart() -> None:
    before = after = document()
    for number in range(KEYS + 1):
        after = after.apply(SetReference(f"n/{number}", "text"))
    assert extent_of(before, after) == EVERYTHING


def test_a_text_that_was_read_anew_may_be_anything() -> None:
    assert extent_of(document(), document()) == EVERYTHING
