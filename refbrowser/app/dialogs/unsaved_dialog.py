"""Several documents with unsaved edits when the window is closed: one dialog that lists them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label, push_button
from refbrowser.views.words import one_line


class UnsavedDialog(QDialog):
    """Which documents to save; the others lose their edits. `accept` means to go on with `chosen`."""

    def __init__(self, documents: Sequence[OpenDocument], words: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("unsavedDialog")
        self.setWindowTitle("Unsaved edits")
        self.setModal(True)
        self.resize(560, 320)
        self.chosen: list[OpenDocument] = []
        self._documents = list(documents)
        heading = plain_label(f"{len(self._documents)} documents have unsaved edits")
        heading.setFont(theme.heading_font())
        self._list = self._make_list(words)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label("Those that are not ticked lose their edits.", role="muted"))
        layout.addWidget(self._list, 1)
        layout.addLayout(self._make_buttons())
        self._list.itemChanged.connect(lambda *_: self._update())
        self._update()

    def _make_list(self, words: Sequence[str]) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("unsavedList")
        view.setAccessibleName("Documents with unsaved edits")
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setHeaderLabels(["Save", "Edits"])
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        view.header().resizeSection(1, 190)
        for document, edits in zip(self._documents, words, strict=True):
            row = QTreeWidgetItem([one_line(document.title), edits])
            row.setCheckState(0, Qt.CheckState.Checked)
            row.setToolTip(0, theme.plain_tooltip(document.path))
            row.setSizeHint(0, QSize(0, theme.ROW))
            view.addTopLevelItem(row)
        view.setCurrentIndex(view.model().index(0, 0))
        return view

    def _make_buttons(self) -> QHBoxLayout:
        discard = push_button("Discard all", "unsavedDiscardAllButton", self._discard)
        cancel = push_button("Cancel", "unsavedCancelAllButton", self.reject)
        self._save = push_button("Save all", "unsavedSaveAllButton", self._save_ticked)
        self._save.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(discard)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._save)
        return buttons

    def _ticked(self) -> list[OpenDocument]:
        rows = [self._list.topLevelItem(number) for number in range(len(self._documents))]
        return [
            document
            for document, row in zip(self._documents, rows, strict=True)
            if row is not None and row.checkState(0) == Qt.CheckState.Checked
        ]

    def _update(self) -> None:
        ticked = len(self._ticked())
        self._save.setEnabled(ticked > 0)
        self._save.setText("Save all" if ticked == len(self._documents) else "Save ticked")

    def _save_ticked(self) -> None:
        self.chosen = self._ticked()
        self.accept()

    def _discard(self) -> None:
        self.chosen = []
        self.accept()
