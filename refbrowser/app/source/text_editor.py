"""Edits rows of the document's text: checked as one types, with what they change, applied as one step."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.controller.edited_document import moved_on
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JsonField
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import Mend, OutcomeLine, named
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.references.document.document import Document
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.text_draft import TextDraft, TypedFault
from refbrowser.views.editing.text_marks import FaultSpan
from refbrowser.views.editing.text_source import TextEdit, TextEditSource
from refbrowser.views.editing.typed_input import DraftKind

#: What is typed is looked at so long after the last keystroke, in milliseconds.
PAUSE = 150


class _Checked(NamedTuple):
    """What a text that is typed comes to: its fault and what mends that, or what it changes."""

    fault: TypedFault | None = None
    mended: tuple[str, str] | None = None
    edit: TextEdit | None = None
    error: BaseException | None = None


class TextEditor(QWidget):
    """Hidden while nothing is edited.

    Signals
    -------
    previewChanged(object, object)
        An `OpenDocument` and the `PreviewSource` of what would be another in it.
    closed(int)
        Nothing is edited any more; the byte at which it was.
    """

    previewChanged = Signal(object, object)
    closed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sourceEditor")
        self.setAccessibleName("Editor of the text")
        self._document: OpenDocument | None = None
        self._state: Document | None = None
        self._draft: TextDraft | None = None
        self._checked: tuple[TextDraft, _Checked] | None = None
        self._applies = False
        self._checking = Latest(self, "source edit")
        self._soon = one_shot(self, PAUSE, self._check)
        self._title = ElidedLabel("sourceEditTitle", role="paneTitle")
        self.field = JsonField("sourceEditText", "Text that is edited")
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.field.edited.connect(self._typed)
        self.outcome = OutcomeLine("sourceEditOutcome", lines=2)
        self.apply_button = named(QPushButton("&Apply"), "sourceApplyButton", "Apply the edit of the text")
        self.apply_button.setToolTip("Make the edit one step of the history (Ctrl+Enter)")
        self.apply_button.clicked.connect(self.apply)
        self.cancel_button = named(QPushButton("&Cancel"), "sourceCancelButton", "Leave the text as it was")
        self.cancel_button.setToolTip("Forget what is typed (Esc)")
        self.cancel_button.clicked.connect(self.cancel)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.apply)
        self._lay_out()
        self.setFocusProxy(self.field)
        self.hide()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(theme.SMALL)
        line.addWidget(self.outcome, 1)
        line.addWidget(self.cancel_button)
        line.addWidget(self.apply_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._title)
        layout.addWidget(self.field, 1)
        layout.addLayout(line)

    # What is edited

    @property
    def draft(self) -> TextDraft | None:
        """What is edited, as it is typed; None for nothing."""
        return self._draft

    def begin(self, document: OpenDocument, draft: TextDraft, character: int = 0) -> None:
        """Edit rows of the text of a document, with the cursor at a character."""
        self._document, self._state = document, document.document
        self._draft, self._checked = None, None
        self._title.set_text(f"{draft.title}: Ctrl+Enter applies it")
        self.field.set_text(draft.typed)
        self.field.settle()
        self._draft = draft
        self.show()
        self.field.show_place(character)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._check()

    def leave(self) -> None:
        """Edit nothing any more; what is typed stays kept for its document."""
        self._soon.stop()
        self._checking.cancel()
        document, draft = self._document, self._draft
        self._document = self._state = self._draft = self._checked = None
        self._applies = False
        self.field.set_faults((), "")
        self.hide()
        if document is not None and draft is not None:
            self.previewChanged.emit(document, NoSource())
            self.closed.emit(draft.rows.start)

    def cancel(self) -> None:
        """Forget what is typed."""
        if self._document is not None and self._draft is not None:
            drafts_of(self._document).drop_field(DraftKind.TEXT, self._draft.rows.start)
        self.leave()

    def follow(self) -> None:
        """Take over that the document is another one: what is typed goes on where it still fits."""
        document, draft = self._document, self._draft
        if document is None or draft is None or document.document is self._state:
            return
        if drafts_of(document).field(DraftKind.TEXT, draft.rows.start) is None:
            # It was applied, elsewhere too, or nothing was typed.
            self.leave()
            return
        self._state, self._checked = document.document, None
        self._check()

    # Typing

    def _typed(self, typed: str) -> None:
        if self._draft is None or self._document is None:
            return
        self._draft = TextDraft(self._draft.rows, typed, self._draft.title)
        drafts_of(self._document).put_field(DraftKind.TEXT, self._draft.rows.start, self._draft)
        self._soon.start()

    def _check(self) -> None:
        """See what is typed: why it is no JSON, or what it changes."""
        self._soon.stop()
        document, state, draft = self._document, self._state, self._draft
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
        if draft is not self._draft or self._document is None:
            return
        self._checked = draft, found
        self.field.set_faults((), "")
        if found.fault is not None:
            at = found.fault.character
            self.field.set_faults([FaultSpan(at, min(at + 1, len(draft.typed)))], found.fault.message)
            before = draft.typed[:at]
            line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
            mend = None if found.mended is None else Mend(found.mended[1], self._mend)
            offered = "" if found.mended is None else f"  {found.mended[1]}?"
            self.outcome.show_fault(f"Line {line}, column {column}: {found.fault.message}.{offered}", mend)
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

    def _mend(self) -> None:
        """Put what mends the text in the place of what is typed."""
        mended = None if self._checked is None else self._checked[1].mended
        if mended is not None:
            cursor = self.field.textCursor()
            place = cursor.position()
            cursor.select(cursor.SelectionType.Document)
            cursor.insertText(mended[0])
            cursor.setPosition(min(place, len(mended[0])))
            self.field.setTextCursor(cursor)
            self._check()

    def apply(self) -> None:
        """Make what is typed one step of the history; first it is checked."""
        document, draft, state = self._document, self._draft, self._state
        if document is None or draft is None or not draft.is_changed:
            return
        if self._checked is None or self._checked[0] is not draft or self._soon.isActive():
            self._applies = True
            self._check()
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

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)


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
