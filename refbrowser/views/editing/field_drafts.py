"""What is typed in single fields: of an attribute, of a key in the table, of the prefix that is replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.views.editing.typed_input import Edited, fault

if TYPE_CHECKING:
    from refbrowser.engine.attribute_edits import AttributeChange
    from refbrowser.model.nodes import Node
    from refbrowser.references.content.content import Edit
    from refbrowser.references.content.url_prefixes import PrefixScope
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class AttributeDraft:
    """Name or value of an attribute being typed; its place is (path of the node, name).

    Attributes
    ----------
    name
        The name that is typed; None where the value is.
    text
        The value that is typed; None where the name of an attribute that is there is.
    old
        What the document has.
    """

    name: str | None
    text: str | None
    old: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether something else is typed than the document has."""
        return self.old != (self.name if self.text is None else self.text) or self.is_new

    @property
    def is_new(self) -> bool:
        """Whether the attribute is begun."""
        return self.name is not None and self.text is not None

    def words(self, at: tuple[str, str]) -> str:
        """Return what is being edited."""
        path = "" if at[0] == "/" else f" of {at[0]}"
        return f"a new attribute{path}" if self.is_new else f"attribute {at[1]}{path}"

    def edit(self, at: tuple[str, str], edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        from refbrowser.engine.attribute_edits import attributes_edit
        from refbrowser.engine.node_metadata import read_metadata

        hierarchy = edited.dataset.hierarchy
        node = hierarchy.find(at[0])
        if node is None or node.error is not None:
            raise fault(f"{self.words(at)}: there is no such group or array", "value")
        change = self._change(node, at)
        texts = read_metadata(edited.dataset, edited.document, node, edited.token)
        edit = attributes_edit(node, hierarchy.flavour, texts, change)
        if edit is None:
            raise fault(f"{self.words(at)}: its metadata cannot be edited", "value")
        return edit

    def _change(self, node: Node, at: tuple[str, str]) -> AttributeChange:
        from refbrowser.engine.attribute_edits import AttributeChange, type_of, value_in
        from refbrowser.references.text.typed_values import typed_value

        if self.name is not None:
            mistake = ""
            if self.name == "":
                mistake = "the attribute has no name"
            elif self.name != at[1] and self.name in {*node.attributes, *node.internal_attributes}:
                mistake = "an attribute of this name exists already"
            if mistake:
                raise fault(f"{self.words(at)}: {mistake}", "name", (0, len(self.name)))
        if self.text is None:
            return AttributeChange.renamed(at[1], str(self.name))
        try:
            if self.name is not None:
                return AttributeChange.added(self.name, typed_value(self.text))
            kind = type_of(node.attribute_types, at[1], node.attributes.get(at[1]))
            value = value_in(kind.name, self.text) if kind.recorded else typed_value(self.text)
        except RefbrowserError as error:
            column = error.place.column
            span = (0, len(self.text)) if column is None else (column - 1, column)
            raise fault(f"the value of {self.words(at)}: {error.message}", "value", span) from error
        return AttributeChange.of_value(at[1], value)

    def to_json(self, at: Any) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"name": self.name, "text": self.text, "old": self.old}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> AttributeDraft:
        """Return what `to_json` gave this value of."""
        return cls(value["name"], value["text"], str(value["old"]))


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """Another key typed over one in the table of references."""

    key: str
    old: str

    @property
    def is_changed(self) -> bool:
        """Whether it is another key."""
        return self.key != self.old

    def words(self, at: str) -> str:
        """Return what is being edited."""
        return f"key {at}"

    def edit(self, at: str, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        from refbrowser.references.edits.edits import RenameReference

        mistake = key_mistake(edited.document, self.key)
        if mistake:
            raise fault(f"key {at}: {mistake}", "key", (0, len(self.key)))
        return RenameReference(at, self.key)

    def to_json(self, at: Any) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"key": self.key}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> KeyDraft | None:
        """Return what `to_json` gave this value of; None where the document has no such key."""
        return None if document.refs.find_slot(at) is None else cls(str(value["key"]), str(at))


def key_mistake(document: Document | None, key: str) -> str:
    """Return why a key cannot be given to an entry, or nothing."""
    if not key:
        return "the key is empty"
    if document is None or document.refs.find_slot(key) is None:
        return ""
    return "a reference with this key exists already"


@dataclass(frozen=True, slots=True)
class PrefixDraft:
    """The beginning of URLs that is to be replaced; there is one at most."""

    old: str
    new: str
    scope: PrefixScope

    @property
    def is_changed(self) -> bool:
        """Whether there is something to replace."""
        return self.old != "" and self.old != self.new

    def words(self, at: None) -> str:
        """Return what is being edited."""
        return "the URL prefix to replace"

    def edit(self, at: None, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        from refbrowser.views.editing.prefix_changes import mistake_in, prefix_changes

        changes = prefix_changes(edited.document, self.old, self.new, self.scope, edited.token.check)
        if not changes.count:
            raise fault(f"no URL begins with {self.old}", "old", (0, len(self.old)))
        mistake = mistake_in(edited.document, changes)
        if mistake:
            raise fault(f"the new URL prefix: {mistake}", "new", (0, len(self.new)))
        return changes.edit

    def to_json(self, at: None) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        from refbrowser.references.document.journal import edit_to_json
        from refbrowser.references.edits.many_edits import ReplacePrefixIn

        return edit_to_json(ReplacePrefixIn(self.old, self.new, self.scope))

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> PrefixDraft | None:
        """Return what `to_json` gave this value of."""
        from refbrowser.references.document.journal import edit_from_json
        from refbrowser.references.edits.many_edits import ReplacePrefixIn

        try:
            edit = edit_from_json(value)
        except RefbrowserError:
            return None
        return cls(edit.old, edit.new, edit.scope) if isinstance(edit, ReplacePrefixIn) else None
