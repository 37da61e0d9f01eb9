"""A text with its head, its search and the line that tells where the caret is: what texts have in common."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from refbrowser.app.source.source_view import SourceView
from refbrowser.app.tasks.latest import Latest, Work
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import OutcomeLine
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, tool_button
from refbrowser.views.source.row_edit import EditedRows, NotEditableError, edited_rows, rows_around
from refbrowser.views.source.row_scan import LaidOutRows, Layout, LineRows, RowStarts, scan_rows
from refbrowser.views.source.source_text import SourceText
from refbrowser.views.source.text_rows import TextRows, is_wide
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.references.content.finding_places import Positions

_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
#: Bytes behind the top that are known before other rows take the place of those that are seen.
_AHEAD = 1 << 16
#: Bytes at the beginning by which the layout is chosen.
_SAMPLE = 1 << 16
#: Seconds of rest after each portion of a text.
_REST = 0.001
#: What is selected is looked for at once where it has at most so many bytes.
_SOUGHT = 200
#: A search begins so long after a keystroke, in milliseconds.
PAUSE = 120


class FindBar(QWidget):
    """Hidden until it is asked for.

    Signals
    -------
    sought()
        Something else is to be found.
    stepped(int)
        The next place is wanted (1), or the one before (-1).
    left()
        The keyboard is to go back to the text.
    """

    sought = Signal()
    stepped = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._soon = one_shot(self, PAUSE, self.sought.emit)
        self.field = QLineEdit()
        self.field.setObjectName("sourceFind")
        self.field.setAccessibleName("Find in the source")
        self.field.setPlaceholderText("Find in the text")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _text: self._soon.start())
        self.case = QCheckBox("&Match case")
        self.case.setObjectName("sourceFindCase")
        self.case.toggled.connect(lambda _checked: self._soon.start())
        self.count = plain_label("", role="muted", wrap=False)
        self.count.setObjectName("sourceFound")
        self._before = tool_button("sourceFindBefore", "Previous place (Shift+F3)", "↑")
        self._next = tool_button("sourceFindNext", "Next place (F3)", "↓")
        close = tool_button("sourceFindClose", "Close the search (Esc)", "✕")
        self._before.clicked.connect(lambda: self.stepped.emit(-1))
        self._next.clicked.connect(lambda: self.stepped.emit(1))
        close.clicked.connect(self.close_bar)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.field, 1)
        for part in (self.count, self.case, self._before, self._next, close):
            layout.addWidget(part)
        self.hide()

    def open_bar(self, text: str) -> None:
        """Show the field, with a text in it where one is given, and put the keyboard there."""
        self.show()
        if text:
            self.field.setText(text)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def close_bar(self) -> None:
        """Hide the field."""
        self.hide()
        self.left.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._soon.stop()

    def show_count(self, number: int | None, count: int) -> None:
        """Show which of the places that were found is the one in sight."""
        from refbrowser.views.source.text_find import FOUND

        if not self.field.text():
            self.count.setText("")
        elif not count:
            self.count.setText("not found")
        else:
            more = "+" if count >= FOUND else ""
            at = "" if number is None else f"{count_text(number + 1)} of "
            self.count.setText(f"{at}{count_text(count)}{more}")
        for button in (self._before, self._next):
            button.setEnabled(count > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.stepped.emit(-1 if is_shifted else 1)
        else:
            super().keyPressEvent(event)


class TextBegun(NamedTuple):
    """A text whose rows are about to come.

    Attributes
    ----------
    positions
        Where the parts of its document stand in it; None where it is none of a document.
    """

    text: SourceText
    positions: Positions | None
    is_laid_out: bool


class TextPane(QWidget):
    """Shows the rows of a text as they are found, and finds words in it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scanning, self._finding = Latest(self, f"{name} rows"), Latest(self, f"{name} find")
        self._work: Work | None = None
        self._coming: TextRows | None = None
        self._comes_laid_out = False
        self._go_when_there: tuple[int, int | None] | None = None
        #: Whether the rows are laid out; None for what suits the text.
        self._layout_chosen: bool | None = None
        self.positions: Positions | None = None
        self._found: list[int] = []
        self._sought = b""
        self.view = SourceView()
        self.view.setObjectName(f"{name}Text")
        self.view.setAccessibleName("Text of the document")
        self.view.caretMoved.connect(self._caret_moved)
        self.view.foldsChanged.connect(self._show_state)
        self.view.cutOff.connect(self._cut_off)
        self.find_bar = FindBar()
        self.find_bar.sought.connect(self._find)
        self.find_bar.stepped.connect(self.step)
        self.find_bar.left.connect(self._leave_find)
        self.place = ElidedLabel(f"{name}Place", role="muted")
        self.place.setMargin(theme.SMALL)
        self.fault = OutcomeLine(f"{name}Fault")
        self.fault.hide()
        self.head = self._make_head(name)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.SMALL)
        self._column.addLayout(self.head)

    def _make_head(self, name: str) -> QHBoxLayout:
        self.title = ElidedLabel(f"{name}Title", role="muted", elide=Qt.TextElideMode.ElideMiddle)
        self.title.setMargin(theme.SMALL)
        self.layout_button = QPushButton("&Laid out")
        self.layout_button.setObjectName(f"{name}LayoutButton")
        self.layout_button.setAccessibleName("Laid out")
        self.layout_button.setCheckable(True)
        self.layout_button.setToolTip(
            "Show a row for each member and item, or the lines as they are; the text is not changed"
        )
        self.layout_button.clicked.connect(self._layout_clicked)
        fold = tool_button(f"{name}FoldAll", "Fold the members of the document", "⊟")
        fold.clicked.connect(self.view.fold_all)
        unfold = tool_button(f"{name}UnfoldAll", "Unfold everything", "⊞")
        unfold.clicked.connect(self.view.unfold_all)
        look = tool_button(f"{name}FindButton", "Find in the text (Ctrl+F)", "Find")
        look.clicked.connect(self.open_find)
        head = QHBoxLayout()
        head.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        head.setSpacing(theme.SMALL)
        head.addWidget(self.title, 1)
        for part in (look, fold, unfold, self.layout_button):
            head.addWidget(part)
        self.parts: tuple[QWidget, ...] = (look, fold, unfold, self.layout_button)
        return head

    # The text

    def start(
        self,
        work: Work,
        title: str,
        begin: Callable[[TaskControl], tuple[SourceText, Positions | None]],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Show another text: what is seen stays until enough of the new one is known.

        Parameters
        ----------
        begin
            Returns the text, on a worker thread, and where the parts of its document stand.
        """
        chosen = self._layout_chosen
        self._work = work

        def scan(control: TaskControl) -> None:
            text, positions = begin(control)
            is_laid_out = is_wide(text.read(0, _SAMPLE)) if chosen is None else chosen
            control.send(TextBegun(text, positions, is_laid_out))
            layout: Layout = LaidOutRows() if is_laid_out else LineRows()

            def rest() -> None:
                # Python runs one thread at a time, and the window paints meanwhile.
                control.check()
                time.sleep(_REST)

            for rows in scan_rows(text.chunks(), layout, rest):
                control.send(rows)

        self._scanning.run(work, title, scan, lambda _none: self._complete(), failed, received=self._receive)

    def clear(self) -> None:
        """Show no text."""
        self._scanning.cancel()
        self._finding.cancel()
        self._work = self._coming = self.positions = self._go_when_there = None
        self._layout_chosen = None
        self._found, self._sought = [], b""
        self.view.set_found((), 0)
        self.view.set_marks(())
        from refbrowser.references.text.document_text import DocumentText

        self.view.caret = 0
        self.view.set_rows(TextRows(DocumentText(b"")), is_laid_out=False)
        self._show_state()

    @property
    def text(self) -> SourceText:
        """The text that is shown."""
        return self.view.rows.text

    def _receive(self, news: TextBegun | RowStarts) -> None:
        if isinstance(news, TextBegun):
            self._coming, self._comes_laid_out = TextRows(news.text), news.is_laid_out
            self.positions = news.positions
            return
        rows = self._coming
        if rows is None:
            return
        rows.add(news)
        if self.view.rows is rows:
            self.view.grow()
        elif rows.covered >= min(self.view.top() + _AHEAD, rows.text.size):
            self._take(rows)
        if self._go_when_there is not None and self.view.rows is rows:
            start, stop = self._go_when_there
            if rows.is_complete or start + _AHEAD < rows.covered:
                self._go_when_there = None
                self.view.go_to(start, stop)
        self._show_state()

    def _take(self, rows: TextRows) -> None:
        self.view.set_rows(rows, is_laid_out=self._comes_laid_out)
        self._found, self._sought = [], b""
        self.view.set_found((), 0)
        self.rows_taken()
        if self.find_bar.isVisible():
            self._find()

    def rows_taken(self) -> None:
        """Do what follows from another text being seen."""

    def _complete(self) -> None:
        self._show_state()

    def go_to(self, start: int, stop: int | None = None) -> None:
        """Put the caret at a byte of the newest text, in sight, as soon as that is there."""
        rows = self.view.rows
        is_newest = self._coming is None or rows is self._coming
        if is_newest and (rows.is_complete or start + _AHEAD < rows.covered):
            self.view.go_to(start, stop)
        else:
            self.go_when_there(start, stop)

    def go_when_there(self, start: int, stop: int | None = None) -> None:
        """Put the caret at a byte of the text that is about to come."""
        self._go_when_there = (start, stop)

    # What is told

    def _layout_clicked(self) -> None:
        self._layout_chosen = self.layout_button.isChecked()
        self.lay_out()

    def lay_out(self) -> None:
        """Find the rows of the text again: its layout is another one."""
        if self._work is not None:
            text, positions = self.text, self.positions
            self.start(
                self._work, "Lay out the text", lambda _control: (text, positions), lambda _error: None
            )

    def _show_state(self) -> None:
        rows = self.view.rows
        has_text = rows.count > 0
        for part in self.parts:
            part.setEnabled(has_text)
        self.layout_button.setChecked(self.view.is_laid_out)
        if not has_text:
            self.title.set_text("")
            self.place.set_text("")
            return
        more = "" if rows.is_complete else " and more"
        is_laid_out = self.view.is_laid_out
        count = counted_spaced(rows.number(rows.count - 1), "row" if is_laid_out else "line")
        self.title.set_text(
            f"{size_text(rows.text.size)}, {count}{more}{', laid out' if is_laid_out else ''}"
        )

    def _caret_moved(self) -> None:
        view = self.view
        if not view.rows.count:
            return
        start, stop = view.selection()
        row = view.rows.row_at(view.caret)
        where = f"Line {count_text(view.rows.number(row))}, column {count_text(view.column())}"
        if view.is_laid_out:
            where = f"Byte {count_text(view.caret)}"
        words = [where]
        place = self.place_words()
        if place:
            words.append(place)
        if stop > start:
            words.append(f"{counted_spaced(stop - start, 'byte')} selected")
        self.place.set_text("   ".join(words))
        mark = view.mark_at(view.caret)
        self.fault.setVisible(mark is not None)
        if mark is not None:
            (self.fault.show_fault if mark.is_fault else self.fault.show_warning)(mark.words)

    def place_words(self) -> str:
        """Return what the caret is in."""
        return ""

    def rows_to_edit(self) -> EditedRows | None:
        """Return the rows that an edit at the caret is of; None where none can be, which is said."""
        rows = self.view.rows
        try:
            first, last = rows_around(rows, self.view.caret)
            return edited_rows(rows, first, last, is_laid_out=self.view.is_laid_out)
        except NotEditableError as refused:
            self.fault.show_warning(str(refused))
            self.fault.show()
            return None

    def _cut_off(self, size: int) -> None:
        self.place.set_text(f"Only the first {size_text(size)} were copied")

    # Finding

    def open_find(self) -> None:
        """Put the cursor in the field, with what is selected in the text."""
        start, stop = self.view.selection()
        chosen = self.text.read(start, stop) if 0 < stop - start <= _SOUGHT else b""
        self.find_bar.open_bar("" if b"\n" in chosen else chosen.decode("utf-8", "replace"))

    def _leave_find(self) -> None:
        self.view.set_found((), 0)
        self._found, self._sought = [], b""
        self._finding.cancel()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self) -> None:
        work, text, any_case = self._work, self.text, not self.find_bar.case.isChecked()
        wanted = self.find_bar.field.text().encode("utf-8", "surrogatepass")
        self._found, self._sought = [], wanted
        self.view.set_found((), 0)
        self.find_bar.show_count(None, 0)
        if work is None or not wanted:
            self._finding.cancel()
            return
        begin = self.view.selection()[0]
        gone = False

        def find(control: TaskControl) -> None:
            from refbrowser.views.source.text_find import find_bytes

            for places in find_bytes(text.chunks(), wanted, any_case=any_case, pause=control.check):
                control.send(places)

        def found(places: Sequence[int]) -> None:
            nonlocal gone
            self._found += places
            self.view.set_found(self._found, len(wanted))
            if not gone and self._found[-1] >= begin:
                gone = True
                self._select(bisect_left(self._found, begin))
            self.find_bar.show_count(self._number(), len(self._found))

        def done(_none: object) -> None:
            if not gone and self._found:
                self._select(0)
            self.find_bar.show_count(self._number(), len(self._found))

        self._finding.run(work, "Find in the text", find, done, received=found)

    def _number(self) -> int | None:
        """Return which of the found places is selected."""
        start, stop = self.view.selection()
        at = bisect_left(self._found, start)
        is_there = at < len(self._found) and self._found[at] == start and stop - start == len(self._sought)
        return at if is_there else None

    def step(self, by: int) -> None:
        """Go to the next found place, or the one before."""
        if not self._found:
            if not self._sought and self.find_bar.field.text():
                self._find()
            return
        number = self._number()
        if number is None:
            at = bisect_left(self._found, self.view.selection()[0])
            self._select((at if by > 0 else at - 1) % len(self._found))
        else:
            self._select((number + by) % len(self._found))

    def _select(self, number: int) -> None:
        start = self._found[number]
        self.go_to(start, start + len(self._sought))
        self.find_bar.show_count(number, len(self._found))

    # Keys

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and self._is_own(event):  # type: ignore[arg-type]
            event.accept()  # not the window's action of this key
            return True
        return super().event(event)

    def _is_own(self, event: QKeyEvent) -> bool:
        is_escape = event.key() == Qt.Key.Key_Escape and self.find_bar.isVisible()
        return is_find(event) or event.key() == Qt.Key.Key_F3 or is_escape

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_find(event):
            self.open_find()
        elif event.key() == Qt.Key.Key_F3:
            self.step(-1 if event.modifiers() & _SHIFT else 1)
        elif event.key() == Qt.Key.Key_Escape and self.find_bar.isVisible():
            self.find_bar.close_bar()
        else:
            super().keyPressEvent(event)


def is_find(event: QKeyEvent) -> bool:
    """Tell whether a key asks for the search."""
    return event.key() == Qt.Key.Key_F and event.modifiers() == _CONTROL
