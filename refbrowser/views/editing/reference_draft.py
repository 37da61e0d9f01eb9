"""An entry of `refs` being edited, and the preview of it beside what the document has."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.reference_values import BASE64_PREFIX, decode_base64, decode_inline
from refbrowser.views.editing.preview import (
    NOT_THERE,
    CheckReport,
    Pace,
    PreviewCells,
    PreviewChange,
    PreviewMark,
    PreviewRow,
    PreviewTally,
    faulty,
)
from refbrowser.views.editing.range_ends import RangeEnds
from refbrowser.views.editing.rule_draft import integer, is_integer, json_text
from refbrowser.views.editing.typed_input import Edited, fault

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.model.reference import Reference
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.templates.templates import TemplateSet


#: An inline value longer than this is not put into the field, in bytes of JSON.
EDITED_BYTES = 64 * 1024
#: Stands for a value that is not held because it is long.
TOO_LONG = object()


class ReferenceKind(StrEnum):
    """What a value of `refs` is, in the words of the editor."""

    TEXT = "Text"
    BASE64 = "Base64"
    WHOLE = "Whole file"
    RANGE = "Byte range"
    OTHER = "Other JSON"


@dataclass(frozen=True, slots=True)
class ReferenceDraft:
    """Key and value of a reference being edited.

    Attributes
    ----------
    text
        The text, the base64 digits after ``base64:``, or the JSON of a value of another kind.
    given
        The value before it was edited, None for a new reference.
    """

    key: str
    kind: ReferenceKind = ReferenceKind.RANGE
    text: str = ""
    url: str = ""
    offset: str = ""
    length: str = ""
    given: Any = field(default=None, compare=False)

    @classmethod
    def of(cls, key: str, value: Any) -> ReferenceDraft:
        """Return the draft of a member of `refs`."""
        if isinstance(value, str):
            if value.startswith(BASE64_PREFIX):
                return cls(key, ReferenceKind.BASE64, text=value.removeprefix(BASE64_PREFIX), given=value)
            return cls(key, ReferenceKind.TEXT, text=value, given=value)
        if isinstance(value, list) and len(value) in (1, 3) and isinstance(value[0], str):
            if len(value) == 1:
                return cls(key, ReferenceKind.WHOLE, url=value[0], given=value)
            offset, length = json_text(value[1]), json_text(value[2])
            return cls(key, ReferenceKind.RANGE, url=value[0], offset=offset, length=length, given=value)
        return cls(key, ReferenceKind.OTHER, text=json_text(value), given=value)

    @classmethod
    def too_long(cls, key: str, beginning: str) -> ReferenceDraft:
        """Return the draft of a value of which only the beginning of the JSON is shown."""
        return cls(key, ReferenceKind.OTHER, text=f"{beginning}…", given=TOO_LONG)

    @property
    def is_editable(self) -> bool:
        """Whether the value can be edited as it is; otherwise only another kind can replace it."""
        return self.kind is not ReferenceKind.OTHER

    @property
    def has_url(self) -> bool:
        """Whether the reference points to a file."""
        return self.kind in (ReferenceKind.RANGE, ReferenceKind.WHOLE)

    def with_kind(self, kind: ReferenceKind) -> ReferenceDraft:
        """Return the draft as another kind; what the kinds share stays."""
        return replace(self, kind=kind, text="" if self.kind is ReferenceKind.OTHER else self.text)

    @property
    def is_changed(self) -> bool:
        """Whether the value is another one than before; the key is compared by the editor."""
        if self.given is TOO_LONG:
            return self.kind is not ReferenceKind.OTHER
        return self.given is None or replace(ReferenceDraft.of(self.key, self.given), key=self.key) != self

    def rebased(self, given: ReferenceDraft) -> ReferenceDraft:
        """Return what was typed on top of another value of the document."""
        if self.is_changed:
            return replace(self, given=given.given)
        return replace(given, key=self.key)

    def value(self) -> Any:
        """Return the JSON value; a text that spells no integer stays text, for the document to report."""
        if not self.is_changed:
            return self.given
        if self.kind is ReferenceKind.TEXT:
            return self.text
        if self.kind is ReferenceKind.BASE64:
            return BASE64_PREFIX + self.text
        if self.kind is ReferenceKind.WHOLE:
            return [self.url]
        if self.kind is ReferenceKind.RANGE:
            return [self.url, self._number("offset"), self._number("length")]
        return self.given

    def _number(self, member: str) -> Any:
        text: str = getattr(self, member)
        position = 1 if member == "offset" else 2
        given = self.given
        if isinstance(given, list) and len(given) == 3 and json_text(given[position]) == text:
            return given[position]
        number = integer(text)
        return text if number is None else number

    def mistakes(self) -> dict[str, str]:
        """Return what cannot be written: field (`key`, `text`, `url`, `offset`, `length`) to reason."""
        found = {}
        if self.key == "":
            found["key"] = "the key is empty"
        if self.kind is ReferenceKind.TEXT and self.text.startswith(BASE64_PREFIX):
            found["text"] = "a value that begins with base64: is not plain text; choose Base64"
        if self.kind is ReferenceKind.BASE64 and (reason := base64_mistake(self.text)):
            found["text"] = reason
        if self.has_url and self.url.strip() == "":
            found["url"] = "the URL is empty"
        if self.kind is ReferenceKind.RANGE:
            for member in ("offset", "length"):
                number = self._number(member)
                if not is_integer(number):
                    found[member] = f"the {member} is an integer not below 0"
                elif number < 0:
                    found[member] = f"the {member} is below 0"
        return found

    def mistakes_in(self, document: Document, at: str | None) -> dict[str, str]:
        """Return what cannot be written as the entry of a key (None for a new one) of a document."""
        found = self.mistakes()
        if self.key != at and document.refs.find(self.key) is not None:
            found["key"] = "a reference with this key exists already"
        return found

    # Typed and not applied, see `Draft`

    def words(self, at: str | None) -> str:
        """Return what is being edited."""
        return "a new reference" if at is None else f"reference {at}"

    def edit(self, at: str | None, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        document = edited.document
        for name, reason in self.mistakes_in(document, at).items():
            raise fault(f"{self.words(at)}: {reason}", name, (0, len(getattr(self, name))))
        before = ReferenceDraft("") if self.given in (None, TOO_LONG) else ReferenceDraft.of("", self.given)
        if self.has_url and self.url != before.url:
            try:
                document.templates.render(self.url)
            except RefbrowserError as error:
                raise fault(
                    f"the URL of {self.words(at)}: {error.message}", "url", error.place.span
                ) from error
        return reference_edit(at, self)

    def to_json(self, at: str | None) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        members = ("key", "text", "url", "offset", "length")
        return {"of": self.kind.value, **{name: getattr(self, name) for name in members}}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> ReferenceDraft | None:
        """Return what `to_json` gave this value of; None where the document has no such key."""
        stored = cls("") if at is None else stored_draft(document, at)
        if stored is None:
            return None
        texts = {name: str(value[name]) for name in ("key", "text", "url", "offset", "length")}
        return cls(kind=ReferenceKind(value["of"]), given=stored.given, **texts)


def stored_draft(document: Document, key: str) -> ReferenceDraft | None:
    """Return the draft of the entry that counts for a key, None where `refs` has none."""
    slot = document.refs.find_slot(key)
    if slot is None:
        return None
    raw = document.refs.value_beginning(slot, EDITED_BYTES + 1)
    if len(raw) > EDITED_BYTES:
        return ReferenceDraft.too_long(key, raw[:EDITED_BYTES].decode("utf-8", "replace"))
    value = json.loads(raw)
    if isinstance(value, list) and value and isinstance(value[0], str):
        value[0] = document.shown_url(value[0])
    return ReferenceDraft.of(key, value)


def base64_mistake(text: str) -> str:
    """Return why a text is not base64, or an empty text."""
    try:
        decode_base64(text)
    except ValueError as error:
        return f"not base64: {error}"
    return ""


def reference_edit(key: str | None, draft: ReferenceDraft) -> Edit:
    """Return the edit of `references.edits` that turns the entry of `key` into the draft."""
    from refbrowser.references.edits.edits import Compound, RenameReference, SetReference

    edits: list[Edit] = []
    if key is not None and draft.key != key:
        edits.append(RenameReference(key, draft.key))
    if draft.is_changed:
        edits.append(SetReference(draft.key, draft.value()))
    return edits[0] if len(edits) == 1 else Compound(f"Change reference {draft.key}", tuple(edits))


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """The row of the reference as it is typed, and of its old key where that changes."""

    document: Document
    key: str
    title: str
    entries: tuple[PreviewRow, ...]
    ends: RangeEnds
    is_quick: bool = True
    finds_quickly: bool = True

    @classmethod
    def of(
        cls,
        document: Document,
        access: Access | None,
        key: str | None,
        draft: ReferenceDraft,
    ) -> ReferenceSource:
        """Return the preview of a draft of the entry `key` (None for a new one)."""
        entries = [_typed_row(document, draft)]
        if key is not None and key != draft.key:
            old = cells_of_key(document, key)
            was = "" if old is None else ", ".join(filter(None, (old.url, old.offset, old.length)))
            before = (PreviewChange("", was),) if was else ()
            entries.append(PreviewRow(1, key, before=before, note="this key goes", mark=PreviewMark.REPLACED))
        return cls(document, draft.key, f"Reference {draft.key}", tuple(entries), RangeEnds(access))

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.entries)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        return [self.ends.marked(row) for row in self.entries[start:stop]]

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key, or that there is none."""
        found = next((row.number for row in self.entries if row.key == key), None)
        return "no row has this key" if found is None else found

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count what the rows say, and look for the key in the gen rules."""
        self.ends.files(Pace(check).search_time()).end(self.entries[0].url)
        typed = self.rows(0, 1)[0]
        report = CheckReport(
            faults=_tally(typed, PreviewMark.FAULT),
            duplicates=PreviewTally(),
            changed=_tally(typed, PreviewMark.CHANGED),
            added=_tally(typed, PreviewMark.NEW),
            removed=PreviewTally(1, 1) if len(self.entries) > 1 else PreviewTally(),
        )
        send(report)
        return replace(report, collisions=self._collisions(check))

    def _collisions(self, check: Callable[[], None]) -> PreviewTally:
        undecided = 0
        for number, rule in enumerate(self.document.rules):
            check()
            found = rule.find(self.key)
            if isinstance(found, int):
                return PreviewTally(
                    1, 0, None, f"row {found} of gen rule {number} has this key too, and wins"
                )
            undecided += 0 if found is None else found.rows_checked
        return PreviewTally(checked=undecided) if undecided else PreviewTally()


def _tally(row: PreviewRow, mark: PreviewMark) -> PreviewTally:
    return PreviewTally(1, row.number, None, row.note) if row.mark & mark else PreviewTally()


def _typed_row(document: Document, draft: ReferenceDraft) -> PreviewRow:
    mistakes = "; ".join(draft.mistakes().values())
    try:
        cells = PreviewCells.of(typed_reference(draft, document.templates))
    except RefbrowserError as error:
        cells, mistakes = faulty(error), mistakes or error.message
    row = PreviewRow(0, draft.key, cells.url, cells.offset, cells.length)
    if mistakes:
        return replace(row, mark=PreviewMark.FAULT, note=mistakes)
    old = cells_of_key(document, draft.key)
    if old is None:
        return replace(row, mark=PreviewMark.NEW, before=NOT_THERE)
    return row if old == cells else replace(row, mark=PreviewMark.CHANGED, before=cells.before(old))


def typed_reference(draft: ReferenceDraft, templates: TemplateSet) -> Reference:
    """Return what a draft stands for, rendered; a value that cannot be read yet is `Missing`.

    Raises
    ------
    RefbrowserError
        The URL cannot be rendered.
    """
    # numpy comes with it.
    from refbrowser.model.reference import ByteRange, Inline, Missing, WholeFile

    value = draft.value()
    if isinstance(value, str) and not draft.mistakes():
        return Inline(decode_inline(value))
    if not isinstance(value, list) or not draft.has_url:
        return Missing()
    url = templates.render(value[0])
    if len(value) == 3 and is_integer(value[1]) and is_integer(value[2]):
        return ByteRange(url, value[1], value[2])
    return WholeFile(url)


def cells_of_key(document: Document, key: str) -> PreviewCells | None:
    """Return the cells of an entry of `refs`, None where a document has none."""
    slot = document.refs.find_slot(key)
    if slot is None:
        return None
    try:
        return PreviewCells.of(document.view.reference(slot))
    except RefbrowserError as error:
        return faulty(error)
