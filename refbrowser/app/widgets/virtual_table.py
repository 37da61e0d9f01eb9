"""A table of computed rows of any number: painted by itself, no object per row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QHeaderView, QToolTip, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.long_bar import LongBar
from refbrowser.app.widgets.painted_view import PaintedView
from refbrowser.app.widgets.table_models import HeaderModel
from refbrowser.views.rows import (
    PAGE_ROWS,
    Column,
    MeasuredRowModel,
    NoRows,
    RowModel,
    RowStyle,
    StyledRowModel,
)
from refbrowser.views.words import one_line

#: Pages of rows that are kept.
PAGES_KEPT = 32
#: Rows that one Copy puts on the clipboard at most.
COPY_ROWS = 10_000
#: A column of numbers gets room for so many characters at most by itself.
NUMBER_LIMIT = 32
_PADDING = 8
_MARK = 4
#: Made once: combining flags costs more than painting a cell.
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class VirtualTable(PaintedView):
    """Rows of a `RowModel`, with a header, a current row, a selected range and the keyboard.

    Signals
    -------
    currentChanged(object)
        The current row (int), or None, after the user or `set_current` changed it.
    activated(object)
        The row that was double-clicked, or on which Return was pressed.
    titlePressed(int)
        The title of a column was clicked, where `offer_order` says that this does something.
    """

    currentChanged = Signal(object)
    activated = Signal(object)
    titlePressed = Signal(int)
    #: Rows asked of the model at once.
    page_rows = PAGE_ROWS

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: RowModel = NoRows()
        self._pages: OrderedDict[int, tuple[list[list[str]], list[RowStyle]]] = OrderedDict()
        self._rows = LongBar(self, Qt.Orientation.Vertical)
        self._current: int | None = None
        self._anchor: int | None = None
        self._wheel = 0
        self._fitted = True
        self._fitting = False
        #: Widths that the numbers need that were met so far, by column.
        self._number_widths: dict[int, int] = {}
        # Not while a page is painted: a scroll bar may come or go.
        self._refit = QTimer(self, singleShot=True, interval=0)
        self._refit.timeout.connect(self._layout_parts)
        self._header_model = HeaderModel(self)
        self._header = QHeaderView(Qt.Orientation.Horizontal, self)
        self._header.setModel(self._header_model)
        self._header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._header.setMinimumSectionSize(24)
        self._header.setHighlightSections(False)
        self._header.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._header.sectionResized.connect(self._section_resized)
        self.viewport().setMouseTracking(False)
        self._rows.moved.connect(self.viewport().update)
        self.horizontalScrollBar().valueChanged.connect(self._columns_moved)
        self._measure()

    # What is shown

    def offer_order(self) -> None:
        """Let the titles of columns be clicked."""
        self._header.setSectionsClickable(True)
        self._header.sectionClicked.connect(self.titlePressed)

    def show_order(self, column: int | None, order: Qt.SortOrder) -> None:
        """Mark the column that the rows are in the order of."""
        self._header.setSortIndicatorShown(column is not None)
        if column is not None:
            self._header.setSortIndicator(column, order)

    def model(self) -> RowModel:
        """Return the model in use."""
        return self._model

    def set_model(self, model: RowModel) -> None:
        """Show another model; the current row is given up, the columns' widths stay while titles agree."""
        same = [column.title for column in model.columns] == [column.title for column in self._model.columns]
        self._model = model
        self._pages.clear()
        self._rows.set_first(0)
        if not same:
            self._header_model.set_columns(model.columns)
            self._fitted = True
            self._number_widths.clear()
        self._measure_widest()
        self._set_current(None, None)
        self._layout_parts()

    def refresh(self) -> None:
        """Ask the model again (rows changed, or there are more); position and current row stay."""
        self._pages.clear()
        count = self._model.row_count()
        if self._current is not None and self._current >= count:
            self._set_current(None, None)
        self._measure_widest()
        self._layout_parts()

    def show_styles(self) -> None:
        """Ask the model for the marks of its rows again; all else is the same."""
        self._pages.clear()
        self.viewport().update()

    def current(self) -> int | None:
        """Return the current row."""
        return self._current

    def selected(self) -> range:
        """Return the selected rows; the current one alone when no range was made."""
        if self._current is None:
            return range(0)
        anchor = self._current if self._anchor is None else self._anchor
        return range(min(anchor, self._current), max(anchor, self._current) + 1)

    def set_current(self, row: int | None) -> None:
        """Make a row current and scroll until it is seen."""
        if row is not None:
            row = max(0, min(row, self._model.row_count() - 1))
            if row < 0:
                row = None
        self._set_current(row, row)
        if row is not None:
            self.scroll_to(row)

    def scroll_to(self, row: int) -> None:
        """Scroll as little as needed to see `row`; a row far away comes to the middle."""
        self._rows.set_extent(self._model.row_count(), self.visible_rows())
        self._rows.see(row)
        self.viewport().update()

    def top_row(self) -> int:
        """Return the first row that is seen."""
        return self._rows.first

    def set_top_row(self, row: int) -> None:
        """Scroll so that `row` is the first one seen."""
        self._set_top(row)

    def visible_rows(self) -> int:
        """Return how many whole rows fit the viewport; at least 1."""
        return max(1, self.viewport().height() // self._row_height)

    def row_text(self, row: int) -> list[str]:
        """Return the texts of one row."""
        texts, _styles = self._page(row // self.page_rows)
        return texts[row % self.page_rows] if row % self.page_rows < len(texts) else []

    def row_rect(self, row: int) -> QRect:
        """Return where a row is painted, in the viewport's coordinates."""
        top = (row - self._rows.first) * self._row_height
        return QRect(0, int(top), self.viewport().width(), self._row_height)

    def cell_rect(self, row: int, section: int) -> QRect:
        """Return where a cell is painted, in the coordinates of the table."""
        area = self.row_rect(row).translated(self.viewport().pos())
        left = self.viewport().x() + self._header.sectionViewportPosition(section)
        return QRect(left, area.top(), self._header.sectionSize(section), area.height())

    def column_widths(self) -> list[int]:
        """Return the widths of the columns, to be kept."""
        return [self._header.sectionSize(section) for section in range(self._header.count())]

    def is_fitted(self) -> bool:
        """Tell whether the columns share out the room, as no one has drawn them wider."""
        return self._fitted

    def fit_columns(self) -> None:
        """Let the columns share out the room again."""
        self._fitted = True
        self._layout_parts()

    def set_column_widths(self, widths: Sequence[int]) -> None:
        """Give the columns the widths that were kept; those of numbers as much as the numbers need."""
        self._fitted = False
        for section, width in enumerate(widths[: self._header.count()]):
            self._header.resizeSection(section, width)

    # Geometry

    def _measure(self) -> None:
        self._mono = theme.mono_font()
        self._mono_bold = QFont(self._mono)
        self._mono_bold.setBold(True)
        self._plain = QFont(self.font())
        self._plain_bold = QFont(self._plain)
        self._plain_bold.setBold(True)
        self._number_widths.clear()
        self._measure_widest()
        self._pages.clear()
        self._row_height = max(QFontMetrics(self._mono).height(), self.fontMetrics().height()) + 6
        self._layout_parts()

    def _layout_parts(self) -> None:
        height = max(self._header.sizeHint().height(), self._row_height + 2)
        self.setViewportMargins(0, height, 0, 0)
        view = self.viewport().geometry()
        self._header.setGeometry(view.left(), view.top() - height, view.width(), height)
        if self._fitted:
            self._fit_columns()
        else:
            self._widen_numbers()
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, self._content_width() - view.width()))
        bar.setPageStep(view.width())
        self._set_top(self._rows.first)

    def _content_width(self) -> int:
        return sum(self._header.sectionSize(section) for section in range(self._header.count()))

    def _fit_columns(self) -> None:
        """Give the columns their least width, and what is left to those that stretch."""
        columns = self._model.columns
        least = [
            max(column.width, self._title_width(column), self._number_widths.get(section, 0))
            for section, column in enumerate(columns)
        ]
        room = max(0, self.viewport().width() - sum(least))
        shares = sum(column.stretch for column in columns)
        self._fitting = True
        for section, column in enumerate(columns):
            extra = room * column.stretch // shares if shares else 0
            if not shares and section == len(columns) - 1:
                extra = room
            self._header.resizeSection(section, least[section] + extra)
        self._fitting = False

    def _title_width(self, column: Column) -> int:
        """Return the room that a title needs; one that is cut at its beginning cannot be guessed."""
        return self._header.fontMetrics().horizontalAdvance(column.title) + 2 * _PADDING

    def _widen_numbers(self) -> None:
        """Give numbers the room that they need also where the widths were chosen: a cut number misleads."""
        self._fitting = True
        for section, needed in self._number_widths.items():
            self._header.resizeSection(section, max(needed, self._header.sectionSize(section)))
        self._fitting = False

    def _section_resized(self, *_arguments: int) -> None:
        if not self._fitting:
            self._fitted = False
            self._widen_numbers()
            self._columns_moved()

    def _set_top(self, row: int) -> None:
        self._rows.set_extent(self._model.row_count(), self.visible_rows())
        self._rows.set_first(row)
        self.viewport().update()

    def _columns_moved(self, *_arguments: int) -> None:
        self._header.setOffset(self.horizontalScrollBar().value())
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, self._content_width() - self.viewport().width()))
        self.viewport().update()

    def _page(self, number: int) -> tuple[list[list[str]], list[RowStyle]]:
        page = self._pages.get(number)
        if page is None:
            start = number * self.page_rows
            stop = min(start + self.page_rows, self._model.row_count())
            texts = self._model.page(start, stop) if start < stop else []
            model = self._model
            styles = model.styles(start, stop) if texts and isinstance(model, StyledRowModel) else []
            page = self._pages[number] = (texts, styles)
            self._measure_numbers(texts)
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page

    def _measure_widest(self) -> None:
        """Ask for room for the widest numbers that can come, so that no page moves the columns."""
        if isinstance(self._model, MeasuredRowModel):
            widest = self._model.widest()
            self._measure_numbers([[widest.get(at, "") for at in range(len(self._model.columns))]])

    def _measure_numbers(self, texts: list[list[str]]) -> None:
        """Ask for room for the numbers of a page where their columns are narrower."""
        for section, column in enumerate(self._model.columns):
            if not column.right:
                continue
            # Bold, as a row that changed is; digits are of one width.
            font = QFontMetrics(self._mono_bold if column.mono else self._plain_bold)
            numbers = (row[section] for row in texts if section < len(row))
            widest = max(numbers, key=len, default="")[:NUMBER_LIMIT]
            width = font.horizontalAdvance(widest) + 2 * _PADDING
            if width > self._number_widths.get(section, 0):
                self._number_widths[section] = width
                self._refit.start()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        scheme = theme.colors()
        count = self._model.row_count()
        if count == 0:
            self.paint_placeholder(painter)
            return
        rows = range(self._rows.first, min(count, self._rows.first + self.visible_rows() + 1))
        selected = self.selected()
        for row in rows:
            texts, styles = self._page(row // self.page_rows)
            place = row % self.page_rows
            if place >= len(texts):
                continue
            style = styles[place] if place < len(styles) else RowStyle.NONE
            self._paint_ground(painter, scheme, row, row in selected)
            self.paint_row(painter, scheme, row, texts[place], style)
        painter.end()

    def _paint_ground(self, painter: QPainter, scheme: theme.Colors, row: int, selected: bool) -> None:
        area = self.row_rect(row)
        if selected:
            painter.fillRect(area, QColor(scheme.accent_soft))
        if row == self._current and self.hasFocus():
            painter.setPen(QColor(scheme.accent))
            painter.drawRect(area.adjusted(0, 0, -1, -1))

    def paint_row(
        self, painter: QPainter, scheme: theme.Colors, row: int, texts: list[str], style: RowStyle
    ) -> None:
        """Paint the texts and the marks of a row, over what says that it is selected or current."""
        area = self.row_rect(row)
        painter.setPen(QColor(_text_color(scheme, style)))
        for section, (column, text) in enumerate(zip(self._model.columns, texts, strict=False)):
            left = self._header.sectionViewportPosition(section)
            width = self._header.sectionSize(section)
            if not text or left > area.width() or left + width < 0:
                continue
            font = self._cell_font(column, style)
            painter.setFont(font)
            box = QRect(left + _PADDING, area.top(), width - 2 * _PADDING, area.height())
            flags = _RIGHT if column.right else _LEFT
            elide = Qt.TextElideMode.ElideMiddle if column.elide_middle else Qt.TextElideMode.ElideRight
            shown = painter.fontMetrics().elidedText(one_line(text), elide, box.width())
            painter.drawText(box, flags, shown)
        if not style:
            return
        if style & RowStyle.CHANGED:
            painter.fillRect(0, area.top() + 1, _MARK, area.height() - 2, QColor(scheme.changed))
        if style & RowStyle.FAULT:
            painter.setPen(QColor(scheme.fault))
            painter.setFont(self._plain_bold)
            painter.drawText(QRect(0, area.top(), _PADDING, area.height()), Qt.AlignmentFlag.AlignCenter, "!")

    def _cell_font(self, column: Column, style: RowStyle) -> QFont:
        plain, bold = (self._mono, self._mono_bold) if column.mono else (self._plain, self._plain_bold)
        if not style:
            return plain
        font = bold if style & RowStyle.CHANGED else plain
        if style & RowStyle.REPLACED:
            font = QFont(font)
            font.setStrikeOut(True)
        return font

    # The current row

    def _set_current(self, row: int | None, anchor: int | None) -> None:
        changed = row != self._current
        self._current, self._anchor = row, anchor
        self.viewport().update()
        if changed:
            self._tell_screen_readers()
            self.currentChanged.emit(row)

    def _tell_screen_readers(self) -> None:
        if self._current is None:
            self.setAccessibleDescription("")
            return
        titles = [column.title for column in self._model.columns]
        cells = (
            f"{title} {one_line(text)}"
            for title, text in zip(titles, self.row_text(self._current), strict=False)
        )
        self.describe_current(f"row {self._current} of {self._model.row_count()}: " + ", ".join(cells))

    def _move(self, row: int, extend: bool) -> None:
        count = self._model.row_count()
        if count == 0:
            return
        row = max(0, min(row, count - 1))
        anchor = self._anchor if extend and self._anchor is not None else row
        self._set_current(row, anchor)
        self.scroll_to(row)

    def row_at(self, position: QPoint) -> int | None:
        """Return the row under a point of the viewport, or None."""
        row = self._rows.first + position.y() // self._row_height
        return row if 0 <= row < self._model.row_count() else None

    # Events

    def current_rect(self) -> QRect | None:
        return None if self._current is None else self.row_rect(self._current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selected()
            return
        if event.matches(QKeySequence.StandardKey.SelectAll) and self._model.row_count():
            # What is in sight stays.
            self._set_current(self._model.row_count() - 1, 0)
            return
        current = -1 if self._current is None else self._current
        page = self.visible_rows()
        targets = {
            Qt.Key.Key_Up: max(current - 1, 0),
            Qt.Key.Key_Down: current + 1,
            Qt.Key.Key_PageUp: current - page,
            Qt.Key.Key_PageDown: current + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._model.row_count() - 1,
        }
        key = Qt.Key(event.key())
        if key in targets:
            self._move(targets[key], bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self.activated.emit(self._current)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = self.viewport().width() // 4 * (1 if key == Qt.Key.Key_Right else -1)
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + step)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint())
        if row is not None and event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
            inside = event.button() == Qt.MouseButton.RightButton and row in self.selected()
            if not inside:
                self._move(row, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._anchor is not None:
            self._move(self._rows.first + int(event.position().y()) // self._row_height, True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint())
        if row is not None:
            self.activated.emit(row)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - (delta.x() or delta.y()) // 2)
            return
        self._wheel += delta.y()
        rows, self._wheel = int(self._wheel / 40), self._wheel - int(self._wheel / 40) * 40
        self._set_top(self._rows.first - rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._layout_parts()

    def restyle(self) -> None:
        self._measure()

    def show_tool_tip(self, event: QHelpEvent) -> None:
        row = self.row_at(event.pos())
        section = self._header.logicalIndexAt(event.pos().x())
        texts = [] if row is None else self.row_text(row)
        if not 0 <= section < len(texts):
            QToolTip.hideText()
            return
        font = self._mono if self._model.columns[section].mono else self._plain
        wide = QFontMetrics(font).horizontalAdvance(one_line(texts[section]))
        if wide <= self._header.sectionSize(section) - 2 * _PADDING:
            QToolTip.hideText()
            return
        QToolTip.showText(event.globalPos(), theme.plain_tooltip(texts[section]), self.viewport())

    def copy_selected(self) -> None:
        """Put the selected rows on the clipboard, cells separated by tabs; at most `COPY_ROWS` rows."""
        rows = self.selected()[:COPY_ROWS]
        lines = ("\t".join(self.row_text(row)) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))


def _text_color(scheme: theme.Colors, style: RowStyle) -> str:
    if style & RowStyle.FAULT:
        return scheme.fault
    if style & RowStyle.REPLACED:
        return scheme.muted
    return scheme.text
