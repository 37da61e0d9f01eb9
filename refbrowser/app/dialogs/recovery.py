"""Unsaved edits of a run that ended unexpectedly: the bar that offers them, and the list of what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QDateTime, QSize, Signal, SignalInstance
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import IconLabel, plain_label, push_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.engine.journal import Recovery
    from refbrowser.references.document.journal import Operation

#: Operations that the preview lists; the rest is counted.
LISTED = 1_000
#: Members of an edit that its title holds, or that nobody can read.
_NAMED = ("name", "key", "index", "old", "new", "to", "version", "keys", "start", "stop", "data")


def time_text(seconds: float) -> str:
    """Return a time of day with its date, where the user is."""
    return QDateTime.fromSecsSinceEpoch(int(seconds)).toString("yyyy-MM-dd HH:mm")


def recovery_text(recovery: Recovery) -> str:
    """Return in words what was left and what can be done with it."""
    typed, when = len(recovery.typed), time_text(recovery.when)
    count = len(recovery.titles) + typed
    edits = counted_spaced(count, "unsaved edit")
    if typed:
        edits += f" ({typed} typed and not applied)"
    were = plural(count, "was", "were")
    if not recovery.operations and not typed and recovery.error is not None:
        return f"Unsaved edits from {when} were kept, but cannot be read: {error_text(recovery.error)}"
    if recovery.history is None:
        return f"{edits} from {when} {were} kept, but the file has changed since, and they do not fit it."
    if recovery.is_moved:
        return (
            f"{edits} from {when} {were} kept. The file has changed since; they can still be made: "
            "look at the preview first."
        )
    if recovery.error is not None:
        done = recovery.history.position
        return (
            f"The first {count_text(done)} of {edits} from {when} can be restored; "
            f"those after them cannot: {error_text(recovery.error)}"
        )
    return f"{edits} from {when} {were} kept when the program ended unexpectedly."


class RecoveryBar(QFrame):
    """The bar over the tabs that offers what a lost process left of a document, the newest first.

    Signals
    -------
    preview(object), restore(object), discard(object)
        What the user wants done with a `Recovery`.
    """

    preview = Signal(object)
    restore = Signal(object)
    discard = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("recoveryBar")
        self.setProperty("role", "trustStrip")
        self._recovery: Recovery | None = None
        self._text = plain_label("")
        self._text.setObjectName("recoveryText")
        self._preview = push_button("Preview…", "recoveryPreviewButton", lambda: self._tell(self.preview))
        self._discard = push_button("Discard…", "recoveryDiscardButton", lambda: self._tell(self.discard))
        self._restore = push_button("Restore", "recoveryRestoreButton", lambda: self._tell(self.restore))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("revert", "warning"))
        layout.addWidget(self._text, 1)
        for button in (self._preview, self._discard, self._restore):
            layout.addWidget(button)
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Offer what there is for this document."""
        recoveries = () if document is None or not document.is_open else document.journal.recoveries
        self._recovery = recovery = recoveries[0] if recoveries else None
        self.setVisible(recovery is not None)
        if recovery is None or document is None:
            return
        self._text.setText(recovery_text(recovery))
        self._preview.setEnabled(bool(recovery.operations or recovery.typed))
        self._restore.setVisible(recovery.history is not None)
        hint = "They follow what was edited here since, as one step" if document.is_pending else ""
        self._restore.setToolTip(hint)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _tell(self, signal: SignalInstance) -> None:
        if self._recovery is not None:
            signal.emit(self._recovery)


class RecoveryPreview(QDialog):
    """Lists what was done, in order, with the values that were given; `accept` means Restore."""

    def __init__(self, document: OpenDocument, recovery: Recovery, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("recoveryPreview")
        self.setWindowTitle("Unsaved edits")
        self.setModal(True)
        self.resize(760, 420)
        heading = plain_label(f"Unsaved edits of {one_line(document.title)}")
        heading.setFont(theme.heading_font())
        self._list = self._make_list(recovery)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(recovery_text(recovery), role="muted"))
        layout.addWidget(self._list, 1)
        layout.addLayout(self._make_buttons(document.journal.can_restore(recovery)))

    def _make_list(self, recovery: Recovery) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("recoveryList")
        view.setAccessibleName("What was done, in order")
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setHeaderLabels(["", "Edit", "To"])
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        view.header().resizeSection(1, 280)
        for number, operation in enumerate(recovery.operations[:LISTED], 1):
            view.addTopLevelItem(_row(str(number), *_words(operation)))
        for typed in recovery.typed:
            view.addTopLevelItem(_row("", *_typed_words(typed)))
        left = len(recovery.operations) - LISTED
        if left > 0:
            view.addTopLevelItem(_row("", f"and {count_text(left)} more", ""))
        return view

    def _make_buttons(self, can_restore: bool) -> QHBoxLayout:
        close = push_button("Close", "recoveryCloseButton", self.reject)
        restore = push_button("Restore", "recoveryPreviewRestoreButton", self.accept)
        restore.setEnabled(can_restore)
        restore.setDefault(can_restore)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(restore)
        return buttons


def _words(operation: Operation) -> tuple[str, str]:
    """Return what was done, and the values that it gave."""
    from refbrowser.references.edits.edits import Compound

    if operation.edit is None:
        return {"undo": "Undo", "redo": "Redo", "revert": "Revert to the saved state"}[operation.kind], ""
    if isinstance(operation.edit, Compound):
        return operation.edit.title, "; ".join(edit.title for edit in operation.edit.edits)
    given = operation.to_json()
    values = [value for name, value in given.items() if name not in ("op", "edit", "title", *_NAMED)]
    return operation.edit.title, ", ".join(json.dumps(value, ensure_ascii=False) for value in values)


def _typed_words(typed: Any) -> tuple[str, str]:
    """Return where something was typed, and what."""
    if not isinstance(typed, dict):
        return "Typed and not applied", ""
    return f"Typed and not applied: {typed.get('words')}", json.dumps(typed.get("draft"), ensure_ascii=False)


def _row(number: str, title: str, detail: str) -> QTreeWidgetItem:
    row = QTreeWidgetItem([number, one_line(title), one_line(detail)])
    row.setSizeHint(0, QSize(0, theme.ROW))
    for column, text in ((1, title), (2, detail)):
        row.setToolTip(column, theme.plain_tooltip(one_line(text)))
    return row
