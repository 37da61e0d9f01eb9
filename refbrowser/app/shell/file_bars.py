"""Bars over the tabs about the file: changed by others, a copy beside it, what others cannot read of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from refbrowser.app.controller.disk import FileState
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.exporting.request import Loss

#: Losses that are named.
_NAMED = 3


class DiskBar(QFrame):
    """Says that the file of the document is another one, and offers what to do about it.

    Signals
    -------
    compare(), keep(), reload(), follow()
        What the user wants.
    """

    compare = Signal()
    keep = Signal()
    reload = Signal()
    follow = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("diskBar")
        self.setProperty("role", "trustStrip")
        self._compare = push_button("Compare…", "diskCompareButton", self.compare.emit)
        self._compare.setToolTip("Show what differs between this document and the file")
        self._keep = push_button("Keep this version", "diskKeepButton", self.keep.emit)
        self._keep.setToolTip("Go on with this document; Save replaces the file")
        self._reload = push_button("Reload", "diskReloadButton", self.reload.emit)
        self._reload.setToolTip("Read the file again (F5)")
        self._follow = push_button("Follow", "diskFollowButton", self.follow.emit)
        self._follow.setToolTip("Read the stream again now, and whenever it grows")
        buttons = (self._compare, self._keep, self._reload, self._follow)
        self._text = _fill(self, "diskText", IconLabel("warning", "warning"), buttons)
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Say what others did with the file of this document."""
        state = FileState.SAME if document is None or not document.is_open else document.file.state
        is_told = state not in (FileState.SAME, FileState.FOLLOWED)
        self.setVisible(is_told)
        if document is None or not is_told:
            return
        is_gone = state is FileState.GONE
        what = "was removed or renamed" if is_gone else "was changed by another program"
        mine = " You have unsaved edits here." if document.is_pending else ""
        self._text.setText(f"{one_line(document.name)} {what}.{mine}")
        is_stream, is_derived = document.file.is_stream, document.file.is_derived
        self._compare.setVisible(not is_gone and not is_derived)
        self._keep.setVisible(not is_derived)
        self._reload.setVisible(not is_gone)
        self._follow.setVisible(is_stream and not is_gone and not document.is_pending)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()


class CopyBar(QFrame):
    """Says that a copy was written while the document stays what it was, and offers to open it.

    Signals
    -------
    openPath(str)
        Open the copy.
    """

    openPath = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("copyBar")
        self.setProperty("role", "noteStrip")
        self._path = ""
        opening = push_button("Open it", "copyOpenButton", self._open)
        dismiss = push_button("Dismiss", "copyDismissButton", self.hide)
        self._text = _fill(self, "copyText", IconLabel("done", "accent"), (opening, dismiss))
        self.hide()

    def show_copy(self, document: OpenDocument, path: str) -> None:
        """Say where the copy is."""
        self._path = path
        self._text.setText(f"A copy was saved as {one_line(path)}. {one_line(document.title)} stays open.")
        self.show()

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _open(self) -> None:
        self.hide()
        self.openPath.emit(self._path)


class LossBar(QFrame):
    """Says what other software will not find in the file that was just written."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lossBar")
        self.setProperty("role", "trustStrip")
        dismiss = push_button("Dismiss", "lossDismissButton", self.hide)
        self._text = _fill(self, "lossText", IconLabel("warning", "warning"), (dismiss,))
        self._text.setWordWrap(True)
        self.hide()

    def show_losses(self, losses: Sequence[Loss]) -> None:
        """Name the first few; nothing is shown where there are none."""
        more = f"; and {len(losses) - _NAMED} more" if len(losses) > _NAMED else ""
        texts = [loss.what if loss.path == "/" else str(loss) for loss in losses[:_NAMED]]
        named = "; ".join(map(one_line, texts))
        self._text.setText(f"The file is not the whole store for other software: {named}{more}.")
        self.setVisible(bool(losses))

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()


def _fill(bar: QFrame, name: str, icon: IconLabel, buttons: tuple[QPushButton, ...]) -> QLabel:
    """Lay a bar out: icon, words, buttons; return the words."""
    text = plain_label("")
    text.setObjectName(name)
    layout = QHBoxLayout(bar)
    layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
    layout.setSpacing(theme.MEDIUM)
    layout.addWidget(icon)
    layout.addWidget(text, 1)
    for button in buttons:
        layout.addWidget(button)
    return text
