"""What lists of findings share: a table of lines, toggles for their severity with a filter, and a fix."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QAbstractItemModel, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableView,
    QToolButton,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import tool_button
from refbrowser.words import count_text

#: Pixels of the words on a button at most.
_TITLE_MOST = 220


def severity_icon(is_fault: bool) -> QIcon:
    """Return the icon of faults, or of warnings, in the colours of the theme."""
    scheme = theme.colors()
    return icons.icon("fault", scheme.fault) if is_fault else icons.icon("warning", scheme.warning)


def show_fix(button: QPushButton, title: str, tip: str) -> None:
    """Name what a button repairs, shortened in the middle; screen readers read all of it."""
    shown = button.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, _TITLE_MOST)
    button.setText(shown.replace("&", "&&"))
    button.setAccessibleName(title.rstrip("…"))
    button.setToolTip(theme.plain_tooltip(tip))


class FindingsFilter(QWidget):
    """Toggles for faults and warnings with their counts, and a field for words.

    Signals
    -------
    toggled()
        Other severities are to be shown.
    typed()
        Other words are in the field.
    """

    toggled = Signal()
    typed = Signal()

    def __init__(self, name: str, title: str, placeholder: str) -> None:
        super().__init__()
        self._faults = _toggle(f"{name}Faults", "Show faults")
        self._warnings = _toggle(f"{name}Warnings", "Show warnings")
        self.words = QLineEdit()
        self.words.setObjectName(f"{name}Filter")
        self.words.setAccessibleName(title)
        self.words.setPlaceholderText(placeholder)
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(lambda _text: self.typed.emit())
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.SMALL)
        for toggle in (self._faults, self._warnings):
            toggle.toggled.connect(lambda _on: self.toggled.emit())
            line.addWidget(toggle)
        line.addWidget(self.words, 1)

    def chosen(self) -> tuple[bool, bool, str]:
        """Return whether faults are shown, whether warnings are, and the words."""
        return self._faults.isChecked(), self._warnings.isChecked(), self.words.text()

    def set_counts(self, faults: int, warnings: int) -> None:
        """Tell how many there are."""
        self._faults.setText(f"Faults {count_text(faults)}")
        self._warnings.setText(f"Warnings {count_text(warnings)}")

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._faults.setIcon(severity_icon(is_fault=True))
        self._warnings.setIcon(severity_icon(is_fault=False))


def _toggle(name: str, words: str) -> QToolButton:
    button = tool_button(name, words)
    button.setCheckable(True)
    button.setChecked(True)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


class FindingsTable(QTableView):
    """Lines of which several can be selected; the first column has an icon, one takes what room there is.

    Signals
    -------
    copyWanted()
        The selected lines are to be copied.
    """

    copyWanted = Signal()

    def __init__(
        self, name: str, title: str, model: QAbstractItemModel, widths: Mapping[int, int], stretched: int
    ) -> None:
        super().__init__()
        self.setModel(model)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(16, 16))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.ROW)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        for section, width in widths.items():
            header.resizeSection(section, width)

    def selected_rows(self) -> list[int]:
        """Return the numbers of the selected rows, in their order."""
        return sorted({index.row() for index in self.selectionModel().selectedRows()})

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyWanted.emit()
        else:
            super().keyPressEvent(event)
