"""Two datasets side by side: what differs, the chosen difference whole, and what one takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.compared_side import ComparedSide, ReadSide
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Priority, TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.app.widgets.small_widgets import (
    hint_label,
    plain_label,
    push_button,
    resize_within_screen,
    show_progress,
)
from refbrowser.tools.compare.window.compared_list import ComparedList, ComparedValues
from refbrowser.tools.compare.window.states_map import StatesMap
from refbrowser.tools.compare.window.taken_differences import TakingBar
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.references.edits.edits import Edit
    from refbrowser.tools.compare.compared import Compared
    from refbrowser.tools.compare.compared_entries import ComparedEntry
    from refbrowser.tools.compare.window.taken_differences import Taking
    from refbrowser.views.side_lines import Lines

_AUTO, _SAMPLE, _ALL = "auto", "sample", "all"
_NOTHING = "Nothing differs in what was compared."


class CompareWindow(QDialog):
    """Compares two sides, again after each edit of one of them.

    Signals
    -------
    elementWanted(object, str, object)
        An element is to be shown in the plot: its `OpenDocument`, the path of its array, its index.
    """

    elementWanted = Signal(object, str, object)

    def __init__(
        self, here: ComparedSide, there: ComparedSide, tasks: Tasks, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("compareWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 1120, 720)
        self.sides, self.tasks = (here, there), tasks
        self.found: Compared | None = None
        self._values = _AUTO
        #: The sides that took something over, the last one at the end.
        self._took: list[ComparedSide] = []
        self._job: int | None = None
        self._comparing, self._writing = Latest(self, "compare"), Latest(self, "compare text")
        self._taking = Latest(self, "take over")
        self._build()
        self._follow_documents()
        self._name_sides()
        self.compare()
        self.list.rows.setFocus()

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # Parts

    def _build(self) -> None:
        self._heading = plain_label("")
        self._heading.setFont(theme.heading_font())
        self._summary = plain_label("", role="muted")
        self._summary.setObjectName("compareSummary")
        self.list = ComparedList()
        self.list.chosen.connect(self._show)
        self._what = plain_label("", wrap=False)
        self._what.setObjectName("comparedWhat")
        self._note = plain_label("", role="muted")
        self._note.setObjectName("comparedNote")
        names = [side.name for side in self.sides]
        self.texts = SideTexts("compared", names)
        self.map = StatesMap(self, names)
        self.map.chunkChosen.connect(lambda _coords: self._offer())
        self.values = ComparedValues(self)
        self.values.elementWanted.connect(self._want_element)
        self._empty = hint_label(_NOTHING)
        self._pages = QStackedWidget()
        for page in (self._empty, self.texts, self.map, self.values):
            self._pages.addWidget(page)
        self.taking = TakingBar()
        self.taking.wanted.connect(self.take)
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(theme.MEDIUM, 0, 0, 0)
        beside.setSpacing(theme.MEDIUM)
        for part in (self._what, self._note):
            beside.addWidget(part)
        beside.addWidget(self._pages, 1)
        beside.addWidget(self.taking)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("compareSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(right)
        split.setSizes([360, 740])
        split.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.LARGE, theme.HUGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._heading)
        layout.addWidget(self._summary)
        layout.addWidget(split, 1)
        layout.addLayout(self._make_foot())

    def _make_foot(self) -> QHBoxLayout:
        self._sample = push_button("Compare values in a &sample", "compareSampleButton", self._compare_sample)
        self._sample.setToolTip("Read some blocks of each array on both sides, the same ones every time")
        self._all = push_button("Compare &all values", "compareAllButton", self._compare_all)
        self._all.setToolTip("Read every array whole, on both sides")
        self._bar = QProgressBar()
        self._bar.setObjectName("compareProgress")
        self._bar.setAccessibleName("Progress")
        self._bar.setTextVisible(False)
        self._cancel = push_button("Cancel", "compareCancelButton", self.cancel)
        self._close = push_button("Close", "compareCloseButton", self.close)
        self._undo = push_button("Undo", "compareUndoButton", self.undo)
        self._undo.setShortcut(QKeySequence(QKeySequence.StandardKey.Undo))
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._sample)
        line.addWidget(self._all)
        line.addWidget(self._bar, 1)
        line.addWidget(self._cancel)
        line.addStretch(0)
        line.addWidget(self._undo)
        line.addWidget(self._close)
        return line

    def _name_sides(self) -> None:
        names = [one_line(side.name) for side in self.sides]
        self.setWindowTitle(f"Compare {names[0]} with {names[1]}")
        self._heading.setText(f"{names[0]} (here, left) and {names[1]} (there, right)")
        self.texts.set_headings(names)

    # What is followed

    def _follow_documents(self) -> None:
        for document in dict.fromkeys(side.document for side in self.sides):
            document.hierarchyChanged.connect(self._changed)
            document.differenceChanged.connect(self._changed)
            document.savedChanged.connect(self._name_sides)
            document.openFailed.connect(self._not_opened)
            document.editFailed.connect(self._not_taken)
            document.destroyed.connect(self.close)

    def _changed(self) -> None:
        # What was read of values is of the state before.
        self._values = _AUTO
        self.compare()

    def _not_opened(self, error: BaseException) -> None:
        self._say(f"One side cannot be opened. {error_text(error)}", "fault")

    # Comparing

    def summary(self) -> str:
        """Return the words over the list."""
        return self._summary.text()

    def _say(self, text: str, role: str = "muted") -> None:
        self._summary.setProperty("role", role)
        self._summary.style().unpolish(self._summary)
        self._summary.style().polish(self._summary)
        self._summary.setText(one_line(text))

    def compare(self) -> None:
        """Compare both sides as they are now."""
        here, there = (side.now() for side in self.sides)
        self._update_taking()
        if here is None or there is None:
            self._say("Reading…")
            self._show_running(running=False)
            return
        values = self._values

        def work(control: TaskControl) -> Compared:
            from refbrowser.tools.compare.compared import compared

            return compared(here.taken(control), there.taken(control), values, control)

        self._say("Comparing…" if values == _AUTO else "Comparing values…")
        priority = Priority.VISIBLE if values == _AUTO else Priority.STATISTICS
        title = f"Compare {self.sides[0].name} with {self.sides[1].name}"
        handle = self._comparing.run(
            self,
            title,
            work,
            self._compared,
            self._not_compared,
            followed=self._follow,
            priority=priority,
        )
        self._job = handle.number
        self._show_running(running=True)

    def _compare_sample(self) -> None:
        self._values = _SAMPLE
        self.compare()

    def _compare_all(self) -> None:
        self._values = _ALL
        self.compare()

    def cancel(self) -> None:
        """Stop comparing; what was known stays."""
        self._comparing.cancel()
        self._values = _AUTO
        self._job = None
        self._show_running(running=False)
        self._say("Cancelled." if self.found is None else f"Cancelled. {self.found.summary}", "warning")
        self._update_taking()

    def _compared(self, found: Compared) -> None:
        self._job = None
        self.found = found
        self._show_running(running=False)
        notes = "".join(f" {note[:1].upper()}{note[1:]}." for note in found.comparison.notes)
        self._say(f"{found.summary}{notes}")
        self.list.set_entries(found.entries)
        self._offer_undo()

    def _not_compared(self, error: BaseException) -> None:
        self._job = None
        self._values = _AUTO
        self._show_running(running=False)
        self._say(f"They cannot be compared. {error_text(error)}", "fault")

    def _show_running(self, *, running: bool) -> None:
        self._offer_undo()
        self._bar.setRange(0, 0)
        self._bar.setVisible(running)
        self._cancel.setVisible(running)
        for each in (self._sample, self._all):
            each.setEnabled(not running and self.found is not None)

    def _follow(self, status: JobStatus) -> None:
        show_progress(self._bar, status.done, status.total)
        if status.note:
            self._bar.setAccessibleDescription(one_line(status.note))

    # The chosen difference

    def _show(self, entry: ComparedEntry | None) -> None:
        found = self.found
        self._writing.cancel()
        self._what.setText("" if entry is None else one_line(entry.title))
        self._note.setText("" if entry is None else one_line(entry.note))
        self._note.setVisible(bool(self._note.text()))
        if entry is None or found is None:
            self._pages.setCurrentWidget(self._empty)
            self._empty.setText(_NOTHING if found is not None and not found.entries else "")
        elif entry.array is None:
            self._pages.setCurrentWidget(self.texts)
            self._write(entry)
        elif entry.what == "values":
            self._pages.setCurrentWidget(self.values)
            self.values.set_array(found, entry.array)
        else:
            self._pages.setCurrentWidget(self.map)
            self.map.set_array(found, entry.array)
        self._offer()

    def _write(self, entry: ComparedEntry) -> None:
        def work(control: TaskControl) -> tuple[Lines, Lines]:
            from refbrowser.tools.compare.compared import lines_of

            return lines_of(entry, control)

        self._writing.run(self, f"Compare the texts of {entry.title}", work, self.texts.set_lines)

    def _want_element(self, index: tuple[int, ...]) -> None:
        entry, side = self.list.current(), self.sides[0]
        if entry is None or entry.array is None:
            return
        if isinstance(side, ReadSide):
            self._say(f"The plot shows what is open: open {side.name} to see its elements.", "warning")
            return
        self.elementWanted.emit(side.document, entry.array.path, index)

    # Taking over

    def _offer(self) -> None:
        """Offer to take over what is chosen."""
        entry, found = self.list.current(), self.found
        coords = self.map.coords if self._pages.currentWidget() is self.map else None
        self.taking.offer(found, entry, coords)
        self._update_taking()

    def _update_taking(self) -> None:
        now = "it is being compared" if self.is_stale() else ""
        left, right = (side.obstacle or now for side in self.sides)
        self.taking.set_obstacles(left, right)

    def is_stale(self) -> bool:
        """Tell whether one of the documents is another one than was compared."""
        found = self.found
        if found is None or self._comparing.is_running:
            return True
        states = zip(self.sides, (found.here, found.there), strict=True)
        return any(
            not side.obstacle and side.document.document is not dataset.document for side, dataset in states
        )

    def take(self, taking: Taking) -> None:
        """Give one side what the other one has, as one step of its history."""
        found = self.found
        if found is None or self.is_stale():
            return
        side, other = self.sides if taking.to_left else self.sides[::-1]
        title = f"Take over {taking.words} of {other.name}"

        def work(control: TaskControl) -> Edit:
            from refbrowser.references.edits.compare import Side
            from refbrowser.tools.compare.compared import taken

            to = Side.HERE if taking.to_left else Side.THERE
            return taken(found, to, taking.wanted, title, control)

        def made(edit: Edit) -> None:
            state = found.here if taking.to_left else found.there
            if side.document.document is state.document:
                side.document.apply_later(edit, lambda: self._took.append(side))

        self._say("Taking over…")
        self._taking.run(self, title, work, made, self._not_taken)

    def undo(self) -> None:
        """Take back what was taken over last."""
        if self._took:
            self._took.pop().document.undo()

    def _offer_undo(self) -> None:
        can = bool(self._took) and self._took[-1].document.can_undo
        self._undo.setEnabled(can)
        where = one_line(self._took[-1].name) if can else "the side that took something over"
        self._undo.setToolTip(theme.plain_tooltip(f"Take back the last step of {where}"))

    def _not_taken(self, error: BaseException) -> None:
        self._say(error_text(error), "fault")
        self._update_taking()

    def closeEvent(self, event: QCloseEvent) -> None:
        for work in (self._comparing, self._writing, self._taking):
            work.cancel()
        self.map.clear()
        super().closeEvent(event)
