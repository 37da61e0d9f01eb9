"""Edits survive being written as JSON: the same edit, and so the same bytes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.journal import edit_from_json, edit_to_json
from refbrowser.references.edits import edits, many_edits, url_moves
from refbrowser.references.edits.text_patch import TextPatch, patch_between

TEXT = st.text(st.characters(), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(TEXT, JSON, max_size=4)
INDEX = st.integers(0, 5)
RUNS = st.lists(st.tuples(INDEX, INDEX), max_size=3).map(tuple)
SCOPE = st.builds(PrefixScope, st.sampled_from(ScopeKind), TEXT, INDEX, RUNS)
SIMPLE = st.one_of(
    st.builds(edits.AddTemplate, TEXT, TEXT),
    st.builds(edits.SetTemplate, TEXT, TEXT),
    st.builds(edits.RemoveTemplate, TEXT),
    st.builds(edits.RenameTemplate, TEXT, TEXT),
    st.builds(edits.SetRule, INDEX, FIELDS),
    st.builds(edits.InsertRule, INDEX, FIELDS),
    st.builds(edits.RemoveRule, INDEX),
    st.builds(edits.MoveRule, INDEX, INDEX),
    st.builds(edits.SetReference, TEXT, JSON),
    st.builds(edits.RemoveReference, TEXT),
    st.builds(edits.RenameReference, TEXT, TEXT),
    st.builds(edits.SetMetadata, TEXT, JSON),
    st.builds(edits.SetVersion, st.just(1)),
    st.builds(edits.ReplaceUrlPrefix, TEXT, TEXT, st.none() | st.lists(TEXT, max_size=3).map(tuple)),
    st.builds(many_edits.RemoveReferences, RUNS),
    st.builds(many_edits.CopyReferences, st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple)),
    st.builds(many_edits.ReplacePrefixIn, TEXT, TEXT, SCOPE),
    st.builds(url_moves.MoveUrls, TEXT, TEXT, TEXT, st.booleans()),
    st.builds(many_edits.SetReferences, st.lists(st.tuples(TEXT, JSON), max_size=3).map(tuple)),
    st.builds(TextPatch, TEXT, INDEX, INDEX, st.binary(max_size=8)),
)
EDITS = st.recursive(
    SIMPLE,
    lambda inner: st.builds(edits.Compound, TEXT, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)


def carried(edit: Any) -> Any:
    return edit_from_json(json.loads(json.dumps(edit_to_json(edit))))


@given(EDITS)
def test_an_edit_comes_back_the_same(edit: Any) -> None:
    assert carried(edit) == edit
    assert carried(edit).title == edit.title


def test_every_edit_has_a_form() -> None:
    for name in edits.__all__:
        kind = getattr(edits, name)
        if dataclasses.is_dataclass(kind):
            known = {"key": "k", "value": 1, "index": 0, "to": 1, "fields": {}, "keys": None, "version": 1}
            names = [field.name for field in dataclasses.fields(kind)]
            values = {field: () if field == "edits" else known.get(field, "t") for field in names}
            assert carried(kind(**values)) == kind(**values)


def test_what_has_no_form_is_refused() -> None:
    @dataclasses.dataclass(frozen=True)
    class SetRule:
        title: str = "another one of that name"

        def apply(self, document: Any) -> Any:
            return document

    with pytest.raises(TypeError):
        edit_to_json(SetRule())


@pytest.mark.slow
@given(JSON | st.dictionaries(st.sampled_from(["edit", "index", "fields", "keys", "title", "edits"]), JSON))
def test_foreign_values_are_refused(value: Any) -> None:
    with pytest.raises(RefbrowserError):
        edit_from_json(value)


@pytest.mark.parametrize(
    "value",
    [
        {"edit": "SetRule", "index": "0", "fields": {}},
        {"edit": "SetRule", "index": True, "fields": {}},
        {"edit": "SetRule", "index": 0, "fields": {}, "more": 1},
        {"edit": "RemoveRule"},
        {"edit": "ReplaceUrlPrefix", "old": "a", "new": "b", "keys": [1]},
        {"edit": "TextPatch", "title": "", "start": 0, "stop": 1, "data": "?"},
        {"edit": "RemoveReferences", "runs": [[0]]},
        {"edit": "RemoveReferences", "runs": [[True, 1]]},
        {"edit": "CopyReferences", "pairs": [["a", 1]]},
        {"edit": "ReplacePrefixIn", "old": "a", "new": "b", "scope": {"kind": "all"}},
        {
            "edit": "ReplacePrefixIn",
            "old": "a",
            "new": "b",
            "scope": {"kind": "some", "text": "", "number": 0, "runs": []},
        },
        {"edit": "__class__"},
        {"edit": "SetReferences", "values": [["k", 1, 2]]},
        {"edit": "SetReferences", "values": [[1, "v"]]},
    ],
)
def test_wrong_members_are_refused(value: Any) -> None:
    with pytest.raises(RefbrowserError):
        edit_from_json(value)


@given(st.dictionaries(TEXT, TEXT, max_size=3), st.dictionaries(TEXT, TEXT, max_size=3))
def test_a_patch_leads_from_any_document_to_any_other(old: Any, new: Any) -> None:
    before, after = (
        ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode()) for refs in (old, new)
    )
    patch = patch_between(before, after, "there")
    assert before.apply(patch).to_bytes() == after.to_bytes()
    assert len(patch.data) <= len(after.to_bytes())
