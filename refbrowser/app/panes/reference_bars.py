"""The bars around the table of references: what of it is shown, where a row comes from, what was not read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QToolButton, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button, tool_button
from refbrowser.errors import RefbrowserError
from refbrowser.views.reference_queries.reference_query import ReferenceQuery
from refbrowser.views.references import COLUMNS
from refbrowser.views.words import one_line, unread_words
from refbrowser.words import count_text

#: What is typed is looked for after this pause, in milliseconds.
_TYPED = 250
_HELP = """\
Words are looked for in keys; all conditions have to hold:
url:2015   key:temp/*   size>10MB   offset<1000   size:1KB..4KB
kind:range, inline, whole or fault   from:refs or rule2   state:changed
-kind:inline leaves out what has it; * and ? stand for any letters"""


class FilterBar(QWidget):
    """What is shown of the references, and in which order.

    Signals
    -------
    changed()
        `query`, `column` or `is_descending` are other ones.
    failed(str)
        Why what is typed cannot be looked for; empty once it can.
    left()
        The keyboard is to go to the table.
    """

    changed = Signal()
    failed = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.query = ReferenceQuery(())
        #: The column that rows are sorted by; None: they are in the order of the document.
        self.column: int | None = None
        self.is_descending = False
        self.field = QLineEdit()
        self.field.setObjectName("referencesFilter")
        self.field.setAccessibleName("Filter of references")
        self.field.setPlaceholderText("Filter: part of a key, url:2015, size>10MB, kind:range…")
        self.field.setToolTip(_HELP)
        self.field.setClearButtonEnabled(True)
        self._typed = one_shot(self, _TYPED, self._take)
        self.field.textChanged.connect(lambda _text: self._typed.start())
        self.field.returnPressed.connect(self._entered)
        self.order = tool_button("referencesOrderButton", "The order of the references", "Sort")
        self.order.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = self._order_menu()
        self.order.setMenu(self._menu)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.order)

    def _order_menu(self) -> QMenu:
        menu = QMenu(self.order)
        menu.setObjectName("referencesOrderMenu")
        self._columns = QActionGroup(menu)
        for number, column in enumerate(COLUMNS):
            entry = QAction("As in the document" if column.title == "Row" else column.title, self._columns)
            entry.setCheckable(True)
            entry.setChecked(number == 0)
            entry.triggered.connect(lambda _on, number=number: self.sort_by(number or None))
        menu.addActions(self._columns.actions())
        menu.addSeparator()
        self._descending = QAction("Descending", self)
        self._descending.setCheckable(True)
        menu.addAction(self._descending)
        self._descending.triggered.connect(self._turn)
        return menu

    @property
    def is_active(self) -> bool:
        """Whether not all rows are shown, or in another order."""
        return bool(self.query.terms) or self.column is not None or self.is_descending

    def clear(self) -> None:
        """Show all rows, in their order."""
        self.field.clear()
        self._typed.stop()
        was_active = self.is_active
        self.query, self.column, self.is_descending = ReferenceQuery(()), None, False
        self._show_order()
        self.failed.emit("")
        if was_active:
            self.changed.emit()

    def press(self, column: int) -> None:
        """Sort by the column whose title was clicked; downwards at the second click, and then no more."""
        if column != (self.column or 0):
            self.sort_by(column or None)
        elif self.is_descending:
            self.is_descending = False
            self.sort_by(None)
        else:
            self._turn(True)

    def sort_by(self, column: int | None) -> None:
        """Sort by a column; None: as in the document."""
        self.column = column
        self._show_order()
        self.changed.emit()

    def _turn(self, is_descending: bool) -> None:
        self.is_descending = is_descending
        self._show_order()
        self.changed.emit()

    def _show_order(self) -> None:
        self._columns.actions()[self.column or 0].setChecked(True)
        self._descending.setChecked(self.is_descending)

    def _take(self) -> None:
        """Read what was typed."""
        try:
            query = ReferenceQuery.parse(self.field.text())
        except RefbrowserError as error:
            self.failed.emit(f"{error.message}.")
            return
        self.failed.emit("")
        if query != self.query:
            self.query = query
            self.changed.emit()

    def _entered(self) -> None:
        self._typed.stop()
        self._take()
        self.left.emit()


class GeneratedBar(QFrame):
    """Tells which rule a row comes from, and offers to go there or to override the key.

    Signals
    -------
    ruleWanted()
        Show the rule.
    overrideWanted()
        Give this key a reference of its own.
    """

    ruleWanted = Signal()
    overrideWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("generatedBar")
        self._text = plain_label("", role="muted", wrap=True)
        self._text.setObjectName("generatedText")
        to_rule = push_button("Go to the rule", "generatedRuleButton", self.ruleWanted.emit)
        to_rule.setToolTip("Show the gen rule in its editor")
        override = push_button("Override this key", "generatedOverrideButton", self.overrideWanted.emit)
        override.setToolTip(
            "Add a gen rule of one row for this key: the last rule wins, an entry in refs would not"
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._text, 1)
        layout.addWidget(to_rule)
        layout.addWidget(override)
        self.hide()

    def show_row(self, key: str, rule: int, row: int) -> None:
        """Tell of one row."""
        self._text.setText(
            f"{one_line(key)} is not in refs: it comes from gen rule {rule}, row {count_text(row)}."
        )
        self.show()


class UnreadBar(QFrame):
    """Tells that very many references are read as arrays are touched, and offers to read all of them.

    Signals
    -------
    wanted()
        Read them.
    """

    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("unreadBar")
        self._text = plain_label("", role="muted", wrap=True)
        self._text.setObjectName("unreadText")
        self._button = push_button("Read all", "readAllButton", self._pressed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._button)
        self.hide()

    def show_document(self, document: OpenDocument | None) -> None:
        """Tell of a document, where its references were left."""
        state = None if document is None else document.document
        is_unread = document is not None and state is not None and state.is_unread
        self.setVisible(is_unread)
        if document is not None and state is not None and is_unread:
            self._button.setEnabled(not document.is_reading_all)
            self._text.setText(unread_words(state.left))

    def _pressed(self) -> None:
        self._button.setEnabled(False)
        self.wanted.emit()
