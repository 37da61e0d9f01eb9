"""What is typed in any editor and not applied: what all of it has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.edits.edits import SetMetadata


class DraftKind(StrEnum):
    """What is being edited."""

    RULE = "rule"
    TEMPLATE = "template"
    REFERENCE = "reference"
    METADATA = "metadata"
    ATTRIBUTE = "attribute"
    KEY = "key"
    PREFIX = "prefix"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Edited:
    """What typing is made an edit of, on a worker thread: the document as it is, and its dataset."""

    document: Document
    dataset: Dataset
    token: CancelToken


class Draft(Protocol):
    """What is typed in one place. `at` is that place: a number, a name, a key, of JSON's types."""

    @property
    def is_changed(self) -> bool:
        """Whether it is something else than the document has."""
        ...

    def words(self, at: Any) -> str:
        """Return what is being edited, as ``gen rule 0``."""
        ...

    def edit(self, at: Any, edited: Edited) -> Edit:
        """Return the edit of `references.edits` that it stands for.

        Raises
        ------
        RefbrowserError
            It is not valid: the place names the `field`, and the `span` of its text.
        """
        ...

    def to_json(self, at: Any) -> dict[str, Any]:
        """Return it as a value of JSON's types, for the journal; its class reads it with `from_json`."""
        ...


@dataclass(frozen=True, slots=True)
class Typed:
    """A draft and its place."""

    kind: DraftKind
    at: Any
    draft: Draft

    @property
    def words(self) -> str:
        """What is being edited."""
        return self.draft.words(self.at)

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types."""
        draft = self.draft.to_json(self.at)
        return {"kind": self.kind.value, "at": self.at, "words": self.words, "draft": draft}


@dataclass(frozen=True, slots=True)
class Refused:
    """Typing that is not valid, and why."""

    typed: Typed
    error: RefbrowserError


def fault(message: str, field: str, span: tuple[int, int] | None = None) -> RefbrowserError:
    """Return the error that a field of an editor is not valid."""
    from refbrowser.errors import ErrorKind, Place

    advice = "Correct it in the editor, or reset it there."
    return RefbrowserError(ErrorKind.USAGE, message, Place(field=field, span=span), advice)


def named(typed: Sequence[Typed]) -> str:
    """Return in words what was typed: the first few by name."""
    words = [one.words for one in typed]
    if len(words) > 3:
        return f"{', '.join(words[:2])} and {len(words) - 2} more"
    return " and ".join(words) if len(words) < 3 else f"{words[0]}, {words[1]} and {words[2]}"


@dataclass(frozen=True, slots=True)
class MetadataDraft:
    """The text for a metadata key, and the text that the document has, laid out."""

    key: str
    text: str
    old_text: str

    @property
    def is_changed(self) -> bool:
        """Whether the editor shows something else than the document has."""
        return self.text != self.old_text

    def words(self, at: str) -> str:
        """Return what is being edited."""
        return f"the JSON of {at}"

    def edit(self, at: str, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        try:
            return metadata_edit(self)
        except RefbrowserError as error:
            place = (
                "" if error.place.line is None else f"line {error.place.line}, column {error.place.column}: "
            )
            raise fault(f"{self.words(at)}: {place}{error.message}", "json", error.place.span) from error

    def to_json(self, at: str) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"text": self.text, "old_text": self.old_text}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> MetadataDraft | None:
        """Return what `to_json` gave this value of."""
        return cls(str(at), str(value["text"]), str(value["old_text"]))


def metadata_edit(draft: MetadataDraft) -> SetMetadata:
    """Return the edit that a draft stands for.

    Raises
    ------
    RefbrowserError
        `E_JSON`: the text is not JSON. `E_USAGE`: it is not an object.
    """
    from refbrowser.errors import ErrorKind
    from refbrowser.references.edits.edits import SetMetadata
    from refbrowser.references.text.typed_values import parsed

    value = parsed(draft.text)
    if not isinstance(value, dict):
        raise RefbrowserError(ErrorKind.USAGE, "metadata is an object: { … }")
    return SetMetadata(draft.key, value)


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

    def edit(self, at: str, edited: Edited) -> Edit:
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
        return "a template of this name exists already"
    from refbrowser.references.templates.syntax import can_be_named

    if not draft.name.isidentifier():
        return "Jinja allows letters, digits and _ only"
    if not can_be_named(draft.name):
        return "this word is reserved in Jinja"
    # In a rule no name can be both.
    for number, rule in enumerate(document.rules):
        if draft.name in (name for name, _values in rule.dimensions):
            return f"gen rule {number} has a dimension of this name"
    return ""


def template_edit(draft: TemplateDraft) -> Edit:
    """Return the edit of `references.edits` that a draft stands for."""
    from refbrowser.references.edits.edits import Compound
    from refbrowser.references.edits.many_edits import RenameTemplateAndUses
    from refbrowser.references.edits.outer_edits import RenameTemplate, SetTemplate

    edits: list[Edit] = []
    if draft.name != draft.old_name:
        rename = RenameTemplateAndUses if draft.renames_uses else RenameTemplate
        edits.append(rename(draft.old_name, draft.name))
    if draft.text != draft.old_text:
        edits.append(SetTemplate(draft.name, draft.text))
    return edits[0] if len(edits) == 1 else Compound(f"Change template {draft.old_name}", tuple(edits))
