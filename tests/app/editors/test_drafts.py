"""Pending edits follow their rule, template or reference while the document changes around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from editor_workplace import DOCUMENT, OTHER, RULE

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import Drafts, TemplateDraft, drafts_of
from refbrowser.references.edits.edits import (
    InsertRule,
    MoveRule,
    RemoveRule,
    RemoveTemplate,
    SetReference,
    SetRule,
    SetTemplate,
)
from refbrowser.views.editing.reference_draft import stored_draft
from refbrowser.views.editing.rule_draft import RuleDraft, rule_fields
from refbrowser.views.editing.typed_input import DraftKind

Open = Callable[..., OpenDocument]
FIRST = {**RULE, "key": "first/{{t}}"}


def typed(document: OpenDocument, index: int) -> RuleDraft:
    return RuleDraft.of(rule_fields(document.document, index)).with_text("length", "99")


def test_each_document_has_its_own(open_document: Open) -> None:
    one, other = open_document(), open_document()
    assert drafts_of(one) is drafts_of(one)
    assert drafts_of(one) is not drafts_of(other)


def test_the_count_is_told_when_it_changes(open_document: Open) -> None:
    document = open_document()
    drafts, told = drafts_of(document), []
    drafts.countChanged.connect(told.append)
    drafts.put_rule(0, typed(document, 0))
    drafts.put_rule(0, typed(document, 0).with_text("url", "x"))
    drafts.put_template(TemplateDraft("u", "new", "u", "era5"))
    drafts.put_reference("b", stored_draft(document.document, "b").with_kind("Text"))
    drafts.drop_rule(0)
    drafts.put_template(TemplateDraft("u", "era5", "u", "era5"))
    drafts.drop_reference("b")
    assert told == [1, 2, 3, 2, 1, 0]


def test_a_draft_moves_with_its_rule(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_rule(1, typed(document, 1))
    document.apply(InsertRule(0, FIRST))
    assert drafts.rule(1) is None
    assert drafts.rule(2).given == OTHER
    document.apply(MoveRule(2, 0))
    assert drafts.rule(0).given == OTHER
    document.undo()
    document.undo()
    assert drafts.rule(1).text("length") == "99"
    assert not drafts.rule_moved_on(1)


def test_a_draft_waits_for_its_rule_to_come_back(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_rule(0, typed(document, 0))
    document.apply(RemoveRule(0))
    assert drafts.count == 0
    assert drafts.rule(0) is None
    document.undo()
    assert drafts.rule(0).text("length") == "99"


def test_a_rule_that_changed_beneath_is_told(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_rule(0, typed(document, 0))
    document.apply(SetRule(0, {**RULE, "url": "changed.nc"}))
    assert drafts.rule_moved_on(0)
    assert drafts.rule(0).fields() == {**RULE, "url": "changed.nc", "length": "99"}


def test_a_draft_that_the_document_caught_up_with_is_gone(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_rule(0, typed(document, 0))
    drafts.put_template(TemplateDraft("u", "new", "u", "era5"))
    document.apply(SetRule(0, {**RULE, "length": "99"}))
    document.apply(SetTemplate("u", "new"))
    assert drafts.count == 0


def test_templates_and_references_wait_too(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_template(TemplateDraft("f", "new", "f", DOCUMENT["templates"]["f"]))  # type: ignore[index]
    document.apply(RemoveTemplate("f"))
    assert drafts.template("f") is None
    document.undo()
    assert drafts.template("f").text == "new"
    document.apply(SetTemplate("f", "other"))
    assert drafts.template("f").old_text == "other"
    assert drafts.template_moved_on("f")
    draft: Any = stored_draft(document.document, "c/0")
    drafts.put_reference("c/0", type(draft)("c/0", draft.kind, url="typed.nc", given=draft.given))
    document.apply(SetReference("c/0", ["elsewhere.nc"]))
    assert drafts.reference("c/0").value() == ["typed.nc"]
    assert drafts.reference_moved_on("c/0")


def test_nothing_is_left_when_the_document_closes(open_document: Open) -> None:
    document = open_document()
    drafts = drafts_of(document)
    drafts.put_rule(0, typed(document, 0))
    document.history = None
    document.documentChanged.emit()
    assert drafts.count == 0
    assert isinstance(drafts, Drafts)


def test_typing_that_does_not_fit_costs_itself_alone(open_document: Open) -> None:
    document = open_document()
    drafts, told = drafts_of(document), []
    drafts.restored.connect(lambda: told.append(drafts.field(DraftKind.ATTRIBUTE, ("/", "title"))))
    fits = {"kind": "attribute", "at": ["/", "title"], "draft": {"name": None, "text": "b", "old": "a"}}
    rule = typed(document, 0).to_json(0)
    broken = [
        None,
        {"kind": "nothing", "at": 0, "draft": {}},
        {"kind": "rule", "at": "first", "draft": rule},
        {"kind": "rule", "at": 99, "draft": rule},
        # It can be read; only its place is none.
        {**fits, "at": [["/"], "title"]},
        {**fits, "draft": []},
        {"kind": "template", "at": {"x": 1}, "draft": 7},
        {"kind": "key", "at": ["no"], "draft": {"key": "x"}},
        {"kind": "prefix", "at": None, "draft": {"edit": "x"}},
        {"kind": "metadata", "at": 3, "draft": {"text": 1}},
        {"kind": "reference", "at": [], "draft": {}},
    ]
    for value in broken:
        drafts.restore([value, fits])
    assert [draft.text for draft in told] == ["b"] * len(broken)
    assert drafts.field(DraftKind.ATTRIBUTE, ("/", "title")) is not None
