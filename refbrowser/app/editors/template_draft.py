"""A template as it stands in the editor: name and text that need not be valid yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.app.editors.typed import Edited, fault

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class TemplateDraft:
    """A template being edited; `old_name` and `old_text` are what the document has.

    With another name what uses the template is renamed too, unless `renames_uses` is False.
    """

    name: str
    text: str
    old_name: str
    old_text: str
    renames_uses: bool = True

    @property
    def is_changed(self) -> bool:
        """Whether the editor shows something else than the document has."""
        return (self.name, self.text) != (self.old_name, self.old_text)

    def rebased(self, old_text: str) -> TemplateDraft:
        """Return what was typed on top of another text of the document."""
        text = self.text if self.text != self.old_text else old_text
        return replace(self, text=text, old_text=old_text)

    def words(self, at: str) -> str:
        """Return what is being edited."""
        return f"template {at}"

    def edit(self, at: str, edited: Edited) -> Any:
        """Return the edit, see `Draft.edit`."""
        from refbrowser.references.templates.templates import TemplateSet

        mistake = name_mistake(edited.document, self)
        if mistake:
            raise fault(f"the name of template {at}: {mistake}", "name", (0, len(self.name)))
        wrong = TemplateSet({self.name: self.text}).scope.faults.get(self.name)
        if wrong is not None and self.text != self.old_text:
            raise fault(f"the text of template {at}: {wrong.message}", "text", wrong.place.span)
        return template_edit(self)

    def to_json(self, at: str) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"name": self.name, "text": self.text, "renames_uses": self.renames_uses}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> TemplateDraft | None:
        """Return what `to_json` gave this value of; None where the document has no such template."""
        old = document.templates.templates.get(at)
        if old is None:
            return None
        name, text, renames = str(value["name"]), str(value["text"]), bool(value["renames_uses"])
        return cls(name, text, at, str(old), renames)


def name_mistake(document: Document, draft: TemplateDraft) -> str:
    """Return why a template cannot have the name that is typed, or nothing."""
    if draft.name == "":
        return "the template has no name"
    if draft.name == draft.old_name:
        return ""
    if draft.name in document.templates.texts:
        return "there is another template of this name"
    from refbrowser.references.templates.syntax import can_be_named

    if not draft.name.isidentifier():
        return "jinja cannot name it: letters, digits and _ only"
    if not can_be_named(draft.name):
        return "jinja takes this word for itself"
    # In a rule no name can be both.
    for number, rule in enumerate(document.rules):
        if draft.name in (name for name, _values in rule.dimensions):
            return f"gen rule {number} has a dimension of this name"
    return ""


def template_edit(draft: TemplateDraft) -> Any:
    """Return the edit of `references.edits` that a draft stands for."""
    from refbrowser.references.edits.edits import Compound
    from refbrowser.references.edits.many_edits import RenameTemplateAndUses
    from refbrowser.references.edits.outer_edits import RenameTemplate, SetTemplate

    edits: list[Any] = []
    if draft.name != draft.old_name:
        rename = RenameTemplateAndUses if draft.renames_uses else RenameTemplate
        edits.append(rename(draft.old_name, draft.name))
    if draft.text != draft.old_text:
        edits.append(SetTemplate(draft.name, draft.text))
    return edits[0] if len(edits) == 1 else Compound(f"Change template {draft.old_name}", tuple(edits))
