"""The editor of one reference written out in a document: its key, and text, file or byte range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QPlainTextEdit, QPushButton, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField, raw_text, with_line_ends
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.form import EditorForm, access_of, follow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import OutcomeLine, TextLine, named, tool_button
from refbrowser.errors import RefbrowserError
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.reference_draft import (
    ReferenceDraft,
    ReferenceKind,
    reference_edit,
    stored_draft,
)
from refbrowser.views.editing.text_marks import Names, fault_spans
from refbrowser.views.editing.typed_input import Typed

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

KINDS = (ReferenceKind.RANGE, ReferenceKind.WHOLE, ReferenceKind.TEXT, ReferenceKind.BASE64)


class ReferenceEditor(EditorForm):
    """Key and value of a reference.

    Signals
    -------
    keyChosen(str)
        The key of a reference that was added or renamed here.
    prefixWanted()
        The user wants to replace the beginning of the URLs of many keys.
    """

    keyChosen = Signal(str)
    prefixWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("reference", "reference", parent)
        self.setObjectName("referenceEditor")
        self.setAccessibleName("Reference")
        self._document: OpenDocument | None = None
        self._key: str | None = None
        self._draft: ReferenceDraft | None = None
        self._loading = False
        self._outcomes: dict[str, OutcomeLine] = {}
        self._labels: dict[str, QLabel] = {}
        self._build()
        self.setFocusProxy(self._key_field)
        self.applyWanted.connect(self.apply)
        self.resetWanted.connect(self.reset)
        self._show_reference()

    def _build(self) -> None:
        self.header.addWidget(tool_button("referenceAdd", "+", "Add a reference", self.add))
        self.header.addWidget(tool_button("referenceRemove", "−", "Delete the reference", self.remove))
        self._key_field = self._line("key", 0, "&Key")
        self._kind = named(QComboBox(), "referenceKind", "Kind of the reference")
        for kind in KINDS:
            self._kind.addItem(kind.value, kind)
        self._kind.activated.connect(self._kind_chosen)
        self.add_label(2, "K&ind", self._kind)
        self.grid.addWidget(self._kind, 2, 1)
        self.grid.setRowMinimumHeight(3, theme.SMALL)
        self._url = JinjaField("referenceUrlField", "URL of the reference")
        self._url.edited.connect(lambda text: self._typed(url=text))
        self._url.returnPressed.connect(self.apply_button.click)
        self._outcomes["url"] = OutcomeLine("referenceUrlOutcome")
        self._labels["url"] = self.add_label(4, "&URL", self._url)
        self.grid.addWidget(self._url, 4, 1)
        self.grid.addWidget(self._outcomes["url"], 5, 1)
        self._lines = {
            "offset": self._line("offset", 6, "&Offset"),
            "length": self._line("length", 8, "&Length"),
        }
        self._add_text(10)
        prefix = named(QPushButton("Replace URL prefi&x…"), "referencePrefixButton", "Replace URL prefix")
        prefix.setToolTip("Replace the prefix of the URLs of many keys (Ctrl+H)")
        prefix.clicked.connect(self.prefixWanted)
        self.grid.addWidget(prefix, 12, 1, Qt.AlignmentFlag.AlignRight)
        self.grid.setRowStretch(13, 1)

    def _line(self, name: str, row: int, label: str) -> TextLine:
        title = name.capitalize()
        field = named(TextLine(), f"reference{title}Field", f"{title} of the reference")
        field.setFont(theme.mono_font())
        field.textEdited.connect(lambda text: self._typed(**{name: text}))
        self._outcomes[name] = OutcomeLine(f"reference{name.capitalize()}Outcome")
        self._labels[name] = self.add_label(row, label, field)
        self.grid.addWidget(field, row, 1)
        self.grid.addWidget(self._outcomes[name], row + 1, 1)
        return self.add_line(field)

    def _add_text(self, row: int) -> None:
        self._text = named(QPlainTextEdit(), "referenceTextField", "Text of the reference")
        self._text.setFont(theme.mono_font())
        self._text.setTabChangesFocus(True)
        self._text.setMinimumHeight(120)
        self._text.textChanged.connect(self._text_typed)
        self._outcomes["text"] = OutcomeLine("referenceTextOutcome")
        self._labels["text"] = self.add_label(row, "&Text", self._text)
        self.grid.addWidget(self._text, row, 1)
        self.grid.addWidget(self._outcomes["text"], row + 1, 1)

    # What is shown

    @property
    def key(self) -> str | None:
        """Key of the reference that is shown, None for a new one or none."""
        return self._key

    @property
    def draft(self) -> ReferenceDraft | None:
        """The reference as it is typed, None where there is none."""
        return self._draft

    @property
    def is_pending(self) -> bool:
        """Whether there are edits that are not applied."""
        return self._draft is not None and (self._draft.is_changed or self._draft.key != self._key)

    def set_key(self, document: OpenDocument | None, key: str | None) -> None:
        """Show the reference of a key, with what was typed for it before."""
        if document is not self._document:
            follow(self._document, document, self, self._show_reference)
            self._document = document
        self._key = key
        self._show_reference()

    def _contents(self) -> Document | None:
        return None if self._document is None else self._document.document

    def _show_reference(self) -> None:
        document, self._draft = self._contents(), None
        if document is not None and self._document is not None:
            self._draft = drafts_of(self._document).reference(self._key)
            if self._draft is None and self._key is not None:
                self._draft = stored_draft(document, self._key)
        self._fill()

    def _fill(self) -> None:
        draft = self._draft or ReferenceDraft("")
        self._loading = True
        for field, text in (
            (self._key_field, draft.key),
            (self._lines["offset"], draft.offset),
            (self._lines["length"], draft.length),
        ):
            if field.text() != text:
                field.setText(text)
        self._url.set_text(draft.url)
        if with_line_ends(raw_text(self._text.document()), draft.text) != draft.text:
            self._text.setPlainText(draft.text)
        self._kind.setCurrentIndex(self._kind.findData(draft.kind))
        for widget in (self._key_field, self._kind, self._url, *self._lines.values(), self._text):
            widget.setEnabled(self._draft is not None)
        self._loading = False
        self._follow()

    # Typing

    def _typed(self, **changes: Any) -> None:
        if not self._loading and self._draft is not None:
            self._keep(replace(self._draft, **changes))

    def _text_typed(self) -> None:
        if self._draft is not None and self._draft.is_editable:
            self._typed(text=with_line_ends(raw_text(self._text.document()), self._draft.text))

    def _kind_chosen(self) -> None:
        kind = ReferenceKind(self._kind.currentData())
        if self._draft is not None and kind is not self._draft.kind:
            self._keep(self._draft.with_kind(kind))
            self._fill()

    def _keep(self, draft: ReferenceDraft) -> None:
        self._draft = draft
        if self._document is not None:
            drafts_of(self._document).put_reference(self._key, draft)
        self._follow()

    def _follow(self) -> None:
        draft, document = self._draft, self._contents()
        self._show_parts(draft.kind if draft is not None else ReferenceKind.RANGE)
        for outcome in self._outcomes.values():
            outcome.clear()
        self._url.set_faults((), "")
        if draft is None or document is None:
            self._show_nothing()
            return
        mistakes = draft.mistakes_in(document, self._key)
        for name, reason in mistakes.items():
            self._outcomes[name].show_fault(reason)
        if "url" not in mistakes and draft.has_url:
            self._show_url(document, draft)
        if not draft.is_editable:
            self._outcomes["text"].show_warning("too long to be edited here; another kind replaces it")
        moved_on = self._document is not None and drafts_of(self._document).reference_moved_on(self._key)
        self.show_pending(
            "Reference" if self._key is not None else "New reference",
            pending=self.is_pending,
            can_apply=not mistakes,
            moved_on=moved_on,
        )
        self._show_source(document, draft)

    def _show_url(self, document: Document, draft: ReferenceDraft) -> None:
        self._url.set_names(Names(templates=document.templates))
        try:
            self._outcomes["url"].show_result(document.templates.render(draft.url))
        except RefbrowserError as error:
            self._url.set_faults(fault_spans([error], draft.url), error.message)
            self._outcomes["url"].show_fault(error.message)

    def _show_parts(self, kind: ReferenceKind) -> None:
        shown = {
            "url": kind in (ReferenceKind.RANGE, ReferenceKind.WHOLE),
            "offset": kind is ReferenceKind.RANGE,
            "length": kind is ReferenceKind.RANGE,
            "text": kind in (ReferenceKind.TEXT, ReferenceKind.BASE64, ReferenceKind.OTHER),
        }
        fields: Mapping[str, QWidget] = {"url": self._url, "text": self._text, **self._lines}
        for name, visible in shown.items():
            for widget in (fields[name], self._labels[name], self._outcomes[name]):
                widget.setVisible(visible)
        self._text.setReadOnly(self._draft is None or not self._draft.is_editable)

    def _show_nothing(self) -> None:
        self.show_pending("Reference", pending=False, can_apply=False, moved_on=False)
        self.publish(self._document, NoSource())

    def _show_source(self, document: Document, draft: ReferenceDraft) -> None:
        from refbrowser.views.editing.reference_draft import ReferenceSource

        access = None if self._document is None else access_of(self._document)
        self.publish(self._document, ReferenceSource.of(document, access, self._key, draft))

    def field_of(self, name: str) -> QWidget:
        """Return the field of a part of the reference."""
        fields: Mapping[str, QWidget] = {"key": self._key_field, "url": self._url, **self._lines}
        return fields.get(name, self._text)

    def settle(self) -> None:
        super().settle()
        self._text.document().clearUndoRedoStacks()

    def take_applied(self, typed: tuple[Typed, ...]) -> None:
        """Go on with the key that the reference has now."""
        for one in typed:
            if isinstance(one.draft, ReferenceDraft) and one.at == self._key != one.draft.key:
                self._key = one.draft.key
                self._show_reference()
                self.keyChosen.emit(one.draft.key)
        super().take_applied(typed)

    # Acting

    def apply(self) -> None:
        """Make what is typed one step of the history."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None or not self.apply_button.isEnabled():
            return
        before, self._key = self._key, draft.key
        drafts_of(opened).drop_reference(before)
        if opened.apply(reference_edit(before, draft)):
            self.settle()
            self.keyChosen.emit(draft.key)
        else:
            self._key = before
            drafts_of(opened).put_reference(before, draft)
            self._show_reference()

    def reset(self) -> None:
        """Forget what is typed and show what the document has."""
        if self._document is not None:
            drafts_of(self._document).drop_reference(self._key)
            self._show_reference()
            self._key_field.setFocus()

    def add(self) -> None:
        """Begin a new reference, like the one that is shown; Apply adds it."""
        document = self._contents()
        if document is None:
            return
        like = self._draft if self._draft is not None and self._draft.has_url else ReferenceDraft("")
        self._key = None
        self._draft = replace(like, key="", given=None)
        self._fill()
        self._key_field.setFocus()

    def remove(self) -> None:
        """Delete the reference as one step of the history."""
        if self._document is None or self._key is None or self._draft is None:
            return
        from refbrowser.references.edits.edits import RemoveReference

        key, self._key = self._key, None
        drafts_of(self._document).drop_reference(key)
        if not self._document.apply(RemoveReference(key)):
            self._key = key
            self._show_reference()
