"""Asks which functions a file may use beside the usual ones: entries of the own table, never Python."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
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
from refbrowser.app.widgets.parts import plain_label, push_button
from refbrowser.views.safety import SafetyRow
from refbrowser.views.words import count_text, one_line

_TEXT = (
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
        self._document = document
        heading = plain_label(f"Functions that {one_line(document.title)} may use")
        heading.setFont(theme.heading_font())
        self._list = self._make_list(rows, ticked)
        self._field = QLineEdit()
        self._field.setObjectName("allowPatterns")
        self._field.setAccessibleName("Patterns of functions")
        self._field.setPlaceholderText("for example  bz2.*  zstd.decompress")
        self._field.setFont(theme.mono_font())
        named = {row.name for row in rows}
        self._field.setText(" ".join(each for each in document.awkward.allow_functions if each not in named))
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Patterns", self._field)
        self._why = plain_label(document.awkward.why_fixed, role="warning")
        self._why.setObjectName("allowWhy")
        self._why.setVisible(bool(document.awkward.why_fixed))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_TEXT, role="muted"))
        layout.addWidget(self._list, 1)
        if not rows:
            self._list.hide()
            layout.addWidget(plain_label(_NOTHING))
            layout.addStretch(1)
        layout.addLayout(form)
        layout.addWidget(self._why)
        layout.addWidget(self._make_buttons())
        self._changed()

    def _make_list(self, rows: list[SafetyRow], ticked: str) -> QTreeWidget:
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
            is_allowed = row.name in self._document.awkward.allow_functions or row.name == ticked
            item.setCheckState(0, Qt.CheckState.Checked if is_allowed else Qt.CheckState.Unchecked)
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
        awkward = self._document.awkward
        self._use.setEnabled(not awkward.why_fixed and self.patterns() != awkward.allow_functions)
