"""The references pane: every key of the Version 0 view, with what it points to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.reference_rows import COLUMNS, ExpansionRows, FirstRowsModel
from refbrowser.app.tasks import TaskControl
from refbrowser.app.virtual_table import NoRows, VirtualTable
from refbrowser.app.widgets import plain_label, push_button

if TYPE_CHECKING:
    from refbrowser.app.controller.reading import FirstRows

NOTHING = "Open a document to see its keys: every key with its URL, offset and length."
#: Rows that the budget left out follow after this pause, in milliseconds.
REST_PAUSE = 5
#: The other panes follow the current row when it rests so long, in milliseconds: a held key stays fluent.
TELL_PAUSE = 60


class ReferencesPane(QWidget):
    """The virtual table of keys, with a field to go to a key or row.

    Signals
    -------
    keySelected(str, object)
        The key that the user made current and its row in the Version 0 view.
    keyActivated(str, object)
        The same, after a double click or Return.
    """

    keySelected = Signal(str, object)
    keyActivated = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._quiet = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_PAUSE)
        self._told = QTimer(self)
        self._told.setSingleShot(True)
        self._told.setInterval(TELL_PAUSE)
        self._told.timeout.connect(self._tell)
        self._go = QLineEdit()
        self._go.setObjectName("goToKeyField")
        self._go.setAccessibleName("Go to key or row")
        self._go.setPlaceholderText("Go to a key, or a row number")
        self._go.setClearButtonEnabled(True)
        self._go.returnPressed.connect(self._go_to_text)
        self._go_button = push_button("Go", "goToKeyButton", self._go_to_text)
        self._count = plain_label("", role="muted", wrap=False)
        self._count.setObjectName("referencesCount")
        self._answer = plain_label("", role="warning", wrap=True)
        self._answer.setObjectName("goToKeyAnswer")
        self._answer.hide()
        self.table = VirtualTable()
        self.table.setObjectName("referencesView")
        self.table.setAccessibleName("References")
        self.table.set_model(NoRows(COLUMNS))
        self.table.set_placeholder(NOTHING)
        self.table.currentChanged.connect(self._row_chosen)
        self.table.activated.connect(self._row_activated)
        self._rest.timeout.connect(self.table.refresh)
        top = QHBoxLayout()
        top.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        top.setSpacing(theme.MEDIUM)
        top.addWidget(self._go, 1)
        top.addWidget(self._go_button)
        top.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(top)
        layout.addWidget(self._answer)
        layout.addWidget(self.table, 1)
        self._answer.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, 0)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show another document; the table begins at its first row."""
        if document is not self._document:
            self._document = document
            self._show_rows(keep=False)

    def refresh(self) -> None:
        """Show the document's newest state; the position stays."""
        self._show_rows(keep=True)

    def show_first_rows(self, rows: FirstRows) -> None:
        """Show rows of a document that is still being read."""
        top = self.table.top_row()
        self.table.set_model(FirstRowsModel(rows))
        self.table.set_top_row(top)
        self._count.setText(f"{theme.count_text(rows.count)} rows so far…")

    def focus_go_to(self) -> None:
        """Put the cursor in the field for a key."""
        self._go.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._go.selectAll()

    def current_key(self) -> str | None:
        """Return the key of the current row."""
        row = self.table.current()
        return None if row is None else self._key(row)

    def show_array(self, path: str) -> None:
        """Scroll to the keys of an array (or group) unless the current key is one of them."""
        document = self._document
        prefix = path.strip("/")
        current = self.current_key()
        if document is None or document.document is None:
            return
        if current is not None and prefix and current.startswith(f"{prefix}/"):
            return
        state, dataset = document.document, document.dataset
        if dataset is None:
            return

        def find(_control: TaskControl) -> int | None:
            from refbrowser.app.controller.work import first_row_of

            return first_row_of(state, dataset, path)

        title = f"Find the keys of {path}"
        document.tasks.run(document.owner("references"), title, find, self._show_row_quietly)

    def show_rule(self, number: int) -> None:
        """Scroll to the rows of a gen rule."""
        state = None if self._document is None else self._document.document
        if state is not None and number < len(state.rules):
            expansion = state.expansion
            self._show_row_quietly(expansion.refs_rows + sum(expansion.gen_rows[:number]))

    def go_to_key(self, key: str, *, focus: bool = True) -> None:
        """Make the row of a key current, and with `focus` put the keyboard there."""
        document = self._document
        if document is None or document.document is None:
            return
        state = document.document

        def find(_control: TaskControl) -> int | str:
            from refbrowser.app.controller.work import row_of_key

            return row_of_key(state, key)

        document.tasks.run(
            document.owner("references"), f"Find {key[:60]}", find, lambda answer: self._found(answer, focus)
        )

    # Reactions

    def _show_rows(self, keep: bool) -> None:
        document = self._document
        state = None if document is None else document.document
        self._answer.hide()
        if document is None or state is None:
            self.table.set_model(NoRows(COLUMNS))
            self._count.setText("")
            self.table.set_placeholder(NOTHING if document is None else "Reading the document…")
            return
        top, current = self.table.top_row(), self.table.current()
        self._quiet = True
        self.table.set_model(ExpansionRows(state, document.is_row_changed, self._rest.start))
        rows = self.table.model().row_count()
        self.table.set_placeholder("This document has no references.")
        if keep:
            self.table.set_top_row(top)
            if current is not None and current < rows:
                self.table.set_current(current)
        self._quiet = False
        self._count.setText(f"{theme.count_text(rows)} row{'' if rows == 1 else 's'}")

    def _go_to_text(self) -> None:
        text = self._go.text().strip()
        rows = self.table.model().row_count()
        number = text.replace(",", "").replace("_", "").replace(" ", "").removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) <= 40 and int(number) < rows:
            self._found(int(number))
        elif text:
            self.go_to_key(text)

    def _found(self, answer: int | str, focus: bool = True) -> None:
        self._answer.setVisible(isinstance(answer, str))
        if isinstance(answer, str):
            self._answer.setText(answer)
        else:
            self.table.set_current(answer)
            if focus:
                self.table.setFocus()

    def _show_row_quietly(self, row: int | None) -> None:
        if row is None:
            return
        self._told.stop()
        self._quiet = True
        self.table.set_current(row)
        self.table.set_top_row(row)
        self._quiet = False

    def _key(self, row: int) -> str | None:
        model = self.table.model()
        return model.key(row) if isinstance(model, ExpansionRows | FirstRowsModel) else None

    def _row_chosen(self, row: int | None) -> None:
        if row is not None and not self._quiet:
            self._told.start()

    def _tell(self) -> None:
        row = self.table.current()
        key = None if row is None else self._key(row)
        if key is not None:
            self.keySelected.emit(key, row)

    def _row_activated(self, row: int) -> None:
        key = self._key(row)
        if key is not None:
            self.keyActivated.emit(key, row)
