"""What the sheets of figures and films have in common: controls, and the figure as it will be beside them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import (
    combo_box,
    one_shot,
    plain_label,
    push_button,
    resize_within_screen,
)
from refbrowser.views.figures.figure_form import SCHEMES

#: Milliseconds after a change until it is drawn.
_PAUSE = 80


class FigurePreview(QWidget):
    """Shows a figure as it will be, as large as there is room.

    Signals
    -------
    resized()
        There is another room.
    """

    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("figurePreview")
        self.setAccessibleName("Preview of the figure")
        self.setMinimumSize(280, 220)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.image: QImage | None = None
        self._words = "Reading…"

    def show_image(self, image: QImage) -> None:
        """Show a figure."""
        self.image, self._words = image, ""
        self.update()

    def show_words(self, words: str) -> None:
        """Say why there is no figure."""
        self.image, self._words = None, words
        self.setAccessibleDescription(words)
        self.update()

    def room(self) -> QSize:
        """Return how large a figure can be, in pixels of the screen."""
        return (self.size() - QSize(2 * theme.LARGE, 2 * theme.LARGE)) * self.devicePixelRatioF()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.colors()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colors.window))
        if self.image is None:
            painter.setPen(QColor(colors.muted))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(
                self.rect().adjusted(*[theme.LARGE] * 2, *[-theme.LARGE] * 2), flags, self._words
            )
            return
        size = self.image.deviceIndependentSize()
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(QRectF(self.rect()).center())
        place.moveTopLeft(place.topLeft().toPoint().toPointF())
        painter.setPen(QColor(colors.border))
        painter.drawRect(place.adjusted(-1, -1, 0, 0))
        painter.drawImage(place.topLeft(), self.image)


class PreviewSheet(QDialog):
    """Has the controls of a subclass at the left, the preview and what is to be said of it at the right.

    Subclasses call `lay_out` at the end of their construction.
    """

    def __init__(self, name: str, title: str, height: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}Sheet")
        self.setWindowTitle(title)
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 1080, height)
        self._timer = one_shot(self, _PAUSE, self.draw)
        self._begin_timer = one_shot(self, 0, self.begin)
        self._preview = FigurePreview()
        self._preview.resized.connect(self._timer.start)
        self._facts = plain_label("", role="muted")
        self._facts.setObjectName(f"{name}Facts")
        self._cancel = push_button("Cancel", f"{name}CancelButton", self.reject)
        self._export = push_button("&Export…", f"{name}ExportButton", self.ask_where)
        self._export.setDefault(True)
        self._export.setEnabled(False)

    def begin(self) -> None:
        """Read what is shown: once the sheet is seen, as that takes long."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show the figure as it will be."""
        raise NotImplementedError

    def ask_where(self) -> None:
        """Ask for the file."""
        raise NotImplementedError

    def lay_out(self, controls: QWidget, *buttons: QPushButton) -> None:
        """Put controls beside the preview, and buttons of the sheet's own before Cancel and Export."""
        right = QVBoxLayout()
        right.addWidget(self._preview, 1)
        right.addWidget(self._facts)
        across = QHBoxLayout()
        across.setSpacing(theme.LARGE)
        across.addWidget(controls)
        across.addLayout(right, 1)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        for button in buttons:
            line.addWidget(button)
        line.addStretch(1)
        line.addWidget(self._cancel)
        line.addWidget(self._export)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[theme.HUGE] * 4)
        layout.setSpacing(theme.LARGE)
        layout.addLayout(across, 1)
        layout.addLayout(line)
        self._begin_timer.start()

    def done(self, result: int) -> None:
        """Close it: nothing is drawn any more."""
        self._timer.stop()
        self._begin_timer.stop()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.reject()
        super().closeEvent(event)


def ground_box(name: str) -> QComboBox:
    """Return the choice of a light or dark background."""
    box = combo_box(name, "Ground")
    for scheme in SCHEMES:
        box.addItem(f"{scheme.capitalize()} background", scheme)
    return box
