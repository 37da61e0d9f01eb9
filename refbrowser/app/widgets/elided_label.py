"""Labels and buttons whose words ask for no room that is not there: one line that is cut, lines that wrap."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolButton, QToolTip, QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.words import one_line

#: A label is seen of which so much is left, in pixels.
LEAST = 24
#: What the style puts beside the words of a button on each side, and the widest it may be, in pixels.
_PADDING, _WIDEST = 8, 220
#: Lines that wrap ask for so many average characters at most.
_LINE = 80


def cut_around(text: str, first: int, stop: int, metrics: QFontMetrics, room: int) -> tuple[str, int]:
    """Cut a line so that its letters from `first` to `stop` are seen, and by how much they moved.

    The start is cut only as far as that needs; letters that do not fit themselves are seen from the first.
    """
    start = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    needed = text[:stop] if stop == len(text) else f"{text[:stop]}\N{HORIZONTAL ELLIPSIS}"
    if start == text or metrics.horizontalAdvance(needed) <= room:
        return start, 0
    more = "\N{HORIZONTAL ELLIPSIS}"
    away = bisect_left(
        range(first), True, key=lambda at: metrics.horizontalAdvance(more + needed[at:]) <= room
    )
    return metrics.elidedText(more + text[away:], Qt.TextElideMode.ElideRight, room), 1 - away


class LineLabel(QLabel):
    """One line of plain text: as wide as its words where there is room, cut to the room where there is not.

    What is cut is in the tool tip; screen readers have all of it.
    """

    def __init__(
        self, parent: QWidget | None = None, *, elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(parent)
        self._elide = elide
        self.setTextFormat(Qt.TextFormat.PlainText)

    def elide_at(self, mode: Qt.TextElideMode) -> None:
        """Cut what does not fit at another place."""
        self._elide = mode

    def is_cut(self) -> bool:
        """Whether not all of the text is seen."""
        return self._shown() != self.text()

    def _shown(self) -> str:
        room = self.contentsRect().width() - 2 * self.margin()
        return self.fontMetrics().elidedText(self.text(), self._elide, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self._shown()
        if shown == self.text():
            super().paintEvent(event)
            return
        painter, space = QPainter(self), self.margin()
        area = self.contentsRect().adjusted(space, space, -space, -space)
        where, is_on = int(self.alignment()), self.isEnabled()
        self.style().drawItemText(painter, area, where, self.palette(), is_on, shown, self.foregroundRole())
        painter.end()

    def event(self, event: QEvent) -> bool:
        is_asked = event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent)
        if is_asked and not self.toolTip() and self.is_cut():
            QToolTip.showText(event.globalPos(), theme.plain_tooltip(self.text()), self)  # type: ignore[attr-defined]
            return True
        return super().event(event)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        margins = self.contentsMargins()
        return QSize(min(hint.width(), LEAST + margins.left() + margins.right()), hint.height())


class ElidedLabel(LineLabel):
    """One line of plain text that takes the room there is, whatever its words; its tool tip has all of it."""

    def __init__(
        self,
        name: str,
        parent: QWidget | None = None,
        *,
        role: str = "",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent, elide=elide)
        self.setObjectName(name)
        # A path begins at the left, whatever the script of its names.
        self.setAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setProperty("role", role)

    def set_text(self, text: str) -> None:
        """Show another text, as one line."""
        self.setText(one_line(" ".join(text.split("\n"))))
        self.setAccessibleName(self.text())
        self.setToolTip(theme.plain_tooltip(text))

    # Of the text's length neither, so that other words never move what is beside it.

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 2 * self.margin())

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, self.sizeHint().height())


class WrappedLabel(QLabel):
    """Plain text in as many lines as its width takes; a word that is wider than that is broken."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        #: The width of its widest word, in pixels, with the text and the font that it was measured for.
        self._widest: tuple[str, QFontMetrics, int] = "", self.fontMetrics(), 0

    def paintEvent(self, event: QPaintEvent) -> None:
        area = self.contentsRect()
        if not self._is_too_narrow(area.width()):
            super().paintEvent(event)
            return
        layout, height = self._laid(area.width())
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        above = (area.height() - height) / 2 if self.alignment() & Qt.AlignmentFlag.AlignVCenter else 0
        layout.draw(painter, QPointF(area.left(), area.top() + max(0.0, above)))
        painter.end()

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        room = width - margins.left() - margins.right()
        if not self._is_too_narrow(room):
            return super().heightForWidth(width)
        return self._laid(room)[1] + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        hint, most = super().sizeHint(), self.fontMetrics().averageCharWidth() * _LINE
        return hint if hint.width() <= most else QSize(most, self.heightForWidth(most))

    def minimumSizeHint(self) -> QSize:
        hint, margins = super().minimumSizeHint(), self.contentsMargins()
        return QSize(min(hint.width(), 2 * LEAST + margins.left() + margins.right()), hint.height())

    def _is_too_narrow(self, room: int) -> bool:
        """Whether a word does not fit into a line."""
        # Layouts ask many times for each change.
        text, metrics = self.text(), self.fontMetrics()
        if self._widest[:2] != (text, metrics):
            widest = max((metrics.horizontalAdvance(word) for word in text.split()), default=0)
            self._widest = text, metrics, widest
        return self._widest[2] > room

    def _laid(self, width: int) -> tuple[QTextLayout, int]:
        """Return the text in lines of a width, and their height."""
        layout = QTextLayout(self.text().replace("\n", "\N{LINE SEPARATOR}"), self.font())
        option = QTextOption(self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height = 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, width))
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        return layout, int(height + 1)


class LineButton(QToolButton):
    """A button whose words, however long, are cut to the room there is; its tool tip has to have them."""

    def paintEvent(self, event: QPaintEvent) -> None:
        # Not before the window is painted, which has no such button: `QStyle` has many enumerations to make.
        from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QStylePainter

        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        beside = 0 if option.icon.isNull() else option.iconSize.width() + theme.SMALL
        room = self.width() - beside - 2 * _PADDING
        option.text = self.fontMetrics().elidedText(option.text, Qt.TextElideMode.ElideMiddle, room)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
        painter.end()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(min(hint.width(), _WIDEST), hint.height())

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), 2 * LEAST), hint.height())
