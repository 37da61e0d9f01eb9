"""Replacing the beginning of URLs over all references, or those whose keys match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QGroupBox, QLabel, QLineEdit, QPushButton, QWidget

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.rows import OutcomeLine, TextLine, named
from refbrowser.app.tasks import TaskControl
from refbrowser.app.theme import count_text

if TYPE_CHECKING:
    from refbrowser.app.editors.prefix_changes import PrefixChanges

#: The references that change are counted after this pause in typing, in milliseconds.
PAUSE = 60
ALL_KEYS = "*"


class UrlPrefixPanel(QGroupBox):
    """*From*, *to* and a pattern of keys, with a count of what would change before it is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Replace the beginning of URLs", parent)
        self.setObjectName("urlPrefixPanel")
        self._document: OpenDocument | None = None
        self._seen: object = None
        self._changes: PrefixChanges | None = None
        grid = QGridLayout(self)
        grid.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.MEDIUM)
        grid.setVerticalSpacing(theme.SMALL)
        self._old = self._line(grid, 0, "F&rom", "urlPrefixOld", "beginning of the URL as written")
        self._new = self._line(grid, 1, "T&o", "urlPrefixNew", "what it becomes")
        self._keys = self._line(grid, 2, "In &keys", "urlPrefixKeys", "all; or a pattern such as temp/*")
        self._outcome = OutcomeLine("urlPrefixOutcome")
        self._button = named(
            QPushButton("Re&place"), "urlPrefixButton", "Replace the beginning of these URLs"
        )
        self._button.setEnabled(False)
        self._button.clicked.connect(self.replace)
        grid.addWidget(self._outcome, 3, 0, 1, 2)
        grid.addWidget(self._button, 4, 0, 1, 2, Qt.AlignmentFlag.AlignRight)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._count)

    def _line(self, grid: QGridLayout, row: int, label: str, name: str, hint: str) -> QLineEdit:
        field = named(TextLine(), name, f"Replace the beginning of URLs: {label.replace('&', '').lower()}")
        field.setPlaceholderText(hint)
        field.setFont(theme.mono_font())
        field.textEdited.connect(self._typed)
        title = QLabel(label)
        title.setBuddy(field)
        grid.addWidget(title, row, 0)
        grid.addWidget(field, row, 1)
        return field

    def set_document(self, document: OpenDocument | None) -> None:
        """Act on another document, or on the same one after it changed."""
        contents = None if document is None else document.document
        if document is self._document and contents is self._seen:
            return
        self._document, self._seen = document, contents
        self._typed()

    def begin(self, old: str) -> None:
        """Begin with what URLs begin with now; the keyboard is where the other beginning goes."""
        self._old.setText(old)
        self._keys.clear()
        self._typed()
        self._new.setFocus()

    def _typed(self) -> None:
        self._changes = None
        self._button.setEnabled(False)
        self._outcome.clear()
        if self._document is not None:
            self._document.tasks.cancel_owner(self._document.owner("url prefix"))
        if self._old.text():
            self._pause.start()
        else:
            self._pause.stop()

    def _count(self) -> None:
        opened, old, new = self._document, self._old.text(), self._new.text()
        document = None if opened is None else opened.document
        if opened is None or document is None:
            return
        text = self._keys.text().strip()
        pattern = None if text in ("", ALL_KEYS) else text

        def count(control: TaskControl) -> PrefixChanges:
            from refbrowser.app.editors.prefix_changes import prefix_changes

            return prefix_changes(document, old, new, pattern, control.check)

        opened.tasks.run(
            opened.owner("url prefix"),
            "Count the URLs that change",
            count,
            lambda changes: self._show_count(changes) if document is self._seen else None,
            lambda error: self._outcome.show_fault(str(error)),
        )

    def _show_count(self, changes: PrefixChanges) -> None:
        parts = [
            f"{count_text(number)} {one if number == 1 else many}"
            for number, one, many in (
                (changes.references, "reference", "references"),
                (changes.templates, "template", "templates"),
                (changes.rules, "gen rule", "gen rules"),
            )
            if number
        ]
        if not parts:
            self._outcome.show_warning("no URL begins so")
        elif changes.edit.old == changes.edit.new:
            self._outcome.show_warning(f"{', '.join(parts)}: the two are the same")
        else:
            first = f", first {changes.example}" if changes.example else ""
            self._outcome.show_result(f"{', '.join(parts)} change{first}")
            self._changes = changes
        self._button.setEnabled(self._changes is not None)

    def replace(self) -> None:
        """Make the replacement one step of the history."""
        if self._changes is not None and self._document is not None:
            self._document.apply(self._changes.edit)
