"""A table whose rows unfold in place: lists into their elements, records into their fields."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QWidget

from refbrowser.app.facets.nested.nested_model import NestedModel
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.table_models import RowStyle
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.nested.nested_lines import Cell, NestedLine
from refbrowser.views.plot.table import Mark
from refbrowser.views.words import count_text, one_line

_PADDING = 8
#: How far a level stands to the right of the one above, and the room of the mark that unfolds.
_STEP, _MARK = 14, 16
_SINGLE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft | _SINGLE, Qt.AlignmentFlag.AlignRight | _SINGLE


class NestedTable(VirtualTable):
    """Shows a `NestedModel`.

    Signals
    -------
    copyWanted()
        The selected values are to be put on the clipboard.
    cut()
        Not all of what was to be unfolded could be.
    folded()
        Other lines are unfolded.
    """

    copyWanted = Signal()
    cut = Signal()
    folded = Signal()
    # Texts of nested values take time to make; no more are made than are seen.
    page_rows = 16

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fonts = self._make_fonts()

    def nested(self) -> NestedModel | None:
        """Return the model, None while there is nothing to show."""
        model = self.model()
        return model if isinstance(model, NestedModel) else None

    def current_line(self) -> NestedLine | None:
        """Return the current line."""
        model, row = self.nested(), self.current()
        return None if model is None or row is None else model.line(row)

    def restyle(self) -> None:
        super().restyle()
        self._fonts = self._make_fonts()

    @staticmethod
    def _make_fonts() -> dict[Mark, QFont]:
        plain, italic, bold = theme.mono_font(), theme.mono_font(), theme.mono_font()
        italic.setItalic(True)
        bold.setBold(True)
        return {mark: {Mark.MISSING: italic, Mark.FAILED: bold}.get(mark, plain) for mark in Mark}

    # Unfolding

    def unfold_current(self) -> None:
        """Unfold one level more below the current line."""
        line, model = self.current_line(), self.nested()
        if line is not None and model is not None:
            complete = model.unfold_level(line.path)
            self._folds_changed()
            if not complete:
                self.cut.emit()

    def fold_all(self) -> None:
        """Show the rows alone; the row of the current line stays current."""
        line, model = self.current_line(), self.nested()
        if model is not None:
            model.fold_all()
            self._folds_changed()
            self.set_current(None if line is None else line.path[0])

    def toggle(self, row: int) -> None:
        """Unfold a line, or fold it."""
        model = self.nested()
        if model is None:
            return
        line = model.line(row)
        if model.folds.is_open(line.path):
            model.fold(line.path)
        elif line.below:
            model.unfold(line.path)
        self._folds_changed()

    def _folds_changed(self) -> None:
        self.refresh()
        self.folded.emit()

    def go_to(self, row: int) -> None:
        """Make a row of the array current."""
        model = self.nested()
        if model is not None:
            self.set_current(model.folds.line((row,)))

    # Painting

    def paint_row(
        self, painter: QPainter, scheme: theme.Colors, row: int, texts: list[str], style: RowStyle
    ) -> None:
        model = self.nested()
        if model is None:
            return
        line = model.line(row)
        self._paint_label(painter, scheme, row, line, model.folds.is_open(line.path))
        section = 1
        if model.has_length:
            painter.setPen(QColor(scheme.muted))
            painter.setFont(self._fonts[Mark.VALUE])
            if line.length is not None:
                painter.drawText(_inner(self._area(row, section)), _RIGHT, count_text(line.length))
            section += 1
        is_span = len(line.cells) < len(model.fields)
        for number, cell in enumerate(line.cells):
            area = self._area(row, section + number)
            if area.left() > self.viewport().width() or (area.right() < 0 and not is_span):
                continue
            if is_span:
                area.setRight(max(self.viewport().width(), area.right()))
            is_right = model.fields[number].is_number and not is_span and not line.depth
            self._paint_cell(painter, scheme, area, cell, _RIGHT if is_right else _LEFT)

    def _paint_label(
        self, painter: QPainter, scheme: theme.Colors, row: int, line: NestedLine, is_open: bool
    ) -> None:
        area = self._area(row, 0)
        mark = self._mark_area(row, line)
        if line.below:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(scheme.text if is_open else scheme.muted))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawPolygon(_triangle(QPointF(mark.center()), is_open))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setFont(self._fonts[Mark.VALUE])
        painter.setPen(QColor(scheme.muted if line.depth else scheme.text))
        area.setLeft(mark.right() + 2)
        area.setRight(area.right() - _PADDING // 2)
        text = painter.fontMetrics().elidedText(
            one_line(line.label), Qt.TextElideMode.ElideRight, area.width()
        )
        painter.drawText(area, _LEFT, text)

    def _paint_cell(
        self, painter: QPainter, scheme: theme.Colors, area: QRect, cell: Cell, flags: Qt.AlignmentFlag
    ) -> None:
        if cell.mark is Mark.FAILED:
            painter.fillRect(area.adjusted(0, 1, 0, -1), QColor(scheme.fault_soft))
        colors = {Mark.VALUE: scheme.text, Mark.FAILED: scheme.fault}
        painter.setPen(QColor(colors.get(cell.mark, scheme.muted)))
        painter.setFont(self._fonts[cell.mark])
        inner = _inner(area)
        text = painter.fontMetrics().elidedText(
            one_line(cell.text), Qt.TextElideMode.ElideRight, inner.width()
        )
        painter.drawText(inner, flags, text)

    def _area(self, row: int, section: int) -> QRect:
        return self.cell_rect(row, section).translated(-self.viewport().pos())

    def _mark_area(self, row: int, line: NestedLine) -> QRect:
        area = self._area(row, 0)
        # Deep levels stand no further to the right than the column is wide.
        left = min(_PADDING // 2 + line.depth * _STEP, max(0, area.width() - 4 * _MARK))
        return QRect(area.left() + left, area.top(), _MARK, area.height())

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        model, row = self.nested(), self.current()
        if model is None or row is None:
            super().keyPressEvent(event)
            return
        key, line = Qt.Key(event.key()), model.line(row)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyWanted.emit()
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Right:
            self._right(row, line, model)
        elif key == Qt.Key.Key_Left:
            self._left(line, model)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.toggle(row)
        elif key in (Qt.Key.Key_Asterisk, Qt.Key.Key_Plus):
            self.unfold_current()
        elif key == Qt.Key.Key_Minus:
            model.fold(line.path)
            self.refresh()
        else:
            super().keyPressEvent(event)

    def _right(self, row: int, line: NestedLine, model: NestedModel) -> None:
        if model.folds.is_open(line.path):
            self.set_current(row + 1)
        elif line.below:
            self.toggle(row)

    def _left(self, line: NestedLine, model: NestedModel) -> None:
        if model.folds.is_open(line.path):
            model.fold(line.path)
            self._folds_changed()
        elif line.depth:
            self.set_current(model.folds.line(line.path[:-1]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._marked_row(event.position().toPoint())
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            self.set_current(row)
            self.toggle(row)
        else:
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        row = self.row_at(place)
        if row is not None and self._marked_row(place) is None:
            self.toggle(row)
            self.activated.emit(row)

    def _marked_row(self, place: QPoint) -> int | None:
        """Return the row whose mark is at a place."""
        model, row = self.nested(), self.row_at(place)
        if model is None or row is None:
            return None
        line = model.line(row)
        return row if line.below and self._mark_area(row, line).contains(place) else None

    def copy_selected(self) -> None:
        self.copyWanted.emit()


def _inner(area: QRect) -> QRect:
    return area.adjusted(_PADDING, 0, -_PADDING, 0)


def _triangle(middle: QPointF, is_open: bool) -> QPolygonF:
    """Return the mark of what can be unfolded: it points right, and down once it is."""
    corners = ((-4, -2), (4, -2), (0, 3)) if is_open else ((-2, -4), (-2, 4), (3, 0))
    return QPolygonF([middle + QPointF(x + 0.5, y + 0.5) for x, y in corners])
