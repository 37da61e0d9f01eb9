"""Edits that are typed and not applied, kept while the user looks at something else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.errors import RefbrowserError
from refbrowser.views.editing.field_drafts import AttributeDraft, KeyDraft, PrefixDraft
from refbrowser.views.editing.reference_draft import ReferenceDraft, stored_draft
from refbrowser.views.editing.rule_draft import RuleDraft, rule_fields
from refbrowser.views.editing.text_draft import TextDraft
from refbrowser.views.editing.typed_input import Draft as AnyDraft
from refbrowser.views.editing.typed_input import (
    DraftKind,
    Edited,
    MetadataDraft,
    Refused,
    TemplateDraft,
    Typed,
)

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document


logger = logging.getLogger(__name__)

Draft = TypeVar("Draft")
#: What reads the drafts of each kind that a journal kept.
_CLASSES: dict[DraftKind, Any] = {
    DraftKind.RULE: RuleDraft,
    DraftKind.TEMPLATE: TemplateDraft,
    DraftKind.REFERENCE: ReferenceDraft,
    DraftKind.METADATA: MetadataDraft,
    DraftKind.ATTRIBUTE: AttributeDraft,
    DraftKind.KEY: KeyDraft,
    DraftKind.PREFIX: PrefixDraft,
    DraftKind.TEXT: TextDraft,
}


@dataclass(slots=True)
class _RuleEntry:
    """A rule's draft; `index` is None while the document has no such rule (its removal may be undone)."""

    index: int | None
    draft: RuleDraft
    moved_on: bool = False


@dataclass(slots=True)
class _NamedEntry(Generic[Draft]):
    """A draft by the name that the document has; not `is_there` while the document has none of that name."""

    draft: Draft
    is_there: bool = True
    moved_on: bool = False


class Drafts(QObject):
    """The pending edits of one document: of each rule, template, reference, metadata document and field.

    When the document changes under them (undo, redo, another edit), what was typed stays and is put on top
    of what the document has now (`moved_on` tells the editor to say so).

    Signals
    -------
    countChanged(int)
        The number of pending edits is another one.
    applied(object)
        A step of the history was made of these (`Typed`), wherever they were typed.
    restored()
        What an earlier process left was put back.
    """

    countChanged = Signal(int)
    applied = Signal(object)
    restored = Signal()

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self._rules: list[_RuleEntry] = []
        self._templates: dict[str, _NamedEntry[TemplateDraft]] = {}
        self._references: dict[str | None, _NamedEntry[ReferenceDraft]] = {}
        self._metadata: dict[str, MetadataDraft] = {}
        self._fields: dict[tuple[DraftKind, Any], AnyDraft] = {}
        self._before = document.document
        self._told = 0
        document.documentChanged.connect(self._rebase)
        document.journal.typedRestored.connect(self.restore)

    @property
    def count(self) -> int:
        """How many places have pending edits."""
        return len(self.all())

    def all(self) -> list[Typed]:
        """Return every pending edit, in the order to apply them in: names that change come last."""
        found = [Typed(DraftKind.RULE, index, draft) for index, draft in self._known_rules()]
        for key, reference in self._references.items():
            if reference.is_there:
                found.append(Typed(DraftKind.REFERENCE, key, reference.draft))
        found += [Typed(DraftKind.METADATA, key, draft) for key, draft in self._metadata.items()]
        found += [Typed(kind, at, draft) for (kind, at), draft in self._fields.items()]
        for name, template in self._templates.items():
            if template.is_there:
                found.append(Typed(DraftKind.TEMPLATE, name, template.draft))
        return found

    def clear(self) -> None:
        """Forget all that was typed."""
        self._rules = []
        self._templates = {}
        self._references = {}
        self._metadata = {}
        self._fields = {}
        self._tell()

    def drop(self, typed: Typed) -> None:
        """Forget one pending edit, unless it is another one by now."""
        if typed not in self.all():
            return
        if typed.kind is DraftKind.RULE:
            self.drop_rule(typed.at)
        elif typed.kind is DraftKind.TEMPLATE:
            self.drop_template(typed.at)
        elif typed.kind is DraftKind.REFERENCE:
            self.drop_reference(typed.at)
        elif typed.kind is DraftKind.METADATA:
            self.drop_metadata(typed.at)
        else:
            self.drop_field(typed.kind, typed.at)

    def restore(self, values: Iterable[Any]) -> None:
        """Put back what `Typed.to_json` gave these values of; what does not fit the document is left out."""
        document = self._document.document
        if document is None:
            return
        for value in values:
            try:
                kind = DraftKind(value["kind"])
                draft = _CLASSES[kind].from_json(value["at"], value["draft"], document)
                if draft is not None:
                    self._put(kind, value["at"], draft)
            except (AttributeError, LookupError, TypeError, ValueError, RefbrowserError):
                logger.warning("the text in an editor does not fit the document", exc_info=True)
        self.restored.emit()

    def _put(self, kind: DraftKind, at: Any, draft: Any) -> None:
        if kind is DraftKind.RULE:
            self.put_rule(at, draft)
        elif kind is DraftKind.TEMPLATE:
            self.put_template(draft)
        elif kind is DraftKind.REFERENCE:
            self.put_reference(at, draft)
        elif kind is DraftKind.METADATA:
            self.put_metadata(draft)
        else:
            self.put_field(kind, at, draft)

    # Fields: of attributes, of keys, of the prefix that is replaced

    def field(self, kind: DraftKind, at: Any) -> AnyDraft | None:
        """Return what is typed in the field of a place, or None."""
        return self._fields.get((kind, _hashable(at)))

    def put_field(self, kind: DraftKind, at: Any, draft: AnyDraft) -> None:
        """Keep what is typed in a field; a draft that says what the document says is dropped."""
        if draft.is_changed:
            self._fields[kind, _hashable(at)] = draft
            self._tell()
        else:
            self.drop_field(kind, at)

    def drop_field(self, kind: DraftKind, at: Any) -> None:
        """Forget what was typed in a field."""
        if self._fields.pop((kind, _hashable(at)), None) is not None:
            self._tell()

    # Rules

    def _known_rules(self) -> list[tuple[int, RuleDraft]]:
        return [(entry.index, entry.draft) for entry in self._rules if entry.index is not None]

    def rule(self, index: int) -> RuleDraft | None:
        """Return the pending edit of a rule, or None."""
        entry = self._rule_entry(index)
        return None if entry is None else entry.draft

    def rule_moved_on(self, index: int) -> bool:
        """Whether the document's rule changed since the edit was begun."""
        entry = self._rule_entry(index)
        return entry is not None and entry.moved_on

    def put_rule(self, index: int, draft: RuleDraft) -> None:
        """Keep what was typed; a draft that says what the document says is dropped."""
        entry = self._rule_entry(index)
        if not draft.is_changed:
            if entry is not None:
                self._rules.remove(entry)
        elif entry is None:
            self._rules.append(_RuleEntry(index, draft))
        else:
            entry.draft = draft
        self._tell()

    def drop_rule(self, index: int) -> None:
        """Forget what was typed for a rule."""
        self._rules = [entry for entry in self._rules if entry.index != index]
        self._tell()

    def _rule_entry(self, index: int) -> _RuleEntry | None:
        return next((entry for entry in self._rules if entry.index == index), None)

    # Templates

    def template(self, name: str) -> TemplateDraft | None:
        """Return the pending edit of the template that the document calls `name`, or None."""
        entry = self._templates.get(name)
        return entry.draft if entry is not None and entry.is_there else None

    def template_moved_on(self, name: str) -> bool:
        """Whether the document's text changed since the edit was begun."""
        entry = self._templates.get(name)
        return entry is not None and entry.moved_on

    def put_template(self, draft: TemplateDraft) -> None:
        """Keep what was typed; a draft that says what the document says is dropped."""
        if not draft.is_changed:
            self._templates.pop(draft.old_name, None)
        elif draft.old_name in self._templates:
            self._templates[draft.old_name].draft = draft
        else:
            self._templates[draft.old_name] = _NamedEntry(draft)
        self._tell()

    def drop_template(self, name: str) -> None:
        """Forget what was typed for a template."""
        self._templates.pop(name, None)
        self._tell()

    # References

    def reference(self, key: str | None) -> ReferenceDraft | None:
        """Return the pending edit of the reference that the document calls `key`; None is a new one."""
        entry = self._references.get(key)
        return entry.draft if entry is not None and entry.is_there else None

    def reference_moved_on(self, key: str | None) -> bool:
        """Whether the document's value changed since the edit was begun."""
        entry = self._references.get(key)
        return entry is not None and entry.moved_on

    def put_reference(self, key: str | None, draft: ReferenceDraft) -> None:
        """Keep what was typed; a draft that says what the document says is dropped."""
        if not draft.is_changed and draft.key == key:
            self._references.pop(key, None)
        elif key in self._references:
            self._references[key].draft = draft
        else:
            self._references[key] = _NamedEntry(draft)
        self._tell()

    def drop_reference(self, key: str | None) -> None:
        """Forget what was typed for a reference."""
        self._references.pop(key, None)
        self._tell()

    # Metadata

    def metadata(self) -> list[MetadataDraft]:
        """Return the pending edits of metadata documents."""
        return list(self._metadata.values())

    def metadata_of(self, key: str) -> MetadataDraft | None:
        """Return the pending edit of the metadata document under a key, or None."""
        return self._metadata.get(key)

    def put_metadata(self, draft: MetadataDraft) -> None:
        """Keep what was typed; a draft that says what the document says is dropped."""
        if draft.is_changed:
            self._metadata[draft.key] = draft
        else:
            self._metadata.pop(draft.key, None)
        self._tell()

    def drop_metadata(self, key: str) -> None:
        """Forget what was typed for a metadata document."""
        self._metadata.pop(key, None)
        self._tell()

    # The document changed

    def _rebase(self) -> None:
        document, before = self._document.document, self._before
        self._before = document
        if self._rules:
            rules, old = _rule_fields(document), _rule_fields(before)
            for entry in self._rules:
                _rebase_rule(entry, rules, old)
            self._rules = [entry for entry in self._rules if entry.draft.is_changed]
        if document is not None:
            self._rebase_templates(document.templates.templates)
            self._rebase_references(document)
        self._tell()

    def _rebase_templates(self, texts: Mapping[str, str]) -> None:
        for name, entry in list(self._templates.items()):
            entry.is_there = name in texts
            if entry.is_there and texts[name] != entry.draft.old_text:
                entry.draft = entry.draft.rebased(texts[name])
                entry.moved_on = True
                if not entry.draft.is_changed:
                    del self._templates[name]

    def _rebase_references(self, document: Document) -> None:
        for key, entry in list(self._references.items()):
            if key is None:
                continue
            stored = stored_draft(document, key)
            entry.is_there = stored is not None
            if stored is not None and stored.given != entry.draft.given:
                entry.draft = entry.draft.rebased(stored)
                entry.moved_on = True
                if not entry.draft.is_changed and entry.draft.key == key:
                    del self._references[key]

    def _tell(self) -> None:
        count = self.count
        if count != self._told:
            self._told = count
            self.countChanged.emit(count)
        self._document.journal.keep_typed(self.all())


def _rule_fields(document: Document | None) -> list[Any]:
    return [] if document is None else [rule_fields(document, at) for at in range(len(document.rule_nodes))]


def _rebase_rule(entry: _RuleEntry, rules: list[Any], before: list[Any]) -> None:
    """Find the rule that a draft was begun from, also where rules before it were added or removed."""
    given, index = entry.draft.given, entry.index
    at_place = rules[index] if index is not None and index < len(rules) else None
    if at_place == given:
        return
    same = [number for number, fields in enumerate(rules) if fields == given]
    if same:
        nearest = index or 0
        entry.index = min(same, key=lambda number: abs(number - nearest))
    elif at_place is not None and at_place not in before:
        entry.draft = entry.draft.rebased(at_place)
        entry.moved_on = True
    else:
        entry.index = None


def _hashable(at: Any) -> Any:
    """Return a place as a journal gives it back (as a list) in the form in which it is kept."""
    return tuple(at) if isinstance(at, list) else at


def drafts_of(document: OpenDocument) -> Drafts:
    """Return the pending edits of an opened document; they live as long as it does."""
    found = document.findChild(Drafts)
    if isinstance(found, Drafts):
        return found
    drafts = Drafts(document)
    drafts.countChanged.connect(document.set_draft_count)
    return drafts


@dataclass(frozen=True, slots=True)
class _Made:
    """One edit of all that is valid, the document with it, what was applied, and what is not valid."""

    edit: Edit
    document: Document
    applied: tuple[Typed, ...]
    refused: tuple[Refused, ...]


def apply_typed(
    opened: OpenDocument,
    done: Callable[[tuple[Typed, ...], tuple[Refused, ...]], object],
    failed: Callable[[BaseException], None],
) -> None:
    """Make one step of the history of all that is typed and valid; `done` gets that, and what is not.

    Where the document changes meanwhile it is tried again.
    """
    drafts = drafts_of(opened)
    typed, before, dataset, history = drafts.all(), opened.document, opened.dataset, opened.history
    if not typed or before is None or dataset is None or history is None:
        done((), ())
        return

    def make(control: TaskControl) -> _Made:
        return _made(Edited(before, dataset, control.token), typed)

    def made(result: _Made) -> None:
        if opened.history is not history or opened.document is not before:
            apply_typed(opened, done, failed)
            return
        for one in result.applied:
            # First: what the step renames would else be kept for when that is undone.
            drafts.drop(one)
        if result.document is not before:
            opened.take_step(result.edit, result.document)
        drafts.applied.emit(result.applied)
        done(result.applied, result.refused)

    title = f"Apply what is typed in {opened.title}"
    opened.tasks.run(opened.owner("typed"), title, make, made, failed)


def _made(edited: Edited, typed: Sequence[Typed]) -> _Made:
    from refbrowser.references.edits.edits import Compound

    edits: list[Edit] = []
    applied: list[Typed] = []
    left = list(typed)
    refused: list[Refused] = []
    while left:
        refused, before = [], len(applied)
        for one in left:
            try:
                edit = one.draft.edit(one.at, edited)
                edited = replace(edited, document=edited.document.apply(edit))
            except RefbrowserError as error:
                refused.append(Refused(one, error))
                continue
            edits.append(edit)
            applied.append(one)
        left = [each.typed for each in refused]
        if len(applied) == before:
            break
        # Again: what was applied may be what the others name.
    edit = edits[0] if len(edits) == 1 else Compound("Apply all that was typed", tuple(edits))
    return _Made(edit, edited.document, tuple(applied), tuple(refused))
