"""One change of many references."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.journal import _CLASSES, edit_from_json, edit_to_json
from refbrowser.references.edits import edits, many_edits, node_edits, outer_edits, url_moves
from refbrowser.references.edits import reference_changes as module
from refbrowser.references.edits.edits import SetReference
from refbrowser.references.edits.reference_changes import (
    AddNumber,
    ChangeReferences,
    ReferenceChange,
    ReplaceText,
    SetNumber,
    SetText,
    WholeFiles,
    values_at,
)


@pytest.mark.parametrize(
    ("change", "value", "after"),
    [
        (ReferenceChange(SetText("n")), ["u", 1, 2], ["n", 1, 2]),
        (ReferenceChange(ReplaceText("u", "{{v}}")), ["uu"], ["{{v}}{{v}}"]),
        (ReferenceChange(offset=AddNumber(-1)), ["u", 1, 2], ["u", 0, 2]),
        (ReferenceChange(offset=AddNumber(5)), ["u"], ["u"]),
        (ReferenceChange(length=WholeFiles()), ["u", 1, 2], ["u"]),
        (ReferenceChange(offset=SetNumber(3), length=SetNumber(4)), ["u"], ["u", 3, 4]),
        (ReferenceChange(SetText("n")), "inline", "inline"),
        (ReferenceChange(SetText("n")), {"a": 1}, {"a": 1}),
        (ReferenceChange(SetText("n")), ["u", "{{3 * 4}}", "7"], ["n", "{{3 * 4}}", "7"]),
    ],
)
def test_what_becomes_of_a_value(change: ReferenceChange, value: Any, after: Any) -> None:
    assert change.changed(value) == after


@pytest.mark.parametrize(
    ("change", "value", "words"),
    [
        (ReferenceChange(offset=AddNumber(-2)), ["u", 1, 2], "offset -1 would be below 0"),
        (ReferenceChange(ReplaceText("u", "")), ["u"], "URL would be empty"),
        (ReferenceChange(offset=SetNumber(3)), ["u"], "without length"),
        (ReferenceChange(offset=AddNumber(3)), ["u", "{{x}}", 2], "no number to add to"),
    ],
)
def test_what_cannot_be_is_refused(change: ReferenceChange, value: Any, words: str) -> None:
    with pytest.raises(RefbrowserError, match=words):
        change.changed(value)


TEXT = """{"version": 1, "refs": {
  "a" : ["f.bin" ,0, 10],  "b":[ "f.bin", 10,20 ],
  "c": "inline",
  "d": ["g.bin"], "e": ["f.bin", 30, 40]}}"""


@given(st.sets(st.integers(0, 5), min_size=1))
def test_only_the_chosen_ones_change_and_all_else_keeps_its_bytes(chosen: set[int]) -> None:
    document = SetReference("new", ["f.bin", 1, 2]).apply(ReferenceDocument.of(TEXT.encode()))
    runs = tuple((at, at + 1) for at in sorted(chosen))
    change = ReferenceChange(ReplaceText("f.bin", "moved/f.bin"))
    edit = ChangeReferences(runs, change)
    found = edit.apply(document)
    before, after = (json.loads(state.to_bytes())["refs"] for state in (document, found))
    assert after == {
        key: change.changed(value) if at in chosen else value
        for at, (key, value) in enumerate(before.items())
    }
    if chosen <= {2, 3}:
        assert found.to_bytes() == document.to_bytes()
    if 0 not in chosen:
        assert b'"a" : ["f.bin" ,0, 10],' in found.to_bytes()


def test_one_that_cannot_be_changed_leaves_all() -> None:
    document = ReferenceDocument.of(TEXT.encode())
    with pytest.raises(RefbrowserError):
        ChangeReferences(((0, 2),), ReferenceChange(offset=AddNumber(-5))).apply(document)
    with pytest.raises(RefbrowserError, match="do not exist"):
        ChangeReferences(((4, 9),), ReferenceChange()).apply(document)


def test_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHANGED", 2)
    with pytest.raises(RefbrowserError, match="more than 2 references"):
        ChangeReferences(((0, 3),), ReferenceChange()).apply(ReferenceDocument.of(TEXT.encode()))


def test_the_first_ones_are_shown() -> None:
    document = ReferenceDocument.of(TEXT.encode())
    assert values_at(document, ((1, 2), (3, 5)), 2) == [("b", ["f.bin", 10, 20]), ("d", ["g.bin"])]


@pytest.mark.parametrize(
    "change",
    [
        ReferenceChange(url=SetText("s3://b/x.nc")),
        ReferenceChange(url=ReplaceText("a", "b"), offset=AddNumber(-4), length=SetNumber(7)),
        ReferenceChange(length=WholeFiles()),
    ],
)
def test_a_change_is_kept_in_the_journal(change: ReferenceChange) -> None:
    edit = ChangeReferences(((0, 3), (5, 6)), change)
    kept = json.loads(json.dumps(edit_to_json(edit)))
    assert edit_from_json(kept) == edit
    for damaged in (
        {"url": ["SetNumber", 4]},
        {"url": ["SetText", 4]},
        {"url": []},
        {"size": ["SetText", "a"]},
        [1],
    ):
        with pytest.raises(RefbrowserError):
            edit_from_json({**kept, "change": damaged})


def test_every_edit_is_kept_in_the_journal() -> None:
    modules = (edits, many_edits, node_edits, url_moves, outer_edits, module)
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    kept = {kind.__name__ for kind in kinds if hasattr(kind, "apply") and is_dataclass(kind)}
    assert "ChangeReferences" in kept
    assert kept - {"Compound", "TextPatch"} <= set(_CLASSES)
