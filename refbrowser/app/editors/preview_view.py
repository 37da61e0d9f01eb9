"""The preview of an edit: its rows in a table, and chips that count what changes and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeySequence, QPalette, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import FlowLayout, OutcomeLine, named, tool_button
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.editing.preview import (
    CheckReport,
    NoSource,
    PreviewMark,
    PreviewModel,
    PreviewRow,
    PreviewSource,
    PreviewTally,
)
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

WAITING, NONE, OPEN = "…", "✓", "?"


class TallyChip(QToolButton):
    """Says ``● 5 rows change``; while that is counted anew the last words stay, dimmed, behind ``…``.

    Parameters
    ----------
    name
        Object name.
    glyph
        Stands before the words where something was found.
    one, many
        What is counted.
    is_quiet
        Whether the chip is hidden while nothing was found.
    ink
        Returns the colour where something was found.
    """

    def __init__(
        self, name: str, glyph: str, one: str, many: str, *, is_quiet: bool, ink: Callable[[], str]
    ) -> None:
        super().__init__()
        named(self, name, many.capitalize())
        self._glyph, self._one, self._many = glyph, one, many
        self._is_quiet = is_quiet
        self._ink = ink
        self._tally = PreviewTally()
        self._words = many
        self.first: int | None = None
        self.setProperty("role", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if is_quiet:  # to show it here would open a window: it has no parent yet
            self.hide()
        self.wait()

    def wait(self) -> None:
        """Show that the tally is being counted."""
        self.first = None
        self.setEnabled(False)
        self._say(WAITING)

    def show_tally(self, tally: PreviewTally) -> None:
        """Show what was found."""
        self._tally = tally
        self._words = tally.words(self._one, self._many)
        self.first = tally.first
        self.setAccessibleName(self._words)
        self.setToolTip(theme.plain_tooltip(tally.text))
        self.setEnabled(tally.first is not None)
        self.setVisible(not self._is_quiet or tally.count > 0)
        self._say(self._glyph if tally.count else NONE if tally.checked is None else OPEN)
        self._take_color()

    def _say(self, glyph: str) -> None:
        text = f"{glyph} {self._words}"
        if text != self.text():
            self.setText(text)

    def _take_color(self) -> None:
        """Use the colour of what was found; a palette costs much less than a style sheet."""
        scheme = theme.colors()
        color = QColor(self._ink() if self._tally.count else scheme.muted)
        palette = self.palette()
        if palette.color(QPalette.ColorRole.ButtonText) != color:
            for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
                palette.setColor(group, QPalette.ColorRole.ButtonText, color)
            disabled = color if self._tally.count else QColor(scheme.muted)
            palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText, disabled)
            self.setPalette(palette)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._take_color()


#: A check of all rows starts after this pause in typing, in milliseconds.
PAUSE = 120
#: Rows that the budget left out follow after this pause, in milliseconds.
REST_PAUSE = 30
#: In a narrower view the column of notes alone tells of a row.
DETAIL_WIDTH = 520
#: Part of a report: object name, glyph where something was found, words for one and for many.
CHIPS = {
    "changed": ("previewChanged", "●", "row changes", "rows change"),
    "added": ("previewAdded", "+", "new key", "new keys"),
    "removed": ("previewRemoved", "−", "key goes", "keys go"),
    "faults": ("previewFaults", "✕", "fault", "faults"),
    "duplicates": ("previewDuplicates", "↷", "duplicate", "duplicates"),
    "collisions": ("previewCollisions", "≡", "collision", "collisions"),
}
#: Object name, text, hint, direction and key of the buttons that go from change to change.
CHANGE_BUTTONS = (
    ("previewPreviousChange", "↑ Change", "Previous row that changes", -1, "Shift+F4"),
    ("previewNextChange", "↓ Change", "Next row that changes", 1, "F4"),
)
#: Chips that are hidden while nothing of the kind was found.
QUIET = frozenset({"changed", "added", "removed"})


def _ink(part: str) -> str:
    """Return the colour of a chip where something was found."""
    scheme = theme.colors()
    inks = {"faults": scheme.fault, "duplicates": scheme.warning, "collisions": scheme.warning}
    return inks.get(part, scheme.changed)


class PreviewView(QWidget):
    """A virtual table of a `PreviewSource`, its tallies, and jumps to a row or key.

    The rows follow a new source at once; the tallies follow after a short pause, from a task that the next
    source replaces.

    Signals
    -------
    rowSelected(object)
        The number (int) of the row that became current.
    reported(object)
        A `CheckReport` of the source that is shown.
    """

    rowSelected = Signal(object)
    reported = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("previewView")
        self.setAccessibleName("Preview of references")
        self._document: OpenDocument | None = None
        self._report: CheckReport | None = None
        self._unchecked = False
        self._checking, self._jump = Latest(self, "preview"), Latest(self, "preview jump")
        self._table = VirtualTable(self)
        self._table.setObjectName("previewTable")
        self._table.setAccessibleName("Rows of the preview")
        self._rest = one_shot(self, REST_PAUSE, self._table.refresh)
        self._model = PreviewModel(self._visible, self._rest.start)
        self._table.set_model(self._model)
        self._table.currentChanged.connect(self._row_chosen)
        self._pause = one_shot(self, PAUSE, self._check)
        self._build()
        self.show_source(None, NoSource())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._detail.setVisible(event.size().width() >= DETAIL_WIDTH)

    # Constant, so that the tallies never make the window lay itself out anew while typing.

    def sizeHint(self) -> QSize:
        return QSize(720, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 130)

    # Parts

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        self._tallies = QWidget(self)
        flow = FlowLayout(self._tallies, theme.SMALL)
        self._title = _plain_label("previewTitle")
        self._title.setProperty("role", "muted")
        self._count = _plain_label("previewRowCount")
        flow.addWidget(self._title)
        flow.addWidget(self._count)
        self._chips: dict[str, TallyChip] = {}
        for part, (name, glyph, one, many) in CHIPS.items():
            chip = TallyChip(name, glyph, one, many, is_quiet=part in QUIET, ink=partial(_ink, part))
            chip.clicked.connect(partial(self._jump_to_first, part))
            self._chips[part] = chip
            flow.addWidget(chip)
        for label in (self._title, self._count):
            label.setMinimumHeight(chip.sizeHint().height())
        layout.addWidget(self._tallies)
        layout.addLayout(self._navigation())
        layout.addWidget(self._table, 1)
        self.setFocusProxy(self._table)

    def _navigation(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(theme.SMALL)
        label = QLabel("&Go to")
        self._goto = named(QLineEdit(), "previewGoto", "Go to a row number or a key")
        self._goto.setPlaceholderText("row number or key")
        self._goto.setFont(theme.mono_font())
        words = self._goto.fontMetrics().horizontalAdvance(self._goto.placeholderText())
        self._goto.setMinimumWidth(words + 3 * theme.MEDIUM)
        self._goto.setClearButtonEnabled(True)
        self._goto.returnPressed.connect(self._go)
        self._goto.textEdited.connect(lambda _text: self._show_detail())
        label.setBuddy(self._goto)
        line.addWidget(label)
        line.addWidget(self._goto, 1)
        line.addWidget(tool_button("previewFirst", "First", "First row", lambda: self.go_to_row(0)))
        line.addWidget(tool_button("previewLast", "Last", "Last row", lambda: self.go_to_row(-1)))
        for name, text, hint, step, key in CHANGE_BUTTONS:
            go = partial(self.go_to_change, step)
            line.addWidget(tool_button(name, text, f"{hint} ({key})", go))
            shortcut = QShortcut(
                QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
            )
            shortcut.activated.connect(go)
        self._detail = OutcomeLine("previewDetail")
        line.addWidget(self._detail, 2)
        find = QShortcut(QKeySequence("Ctrl+G"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._goto_wanted)
        return line

    # What is shown

    def table(self) -> VirtualTable:
        """Return the table of rows."""
        return self._table

    def current_row(self) -> PreviewRow | None:
        """Return the row that is current."""
        current = self._table.current()
        return None if current is None or current >= self._model.row_count() else self._model.row(current)

    def source(self) -> PreviewSource:
        """Return what is shown."""
        return self._model.source

    def report(self) -> CheckReport | None:
        """Return what the check of the shown source found, None while it is not known."""
        return self._report

    def show_source(self, document: OpenDocument | None, source: PreviewSource) -> None:
        """Show the rows of a source at once; tallies follow."""
        self._stop()
        self._document = document
        self._report = None
        self._model.show(source)
        self._table.set_placeholder(_nothing(source))
        self._table.refresh()
        self._tallies.setVisible(not isinstance(source, NoSource))
        self._title.setVisible(bool(source.title))
        self._title.setText(one_line(source.title))
        self._count.setText(counted_spaced(source.count, "row"))
        self._show_report(CheckReport())
        self._show_detail()
        self._unchecked = True
        if self.isVisible():
            self._pause.start()

    def _visible(self) -> range:
        top = self._table.top_row()
        return range(top, top + self._table.visible_rows() + 1)

    # The check

    def _check(self) -> None:
        document, source = self._document, self._model.source
        self._unchecked = False
        if document is None or (source.count == 0 and isinstance(source, NoSource)):
            return

        def check(control: TaskControl) -> CheckReport:
            return source.check(control.check, control.send)

        def show(report: CheckReport) -> None:
            if self._model.source is source:
                self._show_report(report)
                self._report = report
                if report.faults is not None and report.faults.count:
                    self._model.forget_rows()
                    self._table.refresh()
                    self._show_detail()
                self.reported.emit(report)

        self._checking.run(
            document,
            "Check the preview",
            check,
            show,
            lambda error: self._check_failed(error, source),
            received=self._show_report,
        )

    def _check_failed(self, error: BaseException, source: PreviewSource) -> None:
        if self._model.source is source:
            self._detail.show_fault(f"the check of the rows ended: {error}")

    def _stop(self) -> None:
        self._pause.stop()
        self._rest.stop()
        self._checking.cancel()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unchecked:
            self._pause.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._unchecked = self._unchecked or self._report is None
        self._stop()

    def _show_report(self, report: CheckReport) -> None:
        for part, chip in self._chips.items():
            tally: PreviewTally | None = getattr(report, part)
            if tally is None:
                chip.wait()
            else:
                chip.show_tally(tally)

    # Jumps

    def go_to_row(self, row: int) -> None:
        """Make a row current; -1 is the last one."""
        count = self._model.row_count()
        if count:
            self._table.set_current(row % count)

    def go_to_change(self, step: int) -> None:
        """Go to the next row that changes (1), or the one before (-1)."""
        source, document, current = self._model.source, self._document, self._table.current()
        start = (-1 if step > 0 else source.count) if current is None else current
        known = self._report.changed if self._report is not None else None
        if step > 0 and known is not None and known.first is not None and known.first > start:
            added = self._report.added if self._report is not None else None
            if added is None or added.first is None:
                self._change_found(source, known.first)
                return
        if document is None or not source.count:
            return

        def find(control: TaskControl) -> int | str:
            from refbrowser.views.editing.preview import Pace, next_change

            return next_change(source, start, step, Pace(control.check))

        self._jump.run(document, "Find a change", find, lambda found: self._change_found(source, found))

    def _change_found(self, source: PreviewSource, found: int | str) -> None:
        if self._model.source is not source:
            return
        if isinstance(found, int):
            self.go_to_row(found)
            self._table.setFocus()
        else:
            self._detail.show_warning(found)

    def _jump_to_first(self, part: str) -> None:
        first = self._chips[part].first
        if first is not None:
            self.go_to_row(first)
            self._table.setFocus()

    def _goto_wanted(self) -> None:
        self._goto.setFocus()
        self._goto.selectAll()

    def _go(self) -> None:
        wanted = self._goto.text().strip()
        row = _row_number(wanted)
        count = self._model.row_count()
        if row is not None and 0 <= row < count:
            self.go_to_row(row)
            return
        source = self._model.source
        if source.finds_quickly or self._document is None:
            self._found(source, row, source.find(wanted))
            return
        self._detail.show_result("looking for the key …")
        self._jump.run(
            self._document,
            "Find a key in the preview",
            lambda control: source.find(wanted, lambda: control.token.cancelled),
            lambda found: self._found(source, row, found),
        )

    def _found(self, source: PreviewSource, row: int | None, found: int | str) -> None:
        """Go where a key was found; `row` is set where a row number was asked for that is not there."""
        if self._model.source is not source:
            return
        if isinstance(found, int):
            self.go_to_row(found)
        elif row is not None:
            self._detail.show_warning(f"there is no row {row}: the last one is {source.count - 1}")
        else:
            self._detail.show_warning(found)

    def _row_chosen(self, row: int | None) -> None:
        self._show_detail()
        if row is not None:
            self.rowSelected.emit(row)

    def _show_detail(self) -> None:
        current, row = self._table.current(), self.current_row()
        if row is None:
            self._detail.clear()
            return
        if row.mark & PreviewMark.FAULT:
            self._detail.show_fault(f"row {current}: {row.words}")
        elif row.note:
            self._detail.show_warning(f"row {current}: {row.words}")
        elif row.before:
            self._detail.show_result(f"row {current}: {row.words}")
        else:
            self._detail.clear()


def _nothing(source: PreviewSource) -> str:
    """Return what to say where a source has no rows."""
    if isinstance(source, NoSource):
        return source.hint
    return f"{source.title} gives no rows: nothing uses it, a dimension is empty, or a field has an error."


def _plain_label(name: str) -> QLabel:
    label = named(QLabel(), name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setContentsMargins(theme.SMALL, 0, theme.MEDIUM, 0)
    return label


def _row_number(text: str) -> int | None:
    """Return the row number that a text spells: digits, also with separators, or a power as in ``10^11``."""
    plain = text.replace(",", "").replace("_", "").replace(" ", "").replace("\N{NARROW NO-BREAK SPACE}", "")
    base, power, exponent = plain.partition("^")
    if not base.isdecimal() or not base.isascii() or len(base) > 40:
        return None
    if not power:
        return int(base)
    return (
        int(base) ** int(exponent) if exponent.isdecimal() and len(exponent) < 3 and len(base) < 4 else None
    )
