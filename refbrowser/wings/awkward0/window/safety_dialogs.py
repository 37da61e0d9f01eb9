"""The safety report of an Awkward 0 file, and the question which functions it may call."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, push_button, resize_within_screen
from refbrowser.views.words import one_line
from refbrowser.wings.awkward0.views.safety_rows import SafetyRow, report_text, summary
from refbrowser.wings.awkward0.window.document_awkward import awkward_of
from refbrowser.words import count_text

_TEXT = (
    "Names in a file are looked up in the program's own table. Nothing is imported, no pickle is run, and no "
    "other file is read. What was refused is shown as unreadable; everything else opens."
)
_ROW = Qt.ItemDataRole.UserRole
_WHAT, _STATE, _COUNT, _WHERE = range(4)


class SafetyDialog(QDialog):
    """Sections of rows; what was refused comes first.

    Signals
    -------
    allowWanted(str)
        The user wants to allow a function.
    placeWanted(str, int)
        The user wants to see the expression of an array.
    """

    allowWanted = Signal(str)
    placeWanted = Signal(str, int)

    def __init__(self, document: OpenDocument, rows: list[SafetyRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("safetyDialog")
        self.setWindowTitle("Safety report")
        self.setModal(True)
        resize_within_screen(self, 820, 520)
        self._rows = rows
        self._name = document.title
        heading = plain_label(f"What {one_line(document.title)} names")
        heading.setFont(theme.heading_font())
        self._summary = plain_label(summary(rows))
        self._summary.setObjectName("safetySummary")
        self._list = self._make_list()
        self._why = plain_label("", role="muted")
        self._why.setObjectName("safetyWhy")
        self._why.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._why.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        for widget in (heading, self._summary, plain_label(_TEXT, role="muted")):
            layout.addWidget(widget)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._why)
        layout.addLayout(self._make_buttons())
        self._show_row()

    def _make_list(self) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("safetyList")
        view.setAccessibleName("What the file names")
        view.setUniformRowHeights(True)
        view.setIndentation(14)
        view.setHeaderLabels(["Name", "Verdict", "Used", "First in"])
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(_WHAT, QHeaderView.ResizeMode.Stretch)
        for section, width in ((_STATE, 140), (_COUNT, 60), (_WHERE, 220)):
            view.header().resizeSection(section, max(width, view.header().sectionSizeHint(section)))
        view.headerItem().setTextAlignment(
            _COUNT, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        for title in dict.fromkeys(row.section for row in self._rows):
            rows = sorted(
                (row for row in self._rows if row.section == title), key=lambda row: not row.is_refused
            )
            head = ThemedItem([f"{title} ({count_text(len(rows))})"])
            head.setSizeHint(0, QSize(0, theme.ROW))
            head.color(0, "muted")
            view.addTopLevelItem(head)
            head.setFirstColumnSpanned(True)
            for row in rows:
                head.addChild(_item(row))
            head.setExpanded(True)
        view.currentItemChanged.connect(lambda *_: self._show_row())
        view.itemActivated.connect(lambda *_: self._go())
        return view

    def _make_buttons(self) -> QHBoxLayout:
        self._allow = push_button("Allow function…", "safetyAllowButton", self._wish_to_allow)
        self._place = push_button("Show the expression", "safetyShowButton", self._go)
        copy = push_button("Copy the report", "safetyCopyButton", self._copy)
        close = push_button("Close", "safetyCloseButton", self.accept)
        close.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        for button in (self._allow, self._place, copy):
            line.addWidget(button)
        line.addStretch(1)
        line.addWidget(close)
        return line

    def current(self) -> SafetyRow | None:
        """Return the row that is current."""
        item = self._list.currentItem()
        return None if item is None else item.data(0, _ROW)

    def _show_row(self) -> None:
        row = self.current()
        why = "" if row is None or not row.why else f"{row.why[:1].upper()}{row.why[1:]}."
        self._why.setText(one_line(why))
        self._allow.setEnabled(row is None or row.can_be_allowed)
        self._place.setEnabled(row is not None and row.number is not None)

    def _wish_to_allow(self) -> None:
        row = self.current()
        self.accept()
        self.allowWanted.emit("" if row is None else row.name)

    def _go(self) -> None:
        row = self.current()
        if row is not None and row.number is not None:
            self.accept()
            self.placeWanted.emit(row.path, row.number)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(report_text(self._name, self._rows))


def _item(row: SafetyRow) -> QTreeWidgetItem:
    item = ThemedItem([one_line(row.name), row.state, count_text(row.count), one_line(row.where)])
    item.setData(0, _ROW, row)
    item.setSizeHint(0, QSize(0, theme.ROW))
    item.setFont(_WHAT, theme.mono_font(-0.5))
    item.setToolTip(_WHAT, theme.plain_tooltip(row.name))
    item.setToolTip(_WHERE, theme.plain_tooltip(row.where))
    item.setTextAlignment(_COUNT, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    icon, color = ("lock", "fault") if row.is_refused else ("done", "good")
    item.mark(_WHAT, icon, color)
    item.color(_STATE, color)
    return item


_ALLOW_TEXT = (
    "What you allow is taken from the program's own table of functions; nothing that a file names is ever "
    "run. The file is read again, and the permission ends when it is closed."
)
_NOTHING = "The file names no function that could be allowed: the table has no entry for what was refused."
_NAME = Qt.ItemDataRole.UserRole


class AllowDialog(QDialog):
    """Functions of the file to tick, and a field for patterns.

    Parameters
    ----------
    rows
        The functions that can be allowed, of those that the file names.
    ticked
        One of them, to be allowed; empty for none.
    """

    def __init__(
        self, document: OpenDocument, rows: list[SafetyRow], ticked: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("allowDialog")
        self.setWindowTitle("Allow functions")
        self.setModal(True)
        self.resize(600, 400)
        known = self._known = awkward_of(document)
        allowed, why_fixed = ((), "") if known is None else (known.allow_functions, known.why_fixed)
        heading = plain_label(f"Functions that {one_line(document.title)} may use")
        heading.setFont(theme.heading_font())
        self._list = self._make_list(rows, {ticked, *allowed})
        self._field = QLineEdit()
        self._field.setObjectName("allowPatterns")
        self._field.setAccessibleName("Patterns of functions")
        self._field.setPlaceholderText("for example  bz2.*  zstd.decompress")
        self._field.setFont(theme.mono_font())
        named = {row.name for row in rows}
        self._field.setText(" ".join(each for each in allowed if each not in named))
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Patterns", self._field)
        self._why = plain_label(why_fixed, role="warning")
        self._why.setObjectName("allowWhy")
        self._why.setVisible(bool(why_fixed))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ALLOW_TEXT, role="muted"))
        layout.addWidget(self._list, 1)
        if not rows:
            self._list.hide()
            layout.addWidget(plain_label(_NOTHING))
            layout.addStretch(1)
        layout.addLayout(form)
        layout.addWidget(self._why)
        layout.addWidget(self._make_buttons())
        self._changed()

    def _make_list(self, rows: list[SafetyRow], ticked: set[str]) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("allowList")
        view.setAccessibleName("Functions that can be allowed")
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setHeaderLabels(["Function", "Used", "Now"])
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section, width in ((1, 80), (2, 140)):
            view.header().resizeSection(section, width)
        for row in rows:
            item = QTreeWidgetItem([one_line(row.name), count_text(row.count), row.state])
            item.setData(0, _NAME, row.name)
            item.setSizeHint(0, QSize(0, theme.ROW))
            item.setFont(0, theme.mono_font(-0.5))
            item.setCheckState(0, Qt.CheckState.Checked if row.name in ticked else Qt.CheckState.Unchecked)
            view.addTopLevelItem(item)
        view.itemChanged.connect(lambda *_: self._changed())
        return view

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        self._use = push_button("Read again with these", "allowUseButton", self.accept)
        self._use.setDefault(True)
        cancel: QPushButton = push_button("Cancel", "allowCancelButton", self.reject)
        buttons.addButton(self._use, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        self._field.textChanged.connect(lambda _text: self._changed())
        return buttons

    def patterns(self) -> tuple[str, ...]:
        """Return what is to be allowed: names that are ticked, and patterns."""
        items = (self._list.topLevelItem(row) for row in range(self._list.topLevelItemCount()))
        names = [
            str(item.data(0, _NAME))
            for item in items
            if item is not None and item.checkState(0) == Qt.CheckState.Checked
        ]
        return tuple(dict.fromkeys([*names, *self._field.text().replace(",", " ").split()]))

    def _changed(self) -> None:
        known = self._known
        is_open = known is not None and not known.why_fixed
        self._use.setEnabled(is_open and known is not None and self.patterns() != known.allow_functions)
