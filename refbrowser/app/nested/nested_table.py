"""The table of nested rows: pages of rows that are read, its lines, and how they are drawn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QWidget

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.engine.nested.rows import read_rows
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.views.nested.nested_lines import Cell, LineMaker, NestedFolds, NestedLine, NestedPath
from refbrowser.views.nested.nested_tally import NOT_OF_ROWS
from refbrowser.views.nested.nested_values import NestedColumn, NestedValue, columns_of, has_lists
from refbrowser.views.plot.table import Mark
from refbrowser.views.rows import Column, RowStyle
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.nested import NestedRows
    from refbrowser.model.nodes import ArrayNode


#: Rows that are read together, and pages that are kept.
PAGE, PAGES_KEPT = 64, 64
#: Turns of a cycle that are read with a row; further down it says so.
TURNS = 50
#: While scrolling, rows are asked for this often, in milliseconds.
PACE = 30


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows from `start` to `stop`, or why they cannot be read."""

    start: int
    stop: int
    rows: NestedRows | None
    error: BaseException | None = None


class RowPages(QObject):
    """Keeps pages of rows of one array.

    Signals
    -------
    changed()
        More rows are there.
    ended()
        All that was wanted is read.
    """

    changed = Signal()
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._latest = Latest(self, "nested")
        self._source: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._pages: OrderedDict[int, list[Block]] = OrderedDict()
        self._wanted: set[int] = set()
        self._reading: set[int] = set()
        self._soon = one_shot(self, PACE, self._read)

    def set_array(self, source: PlotSource | None, node: ArrayNode | None) -> None:
        """Read from another array, and forget what was read."""
        self._stop()
        self._source, self._node = source, node
        self.forget()

    def forget(self) -> None:
        """Forget what was read; it is asked for again when it is seen."""
        self._pages.clear()
        self._wanted.clear()

    def block(self, row: int) -> Block | None:
        """Return the rows around one; None where they are not there yet, they are wanted then."""
        number = row // PAGE
        page = self._pages.get(number)
        if page is None:
            self._want(number)
            return None
        self._pages.move_to_end(number)
        return next((block for block in page if block.start <= row < block.stop), None)

    def is_settled(self) -> bool:
        """Whether all that was wanted is read."""
        return not (self._wanted or self._reading)

    def first_error(self) -> BaseException | None:
        """Return why nothing at all can be read; None where something can, or is still to come."""
        blocks = [block for page in self._pages.values() for block in page]
        if not blocks or any(block.rows is not None for block in blocks):
            return None
        return blocks[0].error

    # Reading

    def _want(self, number: int) -> None:
        if number not in self._reading:
            self._wanted.add(number)
            if not self._soon.isActive():
                self._soon.start()

    def _read(self) -> None:
        source, node = self._source, self._node
        dataset = None if source is None else source.dataset
        if source is None or node is None or node.nested is None or dataset is None or not self._wanted:
            self._wanted.clear()
            return
        # What was asked for before, and is not seen any more, is asked for again when it is.
        pages, self._wanted = sorted(self._wanted), set()
        self._reading = set(pages)
        length = node.nested.length

        def read(control: TaskControl) -> None:
            for done, number in enumerate(pages):
                control.progress(done, len(pages))
                start, stop = number * PAGE, min((number + 1) * PAGE, length)
                try:
                    blocks = list(_blocks(dataset, node, start, stop, control.token))
                except Cancelled as cancelled:
                    # A cancelled task tells nothing of its own; rows must not be waited for.
                    for left in pages[done:]:
                        control.send((left, [Block(left * PAGE, (left + 1) * PAGE, None, cancelled)]))
                    raise
                control.send((number, blocks))

        self._latest.run(
            source,
            f"Read rows of {node.path}",
            read,
            self._done,
            self._failed,
            received=self._take,
        )

    def _take(self, page: tuple[int, list[Block]]) -> None:
        number, blocks = page
        self._reading.discard(number)
        self._pages[number] = blocks
        while len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)
        self.changed.emit()

    def _done(self, _none: None) -> None:
        self._reading.clear()
        if not self._wanted:
            self.ended.emit()

    def _failed(self, error: BaseException) -> None:
        """Note what went wrong for all that was being read."""
        for number in self._reading:
            self._pages[number] = [Block(number * PAGE, (number + 1) * PAGE, None, error)]
        self._reading.clear()
        self.changed.emit()
        self.ended.emit()

    def _stop(self) -> None:
        self._soon.stop()
        self._reading.clear()
        self._latest.cancel()


def _blocks(dataset: Dataset, node: ArrayNode, start: int, stop: int, token: CancelToken) -> Iterator[Block]:
    """Yield rows; where they cannot be read together, those that can be read alone."""
    access = dataset.access.at_once()
    try:
        yield Block(start, stop, read_rows(dataset.session, node, access, start, stop, token, turns=TURNS))
    except RefbrowserError as error:
        if error.kind in NOT_OF_ROWS or stop - start < 2:
            yield Block(start, stop, None, error)
            return
        middle = (start + stop) // 2
        yield from _blocks(dataset, node, start, middle, token)
        yield from _blocks(dataset, node, middle, stop, token)


#: Lines that are kept as texts.
LINES_KEPT = 1_024
#: Lines that one key unfolds at most.
UNFOLD_MOST = 10_000


class NestedModel:
    """What a `NestedTable` shows.

    Attributes
    ----------
    folds
        Which lines there are.
    has_length
        Whether the second column says how long lists are.
    """

    def __init__(self, node: ArrayNode, pages: RowPages) -> None:
        values = node.rows
        self.node, self.length = node, values.length
        self.folds = NestedFolds(self.length)
        self.fields = columns_of(values.type)
        self.has_length = has_lists(values.type)
        self._pages = pages
        self._maker = LineMaker(self.fields)
        self._lines: OrderedDict[int, NestedLine] = OrderedDict()
        self.columns: Sequence[Column] = self._titles()

    def _titles(self) -> tuple[Column, ...]:
        digits = len(str(max(0, self.length - 1)))
        first = Column("Row", max(112, 44 + 9 * digits))
        length = (Column("Length", 66, right=True),) if self.has_length else ()
        return (first, *length, *map(_titled, self.fields))

    # What a table asks for

    def row_count(self) -> int:
        """Return the number of lines."""
        return self.folds.lines

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of lines `start` to `stop`."""
        return [self._texts(self.line(line)) for line in range(start, stop)]

    def _texts(self, line: NestedLine) -> list[str]:
        length = ["" if line.length is None else str(line.length)] if self.has_length else []
        return [line.label, *length, *(cell.text for cell in line.cells)]

    # Lines

    def line(self, number: int) -> NestedLine:
        """Return what is on a line; it is wanted where it was not read yet."""
        found = self._lines.get(number)
        if found is None:
            found = self.line_of(self.folds.path(number))
            self._lines[number] = found
            if len(self._lines) > LINES_KEPT:
                self._lines.popitem(last=False)
        return found

    def line_of(self, path: NestedPath) -> NestedLine:
        """Return the line of a value."""
        block = self._pages.block(path[0])
        if block is None:
            return self._maker.pending(path)
        if block.rows is None:
            return self._maker.failed(path)
        return self._maker.line(block.rows, block.start, path)

    def value(self, path: NestedPath) -> NestedValue | None:
        """Return a value; None where it was not read yet, or cannot be."""
        block = self._pages.block(path[0])
        return (
            None if block is None or block.rows is None else self._maker.value(block.rows, block.start, path)
        )

    def error_at(self, path: NestedPath) -> BaseException | None:
        """Return why a row cannot be read."""
        block = self._pages.block(path[0])
        return None if block is None else block.error

    def forget_lines(self) -> None:
        """Make the lines anew: rows have come, or lines were unfolded."""
        self._lines.clear()

    # Unfolding

    def unfold(self, path: NestedPath) -> None:
        """Show what is right below a value."""
        self.folds.unfold(path, self.line_of(path).below)
        self.forget_lines()

    def fold(self, path: NestedPath) -> None:
        """Show nothing below a value."""
        self.folds.fold(path)
        self.forget_lines()

    def fold_all(self) -> None:
        """Show the rows alone."""
        self.folds.fold_all()
        self.forget_lines()

    def unfold_level(self, path: NestedPath) -> bool:
        """Unfold one level more below a value; returns whether all of it could be."""
        level, left = [path], UNFOLD_MOST
        while level:
            closed = [each for each in level if not self.folds.is_open(each)]
            lines = [line for line in map(self.line_of, closed) if line.below]
            for line in lines:
                left -= line.below
                if left < 0:
                    self.forget_lines()
                    return False
                self.folds.unfold(line.path, line.below)
            if lines:
                break
            level = [(*each, child) for each in level for child in range(self.folds.count(each))][
                :UNFOLD_MOST
            ]
        self.forget_lines()
        return True


def _titled(column: NestedColumn) -> Column:
    return Column(column.title, 104 if column.is_number else 150, stretch=1, right=column.is_number)


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
