"""References: the Version 0 view of a document, its keys edited in place, and what is generated."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.panes.key_editor import KeyEditor
from refbrowser.app.panes.reference_bars import FilterBar, GeneratedBar, UnreadBar
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.errors import RefbrowserError
from refbrowser.views.editing.field_drafts import KeyDraft, key_mistake
from refbrowser.views.editing.typed_input import DraftKind, Typed
from refbrowser.views.reference_queries.reference_query import StateTerm
from refbrowser.views.references import (
    COLUMNS,
    KEY,
    ChangedOnlyRows,
    ExpansionRows,
    FirstRows,
    ListedRows,
    SelectedRows,
    split_rows,
)
from refbrowser.views.rows import NoRows
from refbrowser.words import count_text, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.views.reference_queries.found_rows import FoundRows


NOTHING = "Open a document to see its keys: every key with its URL, offset and length."
NONE_MATCHES = "No key matches the filter."
NONE_CHANGED = "No key differs from the saved state."
LOOKING = "Looking for the keys that differ from the saved state…"
UNREAD = "The references of this set are not read yet."
NO_REFERENCES = "This document has no references."
#: The column of the keys, which are edited in place.
_KEY = COLUMNS.index(KEY)
#: Rows of those that differ that are acted on at once, at most.
MOST_SELECTED = 100_000
#: Rows that the budget left out follow after this pause, in milliseconds.
REST_PAUSE = 5
#: The other panes follow the current row when it rests so long, in milliseconds: a held key stays fluent.
TELL_PAUSE = 60


class ReferencesPane(QWidget):
    """The virtual table of keys, with a field to go to a key or row; all of them, or those that differ.

    Signals
    -------
    keySelected(str, object)
        The key that the user made current and its row in the Version 0 view.
    keyActivated(str, object)
        The same, after a double click or Return.
    renameWanted(str, str)
        The user gave a key another name.
    changedOnlyToggled(bool)
        Whether only the rows are shown that differ from the saved state.
    """

    keySelected = Signal(str, object)
    keyActivated = Signal(str, object)
    renameWanted = Signal(str, str)
    changedOnlyToggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._search = Latest(self, "references")
        self._filtering = Latest(self, "filter of references")
        #: What the filter found, in which document, and for which conditions.
        self._matched: FoundRows | None = None
        self._matched_for: tuple[object, ...] = ()
        self._quiet = False
        #: Whether marks or count are to be shown anew when they are seen.
        self._is_behind = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_PAUSE)
        self._told = one_shot(self, TELL_PAUSE, self._tell)
        self._make_go()
        self._make_table()
        self._make_filter()
        self.table.offer_order()
        self.table.titlePressed.connect(self.filter.press)
        self.generated = GeneratedBar()
        self.unread = UnreadBar()
        self.unread.wanted.connect(self._read_all)
        self._editor = KeyEditor(self._key_mistake, self.table)
        self._editor.accepted.connect(self._key_typed)
        self._editor.typed.connect(self._key_edited)
        self._edited: tuple[int, str] | None = None
        self.table.verticalScrollBar().valueChanged.connect(lambda _value: self._place_editor())
        self._rest.timeout.connect(self.table.refresh)
        self._lay_out()

    def _make_go(self) -> None:
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

    def _make_table(self) -> None:
        self.table = VirtualTable()
        self.table.setObjectName("referencesView")
        self.table.setAccessibleName("References")
        self.table.set_model(NoRows(COLUMNS))
        self.table.set_placeholder(NOTHING)
        self.table.currentChanged.connect(self._row_chosen)
        self.table.activated.connect(self._row_activated)
        self.table.currentChanged.connect(lambda _row: self._show_origin())

    def _make_filter(self) -> None:
        self.changed_only = QCheckBox("Changed only")
        self.changed_only.setObjectName("referencesChangedOnly")
        self.changed_only.setAccessibleName("Show changed keys only")
        self.changed_only.setToolTip("Show only the keys that differ from the saved state")
        self.changed_only.toggled.connect(self._filter)
        self.filter = FilterBar()
        self.filter.changed.connect(self._filter_changed)
        self.filter.failed.connect(self._answered)
        self.filter.left.connect(lambda: self.table.setFocus(Qt.FocusReason.OtherFocusReason))

    def _lay_out(self) -> None:
        which = QHBoxLayout()
        which.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        which.setSpacing(theme.MEDIUM)
        which.addWidget(self.filter, 1)
        which.addWidget(self.changed_only)
        going = QHBoxLayout()
        going.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, 0)
        going.setSpacing(theme.MEDIUM)
        going.addWidget(self._go, 1)
        going.addWidget(self._go_button)
        going.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(which)
        layout.addLayout(going)
        layout.addWidget(self._answer)
        layout.addWidget(self.unread)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.generated)
        self._answer.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, 0)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show another document; the table begins at its first row."""
        if document is not self._document:
            self._document = document
            self._search.cancel()
            self._filtering.cancel()
            self._matched, self._matched_for = None, ()
            self.filter.clear()
            self.changed_only.setChecked(False)
            self._show_rows(keep=False)

    def refresh(self) -> None:
        """Show the document's newest state; the position stays."""
        self._show_rows(keep=True)

    def show_marks(self) -> None:
        """Show which rows differ where nothing else changed: the document was saved."""
        if self.changed_only.isChecked():
            self._show_rows(keep=True)
        elif self.isVisible():
            self.table.show_styles()
        else:
            self._is_behind = True

    def show_changes(self) -> None:
        """Show which rows differ, now that it is known."""
        if self.changed_only.isChecked() or self.filter.is_active:
            self._show_rows(keep=True)
        elif self.isVisible():
            self._show_count()
        else:
            self._is_behind = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_behind:
            self._is_behind = False
            self.table.show_styles()
            self._show_count()

    def show_changed_only(self, on: bool) -> None:
        """Show only the rows that differ from the saved state, or all of them."""
        self.changed_only.setChecked(on)

    def show_first_rows(self, rows: FirstRows) -> None:
        """Show rows of a document that is still being read."""
        top = self.table.top_row()
        self.table.set_model(rows)
        self.table.set_top_row(top)
        self._count.setText(f"{count_text(rows.row_count())} rows so far…")

    def focus_go_to(self) -> None:
        """Put the cursor in the field for a key."""
        self._go.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._go.selectAll()

    def current_key(self) -> str | None:
        """Return the key of the current row."""
        row = self.table.current()
        return None if row is None else self._key(row)

    def current_row(self) -> int | None:
        """Return the current row of the Version 0 view."""
        number, model = self.table.current(), self.table.model()
        if number is None or not isinstance(model, ExpansionRows | ListedRows):
            return None
        return model.row(number)

    def selected_rows(self) -> SelectedRows:
        """Return what is selected; nothing while the rows are not those of the document as it is now."""
        model, chosen = self.table.model(), self.table.selected()
        state = None if self._document is None else self._document.document
        if state is None or not chosen:
            return SelectedRows()
        runs: tuple[tuple[int, int], ...] = ((chosen.start, chosen.stop),)
        if isinstance(model, ListedRows):
            runs = model.runs(chosen.start, min(chosen.stop, chosen.start + MOST_SELECTED))
        if not isinstance(model, ExpansionRows | ListedRows) or model.document is not state:
            return SelectedRows()
        return split_rows(runs, state.expansion.refs_rows, state.expansion.gen_rows)

    def rename_current(self) -> None:
        """Edit the key of the current row in its place."""
        number, key = self.table.current(), self.current_key()
        if number is not None and key is not None:
            self.table.scroll_to(number)
            self._edited = (number, key)
            self._editor.begin(key, self.table.cell_rect(number, _KEY))
            typed = None if self._document is None else drafts_of(self._document).field(DraftKind.KEY, key)
            if isinstance(typed, KeyDraft):
                self._editor.type_on(typed.key)

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
        if dataset is None or state.is_unread:
            return

        def find(_control: TaskControl) -> int | None:
            from refbrowser.app.controller.work import first_row_of

            return first_row_of(state, dataset, path)

        title = f"Find the keys of {path}"
        self._search.run(document, title, find, self._show_row_quietly)

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
        if state.is_unread:
            if focus:
                self._found(UNREAD)
            return

        def find(_control: TaskControl) -> int | str:
            from refbrowser.app.controller.work import row_of_key

            return row_of_key(state, key)

        self._search.run(document, f"Find {key[:60]}", find, lambda answer: self._found(answer, focus))

    # Reactions

    def _show_rows(self, keep: bool) -> None:
        document = self._document
        state = None if document is None else document.document
        self._answer.hide()
        self.unread.show_document(document)
        for widget in (self._go, self._go_button, self.changed_only, self.filter):
            widget.setEnabled(state is None or not state.is_unread)
        if document is None or state is None:
            self._editor.leave()
            self.table.set_model(NoRows(COLUMNS))
            self._count.setText("")
            self.table.set_placeholder(NOTHING if document is None else "Reading the document…")
            return
        top, current = self.table.top_row(), self.table.current()
        rows = self._rows(document, state)
        if rows is None:
            # What is shown stays until the filter has looked at the newest state.
            return
        self._quiet = True
        self.table.set_model(rows)
        if keep:
            self.table.set_top_row(top)
            if current is not None and current < self.table.model().row_count():
                self.table.set_current(current)
        self._quiet = False
        self._keep_editor()
        self._show_count()
        self._show_origin()

    def _rows(self, document: OpenDocument, state: Document) -> ExpansionRows | ListedRows | NoRows | None:
        """Return what the table shows, with the words for when that is nothing; None: it is looked for."""
        if state.is_unread:
            self.table.set_placeholder(UNREAD)
            return NoRows(COLUMNS)
        rows = ExpansionRows(state, document.is_row_changed, self._rest.start)
        if self.filter.is_active:
            self.table.set_placeholder(NONE_MATCHES)
            if self._matched is not None and self._matched_for == self._asked(document, state):
                return ListedRows(rows, self._matched, self._rest.start)
            self._look(document, state)
            return None
        if not self.changed_only.isChecked():
            self.table.set_placeholder(NO_REFERENCES)
            return rows
        changes, saved = document.changes.rows, document.saved_document
        if not document.changes.is_known or changes is None or saved is None:
            self.table.set_placeholder(LOOKING if document.is_dirty else NONE_CHANGED)
            return NoRows(COLUMNS)
        self.table.set_placeholder(NONE_CHANGED)
        return ChangedOnlyRows(rows, changes, saved, self._rest.start)

    def _asked(self, document: OpenDocument, state: Document) -> tuple[object, ...]:
        """Return what the rows go by that the filter finds."""
        bar = self.filter
        changes = document.changes.rows if document.changes.is_known else None
        return state, bar.query, self.changed_only.isChecked(), bar.column, bar.is_descending, changes

    def _look(self, document: OpenDocument, state: Document) -> None:
        """Look for the rows that the filter means."""
        bar, asked = self.filter, self._asked(document, state)
        query, column, is_descending = bar.query, bar.column or 0, bar.is_descending
        if self.changed_only.isChecked():
            query = query.with_term(StateTerm("changed"))
        changes = document.changes.rows if document.changes.is_known else None

        def find(control: TaskControl) -> FoundRows:
            from refbrowser.views.reference_queries.matched_rows import matched_rows
            from refbrowser.views.reference_queries.sorted_rows import sorted_rows

            found = matched_rows(state, query, None if changes is None else changes.mask, control.check)
            if not column and not is_descending:
                return found
            order = attrgetter(COLUMNS[column].order)
            return sorted_rows(state, found, order, is_descending=is_descending, check=control.check)

        def done(found: FoundRows) -> None:
            self._matched, self._matched_for = found, asked
            self._show_rows(keep=True)

        self._count.setText("Looking…")
        self._filtering.run(document, "Filter references", find, done, self._not_found)

    def _not_found(self, error: BaseException) -> None:
        self._count.setText("")
        advice = error.advice if isinstance(error, RefbrowserError) else ""
        self._answered(f"{getattr(error, 'message', error)}. {advice}")

    def _answered(self, words: str) -> None:
        """Say why what was typed cannot be done; nothing where it can."""
        self._answer.setText(words)
        self._answer.setVisible(bool(words))

    def _filter_changed(self) -> None:
        bar = self.filter
        down = Qt.SortOrder.DescendingOrder
        is_sorted = bar.column is not None or bar.is_descending
        order = down if bar.is_descending else Qt.SortOrder.AscendingOrder
        self.table.show_order((bar.column or 0) if is_sorted else None, order)
        self._filter(self.changed_only.isChecked())

    def _read_all(self) -> None:
        if self._document is not None:
            self._document.read_all(self._not_read)

    def _not_read(self, error: BaseException) -> None:
        self.unread.show_document(self._document)
        self._answer.setText(str(error))
        self._answer.show()

    def _show_count(self) -> None:
        rows = self.table.model().row_count()
        document = self._document
        if self.unread.isVisibleTo(self):
            self._count.setText("")
            return
        changes = None if document is None or not document.changes.is_known else document.changes.rows
        text = counted_spaced(rows, "row")
        if isinstance(self.table.model(), ListedRows) and self._matched is not None and self.filter.is_active:
            self._count.setText(self._filtered_words(self._matched))
            return
        if self.changed_only.isChecked():
            at_most = "" if changes is None or changes.is_exact else "at most "
            text = f"{at_most}{text} {plural(rows, 'differs', 'differ')}"
            unlisted = 0 if changes is None else changes.removed_count - len(changes.removed)
            text += f", and {count_text(unlisted)} more were removed" if unlisted else ""
        self._count.setText(text)

    def _filtered_words(self, found: FoundRows) -> str:
        """Return how many rows the filter left, and how many it did not look at."""
        state = None if self._document is None else self._document.document
        whole = 0 if state is None else state.expansion.rows
        text = f"{count_text(found.count)} of {counted_spaced(whole, 'row')}"
        left = [f"{count_text(rows)} of gen rule {rule}" for rule, rows in found.unsearched]
        return f"{text}; not looked at: {', '.join(left)}" if left else text

    def _filter(self, on: bool) -> None:
        row = self.current_row()
        self._show_rows(keep=False)
        number = None if row is None else self._number_of(row)
        if number is not None:
            self.table.set_current(number)
        self.changedOnlyToggled.emit(on)

    def _show_origin(self) -> None:
        """Tell beneath the table that the current row comes from a rule, where it does."""
        state = None if self._document is None else self._document.document
        row = self.current_row()
        if state is None or row is None or row < state.expansion.refs_rows or state.rules_are_made:
            self.generated.hide()
            return
        key = self.current_key()
        if key is None:
            self.generated.hide()
        else:
            self.generated.show_row(key, *state.expansion.origin(row))

    # Renaming

    def _key_mistake(self, text: str) -> str:
        """Return why a text cannot be the key of the entry that is edited."""
        return key_mistake(None if self._document is None else self._document.document, text)

    def _key_edited(self, text: str | None) -> None:
        """Keep what is typed as a key; None: it was accepted, or given up."""
        if self._document is None or self._edited is None:
            return
        drafts, key = drafts_of(self._document), self._edited[1]
        if text is None:
            drafts.drop_field(DraftKind.KEY, key)
        else:
            drafts.put_field(DraftKind.KEY, key, KeyDraft(text, key))

    def show_typed_key(self, key: str) -> None:
        """Go on with a key that was typed over another one."""
        state = None if self._document is None else self._document.document
        slot = None if state is None else state.refs.find_slot(key)
        if state is not None and slot is not None:
            self.show_row(state.refs.position(slot))
            self.rename_current()

    def applied(self, typed: tuple[Typed, ...]) -> None:
        """Take over that what was typed is a step of the history now."""
        for one in typed:
            if isinstance(one.draft, KeyDraft):
                self._editor.leave()
                self.go_to_key(one.draft.key)

    def _key_typed(self, key: str) -> None:
        if self._edited is not None:
            self.renameWanted.emit(self._edited[1], key)

    def _keep_editor(self) -> None:
        """Let a key be typed on while its row is still that of the same key."""
        current = self.table.current()
        if self._editor.isVisible() and (current is None or (current, self._key(current)) != self._edited):
            self._editor.leave()

    def _place_editor(self) -> None:
        if self._edited is not None and self._editor.isVisible():
            self._editor.place(self.table.cell_rect(self._edited[0], _KEY))

    def _go_to_text(self) -> None:
        text = self._go.text().strip()
        state = None if self._document is None else self._document.document
        rows = self.table.model().row_count() if state is None else state.expansion.rows
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
            self.show_row(answer)
            if focus:
                self.table.setFocus()

    def show_row(self, row: int) -> None:
        """Make a row of the Version 0 view current; all rows are shown where it is none that differs."""
        number = self._number_of(row)
        if number is None:
            self.filter.clear()
            self.changed_only.setChecked(False)
            number = row
        self.table.set_current(number)

    def _number_of(self, row: int) -> int | None:
        model = self.table.model()
        return model.number_of(row) if isinstance(model, ExpansionRows | ListedRows) else None

    def _show_row_quietly(self, row: int | None) -> None:
        number = None if row is None else self._number_of(row)
        if number is None:
            return
        self._told.stop()
        self._quiet = True
        self.table.set_current(number)
        self.table.set_top_row(number)
        self._quiet = False

    def _key(self, row: int) -> str | None:
        model = self.table.model()
        if not isinstance(model, ExpansionRows | ListedRows | FirstRows):
            return None
        return model.key(row)

    def _row_chosen(self, row: int | None) -> None:
        if self._edited is not None and row != self._edited[0] and not self._quiet:
            self._editor.leave()
        if row is not None and not self._quiet:
            self._told.start()

    def tell_now(self) -> None:
        """Let the other panes follow the current row at once, if they wait for it to rest."""
        if self._told.isActive():
            self._told.stop()
            self._tell()

    def _tell(self) -> None:
        row, key = self.current_row(), self.current_key()
        if key is not None and row is not None:
            self.keySelected.emit(key, row)

    def _row_activated(self, _number: int) -> None:
        row, key = self.current_row(), self.current_key()
        if key is not None and row is not None:
            self.keyActivated.emit(key, row)
