"""Dragging over the window: what a drop will do is shown, and done."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from refbrowser.app.opening.drop_overlay import DropOverlay
from refbrowser.app.opening.drops import read_drop

if TYPE_CHECKING:
    from refbrowser.app.shell.main_window import MainWindow


class DropTarget(QObject):
    """Takes what is dropped on one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.overlay = DropOverlay(window)
        window.installEventFilter(self)
        window.setAcceptDrops(True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.DragEnter:
                self._enter(cast("QDragEnterEvent", event))
            case QEvent.Type.DragMove:
                self._move(cast("QDragMoveEvent", event))
            case QEvent.Type.DragLeave:
                self.overlay.hide()
            case QEvent.Type.Drop:
                self._drop(cast("QDropEvent", event))
            case QEvent.Type.Resize if self.overlay.isVisible():
                self.overlay.setGeometry(self._window.rect())
                return False
            case _:
                return False
        return True

    def _enter(self, event: QDragEnterEvent) -> None:
        drop = read_drop(event.mimeData())
        heading, detail = drop.words(bool(self._window.documents.all()))
        self.overlay.show_for(heading, detail, drop.is_accepted)
        # Also what cannot be opened is accepted here, so that the overlay can say why.
        event.acceptProposedAction()

    def _move(self, event: QDragMoveEvent) -> None:
        if read_drop(event.mimeData()).is_accepted:
            event.acceptProposedAction()
        else:
            event.ignore()

    def _drop(self, event: QDropEvent) -> None:
        self.overlay.hide()
        drop = read_drop(event.mimeData())
        if drop.is_accepted:
            event.acceptProposedAction()
            self._window.open_all(drop.targets)
            self._window.activateWindow()
