"""The text of the current document: what references say, as it would be saved now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.source.text_editor import TextEditor
from refbrowser.app.source.text_pane import TextPane
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.small_widgets import combo_box, push_button
from refbrowser.views.editing.text_draft import TextDraft
from refbrowser.views.editing.typed_input import DraftKind
from refbrowser.views.source.text_places import PlaceKind, TextPlace, place_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from refbrowser.references.content.content import ReferenceText
    from refbrowser.references.content.finding_places import Positions
    from refbrowser.views.source.source_marks import SourceMark
    from refbrowser.views.source.source_text import SourceText


class SourcePane(TextPane):
    """Shows the text when it is looked at, and again when the document is another one.

    Signals
    -------
    placeChosen(object)
        The user wants to see what stands at a place: a `TextPlace`.
    """

    placeChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("source", parent)
        self._document: OpenDocument | None = None
        self._shown: ReferenceText | None = None
        self._marking = Latest(self, "source marks")
        self._placing = Latest(self, "source place")
        self.editor = TextEditor()
        self.editor.closed.connect(self._edit_closed)
        self.edit_button = push_button("&Edit", "sourceEditButton", self.edit)
        self.edit_button.setToolTip(
            "Edit the text: all of it if it is small, otherwise the part at the cursor (F4)"
        )
        self.head.addWidget(self.edit_button)
        self.keys = combo_box("sourceKey", "Which metadata document is shown")
        self.keys.setFont(theme.mono_font())
        self.keys.currentIndexChanged.connect(lambda _number: self._make())
        self.keys.hide()
        self.head.insertWidget(0, self.keys)
        #: What was shown last of a store: its dataset and the key.
        self._shown_key: tuple[object, str] | None = None
        self._card = Card("document", "", "")
        self._error = ErrorCard()
        self._error.retry.connect(self._make_again)
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        self._text_page = QWidget()
        inner = QVBoxLayout(self._text_page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setObjectName("sourceSplit")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.view)
        self._split.addWidget(self.editor)
        self._split.setSizes([300, 200])
        inner.addWidget(self._split, 1)
        for page in (self._card_page, self._error_page, self._text_page):
            self._pages.addWidget(page)
        self._column.addWidget(self._pages, 1)
        self._column.addWidget(self.find_bar)
        self._column.addWidget(self.fault)
        self._column.addWidget(self.place)
        self.view.activated.connect(self._activated)
        self._show_card()

    def page(self) -> QWidget | None:
        """Return what is in front and takes keys: the text, or why there is none."""
        return self.view if self._pages.currentWidget() is self._text_page else None

    # What is shown

    def set_document(self, document: OpenDocument | None) -> None:
        """Show another document."""
        if document is self._document:
            self.refresh()
            return
        self._document, self._shown, self._shown_key = document, None, None
        self._marking.cancel()
        self._placing.cancel()
        self.editor.leave()
        self.find_bar.hide()
        self.clear()
        self.show_keys(())

    def refresh(self) -> None:
        """Show the document as it is now, where it is seen; else when it is."""
        self.editor.follow()
        if self.isVisible():
            self._make()
            self._go_on_typing()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _state(self) -> ReferenceText | None:
        state = None if self._document is None else self._document.document
        return None if state is None else state.own_text

    def _make_again(self) -> None:
        self._shown = self._shown_key = None
        self._make()

    def _make(self) -> None:
        document, state = self._document, self._state()
        self.edit_button.setVisible(state is not None)
        if document is None or state is None:
            self._make_metadata()
            return
        if state is self._shown:
            return
        self._shown = state
        self._pages.setCurrentWidget(self._text_page)

        def begin(control: TaskControl) -> tuple[SourceText, Positions]:
            from refbrowser.references.content.finding_places import Positions
            from refbrowser.views.source.source_text import text_of

            return text_of(state, control.check), Positions(state)

        self.start(document, f"Read the text of {document.title}", begin, self._failed)

    def show_keys(self, keys: Sequence[str]) -> None:
        """Offer the metadata documents of a group or array of a store, which has no text as a whole."""
        before = self.keys.currentText()
        with QSignalBlocker(self.keys):
            self.keys.clear()
            self.keys.addItems([*keys])
            self.keys.setCurrentIndex(max(0, self.keys.findText(before.rpartition("/")[2])))
            if before in keys:
                self.keys.setCurrentText(before)
        self.keys.setVisible(bool(keys))
        self.refresh()

    def _make_metadata(self) -> None:
        """Show a metadata document of a store, as it is stored."""
        document, key = self._document, self.keys.currentText()
        dataset = None if document is None else document.dataset
        if document is None or dataset is None or not key:
            self._shown_key = None
            self._show_card()
            return
        if self._shown_key == (dataset, key):
            return
        self._shown_key = (dataset, key)
        self._pages.setCurrentWidget(self._text_page)

        def begin(control: TaskControl) -> tuple[SourceText, None]:
            from refbrowser.references.text.document_text import DocumentText

            return DocumentText.of(dataset.read_key(key, control.token)), None

        self.start(document, f"Read {key[:80]}", begin, self._failed)

    def _failed(self, error: BaseException) -> None:
        self._error.set_error("The text cannot be shown", error)
        self._pages.setCurrentWidget(self._error_page)

    def _show_card(self) -> None:
        state = None if self._document is None else self._document.document
        if state is None:
            words = (
                "No document yet",
                "Open a document of references: its text appears here, with what is wrong marked.",
            )
        else:
            words = (
                "No text of its own",
                "Select a group or array of a store to see its metadata documents. CDL shows any dataset as "
                "text, and Save as writes its references as a document.",
            )
        self._card.set_content("document", *words)
        self._pages.setCurrentWidget(self._card_page)

    def rows_taken(self) -> None:
        self.mark_findings()

    # Editing

    def edit(self) -> None:
        """Edit the text: all of a small one; of a large one what begins at the caret, or its row."""
        document, rows = self._document, self.view.rows
        if document is None or self._shown is None or not rows.count or self.editor.draft is not None:
            return
        edited = self.rows_to_edit()
        if edited is None:
            return
        is_whole = edited.stop - edited.start == rows.text.size
        place = "" if is_whole else self.place_words()
        draft = TextDraft(edited, edited.text, f"Edit the text of {place or 'the document'}")
        self._begin(draft, edited.character(self.view.caret))

    def _begin(self, draft: TextDraft, character: int) -> None:
        if self._document is not None:
            is_whole = draft.rows.stop - draft.rows.start == self.text.size
            self.view.setVisible(not is_whole)
            self.head_is_editing(is_editing=True)
            self.editor.begin(self._document, draft, character)

    def _edit_closed(self, position: int) -> None:
        self.view.show()
        self.head_is_editing(is_editing=False)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.go_to(position)

    def head_is_editing(self, *, is_editing: bool) -> None:
        """Offer what can be done while the text is edited, or is not."""
        self.edit_button.setEnabled(not is_editing)
        self.layout_button.setEnabled(not is_editing)
        # All of it is edited: there are no rows to be found in or folded.
        for part in self.parts:
            if part is not self.layout_button:
                part.setEnabled(not is_editing or self.view.isVisibleTo(self))

    def _go_on_typing(self) -> None:
        """Edit what was typed before and not applied."""
        if self._document is None or self.editor.draft is not None:
            return
        typed = [one for one in drafts_of(self._document).all() if one.kind is DraftKind.TEXT]
        if typed and isinstance(typed[0].draft, TextDraft):
            self._begin(typed[0].draft, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F4 and not event.modifiers():
            self.edit()
        else:
            super().keyPressEvent(event)

    # Marks and places

    def mark_findings(self) -> None:
        """Mark what is wrong with the document at its places."""
        document, state, positions = self._document, self._shown, self.positions
        if document is None or state is None or positions is None:
            return
        findings = document.findings.found.items
        if not findings:
            self._marking.cancel()
            self._take_marks(())
            return

        def find(control: TaskControl) -> tuple[SourceMark, ...]:
            from refbrowser.views.source.source_marks import marks_of

            return marks_of(state, positions, findings, control.check)

        self._marking.run(document, f"Mark problems of {document.title}", find, self._take_marks)

    def _take_marks(self, marks: tuple[SourceMark, ...]) -> None:
        self.view.set_marks(marks)
        self._caret_moved()

    def _place(self, position: int) -> TextPlace | None:
        state, positions = self._shown, self.positions
        if state is None or positions is None:
            return None
        return place_at(state, positions, position)

    def place_words(self) -> str:
        place = self._place(self.view.caret)
        return "" if place is None else place.words

    def _activated(self, position: int) -> None:
        place = self._place(position)
        if place is not None and place.kind is not PlaceKind.TOP:
            self.placeChosen.emit(place)

    def show_place(
        self,
        find: Callable[[ReferenceText, Positions], int | None],
        missing: Callable[[], object] = lambda: None,
    ) -> None:
        """Show the byte that `find` returns, on a worker thread; `missing` is called where it is nowhere."""
        document, state = self._document, self._state()
        if document is None or state is None:
            missing()
            return

        def work(_control: TaskControl) -> int | None:
            from refbrowser.references.content.finding_places import Positions

            return find(state, Positions(state))

        def found(position: int | None) -> None:
            if position is None:
                missing()
            else:
                self.go_to(position)

        self._placing.run(document, f"Find the place in {document.title}", work, found)
