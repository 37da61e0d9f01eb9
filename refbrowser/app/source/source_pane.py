"""The text of the current document: what references say, as it would be saved now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.source.text_pane import TextPane
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.views.source.text_places import PlaceKind, TextPlace, place_at

if TYPE_CHECKING:
    from collections.abc import Callable

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
        self._card = Card("document", "", "")
        self._error = ErrorCard()
        self._error.retry.connect(self._make_again)
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        self._text_page = QWidget()
        inner = QVBoxLayout(self._text_page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.view, 1)
        for page in (self._card_page, self._error_page, self._text_page):
            self._pages.addWidget(page)
        self._column.addWidget(self._pages, 1)
        self._column.addWidget(self.find)
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
        self._document, self._shown = document, None
        self._marking.cancel()
        self._placing.cancel()
        self.find.hide()
        self.clear()
        self.refresh()

    def refresh(self) -> None:
        """Show the document as it is now, where it is seen; else when it is."""
        if self.isVisible():
            self._make()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _state(self) -> ReferenceText | None:
        state = None if self._document is None else self._document.document
        return None if state is None else state.own_text

    def _make_again(self) -> None:
        self._shown = None
        self._make()

    def _make(self) -> None:
        document, state = self._document, self._state()
        if document is None or state is None:
            self._show_card()
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
                "What this file holds is not a text of references. CDL shows it as text; "
                "Save as writes its references as a document.",
            )
        self._card.set_content("document", *words)
        self._pages.setCurrentWidget(self._card_page)

    def rows_taken(self) -> None:
        self.mark_findings()

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
