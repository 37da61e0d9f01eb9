"""A grid of cells of any size: rows and columns are painted as they are seen; no object for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPolygon,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.long_bar import LongBar
from refbrowser.app.widgets.painted_view import PaintedView
from refbrowser.app.widgets.table_cells import Cell, CellSelection, ColumnWidths, GridModel, NoCells, moved
from refbrowser.views.plot.picture import STALE_NAME
from refbrowser.views.plot.table import Cells, Mark
from refbrowser.views.words import one_line

#: Narrowest and widest column, in characters.
NARROW, WIDE = 6, 60
#: This near a border between columns, in pixels, the pointer takes the border.
_GRIP = 4
_SHIFT, _CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


class GridView(PaintedView):
    """Cells of a `GridModel` with headers, a current cell, a selected rectangle and the keyboard.

    Signals
    -------
    currentChanged(object)
        The current cell (row, column), or None, after the user or `set_current` changed it.
    activated(object)
        The cell that was double-clicked, or on which Return was pressed.
    windowChanged()
        Other cells are seen.
    copyRequested()
        The selected cells are to be copied.
    widthsChanged()
        The user made columns wider or narrower.
    """

    currentChanged = Signal(object)
    activated = Signal(object)
    windowChanged = Signal()
    copyRequested = Signal()
    widthsChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: GridModel = NoCells()
        self._selection: CellSelection | None = None
        self._seen: tuple[range, range] | None = None
        self._cells: Cells | None = None
        #: Widths in pixels that the user gave columns, by the names of their kinds.
        self._kept: dict[str, int] = {}
        self._grip: int | None = None
        self._wheel = QPoint()
        self._split = self._head = 0
        self._rows = LongBar(self, Qt.Orientation.Vertical)
        self._columns = LongBar(self, Qt.Orientation.Horizontal)
        self._painter = GridPainter(self)
        self._widths = ColumnWidths([self._painter.width_of(12)])
        for bar in (self._rows, self._columns):
            bar.moved.connect(self._scrolled)
        self.viewport().setMouseTracking(True)

    # What is shown

    def model(self) -> GridModel:
        """Return the model in use."""
        return self._model

    def set_model(self, model: GridModel) -> None:
        """Show another model; where it has as many rows and columns, or is a longer one, the view stays."""
        before = self._model
        same = (model.rows, model.columns) == (before.rows, before.columns)
        if before.rows and model.columns == before.columns and model.corner == before.corner:
            same = same or model.rows > before.rows
        self._model = model
        self._measure_columns()
        if not same:
            self._rows.set_first(0)
            self._columns.set_first(0)
            self._select(None)
        self._split = self._head = 0
        self.refresh()
        self._lay_out()

    def refresh(self) -> None:
        """Ask the model for the cells again: some have come."""
        self._cells = None
        self._tell_screen_readers()
        self.viewport().update()

    def current(self) -> Cell | None:
        """Return row and column of the current cell."""
        return None if self._selection is None else self._selection.current

    def selection(self) -> CellSelection | None:
        """Return what is selected."""
        return self._selection

    def set_current(self, cell: Cell | None) -> None:
        """Make a cell current and scroll until it is seen."""
        if cell is None or not self._model.rows or not self._model.columns:
            self._select(None)
        else:
            self._move(*cell, extend=False)

    def select_all(self) -> None:
        """Select every cell; the view stays."""
        if self._model.rows and self._model.columns:
            last = (self._model.rows - 1, self._model.columns - 1)
            self._select(CellSelection((0, 0), last))

    def seen(self) -> tuple[range, range]:
        """Return the rows and columns that are seen, those that are cut too."""
        room_down = self.viewport().height() - self.header_height()
        room_across = self.viewport().width() - self._row_header_width()
        rows = -(-max(1, room_down) // self._painter.row_height)
        top, left = self._rows.first, self._columns.first
        last = self._widths.at(left, max(1, room_across) - 1)
        return (
            range(top, min(self._model.rows, top + rows)),
            range(left, min(self._model.columns, last + 1)),
        )

    def cells_seen(self) -> Cells:
        """Return the cells that are seen."""
        seen = self.seen()
        if self._cells is None or seen != self._seen:
            self._seen = seen
            self._cells = self._model.cells(*seen)
        return self._cells

    def cell_rect(self, row: int, column: int) -> QRect:
        """Return where a cell is painted, in the viewport's coordinates."""
        height = self._painter.row_height
        left = self._row_header_width() + self._widths.between(self._columns.first, column)
        top = self.header_height() + (row - self._rows.first) * height
        return QRect(left, top, self._widths.width(column), height)

    def cell_at(self, position: QPoint) -> Cell | None:
        """Return the cell under a point of the viewport, or None."""
        row, column = self._nearest(position)
        inside = position.x() >= self._row_header_width() and position.y() >= self.header_height()
        known = 0 <= row < self._model.rows and 0 <= column < self._model.columns
        return (row, column) if inside and known else None

    def column_width(self, column: int = 0) -> int:
        """Return the width of a column, and of all of its kind."""
        return self._widths.width(column)

    def set_column_width(self, column: int, width: int) -> None:
        """Give a column, and all of its kind, a width in pixels."""
        least, most = self._painter.width_of(NARROW), self._painter.width_of(WIDE) * 4
        kinds = self._model.kinds
        self._kept[kinds[column % len(kinds)].name] = max(least, min(width, most))
        self._measure_columns()
        self._lay_out()

    def fit_column(self, column: int) -> None:
        """Make a column, and all of its kind, as wide as the widest text of them that is seen."""
        count = len(self._model.kinds)
        alike = [(at, each) for at, each in enumerate(self.seen()[1]) if (each - column) % count == 0]
        texts = [line[at] for line in self.cells_seen().texts for at, _each in alike]
        heads = [text for _at, each in alike for text in self._model.column_header(each)]
        widest = max((self._painter.text_width(text) for text in (*texts, *heads)), default=0)
        self.set_column_width(column, min(widest + 2, self._painter.width_of(WIDE)))
        self.widthsChanged.emit()

    def widths_kept(self) -> dict[str, int]:
        """Return the widths that the user gave columns, by the names of their kinds."""
        return dict(self._kept)

    def keep_widths(self, widths: Mapping[str, int]) -> None:
        """Give columns the widths that were kept; those that are not named get their own again."""
        self._kept = dict(widths)
        self._measure_columns()
        self._lay_out()

    # Geometry

    def _measure_columns(self) -> None:
        own = self._painter.width_of
        self._widths = ColumnWidths(
            [self._kept.get(kind.name) or own(kind.characters) for kind in self._model.kinds]
        )

    def header_height(self) -> int:
        """Return the height of the line of column headers."""
        if not self._model.columns:
            return 0
        lines = 2 if self._model.corner[1] or self._model.column_header(0)[1] else 1
        return lines * (self._painter.row_height - 3) + 5

    def _row_header_width(self) -> int:
        if not self._model.columns or not self._model.corner[0]:
            return 0
        return self._head or self._measure_head()

    def _measure_head(self) -> int:
        """Return the width of the row headers: it only grows, so that columns do not jump."""
        rows = self._model.rows
        room = max(1, self.viewport().height()) // self._painter.row_height + 1
        seen = range(self._rows.first, min(rows, self._rows.first + room))
        headers = [self._model.row_header(row) for row in {*seen, 0, rows - 1}]
        painter = self._painter
        self._split = max(self._split, *(painter.text_width(index) for index, _text in headers))
        rest = max((painter.text_width(text) for _index, text in headers if text), default=0)
        names = max(painter.text_width(f"{name} →") + 4 for name in self._model.corner)
        widest = min(max(self._split + rest, names), painter.width_of(WIDE))
        if widest > self._head:
            self._head = widest
        if not rest:
            self._split = self._head
        return self._head

    def _lay_out(self) -> None:
        """Take over sizes to the scroll bars."""
        room_down = max(0, self.viewport().height() - self.header_height())
        columns = self._model.columns
        self._rows.set_extent(self._model.rows, max(1, room_down // self._painter.row_height))
        self._columns.set_extent(columns, self._widths.page(columns, self._room_across()))
        self._scrolled()

    def _room_across(self) -> int:
        return max(0, self.viewport().width() - self._row_header_width())

    def _scrolled(self) -> None:
        if self._model.rows and self._model.corner[0]:
            self._measure_head()
        self.viewport().update()
        if self.seen() != self._seen:
            self.windowChanged.emit()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if not self._model.rows or not self._model.columns:
            self.paint_placeholder(painter)
            return
        cells = self.cells_seen()
        rows, columns = self.seen()
        first = [self.cell_rect(rows.start, column) for column in columns]
        height = self._painter.row_height
        places = [[place.translated(0, down * height) for place in first] for down in range(len(rows))]
        painter.setFont(self._painter.mono)
        kinds = self._model.kinds
        right = [kinds[column % len(kinds)].right for column in columns]
        self._painter.paint_cells(painter, cells, places, (rows.start, columns.start), self._selection, right)
        self._paint_headers(painter, rows, columns)
        current = self.current()
        if current is not None and current[0] in rows and current[1] in columns:
            inside = self.viewport().rect().adjusted(self._row_header_width(), self.header_height(), 0, 0)
            painter.setClipRect(inside)
            self._painter.paint_current(painter, self.cell_rect(*current), self.hasFocus())

    def _paint_headers(self, painter: QPainter, rows: range, columns: range) -> None:
        scheme, left, top = theme.colors(), self._row_header_width(), self.header_height()
        area = self.viewport().rect()
        height = self._painter.row_height
        last = self.cell_rect(rows[-1], columns[-1])
        painter.fillRect(QRect(0, 0, min(area.width(), last.right()), top), QColor(scheme.raised))
        painter.fillRect(QRect(0, 0, left, min(area.height(), last.bottom())), QColor(scheme.raised))
        chosen = self._selection
        kinds = self._model.kinds
        for column in columns:
            cell = self.cell_rect(rows.start, column)
            place = QRect(cell.left(), 0, cell.width(), top)
            right = kinds[column % len(kinds)].right
            marked = chosen is not None and column in chosen.columns
            texts = self._model.column_header(column)
            self._painter.paint_header(painter, place, texts, marked=marked, right=right)
        for row in rows if left else ():
            place = QRect(0, self.cell_rect(row, columns.start).top(), left, height)
            marked = chosen is not None and row in chosen.rows
            self._painter.paint_row_header(
                painter, place, self._model.row_header(row), self._split, marked=marked
            )
        across = [self.cell_rect(rows.start, column).right() for column in columns]
        down = [top + (number + 1) * height - 1 for number in range(len(rows))]
        within = QRect(0, 0, last.right(), last.bottom())
        self._painter.paint_lines(painter, [left - 1, *across] if left else across, [top - 1, *down], within)
        corner = QRect(0, 0, left, top - 1)
        painter.fillRect(corner.adjusted(0, 0, -1, 0), QColor(scheme.raised))
        self._painter.paint_corner(painter, corner, self._model)

    # The current cell

    def _select(self, selection: CellSelection | None) -> None:
        before = self.current()
        self._selection = selection
        self.viewport().update()
        if self.current() != before:
            self._tell_screen_readers()
            self.currentChanged.emit(self.current())

    def _move(self, row: int, column: int, extend: bool) -> None:
        if not self._model.rows or not self._model.columns:
            return
        cell = max(0, min(row, self._model.rows - 1)), max(0, min(column, self._model.columns - 1))
        anchor = self._selection.anchor if extend and self._selection is not None else cell
        self._select(CellSelection(cell, anchor))
        before = self._rows.first, self._columns.first
        self._rows.see(cell[0])
        self._columns.see(cell[1])
        first = self._widths.first_to_see(self._columns.first, cell[1], self._room_across())
        self._columns.set_first(first)
        if before != (self._rows.first, self._columns.first):
            self._scrolled()

    def _tell_screen_readers(self) -> None:
        current = self.current()
        if current is None:
            self.setAccessibleDescription("")
            return
        row, column = current
        down, over = self._model.row_header(row), self._model.column_header(column)
        cell = self._model.cells(range(row, row + 1), range(column, column + 1))
        text = cell.texts[0][0] + (f" ({STALE_NAME})" if cell.stale[0, 0] else "")
        place = f"row {' '.join(down)}, column {' '.join(over)}" if down[0] else " ".join(over)
        self.describe_current(f"{place}: {text}")

    # Events

    def current_rect(self) -> QRect | None:
        current = self.current()
        return None if current is None else self.cell_rect(*current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyRequested.emit()
            return
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
            return
        key = Qt.Key(event.key())
        control, shift = (bool(event.modifiers() & which) for which in (_CONTROL, _SHIFT))
        last = self._model.rows - 1, self._model.columns - 1
        page = max(1, len(self.seen()[0]) - 1)
        target = moved(key, self.current(), (self._rows.first, self._columns.first), last, page, far=control)
        if target is not None:
            self._move(*target, extend=shift)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current() is not None:
            self.activated.emit(self.current())
        else:
            super().keyPressEvent(event)

    def _nearest(self, position: QPoint) -> Cell:
        row = self._rows.first + (position.y() - self.header_height()) // self._painter.row_height
        distance = position.x() - self._row_header_width()
        return row, self._widths.at(self._columns.first, distance)

    def _grip_at(self, position: QPoint) -> int | None:
        """Return the column that ends at the border under the pointer, None where there is none."""
        if position.y() >= self.header_height() or not self._model.columns:
            return None
        for column in self.seen()[1]:
            border = self.cell_rect(self._rows.first, column).right() + 1
            if abs(position.x() - border) <= _GRIP:
                return column
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        extend = bool(event.modifiers() & _SHIFT)
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip = self._grip_at(position)
            if self._grip is None:
                self._press(position, extend)
        elif event.button() == Qt.MouseButton.RightButton:
            cell = self.cell_at(position)
            if cell is not None and (self._selection is None or cell not in self._selection):
                self._move(*cell, extend=False)

    def _press(self, position: QPoint, extend: bool) -> None:
        row, column = self._nearest(position)
        rows, columns = self._model.rows, self._model.columns
        if self.cell_at(position) is not None:
            self._move(row, column, extend)
        elif position.y() < self.header_height() and position.x() < self._row_header_width():
            self.select_all()
        elif position.y() < self.header_height() and 0 <= column < columns and rows:
            self._select(CellSelection((0, column), (rows - 1, column)))
        elif position.x() < self._row_header_width() and 0 <= row < rows:
            self._select(CellSelection((row, 0), (row, columns - 1)))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        held = bool(event.buttons() & Qt.MouseButton.LeftButton)
        if held and self._grip is not None:
            distance = position.x() - self._row_header_width()
            width = self._widths.resized(self._columns.first, self._grip, distance)
            self.set_column_width(self._grip, width)
        elif held and self._selection is not None:
            self._move(*self._nearest(position), extend=True)
        resizing = self._grip_at(position) is not None
        self.viewport().setCursor(Qt.CursorShape.SplitHCursor if resizing else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self._grip = None
            self.widthsChanged.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        cell = self.cell_at(position)
        border = self._grip_at(position)
        if border is not None:
            self.fit_column(border)
        elif cell is not None:
            self.activated.emit(cell)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & _SHIFT and not delta.x():
            delta = QPoint(delta.y(), 0)
        self._wheel += delta
        down, across = int(self._wheel.y() / 40), int(self._wheel.x() / 120)
        self._wheel -= QPoint(across * 120, down * 40)
        self._rows.set_first(self._rows.first - down)
        self._columns.set_first(self._columns.first - across)
        self._scrolled()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def restyle(self) -> None:
        self._painter = GridPainter(self)
        self._measure_columns()
        self._split = self._head = 0
        self._lay_out()

    def show_tool_tip(self, event: QHelpEvent) -> None:
        cell = self.cell_at(event.pos())
        if cell is None:
            QToolTip.hideText()
            return
        cells = self._model.cells(range(cell[0], cell[0] + 1), range(cell[1], cell[1] + 1))
        text, mark = cells.texts[0][0], cells.marks[0, 0]
        if mark != Mark.VALUE or cells.stale[0, 0]:
            text = self._model.describe(*cell) or text
        elif self._painter.text_width(text) <= self._widths.width(cell[1]):
            QToolTip.hideText()
            return
        QToolTip.showText(event.globalPos(), theme.plain_tooltip(text), self.viewport())


PADDING = 7
#: Sides of the corner of a cell that is filled where its file is stale.
_CORNER = 8
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
        self._fonts = {Mark.MISSING: self._italic, Mark.FILLED: self._italic, Mark.FAILED: self._bold}
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
        grounds = {Mark.FAILED: QColor(scheme.fault_soft)}
        grounds |= dict.fromkeys((Mark.MISSING, Mark.FILLED), QColor(scheme.hover))
        pens = {Mark.FAILED: QColor(scheme.fault)}
        pens |= dict.fromkeys((Mark.VALUE, Mark.FILLED), QColor(scheme.text))
        muted, chosen = QColor(scheme.muted), QColor(scheme.accent_soft)
        stale = QColor(scheme.stale_soft)
        sides = [_RIGHT if each else _LEFT for each in right]
        painter.setFont(self.mono)
        for row, (texts, marks, others, line) in enumerate(
            zip(cells.texts, cells.marks.tolist(), cells.stale.tolist(), places, strict=True), first[0]
        ):
            for column, (text, mark, is_stale, place, flags) in enumerate(
                zip(texts, marks, others, line, sides, strict=True), first[1]
            ):
                if selection is not None and row in selection.rows and column in selection.columns:
                    painter.fillRect(place, chosen)
                elif mark in grounds:
                    painter.fillRect(place, grounds[mark])
                elif is_stale:
                    painter.fillRect(place, stale)
                if is_stale:
                    paint_stale_corner(painter, place)
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


def paint_stale_corner(painter: QPainter, place: QRect) -> None:
    """Mark a cell as of a file that is not the one of the lock: a filled corner."""
    corner = place.topLeft()
    path = QPainterPath(corner)
    path.addPolygon(QPolygon((corner, corner + QPoint(_CORNER, 0), corner + QPoint(0, _CORNER))))
    painter.fillPath(path, QColor(theme.colors().stale))


def _inner(place: QRect) -> QRect:
    return place.adjusted(PADDING, 0, -PADDING, 0)
