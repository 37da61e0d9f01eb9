"""What is dragged over the window: what dropping it will do is shown, and done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QDragEnterEvent, QDragMoveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.dropped_items import Drop, read_drop
from refbrowser.formats.registry import formats
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace


class DropOverlay(QFrame):
    """What a drop will do, over the whole window while something is dragged."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("dropOverlay")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines: tuple[str, str] = ("", "")
        self._accepts = True
        self.hide()

    def show_for(self, heading: str, detail: str, accepts: bool) -> None:
        """Cover the parent and say what will happen."""
        if self.isVisible() and self._lines == (heading, detail):
            return
        self._lines, self._accepts = (heading, detail), accepts
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.setAccessibleDescription(f"{heading}. {detail}")
        self.raise_()
        self.show()
        self.update()

    def text(self) -> str:
        """Return the words shown."""
        return "\n".join(self._lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colors()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(scheme.surface)
        ground.setAlpha(240)
        painter.fillRect(self.rect(), ground)
        mark = scheme.accent if self._accepts else scheme.fault
        painter.setPen(QPen(QColor(mark), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(14, 14, -14, -14), 12, 12)
        middle = self.rect().center()
        picture = icons.pixmap("drop" if self._accepts else "cancel", 48, mark, self.devicePixelRatioF())
        painter.drawPixmap(middle.x() - 24, middle.y() - 80, picture)
        painter.setPen(QColor(scheme.text))
        painter.setFont(theme.heading_font(6))
        painter.drawText(self.rect().adjusted(40, 30, -40, 30), Qt.AlignmentFlag.AlignCenter, self._lines[0])
        painter.setPen(QColor(scheme.muted))
        painter.setFont(self.font())
        painter.drawText(self.rect().adjusted(40, 90, -40, 90), Qt.AlignmentFlag.AlignCenter, self._lines[1])
        painter.end()


class DropTarget(QObject):
    """Takes what is dropped on one window."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self.overlay = DropOverlay(workspace.window())
        self._workspace.window().setAcceptDrops(True)

    def enter(self, event: QDragEnterEvent) -> None:
        """Say what a drop would do, or why it cannot be opened."""
        drop = read_drop(event.mimeData())
        self._say(drop, is_compared=self._is_compared(event, drop))
        self._prepare(drop)
        # Also what cannot be opened is accepted here, so that the overlay can say why.
        _accept(event)

    def _shown(self) -> str:
        """Return the name of what is shown; empty where nothing is that could be compared."""
        current = self._workspace.documents.current
        return current.title if current is not None and current.is_open else ""

    def _is_compared(self, event: QDropEvent, drop: Drop) -> bool:
        return bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) and drop.compares(self._shown())

    def _say(self, drop: Drop, *, is_compared: bool) -> None:
        shown = self._shown()
        if is_compared:
            heading, detail = drop.words_to_compare(shown)
        else:
            heading, detail = drop.words(bool(self._workspace.documents.all()))
            if drop.compares(shown):
                detail = f"{detail}\nHold Shift to compare {_with(drop, shown)}"
        self.overlay.show_for(heading, detail, drop.is_accepted)

    def _prepare(self, drop: Drop) -> None:
        """Load the libraries that read what is dragged, while the pointer is still on its way."""
        names = [target.lower() for target in drop.targets] if drop.is_accepted else []
        wanted = [
            each for each in formats() if each.library and any(name.endswith(each.suffixes) for name in names)
        ]

        def prepare(control: TaskControl) -> None:
            for each in wanted:
                control.check()
                each.prepare()

        if wanted:
            tasks = self._workspace.tasks
            # What cannot be loaded is told by the opening.
            tasks.run("prepare formats", tasks.PREPARING, prepare, failed=lambda _error: None)

    def move(self, event: QDragMoveEvent) -> None:
        """Accept what can be opened."""
        drop = read_drop(event.mimeData())
        # Shift may be pressed on the way.
        self._say(drop, is_compared=self._is_compared(event, drop))
        if drop.is_accepted:
            _accept(event)
        else:
            event.ignore()

    def drop(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        self.overlay.hide()
        drop = read_drop(event.mimeData())
        if drop.is_accepted:
            _accept(event)
        if drop.is_accepted and self._is_compared(event, drop):
            self._workspace.compare_paths(drop.targets)
        elif drop.is_accepted:
            self._workspace.open_all(drop.targets)
            if drop.is_data:
                workspace = self._workspace
                (workspace.combine_of if drop.is_alike else workspace.make_of)(drop.targets)
            self._workspace.window().activateWindow()


def _accept(event: QDropEvent) -> None:
    """Take what is dragged as a copy: Shift proposes to move, and what moves files would delete them."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _with(drop: Drop, shown: str) -> str:
    return "them" if len(drop.targets) == 2 else f"it with {one_line(shown)}"
