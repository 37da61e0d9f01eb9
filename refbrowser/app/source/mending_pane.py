"""The text of a file that cannot be opened: shown where it breaks, mended, and opened."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.source.row_editor import RowEditor
from refbrowser.app.source.text_pane import TextPane
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import IconLabel, plain_label, push_button
from refbrowser.references.text.document_text import DocumentText
from refbrowser.references.text.mending import Mended
from refbrowser.views.editing.text_draft import TextDraft, TypedFault, whole_fault, whole_mended
from refbrowser.views.source.broken_text import (
    TextFault,
    certain_mending,
    fault_of,
    place_in,
    read_text,
)
from refbrowser.views.source.source_marks import SourceMark
from refbrowser.words import count_text


class MendingPane(TextPane):
    """Takes the place of the tabs while a document cannot be opened because of its text.

    Signals
    -------
    retry()
        The file is to be read again.
    """

    retry = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("mending", parent)
        self._document: OpenDocument | None = None
        self._error: BaseException | None = None
        self._told = ""
        self._data = b""
        self._mended: Mended | None = None
        self._marks: tuple[SourceMark, ...] = ()
        self._looking = Latest(self, "mending")
        self._words = plain_label("")
        self._words.setObjectName("mendingWords")
        self._fix = push_button("Fix", "mendingFixButton", self.fix)
        self._fix.setDefault(True)
        self._fix.hide()
        self._again = push_button("&Try again", "mendingRetryButton", self.retry.emit)
        self._again.setToolTip("Read the file again")
        self.edit_button = push_button("&Edit", "mendingEditButton", self.edit)
        self.edit_button.setToolTip("Edit the text where the cursor is (F4)")
        self.head.addWidget(self.edit_button)
        self.editor = _MendingEditor()
        self.editor.closed.connect(self._edit_closed)
        self.editor.taken.connect(self._take_edit)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("mendingSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self.view)
        split.addWidget(self.editor)
        split.setSizes([200, 200])
        self._column.insertWidget(0, self._make_bar())
        self._column.addWidget(split, 1)
        for part in (self.find_bar, self.fault, self.place):
            self._column.addWidget(part)

    def _make_bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("role", "faultStrip")
        bar.setObjectName("mendingBar")
        layout = QHBoxLayout(bar)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("fault", "fault"))
        layout.addWidget(self._words, 1)
        layout.addWidget(self._fix)
        layout.addWidget(self._again)
        return bar

    # What is shown

    def set_failed(self, document: OpenDocument, error: BaseException) -> None:
        """Show the text of a document that could not be opened, where it breaks."""
        if document is self._document and error is self._error:
            return
        self._document, self._error = document, error
        self.editor.close_field()
        self.clear()
        path, place = document.path, getattr(error, "place", None)
        self._tell(error)

        def begin(control: TaskControl) -> tuple[DocumentText, None]:
            data = read_text(path, control.check)
            control.send(data)
            position = 0 if place is None else place_in(data, place)
            control.send(position)
            return DocumentText(data), None

        self.start(document, f"Read the text of {document.title}", begin, self._not_read)

    def forget(self) -> None:
        """Show nothing: another document is shown."""
        if self._document is not None:
            self._looking.cancel()
            self.editor.close_field()
            self._document = self._error = self._mended = None
            self._data = b""
            self.clear()

    def _tell(self, error: BaseException) -> None:
        document, place = self._document, getattr(error, "place", None)
        title = "" if document is None else document.title
        line = getattr(place, "line", None)
        column = getattr(place, "column", None)
        where = "" if line is None else f", line {count_text(line)}, column {count_text(column or 1)}"
        self._told = f"{title} cannot be opened{where}: {getattr(error, 'message', error)}."
        self._words.setText(f"{self._told} {getattr(error, 'advice', '')}".strip())
        self._fix.hide()

    def _not_read(self, error: BaseException) -> None:
        self._words.setText(f"The text cannot be shown: {error_text(error)}")

    def _receive(self, news: object) -> None:
        if isinstance(news, bytes):
            self._data = news
        elif isinstance(news, int):
            self._mark(news)
        else:
            super()._receive(news)  # type: ignore[arg-type]

    def _mark(self, position: int) -> None:
        """Mark where the text breaks, and go there once its rows are known."""
        message, advice = (str(getattr(self._error, name, "")) for name in ("message", "advice"))
        words = f"{message[:1].upper()}{message[1:]}. {advice}".strip()
        self._marks = (SourceMark(position, position, True, words),)
        self.go_when_there(position)

    def rows_taken(self) -> None:
        self.view.set_marks(self._marks)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _complete(self) -> None:
        super()._complete()
        self._look_for_mending()

    def _look_for_mending(self) -> None:
        """See whether one click makes a document of the text."""
        document, data = self._document, self._data
        self._mended = None
        if document is None:
            return

        def look(control: TaskControl) -> Mended | None:
            return certain_mending(data, control.check)

        def found(mended: Mended | None) -> None:
            self._mended = mended
            self._fix.setVisible(mended is not None)
            if mended is not None:
                self._fix.setText("Fix")
                self._fix.setToolTip(theme.plain_tooltip(mended.words))
                self._fix.setAccessibleName(f"Fix: {mended.words}")
                self._words.setText(f"{self._told} {mended.words}?")

        self._looking.run(document, f"Look for what mends {document.title}", look, found)

    # Mending

    def fix(self) -> None:
        """Open the text as the document that it is once it is mended."""
        document, mended = self._document, self._mended
        if document is not None and mended is not None:
            self._open(document, mended.data)

    def _open(self, document: OpenDocument, data: bytes) -> None:
        self._words.setText(f"Opening {document.title}…")
        document.open_text(data, lambda error: self._not_opened(document, data, error))

    def _not_opened(self, document: OpenDocument, data: bytes, error: BaseException) -> None:
        if document is self._document:
            self._show_text(document, data, error)

    def _show_text(self, document: OpenDocument, data: bytes, error: BaseException) -> None:
        """Show a text that was edited and is still no document."""
        self._error, self._data = error, data
        self._tell(error)
        place = getattr(error, "place", None)

        def begin(control: TaskControl) -> tuple[DocumentText, None]:
            control.send(0 if place is None else place_in(data, place))
            return DocumentText(data), None

        self.start(document, f"Show the text of {document.title}", begin, self._not_read)

    def edit(self) -> None:
        """Edit the text: all of a small one; of a large one what is at the caret."""
        rows = self.view.rows
        if self._document is None or not rows.count or self.editor.draft is not None:
            return
        edited = self.rows_to_edit()
        if edited is None:
            return
        is_whole = edited.stop - edited.start == rows.text.size
        self.view.setVisible(not is_whole)
        self.edit_button.setEnabled(False)
        self.layout_button.setEnabled(False)
        self._fix.setEnabled(False)
        draft = TextDraft(edited, edited.text, "Mend the text")
        self.editor.begin(self._document, draft, edited.character(self.view.caret), is_whole=is_whole)

    def _edit_closed(self, position: int) -> None:
        self.view.show()
        for button in (self.edit_button, self.layout_button, self._fix):
            button.setEnabled(True)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_edit(self, draft: TextDraft) -> None:
        document = self._document
        if document is None:
            return
        patch = draft.rows.patch(draft.typed, draft.title)
        data = self._data[: patch.start] + patch.data + self._data[patch.stop :]

        def look(control: TaskControl) -> TextFault | None:
            return fault_of(data, control.check)

        def looked(fault: TextFault | None) -> None:
            if fault is None:
                self._open(document, data)
            else:
                self._show_text(document, data, fault.error)

        self._looking.run(document, f"Check the text of {document.title}", look, looked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F4 and not event.modifiers():
            self.edit()
        else:
            super().keyPressEvent(event)


class _MendingEditor(RowEditor):
    """Rows of a text that is no document yet.

    Signals
    -------
    taken(object)
        The `TextDraft` is to be taken into the text.
    """

    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__("mending")
        self.apply_button.setToolTip("Apply the edit and open the document (Ctrl+Enter)")
        self._checking = Latest(self, "mending edit")
        self._document: OpenDocument | None = None
        self._is_whole = False

    def begin(self, document: OpenDocument, draft: TextDraft, character: int, *, is_whole: bool) -> None:
        """Edit rows of a text, or all of it."""
        self._document, self._is_whole = document, is_whole
        self.show_draft(draft, character)

    def check(self) -> None:
        self.soon.stop()
        draft, document = self.draft, self._document
        if draft is None or document is None:
            return
        self.apply_button.setEnabled(draft.is_changed)
        if not self._is_whole:
            # What a part of a broken text means is known with the rest of it.
            self.outcome.show_result("Apply opens the document, or shows what is still wrong")
            return

        def check(control: TaskControl) -> tuple[TypedFault, tuple[str, str] | None] | None:
            fault = whole_fault(draft.typed)
            return None if fault is None else (fault, whole_mended(draft.typed, control.check))

        def checked(found: tuple[TypedFault, tuple[str, str] | None] | None) -> None:
            if draft is not self.draft:
                return
            self.field.set_faults((), "")
            if found is None:
                self.outcome.show_result("Apply opens the document")
            else:
                self.show_fault(draft, *found)

        self._checking.run(document, "Check the text that is typed", check, checked)

    def apply(self) -> None:
        draft = self.draft
        if draft is not None and draft.is_changed:
            self.close_field()
            self.taken.emit(draft)
