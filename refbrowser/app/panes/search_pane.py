"""Searches in all texts of documents: what is sought above, where it stands below, grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from refbrowser.app.controller.documents import Documents
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, tool_button
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.rows import Column, RowStyle
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.views.searching.pattern import SearchPattern
    from refbrowser.views.searching.text_search import SearchEnd, TextHit

#: A search begins so long after a keystroke, in milliseconds.
PAUSE = 250
_TOP = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine
_COLUMNS = (Column("Where", 220, elide_middle=True), Column("Text", 200, 1))


class SearchRows:
    """What was found, as the rows of a table: groups with their headings, in the order of being found."""

    columns = _COLUMNS

    def __init__(self) -> None:
        self._groups: dict[tuple[OpenDocument, str], list[TextHit]] = {}
        self._rows: list[tuple[OpenDocument, TextHit | str]] = []
        #: Whether headings name the documents.
        self.names_documents = False

    def add(self, document: OpenDocument, hits: Sequence[TextHit]) -> None:
        """Take what was found."""
        for hit in hits:
            self._groups.setdefault((document, str(hit.kind.value)), []).append(hit)
        self._lay_out()

    def forget(self, document: OpenDocument) -> None:
        """Leave out what was found in a document."""
        self._groups = {key: hits for key, hits in self._groups.items() if key[0] is not document}
        self._lay_out()

    def _lay_out(self) -> None:
        self._rows = []
        for (document, heading), hits in self._groups.items():
            title = f"{document.title}: {heading}" if self.names_documents else heading
            self._rows.append((document, f"{title}  ({count_text(len(hits))})"))
            self._rows += [(document, hit) for hit in hits]

    def at(self, row: int) -> tuple[OpenDocument, TextHit | str]:
        """Return the document of a row, and the hit or the heading that it is."""
        return self._rows[row]

    def is_heading(self, row: int) -> bool:
        """Tell whether a row is the heading of a group."""
        return isinstance(self._rows[row][1], str)

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows `start` to `stop`."""
        return [
            [found, ""] if isinstance(found, str) else [found.where, found.text]
            for _document, found in self._rows[start:stop]
        ]


class _SearchTable(VirtualTable):
    """Headings in bold over both columns; what was found is marked in its text."""

    def paint_row(
        self, painter: QPainter, scheme: theme.Colors, row: int, texts: list[str], style: RowStyle
    ) -> None:
        model = self.model()
        assert isinstance(model, SearchRows)
        found = model.at(row)[1]
        area = self.row_rect(row).adjusted(theme.MEDIUM, 0, -theme.MEDIUM, 0)
        if isinstance(found, str):
            font = QFont(self.font())
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(QColor(scheme.text))
            painter.drawText(area, _TOP, one_line(found))
            return
        super().paint_row(painter, scheme, row, [texts[0], ""], style)
        cell = self.cell_rect(row, 1).translated(-self.viewport().pos())
        self._paint_text(painter, scheme, cell.adjusted(theme.MEDIUM, 0, -theme.SMALL, 0), found)

    @staticmethod
    def _paint_text(painter: QPainter, scheme: theme.Colors, area: QRect, hit: TextHit) -> None:
        font = theme.mono_font()
        painter.setFont(font)
        metrics = QFontMetrics(font)
        at, x = 0, area.left()
        for start, stop in (*hit.spans, (len(hit.text), len(hit.text))):
            for text, is_marked in ((hit.text[at:start], False), (hit.text[start:stop], True)):
                some = one_line(text)
                width = metrics.horizontalAdvance(some)
                box = QRect(x, area.top(), max(0, min(width, area.right() - x)), area.height())
                if is_marked and some:
                    painter.fillRect(box.adjusted(0, 2, 0, -2), QColor(scheme.warning_soft))
                    painter.setPen(QColor(scheme.warning))
                    painter.drawLine(box.left(), box.bottom() - 2, box.right(), box.bottom() - 2)
                painter.setPen(QColor(scheme.text))
                painter.drawText(box, _TOP, some)
                x += width
            at = stop


class SearchPane(QWidget):
    """Nothing is searched before something is typed; what is typed anew ends what was searched before.

    Signals
    -------
    chosen(object, object)
        The `OpenDocument` and the `TextHit` that the user wants to see.
    """

    chosen = Signal(object, object)

    def __init__(self, documents: Documents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._documents = documents
        self._left: list[OpenDocument] = []
        self._counted = 0
        self._notes: list[str] = []
        self._soon = one_shot(self, PAUSE, self.search)
        self._searching = Latest(self, "search texts")
        self.field = QLineEdit()
        self.field.setObjectName("searchField")
        self.field.setAccessibleName("Search in all texts")
        self.field.setPlaceholderText("Search keys, URLs, attributes, values, names, rules")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _text: self._soon.start())
        self.field.returnPressed.connect(self.search)
        self.case = self._switch("searchCase", "Aa", "Match upper and lower case")
        self.words = self._switch("searchWords", "ab|", "Whole words only")
        self.expression = self._switch("searchExpression", ".*", "Search for a regular expression")
        self.everywhere = QCheckBox("All &documents")
        self.everywhere.setObjectName("searchEverywhere")
        self.everywhere.setToolTip("Search in all documents that are open")
        self.everywhere.toggled.connect(lambda _checked: self.search())
        self.state = ElidedLabel("searchState", role="muted")
        self.state.setMargin(theme.SMALL)
        self.rows = SearchRows()
        self.table = _SearchTable()
        self.table.setObjectName("searchResults")
        self.table.setAccessibleName("Where it was found")
        self.table.set_placeholder("")
        self.table.currentChanged.connect(self._choose)
        self.table.activated.connect(self._choose)
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self.field, 3)
        head.addWidget(self.state, 2)
        for part in (self.case, self.words, self.expression, self.everywhere):
            head.addWidget(part)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(head)
        layout.addWidget(self.table, 1)
        self.setFocusProxy(self.field)
        documents.currentChanged.connect(lambda _document: self._current_changed())
        documents.removed.connect(self._forget)

    def _switch(self, name: str, text: str, tip: str) -> QToolButton:
        button = tool_button(name, tip, text)
        button.setCheckable(True)
        button.toggled.connect(lambda _checked: self.search())
        return button

    def begin(self, text: str) -> None:
        """Put the keyboard in the field, with a text in it where one is given."""
        if text:
            self.field.setText(text)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    # Searching

    def search(self) -> None:
        """Search for what is typed."""
        self._soon.stop()
        self._searching.cancel()
        self._counted, self._notes, self._left = 0, [], []
        self.rows = SearchRows()
        self.rows.names_documents = self.everywhere.isChecked()
        self.table.set_model(self.rows)
        text = self.field.text()
        if not text:
            self.state.set_text("")
            return
        from refbrowser.views.searching.pattern import PatternError, SearchPattern

        try:
            pattern = SearchPattern.of(
                text,
                any_case=not self.case.isChecked(),
                whole_words=self.words.isChecked(),
                is_expression=self.expression.isChecked(),
            )
        except PatternError as error:
            self.state.set_text(str(error))
            return
        current = self._documents.current
        chosen = (
            self._documents.all() if self.everywhere.isChecked() else [] if current is None else [current]
        )
        self._left = [document for document in chosen if document.document is not None]
        self._go_on(pattern)

    def _go_on(self, pattern: SearchPattern) -> None:
        """Search in the next document."""
        if not self._left:
            self._show_state(is_done=True)
            return
        document = self._left.pop(0)
        state, hierarchy = document.document, document.hierarchy
        if state is None:
            self._go_on(pattern)
            return
        self._show_state(is_done=False)

        def work(control: TaskControl) -> SearchEnd:
            from refbrowser.views.searching.text_search import search_texts

            return search_texts(state, hierarchy, pattern, control.send, control.check)

        def ended(end: SearchEnd) -> None:
            if end.cut or not end.is_whole:
                self._notes.append(document.title)
            self._go_on(pattern)

        title = f"Search in {document.title}"
        self._searching.run(document, title, work, ended, received=lambda hits: self._add(document, hits))

    def _add(self, document: OpenDocument, hits: Sequence[TextHit]) -> None:
        self.rows.add(document, hits)
        self.table.refresh()
        self._counted += len(hits)
        self._show_state(is_done=False)

    def _show_state(self, *, is_done: bool) -> None:
        if not is_done:
            self.state.set_text(f"Searching…  {counted_spaced(self._counted, 'place')} so far")
        elif not self._counted:
            self.state.set_text("Not found")
        else:
            more = ": more than these were not listed" if self._notes else ""
            self.state.set_text(f"{counted_spaced(self._counted, 'place')}{more}")

    def _current_changed(self) -> None:
        """Give up what was found in another document."""
        if not self.everywhere.isChecked() and self.rows.row_count():
            self.search()

    def _forget(self, document: OpenDocument) -> None:
        self.rows.forget(document)
        self.table.refresh()
        if document in self._left:
            self._left.remove(document)

    def _choose(self, row: int | None) -> None:
        if row is not None:
            document, found = self.rows.at(row)
            if not isinstance(found, str):
                self.chosen.emit(document, found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus() and self.rows.row_count():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            if self.table.current() is None:
                self.table.set_current(1)
        else:
            super().keyPressEvent(event)
