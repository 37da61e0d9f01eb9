"""A text of any size by its rows: painted by itself, with numbers, folds, marks, a caret and a selection."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.long_bar import LongBar
from refbrowser.app.widgets.painted_view import PaintedView
from refbrowser.references.text.document_text import DocumentText
from refbrowser.views.source.row_text import RowText, TokenKind, row_text
from refbrowser.views.source.source_marks import SourceMark
from refbrowser.views.source.text_rows import RowSpan, TextRows
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted

#: Rows whose texts are kept.
_KEPT = 400
#: Bytes that Copy puts on the clipboard at most.
COPIED = 4 << 20
#: Columns by which a row stands to the right of the one that holds it, and levels for which it does.
_INDENT, _LEVELS = 2, 40
_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class SourceView(PaintedView):
    """Rows of a text. Places in it are bytes: they stay when rows are folded or laid out in another way.

    Signals
    -------
    caretMoved()
        The caret is at another byte.
    activated(int)
        The byte that was double-clicked, or at which Return was pressed.
    foldsChanged()
        Something was folded or unfolded.
    cutOff(int)
        Only so many bytes of what is selected were copied.
    """

    caretMoved = Signal()
    activated = Signal(int)
    foldsChanged = Signal()
    cutOff = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = TextRows(DocumentText(b""))
        self.is_laid_out = False
        self.caret = self._anchor = 0
        self._marks: Sequence[SourceMark] = ()
        self._mark_starts: list[int] = []
        self._found: Sequence[int] = ()
        self._found_size = 0
        self._texts: OrderedDict[int, tuple[RowSpan, RowText]] = OrderedDict()
        self._bar = LongBar(self, Qt.Orientation.Vertical)
        self._bar.moved.connect(self.viewport().update)
        self._wheel = 0
        self._widest = 0
        #: How many rows there were when they were painted last.
        self._painted = 0
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self.viewport().update())
        self._measure()

    # What is shown

    def set_rows(self, rows: TextRows, *, is_laid_out: bool) -> None:
        """Show another text, or other rows of it; what was at the top stays there where that is known."""
        top = self.top()
        self.rows, self.is_laid_out = rows, is_laid_out
        self._texts.clear()
        self._widest = 0
        self.caret = min(self.caret, rows.text.size)
        self._anchor = min(self._anchor, rows.text.size)
        self._fit()
        self.set_top(top)

    def grow(self) -> None:
        """Take over that more rows are known."""
        if self._texts:
            self._texts.pop(max(self._texts), None)
        self._fit()
        if self._bar.first + self.visible_rows() >= self._painted:
            self.viewport().update()

    def set_marks(self, marks: Sequence[SourceMark]) -> None:
        """Mark places, in the order of the text."""
        self._marks, self._mark_starts = marks, [mark.start for mark in marks]
        self.viewport().update()

    def marks(self) -> Sequence[SourceMark]:
        """Return what is marked."""
        return self._marks

    def set_found(self, found: Sequence[int], size: int) -> None:
        """Mark places that a search found, each of so many bytes."""
        self._found, self._found_size = found, size
        self.viewport().update()

    def mark_at(self, position: int) -> SourceMark | None:
        """Return the mark of the row at a byte, the nearest one where it has several."""
        if not self.rows.count:
            return None
        span = self.rows.span(self.rows.row_at(position))
        inside = self._marks_in(span.start, span.stop)
        return min(inside, key=lambda mark: abs(mark.start - position), default=None)

    def _marks_in(self, start: int, stop: int) -> Sequence[SourceMark]:
        first = bisect_left(self._mark_starts, start)
        last = bisect_left(self._mark_starts, stop) if stop < self.rows.text.size else len(self._marks)
        return self._marks[first:last]

    # Places

    def top(self) -> int:
        """Return the byte at which the first row that is seen begins."""
        if not self.rows.count:
            return 0
        return self.rows.span(self.rows.row_of_seen(min(self._bar.first, self.rows.seen - 1))).start

    def set_top(self, position: int) -> None:
        """Scroll so that the row of a byte is the first one seen."""
        if self.rows.count:
            self._bar.set_first(self.rows.seen_place(self.rows.row_at(position)))
        self.viewport().update()

    def selection(self) -> tuple[int, int]:
        """Return the bytes that are selected."""
        return min(self.caret, self._anchor), max(self.caret, self._anchor)

    def go_to(self, start: int, stop: int | None = None) -> None:
        """Put the caret at a byte, with the bytes up to `stop` selected, in sight."""
        if not self.rows.count:
            return
        row = self.rows.row_at(start)
        if self.rows.seen_place(row) != self.rows.seen_place(max(row - 1, 0)) + (1 if row else 0):
            self.rows.reveal(row)
            self._folded()
        self._anchor = start
        self._set_caret(start if stop is None else stop, keeps_anchor=True, row=row)

    def column(self) -> int:
        """Return the column of the caret in its line, from 1, in characters."""
        first = row = self.rows.row_at(self.caret)
        while first and self.rows.span(first).goes_on and row - first < _KEPT:
            first -= 1
        before = self.rows.text.read(self.rows.span(first).start, self.caret)
        return len(before.decode("utf-8", "replace")) + 1

    def select_all(self) -> None:
        """Select the whole text; the view stays where it is."""
        self._anchor, self.caret = 0, self.rows.text.size
        self.viewport().update()
        self.caretMoved.emit()

    def _set_caret(self, position: int, *, keeps_anchor: bool, row: int | None = None) -> None:
        self.caret = max(0, min(position, self.rows.text.size))
        if not keeps_anchor:
            self._anchor = self.caret
        if self.rows.count:
            row = self.rows.row_at(self.caret) if row is None else row
            self._fit()
            self._bar.see(self.rows.seen_place(row))
            self._see_column(row)
            _span, shown = self._text(row)
            self.describe_current(f"Line {count_text(self.rows.number(row))}: {one_line(shown.text)}")
        self.viewport().update()
        self.caretMoved.emit()

    def _see_column(self, row: int) -> None:
        span, shown = self._text(row)
        first = self._left(span)
        x = first + self._at(shown.text, shown.character_at(self.caret - span.start))
        bar, room = self.horizontalScrollBar(), self.viewport().width() - self._gutter()
        bar.setMaximum(max(bar.maximum(), round(x - room + 4 * self._width)))
        if not bar.value() <= x - 2 * self._width <= bar.value() + room - 6 * self._width:
            bar.setValue(0 if x < room - 6 * self._width else round(x - room / 2))

    # Folding

    def toggle_fold(self, row: int) -> None:
        """Fold what begins in a row, or show it again."""
        if self.rows.is_folded(row):
            self.rows.unfold([row])
        else:
            self.rows.fold([row])
        self._folded()

    def fold_all(self) -> None:
        """Fold the members of the top level."""
        self.rows.fold_at(1)
        self._folded()

    def unfold_all(self) -> None:
        """Show all that is folded."""
        top = self.top()
        self.rows.unfold_all()
        self._folded()
        self.set_top(top)

    def _fold_here(self, *, is_folded: bool) -> None:
        """Fold or unfold what begins in the caret's row, or else what it is in."""
        if not self.rows.count:
            return
        row = self.rows.row_at(self.caret)
        depth = self.rows.span(row).depth
        while is_folded and row and not (self.rows.opens(row) and self.rows.span(row).depth <= depth):
            row -= 1
        if self.rows.opens(row) and self.rows.is_folded(row) is not is_folded:
            self.toggle_fold(row)
            self._set_caret(self.rows.span(row).start, keeps_anchor=False)

    def _folded(self) -> None:
        self._fit()
        self.viewport().update()
        self.foldsChanged.emit()

    # Geometry

    def _measure(self) -> None:
        self._font = theme.mono_font()
        self._bold = QFont(self._font)
        self._bold.setWeight(QFont.Weight.DemiBold)
        self._metrics = QFontMetricsF(self._font)
        self._width = self._metrics.horizontalAdvance("0")
        self._height = round(self._metrics.height()) + 3
        self._texts.clear()
        self._edges: dict[str, list[float]] = {}
        self._widths: dict[str, float] = {}
        self._fit()

    def restyle(self) -> None:
        self._measure()
        self.viewport().update()

    def visible_rows(self) -> int:
        """Return how many whole rows fit; at least 1."""
        return max(1, self.viewport().height() // self._height)

    def _fit(self) -> None:
        self._bar.set_extent(self.rows.seen, self.visible_rows())
        room = self.viewport().width() - self._gutter()
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, round(self._widest + 2 * self._width - room)))
        bar.setPageStep(max(1, room))
        bar.setSingleStep(round(8 * self._width))

    def _gutter(self) -> int:
        """Return the width of marks, numbers and folds beside the text."""
        digits = max(3, len(count_text(self.rows.count)))
        return round(digits * self._width) + 2 * self._height + theme.SMALL

    def _left(self, span: RowSpan) -> float:
        """Return how far a row is moved to the right."""
        if not self.is_laid_out:
            return 0
        return (min(span.depth, _LEVELS) * _INDENT + (1 if span.goes_on else 0)) * self._width

    def _at(self, text: str, character: int) -> float:
        """Return how far right a character of a row is."""
        return character * self._width if text.isascii() else self._edges_of(text)[character]

    def _edges_of(self, text: str) -> list[float]:
        """Return how far right each character of a row is, and its end; each is as wide as alone."""
        edges = self._edges.get(text)
        if edges is None:
            widths = self._widths
            for character in set(text) - widths.keys():
                widths[character] = self._metrics.horizontalAdvance(character)
            edges = self._edges[text] = [*accumulate((widths[each] for each in text), initial=0.0)]
            if len(self._edges) > _KEPT:
                self._edges.pop(next(iter(self._edges)))
        return edges

    def _text(self, row: int) -> tuple[RowSpan, RowText]:
        known = self._texts.get(row)
        if known is None:
            span = self.rows.span(row)
            shown = row_text(self.rows.read(span), span.in_string, not self.is_laid_out)
            known = self._texts[row] = (span, shown)
            if len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return known

    def _row_at(self, y: float) -> int | None:
        place = self._bar.first + int(y // self._height)
        return self.rows.row_of_seen(place) if 0 <= place < self.rows.seen else None

    def position_at(self, place: QPoint) -> int:
        """Return the byte at a place of the viewport: the nearest one of its row."""
        if not self.rows.count:
            return 0
        row = self._row_at(max(0, place.y()))
        if row is None:
            return self.rows.text.size
        span, shown = self._text(row)
        x = place.x() - self._gutter() + self.horizontalScrollBar().value() - self._left(span)
        return span.start + shown.byte_of(self._character(shown.text, x))

    def _character(self, text: str, x: float) -> int:
        if text.isascii():
            return max(0, min(round(x / self._width), len(text)))
        return max(0, min(bisect_left(self._edges_of(text), x - self._width / 2), len(text)))

    def current_rect(self) -> QRect | None:
        if not self.rows.count:
            return None
        row = self.rows.row_at(self.caret)
        top = (self.rows.seen_place(row) - self._bar.first) * self._height
        return QRect(self._gutter(), top, self.viewport().width() - self._gutter(), self._height)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if not self.rows.count:
            self.paint_placeholder(painter)
            return
        scheme, gutter = theme.colors(), self._gutter()
        area, self._painted = self.viewport().rect(), self.rows.seen
        painter.fillRect(QRect(0, 0, gutter - theme.SMALL, area.height()), QColor(scheme.raised))
        number, before = 0, -1
        last = min(self.rows.seen, self._bar.first + self.visible_rows() + 1)
        widest = 0.0
        for place in range(self._bar.first, last):
            row = self.rows.row_of_seen(place)
            top = (place - self._bar.first) * self._height
            span, shown = self._text(row)
            number, before = number + self.rows.lines_in(before + 1, row + 1), row
            painter.setClipRect(QRect(0, 0, gutter, area.height()))
            self._paint_gutter(painter, scheme, row, top, number, span)
            painter.setClipRect(QRect(gutter, 0, area.width() - gutter, area.height()))
            left = gutter + self._left(span) - self.horizontalScrollBar().value()
            width = self._paint_row(painter, scheme, row, QPointF(left, top), span, shown)
            widest = max(widest, self._left(span) + width)
        painter.end()
        if widest > self._widest:
            self._widest = round(widest)
            self._fit()

    def _paint_gutter(
        self, painter: QPainter, scheme: theme.Colors, row: int, top: int, number: int, span: RowSpan
    ) -> None:
        height, gutter = self._height, self._gutter()
        end = span.stop
        if self.rows.is_folded(row):
            end = self.rows.span(row + self.rows.folded_rows(row)).stop
        marks = self._marks_in(span.start, end)
        if marks:
            worst = min(marks, key=lambda mark: not mark.is_fault)
            _paint_mark(painter, scheme, QRectF(3, top + 3, height - 7, height - 7), worst.is_fault)
        painter.setFont(self._font)
        painter.setPen(QColor(scheme.muted))
        box = QRect(height, top, gutter - 2 * height - theme.SMALL, height)
        painter.drawText(box, _RIGHT, "↳" if span.goes_on else count_text(number))
        if self.rows.opens(row):
            place = QRectF(gutter - height, top + 0.28 * height, 0.44 * height, 0.44 * height)
            _paint_fold(painter, QColor(scheme.muted), place, self.rows.is_folded(row))

    def _paint_row(
        self,
        painter: QPainter,
        scheme: theme.Colors,
        row: int,
        place: QPointF,
        span: RowSpan,
        shown: RowText,
    ) -> float:
        """Paint one row, and return how wide it is."""
        x, y, height = place.x(), place.y(), self._height
        has_caret = span.start <= self.caret < span.stop or (
            self.caret == self.rows.text.size == span.stop and row == self.rows.count - 1
        )
        if has_caret:
            painter.fillRect(QRectF(0, y, self.viewport().width(), height), QColor(scheme.hover))
        first = bisect_left(self._found, span.start - self._found_size + 1)
        for found in self._found[first : first + _KEPT]:
            if found >= span.stop:
                break
            self._paint_ground(
                painter, scheme.warning_soft, place, span, shown, found, found + self._found_size
            )
        start, stop = self.selection()
        if start < stop:
            self._paint_ground(painter, scheme.accent_soft, place, span, shown, start, stop)
        inks = _inks(scheme)
        at, end = 0, x
        for token in (*shown.tokens, None):
            begin = len(shown.text) if token is None else token.start
            if token is not None and token.kind is TokenKind.HIDDEN:
                self._paint_hidden(painter, scheme, place, shown, token.start, token.stop)
                continue
            if begin > at:
                end = self._draw(painter, shown.text, at, begin, place, scheme.text, self._font)
            if token is None:
                break
            font = self._bold if token.kind is TokenKind.NAME else self._font
            end = self._draw(painter, shown.text, begin, token.stop, place, inks[token.kind], font)
            at = token.stop
        for mark in self._marks_in(span.start, span.stop):
            self._paint_squiggle(painter, scheme, place, span, shown, mark)
        if self.rows.is_folded(row):
            told = f" … {counted(self.rows.folded_rows(row), 'row')} "
            painter.setPen(QColor(scheme.muted))
            painter.setFont(self._font)
            box = QRectF(end + self._width, y + 1, self._metrics.horizontalAdvance(told), height - 3)
            painter.drawRoundedRect(box, 4, 4)
            painter.drawText(box, _LEFT, told)
        if has_caret and self.hasFocus():
            at_x = x + self._at(shown.text, shown.character_at(self.caret - span.start))
            painter.fillRect(QRectF(at_x - 1, y + 1, 2, height - 2), QColor(scheme.accent))
        return end - x

    def _draw(
        self, painter: QPainter, text: str, start: int, stop: int, place: QPointF, color: str, font: QFont
    ) -> float:
        """Draw some characters of a row, and return where they end."""
        begin, end = self._at(text, start), self._at(text, stop)
        x, width, some = place.x() + begin, end - begin, text[start:stop]
        if x + width >= 0 and x < self.viewport().width():
            painter.setFont(font)
            painter.setPen(QColor(color))
            painter.drawText(QPointF(x, place.y() + 1 + self._metrics.ascent()), some)
        return x + width

    def _paint_ground(
        self,
        painter: QPainter,
        color: str,
        place: QPointF,
        span: RowSpan,
        shown: RowText,
        start: int,
        stop: int,
    ) -> None:
        """Paint the ground behind the bytes of a row from `start` to `stop`."""
        if stop <= span.start or start >= span.stop:
            return
        first = shown.character_at(max(0, start - span.start)) if start > span.start else 0
        last = shown.character_at(stop - span.start) if stop < span.stop else len(shown.text)
        x, end = (self._at(shown.text, at) for at in (first, last))
        if stop >= span.stop:
            end += self._width / 2
        painter.fillRect(QRectF(place.x() + x, place.y(), end - x, self._height), QColor(color))

    def _paint_hidden(
        self, painter: QPainter, scheme: theme.Colors, place: QPointF, shown: RowText, start: int, stop: int
    ) -> None:
        x, end = (self._at(shown.text, at) for at in (start, stop))
        if not -place.x() <= end <= self.viewport().width() - place.x() + end - x:
            return
        painter.setPen(QColor(scheme.warning))
        painter.drawRect(QRectF(place.x() + x, place.y() + 2, end - x, self._height - 5))

    def _paint_squiggle(
        self,
        painter: QPainter,
        scheme: theme.Colors,
        place: QPointF,
        span: RowSpan,
        shown: RowText,
        mark: SourceMark,
    ) -> None:
        first = shown.character_at(max(0, mark.start - span.start))
        token = shown.token_at(first)
        last = first + 1 if token is None else token.stop
        if mark.stop > mark.start:
            last = max(first + 1, shown.character_at(min(mark.stop, span.stop) - span.start))
        x, end = (place.x() + self._at(shown.text, at) for at in (first, min(last, len(shown.text))))
        end = max(end, x + self._width)
        y = place.y() + self._height - 2
        points = [QPointF(x + step * 2.5, y - (step % 2) * 2.5) for step in range(int((end - x) / 2.5) + 2)]
        painter.setPen(QPen(QColor(scheme.fault if mark.is_fault else scheme.warning), 1.4))
        painter.drawPolyline(QPolygonF(points))

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # What appears below the text, such as what is wrong at the caret, does not hide the caret.
        rows_before = max(1, event.oldSize().height() // self._height)
        place = self.rows.seen_place(self.rows.row_at(self.caret)) if self.rows.count else -1
        self._fit()
        if self._bar.first <= place < self._bar.first + rows_before:
            self._bar.see(place)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & _SHIFT or abs(delta.x()) > abs(delta.y()):
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - (delta.x() or delta.y()) // 2)
            return
        self._wheel += delta.y()
        rows = int(self._wheel / 40)
        self._wheel -= rows * 40
        self._bar.set_first(self._bar.first - rows)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        row = self._row_at(place.y())
        if event.button() is not Qt.MouseButton.LeftButton or row is None:
            return
        if place.x() < self._gutter():
            if self.rows.opens(row) and place.x() >= self._gutter() - self._height - theme.SMALL:
                self.toggle_fold(row)
                return
            mark = next(iter(self._marks_in(self.rows.span(row).start, self.rows.span(row).stop)), None)
            if mark is not None:
                self._set_caret(mark.start, keeps_anchor=False)
                return
        keeps = bool(event.modifiers() & _SHIFT)
        self._set_caret(self.position_at(place), keeps_anchor=keeps, row=row)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.rows.count:
            place = event.position().toPoint()
            if place.y() < 0:
                self._bar.set_first(self._bar.first - 1)
            elif place.y() > self.viewport().height():
                self._bar.set_first(self._bar.first + 1)
            self._set_caret(self.position_at(place), keeps_anchor=True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.button() is Qt.MouseButton.LeftButton and place.x() >= self._gutter():
            self.activated.emit(self.position_at(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & _CONTROL:
            self.activated.emit(self.caret)
        elif event.text() in ("+", "-") and not event.modifiers() & _CONTROL:
            self._fold_here(is_folded=event.text() == "-")
        elif self.rows.count and (target := self._target(event)) is not None:
            row, position = target
            self._set_caret(position, keeps_anchor=bool(event.modifiers() & _SHIFT), row=row)
        else:
            super().keyPressEvent(event)

    def _target(self, event: QKeyEvent) -> tuple[int, int] | None:
        """Return to which row and byte a key moves the caret; None for other keys."""
        key, is_far = event.key(), bool(event.modifiers() & _CONTROL)
        row = self.rows.row_at(self.caret)
        span, shown = self._text(row)
        at = shown.character_at(self.caret - span.start)
        if key == Qt.Key.Key_Home:
            return (0, 0) if is_far else (row, span.start + shown.byte_of(0))
        if key == Qt.Key.Key_End:
            last = self.rows.count - 1
            return (
                (last, self.rows.text.size) if is_far else (row, span.start + shown.byte_of(len(shown.text)))
            )
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            return self._beside(row, at, 1 if key == Qt.Key.Key_Right else -1)
        page = max(1, self.visible_rows() - 1)
        steps = {
            Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page
        }  # fmt: skip
        if key not in steps:
            return None
        place = self.rows.seen_place(row) + steps[Qt.Key(key)]
        target = self.rows.row_of_seen(max(0, min(place, self.rows.seen - 1)))
        column = self._left(span) + self._at(shown.text, at)
        there, text = self._text(target)
        character = self._character(text.text, column - self._left(there))
        return target, there.start + text.byte_of(min(character, max(0, len(text.text))))

    def _beside(self, row: int, at: int, step: int) -> tuple[int, int]:
        span, shown = self._text(row)
        here, position = shown.byte_of(at), span.start + shown.byte_of(at)
        while 0 <= (at := at + step) <= len(shown.text):
            if shown.byte_of(at) != here:
                return row, span.start + shown.byte_of(at)
        place = self.rows.seen_place(row) + step
        if not 0 <= place < self.rows.seen:
            return row, position
        row = self.rows.row_of_seen(place)
        span, shown = self._text(row)
        return row, span.start + shown.byte_of(0 if step > 0 else len(shown.text))

    def copy(self) -> None:
        """Put what is selected on the clipboard, as it stands in the text; at most `COPIED` bytes."""
        start, stop = self.selection()
        if start < stop:
            data = self.rows.text.read(start, min(stop, start + COPIED))
            QGuiApplication.clipboard().setText(data.decode("utf-8", "replace"))
            if stop - start > COPIED:
                self.cutOff.emit(COPIED)

    def show_tool_tip(self, event: QHelpEvent) -> None:
        row = self._row_at(event.pos().y())
        if row is None:
            QToolTip.hideText()
            return
        span, _shown = self._text(row)
        marks = self._marks_in(span.start, span.stop)
        if marks and event.pos().x() >= self._gutter():
            position = self.position_at(event.pos())
            marks = [mark for mark in marks if self._covers(mark, row, position)]
        words = "\n\n".join(mark.words for mark in marks[:5])
        QToolTip.showText(event.globalPos(), theme.plain_tooltip(words), self.viewport())

    def _covers(self, mark: SourceMark, row: int, position: int) -> bool:
        span, shown = self._text(row)
        token = shown.token_at(shown.character_at(max(0, mark.start - span.start)))
        stop = mark.stop if token is None else max(mark.stop, span.start + shown.byte_of(token.stop))
        return mark.start <= position <= max(stop, mark.start + 1)


def _inks(scheme: theme.Colors) -> dict[TokenKind, str]:
    return {
        TokenKind.NAME: scheme.syntax,
        TokenKind.STRING: scheme.syntax_text,
        TokenKind.NUMBER: scheme.syntax_number,
        TokenKind.WORD: scheme.accent,
        TokenKind.MARK: scheme.muted,
        TokenKind.BROKEN: scheme.fault,
        TokenKind.HIDDEN: scheme.warning,
    }


def _paint_mark(painter: QPainter, scheme: theme.Colors, area: QRectF, is_fault: bool) -> None:
    """Paint a fault as a disc with a cross, a warning as a triangle: colour is not the only mark."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(scheme.fault if is_fault else scheme.warning))
    if is_fault:
        painter.drawEllipse(area)
        painter.setPen(QPen(QColor(scheme.surface), 1.5))
        inner = area.adjusted(*([0.3 * area.width()] * 2), *([-0.3 * area.width()] * 2))
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())
    else:
        top = QPointF(area.center().x(), area.top())
        painter.drawPolygon(QPolygonF([top, area.bottomRight(), area.bottomLeft()]))
    painter.restore()


def _paint_fold(painter: QPainter, color: QColor, area: QRectF, is_folded: bool) -> None:
    """Paint a triangle that points to the right where something is folded, else down."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    middle = area.center()
    if is_folded:
        points = [area.topLeft(), QPointF(area.right(), middle.y()), area.bottomLeft()]
    else:
        points = [area.topLeft(), area.topRight(), QPointF(middle.x(), area.bottom())]
    painter.drawPolygon(QPolygonF(points))
    painter.restore()
