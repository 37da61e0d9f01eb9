"""Edits rows of the document's text: checked as one types, with what they change, applied as one step."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from refbrowser.app.controller.edited_document import moved_on
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.source.row_editor import RowEditor
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.references.document.document import Document
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.text_draft import TextDraft, TypedFault
from refbrowser.views.editing.text_source import TextEdit, TextEditSource
from refbrowser.views.editing.typed_input import DraftKind


class _Checked(NamedTuple):
    """What a text that is typed comes to: its fault and what mends that, or what it changes."""

    fault: TypedFault | None = None
    mended: tuple[str, str] | None = None
    edit: TextEdit | None = None
    error: BaseException | None = None


class TextEditor(RowEditor):
    """What is typed is kept with what is typed in other editors, until it is applied or forgotten.

    Signals
    -------
    previewChanged(object, object)
        An `OpenDocument` and the `PreviewSource` of what would be another in it.
    """

    previewChanged = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("source", parent)
        self._document: OpenDocument | None = None
        self._state: Document | None = None
        self._checked: tuple[TextDraft, _Checked] | None = None
        self._applies = False
        self._checking = Latest(self, "source edit")

    def begin(self, document: OpenDocument, draft: TextDraft, character: int = 0) -> None:
        """Edit rows of the text of a document, with the cursor at a character."""
        self._document, self._state, self._checked = document, document.document, None
        self.show_draft(draft, character)

    def leave(self) -> None:
        """Edit nothing any more; what is typed stays kept for its document."""
        self._checking.cancel()
        document = self._document
        self._document = self._state = self._checked = None
        self._applies = False
        if document is not None:
            self.previewChanged.emit(document, NoSource())
        self.close_field()

    def cancel(self) -> None:
        """Forget what is typed."""
        if self._document is not None and self.draft is not None:
            drafts_of(self._document).drop_field(DraftKind.TEXT, self.draft.rows.start)
        self.leave()

    def follow(self) -> None:
        """Take over that the document is another one: what is typed goes on where it still fits."""
        document, draft = self._document, self.draft
        if document is None or draft is None or document.document is self._state:
            return
        if drafts_of(document).field(DraftKind.TEXT, draft.rows.start) is None:
            # It was applied, elsewhere too, or nothing was typed.
            self.leave()
            return
        self._state, self._checked = document.document, None
        self.check()

    def typed(self, draft: TextDraft) -> None:
        if self._document is not None:
            drafts_of(self._document).put_field(DraftKind.TEXT, draft.rows.start, draft)

    def check(self) -> None:
        self.soon.stop()
        document, state, draft = self._document, self._state, self.draft
        if document is None or state is None or draft is None:
            return
        self.apply_button.setEnabled(draft.is_changed)
        if not draft.is_changed:
            self._checking.cancel()
            self._checked = None
            self.field.set_faults((), "")
            self.outcome.clear()
            self.previewChanged.emit(document, NoSource())
            return

        def check(control: TaskControl) -> _Checked:
            return _check(draft, state, control)

        self._checking.run(
            document, "Check the text that is typed", check, lambda found: self._show(draft, found)
        )

    def _show(self, draft: TextDraft, found: _Checked) -> None:
        if draft is not self.draft or self._document is None:
            return
        self._checked = draft, found
        self.field.set_faults((), "")
        if found.fault is not None:
            self.show_fault(draft, found.fault, found.mended)
        elif found.edit is None:
            self.outcome.show_fault(str(getattr(found.error, "message", found.error)))
        else:
            self.outcome.show_result(found.edit.words)
            edit = found.edit
            self.previewChanged.emit(self._document, TextEditSource(edit.before, edit.after, edit.rows))
        self.apply_button.setEnabled(found.edit is not None)
        if self._applies:
            self._applies = False
            self.apply()

    def apply(self) -> None:
        """Make what is typed one step of the history; first it is checked."""
        document, draft, state = self._document, self.draft, self._state
        if document is None or draft is None or not draft.is_changed:
            return
        if self._checked is None or self._checked[0] is not draft or self.soon.isActive():
            self._applies = True
            self.check()
            return
        edit = self._checked[1].edit
        if edit is None:
            return
        if document.document is not state:
            document.editFailed.emit(moved_on(edit.patch))
            return
        drafts_of(document).drop_field(DraftKind.TEXT, draft.rows.start)
        document.take_step(edit.patch, edit.after)
        self.leave()


def _check(draft: TextDraft, state: Document, control: TaskControl) -> _Checked:
    """Return what a text that is typed comes to, on a worker thread."""
    from refbrowser.errors import ErrorKind, RefbrowserError

    fault = draft.fault()
    if fault is not None:
        return _Checked(fault, draft.mended(control.check))
    if not draft.fits(state):
        message = "the document has changed here: copy what you typed, and begin again"
        return _Checked(error=RefbrowserError(ErrorKind.USAGE, message))
    try:
        return _Checked(edit=TextEdit.of(state, draft.rows.patch(draft.typed, draft.title), control.check))
    except RefbrowserError as error:
        return _Checked(error=error)
