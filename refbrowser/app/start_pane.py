"""The empty window: where to drop a document, the sample, and what was opened lately."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from refbrowser.app import icons, theme
from refbrowser.app.row_model import one_line
from refbrowser.app.widgets import plain_label, push_button

#: Recent documents that are shown.
SHOWN = 6


class StartPane(QWidget):
    """The whole centre is a place to drop documents.

    Signals
    -------
    openFiles(), openUrl(), openSample()
        A button was pressed.
    openPath(str)
        One of the recent documents was chosen.
    """

    openFiles = Signal()
    openUrl = Signal()
    openSample = Signal()
    openPath = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("startPane")
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        heading = plain_label("Drop a reference document here", wrap=False)
        heading.setFont(theme.heading_font(7))
        heading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text = plain_label(
            "kerchunk JSON, plain or compressed, or the parquet form: files, folders or URLs", role="muted"
        )
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addStretch(1)
        buttons.addWidget(push_button("Open…", "startOpenButton", self.openFiles.emit))
        buttons.addWidget(push_button("Open URL…", "startUrlButton", self.openUrl.emit))
        buttons.addWidget(push_button("Open the sample", "startSampleButton", self.openSample.emit))
        buttons.addStretch(1)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(40, 40, 40, 40)
        layout.setSpacing(theme.LARGE)
        layout.addStretch(3)
        layout.addWidget(self._icon)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addSpacing(theme.MEDIUM)
        layout.addLayout(buttons)
        layout.addSpacing(theme.HUGE)
        layout.addLayout(self._recent)
        layout.addStretch(4)
        self._draw_icon()

    def set_recent(self, paths: list[str]) -> None:
        """List the documents that were opened lately."""
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        if not paths:
            return
        title = plain_label("Recent", role="paneTitle", wrap=False)
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._recent.addWidget(title)
        for number, path in enumerate(paths[:SHOWN]):
            button = push_button(
                "", f"recentButton{number}", lambda path=path: self.openPath.emit(path), flat=True
            )
            name = one_line(path)
            button.setText(
                name.replace("&", "&&") if len(name) <= 80 else "…" + name[-79:].replace("&", "&&")
            )
            button.setAccessibleName(f"Open {name}")
            button.setToolTip(theme.plain_tooltip(path))
            self._recent.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(theme.colors().border), 1.5, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(QColor(theme.colors().surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        painter.end()

    def changeEvent(self, event: object) -> None:
        super().changeEvent(event)  # type: ignore[arg-type]
        if hasattr(self, "_recent"):
            self._draw_icon()

    def _draw_icon(self) -> None:
        self._icon.setPixmap(icons.pixmap("drop", 44, theme.colors().accent, self.devicePixelRatioF()))


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
        ground.setAlpha(225)
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
