"""A few URLs before and after a replacement, each on a line of its own."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.words import one_line

#: Marks of the three lines of an example, which tell them apart without colour.
NAME, BEFORE, AFTER = "", "−", "+"


class ExampleLines(QWidget):
    """Lines in threes: a name, the URL that was, the URL that will be; cut in the middle where long."""

    def __init__(self, name: str, room: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._room = room
        self._lines: list[tuple[str, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_examples(self, examples: list[tuple[str, str, str]]) -> None:
        """Show name, URL before and URL after of some things."""
        self._lines = []
        for name, before, after in examples[: self._room]:
            self._lines += [(NAME, name), (BEFORE, before)]
            self._lines += [(AFTER, after)] if after != before else []
        self.setAccessibleName("Examples" if examples else "")
        self.setAccessibleDescription(self.text())
        self.setToolTip(theme.plain_tooltip(self.text()) if examples else "")
        self.setVisible(bool(examples))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return what is shown, a line each."""
        return "\n".join(f"{mark} {text}".strip() for mark, text in self._lines)

    def sizeHint(self) -> QSize:
        return QSize(160, len(self._lines) * self._line_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def _line_height(self) -> int:
        return QFontMetrics(theme.mono_font()).height() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        scheme, mono = theme.colors(), theme.mono_font()
        bold = QFont(mono)
        bold.setBold(True)
        inks = {NAME: scheme.text, BEFORE: scheme.muted, AFTER: scheme.changed}
        height = self._line_height()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        for number, (mark, text) in enumerate(self._lines):
            painter.setFont(bold if mark == AFTER else mono)
            painter.setPen(QColor(inks[mark]))
            left = theme.SMALL + (2 * theme.MEDIUM if mark else 0)
            box = QRect(left, number * height, self.width() - left, height)
            if mark:
                painter.drawText(box.translated(-theme.MEDIUM - theme.SMALL, 0), flags, mark)
            shown = painter.fontMetrics().elidedText(
                one_line(text), Qt.TextElideMode.ElideMiddle, box.width()
            )
            painter.drawText(box, flags, shown)
