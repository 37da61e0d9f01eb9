"""Paints a grid: headers, cells and their marks, what is selected."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.table.grid_model import GridModel
from refbrowser.app.widgets.table.selection import Cell, CellSelection
from refbrowser.views.plot.table import Cells, Mark
from refbrowser.views.words import one_line

PADDING = 7
#: Made once: combining flags costs more than painting a cell.
_SINGLE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft | _SINGLE, Qt.AlignmentFlag.AlignRight | _SINGLE


class GridPainter:
    """Fonts and sizes of a grid, and how its parts are painted."""

    def __init__(self, widget: QWidget) -> None:
        self.mono = theme.mono_font()
        self._italic = QFont(self.mono)
        self._italic.setItalic(True)
        self._bold = QFont(self.mono)
        self._bold.setBold(True)
        self._fonts = {Mark.MISSING: self._italic, Mark.FAILED: self._bold}
        self.metrics = QFontMetrics(self.mono)
        self.row_height = max(self.metrics.height(), widget.fontMetrics().height()) + 6
        self._digit = self.metrics.horizontalAdvance("0")

    def width_of(self, characters: int) -> int:
        """Return the width of a column for texts of so many characters."""
        return characters * self._digit + 2 * PADDING

    def text_width(self, text: str) -> int:
        """Return the width of a cell that shows all of a text."""
        # A pixel more: the advance is rounded, and a part of a pixel too little costs two letters.
        return self.metrics.horizontalAdvance(one_line(text)) + 2 * PADDING + 1

    def paint_cells(
        self,
        painter: QPainter,
        cells: Cells,
        places: list[list[QRect]],
        first: Cell,
        selection: CellSelection | None,
        right: Sequence[bool],
    ) -> None:
        """Paint cells at their places; `first` is the cell of the first one; `right` tells of each column."""
        scheme = theme.colors()
        grounds = {Mark.FAILED: QColor(scheme.fault_soft), Mark.MISSING: QColor(scheme.hover)}
        pens = {Mark.VALUE: QColor(scheme.text), Mark.FAILED: QColor(scheme.fault)}
        muted, chosen = QColor(scheme.muted), QColor(scheme.accent_soft)
        sides = [_RIGHT if each else _LEFT for each in right]
        painter.setFont(self.mono)
        for row, (texts, marks, line) in enumerate(
            zip(cells.texts, cells.marks.tolist(), places, strict=True), first[0]
        ):
            for column, (text, mark, place, flags) in enumerate(
                zip(texts, marks, line, sides, strict=True), first[1]
            ):
                if selection is not None and row in selection.rows and column in selection.columns:
                    painter.fillRect(place, chosen)
                elif mark in grounds:
                    painter.fillRect(place, grounds[mark])
                painter.setPen(pens.get(mark, muted))
                if mark in self._fonts:
                    painter.setFont(self._fonts[mark])
                    painter.drawText(_inner(place), flags, "! failed" if mark == Mark.FAILED else text)
                    painter.setFont(self.mono)
                else:
                    painter.drawText(_inner(place), flags, self.fitting(text, place.width()))

    def paint_current(self, painter: QPainter, place: QRect, focus: bool) -> None:
        """Paint the frame of the current cell."""
        scheme = theme.colors()
        painter.setPen(QColor(scheme.accent if focus else scheme.muted))
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        if focus:
            painter.drawRect(place.adjusted(1, 1, -2, -2))

    def paint_lines(self, painter: QPainter, across: list[int], down: list[int], area: QRect) -> None:
        """Paint the lines between cells."""
        painter.setPen(QColor(theme.colors().border))
        for x in across:
            painter.drawLine(x, area.top(), x, area.bottom())
        for y in down:
            painter.drawLine(area.left(), y, area.right(), y)

    def paint_header(
        self, painter: QPainter, place: QRect, texts: tuple[str, str], *, marked: bool, right: bool
    ) -> None:
        """Paint the two lines over a column."""
        scheme = theme.colors()
        if marked:
            painter.fillRect(place, QColor(scheme.accent_soft))
        lines = [text for text in texts if text]
        flags = _RIGHT if right else _LEFT
        for number, text in enumerate(lines):
            height = place.height() // len(lines)
            box = QRect(place.left(), place.top() + number * height, place.width(), height)
            painter.setPen(
                QColor(scheme.muted if number < len(lines) - 1 or len(lines) == 1 else scheme.text)
            )
            painter.drawText(_inner(box), flags, self.fitting(text, place.width()))

    def paint_row_header(
        self, painter: QPainter, place: QRect, texts: tuple[str, str], split: int, *, marked: bool
    ) -> None:
        """Paint index and coordinate before a row; the first ends at `split`."""
        scheme = theme.colors()
        if marked:
            painter.fillRect(place, QColor(scheme.accent_soft))
        index = QRect(place.left(), place.top(), split, place.height())
        painter.setPen(QColor(scheme.muted))
        painter.drawText(_inner(index), _RIGHT, texts[0])
        if texts[1]:
            rest = place.adjusted(split, 0, 0, 0)
            painter.setPen(QColor(scheme.text))
            painter.drawText(_inner(rest), _RIGHT, self.fitting(texts[1], rest.width()))

    def paint_corner(self, painter: QPainter, place: QRect, model: GridModel) -> None:
        """Paint the names of rows and columns where the headers meet."""
        down, across = model.corner
        painter.setFont(self._bold)
        painter.setPen(QColor(theme.colors().muted))
        half = place.height() // 2
        below = QRect(place.left(), place.top() + half, place.width(), place.height() - half)
        down_text = f"{down} ↓" if down else ""
        if across:
            top = QRect(place.left(), place.top(), place.width(), half)
            painter.drawText(_inner(top), _RIGHT, self.fitting(f"{across} →", place.width()))
            painter.drawText(_inner(below), _LEFT, self.fitting(down_text, place.width()))
        else:
            painter.drawText(_inner(place), _LEFT, self.fitting(down_text, place.width()))
        painter.setFont(self.mono)

    def fitting(self, text: str, width: int) -> str:
        """Return a text on one line, cut with an ellipsis where it is wider than a cell."""
        room = width - 2 * PADDING
        if len(text) * self._digit <= room and text.isascii() and text.isprintable():
            return text
        return self.metrics.elidedText(one_line(text), Qt.TextElideMode.ElideRight, room)


def _inner(place: QRect) -> QRect:
    return place.adjusted(PADDING, 0, -PADDING, 0)
